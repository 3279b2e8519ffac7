"""The words of the command line, wherever the command runs."""

import subprocess

from cases import ENROLL, CommandCase
from terminal import TIMEOUT


class WordsTests(CommandCase):
    def test_they_are_read_where_proc_is_not_mounted(self):
        def hidden(*words):
            return subprocess.run(
                ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh", *words],
                env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT)

        if hidden("true").returncode:
            self.skipTest("a mount namespace is needed to hide /proc")
        shown = hidden(ENROLL, "--version")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertRegex(shown.stdout, r"^enroll \d+\.")
        self.assertEqual(hidden(ENROLL, "accounts", "--frobnicate").returncode, 2)
