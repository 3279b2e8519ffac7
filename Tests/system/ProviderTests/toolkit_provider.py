"""django-oauth-toolkit from PyPI, started as a Django project of its own."""

import json
from pathlib import Path

from joserfc.jwk import RSAKey

from browser import Step
from processes import TOP, Child
from providers import ALICE, BOB, CUSTOM, CUSTOM_LOGOUT, Facts, Provider

_PYTHON = TOP / ".build/providers/toolkit/bin/python"
_DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def _log_in(page, user):
    page.fill("#id_username", user.name)
    page.fill("#id_password", user.password)
    page.click("input[type=submit]")


class Toolkit(Provider):
    """django-oauth-toolkit as a provider. `token_seconds`: the lifetime of access tokens. `grace_seconds`: the
    time in which a spent refresh token gets the same tokens again."""

    name = "django-oauth-toolkit"
    facts = Facts(
        silent_refusal="login_required",
        spent_refresh_token=("reauthenticate",),
        reuse_kills_family=True,
        iss_on_errors=False,
        token_request=r'"POST /o/token/ HTTP/1\.\d" \d',
        clients={"RS256": "native"},
    )
    pages = [Step("password", "#id_password", _log_in)]
    logout_pages = [Step("logout", "input[name=allow]", lambda page, user: page.click("input[name=allow]"))]
    # The form contains the code already.
    device_pages = [
        *pages,
        Step("code", "#id_user_code", lambda page, user: page.click("button[type=submit]")),
        Step("consent", "button[value=accept]", lambda page, user: page.click("button[value=accept]")),
    ]

    denying_pages = [
        *device_pages[:-1],
        Step("consent", "button[value=deny]", lambda page, user: page.click("button[value=deny]")),
    ]

    def __init__(self, token_seconds=3600, grace_seconds=60):
        super().__init__()
        self.base = f"http://127.0.0.1:{self.port}"
        self.issuer = f"{self.base}/o"
        self._seconds = {"tokenSeconds": token_seconds, "graceSeconds": grace_seconds}

    def prepare(self):
        self.directory.joinpath("seed.json").write_text(json.dumps(self._seed()))

    def launch(self):
        server = Path(__file__).with_name("toolkit") / "server.py"
        return Child([_PYTHON, "-B", server, self.directory, self.port], self.directory / "log")

    def revocations(self):
        """How many revocation requests the provider has granted."""
        return self.logged(r'"POST /o/revoke_token/ HTTP/1\.\d" 200')

    @property
    def endpoints(self):
        """The endpoints that the provider has but does not announce, for the configuration."""
        return {
            "authorizationEndpoint": f"{self.issuer}/authorize/",
            "tokenEndpoint": f"{self.issuer}/token/",
            "jwksUri": f"{self.issuer}/.well-known/jwks.json",
            "userinfoEndpoint": f"{self.issuer}/userinfo/",
            "endSessionEndpoint": f"{self.issuer}/logout/",
            "revocationEndpoint": f"{self.issuer}/revoke_token/",
            "introspectionEndpoint": f"{self.issuer}/introspect/",
            "deviceAuthorizationEndpoint": f"{self.issuer}/device-authorization/",
        }

    def connect(self, person, action, pages=None):
        """Connects a device, as a user does with the browser of another device."""
        person.open(
            f"{action['verificationUri']}?user_code={action['userCode']}",
            until=f"{self.issuer}/device-grant-status/",
            pages=pages or self.device_pages,
        )

    def _seed(self):
        browser = {
            "authorization_grant_type": "authorization-code",
            # A loopback redirect without a port allows any port.
            "redirect_uris": f"{CUSTOM} http://127.0.0.1/cb",
            "post_logout_redirect_uris": CUSTOM_LOGOUT,
        }
        device = {"authorization_grant_type": _DEVICE_GRANT}
        public = {"client_type": "public", "client_secret": ""}
        return {
            "key": RSAKey.generate_key(2048, private=True).as_pem(private=True).decode(),
            "users": [{"name": user.name, "password": user.password, "email": user.email} for user in (ALICE, BOB)],
            "clients": [
                {"client_id": "native", **browser, **public},
                {"client_id": "device", **device, **public},
                *(
                    {
                        "client_id": f"{client_id}-{method}",
                        "client_type": "confidential",
                        "client_secret": secret,
                        **grant,
                    }
                    for method, secret in self.facts.secrets.items()
                    for client_id, grant in (("native", browser), ("device", device))
                ),
            ],
            **self._seconds,
        }
