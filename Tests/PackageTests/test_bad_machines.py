"""Machines that cannot run what they were given: each is told so in one sentence."""

import subprocess
import unittest

from cases import distribution, files, sandbox
from chroots import Chroot
from processes import workspace
from test_artefacts import MACHINE, needed, unpacked


class BadMachines(unittest.TestCase):
    """The installer in the tar, with a system that says something else of itself."""

    def setUp(self):
        self.folder = workspace("played")

    def install(self, **programs):
        for name, body in programs.items():
            path = self.folder / name
            path.write_text(f"#!/bin/sh\n{body}\n")
            path.chmod(0o755)
        prefix = self.folder / "prefix"
        done = subprocess.run([unpacked(workspace("tar")) / "install", prefix], capture_output=True, text=True,
                              env={"PATH": f"{self.folder}:/usr/bin:/bin", "HOME": str(self.folder)})  # fmt: skip
        self.assertEqual((done.returncode, done.stdout, prefix.exists()), (1, "", False), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_another_processor(self):
        other = "riscv64"
        told = self.install(uname=f"echo {other}")
        self.assertIn(f"this archive is for {MACHINE} processors; this machine is {other}", told)

    def test_a_c_library_that_is_too_old(self):
        told = self.install(getconf="echo glibc 2.17")
        self.assertRegex(told, r"this archive needs glibc 2\.\d+ or later; this machine has glibc 2\.17")

    def test_another_c_library(self):
        self.assertIn("this machine has another C library", self.install(getconf="exit 1"))

    def test_a_prefix_that_cannot_be_written(self):
        done = subprocess.run([unpacked(workspace("tar")) / "install", "/proc/enrollkit"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("/proc/enrollkit cannot be written", done.stderr)


class MissingLibraries(unittest.TestCase):
    """A bare Debian, which has neither OpenSSL nor libcurl."""

    def setUp(self):
        self.chroot = Chroot.of("bookworm")
        self.chroot.put(unpacked(workspace("tar")), "/srv/here")
        jansson = [name for name in needed() if "jansson" in name]
        if jansson:
            self.chroot.install(*jansson)

    def refusals(self):
        """What the installer and the command say."""
        self.chroot.run("rm", "-rf", "/root/.config", "/root/.local")
        login = ("/srv/here/bin/enroll", "login", "--yes", "--no-browser", "--issuer", sandbox().issuer, "--client-id",
                 "sample-app", "--allow-loopback-http")  # fmt: skip
        for command in (("/srv/here/install", "/opt/enrollkit"), login):
            yield self.chroot.run(*command, status=None)
        self.assertFalse(self.chroot.has("/opt/enrollkit"))

    def test_openssl_then_libcurl(self):
        for _, words in self.refusals():
            self.assertRegex(words, r"libcrypto\.so\.3 could not be opened \(.*\)\. Install OpenSSL 3 \(Debian package libssl3\)")
        self.chroot.install("libssl3")
        for _, words in self.refusals():
            self.assertRegex(words, r"libcurl\.so\.4 could not be opened \(.*\)\. Install libcurl 7\.66 or later \(Debian package libcurl4\)")

    def test_a_home_that_cannot_be_written(self):
        self.chroot.install(*needed())
        words = ("/srv/here/bin/enroll", "login", "--yes", "--no-browser", "--issuer", sandbox().issuer, "--client-id",
                 "sample-app", "--allow-loopback-http")  # fmt: skip
        read_only = "mkdir -p /srv/home && mount -t tmpfs -o ro none /srv/home && HOME=/srv/home exec \"$0\" \"$@\""
        _, told = self.chroot.run("sh", "-c", read_only, *words, status=1)
        self.assertIn("/srv/home cannot be written to: Read-only file system", told)
        request = ('{"jsonrpc":"2.0","id":1,"method":"client.open","params":{"store":"/srv/home/store","configuration":'
                   '{"issuer":"https://id.example","clientId":"a","redirectUri":"a.b:/c"}}}\n')  # fmt: skip
        told, _ = self.chroot.run("sh", "-c", read_only, "/srv/here/bin/enrolld", given=request)
        self.assertIn("/srv/home/store cannot be made: its file system is read-only", told)

    def test_packages_without_what_they_need_are_not_configured(self):
        path, = files(distribution(), "enrolld")
        self.chroot.put(path, "/srv/enrolld.deb")
        _, words = self.chroot.run("dpkg", "--install", "/srv/enrolld.deb", status=1)
        self.assertIn("enrolld depends on libssl3", words)
