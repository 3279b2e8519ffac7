"""What the makers of artefacts ask of the repository."""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def version():
    text = (TOP / "Sources/EnrollHost/LibraryVersion.swift").read_text()
    return re.search(r'let string = "([\d.]+)"', text)[1]


def targets():
    """Each target that is built, and the folder of what is built; those that are missing are told."""
    told = subprocess.run([TOP / "scripts/targets"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[0]: TOP / line.split()[1] for line in told.splitlines()}


def run(*command, **options):
    """Its output; where it fails, the end of what it said is shown."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"dist: {command[0]} failed:\n" + "\n".join(done.stdout.splitlines()[-20:]))
    return done.stdout


def say(words):
    print(f"dist: {words}", file=sys.stderr, flush=True)


def libc(program):
    """The C library that a program is for: `glibc` with the version that it asks for, or `musl`."""
    told = run("objdump", "-T", "-p", program)
    asked = re.findall(r"GLIBC_(\d+)\.(\d+)", told)
    if not asked:
        return "musl", ""
    return "glibc", ".".join(map(str, max((int(major), int(minor)) for major, minor in asked)))
