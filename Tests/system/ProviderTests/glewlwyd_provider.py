"""Glewlwyd 2.7 from Debian, started in its own directory and configured by its API."""

import contextlib
import json
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path

import httpx
from joserfc.jwk import ECKey, OKPKey, RSAKey

from browser import Step
from processes import Child
from providers import ALICE, BASIC, BOB, CUSTOM, CUSTOM_LOGOUT, POST, SECRET, Facts, Provider

_SHARE = Path("/usr/share/glewlwyd/webapp")
_ETC = Path("/etc/glewlwyd")
_SCHEMA = Path("/usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz")


def _log_in(page, user):
    # The field for the name is disabled if the user only has to enter the password again.
    if page.is_enabled("#username"):
        page.fill("#username", user.name)
    page.fill("#password", user.password)
    page.click("button[type=submit]")


def _grant(page, user):
    page.check("#grant-profile")
    page.check("#grant-email")
    page.click("button.btn-primary")


class Glewlwyd(Provider):
    """`external` is the address that browsers and clients use if Glewlwyd is behind a proxy; `clock` says by
    how much Glewlwyd's clock is wrong, in libfaketime's form (`+1h`); `token_seconds` is the lifetime of the
    access tokens."""

    name = "Glewlwyd"
    facts = Facts(
        silent_refusal="interaction_required",
        spent_refresh_token=("rejected", "stale"),
        reuse_kills_family=True,
        iss_on_errors=True,
        token_request="Refresh token generated for client .* with scope list|Code invalid|Token invalid",
        # Glewlwyd does not form-decode the secret in the header, although RFC 6749 §2.3.1 requires that.
        secrets={POST: SECRET, BASIC: "GOCSPX-none.of_which~a-form-encodes"},
        clients={"RS256": "native", "ES256": "native-es256", "EdDSA": "native-eddsa"},
    )

    # The pages of Glewlwyd are one JavaScript application. After every login the user has to click on "continue".
    pages = [
        Step("account", "text=Select the account to use", lambda page, user: page.click("text=New user")),
        Step("password", "#password", _log_in),
        Step("consent", "#grant-email", _grant),
        Step("continue", "button.btn-success:enabled", lambda page, user: page.click("button.btn-success")),
    ]
    logout_pages = [
        Step("logout", "text=End session", lambda page, user: page.click("button.btn-danger >> nth=0")),
    ]

    without_pages = "&g_continue"

    # 404 also means that Glewlwyd is ready, because it has no issuer until it is configured.
    ready = (200, 404)

    # Further settings of Glewlwyd's plugin, which subclasses add to the settings that every test needs.
    abilities = {}

    def __init__(self, external=None, port=None, clock=None, token_seconds=3600):
        super().__init__(port)
        self.base = external or self.base
        self.issuer = f"{self.base}/api/oidc"
        self._token_seconds = token_seconds
        self._environment = _wrong_clock(clock) if clock else {}

    # This URL has Glewlwyd's own address, because a proxy may be at the external address.
    @property
    def discovery(self):
        return f"http://localhost:{self.port}/api/oidc/.well-known/openid-configuration"

    def launch(self):
        return Child(
            ["glewlwyd", "-c", self.directory / "glewlwyd.conf"],
            self.directory / "log",
            environment=self._environment,
        )

    def revocations(self):
        """The number of refresh tokens that were revoked because a client requested it."""
        return self.logged("Refresh token generated for client .* revoked")

    def connect(self, person, action):
        """Plays a user who connects a device with a browser on another device."""
        person.open(action["verificationUriComplete"], until=f"{self.base}/login.html?&callback_url")

    def backdate_log_ins(self, seconds):
        """Moves the time of all logins back by this much."""
        database = sqlite3.connect(self.directory / "glewlwyd.db", timeout=10)
        with contextlib.closing(database), database:
            database.execute(
                "UPDATE g_user_session_scheme SET guss_last_login = guss_last_login - ?", (seconds,)
            )

    # Configuration.

    def prepare(self):
        directory = self.directory
        schema = subprocess.run(["zcat", _SCHEMA], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        subprocess.run(["sqlite3", directory / "glewlwyd.db"], input=schema.stdout, check=True)
        shutil.copytree(_SHARE, directory / "web", ignore=shutil.ignore_patterns("config.json"))
        shutil.copy(_ETC / "config-2.7.json" / "config.json", directory / "web")
        settings = {
            "port": self.port,
            "bind_address": '"127.0.0.1"',
            "external_url": f'"{self.base}"',
            "static_files_path": f'"{directory}/web/"',
            "log_mode": '"console"',
        }
        text = (_ETC / "glewlwyd.conf").read_text()
        for name, value in settings.items():
            text, found = re.subn(rf"(?m)^(# ?)?{name}=.*$", f"{name}={value}", text)
            assert found == 1, f"{name} in glewlwyd.conf"
        database = f'database = {{ type="sqlite3"; path="{directory}/glewlwyd.db"; }};'
        text = re.sub(r"(?m)^@include.*$", database, text)
        (directory / "glewlwyd.conf").write_text(text)

    def set_up(self):
        with httpx.Client(base_url=f"http://localhost:{self.port}/api") as api:

            def send(method, path, body=None):
                answer = api.request(method, path, json=body)
                assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
                return answer

            send("POST", "/auth", {"username": "admin", "password": "password"})
            self._add_client_properties(send)
            send("POST", "/mod/plugin/", self._plugin())
            send("PUT", "/scope/openid", _scope("openid"))
            send("POST", "/scope/", _scope("profile"))
            send("POST", "/scope/", _scope("email"))
            for user in (ALICE, BOB):
                send("POST", "/user/", _user(user))
            for algorithm, client_id in self.facts.clients.items():
                send("POST", "/client/", self._client(client_id, algorithm))
            for method, secret in self.facts.secrets.items():
                proof = {"confidential": True, "password": secret, "token_endpoint_auth_method": [method]}
                send("POST", "/client/", {**self._client(f"native-{method}", "RS256"), **proof})

    def _add_client_properties(self, send):
        """Tells Glewlwyd that clients have a signing key and logout redirects as properties: otherwise these
        cannot be set."""
        module = send("GET", "/mod/client/database").json()
        text = {"multiple": False, "read": True, "write": True}
        module["parameters"]["data-format"]["sign_kid"] = text
        module["parameters"]["data-format"]["post_logout_redirect_uris"] = {**text, "multiple": True}
        send("PUT", "/mod/client/database", module)
        send("PUT", "/mod/client/database/reset")

    def _plugin(self):
        keys = [
            RSAKey.generate_key(2048, {"kid": "RS256", "alg": "RS256"}, private=True),
            ECKey.generate_key("P-256", {"kid": "ES256", "alg": "ES256"}, private=True),
            OKPKey.generate_key("Ed25519", {"kid": "EdDSA", "alg": "EdDSA"}, private=True),
        ]
        parameters = {
            "iss": self.issuer,
            "jwks-private": json.dumps({"keys": [key.as_dict(private=True) for key in keys]}),
            "jwks-show": True,
            "default-kid": "RS256",
            "client-sign_kid-parameter": "sign_kid",
            "jwt-key-size": "256",
            "access-token-duration": self._token_seconds,
            "refresh-token-duration": 1209600,
            "code-duration": 600,
            "refresh-token-rolling": True,
            "refresh-token-one-use": "always",
            "allow-non-oidc": False,
            "auth-type-code-enabled": True,
            "auth-type-code-revoke-replayed": True,
            "auth-type-token-enabled": False,
            "auth-type-id-token-enabled": True,
            "auth-type-none-enabled": False,
            "auth-type-implicit-enabled": False,
            "auth-type-password-enabled": False,
            "auth-type-client-enabled": False,
            "auth-type-device-enabled": True,
            "device-authorization-expiration": 600,
            "device-authorization-interval": 1,
            "auth-type-refresh-enabled": True,
            "subject-type": "public",
            "name-claim": "mandatory",
            "email-claim": "mandatory",
            "scope-claim": "no",
            "allowed-scope": ["openid", "profile", "email"],
            "pkce-allowed": True,
            "pkce-required": True,
            "pkce-method-plain-allowed": False,
            "introspection-revocation-allowed": True,
            "introspection-revocation-auth-scope": ["openid"],
            "introspection-revocation-allow-target-client": True,
            "session-management-allowed": True,
            "front-channel-logout-allowed": True,
            "back-channel-logout-allowed": True,
            "session-cookie-name": "GLEWLWYD2_OIDC_SID",
            "session-cookie-expiration": 2419200,
            "oauth-as-iss-id": True,
            "user-parameter": [],
            **self.abilities,
        }
        return {"module": "oidc", "name": "oidc", "display_name": "OIDC", "parameters": parameters}

    def _client(self, client_id, algorithm):
        return {
            "client_id": client_id,
            "name": "Native",
            "confidential": False,
            "enabled": True,
            "scope": [],
            "redirect_uri": [CUSTOM, self.loopback],
            "authorization_type": ["code", "refresh_token", "device_authorization", "delete_token"],
            "token_endpoint_auth_method": ["none"],
            "post_logout_redirect_uris": [CUSTOM_LOGOUT],
            "sign_kid": algorithm,
        }


class PushingGlewlwyd(Glewlwyd):
    """A Glewlwyd that accepts only pushed authorization requests (RFC 9126)."""

    name = "Glewlwyd with pushed requests"
    abilities = {
        "oauth-par-allowed": True,
        "oauth-par-required": True,
        "oauth-par-duration": 90,
        "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:",
    }


class BindingGlewlwyd(Glewlwyd):
    """A Glewlwyd that binds tokens to a key, and requires a nonce in every proof (RFC 9449). It also accepts pushed
    requests."""

    name = "Glewlwyd with DPoP"
    abilities = {
        "oauth-dpop-allowed": True,
        "oauth-dpop-iat-duration": 60,
        "oauth-dpop-iat-gap-duration": 60,
        "oauth-dpop-nonce-mandatory": True,
        "oauth-dpop-nonce-counter": 2,
        "oauth-par-allowed": True,
        "oauth-par-required": False,
        "oauth-par-duration": 90,
        "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:",
    }


def _wrong_clock(offset):
    library, *_ = Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")
    # The monotonic clock must not be faked, because threads use it when they wait.
    return {"LD_PRELOAD": str(library), "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


def _scope(name):
    """A scope for which Glewlwyd requires the password. Without such a scope, it does not ask users to sign
    in."""
    return {
        "name": name,
        "display_name": name,
        "description": name,
        "password_required": True,
        "password_max_age": 0,
        "scheme": {},
    }


def _user(user):
    return {
        "username": user.name,
        "name": user.name.capitalize(),
        "email": user.email,
        "password": user.password,
        "enabled": True,
        "scope": ["g_profile", "openid", "profile", "email"],
    }
