"""Finds the texts that users read in the string literals of the sources, and finds the names in these texts:
options, commands, keys."""

import re

from processes import TOP

SOURCES = TOP / "Sources"
#: The character that replaces an interpolation in a literal.
HOLE = "…"
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
#: A key has several words, so that no English word looks like a key.
KEY = re.compile(r"(?<![\w./:#$-])[a-z]+[0-9]*(?:[A-Z][a-z0-9]+|URI|HTTP|ID)+(?!\.?[(\w/{])")
CALL = re.compile(r"(?<![\w./\\])(?:host\.)?[a-z]+\.[a-z][A-Za-z]+\b(?!\.?[(/\w])")


def read(text):
    """The string literals of a Swift source, each with its line. Comments are skipped."""
    found, at, size = [], 0, len(text)
    while at < size:
        if text.startswith("//", at):
            at = (text.find("\n", at) + 1) or size
        elif text.startswith("/*", at):
            at = text.index("*/", at) + 2
        elif text[at] in '"#' and (mark := re.compile(r'(#*)("""|")').match(text, at)):
            line = text.count("\n", 0, at) + 1
            words, at = _literal(text, mark.end(), mark[1], mark[2], found)
            found.append((line, words))
        else:
            at += 1
    return found


def _literal(text, at, hashes, quotes, found):
    """The text up to the closing quotes, and the index after the quotes."""
    words, escape, end = [], "\\" + hashes, quotes + hashes
    while not text.startswith(end, at):
        if text.startswith(escape + "(", at):
            at = _interpolation(text, at + len(escape) + 1, found)
            words.append(HOLE)
        elif text.startswith(escape, at):
            at += len(escape)
            words.append({"n": "\n", "t": "\t", '"': '"', "\\": "\\", "\n": ""}.get(text[at], HOLE))
            at = text.index("}", at) + 1 if text[at] == "u" else at + 1
        else:
            words.append(text[at])
            at += 1
    return "".join(words), at + len(end)


def _interpolation(text, at, found):
    """The index after the interpolation. Literals inside the interpolation are found, too."""
    depth = 1
    while depth:
        if mark := re.compile(r'(#*)("""|")').match(text, at):
            words, at = _literal(text, mark.end(), mark[1], mark[2], found)
            found.append((text.count("\n", 0, at) + 1, words))
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def sentences(*folders):
    """The place and the text of each literal that has several words, in the sources below these folders."""
    for folder in folders:
        for path in sorted((SOURCES / folder).rglob("*.swift")):
            for line, words in read(path.read_text()):
                if " " in words.strip():
                    yield f"{path.relative_to(SOURCES)}:{line}", words


def named(pattern, *folders):
    """Each name that the pattern finds, and the first place of each name."""
    places = {}
    for place, words in sentences(*folders):
        for name in pattern.findall(words):
            places.setdefault(name, place)
    return places
