#!/usr/bin/env python3
"""Compares each step of a sign-in with plain C that does the same work: builds and runs Steps/main.swift."""

import subprocess
import sys

from measure import BUILT, OUT, TOP

from processes import workspace


def main():
    log = OUT / "steps.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "wb") as output:
        built = subprocess.run([TOP / "scripts/build", "bench-steps"], stdout=output, stderr=output, cwd=TOP)
    if built.returncode:
        sys.exit(f"bench-steps does not build:\n{log.read_text()}")
    # The program saves into the current folder, which must be on a real disk.
    subprocess.run([BUILT / "bench-steps"], check=True, cwd=workspace("steps"))


if __name__ == "__main__":
    main()
