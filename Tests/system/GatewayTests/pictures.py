"""Takes the pictures in docs/gateway/theming.md from the sample pages of the unit tests, so that the pictures
always show the same values. The pictures have few colours, so that their files are small."""

import io
import re

from PIL import Image

from processes import TOP

PAGE = TOP / "docs/gateway/theming.md"
FOLDER = TOP / "docs/gateway/pictures"

#: Pages that are shown in light, in dark, and at 320 pixels; other pages are shown only in light.
MAIN = ["sign-in", "sign-up", "register", "account", "failure-providerUnavailable"]

#: Pages that differ only in their words (failures, forms with an error, results of a deletion): one of each kind is
#: shown.
ALIKE = re.compile(r"failure-|data-delet|register-(?!malformed)|welcome-(short|long|common|refused)|.*-wrong$")


def shown(names):
    return [name for name in names if name in MAIN or not ALIKE.match(name)]


def variants(name):
    """The file, the width and the colour scheme of each picture of a page."""
    yield f"{name}.png", 390, "light"
    if name in MAIN:
        yield f"{name}-dark.png", 390, "dark"
        yield f"{name}-320.png", 320, "light"


def missing(names):
    """The pictures that are missing in the folder or on the page, and the pictures that should not be there."""
    wanted = {file for name in shown(names) for file, _, _ in variants(name)}
    there = {path.name for path in FOLDER.glob("*.png")}
    linked = set(re.findall(r"pictures/([\w-]+\.png)", PAGE.read_text()))
    return sorted((wanted ^ there) | (wanted ^ linked))


def take(browser, base, names):
    for old in FOLDER.glob("*.png"):
        old.unlink()
    FOLDER.mkdir(exist_ok=True)
    for name in shown(names):
        for file, width, scheme in variants(name):
            context = browser.context(
                viewport={"width": width, "height": 300}, color_scheme=scheme, reduced_motion="reduce")
            page = context.new_page()
            page.goto(f"{base}/{name}.en.html")
            # Removes from the footer a language that only the tests have.
            page.evaluate("document.querySelector('footer [lang=ar]')?.closest('li').remove()")
            picture = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
            picture.quantize(48, dither=Image.Dither.NONE).save(FOLDER / file, optimize=True)
            context.close()
    text = PAGE.read_text()
    start, end = "<!-- pictures -->\n", "<!-- end of pictures -->"
    head, rest = text.split(start)
    PAGE.write_text(head + start + _rows(names) + end + rest.split(end)[1])


def _rows(names):
    rows = ["| page | picture |\n| --- | --- |\n"]
    for name in shown(names):
        pictures = " ".join(
            f'<img src="pictures/{file}" width="{width // 2}" alt="{name}, {width} pixels, {scheme}">'
            for file, width, scheme in variants(name))
        rows.append(f"| `{name}` | {pictures} |\n")
    return "".join(rows)
