"""Clients that EnrollKit registers itself (RFC 7591), with only a resource's URL (RFC 9728): apps of each face, and
the server's record about such a client."""

import json

import apps
import kinds
from clients import NONE, REGISTERED, Cannot, Client
from faces import FACES
from published import origin, publish
from servers import LOOPBACK

WELL_KNOWN = "/.well-known/oauth-protected-resource"
#: The registration endpoints. Spring names its endpoint only in its RFC 8414 metadata, not in its OpenID metadata.
ENDPOINTS = {
    kinds.Keycloak: "/realms/enroll/clients-registrations/openid-connect", kinds.OIDCProvider: "/reg",
    kinds.Spring: "/oauth2/register", kinds.Hydra: "/oauth2/register",
}  # fmt: skip


class Registering:
    """A server for an app that knows only a resource of that server."""

    def __init__(self, server):
        if type(server) not in ENDPOINTS:
            raise Cannot("its metadata has no registration_endpoint")
        self._server, self.id = server, REGISTERED
        self.resource = f"{origin()}/api"
        named = {"authorization_servers": [server.issuer], "scopes_supported": ["openid", "profile"]}
        publish(f"{WELL_KNOWN}/api", {"resource": self.resource, **named})
        server.open_registration()

    @property
    def parameters(self):
        """The parameters of `resource.register`."""
        server = self._server.issuer
        return {"resource": self.resource, "issuer": server, "redirectUri": LOOPBACK, "allowLoopbackHTTP": True}

    @property
    def options(self):
        """The registration's values as options of `enroll login`."""
        return ["--resource", self.resource, "--issuer", self._server.issuer, "--allow-loopback-http"]

    def __getattr__(self, name):
        return getattr(self._server, name)


class RegisteringDaemonApp(apps.DaemonApp):
    def start(self):
        self.client = FACES["jsonrpc"].start()
        registered = self.client.call("resource.register", store=str(self.store), **self.server.parameters)
        self.client.open(registered["configuration"], self.store, self.account)


class RegisteringPythonApp(apps.PythonApp):
    def configuration(self):
        answer = self.client.call("register", store=str(self.store), **self.server.parameters)
        return answer["configuration"]


class RegisteringCommandApp(apps.FirstCommandApp):
    """The command as an app: its command lines name the resource's profile once the profile exists."""

    def sign_in(self, person, **wish):
        super().sign_in(person, **wish)
        (profile,) = self.command.profiles.glob("*.json")
        self.place += ["--profile", profile.stem]


APPS = {
    apps.DaemonApp: RegisteringDaemonApp, apps.PythonApp: RegisteringPythonApp, apps.CommandApp: RegisteringCommandApp,
}  # fmt: skip


def registrations(server, since):
    """The server's answers to registrations after the first `since` exchanges of the record."""
    return server.recorder.rows(ENDPOINTS[type(server)], since)


def registered_client(server, since):
    """The client that was registered after the first `since` exchanges of the record; None if no client was
    registered.

    The registration names its authentication method, so the server refuses none of the client's requests."""
    answer = next((json.loads(row["answer"]) for row in registrations(server, since) if row["status"] == 201), None)
    if answer is None:
        return None
    method = answer["token_endpoint_auth_method"]
    secret = {} if method == NONE else {"clientSecret": answer["client_secret"]}
    return Client(method, answer["client_id"], secret, is_told=True)
