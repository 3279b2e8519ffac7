#!/usr/bin/env python3
"""The size of the library, stripped as `make lib` leaves it, and gzipped; and the bytes of instructions of each of
its modules."""

import gzip
import subprocess

from measure import BUILT, TOP, emit

#: The names that the table has for the groups of scripts/bench-size.
NAMES = {"library": "Swift's own library", "shared": "shared by several functions"}


def main():
    library = (BUILT / "libenroll.so.0").read_bytes()
    emit("libenroll.so, stripped", ours=len(library), unit="B")
    emit("libenroll.so, stripped and gzipped", ours=len(gzip.compress(library, 9, mtime=0)), unit="B")
    # scripts/bench-size needs the library with its symbols, which a build leaves in .build/lib.
    if (TOP / ".build/lib/libenroll.so.0").exists():
        told = subprocess.run([TOP / "scripts/bench-size"], stdout=subprocess.PIPE, text=True, check=True).stdout
        for kind, name, size in (line.split("\t") for line in told.splitlines()):
            if kind == "module":
                emit(f"libenroll.so, {NAMES.get(name, name)}", ours=int(size), unit="B")


if __name__ == "__main__":
    main()
