"""Each artefact of `make dist`, installed and used in a system without Swift and without the checkout."""

import functools
import json
import os
import platform
import re
import subprocess
import tarfile
import time
import unittest
import zipfile
from pathlib import Path

from cases import (
    STORE, TOKEN, VERSION, Peer, built, come_back, distribution, example, files, only, report, sandbox, sign_in, torture_only,
)  # fmt: skip
from chroots import Chroot
from processes import TIMEOUT, TOP, workspace

MACHINE = platform.machine()
TARGET = f"{MACHINE}-linux-gnu"
TAR = f"enrollkit-*-{TARGET}.tar.gz"
#: The parts of the C library. They are one library in glibc since version 2.34, and in every version of musl.
OF_THE_C_LIBRARY = re.compile(r"(libc|libm|libdl|libpthread|ld-linux-.*)\.so")
SOURCES = "enrollkit-[0-9]*[0-9].tar.gz"
LIBRARIES = ("libssl3", "libcurl4")


@functools.cache
def wheel():
    return only(f"*[!l]linux*_{MACHINE}.whl")


@functools.cache
def needed():
    """The Debian packages that the tar's page requires. A build of `make lib TARGET=…` contains jansson, so its page
    does not require libjansson4."""
    page = (unpacked(workspace("needs")) / "README.md").read_text()
    return (*LIBRARIES, *(["libjansson4"] if "libjansson4" in page else []))


def unpacked(folder, pattern=TAR):
    subprocess.run(["tar", "-xzf", only(pattern), "-C", folder], check=True)
    return next(Path(folder).iterdir())


def programs(folder):
    """Every program and library below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return [path for path in files if path.read_bytes()[:4] == b"\x7fELF"]


@torture_only
class UsedArtefacts(unittest.TestCase):
    def setUp(self):
        self.chroot = Chroot.of("bookworm")

    def environment(self):
        """A virtual environment in the system, and its Python."""
        self.chroot.run("python3", "-m", "venv", "/srv/venv")
        return "/srv/venv/bin/python"

    def read(self, path):
        return (self.chroot.root / path.lstrip("/")).read_text()

    def below(self, folder):
        return set(self.chroot.run("find", folder)[0].splitlines())

    def check_python(self, python):
        self.chroot.put(TOP / "Examples/sign_in.py", "/srv/sign_in.py")
        told = example(self.chroot, python, "/srv/sign_in.py", sandbox().issuer, "/srv/store")
        self.assertRegex(told, r"A valid token of \d+ bytes\.")

    def test_the_wheel_in_a_fresh_virtual_environment(self):
        began = time.monotonic()
        self.chroot.install("python3-venv", *needed())
        python = self.environment()
        self.chroot.put(wheel(), f"/srv/{wheel().name}")
        self.chroot.run(python, "-m", "pip", "install", "--no-index", f"/srv/{wheel().name}")
        self.check_python(python)
        report("pip", began)
        # The wheel carries the daemon, too.
        program = "import enrollkit\nwith enrollkit.Daemon() as daemon: print(daemon.describe().version)"
        self.assertEqual(self.chroot.run(python, "-c", program)[0], f"{VERSION}\n")

    def test_the_source_distribution_uses_the_systems_library(self):
        self.chroot.install("python3-venv", *files(distribution(), "libenroll0", "enrolld"))
        python = self.environment()
        folder = workspace("index")
        subprocess.run([TOP / ".build/dist/bin/python", "-m", "pip", "download", "--quiet", "--dest", folder, "hatchling==1.27.0"], check=True)
        self.chroot.put(folder, "/srv/index")
        path = f"/srv/{only(SOURCES).name}"
        self.chroot.put(only(SOURCES), path)
        words = [python, "-m", "pip", "install", "--no-index", "--find-links", "/srv/index", path]
        # Without the sources the library cannot be built, and the error says so.
        told = "\n".join(self.chroot.run(*words, status=1))
        self.assertIn("there is no libenroll beside these sources", told)
        self.chroot.run(*words, ENROLLKIT_SYSTEM_LIBRARY="1")
        self.check_python(python)

    def test_the_tar_is_installed_and_works_where_it_is_unpacked(self):
        began = time.monotonic()
        self.chroot.install(*needed())
        tree = unpacked(workspace("tar"))
        self.chroot.put(tree, "/srv/here")
        self.assertIn("is installed in /opt/enrollkit", self.chroot.run("/srv/here/install", "/opt/enrollkit")[0])
        sign_in(self.chroot, "/opt/enrollkit/bin/enroll")
        token, _ = self.chroot.run("/opt/enrollkit/bin/enroll", "token")
        self.assertRegex(token, TOKEN)
        report("tar", began)
        self.assertIn("ExecStart=/opt/enrollkit/bin/enrolld\n", self.read("/opt/enrollkit/lib/systemd/user/enrolld@.service"))
        # The tree works in another folder without an installation: the programs find each other, and pkg-config
        # finds the library.
        self.assertEqual(self.chroot.run("/srv/here/bin/enroll", "token")[0], token)
        self.assertIn("accounts", self.chroot.run("/srv/here/bin/enroll", "accounts", "--json")[0])
        program = workspace("linked") / "program"
        for module in ("enroll", "enroll-static"):
            words = subprocess.check_output(["pkg-config", "--cflags", "--libs", module], text=True,
                                            env={**os.environ, "PKG_CONFIG_PATH": str(tree / "lib/pkgconfig")})  # fmt: skip
            subprocess.run(["cc", TOP / "Examples/sign_in.c", *words.split(), "-o", program], check=True)
            self.chroot.put(program, f"/srv/{module}")
            told = example(self.chroot, f"/srv/{module}", sandbox().issuer, f"/srv/store-{module}", LD_LIBRARY_PATH="/srv/here/lib")
            self.assertRegex(told, r"A valid token of \d+ bytes\.")

    def test_the_tar_in_a_home_is_replaced_while_it_is_in_use_and_removed_and_the_sessions_stay(self):
        self.chroot.install(*needed())
        self.chroot.put(unpacked(workspace("tar")), "/srv/here")
        self.chroot.run("mkdir", "-p", "/root/.local/share/man")
        before = self.below("/root/.local")
        told, _ = self.chroot.run("/srv/here/install")
        self.assertIn("is installed in /root/.local\n", told)
        # In a home folder, systemd searches share/systemd/user for units; in other prefixes it searches another
        # folder. The installer has put the units into that folder, so it gives no advice about systemctl.
        self.assertNotIn("systemctl", told)
        unit = "/root/.local/share/systemd/user/enrolld@.service"
        searched = subprocess.check_output(["systemd-analyze", "--user", "unit-paths"], text=True,
                                           env={"PATH": "/usr/bin:/bin", "HOME": "/root"})  # fmt: skip
        self.assertIn(str(Path(unit).parent), searched.split())
        self.assertIn("ExecStart=/root/.local/bin/enrolld\n", self.read(unit))
        self.assertFalse(self.chroot.has("/root/.local/lib/systemd"))
        sign_in(self.chroot, "/root/.local/bin/enroll")
        token, _ = self.chroot.run("/root/.local/bin/enroll", "token")
        installed = self.below("/root/.local")

        # Installs a later version while the daemon runs. The later version lacks one file of the first version, and
        # has one new file.
        daemon = Peer(self.chroot.start("/root/.local/bin/enrolld"))
        self.assertEqual(daemon.call("system.describe")["version"], VERSION)
        self.chroot.run("mv", "/srv/here/share/man/man1/enrolld.1", "/srv/here/share/man/man1/later.1")
        self.chroot.run("/srv/here/install")
        daemon.end()
        man = "/root/.local/share/man/man1"
        self.assertEqual(self.below("/root/.local") ^ installed, {f"{man}/enrolld.1", f"{man}/later.1"})

        # Foreign files in the installed folders stay, and so does the store, which is in one of them.
        self.chroot.run("touch", f"{man}/other.1")
        told, _ = self.chroot.run("/srv/here/install", "--uninstall")
        self.assertIn("EnrollKit is removed from /root/.local\n", told)
        self.assertIn(f"Yours is {STORE}\n", told)
        kept = {path for path in self.below("/root/.local") if not path.startswith(STORE)}
        self.assertEqual(kept - before, {man, f"{man}/other.1"})
        self.assertEqual(self.chroot.run("/srv/here/bin/enroll", "token")[0], token)

    def test_an_uninstallation_that_cannot_be_removes_nothing(self):
        self.chroot.install(*needed())
        self.chroot.put(unpacked(workspace("tar")), "/srv/here")
        words = self.chroot.run("/srv/here/install", "--uninstall", "/opt/elsewhere", status=1)[1]
        self.assertEqual(words.count("\n"), 1, words)
        self.assertIn("EnrollKit is not installed in /opt/elsewhere: there is no /opt/elsewhere/lib/enrollkit/installed", words)
        self.chroot.run("/srv/here/install", "/opt/enrollkit")
        self.chroot.run("sh", "-c", "touch /opt/other && echo ../other >>/opt/enrollkit/lib/enrollkit/installed")
        words = self.chroot.run("/srv/here/install", "--uninstall", "/opt/enrollkit", status=1)[1]
        self.assertEqual(words.count("\n"), 1, words)
        self.assertIn("names files outside /opt/enrollkit. Nothing is removed.", words)
        self.assertTrue(self.chroot.has("/opt/other") and self.chroot.has("/opt/enrollkit/bin/enrolld"))
        # Another installation repairs the list, as the message says. It does not touch the foreign file either.
        self.chroot.run("/srv/here/install", "/opt/enrollkit")
        self.chroot.run("/srv/here/install", "--uninstall", "/opt/enrollkit")
        self.assertEqual(self.chroot.run("ls", "/opt")[0], "other\n")

    def test_the_npm_package_without_a_registry(self):
        began = time.monotonic()
        self.chroot.install("nodejs", "npm", *needed())
        package = only("enrollkit-[0-9]*.tgz")
        self.chroot.put(package, f"/srv/{package.name}")
        self.chroot.run("npm", "install", "--offline", "--no-audit", "--prefix", "/srv/project", f"/srv/{package.name}")
        self.chroot.put(TOP / "bindings/node/examples/sign_in.js", "/srv/project/sign_in.mjs")
        told = example(self.chroot, "node", "/srv/project/sign_in.mjs", sandbox().issuer, "/srv/store")
        self.assertRegex(told, r"A valid token of \d+ bytes\.")
        report("npm", began)


class JavaAndNode(unittest.TestCase):
    def test_the_jar_by_plain_java(self):
        jars = sorted((TOP / ".build/kotlin/libraries").glob("*.jar"))
        classes, home = workspace("classes"), workspace("home")
        subprocess.run([TOP / "bindings/kotlin/compile", "-d", classes, TOP / "bindings/kotlin/example/SignIn.kt"], check=True,
                       env={**os.environ, "CLASSPATH": str(only("enrollkit-[0-9]*[0-9].jar"))})  # fmt: skip
        path = ":".join(map(str, [classes, only("enrollkit-[0-9]*[0-9].jar"), *jars]))
        # Java finds no folder of Swift, and no libraries other than those in the jar.
        with subprocess.Popen(["/usr/bin/java", "-cp", path, "SignInKt", sandbox().issuer, home / "store"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"PATH": "/usr/bin:/bin", "HOME": str(home)}) as java:  # fmt: skip
            line = java.stdout.readline()
            self.assertIn("http", line)
            come_back(line.rpartition(" ")[2].strip())
            told, words = java.communicate(timeout=TIMEOUT)
        self.assertEqual(java.returncode, 0, words)
        self.assertRegex(told, r"A valid token of \d+ bytes\.")

    def test_the_jar_has_the_libraries_of_each_glibc_target(self):
        with zipfile.ZipFile(only("enrollkit-[0-9]*[0-9].jar")) as jar:
            natives = {name for name in jar.namelist() if name.endswith((".so", ".so.0"))}
        machines = [path.name.split("-")[2] for path in distribution().glob("*-linux-gnu.tar.gz")]
        self.assertEqual(natives, {f"META-INF/native/linux-{machine}/{name}" for machine in machines
                                   for name in ("libenroll_jni.so", "libenroll.so.0")})  # fmt: skip

    def test_the_plugin_has_every_file_that_it_names(self):
        with tarfile.open(only("enrollkit-cordova-*.tgz")) as archive:
            names = {name.removeprefix("package/") for name in archive.getnames()}
            plugin = archive.extractfile("package/plugin.xml").read().decode()
            package = json.load(archive.extractfile("package/package.json"))
        named = set(re.findall(r'<(?:js-module|source-file|header-file|asset)\b[^>]*?\ssrc="([^"]+)"', plugin))
        self.assertGreater(len(named), 3)
        # The native libraries are built with an NDK (bindings/cordova/README.md).
        self.assertEqual({name for name in named if not name.startswith("libs/")} - names, set())
        self.assertIn(package["types"], names)

    def test_the_sources_for_android_are_complete(self):
        folder = workspace("android")
        subprocess.run(["tar", "-xzf", only("enrollkit-android-*-sources.tar.gz"), "-C", folder], check=True)
        binding = next(folder.iterdir()) / "bindings/kotlin"
        for path in re.findall(r'"(\.\./src/[\w/]+)"', (binding / "android/build.gradle.kts").read_text()):
            self.assertTrue(any((binding / "android" / path).rglob("*.kt")), path)
        for path in ("../src/main/c/enroll_jni.c", "../../../include/enroll.h"):
            self.assertTrue((binding / "android" / path).exists(), path)


class EveryTar(unittest.TestCase):
    def test_programs_need_no_more_than_the_page_beside_them_says(self):
        for path in distribution().glob("enrollkit-*-linux-*.tar.gz"):
            with self.subTest(path.name):
                tree = unpacked(workspace("needs"), path.name)
                page = (tree / "README.md").read_text()
                promised = re.search(r"glibc (\d+)\.(\d+) or later", page)
                promised = tuple(map(int, promised.groups())) if promised else ()
                libraries = {"libjansson.so.4"} if "libjansson4" in page else set()
                found = programs(tree)
                self.assertLessEqual({tree / "bin/enrolld", tree / "bin/enroll"}, set(found))
                for program in found:
                    told = subprocess.check_output(["readelf", "-dV", program], text=True)
                    asked = {(int(major), int(minor)) for major, minor in re.findall(r"\bGLIBC_(\d+)\.(\d+)", told)}
                    self.assertLessEqual(max(asked, default=()), promised, program.name)
                    opened = set(re.findall(r"\(NEEDED\).*\[(.*)\]", told))
                    self.assertLessEqual({name for name in opened if not OF_THE_C_LIBRARY.match(name)}, libraries, program.name)
                target = re.search(r"[^-]+-linux-\w+", path.name)[0]
                if built()[target] != TOP / "build":
                    self.assertLessEqual(promised, (2, 28))
                    self.assertEqual(libraries, set())
