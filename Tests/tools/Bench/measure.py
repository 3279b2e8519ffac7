"""The code that the programs of the bench share: paths, C programs, rounds in alternation, and the lines that
they print."""

import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(TOP / "Tests/faces/Support"))

from compiled import WARNINGS, compiled  # noqa: E402

#: The folder of the programs that are released: the library, the daemon and the command.
BUILT = TOP / "build/lib"
OUT = TOP / "build/bench"
NOT_INSTALLED = "peer not installed"

# The programs of the bench must not use the keyring of the user who runs them.
OWN = re.compile(r"^(ENROLL_?|XDG_|DBUS_|OIDC|DISPLAY|WAYLAND|BROWSER)")


def clean_environment(**more):
    return {**{name: value for name, value in os.environ.items() if not OWN.match(name)}, **more}


def program(name, *sources, libraries=()):
    """Compiles a C program of this folder, linked against the library under test."""
    return compiled(
        OUT / name, "-std=gnu11", "-O2", *WARNINGS, f"-I{TOP / 'include'}",
        *(HERE / source for source in sources), f"-L{BUILT}", f"-Wl,-rpath,{BUILT}", "-lenroll", *libraries, "-lpthread")  # fmt: skip


def plain(name, *arguments):
    """Compiles a C program of this folder that is not linked against the library."""
    return compiled(OUT / name, "-std=gnu11", "-O2", *WARNINGS, *arguments)


def bench_steps():
    """Builds the program of Steps/main.swift, which `make lib` does not build. Returns its path."""
    log = OUT / "steps.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "wb") as output:
        built = subprocess.run([TOP / "scripts/build", "bench-steps"], stdout=output, stderr=output, cwd=TOP)
    if built.returncode:
        sys.exit(f"bench-steps does not build:\n{log.read_text()}")
    return BUILT / "bench-steps"


def in_turns(rounds, *sides):
    """Calls each function once a round, and drops the first round. Returns a list of results for each function."""
    told = [[] for _ in sides]
    for number in range(rounds + 1):
        for kept, side in zip(told, sides):
            value = side()
            if number:
                kept.append(value)
    return told


def quartiles(numbers):
    low, _, high = statistics.quantiles(numbers, n=4) if len(numbers) > 1 else (numbers[0],) * 3
    return low, high


def emit(what, **told):
    print(json.dumps({"what": what, **told}, ensure_ascii=False), flush=True)


def absent(what, note=NOT_INSTALLED, **told):
    emit(what, note=note, **told)


def compare(what, ours, theirs, unit, digits=3):
    """Prints one line for two lists of rounds: the median of each list, and the median and the quartiles of the
    ratios of the rounds."""
    ratios = [left / right for left, right in zip(ours, theirs)]
    low, high = quartiles(ratios)
    emit(what, ours=round(statistics.median(ours), digits), theirs=round(statistics.median(theirs), digits), unit=unit,
         ratio=round(statistics.median(ratios), 4), low=round(low, 4), high=round(high, 4))  # fmt: skip
