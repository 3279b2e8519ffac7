"""The platform under test: this machine's, or the one that ENROLL_TARGET names (scripts/sysroot has the list).

qemu or musl's loader runs what was built for another platform, behind a small program of the same name. A test starts
that program as it starts any other.
"""

import functools
import os
import platform
import subprocess
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
TARGET = os.environ.get("ENROLL_TARGET", "")
#: What `make lib` built: `lib` is in it, and the folders of its options.
BUILD = TOP / "build" / TARGET
#: The libcurl of a system with musl is not here.
HAS_LIBCURL = not TARGET.endswith("-musl")
#: What tests compile.
OUT = TOP / "build/tests" / TARGET
_ROOT = TOP / ".build/targets" / TARGET / "root"

# Statically linked: what is preloaded is for the program that it becomes.
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
    """The words that compile and link C for the platform."""
    if not TARGET:
        return ["cc"]
    told = subprocess.run([TOP / "scripts/sysroot", TARGET, "root", "--compiler"], capture_output=True, text=True, check=True)
    folders = [_ROOT / "usr/lib", _ROOT / "usr/lib" / TARGET]
    # What these libraries need of a newer C library is there when they run.
    return [*told.stdout.split("\n")[:-1], *(f"-L{folder}" for folder in folders), "-Wl,--allow-shlib-undefined"]


def static_libcrypto():
    """The path of libcrypto.a: `-lcrypto` would link the shared one."""
    words = [*compiler(), "-print-file-name=libcrypto.a"]
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(found):
        raise SystemExit("tests: no libcrypto.a is found; install libssl-dev, or run make lib OPENSSL=static TARGET=…")
    return found


def _runner():
    """What starts a program of the platform here, and the folders in which its loader looks for libraries."""
    architecture, _, library = TARGET.split("-")
    # Debian's musl looks for libraries in folders of its own alone.
    libraries = _ROOT / "usr/lib" if library == "musl" else ""
    if architecture != platform.machine():
        return [f"qemu-{architecture}-static", "-L", _ROOT], libraries
    return [_ROOT / "lib" / TARGET / "libc.so"] if library == "musl" else [], libraries


def runnable(path):
    """What starts the program of the platform at `path`: `path` itself, or a program that stands for it."""
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
    """`target`, as the compiler makes it, replaced whole: suites run side by side, and a process that runs an earlier one keeps it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as folder:
        made = Path(folder) / target.name
        subprocess.run([*compiler_words, *map(str, arguments), "-o", str(made)], check=True)
        os.replace(made, target)
