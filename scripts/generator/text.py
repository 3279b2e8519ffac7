"""Text for comments and pages: sentences, wrapped lines, marked parts of files."""

import re
import textwrap

from .manifest import Refused

WIDTH = 120


def capital(text):
    return text[:1].upper() + text[1:]


def sentence(text):
    """The text with a capital letter at its start and a full stop at its end. A word of the protocol at its start
    (`prompt=none, …`, `unlocked: …`) does not change."""
    text = (text or "").strip()
    if not text:
        return text
    if not re.match(r"[\w=]+[,:;]", text) and not re.match(r"\w+[=(]", text):
        text = capital(text)
    return text if text[-1] in ".…?!" else text + "."


def lines(text, width, first="", rest=""):
    """Text as lines of at most `width` characters; `first` begins the first line, `rest` the others."""
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def replaced(page, part, text, opened="<!-- {} -->", closed="<!-- end of {} -->"):
    """The page with a new text between the two lines that mark a part."""
    first, last = opened.format(part) + "\n", "\n" + closed.format(part)
    if page.count(first) != 1 or page.count(last) != 1:
        raise Refused(f"the lines {first.strip()!r} and {last.strip()!r} must each be there once. Put them back.")
    before, rest = page.split(first)
    _, after = rest.split(last)
    return before + first + text + last + after
