"""A provider that uses Authlib's authorization server, started as a Flask program of its own."""

import json
import sys
from pathlib import Path

from joserfc.jwk import RSAKey

from browser import Step
from processes import Child
from providers import ALICE, BOB, CUSTOM, Facts, Provider


def _sign_in(page, user):
    page.fill("input[name=name]", user.name)
    page.fill("input[name=password]", user.password)
    page.click("button[value=yes]")


class Authlib(Provider):
    name = "Authlib"
    facts = Facts(
        silent_refusal="login_required",
        spent_refresh_token=("reauthenticate",),
        reuse_kills_family=False,
        iss_on_errors=False,
        token_request=r'"POST /token HTTP/1\.\d" \d',
        clients={"RS256": "native"},
    )
    pages = [Step("password", "input[name=password]", _sign_in)]
    denying_pages = [Step("password", "input[name=password]", lambda page, user: page.click("button[value=no]"))]
    # This provider has no end_session endpoint.
    logout_pages = []

    def __init__(self):
        super().__init__()
        self.base = self.issuer = f"http://127.0.0.1:{self.port}"

    def prepare(self):
        self.directory.joinpath("seed.json").write_text(
            json.dumps(
                {
                    "key": RSAKey.generate_key(2048, private=True, auto_kid=True).as_dict(private=True),
                    "users": [{"name": user.name, "password": user.password, "email": user.email} for user in (ALICE, BOB)],
                    "clients": [
                        self._client("native", None, "none"),
                        *(self._client(f"native-{method}", secret, method) for method, secret in self.facts.secrets.items()),
                    ],
                }
            )
        )

    def launch(self):
        server = Path(__file__).with_name("authlib_server.py")
        # -P: this directory's modules must not hide the packages of the same names.
        return Child([sys.executable, "-P", server, self.directory / "seed.json", self.port], self.directory / "log")

    def revocations(self):
        """How many revocation requests the provider has granted."""
        return self.logged(r'"POST /revoke HTTP/1\.\d" 200')

    def _client(self, client_id, secret, method):
        return {
            "client_id": client_id,
            "secret": secret,
            "method": method,
            "redirect_uris": [CUSTOM, self.loopback],
        }
