"""Runs the tests of each real server in a separate process, all at the same time, because they wait more than they
compute. At the end it prints the ways to sign in at all servers."""

import shutil
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TOP / "Tests/faces/Support"), str(TOP / "Tests/faces/CommandTests"), str(TOP / "scripts")]

import kinds  # noqa: E402
import servers  # noqa: E402
import suites  # noqa: E402
import ways  # noqa: E402


def main():
    # A variant that differs from its program only by a setting runs together with that program.
    programs = {kind: [other for other in kinds.ALL if issubclass(other, kind)] for kind in kinds.PROGRAMS}
    shutil.rmtree(ways.ROWS, ignore_errors=True)
    run = suites.Run(TOP / ".build/real-logs", lanes=len(programs) + 1)
    word = str(TOP / "Tests/system/RealTests/run")
    # The servers that take the longest to start come first.
    for program, its_kinds in programs.items() if servers.REAL.is_dir() else ():
        run.suite(program.name, word, *(f"-k= at {kind.name} from " for kind in its_kinds))
    run.suite("servers", word, "-k=test_servers.", "-k=test_ways.Turns")
    return run.finish(lambda: ways.drawn(ways.kept_rows()))


if __name__ == "__main__":
    sys.exit(main())
