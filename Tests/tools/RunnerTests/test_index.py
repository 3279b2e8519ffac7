"""Tests that scripts/test or scripts/torture runs every suite, and that Tests/README.md names each folder."""

import re
import unittest

from processes import TOP


class IndexTests(unittest.TestCase):
    def test_every_suite_is_run(self):
        found = [*TOP.glob("Tests/*/*/run"), *TOP.glob("bindings/*/test")]
        suites = [str(path.relative_to(TOP)) for path in found]
        self.assertGreater(len(suites), 15)
        texts = [(TOP / "scripts" / name).read_text() for name in ("test", "torture")]
        run = {word for text in texts for word in re.findall(r'"([\w/]+)"', text)}
        self.assertEqual([path for path in suites if path not in run], [], "add them to scripts/test")

    def test_what_a_suite_needs_is_there(self):
        text = (TOP / "scripts/test").read_text()
        names = set(re.findall(r'run\.\w+\("(\w+)"', text))
        needed = re.findall(r"needs=\[([^\]]*)\]|^BUILT = (.*)$", text, re.M)
        words = {word for found in needed for part in found for word in re.findall(r'"(\w+)"', part)}
        self.assertIn("build", words)
        self.assertEqual(words - names, set())

    def test_every_folder_is_in_the_index(self):
        page = (TOP / "Tests/README.md").read_text()
        groups = [path for path in (TOP / "Tests").iterdir() if path.is_dir()]
        self.assertEqual(sorted(path.name for path in groups), ["faces", "system", "tools", "units"])
        folders = [path.name for group in groups for path in group.iterdir() if path.is_dir() and path.name[0] not in "._"]
        shown = {word.removeprefix("tools/").removeprefix("system/") for word in re.findall(r"`([\w/]+)`", page)}
        missing = [name for name in folders if name not in shown]
        self.assertEqual(missing, [], "add them to Tests/README.md")
