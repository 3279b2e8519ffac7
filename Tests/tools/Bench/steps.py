#!/usr/bin/env python3
"""Compares each step of a sign-in with plain C that does the same work (Steps/main.swift)."""

import subprocess

from measure import bench_steps

from processes import workspace


def main():
    # The program saves into the current folder, which must be on a real disk.
    subprocess.run([bench_steps()], check=True, cwd=workspace("steps"))


if __name__ == "__main__":
    main()
