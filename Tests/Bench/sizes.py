#!/usr/bin/env python3
"""The size of the library, stripped as `make lib` leaves it, and gzipped."""

import gzip

from measure import BUILT, emit


def main():
    library = (BUILT / "libenroll.so.0").read_bytes()
    emit("libenroll.so, stripped", ours=len(library), unit="B")
    emit("libenroll.so, stripped and gzipped", ours=len(gzip.compress(library, 9, mtime=0)), unit="B")


if __name__ == "__main__":
    main()
