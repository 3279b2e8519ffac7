"""Logout, deregistration, clearing (flows.md §5)."""

from cases import Refused, on_each_face
from processes import wait_until
from sandbox import CUSTOM_LOGOUT, parameter


@on_each_face
class Logout:
    def provide(self):
        return self.own_sandbox()

    def ends(self):
        return [session["end"] if "end" in session else None for session in self.sandbox.control("sessions")["sessions"]]

    def open_without_return(self, **configuration):
        """A client without a redirect from the provider's logout page, so its revocations do not wait for the
        browser."""
        return self.open(postLogoutRedirectUri=None, **configuration)

    def assertNothingKept(self, client):
        self.assertEqual(client.call("account.read"), {})
        self.assertState(client.call("registration.state")["state"], "unregistered")
        self.assertEqual(client.call("token.access")["outcome"], "reauthenticate")

    def test_local_first_then_the_server_then_the_browser_and_the_callback_by_its_state(self):
        client = self.open()
        self.sign_in(client)
        url = client.call("logout.begin")["url"]
        self.assertTrue(url.startswith(f"{self.sandbox.issuer}/end-session?"), url)
        self.assertEqual(parameter(url, "post_logout_redirect_uri"), CUSTOM_LOGOUT)
        self.assertTrue(parameter(url, "id_token_hint"))
        self.assertNothingKept(client)
        self.assertEqual(self.ends(), [None], "the browser is to find its session")
        state = parameter(url, "state")
        self.assertRefused("unsolicited", client, "logout.resume", url=f"{CUSTOM_LOGOUT}?state=another")
        self.assertTrue(client.call("logout.resume", url=f"{CUSTOM_LOGOUT}?state={state}")["done"])
        self.assertRefused("unsolicited", client, "logout.resume", url=f"{CUSTOM_LOGOUT}?state={state}")
        wait_until(lambda: self.ends() == ["revoked"], "the session is revoked")
        # Signing in right after the logout works, and the provider asks who the user is.
        begun = self.begin(client)
        self.assertIn("prompt=login", begun["action"]["url"])
        self.resume(client, self.sandbox.play(begun["action"]["url"]))
        self.confirm(client)
        self.assertValid(client)

    def test_the_page_ends_the_session_before_the_revocation_comes(self):
        client = self.open()
        self.sign_in(client)
        self.sandbox.control("resetCounts")
        out = client.call("logout.begin")
        self.assertEqual(out["providerTold"], "queued")
        client.call("registration.state")
        self.open().call("registration.state")
        self.assertEqual(self.sandbox.control("counts")["counts"].get("revocation", 0), 0)
        client.call("url.handle", url=f"{CUSTOM_LOGOUT}?state={parameter(out['url'], 'state')}")
        wait_until(lambda: self.sandbox.control("counts")["counts"].get("revocation", 0) == 2, "both tokens are revoked")

    def test_a_host_that_does_not_open_the_page_revokes_the_tokens(self):
        client = self.open()
        self.sign_in(client)
        self.assertEqual(client.call("logout.begin")["providerTold"], "queued")
        self.assertEqual(client.call("token.revoke")["providerTold"], "told")
        self.assertEqual(self.ends(), ["revoked"])
        self.assertNotIn("providerTold", client.call("token.revoke"))

    def test_a_sign_in_does_not_wait_for_the_browser_of_the_logout_before(self):
        client = self.open()
        self.sign_in(client)
        client.call("logout.begin")
        self.assertEqual(self.ends(), [None])
        self.begin(client)
        self.assertEqual(self.ends(), ["revoked"])

    def test_what_the_server_could_not_be_told_is_told_by_the_next_process(self):
        client = self.open_without_return()
        self.sign_in(client)
        self.sandbox.control("fault", fault="serverError", endpoint="revocation")
        client.call("logout.begin")
        self.assertNothingKept(client)
        self.assertEqual(self.ends(), [None])
        client.close()
        self.sandbox.control("clearFaults")
        client = self.open_without_return()
        client.call("registration.state")
        wait_until(lambda: self.ends() == ["revoked"], "the session is revoked")

    def test_a_client_that_trusts_another_authority_tells_nothing_of_what_waits(self):
        client = self.open_without_return()
        self.sign_in(client)
        self.sandbox.control("fault", fault="serverError", endpoint="revocation")
        self.assertEqual(client.call("logout.begin")["providerTold"], "queued")
        client.close()
        self.sandbox.control("clearFaults")
        other = self.open_without_return(caFile="/etc/ssl/certs/ca-certificates.crt")
        self.sign_in(other)
        self.assertEqual(other.call("logout.begin")["providerTold"], "told")
        self.assertEqual(self.ends(), [None, "revoked"])
        self.open().call("registration.state")
        wait_until(lambda: self.ends() == ["revoked", "revoked"], "the client that queued it tells it")

    def test_whether_the_provider_knows_is_told_or_queued_or_not_possible(self):
        client = self.open_without_return()
        for command in ["logout.begin", "token.revoke", "registration.deregister"]:
            self.assertNotIn("providerTold", client.call(command), "nobody was signed in")
            self.sign_in(client)
            answer = client.call(command)
            self.assertEqual(answer["providerTold"], "told")
            self.assertNotIn("reason", answer)
            for status in [400, 401, 403]:
                self.sign_in(client)
                self.sandbox.control("fault", fault="status", endpoint="revocation", value=status)
                answer = client.call(command)
                self.assertEqual(answer["providerTold"], "notPossible")
                self.assertIn(str(status), answer["reason"])
                self.sandbox.control("clearFaults")

    def test_tokens_that_arrive_after_a_logout_are_revoked(self):
        """R35: another process signs out while the code is being exchanged."""
        client, other = self.open(), self.open()
        url = self.sandbox.play(self.begin(client)["action"]["url"])
        self.sandbox.control("fault", fault="delay", value=1500, times=1, endpoint="token")
        exchange = client.start("registration.resume", {"url": url})
        wait_until(lambda: self.sandbox.control("counts")["counts"]["token"] == 1, "the exchange is under way")
        other.call("logout.begin", localOnly=True)
        with self.assertRaises(Refused) as caught:
            exchange.result()
        self.assertEqual(caught.exception.status, "cancelled")
        self.assertNothingKept(client)
        wait_until(lambda: self.ends() == ["revoked"], "the late answer is revoked")

    def test_a_redirect_that_arrives_after_a_logout_settles_nothing(self):
        client = self.open()
        url = self.sandbox.play(self.begin(client)["action"]["url"])
        client.call("logout.begin", localOnly=True)
        self.assertRefused("alreadySettled", client, "registration.resume", url=url)
        self.assertNothingKept(client)

    def test_a_session_that_the_same_user_replaces_is_not_revoked(self):
        """R35: revoking the old tokens could end the new session, too."""
        client = self.open_without_return()
        self.sign_in(client)
        self.sign_in(client)
        self.assertValid(client)
        self.assertEqual(client.call("logout.begin")["providerTold"], "told")
        self.assertEqual(self.ends(), [None, "revoked"])

    def test_a_logout_of_this_device_alone_tells_nobody(self):
        client = self.open()
        self.sign_in(client)
        answer = client.call("logout.begin", localOnly=True)
        self.assertNotIn("url", answer)
        self.assertNotIn("providerTold", answer)
        self.assertNothingKept(client)
        self.assertEqual(self.ends(), [None])

    def test_a_renewal_in_flight_does_not_bring_the_session_back(self):
        """R35: the tokens of the late answer are revoked and not stored."""
        client, other = self.open(), self.open()
        self.sign_in(client)
        self.sandbox.control("fault", fault="delay", value=1500, times=1, endpoint="token")
        renewal = client.start("token.refresh", {})
        wait_until(lambda: self.sandbox.control("counts")["refreshes"] == 1, "the renewal is under way")
        other.call("logout.begin", localOnly=True)
        self.assertEqual(renewal.result()["outcome"], "reauthenticate")
        self.assertNothingKept(client)
        wait_until(lambda: self.ends() == ["revoked"], "the late answer is revoked")

    def test_auth0_has_a_logout_of_its_own(self):
        client = self.open(logoutDialect="auth0")
        self.sign_in(client)
        url = client.call("logout.begin")["url"]
        self.assertTrue(url.startswith(f"{self.sandbox.issuer}/v2/logout?client_id="), url)
        back = parameter(url, "returnTo")
        self.assertTrue(back.startswith(f"{CUSTOM_LOGOUT}?state="), back)
        self.assertTrue(client.call("logout.resume", url=back)["done"])

    def test_deregistration_forgets_transactions_and_the_installation_too(self):
        where = {"registrationCheckUri": f"{self.sandbox.issuer}/app/registration-check", "requireCheck": True}
        client = self.open(**where)
        self.sign_in(client)
        pending = self.begin(client)["action"]["url"]
        answer = client.call("registration.deregister")
        self.assertState(answer["state"], "unregistered")
        self.assertIn("/end-session?", answer["url"])
        self.assertNothingKept(client)
        self.assertEqual(self.ends(), ["revoked"])
        self.assertRefused("unsolicited", client, "registration.resume", url=self.sandbox.play(pending))
        self.sign_in(client)
        client.call("installation.reset", store=str(self.store))
        self.assertState(self.open(**where).call("registration.state", wait=True)["state"], "active", "valid")
        ids = [
            message["body"]["installationId"]
            for message in self.sandbox.control("received")["messages"]
            if message["endpoint"] == "registrationCheck"
        ]
        self.assertEqual(len(set(ids)), 3, "one before, one after the deregistration, one after the reset")

    def test_clearing_empties_this_device_and_tells_nobody(self):
        client = self.open()
        self.sign_in(client)
        pending = self.begin(client)["action"]["url"]
        self.assertState(client.call("registration.clear")["state"], "unregistered")
        self.assertNothingKept(client)
        self.assertEqual(self.ends(), [None])
        self.assertRefused("unsolicited", client, "registration.resume", url=self.sandbox.play(pending))
