"""Tests every page of the sandbox in a real browser, at the widths of two phones and a desktop, with the
keyboard.

A real browser is needed, because only a browser runs the hosted login page's script under the page's own
policy, and applies `form-action` to the redirects after a form. page_checks.py has the checks of each page;
the pictures are in build/screenshots.
"""

import json
import re
import unittest
import urllib.parse
import urllib.request

from page_checks import Tab, write_index
from processes import TOP
from sandbox import Sandbox, hop

REQUEST = {
    "response_type": "code",
    "client_id": "sample-app",
    "redirect_uri": "com.example.app:/callback",
    "scope": "openid email",
    "state": "s",
    "nonce": "n",
    "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    "code_challenge_method": "S256",
}


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(write_index)

    def setUp(self):
        self.played = set()

    def test_every_page_at_320_pixels(self):
        self.play(320)

    def test_every_page_at_a_phone_s_width(self):
        self.play(390)

    def test_every_page_at_a_desktop_s_width(self):
        self.play(1280)

    def play(self, width):
        self.width = width
        self.sandbox = Sandbox()
        self.addCleanup(self.sandbox.stop)
        for walk in (
            self.home_and_errors,
            self.signing_in,
            self.signing_out,
            self.connecting_a_device,
            self.app2app,
            self.link_without_password,
            self.registering,
            self.link_that_works_no_more,
            self.falling_back,
        ):
            walk(self.tab())
        # Compares the pages of this test with the pages in the sources. The first word of a page's name here is its
        # name in the sources.
        self.assertEqual({name.partition("-")[0] for name in self.played}, self.pages_of_the_sources())

    def pages_of_the_sources(self):
        found = set()
        for file in (TOP / "Sources" / "EnrollSandbox" / "Pages").glob("*.swift"):
            text = file.read_text()
            found |= set(re.findall(r"static func (\w+)\([^{]*?\)\s+-> Page\s", text))
            found |= set(re.findall(r"static let (\w+) = Page\(", text))
        self.assertIn("consent", found)
        return found

    # Helpers.

    def tab(self):
        return Tab(self, self.width)

    def url(self, path):
        return self.sandbox.issuer + path

    def authorize(self, **more):
        return self.url("/authorize?" + urllib.parse.urlencode({**REQUEST, **more}))

    def sign_in(self, tab, name="alice"):
        tab.type(username=name, password=f"{name}-password")

    def without_script(self, route):
        answer = route.fetch()
        route.fulfill(response=answer, body=re.sub(r"<script>.*?</script>", "", answer.text()))

    # Walks through the pages.

    def home_and_errors(self, tab):
        tab.open(self.url("/")).shows("home", "A provider to try things on")
        tab.open(self.url("/inbox")).shows("inbox-empty", "Inbox")
        tab.open(self.authorize(client_id="nobody")).shows("error", "This request cannot continue")

    def signing_in(self, tab):
        tab.open(self.authorize()).shows("signIn", "Sign in")
        tab.type(username="alice", password="wrong")
        tab.page.locator("[role=alert]").wait_for()
        tab.shows("signIn-problem", "Sign in")
        tab.press("Create an account")
        tab.shows("createAccount", "Create an account")
        tab.type(username="alice", name="Alice", email="alice@example.com", password="long-password")
        tab.page.locator("[role=alert]").wait_for()
        tab.shows("createAccount-problem", "Create an account")
        tab.press("I have an account")
        tab.page.locator("h1", has_text="Sign in").wait_for()
        self.sign_in(tab)
        tab.shows("consent", "Allow Sample App access?")
        self.assertIn("You return to the app (com.example.app:).", tab.page.inner_text("main"))
        tab.press("Allow")
        self.assertIn("com.example.app:/callback?code=", tab.leaves())

        other = self.tab()
        other.open(self.authorize(acr_values="urn:enroll:two-factors")).shows("signIn-code", "Sign in")
        other.open(self.authorize())
        self.sign_in(other, "bob")
        other.page.locator("h1", has_text="Allow").wait_for()
        other.open(self.authorize(prompt="select_account")).shows("chooseAccount", "Choose an account")
        other.press("Cancel")
        self.assertIn("error=access_denied", other.leaves())

    def signing_out(self, tab):
        tab.open(self.authorize())
        self.sign_in(tab, "bob")
        tab.page.locator("h1", has_text="Allow").wait_for()
        ending = self.url("/end-session?client_id=sample-app")
        tab.open(ending).shows("signOut", "Sign out?")
        tab.press("Stay signed in")
        tab.shows("stillSignedIn", "You are still signed in")
        tab.open(ending).press("Sign out")
        tab.shows("signedOut", "You are signed out")

    def connecting_a_device(self, tab):
        for press, name, heading in (
            ("Allow", "deviceAllowed", "Your device is connected"),
            ("Do not allow", "deviceRefused", "Your device was not connected"),
        ):
            form = urllib.parse.urlencode({"client_id": "sample-app", "scope": "openid"}).encode()
            with urllib.request.urlopen(self.url("/device/authorize"), form, timeout=30) as answer:
                code = json.load(answer)["user_code"]
            tab.open(self.url("/device"))
            if press == "Allow":
                tab.shows("enterDeviceCode", "Connect a device")
                tab.type(user_code="WRNG-CODE")
                tab.page.locator("[role=alert]").wait_for()
                tab.shows("enterDeviceCode-problem", "Connect a device")
            tab.type(user_code=code)
            if press == "Allow":
                tab.page.locator("h1", has_text="Sign in").wait_for()
                self.sign_in(tab)
            tab.shows("consent-device", "Allow Sample App access?")
            tab.press(press)
            tab.shows(name, heading)

    def app2app(self, tab):
        link = self.sandbox.post("/other-app/init", {})["link"]
        tab.open(link).shows("otherApp", "The other app")
        tab.press("Cancel")
        tab.shows("otherAppDeclined", "Nothing was told")
        tab.open(link).press("Continue as")
        self.assertIn("com.example.app:/callback?artefactId=", tab.leaves())

    def link_without_password(self, tab):
        ask = {"client_id": "sample-app", "connection": "email", "email": "alice@example.com", "send": "link"}
        wanted = {key: value for key, value in REQUEST.items() if key != "client_id"}
        self.sandbox.post("/passwordless/start", {**ask, "authParams": wanted})
        self.sandbox.post("/passwordless/start", {**ask, "send": "code"})
        tab.open(self.sandbox.control("messages")["messages"][0]["link"]).shows("openLink", "Sign in to Sample App")
        tab.press("Sign in")
        self.assertIn("com.example.app:/callback?code=", tab.leaves())

    def registering(self, tab):
        """Plays a registration at the gateway, from the hosted login page to the return to the app."""
        self.sandbox.control("gateway", use=True)
        # The hosted page's script leaves the page at once, so the script is blocked while the page is
        # checked.
        tab.page.route("**/login/login.htm?*", self.without_script)
        tab.open(self.url(hop(self.authorize()).headers["Location"])).shows("hostedLogin", "One moment")
        tab.page.unroute("**/login/login.htm?*")

        tab.open(self.authorize()).shows("gatewaySignIn", "Sign in")
        tab.type(username="alice", password="wrong")
        tab.page.locator("[role=alert]").wait_for()
        tab.shows("gatewaySignIn-problem", "Sign in")
        tab.press("Register with your e-mail address")
        tab.shows("register", "Register")
        # The browser's own check of the form is switched off, because here the gateway itself must refuse the input.
        tab.page.evaluate("document.forms[0].noValidate = true")
        tab.type(email="nobody")
        tab.page.locator("[role=alert]").wait_for()
        tab.shows("register-problem", "Register")
        tab.type(email=f"carol{self.width}@example.com")
        tab.shows("emailSent", "Check your e-mail")
        tab.press("look into its inbox")
        tab.shows("inbox", "Inbox")
        token = self.sandbox.control("mails")["mails"][-1]["link"].rsplit("/", 1)[1]
        tab.open(self.authorize(activation_token=token)).shows("setPassword", "Welcome")
        tab.page.evaluate("document.forms[0].noValidate = true")
        tab.type(password="short")
        tab.page.locator("[role=alert]").wait_for()
        tab.shows("setPassword-problem", "Welcome")
        tab.type(password="long-password")
        tab.page.locator("h1", has_text="Allow Sample App access?").wait_for()
        tab.press("Allow")
        self.assertIn("com.example.app:/callback?code=", tab.leaves())

    def link_that_works_no_more(self, tab):
        self.sandbox.control("register", email=f"dave{self.width}@example.com")
        link = self.sandbox.control("mails")["mails"][-1]["link"]
        tab.open(link).press("Not now")
        tab.shows("backToApp", "Go back to the app")
        self.sandbox.control("scanMails")
        tab.open(link).shows("deadLink", "This link works no more")

    def falling_back(self, tab):
        self.sandbox.control("gateway", readsFromURI=False)
        tab.open(self.authorize()).page.locator("h1", has_text="Sign in").wait_for()
        self.sign_in(tab)
        self.assertEqual(tab.leaves(), "com.example.app://identity/fallback")
