"""Tests that `make release` continues if everything agrees, and names everything that does not agree. The
release runs in a temporary clone."""

import os
import re
import subprocess
import unittest

from cases import VERSION, copy_of_the_checkout, torture_only
from test_dist import TARGETS


@torture_only
class Releases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.clone = copy_of_the_checkout()
        cls.deepen()
        # The checks ask whether each target is built. Only `make torture` builds and packs the targets for musl.
        for target in TARGETS:
            (cls.clone / "build" / target / "lib").mkdir(parents=True, exist_ok=True)
            (cls.clone / "build" / target / "lib/libenroll.so.0").touch()
        cls.edit("CHANGELOG.md", r"\A(.*?\n)## .*?\n", rf"\1## {VERSION} - 2026-11-24\n")
        cls.commit("A release")

    @classmethod
    def deepen(cls):
        """Makes a shallow clone complete: its files become one commit without a parent. The clone of a shallow
        checkout is shallow, too."""
        shallow = cls.clone / ".git/shallow"
        if shallow.exists():
            subprocess.run(["git", "-C", cls.clone, "checkout", "--quiet", "--orphan", "whole"], check=True)
            cls.commit("Everything")
            shallow.unlink()

    @classmethod
    def edit(cls, name, pattern, replacement):
        path = cls.clone / name
        text = path.read_text()
        changed = re.sub(pattern, replacement, text, count=1, flags=re.S)
        assert changed != text, name
        path.write_text(changed)

    @classmethod
    def commit(cls, words):
        person = "-c", "user.name=t", "-c", "user.email=t@example.com"
        subprocess.run(["git", *person, "-C", cls.clone, "commit", "--quiet", "--all", "--message", words], check=True)

    def release(self, *words):
        """Runs the release; returns its status, and the lines that report faults."""
        environment = {
            name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "VERSION")
        }
        done = subprocess.run([self.clone / "scripts/release", *words], capture_output=True, text=True, env=environment)
        return done.returncode, re.findall(r"^release: (.*)$", done.stderr, re.M), done.stdout

    def test_when_all_agree_the_checks_pass(self):
        status, faults, told = self.release("--checks", VERSION)
        self.assertEqual((status, faults), (0, []), told)

    def test_each_thing_that_does_not_agree_is_named(self):
        other = "9.8.7"
        quoted = rf'"{other}"'
        member = '"version": "[^"]*"', f'"version": {quoted}'
        line = '\nversion = "[^"]*"', f"\nversion = {quoted}"
        end = r"\Z"
        git = "https://example.org/enrollkit.git"
        for name, pattern, replacement, *said in (
            ("CHANGELOG.md", rf"## {VERSION} - \S+", "## Unreleased",
             "CHANGELOG.md begins with", "Debian's packages would have the version"),
            ("CHANGELOG.md", rf"## {VERSION} - \S+", f"## {VERSION}", "CHANGELOG.md begins with"),
            ("Sources/EnrollHost/LibraryVersion.swift", 'let string = "[^"]*"', f"let string = {quoted}",
             "LibraryVersion.swift says 9.8.7"),
            ("bindings/python/pyproject.toml", *line, "pyproject.toml says 9.8.7"),
            ("bindings/cordova/package.json", *member, "cordova/package.json says 9.8.7"),
            ("bindings/node/package.json", *member, "node/package.json says 9.8.7"),
            ("bindings/cordova/www/enroll.d.ts", r"manifest of EnrollKit \S+ by", f"manifest of EnrollKit {other} by",
             "enroll.d.ts says 9.8.7"),
            ("bindings/cordova/plugin.xml", 'version="[^"]*">', f"version={quoted}>", "plugin.xml says 9.8.7"),
            ("bindings/kotlin/build.gradle.kts", *line, "build.gradle.kts says 9.8.7"),
            # If a page names artefacts, their version must be the version of the release.
            ("README.md", end, "\nnpm install ./enrollkit-9.8.7.tgz\n", f"says enrollkit-9.8.7; write {VERSION}"),
            ("bindings/node/README.md", end, "\n./libenroll0_9.8.7-1_amd64.deb\n",
             f"says libenroll0_9.8.7; write {VERSION}"),
            ("README.md", end, f'\n.package(url: "{git}", from: {quoted})\n', f"says from: {quoted}; write {VERSION}"),
            ("include/enroll.h", r"#define ENROLL_ABI_VERSION \d+", "#define ENROLL_ABI_VERSION 77",
             "include/enroll.h has ENROLL_ABI_VERSION 77", "the recorded binary interface", "build/lib/enrolld says"),
            ("include/enroll.h", r"enroll_version_string\(void\)", "enroll_version_string(int x)",
             "the recorded binary interface"),
        ):  # fmt: skip
            with self.subTest(name, said=said):
                self.edit(name, pattern, replacement)
                self.commit("Something else")
                status, faults, _ = self.release("--checks", VERSION)
                subprocess.run(["git", "-C", self.clone, "reset", "--quiet", "--hard", "HEAD~1"], check=True)
                self.assertEqual(status, 1)
                for words in said:
                    self.assertTrue(any(words in fault for fault in faults), faults)
                # No other fault is reported, except the faults that follow from a changed version number of
                # the library.
                if "LibraryVersion" not in name:
                    self.assertEqual(len(faults), len(said), faults)

    def test_a_tree_with_changes_and_a_tag_that_is_taken_are_refused(self):
        (self.clone / "left.txt").write_text("not committed")
        subprocess.run(["git", "-C", self.clone, "tag", VERSION], check=True)
        status, faults, _ = self.release("--checks", VERSION)
        (self.clone / "left.txt").unlink()
        subprocess.run(["git", "-C", self.clone, "tag", "--delete", VERSION], check=True, capture_output=True)
        self.assertEqual(status, 1)
        self.assertIn("left.txt", faults[0])
        self.assertEqual(faults[1], f"there is a tag {VERSION} already")

    def test_a_shallow_clone_and_a_git_that_fails_are_refused(self):
        shallow = self.clone / ".git/shallow"
        commit = subprocess.check_output(["git", "-C", self.clone, "rev-parse", "HEAD"], text=True)
        shallow.write_text(commit)
        try:
            status, faults, _ = self.release("--checks", VERSION)
        finally:
            shallow.unlink()
        self.assertEqual((status, len(faults)), (1, 1), faults)
        self.assertIn("this clone is shallow", faults[0])
        head = self.clone / ".git/HEAD"
        kept = head.read_text()
        head.write_text("nothing that git knows\n")
        try:
            status, faults, _ = self.release("--checks", VERSION)
        finally:
            head.write_text(kept)
        self.assertEqual((status, len(faults)), (1, 1), faults)
        self.assertRegex(faults[0], r"^(git|in) .*A release needs a clone in which git works\.$")

    def test_a_target_that_is_missing_or_for_this_machine_alone_is_named_with_the_command_that_builds_it(self):
        for target in TARGETS:
            built, away = (self.clone / "build" / name for name in (target, f"away-{target}"))
            built.rename(away)
            try:
                status, faults, _ = self.release("--checks", VERSION)
            finally:
                away.rename(built)
            self.assertEqual((status, len(faults)), (1, 1), faults)
            # Plain `make lib` has built the target of this machine.
            own = f"{os.uname().machine}-linux-gnu"
            why = "built for the C library of this machine alone" if target == own else "not built"
            self.assertRegex(faults[0], rf"^{target} is {why}.*; run make lib TARGET={target}$")

    def test_a_daemon_of_another_version_is_told_from_the_sources(self):
        daemon = self.clone / "build/lib/enrolld"
        kept = daemon.read_bytes()
        daemon.unlink()
        try:
            self.assertIn("build/lib/enrolld is not built; run make lib", self.release("--checks", VERSION)[1])
            daemon.write_text('#!/bin/sh\necho \'{"version": "0.0.9", "abi": 1}\'\n')
            daemon.chmod(0o755)
            self.assertIn("build/lib/enrolld says 0.0.9 with interface 1", self.release("--checks", VERSION)[1][0])
        finally:
            daemon.write_bytes(kept)

    def test_a_version_is_three_numbers(self):
        for words in ((), ("1.2",), ("v1.2.3",), ("1.2.3", "1.2.4")):
            self.assertEqual(self.release(*words)[0], 1)

    def test_the_whole_of_a_release_says_what_to_push_where(self):
        status, faults, told = self.release(VERSION)
        self.assertEqual((status, faults), (0, []), told)
        for words in ("git tag --sign", "twine upload", "npm publish", "Maven Central", "reprepro", "SHA256SUMS"):
            self.assertIn(words, told)
        listed = subprocess.check_output(["git", "-C", self.clone, "tag"], text=True)
        self.assertEqual(listed.strip(), "")

    def test_unsafe_flags_in_a_product_end_the_release(self):
        self.edit(
            "Package.swift",
            r"let strict: \[SwiftSetting\] = \[",
            'let strict: [SwiftSetting] = [\n  .unsafeFlags(["-Ounchecked"]),',
        )
        self.commit("Unsafe")
        status, faults, _ = self.release(VERSION)
        subprocess.run(["git", "-C", self.clone, "reset", "--quiet", "--hard", "HEAD~1"], check=True)
        self.assertEqual(status, 1)
        self.assertIn("unsafe build flags", faults[-1])
