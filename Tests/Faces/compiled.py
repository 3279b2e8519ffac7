"""C programs and libraries of the tests: compiled when a test needs one, and replaced whole, since suites run side by side."""

import functools
import os
import subprocess
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wstrict-prototypes", "-Werror"]


def compiled(target, *arguments):
    """`target`, as cc makes it of these sources and options. A process that runs an earlier one keeps it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as folder:
        made = Path(folder) / target.name
        subprocess.run(["cc", *map(str, arguments), "-o", str(made)], check=True)
        os.replace(made, target)
    return target


@functools.cache
def c_driver():
    """The C face as a program. It is linked against the small flavour; LD_LIBRARY_PATH names the one that it runs with."""
    folder = TOP / "Tests/CTests"
    return compiled(
        TOP / "build/tests/c-driver", "-std=c11", "-D_GNU_SOURCE", "-g", "-O1", *WARNINGS, f"-I{TOP / 'include'}",
        folder / "driver.c", folder / "driver_json.c", f"-L{TOP / 'build/small'}", "-lenroll", "-ljansson", "-lpthread")  # fmt: skip
