"""Tests of building for Android, as far as that can be tested without an NDK: the files that are copied from
an NDK, the symbols of an API level, the messages about missing files, and the programs that
scripts/check-android refuses."""

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace

from processes import TOP, workspace

sys.path.insert(0, str(TOP / "scripts"))
import bionic  # noqa: E402

SYMBOLS = """\
LIBC {
  global:
    always;
    for_arm; # arm
    for_arm64; # arm arm64
    of_level_24; # introduced=24
    of_level_28; # introduced=28
    later_on_x86; # introduced=21 introduced-x86=26
    earlier_on_arm64; # introduced=26 introduced-arm64=21
    number; # var
    of_the_platform; # platform-only
    of_a_module; # apex introduced=21
    unreleased; # introduced=future
  local:
    *;
};

LIBC_N { # introduced-arm64=24 introduced-x86=24
  global:
    of_version_n;
} LIBC;

LIBC_P { # introduced=28
  global:
    of_version_p;
} LIBC_N;

LIBC_PRIVATE {
  global:
    hidden;
} LIBC_N;
"""


def script(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(TOP / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def run(name, *arguments, **environment):
    own = {key: value for key, value in os.environ.items() if not key.startswith("ANDROID_")}
    command = [TOP / "scripts" / name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**own, **environment})


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


class Symbols(unittest.TestCase):
    def test_a_list_gives_what_an_app_of_the_level_finds_on_its_processor(self):
        found = dict(bionic.listed(SYMBOLS, "arm64"))
        functions = "always", "for_arm64", "of_level_24", "later_on_x86", "earlier_on_arm64", "of_version_n"
        self.assertEqual(found, {**dict.fromkeys(functions, False), "number": True})
        self.assertNotIn("for_arm64", dict(bionic.listed(SYMBOLS, "x86")))
        self.assertNotIn("later_on_x86", dict(bionic.listed(SYMBOLS, "x86")))

    def test_a_stub_has_these_symbols_and_the_librarys_name(self):
        folder = workspace("stub")
        clang = ["clang", "--target=aarch64-unknown-linux-android24", "-fuse-ld=lld", "-nostdlib"]
        target = SimpleNamespace(architecture="aarch64", folder=folder, libraries=folder, clang=lambda: clang)
        write(folder / "libc.map.txt", SYMBOLS)
        bionic.stub(target, "libc", folder / "libc.map.txt")
        told = subprocess.check_output(["llvm-nm", "-D", "--defined-only", folder / "libc.so"], text=True)
        self.assertEqual({line.split()[-1] for line in told.splitlines()}, set(dict(bionic.listed(SYMBOLS, "arm64"))))
        self.assertIn("[libc.so]", subprocess.check_output(["llvm-readelf", "-d", folder / "libc.so"], text=True))


class Sysroot(unittest.TestCase):
    def test_an_ndk_gives_the_headers_of_the_processor_and_the_libraries_of_the_level(self):
        ndk = workspace("ndk")
        tools = ndk / "toolchains/llvm/prebuilt/linux-x86_64"
        include, libraries = tools / "sysroot/usr/include", tools / "sysroot/usr/lib"
        for path, content in {
            include / "stdio.h": "", include / "c++/v1/vector": "",
            include / "aarch64-linux-android/asm/types.h": "arm64", include / "x86_64-linux-android/asm/types.h": "x86",
            tools / "lib/clang/18/lib/linux/libclang_rt.builtins-aarch64-android.a": "functions of arm64",
            tools / "lib/clang/18/lib/linux/libclang_rt.builtins-x86_64-android.a": "functions of x86_64",
        }.items():  # fmt: skip
            write(path, content)
        for system in ("aarch64-linux-android", "x86_64-linux-android"):
            for level in (21, 24, 35):
                for name in ("libc.so", "libdl.so", "libm.so", *bionic.START_UP):
                    write(libraries / system / str(level) / name, f"{system} {level}")
        out = workspace("sysroot")
        target = SimpleNamespace(architecture="aarch64", include=out / "include", libraries=out / "lib")
        target.libraries.mkdir()
        bionic.from_ndk(target, ndk)
        self.assertEqual((target.include / "asm/types.h").read_text(), "arm64")
        self.assertEqual(sorted(path.name for path in target.include.iterdir()), ["asm", "stdio.h"])
        self.assertEqual((target.libraries / "libgcc.a").read_text(), "functions of arm64")
        for name in ("libc.so", "libdl.so", "crtbegin_so.o"):
            self.assertEqual((target.libraries / name).read_text(), "aarch64-linux-android 24")

    def test_without_an_ndk_it_says_what_to_set(self):
        told = run("sysroot", "aarch64-linux-android24")
        self.assertEqual(told.returncode, 1)
        self.assertEqual(told.stderr.count("\n"), 1)
        self.assertIn("Set ANDROID_NDK_HOME to the folder of an NDK, 27 or later", told.stderr)

    def test_a_folder_that_is_no_ndk_is_named(self):
        folder = workspace("no-ndk")
        told = run("sysroot", "aarch64-linux-android24", ANDROID_NDK_HOME=str(folder))
        self.assertEqual(told.returncode, 1)
        self.assertIn(f"ANDROID_NDK_HOME is {folder}, which is not complete", told.stderr)


class Check(unittest.TestCase):
    def test_without_an_ndk_it_says_that_nothing_was_checked(self):
        told = run("check-android")
        self.assertEqual(told.stdout, "check-android: skipped, nothing was checked: ANDROID_NDK_HOME does not name an NDK\n")

    def test_an_abi_that_is_not_built_is_refused(self):
        told = run("check-android", "armeabi-v7a")
        self.assertEqual(told.returncode, 1)
        self.assertIn("an ABI is one of arm64-v8a, x86_64, not armeabi-v7a", told.stderr)

    def test_what_no_app_can_load_is_named(self):
        check = script("check-android")
        program = workspace("program") / "program"
        subprocess.run(
            ["cc", "-x", "c", "-", "-o", program, "-Wl,-z,max-page-size=4096"], input="int main(void) { return 0; }",
            text=True, check=True,
        )  # fmt: skip
        found = "\n".join(check.faults(program))
        self.assertIn("needs libc.so.6", found)
        self.assertIn("aligned to [4096", found)
        self.assertIn("is started by /lib", found)
