"""Tests of the state machine together with the host's back end (flows.md §7): registration check, verified
address, profile, failure reports, and the platform."""

import threading

from cases import on_each_face
from processes import wait_until
from sandbox import hop

PLATFORM = {"type": "android", "width": 1080, "height": 2400, "appVersion": "7.1", "deviceId": "device-9"}


@on_each_face
class BackEnd:
    def provide(self):
        return self.own_sandbox()

    def paths(self, **more):
        issuer = self.sandbox.issuer
        return {"registrationCheckUri": f"{issuer}/app/registration-check", "requireCheck": True, **more}

    def told(self, endpoint):
        messages = self.sandbox.control("received")["messages"]
        return [message for message in messages if message["endpoint"] == endpoint]

    def arrive(self, client, user="alice"):
        """Signs in up to the state awaitingConfirmation, in which the tokens wait for confirmation."""
        url = self.begin(client)["action"]["url"]
        redirect = self.sandbox.control("settle", url=url, user=user)["redirect"]
        self.assertState(self.resume(client, redirect), "awaitingConfirmation")

    def test_the_check_stands_before_h_and_before_b_and_tells_installation_and_platform(self):
        client = self.open(more={"platform": PLATFORM}, **self.paths())
        self.sign_in(client)
        client.close()
        client = self.open(more={"platform": PLATFORM}, **self.paths())
        self.assertState(client.call("registration.state", wait=True)["state"], "active", "valid")
        first, second = (message["body"] for message in self.told("registrationCheck"))
        self.assertEqual(first, second)
        self.assertEqual(first["platform"], PLATFORM)
        self.assertGreaterEqual(len(first["installationId"]), 22)

    def test_beside_a_session_every_answer_is_about_its_user_and_what_waits_has_a_name(self):
        client = self.open()
        self.sign_in(client)
        mine = client.call("account.read")
        self.arrive(client, "bob")
        state = client.call("registration.state")["state"]
        kept = client.call("account.read")
        waiting = kept.pop("waiting")
        self.assertEqual(kept, mine)
        self.assertEqual(waiting, {"transaction": state["transaction"], "profile": state["profile"]})
        self.assertEqual(waiting["profile"]["email"], "bob@example.com")
        for command in ("identity.profile", "identity.userinfo"):
            self.assertEqual(client.call(command)["claims"]["email"], "alice@example.com")
        self.assertEqual(self.assertValid(client)["accessToken"], mine["accessToken"])
        state = client.call("registration.confirm", transaction=state["transaction"])["state"]
        self.assertState(state, "active", "confirmed")
        self.assertEqual(client.call("account.read")["profile"]["email"], "bob@example.com")

    def test_a_yes_to_one_profile_confirms_no_other(self):
        client, other = self.open(), self.open()
        late = self.begin(other)["action"]["url"]
        self.arrive(client, "bob")
        asked = client.call("registration.state")["state"]["transaction"]
        self.resume(other, self.sandbox.play(late))
        before = client.call("account.read")
        self.assertRefused("illegalState", client, "registration.confirm")
        self.assertRefused("illegalState", client, "registration.confirm", transaction=asked)
        self.assertEqual(client.call("account.read"), before)
        state = client.call("registration.state")["state"]
        self.assertEqual(state["profile"]["email"], "alice@example.com")
        # This client has seen both transactions by now: a confirmation without an id could mean either of them, so it
        # is refused.
        self.assertRefused("illegalState", client, "registration.confirm")
        state = client.call("registration.confirm", transaction=state["transaction"])["state"]
        self.assertState(state, "active", "confirmed")
        self.assertEqual(client.call("account.read")["profile"]["email"], "alice@example.com")

    def test_a_401_brings_one_renewal_and_a_second_one_is_e_with_the_tokens_kept(self):
        self.sign_in(self.open(**self.paths()))
        client = self.open(**self.paths())
        self.sandbox.control("fault", fault="status", value=401, times=1, endpoint="registrationCheck")
        self.assertState(client.call("registration.state", wait=True)["state"], "active", "renewed")
        self.sandbox.control("fault", fault="status", value=401, times=2, endpoint="registrationCheck")
        client = self.open(**self.paths())
        state = client.call("registration.state", wait=True)["state"]
        self.assertState(state, "failed", "renewal")
        self.assertEqual((state["remedy"], state["tokenUsable"]), ("registerAgain", True))
        self.assertValid(client)
        self.assertState(client.call("registration.retry")["state"], "active")

    def test_an_outage_changes_nothing(self):
        self.sign_in(self.open(**self.paths()))
        self.sandbox.control("fault", fault="dropBefore", endpoint="registrationCheck")
        client = self.open(**self.paths())
        self.assertState(client.call("registration.state", wait=True)["state"], "active", "valid")
        self.assertValid(client)

        other = self.open(account="other", **self.paths())
        self.arrive(other)
        self.assertRefused("network", other, "registration.confirm")
        self.assertState(other.call("registration.state")["state"], "awaitingConfirmation")
        self.sandbox.control("clearFaults")
        self.confirm(other)

    def test_an_answer_about_somebody_else_is_f(self):
        client = self.open(**self.paths())
        self.arrive(client)
        self.sandbox.control("fault", fault="wrongSubject", times=1, endpoint="registrationCheck")
        self.assertRefused("profileMismatch", client, "registration.confirm")
        state = client.call("registration.state")["state"]
        self.assertState(state, "failed", "registration")
        self.assertEqual(state["error"]["status"], "profileMismatch")
        self.assertEqual([session["end"] for session in self.sandbox.control("sessions")["sessions"]], ["revoked"])

        # A missing e-mail address counts as unverified, too.
        client = self.open(account="other", **self.paths())
        self.arrive(client)
        self.sandbox.control(
            "fault", fault="setMember", member="email", value="b@example.com", times=1, endpoint="registrationCheck"
        )
        self.assertRefused("profileMismatch", client, "registration.confirm")

    def test_an_unknown_account_is_passed_on_and_can_be_confirmed_once_it_is_known(self):
        client = self.open(**self.paths())
        self.arrive(client)
        self.sandbox.control("setKnown", user="alice", known=False)
        self.assertRefused("unknownAccount", client, "registration.confirm")
        self.assertState(client.call("registration.state")["state"], "awaitingConfirmation")
        self.sandbox.control("setKnown", user="alice")
        self.confirm(client)

    def test_without_a_verified_address_g_stays(self):
        client = self.open(scopes="openid offline_access", requireVerifiedEmail=True)
        self.arrive(client, user="bob")
        refusal = self.assertRefused("emailNotVerified", client, "registration.confirm")
        self.assertEqual(refusal.blame, "user")
        self.assertState(client.call("registration.state")["state"], "awaitingConfirmation")
        self.sandbox.control("verifyEmail", user="bob")
        self.confirm(client)

    def test_the_profile_is_sent_after_h_and_an_outage_only_delays_it(self):
        where = {"profileUpdateUri": f"{self.sandbox.issuer}/app/profile"}
        self.sandbox.control("fault", fault="serverError", endpoint="profileUpdate")
        client = self.open(**where)
        self.sign_in(client)
        wait_until(lambda: self.sandbox.control("counts")["counts"]["profileUpdate"] > 0, "the first try")
        self.assertState(client.call("registration.state")["state"], "active", "confirmed")
        client.close()
        self.assertEqual(self.told("profileUpdate"), [])
        self.sandbox.control("clearFaults")
        # The next process sends the report that the previous process could not send.
        client = self.open(**where)
        client.call("registration.state")
        wait_until(lambda: self.told("profileUpdate"), "the profile")
        self.assertEqual(self.told("profileUpdate")[0]["body"]["profile"]["sub"], "user-alice")

    def test_failures_are_posted_without_secrets(self):
        client = self.open(more={"platform": PLATFORM}, errorReportUri=f"{self.sandbox.issuer}/app/error-report")
        url = self.begin(client)["action"]["url"]
        redirect = self.sandbox.control("settle", url=url, error="access_denied")["redirect"]
        self.assertRefused("accessDenied", client, "registration.resume", url=redirect)
        wait_until(lambda: self.told("errorReport"), "the report")
        report = self.told("errorReport")[0]["body"]
        self.assertEqual((report["code"], report["messageKey"]), ("accessDenied", "error.accessDenied"))
        self.assertEqual((report["helps"], report["platform"]), ("retry", "android"))
        self.assertNotIn("deviceId", report)

    def test_confirm_twice_and_an_unsolicited_url_are_refused_and_reported_to_nobody(self):
        client = self.open(errorReportUri=f"{self.sandbox.issuer}/app/error-report")
        self.sign_in(client)
        self.assertRefused("illegalState", client, "registration.confirm")
        self.assertRefused("unsolicited", client, "registration.resume", url="com.example.app:/callback?code=c&state=s")
        self.assertState(client.call("registration.state")["state"], "active", "confirmed")
        self.assertEqual(self.sandbox.control("counts")["counts"]["errorReport"], 0)


@on_each_face
class Machine:
    def test_a_platform_that_is_not_native_uses_the_stand_in_token(self):
        client = self.open(more={"platform": {"native": False}}, standInToken="stand-in")
        self.assertState(client.call("registration.state", wait=True)["state"], "active", "notNative")
        self.assertEqual(self.assertValid(client)["accessToken"], "stand-in")
        self.assertRefused("illegalState", client, "registration.begin", kind="signIn")

    def test_switched_on_a_renewal_in_the_background_comes_before_anybody_asks(self):
        self.sandbox = self.own_sandbox("--access-lifetime", "8")
        client = self.open(more={"renewInBackground": True})
        self.sign_in(client)
        wait_until(lambda: self.sandbox.control("counts")["refreshes"] == 1, "a renewal that nobody asked for")
        self.assertValid(client)
        self.assertEqual(self.sandbox.control("counts")["refreshes"], 1)

    def test_requests_wait_for_the_platform(self):
        client = self.open(more={"waitForPlatform": True})
        client.call("platform.ready")
        self.assertState(client.call("registration.state", wait=True)["state"], "unregistered")

    def test_a_step_up_that_fails_returns_to_the_state_before(self):
        client = self.open()
        self.sign_in(client)
        url = self.begin(client, options={"prompt": "login"})["action"]["url"]
        self.assertState(client.call("registration.state")["state"], "authenticating")
        redirect = self.sandbox.control("settle", url=url, error="access_denied")["redirect"]
        self.assertRefused("accessDenied", client, "registration.resume", url=redirect)
        self.assertState(client.call("registration.state")["state"], "active", "confirmed")
        self.begin(client, options={"prompt": "login"})
        self.assertState(client.call("registration.cancel")["state"], "active", "confirmed")
        self.assertValid(client)

    def test_retry_revokes_what_waits_and_lets_another_account_be_chosen(self):
        client = self.open(promptAfterLogout="select_account")
        url = self.sandbox.play(self.begin(client)["action"]["url"])
        self.assertState(self.resume(client, url), "awaitingConfirmation")
        self.assertState(client.call("registration.retry")["state"], "unregistered")
        self.assertNotIn("profile", client.call("account.read"))
        self.assertIn("prompt=select_account", self.begin(client)["action"]["url"])

    def test_a_retry_in_the_middle_of_an_exchange_is_refused(self):
        """A code that was sent cannot be taken back (R15)."""
        self.sandbox = self.own_sandbox()
        client = self.open(redirectUri="http://127.0.0.1/callback")
        begun = self.begin(client)
        self.sandbox.control("fault", fault="delay", value=3000, endpoint="token", times=1)
        # The loopback listener of EnrollKit receives the redirect; the test passes nothing on.
        browser = threading.Thread(target=hop, args=(self.sandbox.play(begun["action"]["url"]),))
        browser.start()
        self.addCleanup(browser.join)
        wait_until(lambda: self.sandbox.control("counts")["counts"]["token"], "the code is on its way")
        self.assertRefused("illegalState", client, "registration.retry")
        state = client.call("registration.awaitOutcome", transaction=begun["transaction"], timeout=30)["state"]
        self.assertState(state, "awaitingConfirmation")
        self.confirm(client)

    def test_what_is_captured_can_be_read_but_for_the_refresh_token(self):
        client = self.open()
        self.assertEqual(client.call("account.read"), {})
        self.sign_in(client)
        kept = client.call("account.read")
        self.assertEqual(set(kept), {"profile", "idToken", "accessToken", "expiresAt", "renews"})
        self.assertIs(kept["renews"], True)
        self.assertEqual(kept["accessToken"], self.assertValid(client)["accessToken"])
        client.call("token.refresh")
        renewed = client.call("account.read")
        self.assertNotEqual(renewed["accessToken"], kept["accessToken"])
        self.assertNotEqual(renewed["idToken"], kept["idToken"])
        self.assertEqual(renewed["profile"]["sub"], kept["profile"]["sub"])

    def test_a_url_is_routed_to_the_configuration_that_owns_it(self):
        client = self.open()
        base = {"issuer": "https://id.example", "clientId": "c"}
        configurations = [
            {**base, "redirectUri": f"com.example.{name}:/callback", "fallbackUri": f"com.example.{name}://fallback"}
            for name in ("dev", "prod")
        ]

        def route(url):
            return client.call("redirect.route", configurations=configurations, url=url)

        self.assertEqual(route("com.example.prod:/callback?code=c&state=s"), {"index": 1, "kind": "redirect"})
        self.assertEqual(route("com.example.dev://fallback"), {"index": 0, "kind": "fallback"})
        self.assertEqual(route("com.example.prod.evil:/callback"), {})
        self.assertRefused(
            "redirectMalformed", client, "redirect.route", configurations=configurations, url="com.example.dev:/%00"
        )
