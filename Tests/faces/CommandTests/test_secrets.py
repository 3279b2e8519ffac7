"""Tests that passphrases and PINs are typed without echo, or read from a descriptor, and are never
arguments."""

import os
import re
import signal
import subprocess
from pathlib import Path

import faces
from cases import ENROLL, CommandCase
from processes import wait_until
from terminal import TIMEOUT, Terminal

PASSPHRASE = "correct horse battery staple"


def holds_back(child, number):
    with open(f"/proc/{child.pid}/status") as status:
        return int(re.search(r"SigBlk:\s*(\w+)", status.read())[1], 16) >> (number - 1) & 1


class Secrets(CommandCase):
    def with_descriptor(self, option, text, *arguments, status=0):
        reading, writing = os.pipe()
        os.write(writing, text.encode())
        os.close(writing)
        try:
            return self.run_enroll(*arguments, option, str(reading), status=status, pass_fds=[reading])
        finally:
            os.close(reading)

    def passphrase(self, text, *arguments, status=0):
        return self.with_descriptor("--passphrase-fd", text, *arguments, status=status)

    def protect(self):
        """Makes a store with a passphrase and a session; the passphrase is typed at a terminal."""
        terminal = self.terminal("login", "--yes", "--keys", "passphrase")
        terminal.shows("Passphrase of the store: $")
        self.assertFalse(terminal.echoes)
        terminal.line(PASSPHRASE)
        terminal.shows("The same again: $")
        terminal.line(PASSPHRASE)
        self.come_back(self.opened())
        self.assertEqual(terminal.ends(), 0)
        self.assertNotIn(PASSPHRASE, terminal.raw)

    def test_a_passphrase_at_the_terminal_and_by_descriptor(self):
        self.protect()
        output, words = self.run_enroll("token", status=6)
        self.assertEqual(output, "")
        self.assertIn("--passphrase-fd", words)
        self.assertTrue(self.passphrase(PASSPHRASE + "\nmore", "token")[0])
        self.assertEqual(self.passphrase(PASSPHRASE, "token", "--keys", "passphrase")[1], "")
        _, words = self.passphrase("wrong", "token", status=6)
        self.assertIn("passphrase is not the store's", words)
        self.assertIn("Pass the passphrase with which the store was made", words)
        self.assertNotIn("--keys", words)
        for bad in ("", "\n", "x" * 2000):
            self.passphrase(bad, "token", status=2)

    def test_a_typed_passphrase_that_is_not_utf_8_makes_no_store(self):
        terminal = self.terminal("login", "--yes", "--keys", "passphrase")
        terminal.shows("Passphrase of the store: $")
        terminal.type("p\udce4ssword\n")
        terminal.shows("expected UTF-8, got bytes that are none")
        self.assertEqual(terminal.ends(), 2)
        self.assertFalse(self.store.exists())

    def test_a_descriptor_that_is_not_open_is_refused_whatever_its_number(self):
        """The program itself opens some descriptors, starting with 3."""
        self.protect()
        for option in ("--passphrase-fd", "--pin-fd"):
            for number in range(3, 10):
                _, words = self.run_enroll("token", option, str(number), status=2)
                self.assertIn(f"{option} {number}: the descriptor cannot be read (is it open?)", words)

    def test_a_program_that_is_started_does_not_get_the_descriptor(self):
        self.protect()
        file = self.home / "passphrase"
        file.write_text(f"{PASSPHRASE}\n")
        program = self.home / "program"
        program.write_text("#!/bin/sh\nreadlink /proc/$$/fd/*\nexit 0\n")
        program.chmod(0o755)
        curl = self.home / "bin/curl"
        curl.parent.mkdir()
        curl.symlink_to(program)
        path = {**self.environment, "PATH": f"{curl.parent}:{os.environ['PATH']}"}
        for words in (["exec", "--", str(program)], ["curl", "--", "https://api.example"]):
            with self.subTest(words), file.open("rb") as open_file:
                number = str(open_file.fileno())
                output, _ = self.run_enroll(
                    words[0], "--passphrase-fd", number, *words[1:], environment=path, pass_fds=[open_file.fileno()])
                self.assertTrue(output)
                self.assertNotIn(str(file), output)

    def test_the_browser_does_not_get_the_descriptor(self):
        self.protect()
        file = self.home / "passphrase"
        file.write_text(f"{PASSPHRASE}\n")
        script = self.browser.read_text()
        self.browser.write_text(script.replace("exit", 'readlink /proc/$$/fd/* >"$0.descriptors"\nexit'))
        with file.open("rb") as open_file:
            child = subprocess.Popen(
                [ENROLL, "login", "--yes", "--again", "--passphrase-fd", str(open_file.fileno())], env=self.environment,
                pass_fds=[open_file.fileno()], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.addCleanup(self._end, child)
            self.come_back(self.opened(2))
            self.assertEqual(child.wait(TIMEOUT), 0)
        descriptors = Path(f"{self.browser}.descriptors").read_text()
        self.assertIn("/dev/null", descriptors)
        self.assertNotIn(str(file), descriptors)

    def test_a_descriptor_that_is_only_written_to_is_refused(self):
        self.protect()
        _, words = self.run_enroll("token", "--passphrase-fd", "1", status=2)
        self.assertIn("--passphrase-fd 1: the descriptor cannot be read", words)

    def test_a_person_is_asked_for_what_the_store_needs(self):
        self.protect()
        terminal = self.terminal("status")
        terminal.shows("Passphrase of the store: $")
        self.assertFalse(terminal.echoes)
        terminal.line(PASSPHRASE)
        self.assertEqual(terminal.ends(), 0)
        self.assertIn("in a passphrase", terminal.text)
        self.assertNotIn(PASSPHRASE, terminal.raw)

    def test_what_was_mistyped_the_second_time_makes_no_store(self):
        terminal = self.terminal("login", "--yes", "--keys", "passphrase")
        terminal.shows("Passphrase of the store: $")
        terminal.line(PASSPHRASE)
        terminal.shows("The same again: $")
        terminal.line("something else")
        self.assertEqual(terminal.ends(), 2)
        self.assertFalse(self.store.exists())

    def test_ctrl_c_at_the_passphrase_gives_the_echo_back(self):
        terminal = self.terminal("login", "--yes", "--keys", "passphrase")
        terminal.shows("Passphrase of the store: $")
        terminal.interrupt()
        terminal.shows("interrupted")
        self.assertEqual(terminal.ends(), 130)

    def in_shell(self, script):
        """Runs a script in a shell with job control, in a terminal; `$0` in the script is the command that
        asks for the secret."""
        terminal = Terminal(["/bin/bash", "-c", f"set -m; {script}", ENROLL], self.environment)
        self.addCleanup(terminal.close)
        terminal.shows("Passphrase of the store: $")
        self.assertFalse(terminal.echoes)
        return terminal

    def test_a_stop_at_the_passphrase_gives_the_echo_back_and_going_on_asks_again_without(self):
        self.protect()
        terminal = self.in_shell('"$0" status; echo stopped; read word; fg >/dev/null; echo "status $?"; read word')
        terminal.type("half of it\x1a")
        seen = terminal.shows("stopped").end()
        self.assertTrue(terminal.echoes)
        terminal.line("go on")
        terminal.shows("Passphrase of the store: $", after=seen)
        self.assertFalse(terminal.echoes)
        terminal.line(PASSPHRASE)
        terminal.shows("status 0")
        self.assertTrue(terminal.echoes)
        terminal.line("")
        terminal.ends()
        self.assertNotIn(PASSPHRASE, terminal.raw)

    def test_an_end_at_the_passphrase_gives_the_echo_back(self):
        self.protect()
        terminal = self.in_shell('"$0" status; echo "status $?"; read word')
        terminal.type("half\x1c")
        terminal.shows("status 131")
        self.assertTrue(terminal.echoes)
        for end in ("TERM", "KILL"):
            terminal = self.in_shell(f'"$0" status; kill -{end} %1; kill -CONT %1; wait %1; echo "status $?"; read word')
            terminal.type("half\x1a")
            terminal.shows("status 1[0-9]+")
            self.assertTrue(terminal.echoes)

    def test_ctrl_c_ends_the_wait_for_a_passphrase_by_descriptor(self):
        reading, writing = os.pipe()
        self.addCleanup(os.close, writing)
        child = subprocess.Popen(
            [ENROLL, "status", "--passphrase-fd", str(reading)], env=self.environment, pass_fds=[reading],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(child.kill)
        os.close(reading)
        wait_until(lambda: holds_back(child, signal.SIGTERM), "its hold on signals", TIMEOUT)
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(TIMEOUT), 130)

    def test_a_pin(self):
        self.sign_in()
        daemon = faces.FACES["jsonrpc"].open(
            self.sandbox.configuration(redirectUri="http://127.0.0.1/callback", postLogoutRedirectUri=None), self.store)
        self.addCleanup(daemon.close)
        daemon.call("pin.set", pin="4711")
        output, words = self.run_enroll("token", status=6)
        self.assertEqual(output, "")
        self.assertIn("PIN", words)
        self.assertTrue(self.with_descriptor("--pin-fd", "4711\n", "token")[0])
        _, words = self.with_descriptor("--pin-fd", "1234", "token", status=6)
        self.assertRegex(words, r"the PIN is wrong; \d+ tries are left")
        terminal = self.terminal("status")
        terminal.shows("PIN of the account: $")
        self.assertFalse(terminal.echoes)
        terminal.line("4711")
        self.assertEqual(terminal.ends(), 0)
        self.assertIn("Signed in as Alice", terminal.text)
        self.assertNotIn("4711", terminal.raw)
        self.assertIn("PIN", self.run_enroll("accounts")[0])
        # An account that stays locked does not prevent the sign-out of other accounts.
        self.sign_in("--account", "work", user="bob")
        _, words = self.run_enroll("logout", "--all", status=6)
        self.assertIn("signed out Bob Builder", words)
        self.assertRegex(words, r"enroll: default: .*PIN")
        self.run_enroll("token", "--account", "work", status=3)
        self.assertTrue(self.with_descriptor("--pin-fd", "4711\n", "token")[0])
