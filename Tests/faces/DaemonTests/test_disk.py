"""Tests with a full or read-only disk. They mount a small disk, which needs root (reliability.md, How it is
shown)."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from cases import SandboxCase
from daemon import Refused


class SmallDisk(SandboxCase):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("needs root, to mount a small disk")
        folder = tempfile.TemporaryDirectory(prefix="enrolld-disk-")
        self.addCleanup(folder.cleanup)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", folder.name],
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("this machine does not let root mount a small disk")
        self.addCleanup(subprocess.run, ["umount", "--lazy", folder.name], check=True)
        self.disk = folder.name
        self.store = folder.name + "/store"
        self.ballast = pathlib.Path(folder.name, "ballast")

    def fill(self):
        with open(self.ballast, "ab", buffering=0) as ballast:
            try:
                while ballast.write(b"." * 4096):
                    pass
            except OSError:
                pass

    def test_a_full_disk_shows_before_the_refresh_token_is_spent(self):
        daemon, client = self.signed_in()
        spent = self.sandbox.refreshes
        self.fill()
        answer = daemon.call("token.refresh", client=client)
        self.assertEqual((answer["outcome"], answer["error"]["status"]), ("stale", "storeFull"))
        self.assertEqual(self.sandbox.refreshes, spent)
        with self.assertRaises(Refused) as refused:
            daemon.call("registration.begin", client=client)
        self.assertEqual(refused.exception.status, "storeFull")
        self.ballast.unlink()
        self.assertEqual(daemon.call("token.refresh", client=client)["outcome"], "valid")
        self.assertEqual(self.sandbox.refreshes, spent + 1)

    def test_a_read_only_disk_serves_what_it_has_and_spends_nothing(self):
        daemon, client = self.signed_in()
        spent = self.sandbox.refreshes
        subprocess.run(["mount", "-o", "remount,ro", self.disk], check=True)
        answer = daemon.call("token.refresh", client=client)
        self.assertEqual((answer["outcome"], answer["error"]["status"]), ("stale", "storeRefused"))
        self.assertEqual(self.sandbox.refreshes, spent)
        with self.daemon() as other:
            self.assertEqual(other.call("token.access", client=self.open(other))["outcome"], "valid")
        subprocess.run(["mount", "-o", "remount,rw", self.disk], check=True)
        self.assertEqual(daemon.call("token.refresh", client=client)["outcome"], "valid")


if __name__ == "__main__":
    unittest.main()
