"""Runs the tests of this folder and counts them."""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "CTests"), str(HERE.parent / "Faces")]


def main():
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{pattern}*" for pattern in sys.argv[1:]] or None
    import trees

    try:
        result = unittest.TextTestRunner(verbosity=2).run(loader.discover(str(HERE)))
    finally:
        trees.tear_down()
    # A test that was skipped has not passed; one whose parts failed has failed once.
    bad = [test for test, _ in result.failures + result.errors + result.skipped]
    failed = len({getattr(test, "test_case", test) for test in bad})
    print(f"{result.testsRun - failed} passed, {failed} failed")
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
