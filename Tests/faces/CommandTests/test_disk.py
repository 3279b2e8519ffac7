"""Tests with a store on a full or read-only disk, and with a lock whose process is stopped. The tests mount a
small disk, which needs root."""

import fcntl
import os
import signal
import subprocess
import unittest
from pathlib import Path

from cases import CommandCase
from processes import wait_until, workspace
from terminal import TIMEOUT


class SmallDisk(CommandCase):
    def setUp(self):
        super().setUp()
        self.disk = workspace("disk")
        if os.geteuid() != 0 or subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", self.disk], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("only root can mount a small disk, and not everywhere")
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.disk], check=True)
        self.environment["ENROLL_STORE"] = str(self.disk / "store")
        self.ballast = self.disk / "ballast"

    def fill(self):
        with open(self.ballast, "ab", buffering=0) as ballast:
            try:
                while ballast.write(b"." * 4096):
                    pass
            except OSError:
                pass

    def found(self, status=1):
        """The doctor's findings about the store."""
        return [check for check in self.json("doctor", status=status)["checks"] if check["check"] == "store"]

    def test_the_doctor_names_a_full_disk(self):
        self.sign_in()
        self.fill()
        [found] = self.found()
        self.assertEqual(found["verdict"], "bad")
        self.assertIn("no space is left on its file system. Free some space", found["text"])
        self.assertIn(str(self.disk), found["text"])
        self.ballast.unlink()
        self.assertEqual([check["verdict"] for check in self.found(status=0)], ["good"])

    def test_the_doctor_names_a_read_only_disk(self):
        self.sign_in()
        subprocess.run(["mount", "-o", "remount,ro", self.disk], check=True)
        [found] = self.found()
        self.assertEqual(found["verdict"], "bad")
        self.assertIn("its file system is read-only", found["text"])

    def test_a_disk_that_is_full_when_the_browser_returns_is_told_and_loses_no_sign_in(self):
        child = self.start("login", "--yes")
        url = self.opened()
        self.fill()
        page = self.come_back(url)
        self.assertIn("cannot save the sign-in", page)
        told = ""
        while "no space is left" not in told:
            line = child.stderr.readline()
            self.assertTrue(line, told)
            told += line
        self.assertIn(str(self.disk), told)
        self.assertEqual(self.counts()["counts"].get("token", 0), 0)
        self.ballast.unlink()
        _, words = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 0, told + words)
        self.token()

    def provide(self):
        return self.own_sandbox()


class StuckLock(CommandCase):
    def test_the_doctor_names_a_process_that_is_stopped_and_holds_a_lock(self):
        if not Path("/proc/locks").exists():
            self.skipTest("the system does not tell who holds a lock")
        self.sign_in()
        [lock] = self.store.glob("*.write")
        holder = os.fork()
        if holder == 0:
            descriptor = os.open(lock, os.O_RDWR)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.kill(os.getpid(), signal.SIGSTOP)
            os._exit(0)
        self.addCleanup(os.waitpid, holder, 0)
        self.addCleanup(os.kill, holder, signal.SIGKILL)
        wait_until(lambda: " T " in Path(f"/proc/{holder}/stat").read_text(), "the holder is stopped", TIMEOUT)
        told = self.json("doctor", status=1)
        [found] = [check for check in told["checks"] if check["check"] == "store"]
        self.assertEqual(found["verdict"], "bad")
        self.assertIn(f"process {holder} is stopped and holds the store's lock {lock.name}", found["text"])
        self.assertIn(f"kill -CONT {holder}", found["text"])


if __name__ == "__main__":
    unittest.main()
