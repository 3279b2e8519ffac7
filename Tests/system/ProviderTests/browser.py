"""A real browser for the browser step: headless Chromium.

A `Person` is one browser profile. `open` loads a URL and answers the provider's pages, as a user would, until the
browser leaves for the redirect. No handler exists here for a custom scheme, so the redirect is read from the
navigation; a loopback redirect is a page, served by the core's own listener.
"""

import json
import os
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from playwright.sync_api import Error, sync_playwright

from processes import TimedOut
from providers import CUSTOM

# The timeout in seconds for a visit, or for one action on a page. It is long, because pages load slowly on a busy
# machine: only a hang exceeds it.
_HANG = 300

# Waits until the page is idle; true if the page is empty. A page behind a dialog of the browser is never idle.
_SHOWS_NOTHING = """async () => {
  await new Promise(done => requestIdleCallback(done, {timeout: 1000}))
  return document.readyState === "complete" && !document.body?.innerText.trim()
}"""

# Chromium's own sandbox does not work as root, nor in most containers.
_ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"]


@dataclass(frozen=True)
class Step:
    """A page of a provider: if `selector` is visible, `act(page, user)` does the user's next action."""

    name: str
    selector: str
    act: object


@dataclass
class Visit:
    """The last URL of the browser, and the steps that it took on the way."""

    redirect: str
    asked: list = field(default_factory=list)
    text: str = ""

    @property
    def asked_for_password(self):
        return "password" in self.asked


class Browser:
    """One Chromium for all tests; each `Person` has its own cookies."""

    def __init__(self):
        self._playwright = sync_playwright().start()
        try:
            self._chromium = self._playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=_ARGUMENTS
            )
        except BaseException:
            self._playwright.stop()
            raise

    def person(self, provider, user):
        # EnrollKit checks the private CA of the TLS tests; this browser accepts any certificate.
        return Person(self._chromium.new_context(ignore_https_errors=True), provider, user)

    def desktop_person(self, provider, user, profile, environment):
        """A user whose browser passes custom schemes to the system without asking. `environment` sets up the
        system's handlers."""
        preferences = Path(profile) / "Default" / "Preferences"
        preferences.parent.mkdir(parents=True)
        trusted = {provider.issuer: {urlsplit(CUSTOM).scheme: True}}
        preferences.write_text(json.dumps({"protocol_handler": {"allowed_origin_protocol_pairs": trusted}}))
        context = self._playwright.chromium.launch_persistent_context(
            profile, executable_path=shutil.which("chromium"), args=_ARGUMENTS, env={**os.environ, **environment}
        )
        return Person(context, provider, user)

    def context(self, **options):
        """An empty browser profile."""
        return self._chromium.new_context(**options)

    def close(self):
        self._chromium.close()
        self._playwright.stop()


class Person:
    """A user with an account at `provider`, in a new browser profile."""

    def __init__(self, context, provider, user):
        self.provider = provider
        self.user = user
        self._context = context
        self._context.set_default_timeout(_HANG * 1000)
        self._page = None
        self._left_for = []
        self._loading = set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._context.close()

    def open(self, url, until, pages=None):
        """Loads `url` and answers pages until a URL that begins with `until`; returns the `Visit`. `pages` replaces
        the provider's own list of pages."""
        return self._go(url, until, pages or self.provider.pages)

    def hop(self, url, until):
        """As `open`, but without the pages, for a user who is signed in and has consented: follows the redirects
        with the browser's cookies. It is for tests that are not about the browser."""
        next_url = url + self.provider.without_pages
        for _ in range(5):
            answer = self._context.request.get(next_url, max_redirects=0)
            next_url = urljoin(next_url, answer.headers.get("location", ""))
            if next_url.startswith(until):
                return Visit(next_url)
        return self.open(url, until)

    def log_out(self, url, until):
        """As `open`, for an end_session URL."""
        return self._go(url, until, self.provider.logout_pages)

    def look(self, url):
        """Loads a page that needs no input, such as one that a listener serves."""
        self._new_tab()
        self._page.goto(url)
        return self._page.inner_text("body")

    def walk(self, url, steps):
        """Loads `url` and does these steps in their order; the browser stays on the last page."""
        self._new_tab()
        self._page.goto(url)
        for step in steps:
            self._page.locator(step.selector).first.wait_for()
            step.act(self._page, self.user)
        self._page.wait_for_load_state()

    def _new_tab(self):
        """Opens a new tab: after a custom scheme, Chromium's dialog covers the old tab, which then gets no clicks."""
        if self._page:
            self._page.close()
        self._left_for.clear()
        self._loading.clear()
        self._page = self._context.new_page()
        self._page.on("request", self._note_request)
        self._page.on("requestfinished", self._note_end)
        self._page.on("requestfailed", self._note_end)

    def _note_request(self, request):
        if request.url.startswith(("http:", "https:")):
            self._loading.add(request)
        elif not request.url.startswith(("data:", "blob:")):
            self._left_for.append(request.url)

    def _note_end(self, request):
        self._loading.discard(request)

    def _go(self, url, until, steps):
        """Loads the URL and does the steps. A page that stays empty is loaded again, as a user would do."""
        self._new_tab()
        visit = Visit("")
        done = set()
        try:
            self._page.goto(url, wait_until="commit")
        except Error as error:
            # If the first redirect goes to the custom scheme, Chromium aborts the navigation.
            if not self._left_for and "ERR_ABORTED" not in str(error):
                raise
        end = time.monotonic() + _HANG
        while not self._arrived(visit, until):
            if self._stays_empty():
                done.clear()
                self._reload()
            if time.monotonic() > end:
                raise TimedOut(
                    f"{self.provider.name} led to {self._page.url} and no further, "
                    f"asked for {visit.asked}: {self._text()[:300]!r}"
                )
            self._answer(steps, visit, done)
            # Waiting also lets the browser's events arrive.
            self._page.wait_for_timeout(25)
        return visit

    def _arrived(self, visit, until):
        for url in self._left_for:
            if url.startswith(until):
                visit.redirect = url
                return True
        if not self._page.url.startswith(until):
            return False
        visit.redirect = self._page.url
        visit.text = self._text()
        return True

    def _answer(self, steps, visit, done):
        for step in steps:
            if step.name not in done and self._shows(step.selector):
                done.add(step.name)
                visit.asked.append(step.name)
                step.act(self._page, self.user)
                return

    def _shows(self, selector):
        try:
            return self._page.locator(selector).first.is_visible()
        except Error:
            # The page changed meanwhile: the caller checks again.
            return False

    def _stays_empty(self):
        """Whether the page has loaded everything, and shows nothing."""
        if self._loading or not self._page.url.startswith("http"):
            return False
        try:
            return self._page.evaluate(_SHOWS_NOTHING) and not self._loading
        except Error:
            return False

    def _reload(self):
        try:
            self._page.reload(wait_until="commit")
        except Error:
            # The page goes to a custom scheme at once; `_left_for` has the URL.
            pass

    def _text(self):
        try:
            self._page.wait_for_load_state()
            return self._page.inner_text("body")
        except Error as error:
            return f"({error})"
