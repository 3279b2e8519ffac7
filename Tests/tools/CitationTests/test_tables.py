"""Runs scripts/check-tables over pages with good and broken tables."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from processes import TOP

CHECK = TOP / "scripts/check-tables"

GOOD = {
    "a table": "Text.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nText.\n",
    "a table at the beginning, and one at the end": "| a |\n| --- |\n| 1 |\n\n| b | c |\n| :-- | --: |\n| 1 | 2 |",
    "an escaped divider, in code too": "| a | b |\n| --- | --- |\n| x \\| y | `z \\| z` |\n",
    "empty cells": "| | b |\n| --- | --- |\n| a | |\n",
    "a table in a list": "- A point:\n\n  | a | b |\n  | --- | --- |\n  | 1 | 2 |\n",
    "comments around a table": "<!-- drawn -->\n| a |\n| --- |\n| 1 |\n<!-- end -->\n",
    "a block of code": "```\n| a | b |\ncurl x |\n```\n",
    "code that shows a fence": "````\n```\n| a |\n````\n",
    "prose with a divider": "Either x | y, or `a | b`.\n",
}

#: A page, and the fault that is reported.
BAD = {
    "too few cells": ("| a | b |\n| --- | --- |\n| 1 |\n", "page.md:3: the row has 1 cells, the header 2"),
    "too many cells": ("| a | b |\n| --- | --- |\n| 1 | 2 | 3 |\n", "page.md:3: the row has 3 cells, the header 2"),
    "a divider in code": ("| a | b |\n| --- | --- |\n| 1 | `x | y` |\n", "page.md:3: the row has 3 cells, the header 2"),
    "a separator of another length": ("| a | b |\n| --- |\n| 1 | 2 |\n", "page.md:2: the row has 1 cells, the header 2"),
    "no separator": ("| a | b |\n| 1 | 2 |\n", "page.md:1: the line below the header is no separator"),
    "a header alone": ("| a | b |\n", "page.md:1: the line below the header is no separator"),
    "rows in one line": ("| a | b | | --- | --- | | 1 | 2 |\n| 3 | 4 |\n", "page.md:1: the line below the header is no separator"),
    "no empty line before it": ("Text.\n| a |\n| --- |\n| 1 |\n", "page.md:2: a table needs an empty line before it"),
    "no empty line after it": ("| a |\n| --- |\n| 1 |\nText.\n", "page.md:4: a table needs an empty line after it"),
    "a row that was wrapped": ("| a | b |\n| --- | --- |\n| 1 | a long\ntext |\n", "page.md:3: a row is one line that begins and ends with |"),
    "a row without its end": ("| a | b |\n| --- | --- |\n| 1 | 2\n", "page.md:3: a row is one line that begins and ends with |"),
    "a row without its beginning": ("| a | b |\n| --- | --- |\n1 | 2 |\n", "page.md:3: a row is one line that begins and ends with |"),
    "a table behind a block of code": ("```\n|\n```\n| a |\n| 1 |\n", "page.md:4: the line below the header is no separator"),
}  # fmt: skip


class TableTests(unittest.TestCase):
    def check(self, text):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "init", "-q", folder], check=True)
            (Path(folder) / "page.md").write_text(text)
            return subprocess.run([CHECK, folder], capture_output=True, text=True)


def good(name, text):
    def test(self):
        said = self.check(text)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)

    setattr(TableTests, "test_passes: " + name, test)


def bad(name, text, expected):
    def test(self):
        said = self.check(text)
        self.assertEqual(said.returncode, 1, said.stdout + said.stderr)
        self.assertTrue(said.stdout.startswith(expected), said.stdout)

    setattr(TableTests, "test_found: " + name, test)


for row in GOOD.items():
    good(*row)
for name, row in BAD.items():
    bad(name, *row)


if __name__ == "__main__":
    unittest.main()
