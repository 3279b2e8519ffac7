"""The sandbox's gateway in a real browser, at a desktop's and a phone's width (okta-native-integration).

Only a browser runs the hosted login page's script under the page's own policy, and applies `form-action` to the redirects
after a form. Screenshots go to .build/screenshots, for a person to look at.
"""

import sys
import unittest

from cases import browser
from processes import TOP

sys.path.append(str(TOP / "Tests" / "FlowTests"))
from sandbox import Sandbox  # noqa: E402

SIZES = {"desktop": (1200, 900), "phone": (360, 740)}
AUTHORIZE = (
    "/authorize?response_type=code&client_id=sample-app&redirect_uri=com.example.app%3A%2Fcallback&scope=openid%20email"
    "&state=s&nonce=n&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
)
SHOTS = TOP / ".build" / "screenshots"


class GatewayPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox("--gateway")
        cls.addClassCleanup(cls.sandbox.stop)
        SHOTS.mkdir(parents=True, exist_ok=True)

    def test_registration_and_fallback_on_a_desktop(self):
        self.play("desktop")

    def test_registration_and_fallback_on_a_phone(self):
        self.play("phone")

    def play(self, size):
        tab = Tab(self, size)
        tab.open(self.sandbox.issuer + AUTHORIZE, "Sign in")
        tab.page.click("text=Register with your e-mail address")
        tab.shows("Register")
        tab.type("email", f"{size}@example.com")
        tab.shows("Check your e-mail")
        tab.open(self.sandbox.issuer + "/inbox", "Inbox")
        link = self.sandbox.control("mails")["mails"][-1]["link"]
        tab.open(f"{self.sandbox.issuer}{AUTHORIZE}&activation_token={link.rsplit('/', 1)[1]}", "Welcome")
        tab.type("password", "long-password")
        tab.shows("Allow Sample App access?")
        tab.page.click("button[value=continue]")
        self.assertIn("com.example.app:/callback?code=", tab.leaves())

        self.sandbox.control("gateway", readsFromURI=False)
        self.addCleanup(self.sandbox.control, "gateway", readsFromURI=True)
        stranger = Tab(self, size)
        stranger.open(self.sandbox.issuer + AUTHORIZE, "Sign in")
        stranger.page.fill("#username", "alice")
        stranger.type("password", "alice-password")
        self.assertEqual(stranger.leaves(), "com.example.app://identity/fallback")
        stranger.open(link, "This link works no more")


class Tab:
    """One browser profile of that size, used with the keyboard."""

    def __init__(self, case, size):
        self._case, self._size = case, size
        width, height = SIZES[size]
        context = browser().context(viewport={"width": width, "height": height})
        case.addCleanup(context.close)
        self._left = []
        self._refused = []
        self.page = context.new_page()
        self.page.on("request", self._note)
        self.page.on("console", self._complain)

    def open(self, url, heading):
        self.page.goto(url)
        self.shows(heading)

    def type(self, field, text):
        self.page.fill(f"#{field}", text)
        self.page.keyboard.press("Enter")

    def shows(self, heading):
        """This page is there, and nothing of it hangs over the edge."""
        self.page.locator("h1", has_text=heading).wait_for()
        name = heading.lower().replace(" ", "-").strip("?")
        self.page.screenshot(path=SHOTS / f"gateway-{self._size}-{name}.png", full_page=True)
        content, window = self.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        self._case.assertLessEqual(content, window, heading)
        self._case.assertEqual(self._refused, [])

    def leaves(self):
        """The app's URL that the browser leaves for."""
        for _ in range(200):
            if self._left:
                return self._left[-1]
            self.page.wait_for_timeout(25)
        self._case.fail(f"the browser stayed at {self.page.url}")

    def _note(self, request):
        if not request.url.startswith(("http:", "https:", "data:")):
            self._left.append(request.url)

    def _complain(self, message):
        # The policy's refusals come as errors of the console.
        if message.type == "error" and "Content Security Policy" in message.text:
            self._refused.append(message.text)
