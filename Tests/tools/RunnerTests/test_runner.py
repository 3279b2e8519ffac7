"""Runs Tests/faces/Support/runner.py over small suites, and checks its counts."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

from processes import TOP

RUNNER = TOP / "Tests/faces/Support/runner.py"

GOOD = """
    def test_good(self):
        pass
"""
#: The tests of a suite in addition to one passing test, and the last line of the runner's output.
SUITES = {
    "nothing else": ("", "1 passed, 0 failed"),
    "a failure": ("def test_bad(self): self.fail()", "1 passed, 1 failed"),
    "an error": ("def test_bad(self): 1 / 0", "1 passed, 1 failed"),
    "parts that fail": (
        "def test_bad(self):\n  for part in range(3):\n    with self.subTest(part): self.fail()", "1 passed, 1 failed"),
    "parts of two tests that fail": (
        "def bad(self):\n  for part in range(3):\n    with self.subTest(part): self.fail()\ntest_bad = test_worse = bad",
        "1 passed, 2 failed"),
    "a test that is skipped": ("def test_other(self): self.skipTest('no root here')", "1 passed, 0 failed"),
    "parts that are skipped": (
        "def test_other(self):\n  for part in range(3):\n    with self.subTest(part): self.skipTest('no root here')",
        "1 passed, 0 failed"),
    "a part that is skipped and one that fails": (
        "def test_other(self):\n  with self.subTest(1): self.skipTest('no')\n  with self.subTest(2): self.fail()",
        "1 passed, 1 failed"),
    "a failure that was expected and did not come": (
        "@unittest.expectedFailure\ndef test_other(self): pass", "1 passed, 1 failed"),
    "a class that does not end": ("@classmethod\ndef tearDownClass(cls): 1 / 0", "1 passed, 1 failed"),
    "a class that does not begin": ("@classmethod\ndef setUpClass(cls): 1 / 0", "0 passed, 1 failed"),
}  # fmt: skip


class RunnerTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="enroll-runner-")
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)

    def write(self, body="", name="test_it.py"):
        text = f"import os, unittest\nclass Tests(unittest.TestCase):{GOOD}{textwrap.indent(body, '    ')}\n"
        (self.home / name).write_text(text)

    def run_suite(self, *options, **environment):
        done = subprocess.run(
            [sys.executable, "-B", RUNNER, self.home, *options], capture_output=True, text=True,
            env={**os.environ, **environment})  # fmt: skip
        return done.returncode, done.stdout

    def test_the_last_line_counts_each_test_once(self):
        for name, (body, counts) in SUITES.items():
            with self.subTest(name):
                self.write(body)
                status, output = self.run_suite()
                self.assertEqual(output.splitlines()[-1], counts, output)
                self.assertEqual(status, 0 if counts == "1 passed, 0 failed" else 1)

    def test_a_reason_to_skip_is_shown(self):
        self.write("def test_other(self): self.skipTest('no root here')")
        self.assertIn("test_other", (output := self.run_suite()[1]))
        self.assertIn("no root here", output)

    def test_a_file_that_cannot_be_read_has_failed(self):
        self.write()
        self.write("def test_(", name="test_other.py")
        self.assertEqual(self.run_suite()[1].splitlines()[-1], "1 passed, 1 failed")

    def test_no_test_at_all_is_no_success(self):
        self.write()
        status, output = self.run_suite("-k", "nothing_like_it")
        self.assertEqual((status, output.splitlines()[-1]), (1, "0 passed, 0 failed"))

    def test_a_pattern_picks_tests(self):
        self.write("def test_bad(self): self.fail()")
        self.assertEqual(self.run_suite("-k", "good")[0], 0)

    def test_what_the_tests_share_is_ended_when_they_fail_too(self):
        self.write("def test_bad(self): import cases")
        (self.home / "cases.py").write_text("def tear_down():\n  print('all is put away')\n")
        self.assertIn("all is put away", self.run_suite()[1])

    def test_a_process_that_crashes_reports_no_counts(self):
        self.write("def test_bad(self): os.abort()")
        status, output = self.run_suite()
        self.assertNotEqual(status, 0)
        self.assertNotIn("passed", output)

    def test_programs_are_those_of_make_lib_of_the_environment_or_of_the_debug_build(self):
        self.write("def test_daemon(self): print('it is', os.environ['ENROLLD'])")
        clean = {"ENROLLD": str(TOP / "build/lib/enrolld")}
        for options, environment, path in (
            ((), clean, "build/lib/enrolld"),
            (("--debug",), clean, ".build/debug/enrolld"), ((), {"ENROLLD": "/somewhere/enrolld"}, "/somewhere/enrolld"),
        ):  # fmt: skip
            with self.subTest(path):
                self.assertIn(f"it is {TOP / path}\n", self.run_suite(*options, **environment)[1])
