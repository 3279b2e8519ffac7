"""Machines that cannot run an artefact: each gets an error of one sentence."""

import re
import shutil
import stat
import subprocess
import unittest

from cases import distribution, files, only, sandbox, torture_only
from chroots import Chroot
from processes import TOP, workspace
from test_artefacts import MACHINE, TARGET, needed, unpacked, wheel

OTHER = {"x86_64": "aarch64", "aarch64": "x86_64"}[MACHINE]
LOGIN = ("login", "--yes", "--no-browser", "--client-id", "sample-app", "--allow-loopback-http")
NO_OPENSSL = r"libcrypto\.so\.3 could not be opened \(.*\)\. Install OpenSSL 3 \(Debian package libssl3\)"
NO_CURL = r"libcurl\.so\.4 could not be opened \(.*\)\. Install libcurl 7\.66 or later \(Debian package libcurl4\)"


class BadMachines(unittest.TestCase):
    """The messages of the tar's installer. The installer uses programs of the system, which the tests replace to
    simulate another machine."""

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

    @torture_only
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


class PlayedInstaller(unittest.TestCase):
    """The installer of the tar in a folder with few files. A test may replace programs of the system."""

    def setUp(self):
        self.home = workspace("installer")
        self.tree, self.prefix = self.home / "tree", self.home / "prefix"
        words = {"@machine@": MACHINE, "@kind@": "glibc", "@libc@": "glibc", "@lowest@": "2.0", "@version@": "0.0.0"}
        text = (TOP / "packaging/tar/install").read_text()
        for word, meaning in words.items():
            text = text.replace(word, meaning)
        self.write(self.tree / "install", text)
        self.write(self.tree / "bin/enrolld", "#!/bin/sh\n")
        self.write(self.tree / "lib/libenroll.so.0", "")
        self.write(self.tree / "lib/systemd/user/enrolld@.service", "[Service]\nExecStart=%h/.local/bin/enrolld\n")
        self.write(self.tree / "share/man/man1/enrolld.1", "")

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def install(self, *words, status=0, umask=-1, **programs):
        """Runs the installer; returns its output. A refusal is one line."""
        played = workspace("played")
        for name, body in programs.items():
            self.write(played / name, f"#!/bin/sh\n{body}\n")
        environment = {"PATH": f"{played}:/usr/bin:/bin", "HOME": str(self.home), "PLAYED": str(played)}
        done = subprocess.run(
            [self.tree / "install", *words], capture_output=True, text=True, umask=umask, env=environment
        )
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1 if status == 1 else 0, done.stderr)
        return done.stdout + done.stderr

    def below(self):
        return sorted(str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*"))

    def uninstall(self):
        self.install("--uninstall", self.prefix)
        self.assertFalse(self.prefix.exists(), self.below())

    def test_prefixes_that_are_none_are_refused(self):
        refused = (
            ([""], "not an empty word"),
            (["/p\nq"], "control character"),
            (["/p", "--uninstall"], "one word too many"),
        )
        for words, named in refused:
            with self.subTest(words):
                self.assertIn(named, self.install(*words, status=1))
        self.assertFalse((self.home / ".local").exists())

    def test_a_folder_where_a_file_goes_is_named_and_nothing_is_written(self):
        (self.prefix / "share/man/man1/enrolld.1").mkdir(parents=True)
        before = self.below()
        self.assertIn("share/man/man1/enrolld.1 is a folder; a file is expected", self.install(self.prefix, status=1))
        self.assertEqual(self.below(), before)

    def test_a_file_where_a_folder_goes_is_named_and_nothing_is_written(self):
        self.write(self.prefix / "share/man", "")
        self.assertIn("share/man is a file; a folder is expected", self.install(self.prefix, status=1))
        self.assertEqual(self.below(), ["share", "share/man"])

    def test_an_uninstallation_goes_on_and_the_list_keeps_what_is_left(self):
        self.install(self.prefix)
        program = self.prefix / "bin/enrolld"
        program.unlink()
        program.mkdir()
        self.assertIn("bin/enrolld could not be removed", self.install("--uninstall", self.prefix, status=1))
        left = ["bin", "bin/enrolld", "lib", "lib/enrollkit", "lib/enrollkit/installed"]
        self.assertEqual(self.below(), left)
        listed = (self.prefix / "lib/enrollkit/installed").read_text().split()
        self.assertEqual(listed, ["./", "bin/", "bin/enrolld", "lib/", "lib/enrollkit/"])
        program.rmdir()
        self.uninstall()

    def test_files_and_folders_are_for_everybody(self):
        for path in (path for path in self.tree.rglob("*") if path.is_file()):
            path.chmod(0o700 if path.parent.name == "bin" or path.name == "install" else 0o600)
        self.install(self.prefix, umask=0o077)
        for name in self.below():
            mode = stat.S_IMODE((self.prefix / name).stat().st_mode)
            self.assertEqual(mode, 0o755 if (self.prefix / name).is_dir() or name == "bin/enrolld" else 0o644, name)

    def test_the_loader_is_told_by_root_and_programs_are_led_to_a_library_that_it_does_not_know(self):
        called = self.home / "called"
        known = f'echo "libenroll.so.0 => {self.prefix}/lib/libenroll.so.0"'
        ldconfig = f'[ "$1" = -p ] || echo called >>{called}; if [ -e {called} ]; then {known}; fi'
        lead = f"export PKG_CONFIG_PATH={self.prefix}/lib/pkgconfig LD_LIBRARY_PATH={self.prefix}/lib\n"
        self.assertIn(lead, self.install(self.prefix, id="echo 1000", ldconfig=ldconfig))
        self.assertFalse(called.exists())
        self.assertNotIn("LD_LIBRARY_PATH", self.install(self.prefix, id="echo 0", ldconfig=ldconfig))
        self.install("--uninstall", self.prefix, id="echo 0", ldconfig=ldconfig)
        self.assertEqual(called.read_text(), "called\n" * 2)

    def test_an_installation_that_was_ended_halfway_is_removed_whole(self):
        # The list of installed files is the first file that the installer moves to its place.
        for signal, status in (("KILL", -9), ("TERM", 143), ("INT", 130)):
            with self.subTest(signal):
                ending = f'case $* in *installed) exec /bin/mv "$@" ;; esac; kill -{signal} $PPID'
                self.install(self.prefix, status=status, mv=ending)
                unfinished = [name for name in self.below() if ".new." in name]
                self.assertEqual(len(unfinished), 1 if signal == "KILL" else 0, unfinished)
                self.uninstall()

    def test_an_installation_that_was_ended_before_its_first_file_is_removed_whole(self):
        ending = f'/bin/mkdir "$@"; [ ! -d "{self.prefix}/bin" ] || kill -KILL $PPID'
        self.install(self.prefix, status=-9, mkdir=ending)
        self.assertIn("bin", self.below())
        self.uninstall()

    def test_two_installations_at_once_do_not_meet(self):
        for program in ("mv", "mkdir", "cp"):
            with self.subTest(program):
                # The second installation runs completely inside the first one.
                other = f"touch $PLAYED/once; {self.tree}/install {self.prefix} >/dev/null || exit"
                body = f'[ -e $PLAYED/once ] || {{ {other}; }}; exec /bin/{program} "$@"'
                self.install(self.prefix, **{program: body})
                self.assertEqual([name for name in self.below() if ".new" in name], [])
                self.uninstall()

    def test_the_unit_has_a_prefix_of_several_words_as_one_and_a_percent_sign_as_itself(self):
        self.prefix = self.home / 'of 100% "us"'
        told = self.install(self.prefix)
        unit = self.prefix / "share/systemd/user/enrolld@.service"
        written = str(self.prefix).replace("%", "%%").replace('"', '\\"')
        self.assertIn(f'\nExecStart="{written}/bin/enrolld"\n', unit.read_text())
        self.assertIn(f"LD_LIBRARY_PATH='{self.prefix}/lib'\n", told)
        self.uninstall()


class PackageManagers(unittest.TestCase):
    """The messages of pip and dpkg about files for another machine. Both programs use the metadata in our files."""

    def refused_by_pip(self, tag):
        """The wheel, renamed as a wheel for another machine. pip decides only by the name."""
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

    @torture_only
    def test_a_folder_without_a_wheel_for_this_machine(self):
        folder = workspace("wheels")
        (other,) = distribution().glob(f"*manylinux*_{OTHER}.whl")
        shutil.copy(other, folder)
        words = [TOP / ".build/dist/bin/python", "-m", "pip", "install", "--no-index", "--find-links", folder,
                 "--target", workspace("target"), "enrollkit"]  # fmt: skip
        done = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("ERROR: No matching distribution found for enrollkit", done.stderr)
        # If the folder also has the source distribution for Python, pip uses it, and then looks for the build tools.
        shutil.copy(only("enrollkit-[0-9]*[0-9].tar.gz"), folder)
        done = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("ERROR: No matching distribution found for hatchling", done.stdout + done.stderr)
        self.assertIn("`No matching distribution found for hatchling`", (TOP / "docs/install.md").read_text())

    @torture_only
    def test_a_package_for_another_processor(self):
        own, other = {"x86_64": ("amd64", "arm64"), "aarch64": ("arm64", "amd64")}[MACHINE]
        path = only(f"enrolld_*_{other}.deb")
        chroot = Chroot.of("bookworm")
        chroot.put(path, "/srv/enrolld.deb")
        _, words = chroot.run("dpkg", "--install", "/srv/enrolld.deb", status=1)
        self.assertIn(f"package architecture ({other}) does not match system ({own})", words)


@torture_only
class UnpackedTar(unittest.TestCase):
    """A minimal Debian with the tar unpacked in /srv/here."""

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
        """The messages of the installer and of the command."""
        self.chroot.run("rm", "-rf", "/root/.config", "/root/.local")
        for command in (("/srv/here/install", "/opt/enrollkit"), self.login()):
            yield self.chroot.run("sh", "-c", '! "$0" "$@"', *command)[1]
        self.assertFalse(self.chroot.has("/opt/enrollkit"))


class MissingLibraries(UnpackedTar):
    """OpenSSL and libcurl are both missing."""

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


class OlderDebian(UnpackedTar):
    """Debian 11: it has glibc 2.31, and no OpenSSL 3."""

    release = "bullseye"

    def setUp(self):
        super().setUp()
        self.chroot.install("libcurl4")

    def test_the_c_library_is_new_enough_and_openssl_is_missing(self):
        self.assertEqual(self.chroot.run("getconf", "GNU_LIBC_VERSION")[0], "glibc 2.31\n")
        for program in ("bin/enrolld", "bin/enroll"):
            self.assertRegex(self.chroot.run(f"/srv/here/{program}", "--version")[0], r"\Aenrolld? \d+\.\d+\.\d+\n\Z")
        for words in self.refusals():
            self.assertEqual(len(re.findall(NO_OPENSSL, words)), 1, words)

    def test_apt_says_that_openssl_3_is_not_installable(self):
        path, = files(distribution(), "enrolld")
        self.chroot.put(path, "/srv/enrolld.deb")
        told, words = self.chroot.run("apt-get", "install", "-y", "/srv/enrolld.deb", status=100)
        self.assertRegex(told + words, r"enrolld : Depends: libssl3 .*not installable")
