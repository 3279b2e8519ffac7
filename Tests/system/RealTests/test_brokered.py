"""Tests a logout at a server that signs its users in through another provider: both sessions in the browser
end."""

import json

import apps
import kinds
from agent import Person
from cases import on_each
from faces import FACES
from processes import wait_until
from servers import request, request_json

ALIAS, CLIENT, SECRET = "upstream", "realm-enroll", "secret-of-realm-enroll"
USER, PASSWORD = "uma", "uma-pw"
REDIRECT, SIGNED_OUT = "com.example.app:/callback", "com.example.app:/signed-out"


class Upstream:
    """Another realm of a Keycloak, through which the users of the first realm may sign in."""

    def __init__(self, server, realm="enroll-strict"):
        self.server = server
        self.issuer, self.administration = f"{server.origin}/realms/{realm}", f"{server.origin}/admin/realms/{realm}"

    def prepare(self):
        broker = f"{self.server.issuer}/broker/{ALIAS}/endpoint"
        self._make(f"{self.administration}/users", {
            "username": USER, "email": f"{USER}@example.org", "emailVerified": True, "firstName": "Uma", "lastName": "Upstream",
            "enabled": True, "credentials": [{"type": "password", "value": PASSWORD, "temporary": False}],
        })  # fmt: skip
        self._make(f"{self.administration}/clients", {
            "clientId": CLIENT, "secret": SECRET, "publicClient": False, "standardFlowEnabled": True,
            "redirectUris": [f"{broker}*"], "attributes": {"post.logout.redirect.uris": f"{broker}/logout_response"},
        })  # fmt: skip
        protocol = f"{self.issuer}/protocol/openid-connect"
        self._make(f"{self.server.administration}/identity-provider/instances", {
            "alias": ALIAS, "providerId": "oidc", "enabled": True, "trustEmail": True, "storeToken": False,
            "config": {
                "clientId": CLIENT, "clientSecret": SECRET, "clientAuthMethod": "client_secret_post", "issuer": self.issuer,
                "authorizationUrl": f"{protocol}/auth", "tokenUrl": f"{protocol}/token", "userInfoUrl": f"{protocol}/userinfo",
                "logoutUrl": f"{protocol}/logout", "defaultScope": "openid profile email", "validateSignature": "false",
            },
        })  # fmt: skip

    def _make(self, url, body):
        status, text = request(url, headers=self.server.administrator(), body=json.dumps(body).encode())
        # Status 409 means that another test has already made the object.
        assert status in (201, 409), f"{url}: {status} {text}"

    @property
    def sessions(self):
        headers = self.server.administrator()
        (user,) = request_json(f"{self.administration}/users?exact=true&username={USER}", headers=headers)
        return request_json(f"{self.administration}/users/{user['id']}/sessions", headers=headers)


@on_each(at=[kinds.Keycloak], from_=[apps.DaemonApp])
class Brokered:
    def test_a_sign_out_in_the_browser_reaches_the_provider_behind_the_server(self):
        upstream = Upstream(self.server)
        upstream.prepare()
        app = self.app()
        client = FACES["jsonrpc"].open(
            self.server.configuration(
                redirectUri=REDIRECT, postLogoutRedirectUri=SIGNED_OUT, confirmation=False,
                authorizeParameters={"kc_idp_hint": ALIAS}),
            app.store)  # fmt: skip
        self.addCleanup(client.close)
        uma = Person(USER, PASSWORD, self.server.homes)
        client.call("registration.resume", url=uma.open(client.call("registration.begin", kind="signIn")["action"]["url"]))
        refresh = self.server.refresh_token_of(client.call("token.access")["accessToken"])
        self.assertEqual(len(upstream.sessions), 1)
        back = uma.sign_out(client.call("logout.begin")["url"])
        self.assertEqual(upstream.sessions, [], "the user is signed in at the provider behind it")
        client.call("logout.resume", url=back)
        wait_until(lambda: self.server.heard_revocation(refresh), "the server is told to revoke the refresh token", timeout=20)
