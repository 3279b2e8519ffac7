"""Runs the tests of each real server in a process of their own, all at the same time: they wait more than they compute."""

import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "Tests/Faces"), str(TOP / "Tests/CommandTests"), str(TOP / "scripts")]

import kinds  # noqa: E402
import servers  # noqa: E402
import suites  # noqa: E402


def main():
    # A kind that differs by a setting stays with its program.
    programs = {kind: [other for other in kinds.ALL if issubclass(other, kind)] for kind in kinds.PROGRAMS}
    run = suites.Run(TOP / ".build/real-logs", lanes=len(programs) + 1)
    word = str(TOP / "Tests/RealTests/run")
    # Those that take the longest to start come first.
    for program, its_kinds in programs.items() if servers.REAL.is_dir() else ():
        run.suite(program.name, word, *(f"-k= at {kind.name} from " for kind in its_kinds))
    run.suite("servers", word, "-k=test_servers.")
    return run.finish()


if __name__ == "__main__":
    sys.exit(main())
