"""No suite is forgotten: scripts/test or scripts/torture runs each, and Tests/README.md has a row for each folder."""

import re
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


class IndexTests(unittest.TestCase):
    def test_every_suite_is_run(self):
        suites = [path.relative_to(TOP) for pattern in ("Tests/*/run", "bindings/*/test") for path in TOP.glob(pattern)]
        self.assertGreater(len(suites), 15)
        texts = [(TOP / "scripts" / name).read_text() for name in ("test", "torture")]
        run = {word for text in texts for word in re.findall(r'"([\w/]+)"', text)}
        self.assertEqual([str(path) for path in suites if str(path) not in run], [], "add them to scripts/test")

    def test_what_a_suite_needs_is_there(self):
        text = (TOP / "scripts/test").read_text()
        names = set(re.findall(r'run\.\w+\("(\w+)"', text))
        needed = re.findall(r"needs=\[([^\]]*)\]|^BUILT = (.*)$", text, re.M)
        words = {word for found in needed for part in found for word in re.findall(r'"(\w+)"', part)}
        self.assertIn("build", words)
        self.assertEqual(words - names, set())

    def test_every_folder_is_in_the_index(self):
        page = (TOP / "Tests/README.md").read_text()
        folders = [path.name for path in (TOP / "Tests").iterdir() if path.is_dir() and path.name[0] not in "._"]
        shown = set(re.findall(r"`(\w+)`", page))
        missing = [name for name in folders if name not in shown and not re.fullmatch(r"Enroll\w+Tests", name)]
        self.assertEqual(missing, [], "add rows to Tests/README.md")
