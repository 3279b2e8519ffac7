"""Tests that the gateway's advice to operators works: the program knows each option, command and key that its
texts name, and a test runs each command line that a text tells the operator to run."""

import json
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import literals
from gateway import PROGRAM, Gateway

SOURCES = ("enroll-gateway", "EnrollGateway", "EnrollGatewayStore", "EnrollGatewayMail")
#: Names in messages that are not keys of the gateway: they belong to protocols, or to the settings of other programs.
OTHERS = {
    "userName": "SCIM", "totalResults": "SCIM", "startIndex": "SCIM", "firstName": "Okta", "lastName": "Okta",
    "sessionToken": "Okta", "fromURI": "Okta",
}  # fmt: skip
#: The objects of a configuration in which the test tries a key. The rest of the configuration is complete.
PLACES = ((), ("providers", "a"), ("apps", "sample"), ("directory",), ("registration",), ("mail",))


def configured(home=None):
    gateway = Gateway(home=home)
    gateway.settings["providers"] = {"a": {"issuer": "https://id.example", "clientId": "x"}}
    gateway.write()
    gateway.run("keys", "add", "--config", str(gateway.configuration))
    return gateway


class Hints(unittest.TestCase):
    def run_program(self, *words):
        return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60)

    def knows(self, gateway, place, key):
        settings = json.loads(json.dumps(gateway.settings))
        below = settings
        for name in place:
            below = below.setdefault(name, {})
        below.setdefault(key, 0)
        gateway.configuration.write_text(json.dumps(settings))
        told = self.run_program("check", "--config", str(gateway.configuration))
        return "unknown key" not in told.stdout + told.stderr

    def test_each_key_is_one_of_the_settings(self):
        gateway = configured()
        self.assertFalse(any(self.knows(gateway, place, "keyOfNobody") for place in PLACES))
        for key, where in literals.named(literals.KEY, *SOURCES).items():
            if key not in OTHERS:
                with self.subTest(key, where=where):
                    self.assertTrue(any(self.knows(gateway, place, key) for place in PLACES), "the program knows no such key")

    def test_each_option(self):
        commands = ["serve", "migrate", "check", "keys add", "accounts find", "accounts delete"]
        helps = [self.run_program(*command.split(), "--help").stdout for command in commands]
        known = {option for text in helps for option in literals.OPTION.findall(text)}
        self.assertEqual(set(literals.named(literals.OPTION, *SOURCES)) - known, set())

    def test_each_command(self):
        # The pattern excludes the labels for key derivation, which also begin with `enroll-gateway`, but end with a
        # version number.
        pattern = re.compile(r"(?<![\w/.-])enroll-gateway ([a-z][a-z-]*(?: [a-z]+)?)(?! [\w ]*\d)\b")
        for name, where in literals.named(pattern, *SOURCES).items():
            with self.subTest(name, where=where):
                words = name.split()
                self.assertTrue(any(self.run_program(*words[:count], "--help").returncode == 0 for count in (1, 2)))

    def told(self, gateway, *words, status=1):
        return gateway.run(*words, "--config", str(gateway.configuration), status=status)

    def test_an_older_schema_is_migrated_as_it_is_printed(self):
        gateway = configured()
        (gateway.home / "gateway.db").touch(0o600)
        told = self.told(gateway, "accounts", "find", "nobody@example.org")
        self.assertIn("run enroll-gateway migrate", told)
        self.told(gateway, "migrate", status=0)
        self.assertNotIn("migrate", self.told(gateway, "accounts", "find", "nobody@example.org"))

    def closed(self, path, told):
        """Runs the printed command in a shell: it makes the file readable for its owner only."""
        (line,) = re.findall(r"chmod 600 \S+", told)
        subprocess.run(["/bin/sh", "-c", line], check=True)
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)

    def test_a_key_file_is_closed_as_it_is_printed(self):
        gateway = configured()
        path = gateway.home / "keys.json"
        path.chmod(0o644)
        self.closed(path, self.told(gateway, "check"))
        self.assertNotIn("chmod", self.told(gateway, "check"))

    def test_a_key_is_added_as_it_is_printed(self):
        gateway = configured()
        (gateway.home / "keys.json").unlink()
        for words in (("check", "--offline"), ("serve",)):
            told = self.told(gateway, *words)
            self.assertIn(f"the key file {gateway.home}/keys.json cannot be opened: No such file", told)
        (line,) = re.findall(r"enroll-gateway (keys add --config \S+)", told)
        self.assertEqual(self.run_program(*line.split()).returncode, 0)
        self.told(gateway, "check", "--offline", status=0)

    def test_a_database_is_closed_as_it_is_printed(self):
        gateway = configured()
        path = gateway.home / "gateway.db"
        self.told(gateway, "migrate", status=0)
        path.chmod(0o644)
        self.closed(path, self.told(gateway, "migrate"))
        self.told(gateway, "migrate", status=0)

    def test_an_account_that_is_not_there_is_found_as_it_is_printed(self):
        gateway = configured()
        self.told(gateway, "migrate", status=0)
        told = self.told(gateway, "accounts", "show", "nobody")
        self.assertIn("enroll-gateway accounts find tells the id of an e-mail address", told)
        self.assertIn("nobody@example.org", self.told(gateway, "accounts", "find", "nobody@example.org"))

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    def test_a_key_is_added_as_the_user_who_is_printed(self):
        # The user `nobody` can read the program and the files in this folder.
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        home, user = Path(folder.name), pwd.getpwnam("nobody").pw_uid
        gateway, program = configured(home), shutil.copy(PROGRAM, home)
        path = home / "keys.json"
        for place in (home, path, gateway.configuration):
            os.chown(place, user, user)
        words = [program, "keys", "add", "--config", gateway.configuration]
        # Without the capability CAP_CHOWN, which some containers lack, root cannot change the owner of files.
        refused = subprocess.run(["setpriv", "--bounding-set", "-chown", *words], capture_output=True, text=True)
        self.assertIn(f"belongs to user {user}", refused.stderr)
        self.assertIn("Run this command as that user", refused.stderr)
        before = path.read_text()
        added = subprocess.run(words, user=user, group=user, extra_groups=[], capture_output=True, text=True)
        self.assertEqual(added.returncode, 0, added.stderr)
        self.assertNotEqual(path.read_text(), before)

    # Each command line that a text tells the operator to run, and the test that runs it as printed.
    FOLLOWED = {
        "Run: enroll-gateway keys add --config …": "test_a_key_is_added_as_it_is_printed",
        "run enroll-gateway migrate": "test_an_older_schema_is_migrated_as_it_is_printed",
        "run chmod 600 …": "test_a_key_file_is_closed_as_it_is_printed",
        "Run: chmod 600 …": "test_a_database_is_closed_as_it_is_printed",
        "Run the command as that user: sudo -u … enroll-gateway migrate …":
            "test_running.py test_root_makes_no_database_in_the_folder_of_another_user",
        "Run this command as that user": "test_a_key_is_added_as_the_user_who_is_printed",
        "enroll-gateway accounts find tells the id": "test_an_account_that_is_not_there_is_found_as_it_is_printed",
    }

    def test_each_line_that_is_advised_is_followed_by_a_test(self):
        pattern = re.compile(r"\b(?:[Rr]un:? .+?(?=[.,]|$)|enroll-gateway accounts find tells the id)")
        named = {name.strip(): where for name, where in literals.named(pattern, *SOURCES).items()}
        self.assertEqual({name: where for name, where in named.items() if name not in self.FOLLOWED}, {})
        self.assertEqual(set(self.FOLLOWED) - set(named), set())
        for test in self.FOLLOWED.values():
            file, _, name = test.rpartition(" ")
            source = Path(__file__).with_name(file or Path(__file__).name).read_text()
            self.assertIn(f"def {name}(self", source)
