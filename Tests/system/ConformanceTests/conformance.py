"""Runs the conformance tests of the Model Context Protocol, and prints a line for each scenario, with a column for
each face and each version of the protocol (the wire). `EXPECTED` has the scenarios that cannot pass, with the reason;
if such a scenario passes, that is a failure.
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
TOP = HERE.parents[2]
MCP = Path(os.environ.get("ENROLLKIT_REAL") or TOP.parent / "shared/real") / "mcp"
RESULTS = TOP / ".build/conformance"
#: The longest time in seconds that a client may take for a scenario. Most take a second.
SECONDS = "40"

NO_USER = "no user signs in: not what EnrollKit is for"
BEARER = "the command hands on bearer tokens alone; a bound one needs a proof for each request"
EXPECTED = {
    "auth/client-credentials-jwt": NO_USER,
    "auth/client-credentials-basic": NO_USER,
    "auth/enterprise-managed-authorization": NO_USER,
    "auth/wif-jwt-bearer": NO_USER,
}
EXPECTED_OF_COMMAND = {"auth/dpop": BEARER, "auth/dpop-nonce": BEARER}
FACES = {"command": {**EXPECTED, **EXPECTED_OF_COMMAND}, "python": EXPECTED}

#: The options of the tests' program for each wire: 2025-11-25 with the earlier versions, or 2026-07-28.
WIRES = {"2025": [], "2026": ["-s", "2026-07-28"]}

VERDICT = re.compile(r"^(ok|FAIL|known|fixed|skip)\s+(\S+)\s*(.*)$")


def read_arguments():
    parser = argparse.ArgumentParser(prog="run")
    parser.add_argument("--debug", action="store_true", help="test what `swift build` built")
    parser.add_argument("-k", action="append", dest="patterns", metavar="PATTERN", help="scenarios whose names have it")
    return parser.parse_args()


def environment(is_debug):
    built = {
        "ENROLL": ".build/debug/enroll" if is_debug else "build/bin/enroll",
        "ENROLLD": ".build/debug/enrolld" if is_debug else "build/lib/enrolld",
    }
    if not is_debug:
        built["ENROLL_LIBRARY"] = "build/lib/libenroll.so.0"
    own = {name: str(TOP / path) for name, path in built.items()}
    return {**os.environ, **own, "PYTHONPATH": str(TOP / "bindings/python/src"), "PYTHONDONTWRITEBYTECODE": "1"}


def scenarios(options, patterns):
    program = ["node", MCP / "conformance-next.mjs", "list", "--client"]
    if options:
        program += ["--spec-version", options[1]]
    listed = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^ *- (auth/\S+)", listed, re.MULTILINE)
    return [name for name in names if not patterns or any(pattern in name for pattern in patterns)]


def run(face, wire, names, variables):
    """Plays all scenarios from one face. Returns the verdict of each scenario, with the tests'
    explanation."""
    folder = RESULTS / f"{face}-{wire}"
    folder.mkdir(parents=True)
    known = folder / "expected"
    known.write_text("".join(f"{name}\n" for name in FACES[face] if name in names))
    program = [
        MCP / "run", "-n", *WIRES[wire], "-x", known, "-o", folder / "results", "-t", SECONDS, ",".join(names),
        sys.executable, "-B", HERE / "client.py", face,
    ]  # fmt: skip
    done = subprocess.run(program, env=variables, capture_output=True, text=True)
    found = {match[2]: (match[1], match[3]) for match in map(VERDICT.match, done.stdout.splitlines()) if match}
    return {name: found.get(name, ("FAIL", done.stderr.strip() or "no verdict")) for name in names}


def main():
    arguments = read_arguments()
    if not MCP.is_dir():
        # If the program is missing, nothing can be tested. A run of all suites must not fail for this reason.
        print(f"skipped: {MCP} is not there, so no scenario is played; ENROLLKIT_REAL names another folder")
        print("1 passed, 0 failed")
        return 0
    shutil.rmtree(RESULTS, ignore_errors=True)
    variables = environment(arguments.debug)
    wanted = {wire: scenarios(options, arguments.patterns) for wire, options in WIRES.items()}
    columns = [(face, wire) for face in FACES for wire in WIRES if wanted[wire]]
    with concurrent.futures.ThreadPoolExecutor(len(columns) or 1) as pool:
        runs = {column: pool.submit(run, *column, wanted[column[1]], variables) for column in columns}
    verdicts = {column: done.result() for column, done in runs.items()}
    return show(columns, verdicts)


def show(columns, verdicts):
    names = sorted({name for column in columns for name in verdicts[column]})
    width = max(map(len, names), default=0)
    print(" ".join([" " * width, *(f"{face} {wire}".ljust(12) for face, wire in columns)]))
    passed, failures, reasons = 0, [], []
    for name in names:
        row = []
        for column in columns:
            verdict, words = verdicts[column].get(name, ("", ""))
            row.append(verdict.ljust(12))
            if verdict in ("FAIL", "fixed"):
                failures.append(f"{name}, {' '.join(column)}: {words or 'passes, and is expected to fail'}")
            if verdict == "known":
                reasons.append(f"{name}, {column[0]}: {FACES[column[0]][name]}")
            passed += verdict == "ok"
        print(" ".join([name.ljust(width), *row]).rstrip())
    for line in [*dict.fromkeys(reasons), *failures]:
        print(line)
    print(f"results: {RESULTS.relative_to(TOP)}")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
