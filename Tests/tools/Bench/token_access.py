"""Compares the call for a valid cached token in the Python binding with authlib's session. Runs in the bench's
virtual environment (bindings.py).

Both ask for the token, as a program does before each request. authlib's session does the same inside its requests:
`ensure_active_token`, then the token's text.
"""

import time

from authlib.integrations.requests_client import OAuth2Session

import enrollkit
from measure import compare, in_turns

from processes import workspace
from sandbox import Sandbox

CALLS = 2_000
ROUNDS = 201


def main():
    with Sandbox("--access-lifetime", "86400") as sandbox:
        given = {"issuer": sandbox.issuer, "client_id": "sample-app", "redirect_uri": "com.example.app:/callback",
                 "scopes": ["openid", "profile", "offline_access"], "allow_loopback_http": True}  # fmt: skip
        with enrollkit.Client(given, store=workspace("store")) as client:
            client.resume(sandbox.play(client.begin().action.url))
            client.confirm()
            value = client.access_token().value
            session = OAuth2Session(
                "sample-app", token_endpoint=f"{sandbox.issuer}/token",
                token={"access_token": value, "refresh_token": "r", "expires_at": int(time.time()) + 86400})  # fmt: skip

            def ours():
                began = time.perf_counter_ns()
                for _ in range(CALLS):
                    text = client.access_token().value
                took = time.perf_counter_ns() - began
                assert text == value
                return took / CALLS

            def theirs():
                began = time.perf_counter_ns()
                for _ in range(CALLS):
                    if session.ensure_active_token(session.token):
                        text = session.token["access_token"]
                took = time.perf_counter_ns() - began
                assert text == value
                return took / CALLS

            compare("valid cached token by Python", *in_turns(ROUNDS, ours, theirs), "ns", digits=1)


if __name__ == "__main__":
    main()
