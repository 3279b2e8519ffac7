"""django-allauth's OpenID provider from PyPI, started as a Django project of its own. Its registration is open, and
it binds a token to the resource that the request names."""

import json
from pathlib import Path

from joserfc.jwk import RSAKey

from browser import Step
from processes import TOP, Child
from providers import ALICE, BASIC, BOB, CUSTOM, CUSTOM_LOGOUT, POST, SECRET, Facts, Provider

_PYTHON = TOP / ".build/providers/allauth/bin/python"


def _log_in(page, user):
    page.fill("#id_login", user.name)
    page.fill("#id_password", user.password)
    page.click("button[type=submit]")


class Allauth(Provider):
    name = "django-allauth"
    facts = Facts(
        silent_refusal="login_required",
        spent_refresh_token=("reauthenticate",),
        reuse_kills_family=False,
        iss_on_errors=False,
        token_request=r'"POST /identity/o/api/token HTTP/1\.\d" \d',
        # The provider does not form-decode a secret in the header, although RFC 6749 §2.3.1 requires that. So
        # it refuses a secret there if form encoding changes the secret.
        secrets={POST: SECRET, BASIC: "GOCSPX-a.secret_without-signs~"},
        clients={"RS256": "native"},
    )
    pages = [
        Step("password", "#id_password", _log_in),
        Step("consent", "button[value=grant]", lambda page, user: page.click("button[value=grant]")),
    ]
    logout_pages = [
        Step("logout", "button[value=logout]", lambda page, user: page.click("button[value=logout]")),
    ]
    resource_client = ("resource", "GOCSPX-of-the-resource")

    def __init__(self):
        super().__init__()
        self.base = self.issuer = f"http://127.0.0.1:{self.port}"

    def prepare(self):
        self.directory.joinpath("seed.json").write_text(json.dumps(self._seed()))

    def launch(self):
        server = Path(__file__).with_name("allauth") / "server.py"
        return Child([_PYTHON, "-B", server, self.directory, self.port], self.directory / "log")

    def revocations(self):
        """How many revocation requests the provider has granted."""
        return self.logged(r'"POST /identity/o/api/revoke HTTP/1\.\d" 200')

    def _seed(self):
        return {
            "key": RSAKey.generate_key(2048, private=True).as_pem(private=True).decode(),
            "users": [{"name": user.name, "password": user.password, "email": user.email} for user in (ALICE, BOB)],
            "clients": [
                self._client("native", None),
                *(self._client(f"native-{method}", secret) for method, secret in self.facts.secrets.items()),
                self._client(*self.resource_client),
            ],
        }

    def _client(self, client_id, secret):
        return {
            "id": client_id,
            "name": client_id,
            "type": "confidential" if secret else "public",
            "secret": secret,
            "scopes": ["openid", "profile", "email"],
            "default_scopes": ["openid"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": "code",
            # django-allauth accepts this loopback redirect with any port.
            "redirect_uris": [CUSTOM, "http://127.0.0.1/cb"],
            "post_logout_redirect_uris": [CUSTOM_LOGOUT],
        }
