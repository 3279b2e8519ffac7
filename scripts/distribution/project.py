"""Facts about the repository that the makers of artefacts share, and how they run commands."""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def version():
    text = (TOP / "Sources/EnrollHost/LibraryVersion.swift").read_text()
    return re.search(r'let string = "([\d.]+)"', text)[1]


def targets():
    """The targets that are built, each with the folder of its files, and the names of the targets that are
    not built."""
    asked = subprocess.run([TOP / "scripts/targets"], capture_output=True, text=True, check=True)
    found = {line.split()[0]: TOP / line.split()[1] for line in asked.stdout.splitlines()}
    return found, re.findall(r"^targets: (\S+) is not built", asked.stderr, re.M)


def run(*command, **options):
    """The output of a command. If the command fails, this program ends with the last lines of that output."""
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    if done.returncode != 0:
        raise SystemExit(f"dist: {command[0]} failed:\n" + "\n".join(done.stdout.splitlines()[-20:]))
    return done.stdout


def say(words):
    print(f"dist: {words}", file=sys.stderr, flush=True)


def libc(program):
    """The C library that a program needs: `glibc` and the lowest version that has its functions, or `musl`."""
    told = run("objdump", "-T", "-p", program)
    asked = re.findall(r"GLIBC_(\d+)\.(\d+)", told)
    if not asked:
        return "musl", ""
    return "glibc", ".".join(map(str, max((int(major), int(minor)) for major, minor in asked)))
