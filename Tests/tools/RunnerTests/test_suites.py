"""Runs scripts/suites.py with small suites, and checks its reports."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from processes import TOP

TIMEOUT = float(os.environ.get("TIMEOUT", 60))

PROGRAM = f"""import sys
sys.path.insert(0, {str(TOP / "scripts")!r})
import suites
suites.FAREWELL_SECONDS = 0.1
run = suites.Run("logs")
{{}}
sys.exit(run.finish())
"""


def meeting(own, other):
    """A script that waits for each step of the other script: two such scripts end only if they run at the same
    time."""
    return f"""echo {own} begins; for step in 1 2 3; do
        touch {own}$step; until [ -e {other}$step ]; do :; done; echo {own} $step; done; echo 1 passed, 0 failed"""


def heed_hangups():
    """Restores the default handling of SIGHUP, in the child. Otherwise the child would ignore SIGHUP if
    nohup(1) started the tests."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class SuitesTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="enroll-suites-")
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)

    def start(self, *lines, lanes=2):
        program = self.home / "program.py"
        program.write_text(PROGRAM.format("\n".join(lines)))
        process = subprocess.Popen(
            [sys.executable, "-B", program], cwd=self.home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "LANES": str(lanes)}, preexec_fn=heed_hangups)  # fmt: skip
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def run_suites(self, *lines, lanes=2):
        """The exit status and the output."""
        process = self.start(*lines, lanes=lanes)
        output, _ = process.communicate(timeout=TIMEOUT)
        return process.returncode, output

    def assertCounts(self, output, name, counts):
        self.assertRegex(output, rf"(?m)^== {name}: {counts} \(")

    @staticmethod
    def suite(name, script, more=""):
        return f"run.suite({name!r}, 'bash', '-c', {script!r}{more})"

    def test_the_last_line_adds_up_all_suites(self):
        status, output = self.run_suites(
            self.suite("a", "echo 3 passed, 0 failed"), self.suite("b", "echo 4 passed, 0 failed"),
            "run.step('c', 'true')")  # fmt: skip
        self.assertEqual((status, output.splitlines()[-1]), (0, "8 passed, 0 failed"))

    def test_a_suite_that_fails_hides_no_other(self):
        status, output = self.run_suites(
            self.suite("a", "echo 3 passed, 2 failed; exit 1"), self.suite("b", "echo 4 passed, 0 failed", ", needs=['a']"),
            "run.step('c', 'false')", lanes=1)  # fmt: skip
        self.assertEqual((status, output.splitlines()[-1]), (1, "7 passed, 3 failed"))
        self.assertIn("\nfailed: a, c;", output)

    def test_the_end_says_what_failed(self):
        _, output = self.run_suites(
            self.suite("a", "echo begins; echo 'not ok - the third'; echo 3 passed, 1 failed; exit 1"),
            self.suite("b", "echo one; echo two; exit 1"), self.suite("c", "echo 'not ok is no failure'; echo 1 passed, 0 failed"),
            lanes=1)  # fmt: skip
        end = output[output.index("processors\n") :]
        self.assertIn("\na:\n  not ok - the third\n\nb:\n  one\n  two\n\nfailed: a, b;", end)
        self.assertNotIn("is no failure", end)

    def test_a_suite_that_ends_without_its_counts_has_failed(self):
        for name, script in {
            "crashed": "echo 3 passed; kill -SEGV $$", "silent": "true", "unfinished": "echo '12 passed,'; exit 1",
            "elsewhere": "echo 'the first half: 3 passed, 0 failed'", "empty": "echo 0 passed, 0 failed",
        }.items():  # fmt: skip
            with self.subTest(name):
                status, output = self.run_suites(self.suite(name, script))
                self.assertEqual((status, output.splitlines()[-1]), (1, "0 passed, 1 failed"))

    def test_a_suite_that_ends_badly_after_its_counts_has_failed(self):
        for script in ("echo 3 passed, 0 failed; exit 1", "echo 3 passed, 0 failed; kill -KILL $$"):
            status, output = self.run_suites(self.suite("a", script))
            self.assertEqual((status, output.splitlines()[-1]), (1, "3 passed, 1 failed"))
        self.assertIn("ended by signal 9", output)

    def test_a_suite_that_does_not_start_has_failed(self):
        status, output = self.run_suites("run.suite('a', '/no/such/program')", "run.step('b', 'true')")
        self.assertEqual((status, output.splitlines()[-1]), (1, "1 passed, 1 failed"))
        self.assertIn("/no/such/program does not start", output)

    def test_nothing_that_ran_is_no_success(self):
        self.assertEqual(self.run_suites()[0], 1)

    def test_of_swift_the_tests_are_counted_that_ran_and_the_names_that_failed(self):
        failed = "echo '✘ Test \"a\" failed after 0.1 seconds with 2 issues.'; echo '✘ Suite X failed after 1 seconds.'"
        for script, counts in {
            "echo '✔ Test run with 9 tests in 2 suites passed after 1 seconds.'": "9 passed, 0 failed",
            f"{failed}; echo '✘ Test run with 9 tests in 2 suites failed after 1 seconds with 2 issues.'; exit 1":
                "8 passed, 1 failed",
            "echo '✔ Test run with 9 tests in 2 suites passed after 1 seconds.'; exit 3": "8 passed, 1 failed",
            f"{failed}; kill -ABRT $$": "0 passed, 1 failed",
            "echo '✔ Test run with 0 tests in 0 suites passed after 1 seconds.'": "0 passed, 1 failed",
            "printf '\\033[91m✘\\033[0m Test a() failed after 1 seconds.\\n\\033[91m✘\\033[0m Test b() failed after 1 seconds.\\n';"
            "printf '\\033[91m✘\\033[0m Test run with 9 tests failed after 1 seconds.\\n'; exit 1": "7 passed, 2 failed",
        }.items():  # fmt: skip
            with self.subTest(script):
                _, output = self.run_suites(f"run.swift('a', 'bash', '-c', {script!r})")
                self.assertEqual(output.splitlines()[-1], counts)

    def test_two_suites_run_side_by_side_and_each_is_shown_in_one_piece(self):
        status, output = self.run_suites(self.suite("a", meeting("a", "b")), self.suite("b", meeting("b", "a")))
        self.assertEqual(status, 0, output)
        for name in "ab":
            whole = f"== {name}\n{name} begins\n{name} 1\n{name} 2\n{name} 3\n1 passed, 0 failed\n== {name}: 1 passed, 0 failed ("
            self.assertIn(whole, output)

    def test_no_more_suites_run_at_a_time_than_there_are_lanes(self):
        script = "mkdir one || exit 1; for turn in {1..2000}; do :; done; rmdir one; echo 1 passed, 0 failed"
        for more in ("", ", waits=True"):
            with self.subTest(more):
                _, output = self.run_suites(*(self.suite(name, script, more) for name in "abcdef"), lanes=1)
                self.assertEqual(output.splitlines()[-1], "6 passed, 0 failed")

    def test_a_suite_that_waits_takes_no_lane_from_one_that_works(self):
        status, output = self.run_suites(
            self.suite("a", meeting("a", "b"), ", waits=True"), self.suite("b", meeting("b", "a")), lanes=1)
        self.assertEqual(status, 0, output)

    def test_the_log_ends_with_the_seconds_of_each_suite_and_the_counts(self):
        burn = f"{sys.executable} -c 'import time\nwhile time.process_time() < 0.6: pass'"
        # The suite "forsaken" does not wait(2) for its background process. The background process of "away"
        # leaves the session. The suite reads a line from this process, which then ends later than the suite.
        scripts = {"idle": "true", "busy": burn, "forsaken": f"mkfifo own; ({burn}; {burn}; echo >own) & cat own",
                   "away": f"mkfifo far; setsid bash -c \"{burn}; echo >far; while kill -0 $$; do :; done\" & cat far"}  # fmt: skip
        _, output = self.run_suites(*(self.suite(name, f"{script}; echo 1 passed, 0 failed") for name, script in scripts.items()))
        *_, table, counts = output.strip().split("\n\n")
        self.assertEqual(counts, "4 passed, 0 failed")
        title, *rows = (line.split(maxsplit=2) for line in table.splitlines())
        self.assertEqual(title, ["clock", "processors"])
        *suites, elsewhere, everything = rows
        self.assertEqual([row[2] for row in suites[:2]], ["forsaken", "busy"])
        self.assertEqual({row[2] for row in suites[2:]}, {"idle", "away"})
        self.assertEqual((elsewhere[0], everything[2]), ("1", "all"))
        self.assertGreaterEqual(int(everything[1]), 2)

    def test_a_suite_waits_for_those_that_it_needs(self):
        script = "[ -e built ] && echo 1 passed, 0 failed"
        _, output = self.run_suites(
            self.suite("a", script, ", needs=['late', 'not in this run']"), self.suite("b", script, ", needs=['late']"),
            "run.step('late', 'touch', 'built')")  # fmt: skip
        self.assertEqual(output.splitlines()[-1], "3 passed, 0 failed")

    def test_suites_that_need_one_another_are_an_error(self):
        status, output = self.run_suites("run.step('a', 'true', needs=['b'])", "run.step('b', 'true', needs=['a'])")
        self.assertEqual(status, 1)
        self.assertIn("these need one another: a, b", output)

    def test_a_suite_that_is_alone_has_the_machine(self):
        # The other suites run for a while; the suite that must run alone looks for them during the same time.
        alone = "for turn in {1..20000}; do [ -e b.here -o -e c.here ] && exit 1; done; echo 1 passed, 0 failed"
        other = "touch $0.here; for turn in {1..20000}; do [ -e $0.here ]; done; rm $0.here; echo 1 passed, 0 failed"
        _, output = self.run_suites(
            self.suite("b", other, ", 'b'"), self.suite("a", alone, ", 'a', alone=True"),
            self.suite("c", other, ", 'c', needs=['b']"), lanes=3)  # fmt: skip
        self.assertEqual(output.splitlines()[-1], "3 passed, 0 failed")

    def test_what_a_suite_leaves_running_ends_with_it(self):
        left = "sleep 1000 & echo $! >left; echo 1 passed, 0 failed"
        other = "while kill -0 $(<left); do :; done; echo 1 passed, 0 failed"
        _, output = self.run_suites(self.suite("a", left), self.suite("b", other, ", needs=['a']"))
        self.assertEqual(output.splitlines()[-1], "2 passed, 0 failed")

    def test_what_left_its_suite_ends_with_the_run(self):
        away = "mkfifo on; setsid bash -c 'echo $$ >left; echo >on; exec sleep 1000' & cat on; echo 1 passed, 0 failed"
        self.run_suites(self.suite("a", away))
        self.assertGone(int((self.home / "left").read_text()))

    def test_an_interrupted_suite_may_tidy_up(self):
        os.mkfifo(self.home / "ready")
        script = "trap 'echo >tidy; kill $!; exit' INT; echo >ready; sleep 1000 & wait"
        process = self.start("suites.FAREWELL_SECONDS = 60", self.suite("a", script))
        (self.home / "ready").read_text()
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=TIMEOUT)
        self.assertTrue((self.home / "tidy").exists(), output)

    def test_an_interrupt_ends_every_process_of_every_suite(self):
        # One process is in the suite's group, one has left the group, and one ignores the signals.
        script = """sleep 1000 & echo $! >"$0.same"
            setsid bash -c 'trap "" INT TERM; echo $$ >"$0.away"; echo >&3; sleep 1000' "$0" & wait"""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                os.mkfifo(self.home / "ready")
                suites = [f"run.suite({name!r}, 'bash', '-c', {'exec 3>ready; ' + script!r}, {name!r})" for name in "ab"]
                process = self.start(*suites)
                with open(self.home / "ready") as ready:
                    for _ in "ab":
                        ready.readline()
                (self.home / "ready").unlink()
                process.send_signal(number)
                output, _ = process.communicate(timeout=TIMEOUT)
                self.assertEqual(process.returncode, 1)
                self.assertIn(f"{number.name}: ended while these ran: a, b", output)
                for path in self.home.glob("[ab].*"):
                    self.assertGone(int(path.read_text()))

    def assertGone(self, process):
        try:
            state = re.search(r"^State:\s+(\w)", Path(f"/proc/{process}/status").read_text(), re.M)[1]
        except FileNotFoundError:
            return
        self.assertEqual(state, "Z")
