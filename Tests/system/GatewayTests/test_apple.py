"""Tests of Sign in with Apple through the program, in Chromium. Apple's page is at its own address, so its
form comes from another site; the gateway's page sends the form again, with a script or without one. Other
tests are about Apple's later notifications."""

import json
import os
import unittest
import urllib.error
import urllib.request
from unittest import mock

from apple import CLIENT, KEY_ID, TEAM, Apple
from cases import browser
from gateway import Gateway

PRODUCT = "Notes"


class AppleAtTheGateway(unittest.TestCase):
    def setUp(self):
        from tls import Certificates, Front

        self.played = set()
        certificates = Certificates()
        self.gateway = Gateway(theme={"product": PRODUCT})
        self.front = Front(certificates, self.gateway.port)
        self.addCleanup(self.front.close)
        self.callback = f"{self.front.base}/v1/auth/apple/callback"
        self.apple = Apple(certificates, self.callback)
        self.addCleanup(self.apple.close)
        self.key_file = self.gateway.home / "AuthKey.p8"
        self.key_file.write_text(self.apple.pem)
        self.key_file.chmod(0o600)
        self.gateway.settings.update(
            publicUrl=self.front.base,
            providers={
                "apple": {
                    "label": "Apple", "provider": "apple", "clientId": CLIENT, "appleTeamId": TEAM,
                    "appleKeyId": KEY_ID, "applePrivateKeyFile": str(self.key_file),
                    "caFile": str(certificates.ca_file),
                }
            },
        )  # fmt: skip

    def start(self):
        with mock.patch.dict(os.environ, {"HTTPS_PROXY": self.apple.proxy.url, "https_proxy": self.apple.proxy.url}):
            self.gateway.start()
        self.addCleanup(self.gateway.stop)

    def tab(self, width=390, **options):
        from page_checks import Tab

        tab = Tab(self, width, PRODUCT, ignore_https_errors=True, **options)
        context = tab.page.context
        context.route(
            "https://appleid.apple.com/auth/authorize**",
            lambda route: route.fulfill(body=self.apple.page(route.request.url), content_type="text/html"))  # fmt: skip
        self.posts = []
        tab.page.on("request", lambda request: request.url == self.callback and self.posts.append(request))
        return tab

    def go_to_apple(self, tab):
        tab.open(f"{self.front.base}/login")
        tab.press("Apple")
        tab.page.get_by_role("button", name="Continue at Apple").click()

    def assertTwoForms(self):
        """The first form comes from Apple's page without the cookie of the sign-in; the second form comes from the
        gateway's page with this cookie."""
        told = [(request.method, request.all_headers()) for request in self.posts]
        self.assertEqual([method for method, _ in told], ["POST", "POST"])
        first, second = (headers for _, headers in told)
        self.assertEqual(first["origin"], "https://appleid.apple.com")
        self.assertNotIn("__Host-enroll-signin", first.get("cookie", ""))
        self.assertEqual(second["origin"], self.front.base)
        self.assertIn("__Host-enroll-signin", second.get("cookie", ""))

    def test_with_a_script_the_page_sends_itself(self):
        self.start()
        tab = self.tab()
        for _ in range(2):
            self.posts.clear()
            self.go_to_apple(tab)
            tab.page.wait_for_url(f"{self.front.base}/account")
            # Apple sent the name only the first time.
            self.assertIn("Alice Example", tab.page.inner_text("main"))
            self.assertIn("x7f3@privaterelay.appleid.com", tab.page.inner_text("main"))
            self.assertTwoForms()
        self.assertEqual(self.apple.refusals, [])
        told = self.gateway.log()
        self.assertEqual((told.count(" registered"), told.count(" signed in")), (1, 1), told)
        self.assertNotIn("PRIVATE", told)

        # A notification with Apple's signature must end the session; a notification with another signature must end
        # nothing.
        forged = self.apple.notification("consent-revoked")
        head, claims, signature = forged["payload"].split(".")
        forged["payload"] = f"{head}.{claims}.{signature[::-1]}"
        self.assertEqual(self.notify(forged), 400)
        tab.open(f"{self.front.base}/account")
        self.assertEqual(tab.page.url, f"{self.front.base}/account")
        self.assertEqual(self.notify(self.apple.notification("email-disabled")), 200)
        self.assertEqual(self.notify(self.apple.notification("consent-revoked")), 200)
        tab.open(f"{self.front.base}/account")
        self.assertEqual(tab.page.url, f"{self.front.base}/login")

    def notify(self, content):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.gateway.port}/v1/auth/apple/notifications", json.dumps(content).encode(),
            {"Content-Type": "application/json", "Host": self.front.base.removeprefix("https://")})  # fmt: skip
        try:
            return urllib.request.urlopen(request, timeout=30).status
        except urllib.error.HTTPError as refused:
            return refused.code

    def test_without_a_script_the_user_presses_the_button(self):
        self.start()
        tab = self.tab(java_script_enabled=False)
        self.go_to_apple(tab)
        self.assertEqual(tab.page.inner_text("h1"), "One more step")
        tab.page.get_by_role("button", name="Continue").click()
        tab.page.wait_for_url(f"{self.front.base}/account")
        self.assertIn("Alice Example", tab.page.inner_text("main"))
        self.assertTwoForms()

    def test_the_page_between_is_good_to_use(self):
        self.start()
        for width in (320, 1280):
            with self.subTest(width=width):
                tab = self.tab(width)
                # Here the script does not load, as on a bad network.
                tab.page.context.route("**/assets/send-*.js", lambda route: route.abort())
                self.go_to_apple(tab)
                tab.shows("gateway-send-again", "One more step")

    def test_a_key_that_everybody_may_read_and_a_wrong_one_are_refused_at_the_start(self):
        self.gateway.write()
        self.gateway.run("keys", "add", "--config", str(self.gateway.configuration))
        for content, mode, words in [
            (self.apple.pem, 0o644, "chmod 600"), ("no key", 0o600, "applePrivateKeyFile: expected a key in PEM"),
        ]:  # fmt: skip
            self.key_file.write_text(content)
            self.key_file.chmod(mode)
            told = self.gateway.run("serve", "--config", str(self.gateway.configuration), status=1)
            self.assertIn(words, told)
            self.assertEqual(told.count("\n"), 1, told)
