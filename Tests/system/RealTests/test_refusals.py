"""Tests the advice of EnrollKit after a refusal whose text does not say what helps."""

import json

import apps
import kinds
import servers
from cases import RealCase
from clients import SECRET
from faces import Refused
from servers import LOOPBACK, request


class JWTProvider(kinds.OIDCProvider):
    """A server whose access tokens for a resource are JWTs, and which issues no refresh token."""

    name = "oidc-provider-jwt"
    changes = {"refresh": "offline_access", "anyResource": {"scope": "read", "format": "jwt"}}


class Refusals:
    """Tests with one server, and with clients of the daemon that have different configurations."""

    app_kind = apps.DaemonApp

    def signed_in_as(self, **changes):
        server = self.server

        class App(apps.DaemonApp):
            def start(self):
                self.client = apps.FACES["jsonrpc"].open(server.configuration(**changes), self.store, self.account)

        app = self.owned(App(server))
        app.sign_in(self.person())
        return app.client

    def refusal(self, client, command, **parameters):
        with self.assertRaises(Refused) as caught:
            client.call(command, **parameters)
        return caught.exception

    @staticmethod
    def warnings(client):
        return [error["message"] for error in client.call("diagnostics.export")["diagnostics"]["errors"]]


class AtKeycloak(Refusals, RealCase):
    kind = kinds.Keycloak

    def client(self, client_id, **more):
        """Makes a client as the administrator does; returns the client's id."""
        body = {"clientId": client_id, "publicClient": True, "redirectUris": [LOOPBACK], **more}
        url = f"{self.server.administration}/clients"
        status, text = request(url, headers=self.server.administrator(), body=json.dumps(body).encode())
        self.assertEqual(status, 201, text)
        return client_id

    def test_a_public_client_that_may_not_introspect(self):
        client = self.signed_in_as()
        for token in ("accessToken", "refreshToken"):
            refused = self.refusal(client, "token.introspect", token=token)
            self.assertIn("invalid_request: Client not allowed", refused.message)
            self.assertIn("let the API that receives the token ask, with a client of its own", refused.message)

    def test_a_token_that_is_called_inactive_because_it_names_no_audience(self):
        name = self.client("no-audience", publicClient=False, secret=SECRET)
        client = self.signed_in_as(clientId=name, clientSecret=SECRET)
        self.assertIs(client.call("token.introspect")["active"], False)
        (told,) = [text for text in self.warnings(client) if "introspection" in text]
        self.assertIn("Keycloak: add an audience mapper", told)
        # The session continues.
        self.assertTrue(client.call("token.refresh")["accessToken"])

    def test_an_audience_mapper_helps(self):
        mapper = {
            "name": "audience", "protocol": "openid-connect", "protocolMapper": "oidc-audience-mapper",
            "config": {"included.client.audience": "with-audience", "access.token.claim": "true"},
        }  # fmt: skip
        name = self.client("with-audience", publicClient=False, secret=SECRET, protocolMappers=[mapper])
        client = self.signed_in_as(clientId=name, clientSecret=SECRET)
        self.assertIs(client.call("token.introspect")["active"], True)
        self.assertEqual([text for text in self.warnings(client) if "introspection" in text], [])

    def test_a_lightweight_token_gets_no_userinfo(self):
        attributes = {"client.use.lightweight.access.token.enabled": "true"}
        client = self.signed_in_as(clientId=self.client("lightweight", attributes=attributes))
        refused = self.refusal(client, "identity.userinfo")
        self.assertIn("Lightweight access token not allowed for userinfo endpoint", refused.message)
        # The id_token has the claims, so the profile comes from it and no userinfo is needed.
        self.assertEqual(client.call("identity.profile")["claims"]["preferred_username"], "alice")


class AtAProviderOfJWTs(Refusals, RealCase):
    kind = JWTProvider

    def test_a_token_that_cannot_be_revoked(self):
        client = self.signed_in_as(scopes=["openid"], resource="https://api.example/")
        told = client.call("token.revoke")
        self.assertEqual(told["providerTold"], "notPossible", told)
        self.assertIn("unsupported_token_type", told["reason"])
        self.assertIn("the provider cannot revoke tokens of this kind: the token works until it expires", told["reason"])


if not servers.REAL.is_dir():
    del AtKeycloak, AtAProviderOfJWTs
