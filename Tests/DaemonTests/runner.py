"""Runs every test of this folder against the daemon of each flavour, each in a process of its own."""

import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]


def flavour(name, arguments):
    """How many tests passed and failed. What is skipped for want of published texts, or of root, is neither."""
    program = TOP / "build" / name / "enrolld"
    print(f"-- {program.relative_to(TOP)}", flush=True)
    run = subprocess.run(
        [sys.executable, "-m", "unittest", *(arguments or ["discover", "-p", "test_*.py"])],
        env={**os.environ, "ENROLLD": str(program), "PYTHONDONTWRITEBYTECODE": "1"}, stderr=subprocess.PIPE, text=True)
    print(run.stderr, flush=True)
    ran = re.search(r"^Ran (\d+) tests?", run.stderr, re.M)
    if ran is None:
        return 0, 1
    counts = dict(re.findall(r"(failures|errors|skipped)=(\d+)", run.stderr.rsplit("Ran ", 1)[1]))
    bad = int(counts.get("failures", 0)) + int(counts.get("errors", 0))
    skipped = int(counts.get("skipped", 0))
    if skipped:
        print(f"-- {skipped} skipped", flush=True)
    return int(ran[1]) - bad - skipped, max(bad, int(run.returncode != 0))


counts = [flavour(name, sys.argv[1:]) for name in ("small", "standard")]
passed, failed = (sum(column) for column in zip(*counts))
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
