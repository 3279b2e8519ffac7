"""Tests how a command ends if the provider never answers: the command's timeout, and the request that was sent
(enroll(1), --timeout)."""

import contextlib
import fcntl
import json
import os
import pty
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

from cases import ENROLL, CommandCase
from processes import wait_until, workspace
from provider import Gate
from silent import Silent
from terminal import TIMEOUT


# A preloaded library with which the first wait for the reader of standard output ends by a signal. From then on the
# reader reads.
SIGNAL_IN_WRITE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

int poll(struct pollfd *polled, nfds_t count, int timeout) {
  static int is_over;
  int (*real)(struct pollfd *, nfds_t, int) = dlsym(RTLD_NEXT, "poll");
  if (is_over || count != 2 || polled[0].fd != STDOUT_FILENO) return real(polled, count, timeout);
  is_over = 1;
  polled[0].revents = 0;
  polled[1].revents = POLLIN;
  return 1;
}
"""


class Closing(CommandCase):
    def provide(self):
        return self.own_sandbox()

    def test_the_timeout_ends_the_command_and_not_the_request_that_was_sent(self):
        self.sign_in()
        silent = Silent()
        self.addCleanup(silent.close)
        path = self.profiles / "default.json"
        configuration = json.loads(path.read_text())
        with urllib.request.urlopen(f"{self.sandbox.issuer}/.well-known/openid-configuration") as answer:
            metadata = json.load(answer)
        configuration["endpoints"] = {
            "authorizationEndpoint": metadata["authorization_endpoint"], "jwksUri": metadata["jwks_uri"],
            "tokenEndpoint": f"{silent.url}/token", "authorizationResponseIssParameterSupported": True}
        path.write_text(json.dumps(configuration))
        child = self.start("token", "--renew", "--timeout", "1")
        wait_until(lambda: silent.reached.is_set(), "a request", TIMEOUT)
        child.communicate(timeout=TIMEOUT)
        self.assertEqual(len(silent.connections), 1)
        self.assertEqual(len(self.detached()), 1)

    def asking(self, milliseconds, start):
        """Starts a renewal with the function `start`. Returns when the refresh token was sent; the answer arrives
        `milliseconds` later."""
        before = self.counts()["refreshes"]
        self.sandbox.control("fault", fault="delay", endpoint="token", value=milliseconds, times=1)
        child = start("token", "--renew")
        wait_until(lambda: self.counts()["refreshes"] > before, "a request", TIMEOUT)
        return child

    def test_one_end_asked_for_by_several_signals_loses_no_session(self):
        self.sign_in()
        # The signals that arrive from systemd with SendSIGHUP, from timeout(1), from a closed terminal and its shell,
        # and after Ctrl-C under timeout(1).
        for numbers in (
                (signal.SIGTERM, signal.SIGHUP), (signal.SIGTERM, signal.SIGTERM), (signal.SIGHUP, signal.SIGHUP),
                (signal.SIGINT, signal.SIGINT, signal.SIGINT)):
            with self.subTest(numbers):
                child = self.asking(1500, self.start)
                for number in numbers * 3:
                    child.send_signal(number)
                child.communicate(timeout=TIMEOUT)
                self.assertEqual(child.returncode, 130)
                self.token("--renew")

    def test_signals_that_come_after_the_first_was_taken_lose_no_session(self):
        self.sign_in()
        child = self.asking(1500, self.start)
        while child.poll() is None:
            child.send_signal(signal.SIGTERM)
            child.send_signal(signal.SIGHUP)
        self.token("--renew")

    def test_a_closed_terminal_loses_no_session(self):
        def start(*arguments):
            master, slave = pty.openpty()
            shell = subprocess.Popen(
                ["bash", "--norc", "-i"], stdin=slave, stdout=slave, stderr=slave, env=self.environment,
                start_new_session=True, preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)))
            os.close(slave)
            os.write(master, f"{ENROLL} {' '.join(arguments)}\n".encode())
            self.addCleanup(shell.kill)
            return shell, master

        self.sign_in()
        shell, master = self.asking(1500, start)
        os.close(master)
        shell.wait(TIMEOUT)
        # The command waits for the store's lock, which the renewal holds.
        self.token()
        self.token("--renew")

    def test_ctrl_c_again_later_ends_a_sign_in_at_once(self):
        child, _ = self.exchanging()

        def interrupted():
            child.send_signal(signal.SIGINT)
            return child.poll() is not None

        wait_until(interrupted, "the end", TIMEOUT)
        self.assertEqual(child.returncode, -signal.SIGINT)

    def token_endpoint(self, url):
        """Configures the sandbox with another URL as the token endpoint."""
        path = self.profiles / "default.json"
        configuration = json.loads(path.read_text())
        with urllib.request.urlopen(f"{self.sandbox.issuer}/.well-known/openid-configuration") as answer:
            metadata = json.load(answer)
        configuration["endpoints"] = {
            "authorizationEndpoint": metadata["authorization_endpoint"], "jwksUri": metadata["jwks_uri"],
            "tokenEndpoint": url, "authorizationResponseIssParameterSupported": True}
        path.write_text(json.dumps(configuration))

    def exchanging(self):
        """Starts a sign-in. Returns when its code was sent; the answer arrives when the gate opens."""
        gate = Gate(f"{self.sandbox.issuer}/token")
        self.addCleanup(gate.close)
        self.token_endpoint(gate.url)
        gate.close_it()
        child = self.start("login", "--yes")
        url = self.opened()

        def come_back():
            with contextlib.suppress(OSError):
                self.come_back(url)

        threading.Thread(target=come_back, daemon=True).start()
        self.assertTrue(gate.reached.wait(TIMEOUT))
        return child, gate

    def test_a_code_that_was_sent_is_followed_to_its_tokens_after_a_signal(self):
        child, gate = self.exchanging()
        # The command learns from its other process that the code was sent, a moment after the server has it.
        time.sleep(1)
        child.send_signal(signal.SIGTERM)
        with self.assertRaises(subprocess.TimeoutExpired):
            child.wait(4)
        gate.open_it()
        _, words = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 130, words)
        self.assertIn("has signed in", words)
        self.run_enroll("login", "--yes")
        self.token()

    # Seconds, far fewer than the timeout of a store's lock or of a keyring.
    SOON = 15

    def hold(self, suffix):
        for name in os.listdir(self.store):
            if name.endswith(suffix):
                lock = open(self.store / name, "r+b")
                self.addCleanup(lock.close)
                fcntl.flock(lock, fcntl.LOCK_EX)

    def test_a_signal_ends_the_wait_for_a_lock_of_the_store(self):
        self.sign_in()
        self.hold(".write")
        for arguments in (["logout"], ["login", "--again", "--yes"], ["token", "--renew"]):
            with self.subTest(arguments):
                child = self.start(*arguments)
                with self.assertRaises(subprocess.TimeoutExpired):
                    child.wait(2)
                child.send_signal(signal.SIGTERM)
                child.communicate(timeout=self.SOON)
                self.assertEqual(child.returncode, 130)

    def test_a_renewal_that_waits_for_the_store_is_not_said_to_go_on(self):
        self.sign_in()
        self.hold(".write")
        child = self.start("token", "--renew", "--timeout", "1")
        _, words = child.communicate(timeout=self.SOON)
        self.assertNotEqual(child.returncode, 0)
        self.assertNotIn("goes on", words)
        self.assertNotIn("is being renewed", words)

    def test_a_signal_ends_the_wait_for_a_keyring_that_does_not_answer(self):
        for keys in (["--keys", "secret-service"], []):
            path = workspace("bus") / "bus"
            with self.subTest(keys), socket.socket(socket.AF_UNIX) as bus:
                bus.bind(str(path))
                bus.listen()
                environment = {**self.environment, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={path}"}
                child = self.start("login", "--yes", *keys, environment=environment)
                connection, _ = bus.accept()
                with connection:
                    child.send_signal(signal.SIGTERM)
                    _, words = child.communicate(timeout=self.SOON)
                self.assertEqual(child.returncode, 130, words)

    def test_renewed_tokens_that_the_store_refuses_are_told_of_and_kept_until_it_takes_them(self):
        self.sign_in()
        gate = Gate(f"{self.sandbox.issuer}/token")
        self.addCleanup(gate.close)
        self.token_endpoint(gate.url)
        gate.close_it()
        child = self.start("token", "--renew")
        self.assertTrue(gate.reached.wait(TIMEOUT))
        away = self.store.with_name("away")
        self.store.rename(away)
        gate.open_it()
        _, words = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 8, words)
        self.assertIn("the provider renewed the tokens, but the store refused them", words)
        self.assertEqual(len(self.detached()), 1)
        away.rename(self.store)
        wait_until(lambda: not self.detached(), "the tokens are stored", TIMEOUT)
        self.assertEqual(self.counts()["refreshes"], 1)
        self.token("--renew")
        self.assertEqual(self.counts()["refreshes"], 2)

    def full_pipe(self):
        """The write end of a full pipe that nobody reads."""
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        os.set_blocking(write, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(write, b"x" * 4096)
        os.set_blocking(write, True)
        return write

    def test_the_message_after_a_signal_waits_for_no_reader(self):
        self.sign_in()
        gate = Gate(f"{self.sandbox.issuer}/token")
        self.addCleanup(gate.close)
        self.token_endpoint(gate.url)
        gate.close_it()
        pipe = self.full_pipe()
        child = subprocess.Popen(
            [ENROLL, "token", "--renew"], env=self.environment, stdout=subprocess.DEVNULL, stderr=pipe)
        os.close(pipe)
        self.addCleanup(child.kill)
        self.assertTrue(gate.reached.wait(TIMEOUT))
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(TIMEOUT), 130)
        gate.open_it()

    def test_a_signal_ends_a_command_whose_output_nobody_reads(self):
        self.sign_in()
        for stream, arguments, status in (("stdout", ["token"], 130), ("stderr", ["token", "--account", "other"], 3)):
            with self.subTest(stream):
                write = self.full_pipe()
                streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: write}
                child = subprocess.Popen([ENROLL, *arguments], env=self.environment, **streams)
                os.close(write)
                self.addCleanup(child.kill)
                seen = []

                def rests(child=child, seen=seen):
                    seen.append(Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[0:13:11])
                    return seen[-10:].count(["S", seen[-1][1]]) == 10

                wait_until(rests, "the command waits for its reader")
                child.send_signal(signal.SIGTERM)
                self.assertEqual(child.wait(TIMEOUT), status)

    def test_after_a_text_that_a_signal_cut_no_later_text_follows(self):
        self.sign_in()
        lines, _ = self.run_enroll("status")
        self.assertGreater(lines.count("\n"), 3)
        self.preload(SIGNAL_IN_WRITE)
        self.assertEqual(self.run_enroll("status", status=130)[0], "")

    def test_streams_that_are_closed_are_the_null_device(self):
        for closed in ("<&-", ">&-", "<&- >&- 2>&-"):
            with self.subTest(closed):
                done = subprocess.run(
                    ["bash", "-c", f'exec "$0" token {closed}', ENROLL], env=self.environment, timeout=TIMEOUT,
                    stderr=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 3)
