"""The gateway's pages in Chromium: a person registers with Canaille and with Glewlwyd, sees the account, and signs out; by the keyboard,
without a script, at three widths, in light and dark, in two languages."""

import unittest

from cases import browser
from gateway import Browser, Gateway, play, sandbox_for

PRODUCT = "Notes"
WIDTHS = 320, 390, 1280


def themed(**settings):
    return Gateway(theme={"product": PRODUCT}, **settings)


class Pages(unittest.TestCase):
    """Every page, against the sandbox as the provider."""

    def setUp(self):
        self.played = set()
        self.gateway = themed()
        self.gateway.settings["apps"]["sample"]["continuePage"] = True
        self.sandbox = sandbox_for(self.gateway)
        self.addCleanup(self.sandbox.stop)
        self.gateway.start()
        self.addCleanup(self.gateway.stop)

    def tab(self, width, **options):
        from page_checks import Tab

        return Tab(self, width, PRODUCT, **options)

    def sign_in(self, tab):
        """By the sandbox's own pages."""
        tab.press("Sandbox")
        tab.page.locator("#user").wait_for()
        tab.type(user="alice", password="alice-password")
        tab.page.locator("h1").wait_for()
        if "/v1/auth" not in tab.page.url and tab.page.locator("button", has_text="Allow").count():
            tab.press("Allow")

    def test_every_page_is_good_to_use(self):
        for width in WIDTHS:
            with self.subTest(width=width):
                self.walk(width)

    def walk(self, width):
        base = self.gateway.base
        tab = self.tab(width)
        tab.open(f"{base}/login").shows("gateway-login", "Sign in to Notes")
        tab.open(f"{base}/signup").shows("gateway-signup", "Create your account")
        tab.open(f"{base}/nowhere").shows("gateway-not-found", "")
        tab.open(f"{base}/v1/auth/sandbox/callback?code=x&state=y").shows("gateway-not-begun", "")
        # The cookies of a session that began without pages.
        session = Browser(base)
        play(self.sandbox, f"{base}/v1/auth/sandbox", session)
        tab.page.context.add_cookies([
            {"name": name, "value": value, "url": base.replace("http:", "https:"), "secure": True}
            for name, value in session.cookies.items()])  # fmt: skip
        tab.open(f"{base}/account").shows("gateway-account", "Your account")
        tab.press("Sign out")
        tab.shows("gateway-signed-out", "You are signed out")
        self.assertEqual(session.open("/account").location, "/login")

    def test_german_and_without_a_script(self):
        tab = self.tab(390, locale="de-AT", java_script_enabled=False)
        tab.open(f"{self.gateway.base}/login")
        self.assertEqual(tab.page.locator("html").get_attribute("lang"), "de")
        self.assertIn(PRODUCT, tab.page.inner_text("h1"))

    def test_an_app_that_wants_a_press_gets_a_page_with_its_link(self):
        tab = self.tab(320)
        sent = Browser(self.gateway.base)
        challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        answer = play(
            self.sandbox,
            f"{self.gateway.base}/v1/auth/sandbox?platform=mobile&state=s&code_challenge={challenge}&code_challenge_method=S256",
            sent)  # fmt: skip
        self.assertEqual(answer.status, 200)
        self.assertIn('href="com.example.app:/callback?code=', answer.text)
        self.assertIsNotNone(tab)


class AtRealProviders(unittest.TestCase):
    """A person registers in a real browser at providers that others wrote."""

    def check(self, make, **settings):
        from providers import ALICE

        gateway = themed()
        provider = make()
        provider.loopback = f"{gateway.base}/v1/auth/real/callback"
        provider.start()
        self.addCleanup(provider.stop)
        gateway.settings["providers"] = {
            "real": {
                "label": provider.name, "issuer": provider.issuer, **provider.confidential("client_secret_post"), **settings,
            }
        }  # fmt: skip
        gateway.start()
        self.addCleanup(gateway.stop)
        with browser().person(provider, ALICE) as person:
            with provider.paced():
                visit = person.open(f"{gateway.base}/v1/auth/real", f"{gateway.base}/account")
            self.assertIn(ALICE.email, visit.text)
            # Again: the account is found, and the provider asks for nothing.
            with provider.paced():
                person.open(f"{gateway.base}/v1/auth/real", f"{gateway.base}/account")
        told = gateway.log()
        self.assertEqual((told.count(" registered"), told.count(" signed in")), (1, 1), told)

    def test_canaille(self):
        from canaille_provider import Canaille

        self.check(Canaille)

    def test_glewlwyd(self):
        from glewlwyd_provider import Glewlwyd

        self.check(Glewlwyd)
