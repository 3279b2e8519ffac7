"""A real browser in the role of the browser tab: headless Chromium.

A `Person` is one browser profile. `open` loads a URL and answers whatever page the
provider shows, as a person would, until the browser leaves for the redirect. A custom
scheme has no handler here, so the redirect is read from the navigation; a loopback
redirect is a page like any other, served by the product's own listener.
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

# Seconds that a visit, or one act on a page, may take. A guard against a hang alone: on a busy machine a page takes long.
_HANG = 300

# Once the page has nothing left to do: whether it shows nothing. A page that a dialog of the browser covers has no idle time.
_SHOWS_NOTHING = """async () => {
  await new Promise(done => requestIdleCallback(done, {timeout: 1000}))
  return document.readyState === "complete" && !document.body?.innerText.trim()
}"""

# A browser sandbox cannot be had as root, nor in most containers.
_ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"]


@dataclass(frozen=True)
class Step:
    """When `selector` is visible, `act(page, user)` is what a person does next."""

    name: str
    selector: str
    act: object


@dataclass
class Visit:
    """Where the browser ended, and which steps it was asked for on the way."""

    redirect: str
    asked: list = field(default_factory=list)
    text: str = ""

    @property
    def asked_for_password(self):
        return "password" in self.asked


class Browser:
    """One Chromium for all tests; each `Person` has cookies of its own."""

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
        # The private CA of the TLS tests is the product's to judge; this browser looks away.
        return Person(self._chromium.new_context(ignore_https_errors=True), provider, user)

    def desktop_person(self, provider, user, profile, environment):
        """Somebody whose browser hands custom schemes to the system, as `environment` sets it up, without asking."""
        preferences = Path(profile) / "Default" / "Preferences"
        preferences.parent.mkdir(parents=True)
        trusted = {provider.issuer: {urlsplit(CUSTOM).scheme: True}}
        preferences.write_text(json.dumps({"protocol_handler": {"allowed_origin_protocol_pairs": trusted}}))
        context = self._playwright.chromium.launch_persistent_context(
            profile, executable_path=shutil.which("chromium"), args=_ARGUMENTS, env={**os.environ, **environment}
        )
        return Person(context, provider, user)

    def context(self, **options):
        """A bare browser profile."""
        return self._chromium.new_context(**options)

    def close(self):
        self._chromium.close()
        self._playwright.stop()


class Person:
    """Somebody who has an account at `provider`, in a browser profile without history."""

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
        """Loads `url` and goes on until a URL that begins with `until`; a `Visit`.
        `pages` stand in for the provider's own."""
        return self._go(url, until, pages or self.provider.pages)

    def hop(self, url, until):
        """`open` without the pages, for somebody who is logged in and has consented: follows the
        redirects with the browser's cookies. For tests whose subject is not the browser."""
        next_url = url + self.provider.without_pages
        for _ in range(5):
            answer = self._context.request.get(next_url, max_redirects=0)
            next_url = urljoin(next_url, answer.headers.get("location", ""))
            if next_url.startswith(until):
                return Visit(next_url)
        return self.open(url, until)

    def log_out(self, url, until):
        """The same for an end_session URL."""
        return self._go(url, until, self.provider.logout_pages)

    def look(self, url):
        """Loads a page that asks for nothing, such as one that a listener answers."""
        self._new_tab()
        self._page.goto(url)
        return self._page.inner_text("body")

    def walk(self, url, steps):
        """Loads `url` and does these steps, in their order; the browser stays where they lead."""
        self._new_tab()
        self._page.goto(url)
        for step in steps:
            self._page.locator(step.selector).first.wait_for()
            step.act(self._page, self.user)
        self._page.wait_for_load_state()

    def _new_tab(self):
        """A custom scheme leaves Chromium's question about it over the tab, deaf to clicks."""
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
        """A page that stays empty is loaded again, as a person would."""
        self._new_tab()
        visit = Visit("")
        done = set()
        try:
            self._page.goto(url, wait_until="commit")
        except Error as error:
            # A redirect straight to the custom scheme aborts the navigation.
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
            # Also lets the browser's events in.
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
            # The page changed under our hands: the caller looks again.
            return False

    def _stays_empty(self):
        """Whether all that the page asked for has come, and it shows nothing."""
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
            # It leads to a custom scheme at once; what was left for says where.
            pass

    def _text(self):
        try:
            self._page.wait_for_load_state()
            return self._page.inner_text("body")
        except Error as error:
            return f"({error})"
