"""Checks the gateway's pages in Chromium: with axe in light and dark, with the keyboard alone, at a width of
320 pixels, and without a script.

`EveryPage` checks every page that Tests/units/EnrollGatewayTests/Pages/SamplePages.swift makes, also pages
that are added there. `PagesOfTheProgram` opens pages of the running program, with its content security policy
and its cookies: each page in PAGES, and every other path that the table of routes has for GET.

With ENROLL_WRITE_DOCS=1 it also takes the pictures of docs/gateway/theming.md.
"""

import functools
import http.server
import os
import re
import subprocess
import threading
import unittest

from cases import browser
from gateway import Browser, Gateway, play, sandbox_for
from processes import TOP, workspace

PRODUCT = "Notes"
TESTS = TOP / ".build/debug/EnrollKitPackageTests.xctest"
WRITES = os.environ.get("ENROLL_WRITE_DOCS") == "1"

# Each line has the path of a page and a part of its heading. If the line has PERSON, the browser has the session of a
# signed-in user.
PERSON = object()
PAGES = [
    ("login", "/login", "Sign in to Notes"),
    ("signup", "/signup", "Create your account"),
    ("account", "/account", "Your account", PERSON),
    ("session-ended", "/account?notice=ended", "Your account", PERSON),
    ("confirm", "/account/confirm", "Please confirm that it is you", PERSON),
    ("delete", "/account/delete", "Delete your account?", PERSON),
    ("deleted", "/account-deleted", "Your account is deleted"),
    ("signed-out", "/signed-out", "You are signed out"),
    ("signed-out-everywhere", "/signed-out-everywhere", "You are signed out"),
    ("not-found", "/nowhere", "Page not found"),
    ("not-begun", "/v1/auth/sandbox/callback?code=x&state=y", "started somewhere else"),
    ("no-provider", "/v1/auth/nobody", "does not exist"),
    ("bad-return", "/login?return_to=https://evil.example", "Something is wrong"),
]
ROUTES = (TOP / "Sources/EnrollGateway/Gateway/Routes.swift").read_text()
for path in re.findall(r'Route\(\s*\.get, "(/[^"{]*)", for: \.users', ROUTES):
    if path not in [line[1] for line in PAGES]:
        line = (path[1:].replace("/", "-") or "start", path, "")
        PAGES.append((*line, PERSON) if path.startswith("/account/") else line)


class EveryPage(unittest.TestCase):
    """Each page in each of its variants, with the values of the samples."""

    @classmethod
    def setUpClass(cls):
        home = workspace("pages")
        done = subprocess.run(
            [TESTS, "--testing-library", "swift-testing", "--filter", "PreviewTests"], cwd=home,
            env={**os.environ, "ENROLL_WRITE_PAGES": "1"}, capture_output=True, text=True)  # fmt: skip
        folder = home / ".build/gateway-pages"
        if not folder.exists():
            raise AssertionError(f"no pages were written: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        cls.names = sorted(path.name.removesuffix(".en.html") for path in folder.glob("*.en.html"))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Files, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.base = f"http://127.0.0.1:{server.server_port}"

    def setUp(self):
        self.played = set()

    def test_every_page_is_good_to_use_at_320_pixels(self):
        from page_checks import Tab

        tab = Tab(self, 320, PRODUCT)
        for name in self.names:
            with self.subTest(name):
                tab.open(f"{self.base}/{name}.en.html").shows(f"gateway-{name}", "")
        self.assertGreaterEqual(len(self.played), 30)

    def test_no_page_scrolls_sideways_in_any_language_or_width(self):
        for width in (320, 1280):
            context = browser().context(viewport={"width": width, "height": 700}, java_script_enabled=False)
            self.addCleanup(context.close)
            page = context.new_page()
            for name in self.names:
                for language in ("en", "de", "ar"):
                    with self.subTest(name, width=width, language=language):
                        page.goto(f"{self.base}/{name}.{language}.html")
                        content = page.evaluate("document.documentElement.scrollWidth")
                        self.assertLessEqual(content, width)

    @unittest.skipUnless(WRITES, "ENROLL_WRITE_DOCS=1 takes the pictures of the documentation")
    def test_the_pictures_of_the_documentation_are_taken(self):
        import pictures

        pictures.take(browser(), self.base, self.names)

    def test_the_documentation_shows_every_page(self):
        import pictures

        self.assertEqual(pictures.missing(self.names), [], "run with ENROLL_WRITE_DOCS=1, and look at the pictures")


class PagesOfTheProgram(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway(theme={"product": PRODUCT})
        cls.gateway.settings["apps"]["sample"]["continuePage"] = True
        cls.sandbox = sandbox_for(cls.gateway)
        cls.addClassCleanup(cls.sandbox.stop)
        cls.gateway.start()
        cls.addClassCleanup(cls.gateway.stop)
        cls.base = cls.gateway.base
        cls.person = Browser(cls.base)
        play(cls.sandbox, f"{cls.base}/v1/auth/sandbox", cls.person)

    def setUp(self):
        self.played = set()

    def tab(self, width=390, person=None, **options):
        from page_checks import Tab

        tab = Tab(self, width, PRODUCT, **options)
        if person:
            tab.page.context.add_cookies([
                {"name": name, "value": value, "url": self.base.replace("http:", "https:"), "secure": True}
                for name, value in person.cookies.items()])  # fmt: skip
        return tab

    def test_every_page_is_good_to_use_under_its_own_policy(self):
        nobody, person = self.tab(), self.tab(person=self.person)
        for name, path, heading, *who in PAGES:
            with self.subTest(name):
                tab = person if who else nobody
                tab.open(self.base + path).shows(f"gateway-program-{name}", heading)

    def test_every_page_is_the_same_without_scripts(self):
        nobody, person = self.tab(java_script_enabled=False), self.tab(person=self.person, java_script_enabled=False)
        for name, path, heading, *who in PAGES:
            with self.subTest(name):
                page = (person if who else nobody).open(self.base + path).page
                self.assertIn(heading, page.inner_text("h1"))
                self.assertEqual(page.locator("script").count(), 0)

    def test_a_person_registers_and_signs_out_by_the_keyboard_without_a_script(self):
        tab = self.tab(java_script_enabled=False)
        tab.open(f"{self.base}/signup").press("Sandbox")
        tab.page.locator("#username").wait_for()
        tab.type(username="bob", password="bob-password")
        tab.page.locator("h1", has_text="Your account").wait_for()
        tab.press("Sign out")
        tab.page.locator("h1", has_text="You are signed out").wait_for()

    def test_pages_are_in_the_language_of_the_browser(self):
        tab = self.tab(locale="de-AT", java_script_enabled=False)
        tab.open(f"{self.base}/login")
        self.assertEqual(tab.page.locator("html").get_attribute("lang"), "de")
        self.assertIn(PRODUCT, tab.page.inner_text("h1"))

    def test_an_app_that_wants_a_press_gets_a_page_with_its_link(self):
        challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        answer = play(
            self.sandbox,
            f"{self.base}/v1/auth/sandbox?platform=mobile&state=s&code_challenge_method=S256&code_challenge={challenge}",
            Browser(self.base))  # fmt: skip
        self.assertEqual(answer.status, 200)
        self.assertIn('href="com.example.app:/callback?code=', answer.text)


class _Files(http.server.SimpleHTTPRequestHandler):
    """Serves the pages in the folder; every path below `/files/` gets the same picture."""

    def do_GET(self):
        if not self.path.startswith("/files/"):
            return super().do_GET()
        picture = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="3"/></svg>'
        self.send_response(200)
        self.send_header("Content-Type", "image/svg+xml")
        self.send_header("Content-Length", str(len(picture)))
        self.end_headers()
        self.wfile.write(picture)

    def log_message(self, *_):
        pass
