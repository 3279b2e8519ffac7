"""Runs scripts/check-subjects on repositories whose commits have short and long subjects."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from processes import TOP

CHECK = TOP / "scripts/check-subjects"
GIT = "git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"

#: The longest subject that is allowed: 60 characters, not bytes.
LONGEST = "é" * 60


class SubjectTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.repository = self.folder / "repository"
        self.git("init", "-q", "-b", "main", self.repository, at=self.folder)

    def git(self, *words, at=None):
        subprocess.run([*GIT, *words], cwd=at or self.repository, check=True, capture_output=True)

    def commit(self, subject):
        self.git("commit", "-q", "--allow-empty", "-m", subject, "-m", "A body " * 20)

    def add_check(self, subject="A check of subjects"):
        script = self.repository / "scripts/check-subjects"
        script.parent.mkdir()
        script.write_text("It.\n")
        self.git("add", ".")
        self.commit(subject)

    def clone(self, depth):
        clone = self.folder / f"clone-{depth}"
        self.git("clone", "-q", "--depth", str(depth), f"file://{self.repository}", clone, at=self.folder)
        return clone

    def check(self, folder=None):
        return subprocess.run([CHECK, folder or self.repository], capture_output=True, text=True)

    def assertPasses(self, said, count):
        self.assertEqual((said.returncode, said.stdout), (0, f"subjects: {count}, 0 faults\n"), said.stderr)

    def test_a_subject_of_60_characters_passes(self):
        self.add_check()
        self.commit(LONGEST)
        self.assertPasses(self.check(), 2)

    def test_a_longer_one_is_found_and_the_message_says_what_to_do(self):
        self.add_check()
        self.commit(LONGEST + "x")
        self.commit("Short again")
        said = self.check()
        self.assertEqual(said.returncode, 1, said.stdout)
        self.assertIn(f": the subject has 61 characters, not 60 at most: {LONGEST}x\n", said.stdout)
        self.assertIn("Shorten the subject", said.stdout)

    def test_the_commit_that_adds_the_check_counts(self):
        self.add_check(LONGEST + "x")
        self.assertEqual(self.check().returncode, 1)

    def test_older_commits_do_not_count(self):
        self.commit(LONGEST + " before there was a check")
        self.add_check()
        self.assertPasses(self.check(), 1)

    def test_a_merge_does_not_count(self):
        self.add_check()
        self.git("checkout", "-q", "-b", "other")
        self.commit("Elsewhere")
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "--no-ff", "-m", "Merge " + LONGEST, "other")
        self.assertPasses(self.check(), 3)
        self.assertPasses(self.check(self.clone(1)), 1)

    def test_a_shallow_clone_checks_what_it_has(self):
        self.commit(LONGEST + " before there was a check")
        self.add_check()
        self.commit(LONGEST + " too long")
        self.commit("Short")
        self.assertPasses(self.check(self.clone(1)), 1)
        self.assertEqual(self.check(self.clone(2)).returncode, 1)

    def test_without_history_there_is_nothing_to_check(self):
        archive = self.folder / "archive"
        archive.mkdir()
        self.assertPasses(self.check(archive), 0)
        self.assertPasses(self.check(), 0)


if __name__ == "__main__":
    unittest.main()
