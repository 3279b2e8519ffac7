#!/usr/bin/env python3
"""Runs the official conformance tests of the Model Context Protocol against the bridge, in the role of a
client. Two programs contain such tests; of both, every scenario about transport or authorization runs.
`expected.txt` lists the scenarios that cannot pass, each with the reason. If such a scenario passes, the run
fails.
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
#: The runs: each has the options for the tests' program, and its scenarios. The stable tests cover the versions up to
#: 2025-11-25. The newer tests run once for each version. For the earliest version, only the scenarios in EARLIEST run.
EARLIEST = "auth/2025-03-26-oauth-metadata-backcompat,auth/2025-03-26-oauth-endpoint-fallback"
RUNS = {
    "stable": ([], "all"), "2025-03-26": (["-n"], EARLIEST), "2025-11-25": (["-s", "2025-11-25"], "all"),
    "2026-07-28": (["-s", "2026-07-28"], "all"),
}  # fmt: skip

COUNTS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped", re.MULTILINE)
BAD = re.compile(r"^(FAIL|fixed) .*", re.MULTILINE)


def read_arguments():
    parser = argparse.ArgumentParser(prog="run")
    parser.add_argument("--debug", action="store_true", help="test what `swift build` built")
    parser.add_argument("-k", dest="scenarios", metavar="NAMES", help="scenarios, with commas between")
    parser.add_argument("--wire", choices=RUNS, action="append", help="all unless some are named")
    return parser.parse_args()


def run(name, scenarios, enroll):
    """Runs one entry of RUNS, and returns the output of the tests."""
    options, all_scenarios = RUNS[name]
    folder = RESULTS / name
    folder.mkdir(parents=True)
    known = folder / "expected.txt"
    lines = (line.split(maxsplit=1) for line in (HERE / "expected.txt").read_text().splitlines())
    known.write_text("".join(f"{words[1]}\n" for words in lines if words and words[0] == name))
    return subprocess.run(
        [MCP / "run", *options, "-S", "-x", known, "-o", folder / "results", "-t", SECONDS, scenarios or all_scenarios,
         sys.executable, "-B", HERE / "host_client.py"],
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
