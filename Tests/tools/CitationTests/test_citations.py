"""Runs scripts/check-citations on folders with good and bad citations."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from processes import TOP

CHECK = TOP / "scripts/check-citations"

PAGES = {
    "README.md": "# The project\n\n## More\n",
    "docs/rules.md": "# The rules\n\n| rule | says |\n| --- | --- |\n| R1 | This. |\n| R2 | That. |\n",
    "docs/flows.md": "# Flows\n\n## 1. Set-up\n\n## 2. Sign in\n\n### 2.1 With a `prompt`\n\n### Check registration\n\n## Check it\n",
    "bindings/README.md": "# A binding\n",
}

#: A file and its text.
GOOD = {
    "a page in docs by its name": ("a.swift", "// As flows.md says."),
    "a page by its path": ("a.swift", "// As docs/flows.md says."),
    "a page beside the file": ("bindings/a.py", "# As README.md says."),
    "a numbered section": ("a.swift", "// A comment (flows.md §2, R1)."),
    "several sections": ("a.swift", "/// The way (flows.md §1, §2 and §2.1, RFC 6749 §4.1)."),
    "a section by its title": ("a.py", '"""The check (docs/flows.md, Check registration; R2)."""'),
    "a title without its number": ("a.c", "/* Beginning (flows.md, Set-up). */"),
    "a title with code in it": ("a.c", "/* Asking (flows.md, With a prompt). */"),
    "a title behind a number": ("a.c", "/* Asking (flows.md §2, Check registration). */"),
    "a citation that is divided between two lines": ("a.swift", "/// The check (flows.md,\n  /// Check registration)."),
    "a specification": ("a.swift", "// Pushed (flows.md §2, RFC 9126 §99, OpenID Connect Core §77.7)."),
    "an anchor": ("docs/other.md", "See [flows](flows.md#21-with-a-prompt) and [more](../README.md#more)."),
    "an anchor of the same page": ("docs/other.md", "# Other\n\n## What's `new`, here\n\n[New](#whats-new-here)"),
    "a page elsewhere": ("docs/other.md", "See [theirs](https://example.org/theirs.md#nothing) or https://example.org/x.md."),
    "a link in code": ("docs/other.md", "```\n[this](nowhere)\n```\n"),
    "rules, and a range of them": ("a.swift", "// Refused (R1-R2)."),
    "words that are no rules": ("a.swift", "// HR99, R99x and 1.R99."),
}  # fmt: skip

#: For each fault: a file, its text, and the report that is expected.
BAD = {
    "a page that is not there": ("a.swift", "let x = 1\n// As design.md says.", "a.swift:2: design.md: no such page"),
    "a page at another path": ("a.swift", "// As doc/flows.md says.", "a.swift:1: doc/flows.md: no such page"),
    "a page by another case": ("a.py", "# As Flows.md says.", "a.py:1: Flows.md: no such page"),
    "a number that the page does not have": ("a.swift", "// (flows.md §3)", "a.swift:1: flows.md §3: docs/flows.md does not have"),
    "one of several numbers": ("a.swift", "\n\n// (flows.md §1, §2, §7)", "a.swift:3: flows.md §7: docs/flows.md does not have"),
    "a subsection": ("a.c", "/* (flows.md §2.2) */", "a.c:1: flows.md §2.2: docs/flows.md does not have"),
    "a number without its sign": ("a.c", "/* (flows.md 2). */", "a.c:1: flows.md 2: a section is cited by its sign: write flows.md §2"),
    "a title": ("a.py", "# (docs/flows.md, Check nothing)", "a.py:1: docs/flows.md, Check nothing: docs/flows.md does not have"),
    "a part of a word of a title": ("a.py", "# (flows.md, Check items)", "a.py:1: flows.md, Check items: docs/flows.md does not have"),
    "a title without a comma": ("a.py", "# (R1, flows.md PIN)", "a.py:1: flows.md, PIN: docs/flows.md does not have"),
    "a title on the next line": ("a.swift", "/// So (flows.md,\n/// Nothing).", "a.swift:1: flows.md, Nothing: docs/flows.md does not have"),
    "a title behind a number": ("a.swift", "// (flows.md §2, Nothing)", "a.swift:1: flows.md, Nothing: docs/flows.md does not have"),
    "an anchor": ("docs/other.md", "[x](flows.md#nothing)", "docs/other.md:1: flows.md#nothing: docs/flows.md does not have"),
    "an anchor of the same page": ("docs/other.md", "# Other\n\n[x](#nothing)", "docs/other.md:3: #nothing: docs/other.md does not have"),
    "a link that leads nowhere": ("docs/other.md", "[x](README.md)", "docs/other.md:1: README.md: the link leads to no file"),
    "a link to a program": ("README.md", "[x](bin/nothing)", "README.md:1: bin/nothing: the link leads to no file"),
    "a rule": ("a.swift", 'throw Refusal("never (R3)")', "a.swift:1: R3: docs/rules.md has the rules R1 to R2"),
    "the end of a range of rules": ("a.swift", "// R1-R9", "a.swift:1: R9: docs/rules.md has the rules R1 to R2"),
}  # fmt: skip


class CitationTests(unittest.TestCase):
    def check(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "init", "-q", folder], check=True)
            for path, content in {**PAGES, name: text}.items():
                file = Path(folder) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(content)
            return subprocess.run([CHECK, folder], capture_output=True, text=True)


def good(name, text):
    def test(self):
        said = self.check(*text)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)

    setattr(CitationTests, "test_passes: " + name, test)


def bad(name, file, text, expected):
    def test(self):
        said = self.check(file, text)
        self.assertEqual(said.returncode, 1, said.stdout + said.stderr)
        lines = said.stdout.splitlines()
        self.assertEqual(len(lines), 2, said.stdout)
        self.assertTrue(lines[0].startswith(expected), said.stdout)

    setattr(CitationTests, "test_found: " + name, test)


for row in GOOD.items():
    good(*row)
for what, row in BAD.items():
    bad(what, *row)
