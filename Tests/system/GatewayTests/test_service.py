"""Tests of the systemd unit, the program's notifications to systemd, credentials, and signals that arrive
early."""

import contextlib
import os
import re
import signal
import socket
import sqlite3
import subprocess
import unittest
from pathlib import Path

from gateway import PROGRAM, Browser, Gateway, sandbox_for
from processes import TOP, wait_until, workspace

UNIT = TOP / "packaging/enroll-gateway.service.in"
#: The highest exposure of the unit that the test accepts, on the scale of `systemd-analyze security`: 0 is best, 10 is
#: worst.
MOST_EXPOSED = 1.5


def unit():
    """Writes the unit for this program into a separate folder."""
    folder = workspace("unit")
    path = folder / "enroll-gateway.service"
    path.write_text(UNIT.read_text().replace("@enroll-gateway@", str(PROGRAM)))
    return path


class Unit(unittest.TestCase):
    def test_systemd_finds_no_fault_in_the_unit(self):
        done = subprocess.run(
            ["systemd-analyze", "--man=no", "verify", unit()], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_unit_lets_the_program_do_little(self):
        done = subprocess.run(
            ["systemd-analyze", "security", "--offline=true", "--no-pager", f"--threshold={int(MOST_EXPOSED * 10)}",
             unit()], capture_output=True, text=True, timeout=60)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout[-600:] + done.stderr)
        level = re.search(r"Overall exposure level for .*: ([\d.]+)", done.stdout)
        self.assertLessEqual(float(level[1]), MOST_EXPOSED)

    def test_a_crash_writes_no_memory_into_the_log(self):
        self.assertRegex(UNIT.read_text(), r"(?m)^Environment=SWIFT_BACKTRACE=enable=no$")

    def test_stopping_has_time_for_the_requests_in_work(self):
        seconds = int(re.search(r"^TimeoutStopSec=(\d+)$", UNIT.read_text(), re.M)[1])
        told = subprocess.run([PROGRAM, "serve", "--help"], capture_output=True, text=True).stdout
        drain = int(re.search(r"--stop-seconds.*?Default:\s+(\d+)\.", told, re.S)[1])
        self.assertGreaterEqual(seconds, 2 * drain)


class Manager:
    """Plays systemd: receives the notifications that the program sends to NOTIFY_SOCKET."""

    def __init__(self, name):
        self.wire = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.wire.bind(name)
        self.wire.settimeout(60)

    def close(self):
        self.wire.close()

    def next(self):
        return self.wire.recv(4096).decode().split("\n")


class Told(unittest.TestCase):
    def gateway(self, environment):
        gateway = Gateway()
        gateway.settings["providers"] = {"a": {"issuer": "https://id.example", "clientId": "x"}}
        gateway.prefix = ("env", *(f"{name}={value}" for name, value in environment.items()))
        return gateway

    def play(self, manager, name):
        self.addCleanup(manager.close)
        gateway = self.gateway({"NOTIFY_SOCKET": name}).start()
        self.addCleanup(gateway.stop)
        self.assertEqual(manager.next(), ["READY=1"])
        gateway.signal(signal.SIGHUP)
        first, moment = manager.next()
        self.assertEqual(first, "RELOADING=1")
        self.assertRegex(moment, r"^MONOTONIC_USEC=\d+$")
        self.assertEqual(manager.next(), ["READY=1"])
        gateway.signal(signal.SIGTERM)
        self.assertEqual(manager.next(), ["STOPPING=1"])
        self.assertEqual(gateway.child.process.wait(30), 0)

    def test_systemd_is_told_by_a_path(self):
        path = str(workspace("notify") / "notify")
        self.play(Manager(path), path)

    def test_systemd_is_told_by_a_name_of_the_kernel(self):
        name = f"enroll-gateway-test-{os.getpid()}"
        self.play(Manager("\0" + name), "@" + name)

    def test_a_manager_that_reads_nothing_holds_up_no_signal(self):
        path = str(workspace("notify") / "notify")
        manager = Manager(path)
        self.addCleanup(manager.close)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
            other.setblocking(False)
            with self.assertRaises(BlockingIOError):
                while True:
                    other.sendto(b"x", path)
        gateway = self.gateway({"NOTIFY_SOCKET": path}).start()
        self.addCleanup(gateway.stop)
        gateway.signal(signal.SIGTERM)
        self.assertEqual(gateway.child.process.wait(30), 0)

    def test_a_reload_while_the_database_is_locked_holds_up_no_end(self):
        gateway = self.gateway({}).start()
        self.addCleanup(gateway.stop)
        database = sqlite3.connect(gateway.home / "gateway.db", isolation_level=None)
        self.addCleanup(database.close)
        database.execute("BEGIN EXCLUSIVE")
        gateway.signal(signal.SIGHUP)
        wait_until(lambda: "the key file was read again" in gateway.log(), "the keys are read again")
        gateway.signal(signal.SIGTERM)
        self.assertEqual(gateway.child.process.wait(60), 0)
        before, stopping, _ = gateway.log().partition("stopping:")
        self.assertTrue(stopping)
        # The log has no line about audit entries that the program could not write, so no such entry delayed the
        # program's end.
        self.assertNotIn("the audit lacks", before)

    def test_a_key_file_that_is_a_credential_may_have_a_list_of_its_readers(self):
        gateway = self.gateway({})
        gateway.write()
        gateway.run("keys", "add", "--config", str(gateway.configuration))
        (gateway.home / "keys.json").chmod(0o440)
        self.assertIn("chmod 600", gateway.run("check", "--offline", "--config", str(gateway.configuration), status=1))
        gateway.prefix = ("env", f"CREDENTIALS_DIRECTORY={gateway.home}")
        gateway.start()
        self.addCleanup(gateway.stop)
        self.assertEqual(Browser(gateway.base).open("/livez").status, 204)
        (gateway.home / "keys.json").chmod(0o444)
        gateway.signal(signal.SIGHUP)
        wait_until(lambda: "chmod 600" in gateway.log(), "the key file is refused")


class Early(unittest.TestCase):
    def test_a_reload_while_the_gateway_starts_ends_nothing_and_is_done(self):
        gateway = Gateway()
        sandbox = sandbox_for(gateway)
        self.addCleanup(sandbox.stop)
        gateway.start()
        gateway.stop()
        serve = [PROGRAM, "serve", "--config", gateway.configuration]
        for _ in range(20):
            with open(gateway.home / "log", "w") as log:
                process = subprocess.Popen(serve, stderr=log)
            try:
                # From here on the program blocks SIGHUP, so the system keeps the signal until the program reads it.
                wait_until(lambda: blocked(process.pid, signal.SIGHUP), "SIGHUP waits to be read")
                process.send_signal(signal.SIGHUP)
                wait_until(lambda: "was read again" in gateway.log() or process.poll() is not None, "it reads its keys")
                self.assertIsNone(process.poll(), gateway.log())
            finally:
                process.terminate()
                process.wait(30)


    def test_a_reload_before_main_and_one_before_the_program_is_loaded_end_nothing(self):
        gateway = Gateway()
        gateway.settings["providers"] = {"a": {"issuer": "https://id.example", "clientId": "x"}}
        gateway.start()
        gateway.stop()
        # The constructor of a preloaded library runs before main, and sends SIGHUP to the process.
        source, library = gateway.home / "early.c", gateway.home / "early.so"
        source.write_text(
            "#include <signal.h>\n"
            "__attribute__((constructor)) static void early(void) { raise(SIGHUP); }\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        serve = [PROGRAM, "serve", "--config", gateway.configuration]
        with self.serving(gateway, serve, {"LD_PRELOAD": str(library)}) as process:
            wait_until(lambda: "was read again" in gateway.log() or process.poll() is not None, "it reads its keys")
            self.assertIsNone(process.poll(), gateway.log())
        # A supervisor may start the program with SIGHUP ignored, as `trap '' HUP` does.
        with self.serving(gateway, serve, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
            while "listening" not in gateway.log():
                process.send_signal(signal.SIGHUP)
                self.assertIsNone(process.poll(), gateway.log())
            process.send_signal(signal.SIGHUP)
            wait_until(lambda: "was read again" in gateway.log(), "it reads its keys")

    @contextlib.contextmanager
    def serving(self, gateway, words, environment=(), **options):
        with open(gateway.home / "log", "w") as log:
            process = subprocess.Popen(words, stderr=log, env={**os.environ, **dict(environment)}, **options)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(30)


def blocked(pid, number):
    """Whether the first thread of a process blocks a signal."""
    mask = re.search(r"^SigBlk:\s*([0-9a-f]+)$", Path(f"/proc/{pid}/status").read_text(), re.M)[1]
    return int(mask, 16) >> (number - 1) & 1
