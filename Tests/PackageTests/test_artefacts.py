"""Each artefact of `make dist`, installed and used where there is no Swift and nothing else of ours."""

import functools
import json
import os
import platform
import re
import shutil
import subprocess
import tarfile
import time
import unittest
import zipfile
from pathlib import Path

from cases import TOKEN, come_back, distribution, example, files, only, report, sandbox, sign_in
from chroots import Chroot
from processes import TIMEOUT, TOP, workspace

MACHINE = platform.machine()
TAR = f"enrollkit-*-{MACHINE}-linux-gnu.tar.gz"
SOURCES = "enrollkit-[0-9]*[0-9].tar.gz"
LIBRARIES = ("libssl3", "libcurl4")


@functools.cache
def wheel():
    return only(f"*[!l]linux*_{MACHINE}.whl")


@functools.cache
def needed():
    """jansson is inside what `make lib TARGET=…` builds."""
    tree = unpacked(workspace("needs"))
    told = subprocess.check_output(["readelf", "-d", tree / "bin/enrolld", tree / "libexec/enrollkit/enroll"], text=True)
    return (*LIBRARIES, *(["libjansson4"] if "libjansson" in told else []))


def unpacked(folder):
    subprocess.run(["tar", "-xzf", only(TAR), "-C", folder], check=True)
    return next(Path(folder).iterdir())


class UsedArtefacts(unittest.TestCase):
    def setUp(self):
        self.chroot = Chroot.of("bookworm")

    def environment(self):
        """A virtual environment in the system, and its Python."""
        self.chroot.run("python3", "-m", "venv", "/srv/venv")
        return "/srv/venv/bin/python"

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
        # The daemon comes in the wheel, too.
        program = "import enrollkit; d = enrollkit.Daemon(); d.__enter__(); print(d.diagnose('/srv/store')['accounts'] if 0 else 'runs'); d.__exit__(None, None, None)"
        self.assertEqual(self.chroot.run(python, "-c", program)[0], "runs\n")

    def test_the_source_distribution_uses_the_systems_library(self):
        self.chroot.install("python3-venv", *files(distribution(), "libenroll0", "enrolld"))
        python = self.environment()
        folder = workspace("index")
        subprocess.run([TOP / ".build/dist/bin/python", "-m", "pip", "download", "--quiet", "--dest", folder, "hatchling==1.27.0"], check=True)
        self.chroot.put(folder, "/srv/index")
        path = f"/srv/{only(SOURCES).name}"
        self.chroot.put(only(SOURCES), path)
        words = [python, "-m", "pip", "install", "--no-index", "--find-links", "/srv/index", path]
        # Without it there is nothing to build the library from, and that is said.
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
        unit = (self.chroot.root / "opt/enrollkit/lib/systemd/user/enrolld@.service").read_text()
        self.assertIn("ExecStart=/opt/enrollkit/bin/enrolld\n", unit)
        # Elsewhere, without being installed: the programs find one another, and pkg-config the library.
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


class JavaAndNode(unittest.TestCase):
    def test_the_jar_by_plain_java(self):
        jars = sorted((TOP / ".build/kotlin/libraries").glob("*.jar"))
        classes, home = workspace("classes"), workspace("home")
        subprocess.run([TOP / "bindings/kotlin/compile", "-d", classes, TOP / "bindings/kotlin/example/SignIn.kt"], check=True,
                       env={**os.environ, "CLASSPATH": str(only("enrollkit-[0-9]*[0-9].jar"))})  # fmt: skip
        path = ":".join(map(str, [classes, only("enrollkit-[0-9]*[0-9].jar"), *jars]))
        # No folder of Swift's, and no library but those in the jar.
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


class EveryTarget(unittest.TestCase):
    def test_programs_and_libraries_are_of_the_machine_that_the_name_says(self):
        kinds = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}
        for path in (*distribution().glob("*-linux-*.tar.gz"), *distribution().glob("*.whl")):
            with self.subTest(path.name):
                folder = workspace("kinds")
                shutil.unpack_archive(path, folder, "zip" if path.suffix == ".whl" else "gztar")
                machine = next(name for name in kinds if name in path.name)
                found = [file for file in folder.rglob("*") if file.is_file() and file.read_bytes()[:4] == b"\x7fELF"]
                self.assertGreaterEqual(len(found), 2)
                for file in found:
                    told = subprocess.check_output(["readelf", "-hd", file], text=True)
                    self.assertRegex(told, rf"Machine: +{kinds[machine]}", file.name)
                    self.assertEqual("libc.so.6" in told, "musl" not in path.name, file.name)
