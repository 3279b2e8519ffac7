"""Signing in through a back end (flows.md §10)."""

from cases import CUSTOM, on_each_face
from processes import wait_until
from sandbox import parameter


@on_each_face
class BackEnd:
    """Its one-time code, redeemed with the verifier."""

    def test_the_whole_way_and_again_in_another_process(self):
        client = self.open_backend()
        begun = self.begin_backend(client)
        self.assertTrue(begun["survivesProcess"])
        self.assertEqual(parameter(begun["action"]["url"], "platform"), "mobile")
        url = self.sandbox.play_backend(begun["action"]["url"])
        client.kill()

        client = self.open_backend()
        self.assertState(client.call("registration.state")["state"], "authenticating")
        state = self.resume(client, url)
        self.assertState(state, "awaitingConfirmation")
        self.assertEqual(state["profile"]["email"], "alice@example.com")
        self.confirm(client)
        token = self.assertValid(client)["accessToken"]
        account = client.call("account.read")
        self.assertEqual(account["registrationType"], "SOCIAL")
        self.assertNotIn("idToken", account)
        self.assertEqual(client.call("identity.userinfo")["claims"]["sub"], state["profile"]["sub"])
        self.assertRefused("alreadySettled", client, "registration.resume", url=url)
        client.close()

        client = self.open_backend()
        self.assertState(client.call("registration.state")["state"], "active", "valid")
        self.assertEqual(self.assertValid(client)["accessToken"], token)
        self.assertFalse(client.call("logout.begin").get("url"))
        self.assertState(client.call("registration.state")["state"], "unregistered")
        self.assertEqual(parameter(self.begin_backend(client)["action"]["url"], "prompt"), "login")

    def test_a_loopback_redirect_comes_back_by_itself(self):
        client = self.open_backend(redirectUri="http://127.0.0.1/callback")
        begun = self.begin_backend(client)
        self.assertFalse(begun["survivesProcess"])
        waiting = client.start("registration.awaitOutcome", {"transaction": begun["transaction"], "timeout": 60})
        self.assertComesBack(begun, self.sandbox.play_backend(begun["action"]["url"]))
        self.assertState(waiting.result()["state"], "awaitingConfirmation")

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


@on_each_face
class BackEndWithTokenInRedirect:
    """A session token in the redirect itself, behind the alarming switch (flows.md §10)."""

    def provide(self):
        sandbox = self.own_sandbox()
        sandbox.control("bff", tokenInRedirect=True)
        return sandbox

    def test_a_token_with_and_without_state(self):
        client = self.open_dangerously()
        url = self.token_redirect(client)
        self.assertIn("state=", url)
        self.assertState(self.resume(client, url), "awaitingConfirmation")
        client.call("registration.retry")
        # Without a state it settles the only transaction of its kind (R6).
        url = self.token_redirect(client).partition("&state=")[0]
        self.assertEqual(client.call("url.handle", url=url)["kind"], "registration")
        self.confirm(client)
        self.assertEqual(self.assertValid(client)["accessToken"], parameter(url, "session_token"))

    def test_with_two_pending_only_the_one_that_the_host_names_is_settled(self):
        client = self.open_dangerously()
        first = self.begin(client, kind="bff", options={"connection": "google"})
        url = self.token_redirect(client).partition("&state=")[0]
        self.assertRefused("unsolicited", client, "registration.resume", url=url)
        self.assertRefused("notFound", client, "registration.resume", url=url, transaction="nobody")
        state = client.call("registration.resume", url=url, transaction=first["transaction"])["state"]
        self.assertState(state, "awaitingConfirmation")

    def test_without_the_switch_a_token_in_the_redirect_is_not_taken(self):
        client = self.open(bff={"base": self.sandbox.issuer})
        url = self.token_redirect(client)
        self.assertRefused("redirectMalformed", client, "registration.resume", url=url)
        self.assertState(client.call("registration.state")["state"], "authenticating")

    def open_dangerously(self):
        return self.open(bff={"base": self.sandbox.issuer, "dangerouslyAcceptTokenInRedirect": True})

    def token_redirect(self, client):
        begun = self.begin(client, kind="bff", options={"connection": "google"})
        return self.sandbox.play_backend(begun["action"]["url"])
