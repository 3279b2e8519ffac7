"""The end of the daemon with a provider that never answers: at most one request's time (json-rpc.md, The end; R39)."""

import os
import signal
import socket
import subprocess
import unittest

from cases import SandboxCase
from daemon import ENROLLD, TIMEOUT
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
        # Long before the request would end by itself.
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
        # Whoever runs the tests in the background has them ignore SIGINT, and so would the daemon.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        daemon, _ = self.renewing()
        while daemon.process.poll() is None:
            daemon.process.send_signal(signal.SIGINT)
        self.assertEqual(daemon.wait(), -signal.SIGINT)


class Streams(unittest.TestCase):
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
