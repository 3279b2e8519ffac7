"""Runs scripts/check-lengths over folders with files of all lengths."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from processes import TOP

CHECK = TOP / "scripts/check-lengths"


class LengthTests(unittest.TestCase):
    def check(self, name, lines):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / name
            file.parent.mkdir(parents=True)
            file.write_text("// A line.\n" * lines)
            return subprocess.run([CHECK, folder], capture_output=True, text=True)

    def test_a_source_of_350_lines_passes(self):
        self.assertEqual(self.check("Sources/A/B.swift", 350).returncode, 0)

    def test_a_longer_one_is_found_and_the_message_says_what_to_do(self):
        for name in ("Sources/A/B.swift", "Sources/A/B/C/D.swift", "Sources/A/b.h"):
            with self.subTest(name):
                said = self.check(name, 351)
                self.assertEqual(said.returncode, 1, said.stdout)
                self.assertIn(f"{name}: 351 lines; a file has 350 at most. Split it by concept", said.stdout)

    def test_tests_and_pages_may_be_longer(self):
        for name in ("Tests/A/B.swift", "Sources/A/A.docc/Page.md"):
            self.assertEqual(self.check(name, 351).returncode, 0)

    def test_the_repository_passes(self):
        said = subprocess.run([CHECK], capture_output=True, text=True)
        self.assertEqual(said.returncode, 0, said.stdout)
