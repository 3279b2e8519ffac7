"""Renewals and exchanges that outlive the command that started them (reliability.md, Renewals that outlive their
caller)."""

import contextlib
import fcntl
import json
import os
import random
import re
import signal
import subprocess
import threading
import time
import unittest
import urllib.request

import faces
from cases import ENROLL, NO_FORK, NO_PROCESSES, CommandCase
from processes import wait_until, workspace
from provider import Gate
from terminal import TIMEOUT, Terminal

PASSPHRASE = "correct horse battery staple"


class DetachedCase(CommandCase):
    """The provider rotates refresh tokens, and does not accept an old refresh token again."""

    def provide(self):
        return self.own_sandbox("--grace", "0", "--device-interval", "1")

    def setUp(self):
        super().setUp()
        with urllib.request.urlopen(f"{self.sandbox.issuer}/.well-known/openid-configuration") as answer:
            metadata = json.load(answer)
        # A proxy at the token endpoint that can hold requests back.
        self.gate = Gate(f"{self.sandbox.issuer}/token")
        self.addCleanup(self.gate.close)
        self.configure(endpoints={
            "authorizationEndpoint": metadata["authorization_endpoint"], "jwksUri": metadata["jwks_uri"],
            "deviceAuthorizationEndpoint": metadata["device_authorization_endpoint"],
            "tokenEndpoint": self.gate.url, "authorizationResponseIssParameterSupported": True})

    def held_back(self, start, *arguments, **options):
        """Starts a command; returns when its request has reached the token endpoint, and before the answer."""
        self.gate.close_it()
        child = start(*arguments, **options)
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        return child

    def start_in_group(self, *arguments, **options):
        """Starts the command in its own process group, as a shell starts a job."""
        child = subprocess.Popen(
            [ENROLL, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=self.environment, start_new_session=True, **options)
        self.addCleanup(self._end, child)
        return child

    def assertStored(self, renewals=1, token=None):
        """Checks that this many renewals took place, that the session has the tokens of the last one, and that no
        process is left."""
        self.gate.open_it()
        wait_until(lambda: not self.detached(), "the end of the process", TIMEOUT)
        token = token or self.token
        self.assertEqual(self.counts()["refreshes"], renewals)
        token("--renew")
        self.assertEqual(self.counts()["refreshes"], renewals + 1)
        self.assertEqual(self.sessions(), [None])



class Detached(DetachedCase):
    # The ways in which a caller ends.

    def test_a_caller_that_is_killed_signs_nobody_out(self):
        self.sign_in()
        child = self.held_back(self.start, "token", "--renew")
        child.kill()
        child.communicate()
        self.assertStored()

    def test_a_killed_exchange_of_a_code_ends_the_sign_in_and_says_so(self):
        self.gate.close_it()
        child = self.start("login", "--yes")
        url = self.opened()

        def come_back():
            with contextlib.suppress(OSError):
                self.come_back(url)

        threading.Thread(target=come_back, daemon=True).start()
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        [process] = self.detached()
        os.kill(int(process.name), signal.SIGKILL)
        # The timeout is far less than the three minutes for which other processes wait for the
        # exchange.
        _, words = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 9, words)
        self.assertIn("ended before the tokens were stored; begin the sign-in again", words)
        self.gate.open_it()
        self.sign_in()
        self.token()

    def test_a_killed_process_group_signs_nobody_out(self):
        self.sign_in()
        for count, number in enumerate((signal.SIGKILL, signal.SIGQUIT, signal.SIGTERM), 1):
            with self.subTest(number):
                child = self.held_back(self.start_in_group, "token", "--renew")
                os.killpg(child.pid, number)
                child.communicate()
                self.gate.open_it()
                wait_until(lambda: not self.detached(), "the end of the process", TIMEOUT)
        self.assertStored(count)

    def test_a_closed_terminal_signs_nobody_out(self):
        def start(*arguments):
            terminal = Terminal([ENROLL, *arguments], self.environment)
            self.addCleanup(terminal.close)
            return terminal

        self.sign_in()
        terminal = self.held_back(start, "token", "--renew")
        [process] = self.detached()
        # Field 7 in /proc/PID/stat (proc(5)) is 0 for a process without a controlling terminal.
        self.assertEqual((process / "stat").read_text().rpartition(")")[2].split()[4], "0")
        os.kill(terminal.pid, signal.SIGKILL)
        terminal.close()
        self.assertStored()

    def test_a_time_limit_of_the_caller_signs_nobody_out(self):
        self.sign_in()
        self.gate.close_it()
        with self.assertRaises(subprocess.TimeoutExpired):
            subprocess.run(
                [ENROLL, "token", "--renew"], env=self.environment, capture_output=True, timeout=2)
        self.assertTrue(self.gate.reached.is_set())
        self.assertStored()

    def test_whoever_reads_its_output_to_the_end_does_not_wait_for_the_renewal(self):
        self.sign_in()
        child = self.held_back(self.start, "token", "--renew")
        child.kill()
        # The command's streams are closed when the command ends, although the renewal goes on.
        child.communicate(timeout=TIMEOUT)
        self.assertEqual(len(self.detached()), 1)
        self.assertStored()

    def test_the_git_credential_helper_and_exec_are_no_different(self):
        self.sign_in()
        refused = self.token()
        given = subprocess.Popen(
            [ENROLL, "git-credential", "--host", "git.example", "erase"], env=self.environment, stdin=subprocess.PIPE)

        def erase():
            given.communicate(f"protocol=https\nhost=git.example\npassword={refused}\n".encode())

        self.gate.close_it()
        thread = threading.Thread(target=erase)
        thread.start()
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        given.kill()
        thread.join()
        self.assertStored(1)
        # The command needs a renewal, because the store has no token for these scopes.
        child = self.held_back(self.start, "exec", "--scope", "openid", "--", "true")
        child.kill()
        self.assertStored(3)

    # The passphrase, the PIN and the configuration.

    def test_a_store_under_a_passphrase(self):
        terminal = self.terminal("login", "--yes", "--keys", "passphrase")
        for question in ("Passphrase of the store: $", "The same again: $"):
            terminal.shows(question)
            terminal.line(PASSPHRASE)
        self.come_back(self.opened())
        self.assertEqual(terminal.ends(), 0)
        child = self.held_back(self.start_with, "--passphrase-fd", PASSPHRASE)
        child.kill()
        self.assertStored(token=lambda *words: self.token_with("--passphrase-fd", PASSPHRASE, *words))

    def test_an_account_under_a_pin(self):
        self.sign_in()
        daemon = faces.FACES["jsonrpc"].open(
            json.loads((self.profiles / "default.json").read_text()), self.store)
        daemon.call("pin.set", pin="4711")
        daemon.close()
        child = self.held_back(self.start_with, "--pin-fd", "4711")
        child.kill()
        self.assertStored(token=lambda *words: self.token_with("--pin-fd", "4711", *words))

    def test_a_configuration_that_comes_by_a_descriptor(self):
        self.sign_in()
        path = self.profiles / "default.json"
        text = path.read_text()
        path.unlink()
        child = self.held_back(self.start_with, "--config", text)
        child.kill()
        self.assertStored(token=lambda *words: self.token_with("--config", text, *words))

    @contextlib.contextmanager
    def option(self, name, text):
        """Options with which the command reads a value from a descriptor."""
        reading, writing = os.pipe()
        os.write(writing, text.encode())
        os.close(writing)
        try:
            yield [name, f"/dev/fd/{reading}" if name == "--config" else str(reading)], reading
        finally:
            os.close(reading)

    def start_with(self, name, text):
        with self.option(name, text) as (words, reading):
            return self.start_in_group("token", "--renew", *words, pass_fds=[reading])

    def token_with(self, name, text, *arguments):
        with self.option(name, text) as (words, reading):
            return self.run_enroll("token", *arguments, *words, pass_fds=[reading])

    # Many callers at once.

    def test_of_many_callers_some_are_killed_and_one_request_is_sent(self):
        self.sign_in()
        self.gate.close_it()
        children = [self.start("token", "--renew") for _ in range(20)]
        # At this point each of the commands waits for its detached process.
        wait_until(lambda: len(self.detached()) == 20, "20 processes", TIMEOUT)
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        for child in children[:10]:
            child.kill()
        self.gate.open_it()
        tokens = {child.communicate(timeout=TIMEOUT)[0] for child in children[10:]}
        self.assertEqual([child.returncode for child in children[10:]], [0] * 10)
        self.assertEqual(len(tokens), 1)
        self.assertStored()

    # The detached process.

    def test_it_inherits_nothing(self):
        self.sign_in()
        with open("/dev/null") as other, open(self.home / "output", "wb") as output:
            self.gate.close_it()
            child = subprocess.Popen(
                [ENROLL, "token", "--renew"], env=self.environment, cwd=self.home, stdin=other, stdout=output,
                stderr=output, pass_fds=[other.fileno()], start_new_session=True,
                preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]))
            self.addCleanup(self._end, child)
            self.assertTrue(self.gate.reached.wait(TIMEOUT))
        [process] = self.detached()
        pid, stat = int(process.name), (process / "stat").read_text().rpartition(")")[2].split()
        self.assertEqual([int(stat[3]), int(stat[2]), int(stat[4])], [pid, pid, 0], "session, group, terminal")
        self.assertNotEqual(int(stat[1]), child.pid, "parent")
        self.assertEqual(os.readlink(process / "cwd"), "/")
        status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines() if ":\t" in line)
        self.assertEqual(int(status["SigBlk"], 16), 0)
        for number in (
            signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2,
            signal.SIGXCPU, signal.SIGXFSZ, signal.SIGVTALRM, signal.SIGPROF, signal.SIGIO, signal.SIGPWR,
        ):
            self.assertTrue(int(status["SigIgn"], 16) >> (number - 1) & 1, number)
        files = {name: os.readlink(process / "fd" / name) for name in os.listdir(process / "fd")}
        self.assertEqual([files[name] for name in "012"], ["/dev/null"] * 3)
        foreign = [name for name in files.values() if not name.startswith((str(self.store), "socket:", "anon_inode:"))]
        # These four are the standard streams, and the pipe to the command.
        self.assertEqual(len(foreign), 4, files)
        self.assertNotIn(str(self.home / "output"), foreign)
        self.gate.open_it()
        child.wait(TIMEOUT)
        self.assertStored()

    def test_a_token_that_is_stored_needs_no_process(self):
        self.sign_in()
        token = self.token()
        self.preload(NO_PROCESSES.replace("return EAGAIN", "_exit(77)").replace("<errno.h>", "<unistd.h>"))
        self.assertEqual(self.token(), token)
        self.assertEqual(self.run_enroll("exec", "--", "sh", "-c", "echo $ACCESS_TOKEN")[0].strip(), token)

    def test_where_there_can_be_no_process_the_command_renews(self):
        self.sign_in()
        for count, text in enumerate((NO_PROCESSES, NO_FORK), 1):
            with self.subTest(text):
                self.preload(text)
                self.token("--renew")
                self.assertEqual(self.counts()["refreshes"], count)

    def test_a_program_that_was_deleted_renews_all_the_same(self):
        self.sign_in()
        place = workspace("installed") / "enroll"
        place.write_bytes(open(ENROLL, "rb").read())
        place.chmod(0o755)
        line = 'exec 9<"$0"; rm "$0"; exec /proc/self/fd/9 token --renew'
        self.gate.close_it()
        child = subprocess.Popen(["bash", "-c", line, place], env=self.environment, stdout=subprocess.PIPE)
        self.addCleanup(self._end, child)
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        self.assertEqual(len(self.detached()), 1)
        child.kill()
        child.wait()
        self.assertStored()

    def test_the_word_that_starts_it_is_nobody_s(self):
        self.assertNotIn("detached", self.run_enroll("--help")[0] + self.run_enroll("completions", "bash")[0])
        for words in (["detached-step"], ["detached-step", "leave"]):
            done = subprocess.run([ENROLL, *words], input=b"{}", capture_output=True, timeout=TIMEOUT)
            self.assertEqual((done.stdout, done.stderr), (b"", b""))
        self.run_enroll("detached-step", "extra", status=2)

    # The messages that the caller prints.

    def test_a_failure_reaches_the_caller_as_it_was(self):
        self.sign_in()
        self.sandbox.control(
            "fault", fault="oauthError", endpoint="token", value="unauthorized_client", times=1)
        output, words = self.run_enroll("token", "--renew", status=5)
        self.assertEqual(output, "")
        self.assertIn("unauthorized_client", words)

    def test_a_short_timeout_gives_the_token_that_still_works(self):
        self.sandbox.control("fault", fault="setMember", endpoint="token", member="expires_in", value=60, times=1)
        self.sign_in()
        token = self.token()
        end = self.json("accounts")["accounts"][0]["expiresAt"]
        wait_until(lambda: time.time() > end - 53, "less than nine tenths of its life", TIMEOUT)
        self.gate.close_it()
        for seconds in ("1", "0"):
            with self.subTest(seconds):
                output, words = self.run_enroll("token", "--min-lifetime", "60", "--timeout", seconds)
                self.assertEqual(output.strip(), token)
                self.assertIn("still works", words)
                self.assertNotIn("another process", words)
                self.assertEqual(self.counts()["refreshes"], 0)
        self.assertStored()


@unittest.skipUnless(os.environ.get("TORTURE"), "the long form")
class ManyKilled(DetachedCase):
    def test_two_hundred_killed_callers_sign_nobody_out(self):
        self.sign_in()
        dice = random.Random(self.id())
        for _ in range(200):
            # The signal comes at any moment of a renewal, not only while the provider has the request.
            child = self.start_in_group("token", "--renew")
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(dice.uniform(0, 0.3))
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
        wait_until(lambda: not self.detached(), "the end of all processes", TIMEOUT)
        self.token("--renew")
        self.assertEqual(self.sessions(), [None])
        # Some of the callers sent their request before they were killed.
        self.assertGreater(self.counts()["refreshes"], 20)


@unittest.skipUnless(os.environ.get("TORTURE"), "the long form")
class Stopped(DetachedCase):
    def test_a_process_that_is_stopped_for_longer_than_a_request_may_take_signs_nobody_out(self):
        self.sign_in()
        child = self.held_back(self.start, "token", "--renew", "--timeout", "600")
        [process] = [int(process.name) for process in self.detached()]
        os.kill(process, signal.SIGSTOP)
        # The answer is in the socket of the stopped process long before it runs again.
        self.gate.open_it()
        time.sleep(35)
        os.kill(process, signal.SIGCONT)
        child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 0)
        self.assertStored()


@unittest.skipUnless(os.environ.get("TORTURE") == "1", "takes minutes: TORTURE=1")
class LongStopped(DetachedCase):
    def test_a_process_that_is_stopped_for_longer_than_it_may_run_signs_nobody_out(self):
        self.sign_in()
        child = self.held_back(self.start, "token", "--renew", "--timeout", "600")
        [process] = [int(process.name) for process in self.detached()]
        os.kill(process, signal.SIGSTOP)
        self.gate.open_it()
        time.sleep(310)
        os.kill(process, signal.SIGCONT)
        child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 0)
        self.assertStored()

    def test_a_lock_that_is_held_for_longer_than_a_request_may_take_signs_nobody_out(self):
        self.sign_in()
        child = self.held_back(self.start, "token", "--renew")
        [lock] = self.store.glob("*.write")
        with open(lock) as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.gate.open_it()
            time.sleep(80)
        child.communicate(timeout=TIMEOUT)
        wait_until(lambda: not self.detached(), "the end of the process", TIMEOUT)
        self.assertStored()


class Exchange(DetachedCase):
    """Codes and device codes are exchanged in detached processes, as renewals are."""

    def test_a_device_s_sign_in_that_is_killed_in_its_poll_is_there_afterwards(self):
        child = self.start_in_group("login", "--yes", "--device")
        code = next(filter(None, (re.search(rb"type the code (\S+)", line) for line in child.stderr)))[1]
        self.gate.close_it()
        self.sandbox.control("device", userCode=code.decode())
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        self.gate.open_it()
        wait_until(lambda: not self.detached(), "the end of the process", TIMEOUT)
        # The profile waits for the user's confirmation.
        self.run_enroll("login", "--yes")
        self.token("--renew")

    def test_a_sign_in_that_is_killed_in_its_exchange_is_there_afterwards(self):
        self.gate.close_it()
        child = self.start_in_group("login", "--yes")
        url = self.opened()

        def come_back():
            with contextlib.suppress(OSError):
                self.come_back(url)

        thread = threading.Thread(target=come_back, daemon=True)
        thread.start()
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        self.gate.open_it()
        wait_until(lambda: not self.detached(), "the end of the process", TIMEOUT)
        thread.join(TIMEOUT)
        # The profile waits for the user's confirmation, as after Ctrl-C.
        self.run_enroll("login", "--yes")
        self.token("--renew")
        self.assertEqual(self.counts()["counts"]["authorize"], 1)
