"""The provider's own words about its errors, on each face (RFC 6749 §5.2)."""

import urllib.request

from cases import on_each_face

# The sandbox's description of a fault.
WORDS = "planned by the test"


@on_each_face
class ServerWords:
    def provide(self):
        return self.own_sandbox("--pushed-requests", "offered")

    def fault(self, endpoint, value="unauthorized_client"):
        self.sandbox.control("fault", fault="oauthError", endpoint=endpoint, value=value, times=1)

    def assertWords(self, refused, code="unauthorized_client"):
        self.assertEqual((refused.oauth_error, refused.oauth_error_description), (code, WORDS))
        self.assertIn(f"{code}: {WORDS}", refused.message)

    def test_a_code_that_is_refused(self):
        client = self.open()
        url = self.sandbox.play(self.begin(client)["action"]["url"])
        self.fault("token")
        self.assertWords(self.assertRefused("oauth", client, "registration.resume", url=url))
        state = client.call("registration.state")["state"]
        self.assertEqual((state["error"]["oauthError"], state["error"]["oauthErrorDescription"]), ("unauthorized_client", WORDS))

    def test_a_device_authorization_and_a_pushed_request(self):
        client = self.open(pushedRequests="always")
        self.fault("deviceAuthorization")
        self.assertWords(self.assertRefused("oauth", client, "registration.begin", kind="device"))
        self.fault("pushed")
        self.assertWords(self.assertRefused("oauth", client, "registration.begin", kind="signIn"))

    def test_keys_that_are_away_when_the_user_comes_back(self):
        client = self.open(redirectUri="http://127.0.0.1/callback")
        begun = self.begin(client)
        redirect = self.sandbox.play(begun["action"]["url"])
        self.sandbox.control("fault", fault="tooMany", endpoint="jwks", retryAfter="30")
        with urllib.request.urlopen(redirect, timeout=60) as page:
            self.assertIn("not finished yet", page.read().decode())
        refused = self.assertRefused(
            "deadlineExceeded", client, "registration.awaitOutcome", transaction=begun["transaction"], timeout=1)
        self.assertIn("the user came back", refused.message)
        self.assertIn("keys got status 429", refused.message)
        self.assertIn("the server asks to wait 30 s", refused.message)
        self.assertNotIn("client id", refused.message)

    def test_an_introspection(self):
        client = self.open()
        self.sign_in(client)
        self.sandbox.control("fault", fault="oauthError", endpoint="introspection", value="invalid_request", times=1)
        self.assertWords(self.assertRefused("oauth", client, "token.introspect"), "invalid_request")

    def test_a_session_that_the_provider_ends(self):
        client = self.open()
        self.sign_in(client)
        self.fault("token", "invalid_grant")
        self.assertEqual(client.call("token.refresh")["outcome"], "reauthenticate")
        state = client.call("registration.state")["state"]
        self.assertEqual(state["error"]["status"], "reauthenticate")
        self.assertEqual((state["error"]["oauthError"], state["error"]["oauthErrorDescription"]), ("invalid_grant", WORDS))
