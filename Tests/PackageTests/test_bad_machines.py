"""Machines that cannot run what they were given: each is told so in one sentence."""

import re
import shutil
import subprocess
import unittest

from cases import IS_TORTURE, distribution, files, only, sandbox
from chroots import Chroot
from processes import TOP, workspace
from test_artefacts import MACHINE, TARGET, needed, unpacked, wheel

OTHER = {"x86_64": "aarch64", "aarch64": "x86_64"}[MACHINE]
LOGIN = ("login", "--yes", "--no-browser", "--client-id", "sample-app", "--allow-loopback-http")
NO_OPENSSL = r"libcrypto\.so\.3 could not be opened \(.*\)\. Install OpenSSL 3 \(Debian package libssl3\)"
NO_CURL = r"libcurl\.so\.4 could not be opened \(.*\)\. Install libcurl 7\.66 or later \(Debian package libcurl4\)"


class BadMachines(unittest.TestCase):
    """What the installer in the tar says. It asks programs of the system, which are replaced where another machine is played."""

    def setUp(self):
        self.folder = workspace("played")

    def install(self, archive=f"enrollkit-*-{TARGET}.tar.gz", **programs):
        for name, body in programs.items():
            path = self.folder / name
            path.write_text(f"#!/bin/sh\n{body}\n")
            path.chmod(0o755)
        prefix = self.folder / "prefix"
        done = subprocess.run([unpacked(workspace("tar"), archive) / "install", prefix], capture_output=True, text=True,
                              env={"PATH": f"{self.folder}:/usr/bin:/bin", "HOME": str(self.folder)})  # fmt: skip
        self.assertEqual((done.returncode, done.stdout, prefix.exists()), (1, "", False), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_another_processor(self):
        told = self.install(f"enrollkit-*-{OTHER}-linux-gnu.tar.gz")
        self.assertIn(f"this archive is for {OTHER} processors; this machine is {MACHINE}. Take the archive that has {MACHINE}", told)

    def test_a_c_library_that_is_too_old(self):
        told = self.install(getconf="echo glibc 2.17")
        self.assertRegex(told, r"this archive needs glibc 2\.\d+ or later; this machine has glibc 2\.17")

    def test_another_c_library(self):
        self.assertIn("this machine has another C library", self.install(getconf="exit 1"))

    def test_a_prefix_that_cannot_be_written(self):
        done = subprocess.run([unpacked(workspace("tar")) / "install", "/proc/enrollkit"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("/proc/enrollkit cannot be written", done.stderr)

    def test_words_that_the_installer_does_not_know(self):
        for words, named in ((["--remove"], "--remove is not an option"), (["--uninstall", "opt"], "an absolute path, not opt")):
            with self.subTest(words):
                done = subprocess.run([unpacked(workspace("tar")) / "install", *words], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
                self.assertIn(named, done.stderr)


class PackageManagers(unittest.TestCase):
    """What pip and dpkg say of files for another machine: it is their own sentence, made of what our files say of themselves."""

    def refused_by_pip(self, tag):
        """The wheel as if it were for another machine: pip judges by the name alone."""
        path = workspace("wheel") / re.sub(r"[^-]+\.whl$", f"{tag}.whl", wheel().name)
        shutil.copy(wheel(), path)
        done = subprocess.run([TOP / ".build/dist/bin/python", "-m", "pip", "install", "--no-index", "--disable-pip-version-check",
                               "--target", workspace("target"), path], capture_output=True, text=True)  # fmt: skip
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(f"ERROR: {path.name} is not a supported wheel on this platform.", done.stderr)

    def test_a_wheel_for_another_processor(self):
        self.refused_by_pip(f"manylinux_2_28_{OTHER}")

    def test_a_wheel_for_a_later_c_library(self):
        self.refused_by_pip(f"manylinux_2_99_{MACHINE}")

    def test_a_wheel_for_another_c_library(self):
        self.refused_by_pip(f"musllinux_1_2_{MACHINE}")

    def test_a_folder_without_a_wheel_for_this_machine(self):
        folder = workspace("wheels")
        (other,) = distribution().glob(f"*manylinux*_{OTHER}.whl")
        shutil.copy(other, folder)
        done = subprocess.run([TOP / ".build/dist/bin/python", "-m", "pip", "install", "--no-index", "--find-links", folder,
                               "--target", workspace("target"), "enrollkit"], capture_output=True, text=True)  # fmt: skip
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("ERROR: No matching distribution found for enrollkit", done.stderr)
        self.assertIn("`No matching distribution found`", (TOP / "docs/install.md").read_text())

    def test_a_package_for_another_processor(self):
        own, other = {"x86_64": ("amd64", "arm64"), "aarch64": ("arm64", "amd64")}[MACHINE]
        path = only(f"enrolld_*_{other}.deb")
        chroot = Chroot.of("bookworm")
        chroot.put(path, "/srv/enrolld.deb")
        _, words = chroot.run("dpkg", "--install", "/srv/enrolld.deb", status=1)
        self.assertIn(f"package architecture ({other}) does not match system ({own})", words)


class UnpackedTar(unittest.TestCase):
    """A bare Debian with the tar in /srv/here."""

    release = "bookworm"

    def setUp(self):
        self.chroot = Chroot.of(self.release)
        self.chroot.put(unpacked(workspace("tar")), "/srv/here")
        jansson = [name for name in needed() if "jansson" in name]
        if jansson:
            self.chroot.install(*jansson)

    def login(self):
        return ("/srv/here/bin/enroll", *LOGIN, "--issuer", sandbox().issuer)

    def refusals(self):
        """What the installer and the command say."""
        self.chroot.run("rm", "-rf", "/root/.config", "/root/.local")
        for command in (("/srv/here/install", "/opt/enrollkit"), self.login()):
            yield self.chroot.run("sh", "-c", '! "$0" "$@"', *command)[1]
        self.assertFalse(self.chroot.has("/opt/enrollkit"))


class MissingLibraries(UnpackedTar):
    """Neither OpenSSL nor libcurl is there."""

    def test_openssl_then_libcurl(self):
        for words in self.refusals():
            self.assertRegex(words, NO_OPENSSL)
        self.chroot.install("libssl3")
        for words in self.refusals():
            self.assertRegex(words, NO_CURL)

    def test_a_home_that_cannot_be_written(self):
        self.chroot.install(*needed())
        read_only = "mkdir -p /srv/home && mount -t tmpfs -o ro none /srv/home && HOME=/srv/home exec \"$0\" \"$@\""
        _, told = self.chroot.run("sh", "-c", read_only, *self.login(), status=1)
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


@unittest.skipUnless(IS_TORTURE, "another release of Debian: TORTURE=1")
class OlderDebian(UnpackedTar):
    """Debian 11: its glibc is 2.31, and it has no OpenSSL 3."""

    release = "bullseye"

    def setUp(self):
        super().setUp()
        self.chroot.install("libcurl4")

    def test_the_c_library_is_new_enough_and_openssl_is_missing(self):
        self.assertEqual(self.chroot.run("getconf", "GNU_LIBC_VERSION")[0], "glibc 2.31\n")
        for program in ("bin/enrolld", "bin/enroll", "libexec/enrollkit/enroll"):
            self.assertRegex(self.chroot.run(f"/srv/here/{program}", "--version")[0], r"\Aenrolld? \d+\.\d+\.\d+\n\Z")
        for words in self.refusals():
            self.assertEqual(len(re.findall(NO_OPENSSL, words)), 1, words)

    def test_apt_says_that_openssl_3_is_not_installable(self):
        path, = files(distribution(), "enrolld")
        self.chroot.put(path, "/srv/enrolld.deb")
        told, words = self.chroot.run("apt-get", "install", "-y", "/srv/enrolld.deb", status=100)
        self.assertRegex(told + words, r"enrolld : Depends: libssl3 .*not installable")
