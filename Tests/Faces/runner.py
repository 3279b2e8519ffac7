"""Runs the tests of a directory, on the faces that are asked for, and counts them: `runner.py DIRECTORY [OPTION…]`.

The directory's `cases.py` has what its tests share, and `tear_down()` to end it.
"""

import argparse
import os
import sys
import unittest
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(prog="run")
    parser.add_argument("directory", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--face", action="append", metavar="swift|c|c-small|jsonrpc", default=[])
    parser.add_argument("-k", action="append", dest="patterns", metavar="PATTERN", help="as unittest's -k")
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    os.environ["ENROLL_FACES"] = " ".join(arguments.face)

    sys.path.insert(0, str(arguments.directory))
    import cases
    import faces

    unknown = set(arguments.face) - set(faces.FACES)
    if unknown:
        parser.error(f"no such face: {', '.join(sorted(unknown))}")

    loader = unittest.TestLoader()
    if arguments.patterns:
        loader.testNamePatterns = [f"*{pattern}*" for pattern in arguments.patterns]
    suite = loader.discover(str(arguments.directory))
    try:
        result = unittest.TextTestRunner(verbosity=2 if arguments.verbose else 1).run(suite)
    finally:
        cases.tear_down()
    sys.stderr.flush()

    # A test that was skipped has not passed; one whose parts failed has failed once.
    bad = [test for test, _ in result.failures + result.errors + result.skipped]
    failed = len({getattr(test, "test_case", test) for test in bad})
    print(f"{result.testsRun - failed} passed, {failed} failed")
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
