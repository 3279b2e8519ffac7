"""The real servers, each with its own particulars."""

import base64
import json
import os
import shutil
import subprocess
import sys
import urllib.parse

from keys import Key
from processes import TOP, Child, free_port, is_listening
from published import publish
from servers import REAL, Server, request, request_json, shared

JSON = {"Content-Type": "application/json"}


def basic(client, secret):
    """The header of client_secret_basic, according to RFC 6749 §2.3.1."""
    words = f"{urllib.parse.quote_plus(client)}:{urllib.parse.quote_plus(secret)}"
    return {"Authorization": "Basic " + base64.b64encode(words.encode()).decode()}


class OIDCProvider(Server):
    """node-oidc-provider: it replaces a public client's refresh token at each renewal. Reuse of an old refresh token
    ends the grant. All sign-ins of a client in one browser share one grant."""

    name, client_id = "oidc-provider", "native"
    passwords = {"alice": "pw", "bob": "pw"}
    stronger = {"acrValues": ["urn:example:mfa"]}
    stronger_fields = {"otp": "123456"}

    #: Every sign-in gets a refresh token, not only one with prompt=consent. Clients register themselves.
    changes = {"refresh": "always", "registration": "open", "anyResource": {"scope": "read", "format": "opaque"}}

    def launch(self):
        program = REAL / "oidc-provider/server.mjs"
        options = ["--issuer", self.origin, "--state", self.directory / "state", "--set", json.dumps(self.changes)]
        self.child = Child([os.environ.get("NODE", "node"), program, self.port, *options], self.directory / "log")

    def introspects(self, refresh_token):
        form = {"token": refresh_token, "client_id": self.client_id}
        return request_json(self.metadata["introspection_endpoint"], form=form)["active"]

    def holder_of(self, access_token):
        # The userinfo endpoint refuses a token for a resource, so the server's own list is used.
        tokens = request_json(f"{self.origin}/__op/tokens")["AccessToken"]
        known = (token["accountId"] for token in tokens if token["jti"] == access_token)
        return self.user_of(access_token) or next(known, None)

    def end_sessions(self, user):
        for what in ("end-sessions", "revoke-grants"):
            request_json(f"{self.origin}/__op/{what}?sub={user}")

    def change_keys(self):
        request_json(f"{self.origin}/__op/rotate-keys")


class Hydra(Server):
    """Ory Hydra without a grace period: each renewal replaces the refresh token, and reuse of an old refresh token ends
    the session."""

    name, client_id, preset = "Hydra", "app", "hydra"
    passwords = {"alice": "alice-pw", "bob": "bob-pw"}
    # The database refuses one of two simultaneous writes: the server then answers 500.
    lanes = 1

    def free_ports(self):
        """Finds a port whose next two ports are free, too: Hydra uses three."""
        while True:
            port = free_port()
            if not any(is_listening(port + more) for more in (1, 2)):
                return port

    @property
    def homes(self):
        return [self.origin, f"http://127.0.0.1:{self.port + 2}"]

    @property
    def administration(self):
        return f"http://127.0.0.1:{self.port + 1}/admin"

    def launch(self):
        environment = {"ISSUER": self.origin, "DATA": str(self.directory)}
        # Registration is open.
        options = [
            "oidc.dynamic_client_registration.enabled=true",
            f"webfinger.oidc_discovery.client_registration_url={self.origin}/oauth2/register",
        ]  # fmt: skip
        self.child = Child([sys.executable, REAL / "hydra/start", self.port, *options], self.directory / "log", environment)

    def wait_until_ready(self):
        # Hydra answers requests before its clients are registered.
        self.child.wait_for(lambda: "ready" in self.child.log.read_text(errors="replace").split(), "Hydra is ready")
        super().wait_until_ready()

    def stop(self):
        super().stop()
        self.child.log.write_text("")

    def introspects(self, refresh_token):
        return request_json(f"{self.administration}/oauth2/introspect", form={"token": refresh_token})["active"]

    def end_sessions(self, user):
        for kind, more in (("consent", "&all=true"), ("login", "")):
            request(f"{self.administration}/oauth2/auth/sessions/{kind}?subject={user}{more}", method="DELETE")

    def change_keys(self):
        body = json.dumps({"alg": "ES256", "use": "sig"}).encode()
        request_json(f"{self.administration}/keys/hydra.openid.id-token", headers=JSON, body=body)


class Zitadel(Server):
    """The example server of zitadel/oidc: each renewal replaces the refresh token. It keeps everything in memory."""

    name, client_id, preset = "zitadel", "native", "zitadel"
    passwords = {"alice": "alice-password", "bob": "bob-password"}
    keeps, has_administrator, remembers_browser = False, False, False

    @property
    def issuer(self):
        return self.origin + "/"

    def launch(self):
        self.child = Child([REAL / "zitadel/start", self.port, self.issuer], self.directory / "log")

    def approve(self, person, url):
        super().approve(person, url)
        # The page has buttons that need JavaScript, and no form. This opens the URL of the button.
        person.open(f"{self.origin}/device/confirm?action=allowed")


class Spring(Server):
    """Spring Authorization Server with a usual configuration: the refresh token stays, and each sign-in is a
    separate session."""

    name, client_id, preset = "Spring", "app", "spring"
    passwords = {"alice": "alice-pw", "bob": "bob-pw"}
    scopes = ("openid", "profile", "email")
    rotates, forgives = False, True
    # The server's `sid` names the user's latest session in any browser, and end_session refuses a hint whose `sid`
    # belongs to another browser.
    tells_browsers_apart = False
    # Spring ignores prompt=login. Its auth_time is the time at which its session in the browser began.
    stronger = {"maxAge": 600}

    def __init__(self):
        super().__init__()
        #: The key of its client "jwt".
        self.key = Key("ES256")
        self.keys = publish(f"/keys/{self.port}", {"keys": [self.key.public]})

    def launch(self):
        # Without these options H2 closes the database after each request.
        database = f"{self.directory / 'db'};DB_CLOSE_DELAY=-1;WRITE_DELAY=0"
        options = [
            "public-refresh=true", "public-at=refresh,device,revoke", f"db={database}", f"keys={self.directory / 'keys'}",
            f"client-jwks={self.keys}", "dcr=open", "dcr-scopes=true",
        ]  # fmt: skip
        self.child = Child([REAL / "spring/start", self.port, *options], self.directory / "log", {"ISSUER": self.origin})

    def introspects(self, refresh_token):
        return self._introspect(refresh_token)["active"]

    def holder_of(self, access_token):
        return self._introspect(access_token).get("sub")

    def _introspect(self, token):
        headers = basic("basic", "basic-secret")
        return request_json(self.metadata["introspection_endpoint"], form={"token": token}, headers=headers)

    def end_sessions(self, user):
        request(f"{self.origin}/__admin/end", form={"user": user})

    def change_keys(self):
        request(f"{self.origin}/__admin/keys", form={})


class SpringRotating(Spring):
    """The program of `Spring` with another client. Each renewal replaces the refresh token, and reuse of an old
    refresh token ends nothing."""

    name, client_id = "Spring-rotating", "offline"
    rotates, forgives = True, False

    def __init__(self):
        self.program = shared(Spring)
        self.port, self.recorder, self.origin = self.program.port, self.program.recorder, self.program.origin

    def start(self):
        self.read_metadata()
        status, text = request(f"{self.origin}/__admin/client", form={"id": self.client_id, "reuse": "false"})
        assert status == 200, text

    def restart(self):
        self.program.restart()
        # The program keeps its clients in memory and has lost the change, so `start` changes the client again.
        self.start()

    def close(self):
        """Does nothing: the server of the kind `Spring` owns the program, and closes it."""


class Keycloak(Server):
    """Keycloak with its defaults: the refresh token stays, and all sign-ins of a client in one browser share one
    session."""

    name, client_id, realm, preset = "Keycloak", "cli", "enroll", "keycloak"
    passwords = {"alice": "alice-pw", "bob": "bob-pw"}
    scopes = ("openid", "profile", "email")
    rotates, forgives = False, True
    stronger = {"maxAge": 600, "prompt": "login"}

    #: The unpacked program stays for the next run; its database does not.
    folder = TOP / ".build/real/keycloak"

    @property
    def issuer(self):
        return f"{self.origin}/realms/{self.realm}"

    @property
    def administration(self):
        return f"{self.origin}/admin/realms/{self.realm}"

    def start(self):
        shutil.rmtree(self.folder / "keycloak/data", ignore_errors=True)
        super().start()

    def launch(self):
        """The program `start` ends when the server is ready."""
        words = [REAL / "keycloak/start", self.folder, str(self.port), "--public", self.origin]
        # The server runs for only a few minutes, so the slow compiler does not pay off.
        environment = {**os.environ, "JAVA_OPTS_APPEND": "-XX:TieredStopAtLevel=1"}
        subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environment, check=True)

    def wait_until_ready(self):
        self.read_metadata()

    def stop(self):
        subprocess.run([REAL / "keycloak/stop", self.folder], check=True)

    def administrator(self):
        form = {"grant_type": "password", "client_id": "admin-cli", "username": "admin", "password": "admin-pw-1"}
        token = request_json(f"{self.origin}/realms/master/protocol/openid-connect/token", form=form)["access_token"]
        return {**JSON, "Authorization": f"Bearer {token}"}

    def end_sessions(self, user):
        headers = self.administrator()
        found = request_json(f"{self.administration}/users?exact=true&username={user}", headers=headers)
        for session in request_json(f"{self.administration}/users/{found[0]['id']}/sessions", headers=headers):
            request(f"{self.administration}/sessions/{session['id']}", headers=headers, method="DELETE")

    def open_registration(self):
        # Each new realm has a policy that refuses clients with the scope openid. The loop removes the policy.
        headers, kind = self.administrator(), "org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy"
        for policy in request_json(f"{self.administration}/components?type={kind}", headers=headers):
            if policy["providerId"] == "allowed-client-templates":
                request(f"{self.administration}/components/{policy['id']}", headers=headers, method="DELETE")

    def change_keys(self):
        headers = self.administrator()
        kind = "org.keycloak.keys.KeyProvider"
        there = request_json(f"{self.administration}/components?type={kind}", headers=headers)
        highest = max(int(one["config"].get("priority", ["0"])[0]) for one in there)
        component = {
            "name": f"key-{highest + 1}", "providerId": "rsa-generated", "providerType": kind,
            "parentId": request_json(self.administration, headers=headers)["id"],
            "config": {"priority": [str(highest + 1)], "enabled": ["true"], "active": ["true"], "algorithm": ["RS256"]},
        }  # fmt: skip
        status, text = request(f"{self.administration}/components", headers=headers, body=json.dumps(component).encode())
        assert status == 201, text


class KeycloakStrict(Keycloak):
    """The program of `Keycloak` with another realm: each renewal replaces the refresh token, and reuse of an old
    refresh token ends the session."""

    name, realm = "Keycloak-strict", "enroll-strict"
    rotates, forgives = True, False

    def __init__(self):
        self.program = shared(Keycloak)
        self.port, self.recorder, self.origin = self.program.port, self.program.recorder, self.program.origin

    def start(self):
        self.read_metadata()

    def restart(self):
        self.program.restart()

    def close(self):
        """Does nothing: the server of the kind `Keycloak` owns the program, and closes it."""


#: The five programs.
PROGRAMS = (Keycloak, OIDCProvider, Spring, Hydra, Zitadel)
#: The programs, and variants of these programs that differ in one setting.
ALL = (*PROGRAMS, KeycloakStrict, SpringRotating)
