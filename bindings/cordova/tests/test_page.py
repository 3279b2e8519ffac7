"""The app's page in every state, at a phone's and a desktop's width, checked against WCAG 2.2 AA as far as a program
can: axe in light and dark, nothing wider than the screen, and every button reached by Tab with a visible outline.
"""

import json
import re
import unittest

from axe_playwright_python.sync_playwright import Axe
from desk import PICTURES, TOP
from playwright.sync_api import sync_playwright

WWW = TOP / "build/tests/hybrid-shell/www"
MAIN = TOP / "bindings/cordova/shell/main.c"
ORIGIN = "http://app.test/"
NARROW = 320
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json"}

PROFILE = {"sub": "1", "name": "Alexandra Featherstonehaugh-Cholmondeley", "email": "alexandra.featherstonehaugh@example.com"}
ERROR = {"status": "network", "code": -30, "blame": "network", "retryable": True, "message": "no route"}
STEPS = ("browser", "emailPending", "codePending", "otherApp", "exchanging", "pin")
STATES = {
    "starting": {"state": "starting"},
    "unregistered": {"state": "unregistered"},
    "choices": {"state": "unregistered", "choices": [{"kind": "x", "label": "Continue with Example"}]},
    **{f"authenticating-{step}": {"state": "authenticating", "transaction": "t", "step": step} for step in STEPS},
    "awaitingConfirmation": {"state": "awaitingConfirmation", "transaction": "t", "profile": PROFILE},
    **{
        f"active-{reason}": {"state": "active", "reason": reason}
        for reason in ("notNative", "valid", "renewed", "confirmed")
    },
    **{
        f"failed-renewal-{remedy}": {
            "state": "failed", "reason": "renewal", "error": ERROR, "remedy": remedy, "tokenUsable": True,
        }
        for remedy in ("retry", "wait", "registerAgain")
    },
    "failed-registration": {"state": "failed", "reason": "registration", "error": {**ERROR, "status": "tls"}},
}  # fmt: skip

# The native part of a page whose buttons are not used.
NATIVE = """
document.addEventListener('enroll-request', ({ detail }) => {
  const { callback, action, arguments: [, , command, parameters] } = JSON.parse(detail);
  if (command === 'registration.state') (globalThis.askedForState ??= []).push(parameters);
  const results = {
    'registration.state': { state: STATE },
    'identity.profile': { claims: PROFILE },
    'token.access': { outcome: 'stale', accessToken: 'x', tokenType: 'Bearer', expiresAt: 1767225600 },
  };
  const value = { listen: { type: 'ready' }, open: { client: 'c1' } }[action] || results[command] || {};
  const text = JSON.stringify({ callback, ok: true, value });
  setTimeout(() => document.dispatchEvent(new CustomEvent('enroll-answer', { detail: text })));
});
"""

FOCUS = """() => {
  const one = document.activeElement, style = getComputedStyle(one);
  return [one.textContent || one.id, style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2];
}"""


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        PICTURES.mkdir(parents=True, exist_ok=True)
        playwright = sync_playwright().start()
        cls.addClassCleanup(playwright.stop)
        cls.browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        cls.addClassCleanup(cls.browser.close)
        cls.policy = "".join(re.findall(r'"([^"]*)"', MAIN.read_text().partition("#define POLICY")[2].partition("\n\n")[0]))

    def test_the_states_are_all_that_there_are(self):
        script = (WWW / "app.js").read_text()
        drawn = re.findall(r"^  (\w+): (?:async )?\(", script.partition("const STATES = {")[2], re.M)
        self.assertEqual(set(drawn), {state["state"] for state in STATES.values()})
        self.assertIn("default-src 'none'", self.policy)

    def test_every_state_at_a_phone_s_width(self):
        self.play(NARROW)

    def test_every_state_at_a_desktop_s_width(self):
        self.play(1280)

    def play(self, width):
        context = self.browser.new_context(viewport={"width": width, "height": 640})
        self.addCleanup(context.close)
        page = context.new_page()
        page.route(f"{ORIGIN}**", self.serve)
        complaints = []
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.add_init_script(NATIVE.replace("STATE", "JSON.parse(sessionStorage.state)").replace("PROFILE", json.dumps(PROFILE)))
        page.goto(f"{ORIGIN}app.css")
        for name, state in STATES.items():
            with self.subTest(name, width=width):
                page.evaluate("(text) => { sessionStorage.state = text }", json.dumps(state))
                page.goto(f"{ORIGIN}index.html")
                page.locator("#view[data-state]").wait_for()
                # With `wait` the call would never end if the user left the browser, and the page would hang.
                self.assertEqual(page.evaluate("askedForState"), [{}])
                self.look(page, name, width)
        self.assertEqual(complaints, [])

    def serve(self, route):
        name = route.request.url.removeprefix(ORIGIN)
        headers = {"Content-Type": TYPES[name[name.rindex(".") :]], "Content-Security-Policy": self.policy}
        route.fulfill(body=(WWW / name).read_bytes(), headers=headers)

    def look(self, page, name, width):
        self.assertEqual(page.locator("h1").count(), 1)
        edge = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        self.assertLessEqual(*edge, "it scrolls sideways")
        # One width is enough for axe, because contrast and names are the same at every width.
        for scheme in ("dark", "light") if width == NARROW else ():
            page.emulate_media(color_scheme=scheme)
            found = Axe().run(page, options=RULES)
            self.assertEqual(found.violations_count, 0, f"{scheme}: {found.generate_report()}")
            page.screenshot(path=PICTURES / f"app-{name}-{scheme}.png")
        for control in page.locator("button, input").all():
            self.assertGreaterEqual(control.bounding_box()["height"], 44)
            page.keyboard.press("Tab")
            text, outlined = page.evaluate(FOCUS)
            self.assertEqual(text, control.text_content() or control.get_attribute("id"))
            self.assertTrue(outlined, f"no outline at {text!r}")


if __name__ == "__main__":
    unittest.main()
