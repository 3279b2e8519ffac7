"""Tests the way from only a resource's URL to a tool call with a token, with an MCP server and with providers
that register any client (flows.md §12)."""

from allauth_provider import Allauth
from canaille_provider import Canaille
from cases import Refused, on_each
from mcp_server import MCPServer
from processes import workspace
from providers import ALICE, BOB, CUSTOM


class OpenCanaille(Canaille):
    """A provider that registers any client (RFC 7591)."""

    name = "Canaille with open registration"

    def settings(self, text):
        return super().settings(text.replace("[CANAILLE_OIDC]\n", "[CANAILLE_OIDC]\nDYNAMIC_CLIENT_REGISTRATION_OPEN = true\n"))


class ResourceCase:
    """A mix-in for tests with an MCP server in addition to the provider."""

    def setUp(self):
        super().setUp()
        self.resource = MCPServer(self.provider, workspace("resource"))
        self.addCleanup(self.resource.stop)

    def start(self):
        """Starts a process without a client."""
        client = self.face.start()
        self.addCleanup(client.close)
        return client

    def discover(self, client, **more):
        return client.call("resource.discover", resource=self.resource.url, allowLoopbackHTTP=True, **more)

    def register(self, client, issuer=None, **more):
        return client.call(
            "resource.register",
            resource=self.resource.url,
            issuer=issuer or self.provider.issuer,
            # Authlib, which does Canaille's registration, accepts no redirect without a host.
            redirectUri=more.pop("redirectUri", self.provider.loopback),
            clientName="Notes reader",
            store=str(self.store),
            allowLoopbackHTTP=True,
            **more,
        )


@on_each([OpenCanaille, Allauth])
class Resource(ResourceCase):
    def test_from_the_resource_to_a_call_of_its_tool(self):
        self.assertEqual(self.resource.call(), 401)
        client = self.start()
        found = self.discover(client)
        self.assertEqual(found["metadataUri"], self.resource.metadata)
        self.assertEqual(found["authorizationServers"], [self.provider.issuer])
        self.assertEqual(found["issuer"], self.provider.issuer)
        self.assertEqual(found["scopes"], ["openid", "email"])
        self.assertTrue(found["canRegister"])
        made = self.register(client, found["issuer"])
        self.assertEqual((made["origin"], made["isNew"]), ("registered", True))
        configuration = made["configuration"]
        self.assertEqual(configuration["resource"], self.resource.url)
        self.assertNotIn("clientSecret", configuration)

        client.open(configuration, self.store)
        begun = self.begin(client)
        waiting = client.start("registration.awaitOutcome", {"transaction": begun["transaction"], "timeout": 60})
        self.somebody(BOB).open(begun["action"]["url"], until=self.provider.loopback)
        self.confirm(client, waiting.result()["state"])
        answer = client.call("token.access")
        self.assertValid(answer)
        self.assertEqual(self.resource.call(answer["accessToken"]), BOB.email)
        self.assertEqual(self.resource.call(self.refresh(client)["accessToken"]), BOB.email)
        self.assertEqual(client.call("identity.profile")["claims"]["email"], BOB.email)

        # The next process gets the same client, and therefore has the session.
        heir = self.start()
        again = self.register(heir)
        self.assertEqual((again["configuration"], again["isNew"]), (configuration, False))
        heir.open(configuration, self.store)
        self.assertEqual(self.resource.call(heir.call("token.access")["accessToken"]), BOB.email)

    def test_another_server_than_the_user_was_shown_is_refused(self):
        with self.assertRaises(Refused) as caught:
            self.register(self.start(), issuer=self.provider.issuer.rstrip("/") + "/another")
        self.assertEqual(caught.exception.status, "issuerMismatch")

    def test_a_client_that_the_provider_forgot_is_registered_anew(self):
        client = self.start()
        first = self.register(client)["configuration"]["clientId"]
        self.assertEqual(self.register(client)["configuration"]["clientId"], first)
        again = self.register(client, again=True)
        self.assertTrue(again["isNew"])
        self.assertNotEqual(again["configuration"]["clientId"], first)

    def test_a_provider_that_registers_nobody_needs_a_client_id(self):
        made = self.register(self.start(), clientId="native", redirectUri=CUSTOM)
        self.assertEqual(made["origin"], "configured")
        client = self.start()
        client.open(made["configuration"], self.store)
        self.sign_in(client)
        self.assertEqual(self.resource.call(client.call("token.access")["accessToken"]), ALICE.email)


@on_each([Allauth])
class BoundTokens(ResourceCase):
    """Tests with a provider that binds a token to the requested resource. The MCP server accepts no other
    token (RFC 8707)."""

    def sign_in_as_registered(self, **changes):
        """Registers a client and signs in with it, with a redirect to a custom scheme. `changes` replace
        parts of the client's configuration."""
        configuration = self.register(self.start(), redirectUri=CUSTOM)["configuration"]
        configuration = {name: value for name, value in {**configuration, **changes}.items() if value is not None}
        client = self.start()
        client.open(configuration, self.store)
        self.sign_in(client)
        return client

    def test_a_custom_scheme_is_registered_and_each_renewed_token_is_for_the_resource(self):
        client = self.sign_in_as_registered()
        tokens = [client.call("token.access")["accessToken"]]
        tokens += [self.refresh(client)["accessToken"] for _ in range(2)]
        self.assertEqual([self.resource.call(token) for token in tokens], [ALICE.email] * 3)
        self.assertEqual(len(set(tokens)), 3)

    def test_the_resource_refuses_a_token_for_another_one(self):
        client = self.sign_in_as_registered(resource=self.resource.url.replace("/mcp", "/files"))
        self.assertEqual(self.resource.call(client.call("token.access")["accessToken"]), 401)
        self.assertEqual(self.resource.call(self.refresh(client)["accessToken"]), 401)

    def test_a_session_for_no_resource_has_a_token_for_this_one_beside_its_own(self):
        client = self.sign_in_as_registered(resource=None)
        self.assertEqual(self.resource.call(client.call("token.access")["accessToken"]), 401)
        for command in ("token.access", "token.refresh"):
            answer = client.call(command, resource=self.resource.url)
            self.assertValid(answer)
            self.assertEqual(self.resource.call(answer["accessToken"]), ALICE.email)
        self.assertEqual(self.resource.call(client.call("token.access")["accessToken"]), 401)

    def test_a_resource_that_was_not_granted_is_refused_and_the_token_stays_good(self):
        """EnrollKit does not request a token for a resource that was not granted: this provider would refuse the
        request and also delete the refresh token."""
        client = self.sign_in_as_registered()
        answer = client.call("token.access", resource=self.resource.url.replace("/mcp", "/files"))
        self.assertEqual(answer["outcome"], "rejected", answer)
        self.assertEqual(self.resource.call(client.call("token.access")["accessToken"]), ALICE.email)
        self.assertEqual(self.refresh(client)["outcome"], "valid")
