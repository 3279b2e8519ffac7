"""Tests of signing in through a back end that behaves in ways in which the gateway never does (flows.md §10).
Tests/system/GatewayTests tests the whole flow."""

from back_end import BackEnd
from cases import on_each_face
from processes import wait_until


@on_each_face
class AnotherBackEnd:
    """Tests with a back end that gives a one-time code; the app redeems the code with its verifier."""

    def test_a_session_that_expired_is_over_since_nothing_renews_it(self):
        with BackEnd(session_seconds=1) as back_end:
            client = self.open(bff={"base": back_end.base}, confirmation=False)
            begun = self.begin(client, kind="bff", options={"connection": "google"})
            self.resume(client, back_end.play(begun["action"]["url"]))
            wait_until(lambda: client.call("registration.state")["state"]["state"] == "failed", "the session's end")
        state = client.call("registration.state", wait=True)["state"]
        self.assertState(state, "failed", "renewal")
        self.assertEqual(state["remedy"], "registerAgain")
        self.assertFalse(state["tokenUsable"])
        self.assertEqual(client.call("token.access")["outcome"], "reauthenticate")

    def test_what_a_back_end_cannot_be_asked_is_refused_by_its_name(self):
        client = self.open(bff={"base": self.sandbox.issuer})
        for options in ({}, {"connection": "../admin"}, {"connection": "google", "maxAge": 1}):
            self.assertRefused("invalidArgument", client, "registration.begin", kind="bff", options=options)
        plain = self.open(store=self.store / "plain")
        self.assertRefused(
            "configuration", plain, "registration.begin", kind="bff", options={"connection": "google"}
        )
