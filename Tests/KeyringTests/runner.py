"""Runs every test of this folder. The last line is "N passed, N failed"."""

import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
# The daemon's tests know how to talk to it.
sys.path.insert(0, str(TOP / "Tests" / "DaemonTests"))
if "ENROLLD" not in os.environ and (TOP / "build/small/enrolld").exists():
    os.environ["ENROLLD"] = str(TOP / "build/small/enrolld")

names = sys.argv[1:]
loader = unittest.TestLoader()
suite = loader.loadTestsFromNames(names) if names else loader.discover(str(HERE))
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
bad = len(result.failures) + len(result.errors)
print(f"{result.testsRun - bad - len(result.skipped)} passed, {bad} failed")
sys.exit(bad > 0)
