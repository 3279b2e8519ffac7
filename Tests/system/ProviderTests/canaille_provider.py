"""Canaille 0.3 from PyPI, started in its own directory."""

import json
import re
import sys
from pathlib import Path

from joserfc.jwk import ECKey, RSAKey

from browser import Step
from mail_server import MailServer
from processes import Child
from providers import ALICE, BOB, CUSTOM, CUSTOM_LOGOUT, Facts, Provider, User

_CONFIGURATION = """
SECRET_KEY = "0123456789abcdef0123456789abcdef"
SERVER_NAME = "localhost:{port}"
PREFERRED_URL_SCHEME = "http"
[CANAILLE]
NAME = "Canaille"
DATABASE = "sql"
AUTHENTICATION_FACTORS = ["password"]
CAPTCHA_ENABLED = false
# With HTMX, the pages also send the typed text half a second later. That answer has an older session cookie, and may
# arrive after the answer to the form itself.
HTMX = false
[CANAILLE_SQL]
DATABASE_URI = "sqlite:///{directory}/canaille.sqlite"
[CANAILLE_OIDC]
ACTIVE_JWKS = [{keys}]
"""


class Canaille(Provider):
    name = "Canaille"
    facts = Facts(
        silent_refusal="login_required",
        spent_refresh_token=("reauthenticate",),
        reuse_kills_family=False,
        iss_on_errors=False,
        # Hypercorn also writes a line without a status, if the client closes the connection.
        token_request=r'"POST /oauth/token 1\.\d" \d',
        clients={"RS256": "native", "ES256": "native-es256"},
    )

    pages = [
        Step("account", "input[name=login]", lambda page, user: _send(page, "login", user.name)),
        Step("password", "input[name=password]", lambda page, user: _send(page, "password", user.password)),
        Step("consent", "button[name=answer][value=accept]", lambda page, user: _press(page, "accept")),
    ]
    logout_pages = [
        Step("logout", "button[name=answer][value=logout]", lambda page, user: _press(page, "logout")),
    ]

    # The users who exist from the start.
    users = (ALICE, BOB)

    def __init__(self):
        super().__init__()
        self.issuer = self.base

    def launch(self):
        return Child(
            # -P: this directory's modules must not hide the packages of the same names.
            [
                sys.executable,
                "-P",
                Path(__file__).with_name("canaille_server.py"),
                self.directory / "seed.json",
                self.port,
            ],
            self.directory / "log",
            environment={"CANAILLE_CONFIG": str(self.directory / "canaille.toml")},
            directory=self.directory,
        )

    def prepare(self):
        keys = [RSAKey.generate_key(2048, private=True), ECKey.generate_key("P-256", private=True)]
        text = _CONFIGURATION.format(
            port=self.port,
            directory=self.directory,
            keys=", ".join(_toml(key.as_dict(private=True)) for key in keys),
        )
        self.directory.joinpath("canaille.toml").write_text(self.settings(text))
        self.directory.joinpath("seed.json").write_text(
            json.dumps(
                {
                    "users": [_user(user) for user in self.users],
                    "clients": self.seed_clients(),
                }
            )
        )

    def seed_clients(self):
        """The clients that exist from the start."""
        return [
            self._client(client_id, algorithm) for algorithm, client_id in self.facts.clients.items()
        ] + [
            {
                **self._client(f"native-{method}", "RS256"),
                "client_secret": secret,
                "token_endpoint_auth_method": method,
            }
            for method, secret in self.facts.secrets.items()
        ]

    def revocations(self):
        """How many revocation requests the provider has granted."""
        return self.logged(r'"POST /oauth/revoke 1\.\d" 200')

    def settings(self, text):
        """The configuration of this variant; `text` is the usual configuration."""
        return text

    def _client(self, client_id, algorithm):
        return {
            "client_id": client_id,
            "client_name": "Native",
            "token_endpoint_auth_method": "none",
            "redirect_uris": [CUSTOM, self.loopback],
            "post_logout_redirect_uris": [CUSTOM_LOGOUT],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "scope": ["openid", "profile", "email"],
            "application_type": "native",
            "id_token_signed_response_alg": algorithm,
        }


class MailingCanaille(Canaille):
    """Canaille with e-mail: a real SMTP server receives and keeps the messages."""

    def start(self):
        self.mail = MailServer()
        super().start()

    def stop(self):
        super().stop()
        self.mail.stop()

    def settings(self, text):
        return text + f'[CANAILLE.SMTP]\nHOST = "127.0.0.1"\nPORT = {self.mail.port}\nFROM_ADDR = "id@example.com"\n'


class RegisteringCanaille(MailingCanaille):
    """Canaille with open registration: `prompt=create`, and a link by e-mail that resumes the authorize request."""

    name = "Canaille with registration"
    profile = [
        Step("profile", "input[name=user_name]", lambda page, user: _fill_profile(page, user)),
    ]
    pages = profile + Canaille.pages

    def settings(self, text):
        open_door = "ENABLE_REGISTRATION = true\nEMAIL_CONFIRMATION = true\n"
        return super().settings(text.replace("[CANAILLE]\n", "[CANAILLE]\n" + open_door))


class EmailCodeCanaille(MailingCanaille):
    """Canaille with a one-time code by e-mail as the only way to sign in."""

    name = "Canaille with e-mail codes"

    def __init__(self):
        super().__init__()
        self.pages = [step for step in Canaille.pages if step.name != "password"] + [
            Step("code", "input[name=otp]", self._type_code)
        ]
        # Canaille sends a user no second code within ten seconds, so each test has its own user.
        self.users = [User(f"reader{n}", "asked-by-nobody", f"reader{n}@example.com") for n in range(24)]
        self._newcomers = iter(self.users)

    def newcomer(self):
        """A user who has never signed in."""
        return next(self._newcomers)

    def settings(self, text):
        return super().settings(text.replace('["password"]', '["email"]'))

    def code_to(self, address):
        """The code in the next e-mail to this address."""
        return re.search(r"(?m)passcode: (\d{6})$", self.mail.message_to(address))[1]

    def _type_code(self, page, user):
        send_code(page, self.code_to(user.email))


def send_code(page, code):
    """Types a one-time code and presses the button that confirms it. The page's other button would send another
    e-mail."""
    page.fill("input[name=otp]", code)
    page.click("button[name=action][value=confirm]")


def _fill_profile(page, user):
    page.fill("input[name=user_name]", user.name)
    page.fill("input[name=family_name]", "Newcomer")
    page.fill("input[name=password1]", user.password)
    page.fill("input[name=password2]", user.password)
    page.locator("button[type=submit][value=create-profile], button[type=submit]").last.click()
    page.wait_for_load_state()


def _send(page, field, text):
    page.fill(f"input[name={field}]", text)
    page.press(f"input[name={field}]", "Enter")


def _press(page, answer):
    page.click(f"button[name=answer][value={answer}]")


def _user(user):
    return {
        "user_name": user.name,
        "formatted_name": user.name.capitalize(),
        "family_name": user.name.capitalize(),
        "emails": [user.email],
        "password": user.password,
    }


def _toml(key):
    return "{" + ", ".join(f'{name} = "{value}"' for name, value in key.items()) + "}"
