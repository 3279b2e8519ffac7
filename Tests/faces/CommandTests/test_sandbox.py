"""The sandbox as a program: the output that its user sees, and events that must not end it."""

import json
import re
import subprocess
import unittest
import urllib.request

from cases import ENROLL
from sandbox import PROGRAM


class Log(unittest.TestCase):
    def test_a_log_that_cannot_be_written_ends_nothing(self):
        with open("/dev/full", "wb") as full:
            sandbox = subprocess.Popen(
                [PROGRAM, "--port", "0", "--exit-with-stdin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=full
            )
        with sandbox:
            issuer = json.loads(sandbox.stdout.readline())["issuer"]
            for _ in range(3):
                with urllib.request.urlopen(f"{issuer}/.well-known/openid-configuration") as answer:
                    self.assertEqual(json.load(answer)["issuer"], issuer)
            sandbox.stdin.close()
            self.assertEqual(sandbox.wait(timeout=60), 0)


class Hints(unittest.TestCase):
    def test_a_command_to_copy_stands_in_one_line_of_the_help(self):
        for width in ("40", "80"):
            done = subprocess.run(
                [ENROLL, "help", "git"], capture_output=True, text=True, env={"COLUMNS": width}, check=True)
            self.assertRegex(done.stdout, re.compile(r"git config --global --add \S+ '!enroll credential git --host \S+'$", re.M))


class Users(unittest.TestCase):
    def test_a_user_has_a_name(self):
        done = subprocess.run([PROGRAM, "--user", ""], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (64, ""))
        self.assertIn("--user expects the name of a user.", done.stderr)
