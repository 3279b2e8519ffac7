"""The platform under test: this machine's, or the one that ENROLL_TARGET names (scripts/sysroot lists them).

Programs of another platform run in qemu or in musl's loader. For each of them there is a small launcher, which a test
starts like any other program.
"""

import functools
import os
import platform
import subprocess
import tempfile
from pathlib import Path

from processes import TOP

TARGET = os.environ.get("ENROLL_TARGET", "")
#: The builds of `make lib`: `lib`, and a folder for each build option.
BUILD = TOP / "build" / TARGET
#: Whether the target has libcurl: the root folder of a musl target has no libcurl.
HAS_LIBCURL = not TARGET.endswith("-musl")
#: The programs that tests compile.
OUT = TOP / "build/tests" / TARGET
_ROOT = TOP / ".build/targets" / TARGET / "root"

# The launcher is linked statically, so that a preloaded library is not loaded into the launcher, but only into the
# program that the launcher executes.
_LAUNCHER = """
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
  char *runner[] = {RUNNER};
  int words = sizeof runner / sizeof *runner;
  char **command = calloc(count + words + 1, sizeof *command), *paths;
  const char *own = getenv("LD_LIBRARY_PATH");
  if (!command || asprintf(&paths, "%s%s%s", own ? own : "", own ? ":" : "", LIBRARIES) < 0) return 125;
  if (*LIBRARIES) setenv("LD_LIBRARY_PATH", paths, 1);
  for (int index = 0; index < words; index++) command[index] = runner[index];
  for (int index = 1; index < count; index++) command[words + index - 1] = arguments[index];
  execvp(command[0], command);
  perror(command[0]);
  return 125;
}
"""


def _words(values):
    return ", ".join('"' + str(value).replace("\\\\", "\\\\\\\\").replace('"', '\\\\"') + '"' for value in values)


@functools.cache
def compiler():
    """The command line that compiles and links C for the platform."""
    if not TARGET:
        return ["cc"]
    told = subprocess.run([TOP / "scripts/sysroot", TARGET, "root", "--compiler"], capture_output=True, text=True, check=True)
    folders = [_ROOT / "usr/lib", _ROOT / "usr/lib" / TARGET]
    # These libraries may need symbols of a newer C library. The linker ignores such symbols, because the C library of
    # the root has them at run time.
    return [*told.stdout.split("\n")[:-1], *(f"-L{folder}" for folder in folders), "-Wl,--allow-shlib-undefined"]


def static_libcrypto():
    """The path of libcrypto.a: `-lcrypto` would link the shared library."""
    words = [*compiler(), "-print-file-name=libcrypto.a"]
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(found):
        raise SystemExit("tests: no libcrypto.a is found; install libssl-dev, or run make lib OPENSSL=static TARGET=…")
    return found


def _runner():
    """The command that starts a program of the platform here, and the folders in which its loader looks for
    libraries."""
    architecture, _, library = TARGET.split("-")
    # Debian's musl searches for libraries only in musl's folders.
    libraries = _ROOT / "usr/lib" if library == "musl" else ""
    if architecture != platform.machine():
        return [f"qemu-{architecture}-static", "-L", _ROOT], libraries
    return [_ROOT / "lib" / TARGET / "libc.so"] if library == "musl" else [], libraries


def runnable(path):
    """The path to start for the program at `path`: `path` itself, or the launcher for it."""
    if not TARGET:
        return path
    compiler()
    runner, libraries = _runner()
    if not runner:
        return path
    launcher = OUT / "launchers" / f"{path.parent.name}-{path.name}"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "launcher.c"
        source.write_text(f'#define RUNNER {_words([*runner, path])}\n#define LIBRARIES "{libraries}"\n' + _LAUNCHER)
        compile_into(launcher, ["cc"], "-static", "-O1", "-Wall", "-Werror", source)
    return launcher


def compile_into(target, compiler_words, *arguments):
    """Compiles `target` and replaces it in one step: suites run in parallel, and a process that runs an earlier file
    keeps that file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as folder:
        made = Path(folder) / target.name
        subprocess.run([*compiler_words, *map(str, arguments), "-o", str(made)], check=True)
        os.replace(made, target)
