#!/usr/bin/env python3
"""A whole sign-in: the CPU time and the instructions of our side, with the sandbox as provider and as user (sign_in.c).

The CPU time of a process's first sign-in includes the loading of OpenSSL and libcurl; the CPU time of later sign-ins
does not.
"""

import re
import shutil
import statistics
import subprocess

from measure import absent, emit, program

from processes import workspace
from sandbox import Sandbox

PROCESSES = 9
SIGN_INS = 31


def sign_ins(sandbox, count, *more, before=()):
    """Milliseconds of CPU for each sign-in of one process."""
    arguments = [*before, program("sign_in", "sign_in.c"), sandbox.issuer, workspace("sign-in"), str(count), *more]
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    took = []
    for _ in range(count):
        process.stdin.write(sandbox.play(process.stdout.readline().strip()) + "\n")
        took.append(int(process.stdout.readline()) / 1e3)
    process.stdin.close()
    if process.wait():
        raise RuntimeError("a sign-in failed")
    return took


def instructions(sandbox):
    """The instructions of a process's second sign-in, counted by valgrind's callgrind."""
    out = workspace("callgrind") / "out"
    valgrind = ["valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
    sign_ins(sandbox, 2, "1", before=valgrind)
    return int(re.search(r"^totals: (\d+)", out.read_text(), re.M)[1])


def main():
    with Sandbox() as sandbox:
        took = sign_ins(sandbox, SIGN_INS)[1:]
        emit("whole sign-in, our own CPU", ours=round(statistics.median(took), 3), unit="ms")
        first = [sign_ins(sandbox, 1)[0] for _ in range(PROCESSES)]
        emit("whole sign-in, the first of a process, our own CPU", ours=round(statistics.median(first), 3), unit="ms")
        what = "whole sign-in, instructions"
        if shutil.which("valgrind"):
            emit(what, ours=instructions(sandbox))
        else:
            absent(what, "valgrind not installed")


if __name__ == "__main__":
    main()
