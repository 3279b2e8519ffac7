"""Apps with EnrollKit sign in through the gateway (flows.md §10), on each face."""

import json
import signal
import urllib.request

from cases import CUSTOM, on_each_face
from gateway import Browser, Gateway, play, sandbox_for
from processes import wait_until, workspace
from sandbox import come_back, parameter


@on_each_face
class AppsAtTheGateway:
    def test_the_whole_way_and_again_in_another_process(self):
        client = self.open()
        begun = self.begin(client)
        self.assertTrue(begun["survivesProcess"])
        self.assertEqual(parameter(begun["action"]["url"], "platform"), "mobile")
        url = play(self.sandbox, begun["action"]["url"]).location
        self.assertTrue(url.startswith(CUSTOM), url)
        client.kill()

        client = self.open()
        state = client.call("registration.resume", url=url)["state"]
        self.assertEqual(state["state"], "awaitingConfirmation", state)
        self.assertEqual(state["profile"]["email"], "alice@example.com")
        client.call("registration.confirm")
        token = client.call("token.access")["accessToken"]
        account = client.call("account.read")
        self.assertEqual(account["registrationType"], "SOCIAL")
        self.assertNotIn("idToken", account)
        claims = client.call("identity.userinfo")["claims"]
        self.assertEqual(claims["sub"], state["profile"]["sub"])
        self.assertTrue(claims["email_verified"])
        self.assertRefused("alreadySettled", client, "registration.resume", url=url)
        answer = Browser(self.gateway.base).open("/v1/userinfo", headers={"Authorization": f"Bearer {token}"})
        self.assertEqual((answer.status, answer.json["sub"]), (200, claims["sub"]))
        client.close()

        client = self.open()
        self.assertEqual(client.call("registration.state")["state"]["state"], "active")
        self.assertEqual(client.call("token.access")["accessToken"], token)
        self.assertFalse(client.call("logout.begin").get("url"))
        self.assertEqual(client.call("registration.state")["state"]["state"], "unregistered")
        self.assertEqual(parameter(self.begin(client)["action"]["url"], "prompt"), "login")

    def test_a_loopback_redirect_comes_back_by_itself(self):
        client = self.open(redirectUri="http://127.0.0.1/callback")
        begun = self.begin(client)
        self.assertFalse(begun["survivesProcess"])
        waiting = client.start("registration.awaitOutcome", {"transaction": begun["transaction"], "timeout": 60})
        redirect = play(self.sandbox, begun["action"]["url"]).location
        self.assertTrue(redirect.startswith(begun["redirectUri"] + "?code="), redirect)
        self.assertEqual(come_back(redirect).status, 200)
        self.assertEqual(waiting.result()["state"]["state"], "awaitingConfirmation")

    def test_the_gateway_is_killed_and_its_keys_change_while_the_person_is_at_the_provider(self):
        gateway = Gateway()
        sandbox = sandbox_for(gateway)
        self.addCleanup(sandbox.stop)
        gateway.start()
        self.addCleanup(gateway.stop)
        client = self.open(gateway)
        browser = Browser()
        sent = browser.open(self.begin(client)["action"]["url"])
        gateway.kill()
        gateway.run("keys", "add", "--config", str(gateway.configuration))
        gateway.start()
        back = browser.open(sandbox.control("settle", url=sent.location)["redirect"])
        state = client.call("registration.resume", url=back.location)["state"]
        self.assertEqual(state["state"], "awaitingConfirmation")
        # The gateway reads a new key while it runs; no session ends.
        client.call("registration.confirm")
        gateway.run("keys", "add", "--config", str(gateway.configuration))
        gateway.signal(signal.SIGHUP)
        wait_until(lambda: "3 keys" in gateway.log(), "the keys are read again")
        self.assertEqual(client.call("identity.userinfo")["claims"]["sub"], state["profile"]["sub"])

    def test_what_the_person_refuses_reaches_the_app(self):
        client = self.open()
        denied = play(self.sandbox, self.begin(client)["action"]["url"], error="access_denied").location
        self.assertEqual(parameter(denied, "error"), "access_denied")
        self.assertRefused("accessDenied", client, "registration.resume", url=denied)
        self.assertFailed(client)

    def test_a_code_that_the_gateway_does_not_know_ends_the_sign_in(self):
        client = self.open()
        url = play(self.sandbox, self.begin(client)["action"]["url"]).location
        code = parameter(url, "code")
        wrong = url.replace(code, code[::-1])
        refused = self.assertRefused("oauth", client, "registration.resume", url=wrong)
        self.assertEqual(refused.oauth_error, "invalid_grant")
        self.assertFailed(client)
        self.assertRefused("alreadySettled", client, "registration.resume", url=url)

    def test_an_answer_without_state_has_no_effect_at_all(self):
        """R6: an answer without `state`, whether with a code, an error or a token, changes nothing."""
        client = self.open()
        url = play(self.sandbox, self.begin(client)["action"]["url"]).location
        bare = url.partition("&state=")[0]
        self.assertNotIn("state", bare)
        before = client.call("registration.state")["state"]
        for other in (bare, f"{CUSTOM}?session_token=stolen", f"{CUSTOM}?error=access_denied"):
            self.assertRefused("unsolicited", client, "registration.resume", url=other)
            self.assertEqual(client.call("url.handle", url=other)["kind"], "unsolicited")
        self.assertEqual(client.call("registration.state")["state"], before)
        self.assertEqual(client.call("registration.resume", url=url)["state"]["state"], "awaitingConfirmation")

    def test_the_gateway_is_the_apps_back_end_for_checks_and_reports(self):
        base = self.gateway.base
        client = self.open(
            registrationCheckUri=f"{base}/v1/registration-check", requireCheck=True,
            profileUpdateUri=f"{base}/v1/profile", errorReportUri=f"{base}/v1/error-reports")  # fmt: skip
        url = play(self.sandbox, self.begin(client)["action"]["url"]).location
        client.call("registration.resume", url=url)
        self.assertEqual(client.call("registration.confirm")["state"]["state"], "active")

    def assertFailed(self, client):
        state = client.call("registration.state")["state"]
        self.assertEqual((state["state"], state["reason"]), ("failed", "registration"))

    def test_a_session_that_the_person_ends_in_the_browser_is_over_in_the_app(self):
        client = self.open(registrationCheckUri=f"{self.gateway.base}/v1/registration-check", requireCheck=True)
        browser = Browser(self.gateway.base)
        url = play(self.sandbox, self.begin(client)["action"]["url"], browser).location
        client.call("registration.resume", url=url)
        client.call("registration.confirm")
        token = client.call("token.access")["accessToken"]
        play(self.sandbox, f"{self.gateway.base}/v1/auth/sandbox", browser)
        page = browser.open("/account").text
        mark = page.partition('name="token" value="')[2].partition('"')[0]
        self.assertEqual(browser.open("/account/sessions/end-all", {"token": mark}).status, 303)
        answer = Browser(self.gateway.base).open("/v1/userinfo", headers={"Authorization": f"Bearer {token}"})
        self.assertEqual(answer.status, 401)


@on_each_face
class TokenInTheRedirect:
    """Two settings with alarming names allow a session token in the redirect itself (flows.md §10)."""

    @classmethod
    def setUpClass(cls):
        app = {"title": "Sample", "redirectUris": [CUSTOM], "dangerouslySendTokenInRedirect": True}
        cls.gateway = Gateway(apps={"sample": app})
        cls.sandbox = sandbox_for(cls.gateway)
        cls.gateway.start()

    @classmethod
    def tearDownClass(cls):
        cls.gateway.stop()
        cls.sandbox.stop()

    def setUp(self):
        self.store = workspace("store")

    def test_a_token_with_and_without_state(self):
        client = self.open_dangerously()
        url = self.token_redirect(client)
        self.assertEqual(url.partition("?")[0], CUSTOM)
        self.assertIn("state=", url)
        self.assertNotIn("code=", url)
        self.assertEqual(client.call("registration.resume", url=url)["state"]["state"], "awaitingConfirmation")
        client.call("registration.retry")
        # A redirect without a state completes the only transaction of its kind (R6).
        url = self.token_redirect(client).partition("&state=")[0]
        self.assertEqual(client.call("url.handle", url=url)["kind"], "registration")
        client.call("registration.confirm")
        token = client.call("token.access")["accessToken"]
        self.assertEqual(token, parameter(url, "session_token"))
        # The token belongs to the app: a browser cannot open a page with it.
        browser = Browser(self.gateway.base)
        self.assertEqual(browser.open("/v1/userinfo", headers={"Authorization": f"Bearer {token}"}).status, 200)
        browser.cookies["__Host-enroll"] = token
        self.assertEqual(browser.open("/account").location, "/login")

    def test_with_two_pending_only_the_one_that_the_host_names_is_settled(self):
        client = self.open_dangerously()
        first = self.begin(client)
        url = self.token_redirect(client).partition("&state=")[0]
        self.assertRefused("unsolicited", client, "registration.resume", url=url)
        self.assertRefused("notFound", client, "registration.resume", url=url, transaction="nobody")
        state = client.call("registration.resume", url=url, transaction=first["transaction"])["state"]
        self.assertEqual(state["state"], "awaitingConfirmation")

    def test_without_the_apps_switch_a_token_in_the_redirect_is_not_taken(self):
        client = self.open()
        url = self.token_redirect(client)
        self.assertRefused("redirectMalformed", client, "registration.resume", url=url)
        self.assertEqual(client.call("registration.state")["state"]["state"], "authenticating")

    def open_dangerously(self):
        return self.open(bff={"base": self.gateway.base, "dangerouslyAcceptTokenInRedirect": True})

    def token_redirect(self, client):
        return play(self.sandbox, self.begin(client)["action"]["url"]).location
