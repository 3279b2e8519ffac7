"""Tests of the documentation site in a browser: every link works; nothing is loaded from other servers; the
search works, even from the disk; no page scrolls sideways at 320 pixels; axe finds no fault, in light and in
dark colours."""

import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
import unittest
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit

from processes import TOP, workspace

sys.path.append(str(TOP / "Tests/system/ProviderTests"))
from axe_playwright_python.sync_playwright import Axe  # noqa: E402
from browser import Browser  # noqa: E402

#: One page of each kind.
KINDS = [
    "index", "concepts", "flows", "states", "configuration", "troubleshooting", "tutorial/python",
    "providers/google", "gateway/theming", "bindings/python",
]  # fmt: skip
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], "resultTypes": ["violations"],
}  # fmt: skip
TIMEOUT_MS = 20_000


class Links(HTMLParser):
    """The links and resources of a page, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.anchors = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.anchors.add(found["id"])
        if tag == "a" and "name" in found:
            self.anchors.add(found["name"])
        names = {"a": ["href"], "link": ["href"], "img": ["src"], "script": ["src"], "source": ["srcset", "src"]}.get(tag, [])
        self.targets.update(found[name] for name in names if found.get(name))


def build(folder):
    done = subprocess.run(
        [TOP / "scripts/site/build", "--site-dir", folder], capture_output=True, text=True, env=os.environ)
    return done.returncode, done.stdout + done.stderr


class SiteTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = workspace("site") / "site"
        status, told = build(cls.folder)
        if status != 0:
            raise AssertionError(f"the site does not build:\n{told}")
        cls.pages = sorted(cls.folder.rglob("*.html"))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=cls.folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.base = f"http://127.0.0.1:{server.server_port}"
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def tab(self, width=1280, **options):
        """A page, and a list of its requests to other servers."""
        context = self.browser.context(viewport={"width": width, "height": 800}, reduced_motion="reduce", **options)
        context.set_default_timeout(TIMEOUT_MS)
        self.addCleanup(context.close)
        page, strangers = context.new_page(), []
        page.on("request", lambda request: strangers.append(request.url) if self.is_strange(request.url) else None)
        return page, strangers

    def is_strange(self, url):
        return not url.startswith((self.base + "/", "data:", "blob:", "about:", f"file://{self.folder}"))

    def test_every_internal_link_and_anchor_leads_somewhere(self):
        read = {page: Links(page.read_text()) for page in self.pages}
        missing, count = [], 0
        for page, links in read.items():
            here = f"/{page.relative_to(self.folder)}"
            for target in links.targets:
                parts = urlsplit(urljoin(here, target))
                if parts.scheme or parts.netloc:
                    continue
                count += 1
                path = self.folder / unquote(parts.path).lstrip("/")
                if path.is_dir():
                    path /= "index.html"
                if not path.exists():
                    missing.append(f"{here}: {target}")
                elif parts.fragment and path in read and unquote(parts.fragment) not in read[path].anchors | {"__top"}:
                    missing.append(f"{here}: {target}: no such anchor")
        self.assertEqual(missing, [])
        self.assertGreater(count, 3000)
        print(f"{len(self.pages)} pages, {count} links")

    def test_every_page_is_reached_from_the_list_of_pages(self):
        start = self.folder / "index.html"
        listed = {urljoin("/", target).partition("#")[0] for target in Links(start.read_text()).targets}
        pages = [page.relative_to(TOP / "docs").with_suffix(".html") for page in (TOP / "docs").rglob("*.md")]
        self.assertGreater(len(pages), 50)
        missing = [str(page) for page in pages if f"/{page}".replace("README.html", "index.html") not in listed]
        self.assertEqual(missing, [])

    def test_pages_ask_nothing_of_others_and_do_not_scroll_sideways_at_320_pixels(self):
        page, strangers = self.tab(320)
        wide, faults = [], []
        page.on("pageerror", lambda error: faults.append(str(error)))
        for path in self.pages:
            name = str(path.relative_to(self.folder))
            page.goto(f"{self.base}/{name}", wait_until="load")
            content = page.evaluate("document.documentElement.scrollWidth")
            if content > 320:
                wide.append((name, content))
        self.assertEqual((wide, strangers, faults), ([], [], []))

    def test_on_a_phone_what_goes_on_to_the_right_fades_until_it_is_scrolled_to_its_end(self):
        page, _ = self.tab(375)
        for name, selector in (("index", ".diagram"), ("platforms", ".table"), ("index", "pre > code")):
            with self.subTest(selector):
                page.goto(f"{self.base}/{name}.html")
                box = page.locator(f"{selector}.goes-on").first
                box.wait_for()
                fades = box.evaluate("box => getComputedStyle(box).maskImage")
                self.assertIn("gradient", fades)
                handle = box.element_handle()
                handle.evaluate("box => { box.scrollLeft = box.scrollWidth }")
                page.wait_for_function("box => !box.classList.contains('goes-on')", arg=handle)

    def test_on_a_phone_the_overview_is_drawn_from_top_to_bottom_and_fits(self):
        for width, is_narrow in ((320, True), (375, True), (1280, False)):
            for scheme in ("light", "dark"):
                with self.subTest(width, scheme=scheme):
                    page, _ = self.tab(width, color_scheme=scheme)
                    page.goto(f"{self.base}/index.html")
                    picture = page.locator("picture img").first
                    picture.evaluate("one => one.decode()")
                    source, edge = picture.evaluate("one => [one.currentSrc, one.getBoundingClientRect().right]")
                    self.assertIn(f"/overview-narrow-{scheme}" if is_narrow else f"/overview-{scheme}", source)
                    self.assertLessEqual(edge, width)

    def test_on_a_phone_messages_are_folded_and_no_word_of_a_table_is_broken(self):
        page, _ = self.tab(375)
        page.goto(f"{self.base}/troubleshooting.html")
        wide = page.evaluate("[...document.querySelectorAll('.message code')].map(code => code.scrollWidth - code.clientWidth)")
        self.assertGreater(len(wide), 15)
        self.assertEqual([width for width in wide if width > 0], [])
        page.goto(f"{self.base}/gateway/index.html")
        lines = "[...document.querySelectorAll('.table td:first-child a')].filter(one => one.getClientRects().length > 1).length"
        self.assertEqual(page.evaluate(lines), 0)

    def test_the_search_finds_refresh_token(self):
        for start in (f"{self.base}/index.html", f"file://{self.folder}/index.html"):
            with self.subTest(start.partition(":")[0]):
                page, strangers = self.tab()
                page.goto(start)
                words = page.locator(".md-search__input")
                # The field loads the search index when it gets the focus. Words that were typed before the
                # index is loaded are not searched for.
                words.focus()
                page.locator(".md-search-result__meta").get_by_text("Type to start searching").wait_for()
                words.press_sequentially("refresh token")
                # While somebody types, the page shows what it found for the first letters.
                page.locator(".md-search-result__item", has_text="refresh token").first.wait_for()
                self.assertRegex(page.locator(".md-search-result__meta").inner_text(), r"\d+ matching documents")
                first = page.locator(".md-search-result__item a").first
                first.click()
                page.wait_for_url("**/*.html?*")
                self.assertEqual(strangers, [])

    def test_axe_finds_nothing_in_light_and_dark(self):
        page, _ = self.tab()
        for name in KINDS:
            page.goto(f"{self.base}/{name}.html")
            for scheme in ("light", "dark"):
                with self.subTest(name, scheme=scheme):
                    page.emulate_media(color_scheme=scheme)
                    found = Axe().run(page, options=RULES)
                    self.assertEqual(found.violations_count, 0, found.generate_report()[:3000])

    def test_every_picture_of_a_page_is_shown_and_has_a_text(self):
        page, _ = self.tab()
        for name in ("index", "concepts", "states"):
            page.goto(f"{self.base}/{name}.html")
            pictures = page.locator("article img")
            self.assertGreaterEqual(pictures.count(), 1, name)
            for picture in pictures.all():
                self.assertTrue(picture.get_attribute("alt"), name)
                picture.scroll_into_view_if_needed()
                self.assertGreater(picture.evaluate("async (image) => { await image.decode(); return image.naturalWidth }"), 100)

    def test_the_terminal_shows_the_finished_session_wherever_it_is_not_played(self):
        """`count` returns how many pieces are hidden at a given time of the animation, in milliseconds."""
        count = """(time) => {
            for (const one of document.getAnimations()) { one.pause(); one.currentTime = time }
            return [...document.querySelectorAll("tspan")].filter(one => getComputedStyle(one).fillOpacity != 1).length
        }"""
        page, _ = self.tab()
        for options in ({"reduced_motion": "reduce"}, {"reduced_motion": "no-preference", "media": "print"}):
            with self.subTest(options):
                page.emulate_media(**options)
                page.goto(f"{self.base}/pictures/terminal.svg")
                self.assertEqual(page.evaluate("document.getAnimations().length"), 0)
                self.assertEqual(page.evaluate(count, 0), 0)
        page.emulate_media(media="screen", reduced_motion="no-preference")
        page.goto(f"{self.base}/pictures/terminal.svg")
        first, played, last = (page.evaluate(count, time) for time in (0, 3010, 60_000))
        self.assertEqual((first, last), (0, 0))
        self.assertGreater(played, 50)

    def test_markdown_that_only_github_understands_is_not_left_as_text(self):
        left = []
        for page in self.pages:
            text = re.sub(r"<(pre|code|script|style)\b.*?</\1>", "", page.read_text(), flags=re.S)
            for pattern in (r"<p>[^<]*\n[-*] ", r"\]\((?!\))", r"```", r"\*\*\w", r"^\| ?---"):
                left += [f"{page.name}: {found[0]!r}" for found in re.finditer(pattern, text, re.M)]
        self.assertEqual(left[:20], [])

    def test_a_link_that_leads_nowhere_fails_the_build(self):
        copy = workspace("copy")
        shutil.copy(TOP / "mkdocs.yml", copy)
        (copy / "scripts").symlink_to(TOP / "scripts")
        shutil.copytree(TOP / "docs", copy / "docs")
        (copy / "docs/abi.md").write_text("# A page\n\n[x](flows.md#" + "no-such-anchor)\n")
        mkdocs = [TOP / ".build/site/venv/bin/python", "-B", "-m", "mkdocs", "build", "--strict"]
        done = subprocess.run(mkdocs, cwd=copy, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no-such-anchor", done.stdout + done.stderr)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass
