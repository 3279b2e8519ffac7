"""Checks a page in a real browser against WCAG 2.2 AA, as far as a program can, and takes pictures of it.

`Tab` is one browser profile with a window of one width, used with the keyboard only. axe checks each page in
light and dark. Each page is also checked for scrolling sideways, for the order of the Tab key, and for refusals by
the page's own content security policy; the pictures go to build/screenshots, with an index.html for people.
"""

import html

from axe_playwright_python.sync_playwright import Axe

from cases import browser
from processes import TOP

FOLDER = TOP / "build" / "screenshots"
HEIGHTS = {320: 568, 390: 844, 1280: 900}

_RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}

# `_DRAWN` waits until the browser has drawn the page: the browser applies autofocus then, and does not move the focus
# later. `_NUMBER_STOPS` numbers the elements that the Tab key must reach, in the order of the document.
_DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"

_NUMBER_STOPS = """() => {
  const seen = element => element.checkVisibility({visibilityProperty: true});
  const stops = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), [tabindex]')].filter(seen);
  stops.forEach((element, number) => element.dataset.stop = number);
  if (document.activeElement) document.activeElement.blur();
  return stops.length;
}"""

_STOP = """() => {
  const element = document.activeElement, style = getComputedStyle(element);
  const {top, bottom, width} = element.getBoundingClientRect();
  return {
    number: element === document.body ? null : Number(element.dataset.stop ?? -1),
    name: element.outerHTML.slice(0, 120),
    outlined: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
    inView: bottom > 0 && top < innerHeight && width > 0,
  };
}"""


class Tab:
    """One browser profile whose window has this width. The titles of its pages end with `product`."""

    def __init__(self, case, width, product="EnrollKit Sandbox", **options):
        self._case, self.width, self._product = case, width, product
        self._context = browser().context(viewport={"width": width, "height": HEIGHTS[width]}, **options)
        case.addCleanup(self._context.close)
        self._left, self._refused = [], []
        self.page = self._context.new_page()
        self.page.on("request", self._note)
        self.page.on("console", self._complain)

    # The user's actions.

    def open(self, url):
        self.page.goto(url)
        return self

    def type(self, **fields):
        """Fills fields in, by their ids, and presses Enter in the last field."""
        for field, text in fields.items():
            self.page.focus(f"#{field}")
            self.page.keyboard.press("Control+A")
            self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def press(self, text):
        """Presses the button, or follows the link, with this text; uses only the keyboard."""
        self.page.locator("button, a", has_text=text).first.focus()
        self.page.keyboard.press("Enter")

    def leaves(self):
        """Waits until the browser leaves for a URL of the app; returns that URL."""
        for _ in range(200):
            if self._left:
                return self._left[-1]
            self.page.wait_for_timeout(25)
        self._case.fail(f"the browser stayed at {self.page.url}")

    # The checks.

    def shows(self, name, heading):
        """Waits for this page, and checks it."""
        self.page.locator("h1", has_text=heading).wait_for()
        self.page.wait_for_load_state()
        self._case.assertEqual(self.page.locator("h1").count(), 1, name)
        # While the browser abandons a navigation, the browser shows the address in place of the page's title.
        self.page.wait_for_function("product => document.title.endsWith(product)", arg=self._product)
        self._photograph(name)
        self._check_width(name)
        self._check_stops(name)
        self._check_rules(name)
        self._case.assertEqual(self._refused, [], name)
        self._case.played.add(name)

    def _photograph(self, name):
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=FOLDER / f"{name}-{self.width}.png", full_page=True)

    def _check_width(self, name):
        """Checks WCAG 1.4.10: nothing may be wider than the window."""
        content, window = self.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        self._case.assertLessEqual(content, window, f"{name} scrolls sideways at {self.width} pixels")

    def _check_stops(self, name):
        """Checks WCAG 2.1.1, 2.1.2, 2.4.3, 2.4.7, 2.4.11: Tab must reach every stop, in the order of the
        document, with a visible focus."""
        self.page.evaluate(_DRAWN)
        count = self.page.evaluate(_NUMBER_STOPS)
        met = []
        # Presses Tab around the document and past its end, wherever the focus began.
        for _ in range(2 * count + 2):
            self.page.keyboard.press("Tab")
            stop = self.page.evaluate(_STOP)
            met.append(stop["number"])
            if stop["number"] is None:
                continue
            self._case.assertTrue(stop["outlined"], f"{name}: no outline at {stop['name']}")
            self._case.assertTrue(stop["inView"], f"{name}: the focus is out of sight at {stop['name']}")
        for number in range(count):
            self._case.assertIn(number, met, f"{name}: Tab does not reach stop {number} of {count}: {met}")
        for before, after in zip(met, met[1:]):
            # After the last element the browser itself moves the focus, perhaps only after the test has read where the
            # focus is.
            if None not in (before, after):
                self._case.assertEqual(after, (before + 1) % count, f"{name}: the order of the stops is {met}")

    def _check_rules(self, name):
        """Checks with axe, in both colour schemes, because each colour scheme has its own contrast."""
        for scheme in ("dark", "light"):
            self.page.emulate_media(color_scheme=scheme)
            found = Axe().run(self.page, options=_RULES)
            self._case.assertEqual(found.violations_count, 0, f"{name}, {scheme}: {found.generate_report()}")
            if scheme == "dark":
                self._photograph(f"{name}-dark")

    def _note(self, request):
        if not request.url.startswith(("http:", "https:", "data:")):
            self._left.append(request.url)

    def _complain(self, message):
        # The browser reports each refusal by the content security policy as an error of the console.
        if message.type == "error" and "Content Security Policy" in message.text:
            self._refused.append(message.text)


def write_index():
    """Writes index.html: a section for each page, with a picture for each width."""
    rows = []
    names = sorted({path.stem.rsplit("-", 1)[0] for path in FOLDER.glob("*.png")})
    for name in names:
        pictures = "".join(
            f'<a href="{name}-{width}.png"><img src="{name}-{width}.png" width="{width // 2}" alt="{html.escape(name)} at '
            f'{width} pixels" loading="lazy"></a>\n'
            for width in HEIGHTS
            if (FOLDER / f"{name}-{width}.png").exists()
        )
        rows.append(f"<h2>{html.escape(name)}</h2>\n{pictures}")
    FOLDER.joinpath("index.html").write_text(
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Pages of the sandbox</title>\n'
        "<style>body{font:1rem system-ui;margin:2rem}img{border:1px solid #999;margin:.5rem;vertical-align:top}</style>\n"
        "<h1>Pages of the sandbox</h1>\n" + "\n".join(rows) + "\n</html>\n"
    )
