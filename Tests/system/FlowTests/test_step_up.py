"""Step-up with an existing session (flows.md §6): the requested values are checked on return (R26)."""

from cases import on_each_face
from sandbox import parameter

TWO_FACTORS = "urn:enroll:two-factors"


@on_each_face
class StepUp:
    def provide(self):
        return self.own_sandbox()

    def stepping_up(self, client, **options):
        """Begins a step-up while a session exists; returns the URL for the browser."""
        begun = self.begin(client, options={"acrValues": [TWO_FACTORS], "maxAge": 60, **options})
        url = begun["action"]["url"]
        self.assertEqual(parameter(url, "max_age"), "60")
        self.assertEqual(parameter(url, "acr_values"), TWO_FACTORS)
        self.assertState(client.call("registration.state")["state"], "authenticating")
        return self.sandbox.play(url)

    def signed_in(self):
        client = self.open()
        self.sign_in(client)
        return client, self.assertValid(client)["accessToken"]

    def assertSession(self, client, token):
        self.assertState(client.call("registration.state")["state"], "active")
        self.assertEqual(self.assertValid(client)["accessToken"], token)

    def test_success_replaces_the_tokens_when_the_user_confirms(self):
        client, before = self.signed_in()
        state = self.resume(client, self.stepping_up(client))
        self.assertState(state, "awaitingConfirmation")
        self.assertEqual(state["profile"]["acr"], TWO_FACTORS)
        self.assertEqual(self.assertValid(client)["accessToken"], before)
        self.confirm(client)
        self.assertNotEqual(self.assertValid(client)["accessToken"], before)

    def test_a_class_or_a_time_that_is_not_proven_leaves_the_session_as_it_was(self):
        client, before = self.signed_in()
        for claim, value in (("acr", "urn:enroll:password"), ("auth_time", 1_600_000_000)):
            redirect = self.stepping_up(client)
            self.sandbox.control("fault", fault="setClaim", member=claim, value=value, endpoint="token", times=1)
            self.assertRefused("idTokenInvalid", client, "registration.resume", url=redirect)
            self.assertSession(client, before)
        for claim in ("acr", "auth_time"):
            redirect = self.stepping_up(client)
            self.sandbox.control("fault", fault="omitClaim", member=claim, endpoint="token", times=1)
            self.assertRefused("idTokenInvalid", client, "registration.resume", url=redirect)
            self.assertSession(client, before)

    def test_the_user_says_no(self):
        client, before = self.signed_in()
        begun = self.begin(client, options={"acrValues": [TWO_FACTORS]})
        refused = self.sandbox.control("settle", url=begun["action"]["url"], error="access_denied")["redirect"]
        self.assertRefused("accessDenied", client, "registration.resume", url=refused)
        self.assertSession(client, before)

    def test_retry_clears_the_provisional_tokens_only(self):
        client, before = self.signed_in()
        self.resume(client, self.stepping_up(client))
        self.assertState(client.call("registration.retry")["state"], "active")
        self.assertSession(client, before)
        # R35: revoking these tokens could end the session.
        ends = [session.get("end") for session in self.sandbox.control("sessions")["sessions"]]
        self.assertEqual(ends, [None, None])
        self.assertEqual(client.call("token.refresh")["outcome"], "valid")
