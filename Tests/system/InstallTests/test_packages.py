"""Tests of installing the packages that building and testing need: all packages of a goal are installed
before its first step, and the program waits for another running apt. The tests replace the system's programs:
nothing is installed."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from trees import TOP

PLAYED = {
    "swift": '[ "$1" = --version ] && { echo "Swift version 6.3"; exit; }; echo "swift $1" >>"$RECORD"; exit 1',
    # In this replacement, the packages that apt-get was asked to install count as installed.
    "dpkg-query": 'sed -n "s/.*--no-install-recommends //p" "$RECORD" | tr " " "\\n" | sed "s/$/ installed/"',
    "sudo": 'exec "$@"',
    "sleep": 'echo sleep >>"$RECORD"',
    "apt-get": 'echo "apt-get $*" >>"$RECORD"; rm "$LOCK" 2>/dev/null || exit 0; cat "$WORDS"; exit 100',
}
LOCKED = "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 4711 (unattended-upgr)\n"


def packages(name):
    """The packages of a line of scripts/packages."""
    lines = dict(re.findall(r"^(\w+): (.*)$", (TOP / "scripts/packages").read_text(), re.M))
    return set().union(*(packages(word) for word in lines[name].split())) if name in lines else {name}


class PackageTests(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="enroll-packages-")
        self.addCleanup(directory.cleanup)
        self.home = Path(directory.name)
        for name, body in PLAYED.items():
            program = self.home / "bin" / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(f"#!/bin/sh\n{body}\n")
            program.chmod(0o755)
        self.record, self.lock, self.words = self.home / "record", self.home / "lock", self.home / "words"
        self.record.touch()

    def run_played(self, *command, cwd=TOP, **environment):
        clean = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "QUICK")}
        played = {"PATH": f"{self.home}/bin:{os.environ['PATH']}", "RECORD": self.record, "LOCK": self.lock, "WORDS": self.words}
        return subprocess.run(command, cwd=cwd, env={**clean, **played, **environment}, capture_output=True, text=True)

    def did(self):
        return self.record.read_text().splitlines()

    def fresh(self):
        """A checkout in which nothing is built."""
        checkout = self.home / "checkout"
        for name in ("scripts", "Sources", "include", "docs", "Examples"):
            shutil.copytree(TOP / name, checkout / name)
        for name in ("Makefile", "Package.swift"):
            shutil.copy(TOP / name, checkout)
        return checkout

    def test_a_goal_asks_for_all_of_its_packages_before_its_first_step(self):
        checkout = self.fresh()
        (checkout / "scripts/test").write_text('#!/bin/sh\necho "the tests" >>"$RECORD"\n')
        for goal, name, step, environment in (
            ("lib", "lib", "swift build", {}),
            ("demo", "build", "swift build", {}),
            ("test", "test", "the tests", {}),
            ("test", "quick", "the tests", {"QUICK": "1"}),
            ("torture", "torture", "swift build", {}),
        ):
            with self.subTest(goal, **environment):
                self.record.write_text("")
                self.run_played("make", goal, cwd=checkout, **environment)
                update, install, first, *_ = self.did()
                self.assertEqual((update, first), ("apt-get update", step))
                asked = set(install.removeprefix("apt-get install -y --no-install-recommends ").split())
                self.assertEqual(asked, packages("build") | packages(name))

    def test_what_ships_is_built_once(self):
        for words in ([], ["TARGET=aarch64-linux-gnu"], ["HTTP=host"]):
            with self.subTest(words):
                told = self.run_played("make", "--always-make", "-n", "lib", *words).stdout
                self.assertEqual(re.findall(r"^scripts/build.*", told, re.M), ["scripts/build"])

    def test_every_script_asks_for_what_make_test_or_make_torture_has_asked_for(self):
        scripts = [TOP / name for name in subprocess.check_output(["git", "ls-files"], cwd=TOP, text=True).split()]
        called = set()
        for script in scripts:
            if script.is_file() and script.suffix in ("", ".py") and script.name not in ("Makefile", "setup.py"):
                text = script.read_bytes().decode(errors="replace")
                called |= set(re.findall(r'^[^#\n]*scripts/setup"?,? "?([\w.-]+)"?(?: *\|\|| *&&|$|\])', text, re.M))
        self.assertGreater(len(called), 10)
        called -= {"bench-gateway", "bench-mcp"}  # no test runs them
        self.assertEqual([name for name in sorted(called) if not packages(name) <= packages("test") | packages("torture")], [])

    def test_another_apt_at_work_is_waited_for_and_that_is_said_once(self):
        self.words.write_text(LOCKED)
        self.lock.touch()
        done = self.run_played(TOP / "scripts/setup")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split()[:2] for line in self.did()],
                         [["apt-get", "update"], ["sleep"], ["apt-get", "update"], ["apt-get", "install"]])
        self.assertEqual(done.stderr.count("another apt is at work; waiting for it"), 1)
        self.assertIn("process 4711 (unattended-upgr)", done.stderr)

    def test_what_else_apt_fails_with_is_shown_and_not_tried_again(self):
        self.words.write_text("E: Unable to fetch some archives\n")
        self.lock.touch()
        done = self.run_played(TOP / "scripts/setup")
        self.assertEqual((done.returncode, self.did()), (1, ["apt-get update"]))
        self.assertIn("Unable to fetch some archives", done.stderr)

    def test_the_hybrid_app_names_all_that_it_misses(self):
        done = self.run_played(TOP / "bindings/cordova/shell/build", self.home / "out")
        missing = re.search(r"missing Debian packages: (.*)", done.stderr)[1].split()
        self.assertEqual(set(missing), packages("build") | packages("shell"))
        self.assertIn("libwebkit2gtk-4.1-dev", missing)
