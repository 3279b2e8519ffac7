#!/usr/bin/env python3
"""Writes the examples of the READMEs, of the articles (Sources/EnrollKit/EnrollKit.docc) and of the guides in docs/.

Each block is a copy of the file that it names, or of a part between `// example: NAME` and `// end` (in Python `#
example: NAME` and `# end`, in HTML in a comment). `readme.py --write` copies the files into the pages.
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[3]
README = ROOT / "README.md"
PROGRAMS = ROOT / "docs/programs.md"
TUTORIAL = sorted((ROOT / "docs/tutorial").glob("*.md"))
ARTICLES = sorted((ROOT / "Sources/EnrollKit/EnrollKit.docc").glob("*.md"))
GUIDES = [ROOT / "docs/resources.md", PROGRAMS, *TUTORIAL, *sorted((ROOT / "docs/gateway").glob("*.md"))]
PAGES = (README, *sorted((ROOT / "bindings").glob("*/README.md")), *ARTICLES, *GUIDES)
BLOCK = re.compile(r"(<!-- example: (\S+) -->\n```\w*\n)(.*?)(```\n)", re.S)


def example(name):
    """The text of a file or, for `FILE#NAME`, of a part of the file."""
    path, _, part = name.partition("#")
    text = (ROOT / path).read_text()
    if not part:
        return text
    mark = r"^ *(?://|#|<!--) "
    found = re.search(rf"{mark}example: {part}(?: -->)?\n(.*?){mark}end(?: -->)?$", text, re.S | re.M)
    if found is None:
        raise AssertionError(f"no example {part} in {path}")
    return textwrap.dedent(found[1])


def write():
    for page in PAGES:
        page.write_text(BLOCK.sub(lambda found: found[1] + example(found[2]) + found[4], page.read_text()))


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: readme.py --write")
    write()
