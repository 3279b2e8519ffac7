"""An installed tree, and programs that are built against it."""

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from processes import TOP

HOME = Path(tempfile.mkdtemp(prefix="enroll-install-"))
atexit.register(shutil.rmtree, HOME)
VALGRIND = [
    "valgrind", "--quiet", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite",
    "--show-leak-kinds=definite", "--fair-sched=yes",
]  # fmt: skip


# A test never builds the libraries, even if their sources are newer: a build takes minutes, and is done by `make lib`.
BUILT = "libenroll.so.0", "enrolld", "enroll"
AS_BUILT = [word for name in BUILT for word in ("-o", f"build/lib/{name}")]


def make(*words, as_built=True, **environment):
    """Runs `make` without variables of this project in the environment."""
    words = (*AS_BUILT, *words) if as_built else words
    clean = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
    return subprocess.run(
        ["make", "--no-print-directory", *words], cwd=TOP, env={**clean, **environment}, capture_output=True, text=True
    )


class Tree:
    """An installed tree, as a package would install it: made below DESTDIR, then moved to its prefix."""

    def __init__(self):
        self.prefix = HOME / "tree/prefix"
        stage = HOME / "tree/stage"
        made = make("install", f"PREFIX={self.prefix}", f"DESTDIR={stage}")
        if made.returncode != 0:
            raise AssertionError(f"make install: {made.stdout}{made.stderr}")
        self.staged = sorted(str(path.relative_to(stage)) for path in stage.rglob("*") if not path.is_dir())
        shutil.copytree(f"{stage}{self.prefix}", self.prefix, symlinks=True)
        self.environment = {
            **os.environ,
            "PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig"),
            "LD_LIBRARY_PATH": str(self.prefix / "lib"),
        }

    def said(self, *options, module="enroll"):
        """The output of pkg-config, as words for a compiler."""
        return subprocess.check_output(
            ["pkg-config", *options, module], env=self.environment, text=True, stderr=subprocess.STDOUT
        ).split()

    def build(self, name, compiler, *sources, options=(), module="enroll"):
        """Builds a program. `options` come before the output of pkg-config, so that pkg-config takes precedence."""
        program = self.prefix.parent / f"{name}-{module}"
        words = self.said("--cflags", "--libs", module=module)
        built = subprocess.run(
            [*compiler, *options, *map(str, sources), "-o", str(program), *words], capture_output=True, text=True)  # fmt: skip
        if built.returncode != 0:
            raise AssertionError(f"{name}: {built.stderr[-4000:]}")
        return program

    def run(self, *command, **environment):
        return subprocess.run(
            list(map(str, command)), env={**self.environment, **environment}, capture_output=True, text=True,
            errors="replace", timeout=600)  # fmt: skip


@functools.cache
def tree():
    return Tree()
