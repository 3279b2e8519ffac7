"""Runs the Python tests here and counts them: `counted.py [-k PATTERN]`."""

import sys
import unittest
from pathlib import Path

loader = unittest.TestLoader()
if sys.argv[1:2] == ["-k"]:
    loader.testNamePatterns = [f"*{sys.argv[2]}*"]
result = unittest.TextTestRunner().run(loader.discover(str(Path(__file__).parent)))
sys.stderr.flush()
# A test that was skipped has not passed; one whose parts failed has failed once.
bad = [test for test, _ in result.failures + result.errors + result.skipped]
failed = len({getattr(test, "test_case", test) for test in bad})
print(f"{max(result.testsRun - failed, 0)} passed, {failed} failed")
