"""Tests of the daemon's process: its options, its end, hosts that do not read its answers, and its data that
other processes must not see."""

import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from daemon import ENROLLD, TIMEOUT, Daemon, Refused, manifest
from schema import check

CALL = {"jsonrpc": "2.0", "id": "call", "method": "expiry.check", "params": {"expiresAt": 1, "now": 0}}


def run(*arguments, given=b""):
    return subprocess.run([ENROLLD, *arguments], input=given, capture_output=True, timeout=TIMEOUT)


class Options(unittest.TestCase):
    def test_help_and_version_are_printed(self):
        for word, begin in (("--help", b"usage: enrolld"), ("--version", b"enrolld 0.")):
            done = run(word)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertTrue(done.stdout.startswith(begin))

    def test_the_manifest_describes_a_configuration_that_works(self):
        schema = manifest()["byName"]["client.open"]["input"]["properties"]["configuration"]
        good = {"issuer": "https://id.example", "client_id": "app", "redirectUri": "com.example.app:/cb"}
        check(good, schema)
        for bad in ({**good, "clientId": "app"}, {**good, "frobnicate": 1}, {**good, "grace": "60"},
                    {"issuer": "https://id.example"}):
            with self.assertRaises(AssertionError):
                check(bad, schema)

    def test_words_that_are_not_known_are_refused_with_status_2(self):
        for words in (["--frobnicate"], ["operand"], ["--log-level"], ["--log-level", "loud"], ["--help=yes"]):
            with self.subTest(words):
                done = run(*words)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertTrue(done.stderr)

    def test_the_log_says_what_its_level_allows(self):
        for level, silent in (("error", True), ("warning", True), ("info", False), ("debug", False)):
            done = run("--log-level", level, given=b'{"jsonrpc":"2.0","id":1,"method":"expiry.check"}\n')
            self.assertEqual(done.stderr == b"", silent, level)


    def test_words_are_read_where_proc_is_not_mounted(self):
        def hidden(*words):
            return subprocess.run(["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh", *words],
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)

        if hidden("true").returncode:
            self.skipTest("a mount namespace is needed to hide /proc")
        done = hidden(ENROLLD, "--log-level", "error", "--version")
        self.assertEqual((done.returncode, done.stdout[:10], done.stderr), (0, b"enrolld 0.", b""))
        for words in (["--frobnicate"], ["operand"], ["--log-level", "loud"]):
            with self.subTest(words):
                done = hidden(ENROLLD, *words)
                self.assertEqual((done.returncode, done.stdout), (2, b""))
                self.assertTrue(done.stderr)


class OtherLibraries(unittest.TestCase):
    def test_without_openssl_only_what_needs_it_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "libcrypto.so.3").write_text("no library")
            paths = [folder, os.environ.get("LD_LIBRARY_PATH", "")]
            with Daemon(env={"LD_LIBRARY_PATH": ":".join(filter(None, paths))}) as daemon:
                self.assertEqual(daemon.call("expiry.check", expiresAt=1, now=0)["band"], "due")
                for _ in range(2):
                    with self.assertRaises(Refused) as refused:
                        daemon.call("pkce.generate")
                    self.assertEqual(refused.exception.status, "unsupported")
                    self.assertIn("libcrypto.so.3 could not be opened", refused.exception.message)
                self.assertEqual(daemon.call("expiry.check", expiresAt=1, now=0)["band"], "due")


class Endings(unittest.TestCase):
    def daemon(self, **options):
        daemon = Daemon(**options)
        self.addCleanup(daemon.__exit__)
        return daemon

    def test_end_of_input_ends_it_with_status_0(self):
        self.assertEqual(run().returncode, 0)

    def test_a_signal_ends_it_in_order(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            # A shell starts background programs with SIGINT ignored, and the daemon would inherit this setting.
            daemon = self.daemon(preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
            daemon.call("system.describe")
            daemon.process.send_signal(number)
            self.assertEqual(daemon.wait(), 0)

    def test_a_signal_that_the_parent_had_ignored_stays_ignored(self):
        daemon = self.daemon(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        daemon.call("system.describe")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.call("system.describe")

    def test_a_closed_stdout_ends_it_in_order_without_a_word_from_the_host(self):
        process = subprocess.Popen([ENROLLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(json.dumps(CALL).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(TIMEOUT), 0)
        process.stdin.close()

    def test_requests_in_the_last_breath_are_answered(self):
        requests = b"".join(json.dumps({**CALL, "id": number, "method": method, "params": {}}).encode() + b"\n"
                            for number, method in enumerate(["system.describe", "accounts.list", "pkce.generate"] * 20))
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run([ENROLLD], input=requests, capture_output=True, timeout=TIMEOUT,
                                  env={"HOME": home, "PATH": os.environ["PATH"]})
        self.assertEqual(sorted(json.loads(line)["id"] for line in done.stdout.splitlines()), list(range(60)))

    def test_sockets_and_files_serve_as_well_as_pipes(self):
        ours, theirs = socket.socketpair()
        process = subprocess.Popen([ENROLLD], stdin=theirs, stdout=theirs)
        theirs.close()
        with ours, ours.makefile("rwb") as stream:
            for number in range(100):
                stream.write(json.dumps({**CALL, "id": number}).encode() + b"\n")
            stream.flush()
            self.assertEqual([json.loads(stream.readline())["id"] for _ in range(100)], list(range(100)))
            ours.shutdown(socket.SHUT_WR)
            self.assertEqual(stream.readline(), b"")
        self.assertEqual(process.wait(TIMEOUT), 0)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "in")
            path.write_bytes(b"".join(json.dumps({**CALL, "id": number}).encode() + b"\n" for number in range(1000)))
            with path.open() as given, open(folder + "/out", "wb") as out:
                self.assertEqual(subprocess.run([ENROLLD], stdin=given, stdout=out, timeout=TIMEOUT).returncode, 0)
            self.assertEqual(pathlib.Path(folder, "out").read_bytes().count(b"\n"), 1000)


class Hosts(unittest.TestCase):
    """Hosts that read late or never."""

    def setUp(self):
        self.process = subprocess.Popen(
            [ENROLLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass

    def test_a_host_that_writes_everything_before_it_reads_is_read_all_the_same(self):
        """2 MB of answers do not fit into a pipe. The daemon must continue to read requests while these answers
        wait."""
        count = 20_000
        self.process.stdin.write(b"".join(json.dumps({**CALL, "id": number}).encode() + b"\n" for number in range(count)))
        self.process.stdin.close()
        ids = [json.loads(line)["id"] for line in self.process.stdout]
        self.assertEqual(ids, list(range(count)))
        self.assertEqual(self.process.wait(TIMEOUT), 0)

    def test_a_host_that_never_reads_is_given_up_with_status_1(self):
        """The answers to one batch have more than half a megabyte, so the answers to 64 batches exceed the limit of 16
        MiB."""
        one = {"jsonrpc": "2.0", "id": 1, "method": "system.describe"}
        batch = json.dumps([one] * 1000).encode() + b"\n"
        for _ in range(64):
            try:
                self.process.stdin.write(batch)
                self.process.stdin.flush()
            except BrokenPipeError:
                break
        self.assertEqual(self.process.wait(TIMEOUT), 1)
        self.assertIn(b"does not read", self.process.stderr.read())

    def test_a_host_that_does_not_read_the_log_loses_lines_and_no_answers(self):
        self.end()
        self.process = subprocess.Popen([ENROLLD, "--log-level", "debug"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        count = 20_000
        self.process.stdin.write(b"".join(json.dumps({**CALL, "id": number}).encode() + b"\n" for number in range(count)))
        self.process.stdin.close()
        self.assertEqual(sum(1 for _ in self.process.stdout), count)


class Hidden(unittest.TestCase):
    def test_it_leaves_no_core_and_nobody_of_the_same_user_looks_into_it_r40(self):
        if os.geteuid() != 0:
            self.skipTest("root is needed to become somebody else")

        def become_nobody():
            resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)

        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = shutil.copy(ENROLLD, folder + "/enrolld")
            process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       preexec_fn=become_nobody)
            with process:
                process.stdin.write(json.dumps(CALL).encode() + b"\n")
                process.stdin.flush()
                process.stdout.readline()
                limits = pathlib.Path(f"/proc/{process.pid}/limits").read_text()
                core = next(line for line in limits.splitlines() if line.startswith("Max core file size"))
                # Only the soft limit is 0, so a program that the daemon starts may raise its own limit.
                self.assertEqual(core.split()[4:6], ["0", "unlimited"])
                # The files in /proc of a process that cannot be dumped belong to root.
                self.assertEqual(os.stat(f"/proc/{process.pid}/environ").st_uid, 0)
                process.stdin.close()


if __name__ == "__main__":
    unittest.main()
