#!/usr/bin/env python3
"""The official conformance tests of the Model Context Protocol, client role, through the bridge: every scenario that has
to do with transport or authorization, of both programs of those tests. `expected-*.txt` name the scenarios that cannot
pass, with the reason; if one of them passes, that is a failure.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[3]
MCP = Path(os.environ.get("ENROLLKIT_REAL") or TOP.parent / "shared/real") / "mcp"
RESULTS = TOP / ".build/conformance-bridge"
#: The longest time in seconds that a scenario may take. Most take a second.
SECONDS = "40"
#: The programs and wires, each with the options for it: the stable tests, which have the versions from 2025-03-26 to
#: 2025-11-25, and the newer ones at each wire. The newer tests leave `initialize` to the stable ones.
RUNS = {"stable": [], "2025-11-25": ["-s", "2025-11-25"], "2026-07-28": ["-s", "2026-07-28"]}

COUNTS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped", re.MULTILINE)
BAD = re.compile(r"^(FAIL|fixed) .*", re.MULTILINE)


def read_arguments():
    parser = argparse.ArgumentParser(prog="run")
    parser.add_argument("--debug", action="store_true", help="test what `swift build` built")
    parser.add_argument("-k", dest="scenarios", default="all", metavar="NAMES", help="scenarios, with commas between")
    parser.add_argument("--wire", choices=RUNS, action="append", help="all unless some are named")
    return parser.parse_args()


def run(name, scenarios, enroll):
    """- Returns: what the tests printed."""
    return subprocess.run(
        [MCP / "run", *RUNS[name], "-S", "-x", HERE / f"expected-{name}.txt", "-o", RESULTS / name, "-t", SECONDS,
         scenarios, sys.executable, "-B", HERE / "host_client.py"],
        env={**os.environ, "ENROLL": str(enroll)}, capture_output=True, text=True)  # fmt: skip


def main():
    arguments = read_arguments()
    if not MCP.is_dir():
        print(f"skipped: {MCP} is not there, so no scenario is played; ENROLLKIT_REAL names another folder")
        print("1 passed, 0 failed")
        return 0
    enroll = TOP / (".build/debug/enroll" if arguments.debug else "build/bin/enroll")
    shutil.rmtree(RESULTS, ignore_errors=True)
    names = arguments.wire or list(RUNS)
    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        runs = list(pool.map(lambda name: run(name, arguments.scenarios, os.environ.get("ENROLL") or enroll), names))
    passed, failed = 0, 0
    for name, done in zip(names, runs):
        print(f"{name}:\n{done.stdout}{done.stderr}")
        counts = COUNTS.search(done.stdout)
        passed += int(counts[1]) if counts else 0
        bad = len(BAD.findall(done.stdout))
        failed += max(bad, done.returncode != 0)
        passed -= len(re.findall(r"^fixed ", done.stdout, re.MULTILINE))
    print(f"results: {RESULTS.relative_to(TOP)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
