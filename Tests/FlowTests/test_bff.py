"""Signing in through a back end that does what the gateway never does (flows.md §10). The whole way is in Tests/GatewayTests."""

from cases import CUSTOM, on_each_face
from processes import wait_until


@on_each_face
class BackEnd:
    """Its one-time code, redeemed with the verifier."""

    def test_a_session_that_expired_is_over_since_nothing_renews_it(self):
        self.sandbox = self.own_sandbox("--access-lifetime", "1")
        client = self.open_backend(confirmation=False)
        self.resume(client, self.sandbox.play_backend(self.begin_backend(client)["action"]["url"]))
        wait_until(lambda: client.call("registration.state")["state"]["state"] == "failed", "the session's end")
        state = client.call("registration.state", wait=True)["state"]
        self.assertState(state, "failed", "renewal")
        self.assertEqual(state["remedy"], "registerAgain")
        self.assertFalse(state["tokenUsable"])
        self.assertEqual(client.call("token.access")["outcome"], "reauthenticate")

    def test_an_answer_without_state_has_no_effect_at_all(self):
        """R6: neither a code nor an error nor a token."""
        self.sandbox = self.own_sandbox()
        client = self.open_backend()
        begun = self.begin_backend(client)
        self.sandbox.control("fault", fault="omitState", endpoint="bffCallback", times=1)
        bare = self.sandbox.play_backend(begun["action"]["url"])
        before = client.call("registration.state")["state"]
        for url in (bare, f"{CUSTOM}?session_token=stolen", f"{CUSTOM}?error=access_denied"):
            self.assertRefused("unsolicited", client, "registration.resume", url=url)
            self.assertEqual(client.call("url.handle", url=url)["kind"], "unsolicited")
        self.assertEqual(client.call("registration.state")["state"], before)
        right = self.sandbox.play_backend(begun["action"]["url"])
        self.assertState(self.resume(client, right), "awaitingConfirmation")

    def test_a_code_that_is_not_redeemed_and_an_error_of_the_provider_end_in_f(self):
        self.sandbox = self.own_sandbox()
        client = self.open_backend()
        denied = self.sandbox.play_backend(self.begin_backend(client)["action"]["url"], error="access_denied")
        self.assertRefused("accessDenied", client, "registration.resume", url=denied)
        self.assertState(client.call("registration.state")["state"], "failed", "registration")

        url = self.sandbox.play_backend(self.begin_backend(client)["action"]["url"])
        self.sandbox.control("fault", fault="oauthError", endpoint="backendRedeem", value="invalid_grant", times=1)
        self.assertEqual(self.assertRefused("oauth", client, "registration.resume", url=url).oauth_error, "invalid_grant")
        self.assertState(client.call("registration.state")["state"], "failed", "registration")
        self.assertRefused("alreadySettled", client, "registration.resume", url=url)

    def test_what_a_back_end_cannot_be_asked_is_refused_by_its_name(self):
        client = self.open_backend()
        for options in ({}, {"connection": "../admin"}, {"connection": "google", "maxAge": 1}):
            self.assertRefused("invalidArgument", client, "registration.begin", kind="bff", options=options)
        plain = self.open(store=self.store / "plain")
        self.assertRefused(
            "configuration", plain, "registration.begin", kind="bff", options={"connection": "google"}
        )

    def open_backend(self, **configuration):
        return self.open(bff={"base": self.sandbox.issuer}, **configuration)

    def begin_backend(self, client):
        begun = self.begin(client, kind="bff", options={"connection": "google"})
        self.assertEqual(begun["action"]["type"], "openURL")
        return begun
