"""Sends hand-made requests to a real server and to the test kit's provider of the same name, and compares the answers.

`Tests/units/KnownProviderTests/answers.txt` has the answers of `FakeProvider`. A difference means that its dialect, in
`Sources/EnrollTesting/KnownProviders/Dialects.json`, is wrong, or that this version of the server behaves in a new way:
docs/providers.md is generated from these dialects.
"""

import base64
import hashlib
import json
import shlex
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import kinds
import servers
from processes import TOP, wait_until
from sandbox import NoRedirect
from servers import LOOPBACK

ANSWERS = TOP / "Tests/units/KnownProviderTests/answers.txt"
HOSTS = ("127.0.0.1", "localhost", "[::1]")
# For each kind of server: its dialect, and a client that has a secret.
DIALECTS = {
    kinds.Keycloak: ("keycloak", "conf"),
    kinds.KeycloakStrict: ("keycloak-strict", None),
    kinds.OIDCProvider: ("oidc-provider", "basicplain"),
    kinds.Spring: ("spring-refresh", "basic"),
    kinds.Hydra: ("hydra", "basic"),
    kinds.Zitadel: ("zitadel-oidc", "web"),
}
ENDPOINTS = ("device_authorization", "end_session", "pushed_authorization_request", "revocation", "userinfo")
MEMBERS = ("access_token", "expires_in", "id_token", "refresh_token", "scope", "token_type")
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")


def tear_down():
    servers.close_all()


class Interview:
    """The questions of `Tests/units/KnownProviderTests/Answers.swift`, with the same names."""

    def __init__(self, server, confidential):
        self.server, self.confidential = server, confidential
        self.address = server.metadata["token_endpoint"]

    def answers(self):
        return {**self.described(), **self.hosts(), **self.session(), **self.codes(), **self.clients()}

    def described(self):
        metadata = self.server.metadata

        def listed(name):
            return " ".join(sorted(metadata.get(name) or [])) or "none"

        return {
            "endpoints": " ".join(name for name in ENDPOINTS if f"{name}_endpoint" in metadata),
            "client authentication": listed("token_endpoint_auth_methods_supported"),
            "challenge methods": listed("code_challenge_methods_supported"),
            "scopes": listed("scopes_supported"),
            "prompts": listed("prompt_values_supported"),
            "iss in redirects": "yes" if metadata.get("authorization_response_iss_parameter_supported") else "no",
            "DPoP": "yes" if "dpop_signing_alg_values_supported" in metadata else "no",
        }

    def hosts(self):
        """Which of the three loopback redirect URIs that are registered without a port also work with a port; {} if
        the client has no such redirect URIs."""
        if not isinstance(self.server, (kinds.OIDCProvider, kinds.Spring, kinds.Hydra)):
            return {}
        return {"loopback hosts": " ".join(host for host in HOSTS if self.takes(f"http://{host}:4711/callback"))}

    def takes(self, redirect_uri):
        try:
            answer = urllib.request.build_opener(NoRedirect).open(self.authorization(redirect_uri), timeout=60)
        except urllib.error.HTTPError as redirect:
            answer = redirect
        with answer:
            return answer.status < 400 and "error" not in answer.headers.get("Location", "")

    def session(self):
        given = self.redeem(self.code())[1]
        spent = given.get("refresh_token")
        # Keycloak compares whole seconds: a renewal in the second of the sign-in would not spend the refresh token.
        began = int(time.time())
        wait_until(lambda: int(time.time()) > began, "the second ends")
        renewed = self.renew(spent)[1]
        current = renewed.get("refresh_token", spent)
        unknown = self.renew("nonsense")
        more = self.renew(current, scope="openid nonsense")
        fewer = self.renew(more[1].get("refresh_token", current), scope="openid")
        newest = fewer[1].get("refresh_token", current)
        again = self.renew(spent)
        after = self.renew(again[1].get("refresh_token", newest))
        before, claims = claims_of(given), claims_of(renewed)
        return {
            "code": members(given),
            "renewal": members(renewed),
            "refresh token of a renewal": (
                "none" if "refresh_token" not in renewed else "the same" if renewed["refresh_token"] == spent else "another"
            ),
            "nonce of a renewal": kept(before, claims, "nonce"),
            "auth_time of a renewal": kept(before, claims, "auth_time"),
            "unknown refresh token": outcome(unknown),
            "more scopes": "ignored" if more[0] == 200 else outcome(more),
            "fewer scopes": scope_of(fewer[1]),
            "spent refresh token": outcome(again),
            "session after a spent refresh token": "lives" if after[0] == 200 else "ends",
        }

    def codes(self):
        code = self.code()
        given = self.redeem(code)[1]
        again = self.redeem(code)
        after = self.renew(given.get("refresh_token"))
        return {
            "spent code": outcome(again),
            "session after a spent code": "lives" if after[0] == 200 else "ends",
            "wrong verifier": outcome(self.redeem(self.code(), VERIFIER[::-1])),
        }

    def clients(self):
        form = {"grant_type": "refresh_token", "refresh_token": "nonsense"}
        answers = {"unknown client": outcome(self.post(self.address, {**form, "client_id": "nobody"}))}
        if self.confidential:
            answers["wrong secret"] = outcome(self.post(self.address, form, kinds.basic(self.confidential, "wrong")))
        revocation = self.server.metadata.get("revocation_endpoint")
        if revocation:
            form = {"token": "nonsense", "client_id": self.server.client_id}
            answers["revocation of an unknown token"] = outcome(self.post(revocation, form))
        return answers

    # Requests of the interview.

    def authorization(self, redirect_uri=LOOPBACK):
        fields = {
            "response_type": "code", "client_id": self.server.client_id, "redirect_uri": redirect_uri,
            "scope": " ".join(self.server.scopes), "state": "state-state", "nonce": "nonce-nonce", "prompt": "consent",
            "code_challenge": CHALLENGE, "code_challenge_method": "S256",
        }  # fmt: skip
        return f"{self.server.metadata['authorization_endpoint']}?{urllib.parse.urlencode(fields)}"

    def code(self):
        """A code for alice, who signs in with her own browser."""
        back = self.server.person().open(self.authorization())
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(back).query))["code"]

    def redeem(self, code, verifier=VERIFIER):
        fields = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": LOOPBACK, "code_verifier": verifier,
            "client_id": self.server.client_id,
        }  # fmt: skip
        return self.post(self.address, fields)

    def renew(self, token, **more):
        form = {"grant_type": "refresh_token", "refresh_token": token or "", "client_id": self.server.client_id}
        return self.post(self.address, {**form, **more})

    def post(self, address, form, headers=()):
        status, text = servers.request(address, form=form, headers=headers)
        try:
            answer = json.loads(text)
        except ValueError:
            answer = {}
        return status, answer


def members(answer):
    return " ".join(name for name in MEMBERS if name in answer)


def outcome(answer):
    status, body = answer
    return f"{status} {body['error']}" if "error" in body else str(status)


def scope_of(answer):
    if "access_token" not in answer:
        return "refused"
    if "scope" not in answer:
        return "not told"
    return "fewer" if answer["scope"] == "openid" else "as many as before"


def claims_of(answer):
    part = answer["id_token"].split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def kept(before, after, name):
    if name not in after:
        return "none"
    return "the same" if after[name] == before.get(name) else "another"


class Answers(unittest.TestCase):
    kind: type

    def test_are_those_of_the_known_providers(self):
        name, confidential = DIALECTS[self.kind]
        rows = [line.split(" | ") for line in ANSWERS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        expected = {question: answer for dialect, question, answer in rows if dialect == name}
        answers = Interview(servers.shared(self.kind), confidential).answers()
        # A question is skipped if the server has no client with a secret, or no client with three loopback redirects.
        asked = {question: answer for question, answer in expected.items() if question in answers}
        self.assertEqual(answers, asked)
        self.assertGreaterEqual(len(answers), len(expected) - 2)


class Guides(unittest.TestCase):
    """docs/providers/hydra.md: the command on the page registers the client that the page describes."""

    def test_the_command_registers_the_client(self):
        server = servers.shared(kinds.Hydra)
        lines = (TOP / "docs/providers/hydra.md").read_text(encoding="utf-8").splitlines()
        words = shlex.split(next(line for line in lines if line.startswith("hydra create ")))
        words[words.index("--endpoint") + 1] = f"http://127.0.0.1:{server.port + 1}"
        done = subprocess.run([server.directory / "hydra", *words[1:], "--format", "json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        client = json.loads(done.stdout)
        table = [line.split("`")[1] for line in lines if line.startswith(("| desktop, ", "| mobile, "))]
        self.assertEqual(client["redirect_uris"], table)
        self.assertEqual((client["client_id"], client["token_endpoint_auth_method"]), ("my-app", "none"))
        self.assertEqual(client["post_logout_redirect_uris"], ["https://app.example/signed-out"])


def on_each(tests, known, word):
    """Runs these tests at each of these kinds of server; without the servers there are no tests."""
    for kind in known if servers.REAL.is_dir() else ():
        name = f"{word} at {kind.name} among the known providers"
        setattr(sys.modules[__name__], name, type(name, (tests,), {"kind": kind, "__module__": __name__}))


on_each(Answers, DIALECTS, "Answers")
on_each(Guides, (kinds.Hydra,), "Guide")
del Answers, Guides
