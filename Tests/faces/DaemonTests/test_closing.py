"""Tests how the daemon ends if the provider never answers: it waits for at most the time that one request may
take (json-rpc.md, The end; R39)."""

import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import threading
import unittest
import urllib.request

from cases import SandboxCase
from daemon import ENROLLD, TIMEOUT, Refused
from provider import Gate
from silent import Silent


class Closing(SandboxCase):
    def setUp(self):
        super().setUp()
        self.silent = Silent()
        self.addCleanup(self.silent.close)

    def renewing(self):
        """A daemon whose refresh token was sent to a token endpoint that does not answer."""
        daemon, client = self.signed_in()
        daemon.call("client.close", client=client)
        configuration = self.sandbox.configuration_with_token_endpoint(self.silent.url + "/token")
        client = self.open(daemon, configuration)
        renewal = daemon.start("token.refresh", {"client": client, "timeout": 300})
        self.assertTrue(self.silent.reached.wait(TIMEOUT))
        return daemon, renewal

    def test_after_the_input_a_refresh_token_that_was_sent_gets_one_request_s_time_and_no_second_try(self):
        daemon, _ = self.renewing()
        daemon.process.stdin.close()
        self.assertEqual(daemon.wait(), 0)
        self.assertEqual(len(self.silent.connections), 1)

    def test_after_a_signal_what_was_not_sent_is_given_up_at_once(self):
        daemon = self.daemon()
        configuration = {**self.sandbox.configuration, "issuer": self.silent.url}
        client = self.open(daemon, configuration)
        begun = daemon.start("registration.begin", {"client": client, "timeout": 300})
        self.assertTrue(self.silent.reached.wait(TIMEOUT))
        daemon.process.send_signal(signal.SIGTERM)
        # The process ends long before the request itself would time out.
        self.assertEqual(daemon.process.wait(25), 0)
        self.assertEqual(len(self.silent.connections), 1)
        with self.assertRaises(Exception):
            begun.result()


    def test_one_end_asked_for_by_several_signals_loses_no_session(self):
        for numbers in ((signal.SIGTERM, signal.SIGHUP), (signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGINT)):
            with self.subTest(numbers):
                daemon, client = self.signed_in(self.daemon(preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)))
                before = self.sandbox.refreshes
                self.sandbox.control("fault", fault="delay", endpoint="token", value=1500, times=1)
                daemon.start("token.refresh", {"client": client, "timeout": 300})
                while self.sandbox.refreshes == before:
                    pass
                for number in numbers * 3:
                    daemon.process.send_signal(number)
                self.assertEqual(daemon.wait(), 0)
                following = self.daemon()
                outcome = following.call("token.refresh", client=self.open(following), timeout=30)["outcome"]
                self.assertEqual(outcome, "valid")
                following.call("token.revoke", client=self.open(following))

    def test_ctrl_c_again_later_ends_it_at_once(self):
        # A shell starts background programs with SIGINT ignored, and the daemon would inherit this setting.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        daemon, _ = self.renewing()
        while daemon.process.poll() is None:
            daemon.process.send_signal(signal.SIGINT)
        self.assertEqual(daemon.wait(), -signal.SIGINT)


class GatedCase(SandboxCase):
    """Tests in which the token endpoint answers only when the test opens its gate."""

    def setUp(self):
        super().setUp()
        self.gate = Gate(self.sandbox.metadata()["token_endpoint"])
        self.addCleanup(self.gate.close)
        self.configuration = self.sandbox.configuration_with_token_endpoint(self.gate.url)

    def assertGoesOn(self, daemon):
        """Checks that the process still runs after four seconds. If closing cut the wait short, the process would
        have ended by then."""
        with self.assertRaises(subprocess.TimeoutExpired):
            daemon.process.wait(4)


class Groups(GatedCase):
    """Tests with a host that is killed together with its process group, as timeouts and build tools do it."""

    def test_a_killed_group_of_the_host_loses_no_session(self):
        host = subprocess.Popen(["sleep", "600"], preexec_fn=os.setpgrp)
        self.addCleanup(host.wait)
        self.addCleanup(host.kill)
        daemon = self.daemon(preexec_fn=lambda: os.setpgid(0, host.pid))
        daemon, client = self.signed_in(daemon, self.configuration)
        before = self.sandbox.refreshes
        self.gate.close_it()
        daemon.start("token.refresh", {"client": client, "timeout": 300})
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        os.killpg(host.pid, signal.SIGKILL)
        daemon.end_input()
        self.gate.open_it()
        self.assertEqual(daemon.wait(), 0)
        self.assertEqual(self.sandbox.refreshes, before + 1)
        following = self.daemon()
        client = self.open(following, self.configuration)
        self.assertEqual(following.call("token.refresh", client=client, timeout=30)["outcome"], "valid")


class Codes(GatedCase):
    """Tests of closing after the code from a loopback redirect was sent to the provider."""

    def exchanging(self):
        configuration = {**self.configuration, "redirectUri": "http://127.0.0.1/callback"}
        daemon = self.daemon()
        client = self.open(daemon, configuration)
        begun = daemon.call("registration.begin", client=client)
        awaited = daemon.start("registration.awaitOutcome", {"client": client, "transaction": begun["transaction"]})
        redirect = self.sandbox.play(begun["action"]["url"])
        self.gate.close_it()

        def come_back():
            with contextlib.suppress(OSError):
                urllib.request.urlopen(redirect, timeout=TIMEOUT).close()

        threading.Thread(target=come_back, daemon=True).start()
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        return daemon, client, awaited, configuration

    def test_it_is_followed_to_its_tokens_whoever_leaves(self):
        endings = {
            "the end of the input": lambda daemon, client: daemon.end_input(),
            "a signal": lambda daemon, client: daemon.process.send_signal(signal.SIGTERM),
            "client.close": lambda daemon, client: (daemon.call("client.close", client=client), daemon.end_input()),
        }
        for name, end in endings.items():
            with self.subTest(name):
                daemon, client, awaited, configuration = self.exchanging()
                end(daemon, client)
                self.assertGoesOn(daemon)
                self.gate.open_it()
                self.assertEqual(daemon.wait(), 0)
                following = self.daemon()
                client = self.open(following, configuration)
                self.assertEqual(following.call("registration.state", client=client)["state"]["state"], "awaitingConfirmation")
                following.call("registration.retry", client=client)


class Unsaved(GatedCase):
    """Tests with renewed tokens that arrive while the store is missing, because its folder was moved away."""

    def renewed(self):
        daemon, client = self.signed_in(configuration=self.configuration)
        self.gate.close_it()
        renewal = daemon.start("token.refresh", {"client": client})
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        self.away = self.store + "-away"
        os.rename(self.store, self.away)
        self.gate.open_it()
        with contextlib.suppress(Refused):
            self.assertNotEqual(renewal.result()["outcome"], "valid")
        self.assertEqual(self.sandbox.refreshes, 1)
        return daemon, client

    def test_a_later_client_of_the_same_process_gets_them(self):
        daemon, client = self.renewed()
        daemon.call("client.close", client=client)
        self.assertGoesOn(daemon)
        os.rename(self.away, self.store)
        later = self.open(daemon, self.configuration)
        # If the closed client stored the tokens first, this call renews with the new refresh token. If EnrollKit sent
        # the old refresh token again, the session would end.
        self.assertEqual(daemon.call("token.refresh", client=later, timeout=30)["outcome"], "valid")
        self.assertEqual(daemon.call("token.refresh", client=later, timeout=30)["outcome"], "valid")

    def test_the_end_of_the_daemon_waits_for_the_store(self):
        for end in (lambda daemon: daemon.end_input(), lambda daemon: daemon.process.send_signal(signal.SIGTERM)):
            daemon, _ = self.renewed()
            end(daemon)
            self.assertGoesOn(daemon)
            os.rename(self.away, self.store)
            self.assertEqual(daemon.wait(), 0)
            following = self.daemon()
            client = self.open(following, self.configuration)
            self.assertEqual(following.call("token.refresh", client=client, timeout=30)["outcome"], "valid")
            self.assertEqual(self.sandbox.refreshes, 2)
            following.call("token.revoke", client=client)
            following.close()
            self.sandbox.control("resetCounts")


class Locks(SandboxCase):
    """Tests in which another process holds a lock of the store and does not release it."""

    # The seconds in which the daemon must end: far fewer than the store's own timeout for a lock.
    SOON = 20

    CALLS = (
        (".write", "registration.begin"), (".write", "logout.begin"), (".write", "token.revoke"),
        ("store.lock", "logout.begin"))

    @contextlib.contextmanager
    def waiting(self, suffix, method, **parameters):
        """A daemon with a call that waits for the lock file with this suffix."""
        daemon, client = self.signed_in()
        with contextlib.ExitStack() as locks:
            for name in os.listdir(self.store):
                if name.endswith(suffix):
                    lock = locks.enter_context(open(os.path.join(self.store, name), "r+b"))
                    fcntl.flock(lock, fcntl.LOCK_EX)
            yield daemon, daemon.start(method, {"client": client, **parameters})

    def test_a_cancelled_call_does_not_wait_on(self):
        for suffix, method in self.CALLS[:3]:
            with self.subTest(method), self.waiting(suffix, method) as (daemon, call):
                daemon.cancel(call)
                with self.assertRaises(Refused) as refused:
                    call.result(self.SOON)
                self.assertEqual(refused.exception.status, "cancelled")

    def test_a_timeout_ends_the_wait(self):
        with self.waiting(".write", "registration.begin", timeout=1) as (_, call):
            with self.assertRaises(Refused) as refused:
                call.result(self.SOON)
        self.assertEqual(refused.exception.status, "deadlineExceeded")

    def test_a_renewal_that_waits_for_the_store_is_not_said_to_go_on(self):
        with self.waiting(".write", "token.refresh", timeout=1) as (_, call):
            answer = call.result(self.SOON)
        self.assertEqual((answer["outcome"], answer["error"]["status"]), ("stale", "deadlineExceeded"))
        self.assertNotIn("goes on", answer["error"]["message"])

    def test_a_signal_ends_the_wait(self):
        for suffix, method in (*self.CALLS, (".write", "token.refresh")):
            with self.subTest(f"{method}, {suffix}"), self.waiting(suffix, method) as (daemon, _):
                daemon.process.send_signal(signal.SIGTERM)
                self.assertEqual(daemon.wait(self.SOON), 0)


class Streams(unittest.TestCase):
    def test_pages_that_cannot_be_printed_are_a_failure_that_is_told(self):
        for option in ("--manifest", "--version", "--help"):
            with self.subTest(option), open("/dev/full", "wb") as full:
                done = subprocess.run([ENROLLD, option], stdout=full, stderr=subprocess.PIPE, timeout=TIMEOUT)
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"standard output cannot be written: No space left on device", done.stderr)

    def test_a_stdout_whose_peer_is_gone_ends_it(self):
        ours, theirs = socket.socketpair()
        process = subprocess.Popen([ENROLLD], stdin=subprocess.PIPE, stdout=theirs)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.kill)
        theirs.close()
        ours.close()
        self.assertEqual(process.wait(TIMEOUT), 0)

    def test_a_signal_is_heard_while_an_answer_cannot_be_written(self):
        ours, theirs = socket.socketpair()
        process = subprocess.Popen([ENROLLD], stdin=subprocess.PIPE, stdout=theirs)
        self.addCleanup(process.kill)
        theirs.close()
        with ours, process.stdin:
            process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"system.describe"}\n' * 2000)
            process.stdin.flush()
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(TIMEOUT), 0)

    REQUEST = b'{"jsonrpc":"2.0","id":1,"method":"system.describe"}\n'

    def test_answers_that_cannot_be_written_are_a_failure_that_is_told(self):
        with open("/dev/full", "wb") as full, open("/dev/null", "rb") as reading:
            for output, words in ((full, b"No space left on device"), (reading, b"Bad file descriptor")):
                with self.subTest(output.name):
                    done = subprocess.run(
                        [ENROLLD], input=self.REQUEST, stdout=output, stderr=subprocess.PIPE, timeout=TIMEOUT)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(b"standard output cannot be written: " + words, done.stderr)

    def test_a_stdin_that_cannot_be_read_is_a_failure_that_is_told(self):
        folder = os.open("/", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        with open("/dev/null", "wb") as writing:
            for given, words in ((folder, b"Is a directory"), (writing, b"Bad file descriptor")):
                with self.subTest(words):
                    done = subprocess.run([ENROLLD], stdin=given, capture_output=True, timeout=TIMEOUT)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(b"standard input cannot be read: " + words, done.stderr)

    def test_streams_that_are_closed_are_the_null_device(self):
        for closed in ("<&-", "<&- >&-", "<&- 2>&-", "<&- >&- 2>&-"):
            with self.subTest(closed):
                done = subprocess.run(["bash", "-c", f'exec "$0" {closed}', ENROLLD], timeout=TIMEOUT)
                self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
