"""Tests that the commands in docs/install.md for a checkout work as they are printed there;
Tests/system/PackageTests tests the other commands."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from trees import AS_BUILT, TOP


class ReadmeTests(unittest.TestCase):
    def test_what_the_page_says_of_a_checkout_can_be_typed(self):
        commands = re.search(r"<!-- run: make-install -->\n```\n(.*?)```", (TOP / "docs/install.md").read_text(), re.S)[1]
        # The program is started after the build and before the uninstallation; it prints its usage.
        commands = commands.replace("make uninstall", "build/sign_in || test $? = 2\nmake uninstall")
        commands = f'make() {{ command make {" ".join(AS_BUILT)} "$@"; }}\n{commands}'
        with tempfile.TemporaryDirectory() as home:
            ran = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", commands], cwd=TOP, capture_output=True, text=True,
                env={"PATH": os.environ["PATH"], "HOME": home})  # fmt: skip
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn("usage: build/sign_in ISSUER STORE", ran.stderr)
            left = [path for path in pathlib.Path(home).rglob("*") if not path.is_dir()]
            self.assertEqual(left, [])
