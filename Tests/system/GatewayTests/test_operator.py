"""Tests of `enroll-gateway accounts`, on both databases, while the gateway runs."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import unittest

from databases import KINDS, settings
from gateway import PROGRAM, Browser, Gateway, play, sandbox_for

NOBODY = "0190163d-8694-739b-8e42-1000000000aa"


class Operator(unittest.TestCase):
    def world(self, kind):
        gateway = Gateway(**settings(kind))
        sandbox = sandbox_for(gateway)
        self.addCleanup(sandbox.stop)
        gateway.start()
        self.addCleanup(gateway.stop)
        self.gateway, self.sandbox = gateway, sandbox
        return gateway

    def on_each(self, play_it):
        for kind in KINDS:
            with self.subTest(kind):
                self.world(kind)
                play_it()

    def sign_in(self, user="alice"):
        browser = Browser(self.gateway.base)
        play(self.sandbox, f"{self.gateway.base}/v1/auth/sandbox", browser, user=user)
        return browser

    def accounts(self, *words, status=0, typed=None):
        done = subprocess.run(
            [PROGRAM, "accounts", *words, "--config", self.gateway.configuration], input=typed or "",
            capture_output=True, text=True, timeout=60)  # fmt: skip
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def asked(self, *words):
        return json.loads(self.accounts(*words, "--json"))

    def id(self, email="alice@example.com"):
        return self.asked("find", email)["accounts"][0]["account"]["id"]

    def audit(self, one):
        return [(entry["event"], entry.get("detail"), entry.get("address")) for entry in self.asked("export", one)["audit"]]

    def test_output_that_cannot_be_written_is_a_failure_and_reaches_no_database(self):
        def play_it():
            self.sign_in()
            one = self.id()
            for place in ("/dev/full", None):
                for words in (("export", one), ("show", one, "--json"), ("end-sessions", one)):
                    done = self.without_output(place, "accounts", *words, "--config", self.gateway.configuration)
                    self.assertEqual(done.returncode, 1, (place, words, done.stderr))
                    self.assertIn("standard output cannot be written", done.stderr)
            self.assertNotIn("invalid frontend message", self.gateway.log())
            self.assertEqual(self.asked("show", one)["sessions"], 0)

        self.on_each(play_it)

    def test_help_that_cannot_be_written_is_a_failure(self):
        for place in ("/dev/full", None):
            for words in (("--help",), ("--version",), ("serve", "--help"), ("--dump-commands",)):
                done = self.without_output(place, *words)
                self.assertEqual(done.returncode, 1, (place, words, done.stderr))
                self.assertIn("standard output cannot be written", done.stderr)

    def without_output(self, place, *words):
        closing = ">&-" if place is None else f">{place}"
        return subprocess.run(
            ["sh", "-c", f'exec "$0" "$@" {closing}', PROGRAM, *words], stderr=subprocess.PIPE, text=True, timeout=60)

    def test_an_account_is_found_by_its_address_its_id_and_its_subject(self):
        def play_it():
            self.sign_in(), self.sign_in("bob")
            found = self.asked("find", "ALICE@example.com")["accounts"]
            self.assertEqual(len(found), 1)
            one, identity = found[0]["account"]["id"], found[0]["identities"][0]
            sub = identity["subject"].split(" ")[1]
            for what in (one, one.upper(), f"sandbox:{sub}", f"sandbox:{identity['subject']}"):
                self.assertEqual(self.asked("find", what)["accounts"], found, what)
            told = self.accounts("find", one)
            self.assertIn(f"account {one}\n", told)
            self.assertIn("alice@example.com (verified)", told)
            for what in ("nobody@example.com", NOBODY, f"nobody:{sub}"):
                self.assertIn(f'No account has "{what}"', self.accounts("find", what, status=1))
            self.assertIn("Name one of the three", self.accounts("find", "alice", status=1))

        self.on_each(play_it)

    def test_sessions_are_listed_and_ended_with_the_next_request(self):
        def play_it():
            browsers = [self.sign_in(), self.sign_in()]
            one = self.id()
            self.assertEqual(self.asked("show", one)["sessions"], 2)
            listed = self.asked("sessions", one)["sessions"]
            self.assertEqual(len(listed), 2)
            self.assertIn(listed[0]["id"], self.accounts("sessions", one))
            self.assertEqual(self.asked("sessions", one.upper())["sessions"], listed)
            self.assertEqual(self.asked("end-sessions", one.upper()), {"ended": 2})
            for browser in browsers:
                self.assertEqual(browser.open("/account").location, "/login")
            self.assertEqual(self.accounts("end-sessions", one), "0 sessions were ended.\n")
            self.assertIn("no session", self.accounts("sessions", one))

        self.on_each(play_it)

    def test_each_use_is_in_the_audit_as_the_operators(self):
        def play_it():
            self.sign_in()
            one = self.id()
            for command in ("show", "sessions", "end-sessions"):
                self.accounts(command, one)
            done = [("viewed", "find"), ("viewed", "show"), ("viewed", "sessions"), ("sessions_ended", "1")]
            done.append(("exported", None))
            found = [(event, detail) for event, detail, address in reversed(self.audit(one)) if address == "operator"]
            self.assertEqual(found, done)

        self.on_each(play_it)

    def test_a_use_that_finds_nobody_is_in_the_audit_without_what_was_asked_for(self):
        def play_it():
            self.sign_in()
            for what in ("nobody@example.com", NOBODY, "sandbox:nobody"):
                self.accounts("find", what, status=1)
            for command in ("show", "sessions", "end-sessions", "export"):
                self.accounts(command, NOBODY, status=1)
            self.accounts("delete", NOBODY, "--yes", status=1)
            found = self.entries_of_nobody()
            commands = ["find", "find", "find", "show", "sessions", "end-sessions", "export", "delete"]
            self.assertEqual(found, [("viewed", command, "operator") for command in commands])

        self.on_each(play_it)

    def entries_of_nobody(self):
        """The audit entries that belong to no account."""
        query = "SELECT event, detail, address FROM audit WHERE account IS NULL ORDER BY id"
        place = self.gateway.settings["database"]
        if place.startswith("sqlite:"):
            with contextlib.closing(sqlite3.connect(place.partition(":")[2])) as database:
                return database.execute(query).fetchall()
        done = subprocess.run(["psql", "-XAt", "-F,", place, "-c", query], capture_output=True, text=True, check=True)
        return [tuple(line.split(",")) for line in done.stdout.splitlines()]

    def test_the_exit_status_tells_wrong_words_and_a_reader_that_went_away(self):
        gateway = self.world("sqlite")
        self.sign_in()
        for words in (["find"], ["find", "a", "b"], ["show", "--unknown", NOBODY], ["nothing"]):
            self.accounts(*words, status=64)
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "wb") as output:
            done = subprocess.run(
                [PROGRAM, "accounts", "show", self.id(), "--config", gateway.configuration], stdout=output,
                stderr=subprocess.PIPE, timeout=60)  # fmt: skip
        # A shell would report 141, which is 128 plus the number of SIGPIPE.
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""))

    def test_a_deletion_is_asked_for_and_ends_everything(self):
        def play_it():
            browser = self.sign_in()
            one = self.id()
            for typed in ("", "no\n"):
                self.assertIn("Nothing was deleted", self.accounts("delete", one, status=1, typed=typed))
            self.assertEqual(browser.open("/account").status, 200)
            self.assertIn("was deleted", self.accounts("delete", one, typed="yes\n"))
            self.assertEqual(browser.open("/account").location, "/login")
            for command in ("show", "sessions", "end-sessions", "export"):
                self.assertIn("No account has the id", self.accounts(command, one, status=1))
            self.assertIn("No account has the id", self.accounts("delete", one, "--yes", status=1))
            self.sign_in("bob")
            self.assertEqual(self.asked("delete", self.id("bob@example.com"), "--yes").keys(), {"deleted"})

        self.on_each(play_it)

    def test_no_output_has_a_token_or_a_secret(self):
        def play_it():
            token = self.sign_in().cookies["__Host-enroll"]
            one = self.id()
            told = "".join(self.accounts(*words) for words in [
                ("find", one), ("show", one), ("show", one, "--json"), ("sessions", one), ("sessions", one, "--json"),
                ("export", one)])  # fmt: skip
            keys = json.loads((self.gateway.home / "keys.json").read_text())["keys"]
            for secret in (token, keys[0]["secret"], "token_hash", "sealed"):
                self.assertNotIn(secret, told)

        self.on_each(play_it)

    def test_a_database_that_is_not_there_is_not_made(self):
        gateway = self.gateway = Gateway()
        gateway.settings["providers"] = {"a": {"issuer": "https://id.example", "clientId": "x"}}
        gateway.write()
        self.assertIn("there is no file", self.accounts("show", NOBODY, status=1))
        self.assertFalse((gateway.home / "gateway.db").exists())
