"""Tests that the man pages are well-formed, that there is one for each function, and that they are found by
their names."""

import re
import subprocess
import sys
import unittest

from trees import TOP, tree

sys.path.insert(0, str(TOP / "scripts"))
import header  # noqa: E402: the header as a table


class ManualTests(unittest.TestCase):
    def setUp(self):
        self.manual = tree().prefix / "share/man"

    def show(self, section, name):
        return subprocess.run(
            ["man", "-M", self.manual, "--nj", "--nh", section, name], capture_output=True, text=True, check=True,
            env={**tree().environment, "MANWIDTH": "120", "LC_ALL": "C.UTF-8"}).stdout  # fmt: skip

    def test_every_page_is_well_formed(self):
        pages = sorted(map(str, self.manual.rglob("*.[135]")))
        self.assertGreater(len(pages), 80)
        told = subprocess.run(["mandoc", "-Tlint", "-Wwarning", *pages], capture_output=True, text=True).stdout
        # The pages have no date: each names the version that it describes.
        self.assertEqual([line for line in told.splitlines() if "missing date" not in line], [])

    def test_every_page_has_a_name_and_one_line_about_it(self):
        for page in sorted(self.manual.rglob("*.[135]")):
            told = subprocess.run(["lexgrog", page], capture_output=True, text=True).stdout
            self.assertRegex(told, rf'"{re.escape(page.stem)} - \S', page.name)

    def test_a_functions_page_says_what_its_comment_says(self):
        page = re.sub(r"\s+", " ", self.show("3", "enroll_token_copy"))
        for words in (
            "size_t capacity,", "allocates nothing", "ENROLL_E_BUFFER_TOO_SMALL",
            "ENROLL_E_REAUTHENTICATE", "ENROLL_E_STORE_LOCKED", "Since 0.1.0",
        ):  # fmt: skip
            self.assertIn(words, page)

    def test_the_overview_names_every_function_and_what_holds_for_all(self):
        page = self.show("3", "libenroll")
        for function in header.read().functions:
            self.assertIn(f"{function.name}(3)", page)
        for title in ("Threads", "Callbacks", "Handles"):
            self.assertRegex(page, rf"(?m)^   {title}$")

    def test_the_daemons_page_has_its_options_its_commands_and_its_units(self):
        page = self.show("1", "enrolld")
        told = subprocess.check_output([tree().prefix / "bin/enrolld", "--help"], text=True)
        for option in re.findall(r"--[\w-]+", told):
            self.assertIn(option, page)
        for word in ("registration.begin", "token.renewed", "XDG_DATA_HOME", "enrolld@.service"):
            self.assertIn(word, page)

    def test_the_page_of_the_configuration_has_every_key(self):
        page = self.show("5", "enroll-configuration")
        for key in re.findall(r"^\| `(\w+)`", (TOP / "docs/configuration.md").read_text(), re.M):
            self.assertIn(key, page)
