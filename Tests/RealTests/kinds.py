"""The real servers, each with what is its own."""

import base64
import json
import os
import shutil
import subprocess
import sys

from processes import TOP, Child, free_port, is_listening
from servers import REAL, Server, request, request_json, shared

JSON = {"Content-Type": "application/json"}


def basic(client, secret):
    return {"Authorization": "Basic " + base64.b64encode(f"{client}:{secret}".encode()).decode()}


class OIDCProvider(Server):
    """node-oidc-provider: a public client's refresh token is replaced each time, and one that comes twice ends everything. All
    sign-ins of a client in one browser share one grant."""

    name, client_id = "oidc-provider", "native"
    passwords = {"alice": "pw", "bob": "pw"}
    stronger = {"acrValues": ["urn:example:mfa"]}
    stronger_fields = {"otp": "123456"}

    def launch(self):
        program = REAL / "oidc-provider/server.mjs"
        # Every sign-in gets a refresh token, not only one with prompt=consent.
        options = ["--issuer", self.origin, "--state", self.directory / "state", "--set", json.dumps({"refresh": "always"})]
        self.child = Child([os.environ.get("NODE", "node"), program, self.port, *options], self.directory / "log")

    def introspects(self, refresh_token):
        form = {"token": refresh_token, "client_id": self.client_id}
        return request_json(self.metadata["introspection_endpoint"], form=form)["active"]

    def end_sessions(self, user):
        for what in ("end-sessions", "revoke-grants"):
            request_json(f"{self.origin}/__op/{what}?sub={user}")

    def change_keys(self):
        request_json(f"{self.origin}/__op/rotate-keys")


class Hydra(Server):
    """Ory Hydra without a grace period: each renewal replaces the refresh token, and one that comes twice ends the session."""

    name, client_id = "Hydra", "app"
    passwords = {"alice": "alice-pw", "bob": "bob-pw"}

    def free_ports(self):
        """It takes this one and the next two."""
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
        self.child = Child([sys.executable, REAL / "hydra/start", self.port], self.directory / "log", environment)

    def wait_until_ready(self):
        # It registers its clients after it has begun to answer.
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
    """The example server of zitadel/oidc: each renewal replaces the refresh token. Everything is in its memory."""

    name, client_id = "zitadel", "native"
    passwords = {"alice": "alice-password", "bob": "bob-password"}
    keeps, has_administrator, remembers_browser = False, False, False

    @property
    def issuer(self):
        return self.origin + "/"

    def launch(self):
        self.child = Child([REAL / "zitadel/start", self.port, self.issuer], self.directory / "log")


class Spring(Server):
    """Spring Authorization Server as apps use it: the refresh token stays, and each sign-in is a session of its own."""

    name, client_id = "Spring", "app"
    passwords = {"alice": "alice-pw", "bob": "bob-pw"}
    scopes = ("openid", "profile", "email")
    rotates, forgives = False, True
    # `sid` is that of the user's latest session in any browser, and end_session refuses a hint with another one than the browser's.
    tells_browsers_apart = False
    # It ignores prompt=login; the time of its session's sign-in is what it says.
    stronger = {"maxAge": 600}

    def launch(self):
        # Without these options H2 closes the database after each request.
        database = f"{self.directory / 'db'};DB_CLOSE_DELAY=-1;WRITE_DELAY=0"
        options = [
            "public-refresh=true", "public-at=refresh,device,revoke", f"db={database}", f"keys={self.directory / 'keys'}",
        ]  # fmt: skip
        self.child = Child([REAL / "spring/start", self.port, *options], self.directory / "log", {"ISSUER": self.origin})

    def introspects(self, refresh_token):
        headers = basic("basic", "basic-secret")
        return request_json(self.metadata["introspection_endpoint"], form={"token": refresh_token}, headers=headers)["active"]

    def end_sessions(self, user):
        request(f"{self.origin}/__admin/end", form={"user": user})

    def change_keys(self):
        request(f"{self.origin}/__admin/keys", form={})


class SpringRotating(Spring):
    """The same program with another client, whose refresh token each renewal replaces; a spent one ends nothing."""

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
        # Its clients are in its memory.
        self.start()

    def close(self):
        """The program is the other kind's."""


class Keycloak(Server):
    """Keycloak as it is by default: the refresh token stays, and all sign-ins of a client in one browser share one session."""

    name, client_id, realm = "Keycloak", "cli", "enroll"
    passwords = {"alice": "alice-pw", "bob": "bob-pw"}
    scopes = ("openid", "profile", "email")
    rotates, forgives = False, True
    stronger = {"maxAge": 600, "prompt": "login"}

    #: What is unpacked stays for the next run; its database does not.
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
        """It is ready when its program `start` ends."""
        words = [REAL / "keycloak/start", self.folder, str(self.port), "--public", self.origin]
        # A server that lives for minutes gains nothing from the slow compiler.
        environment = {**os.environ, "JAVA_OPTS_APPEND": "-XX:TieredStopAtLevel=1"}
        subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environment, check=True)

    def wait_until_ready(self):
        self.read_metadata()

    def stop(self):
        subprocess.run([REAL / "keycloak/stop", self.folder], check=True)

    def _administrator(self):
        form = {"grant_type": "password", "client_id": "admin-cli", "username": "admin", "password": "admin-pw-1"}
        token = request_json(f"{self.origin}/realms/master/protocol/openid-connect/token", form=form)["access_token"]
        return {**JSON, "Authorization": f"Bearer {token}"}

    def end_sessions(self, user):
        headers = self._administrator()
        found = request_json(f"{self.administration}/users?exact=true&username={user}", headers=headers)
        for session in request_json(f"{self.administration}/users/{found[0]['id']}/sessions", headers=headers):
            request(f"{self.administration}/sessions/{session['id']}", headers=headers, method="DELETE")

    def change_keys(self):
        headers = self._administrator()
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
    """The same program with another realm: each renewal replaces the refresh token, and a spent one ends the session."""

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
        """The program is the other kind's."""


#: The five programs.
PROGRAMS = (Keycloak, OIDCProvider, Spring, Hydra, Zitadel)
#: And what differs by a setting.
ALL = (*PROGRAMS, KeycloakStrict, SpringRotating)
