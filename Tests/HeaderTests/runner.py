"""Runs the tests of this folder and counts them."""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "scripts"))


def main():
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{pattern}*" for pattern in sys.argv[1:]] or None
    result = unittest.TextTestRunner(verbosity=1).run(loader.discover(str(HERE)))
    # A test that was skipped has not passed; one whose parts failed has failed once.
    bad = {getattr(test, "test_case", test) for test, _ in result.failures + result.errors + result.skipped}
    print(f"{result.testsRun - len(bad)} passed, {len(bad)} failed")
    return 1 if bad or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
