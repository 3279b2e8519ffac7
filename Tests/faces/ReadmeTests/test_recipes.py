"""The Python blocks of docs/recipes.md run, each with a signed-in account; the blocks for a terminal name options
that exist."""

import os
import re
import subprocess
import sys
import unittest

from processes import workspace
from readme import ROOT
from sandbox import Sandbox
from test_readme import PYTHON

PAGE = (ROOT / "docs/recipes.md").read_text()
ENROLL = os.environ.get("ENROLL") or str(ROOT / "build/bin/enroll")
#: Runs before each block, and defines the names that the block uses.
BEFORE = """
import sys
sys.path.insert(0, sys.argv[3])
import enrollkit
from sign_in import play_user
store = sys.argv[2]
configuration = {"issuer": sys.argv[1], "client_id": "sample-app", "redirect_uri": "http://127.0.0.1/callback",
                 "allow_loopback_http": True}
input = lambda question: "1976"
def show_offline(retry_after): raise SystemExit("offline")
def show_sign_in(): raise SystemExit("nobody")
import threading
for account in ("default", "home", "work"):
    client = enrollkit.Client(configuration, store=store, account=account)
    client.sign_in(confirm=lambda profile: True,
                   present=lambda action: threading.Thread(target=play_user, args=[action.url]).start())
    if account != "default":
        client.close()
client = enrollkit.Client(configuration, store=store)
"""


class RecipeTests(unittest.TestCase):
    def test_each_block_of_python_runs(self):
        blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
        self.assertGreaterEqual(len(blocks), 4)
        with Sandbox() as sandbox:
            for block in blocks:
                with self.subTest(block.splitlines()[0]):
                    store = workspace("recipe") / "store"
                    done = subprocess.run(
                        [sys.executable, "-c", BEFORE + block, sandbox.issuer, store, ROOT / "Tests/faces/CTests"],
                        capture_output=True, text=True, timeout=60, env={**os.environ, **PYTHON})  # fmt: skip
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_commands_for_a_terminal_have_these_options(self):
        lines = re.findall(r"(?:`|^|\()enroll ([a-z-]+)([^`\n#)]*)", PAGE, re.M)
        self.assertGreater(len(lines), 8)
        for command, rest in lines:
            told = subprocess.run([ENROLL, "help", command], capture_output=True, text=True).stdout
            self.assertIn("Usage", told, command)
            for option in re.findall(r"(?<= )--[a-z][\w-]*", rest.partition(" -- ")[0]):
                self.assertIn(option, told, f"enroll {command}")
