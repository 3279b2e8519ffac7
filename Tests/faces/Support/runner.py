"""Runs the unittest tests of a directory and counts them: `runner.py DIRECTORY [OPTION…]`. Every Python suite uses it.

The programs under test come from `make lib`, unless the environment names others: ENROLL, ENROLLD, and the drivers
ENROLL_SWIFT_DRIVER and ENROLL_C_DRIVER. --debug uses the programs of `swift build`. The directory's `cases.py` has the
code that its tests share; its function `tear_down()`, if there is one, runs at the end.

The last line is "N passed, N failed". A test with failed parts counts as failed once. A skipped test counts neither
as passed nor as failed: its reason is shown.
"""

import argparse
import os
import subprocess
import sys
import unittest
from pathlib import Path

from processes import TOP

FACES = ("swift", "c", "jsonrpc")

BUILT = {
    "ENROLL": "build/bin/enroll",
    "ENROLL_SWIFT_DRIVER": ".build/debug/swift-driver",
}
DEBUG = {
    **BUILT,
    "ENROLL": ".build/debug/enroll",
    "ENROLLD": ".build/debug/enrolld",
    "ENROLL_C_DRIVER": ".build/faces/c-driver",
    "ENROLL_CROWD": ".build/faces/crowd",
}


def read_arguments():
    parser = argparse.ArgumentParser(prog="run")
    parser.add_argument("directory", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--has-faces", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--face", action="append", choices=FACES, default=[], help="all unless some are named")
    parser.add_argument("--target", help="another platform, for which `make lib TARGET=…` built")
    parser.add_argument("--debug", action="store_true", help="test what `swift build` built")
    parser.add_argument("-k", action="append", dest="patterns", metavar="PATTERN", help="as unittest's -k")
    parser.add_argument("-v", "--verbose", action="store_true")
    return parser.parse_args()


def prepare(arguments):
    """Sets the environment that names the programs under test."""
    if arguments.debug:
        if arguments.has_faces:
            subprocess.run([TOP / "Tests/faces/Support/debug-library"], check=True)
        os.environ.update({name: str(TOP / path) for name, path in DEBUG.items()})
    if arguments.target:
        os.environ["ENROLL_TARGET"] = arguments.target
        arguments.face = arguments.face or ["c", "jsonrpc"]
    import platforms  # The module reads the environment when it is imported.

    if arguments.target:
        os.environ["ENROLL"] = str(platforms.runnable(platforms.BUILD / "lib/enroll"))
    for name, path in BUILT.items():
        os.environ.setdefault(name, str(TOP / path))
    if "ENROLLD" not in os.environ:
        daemon = platforms.BUILD / "lib/enrolld"
        os.environ["ENROLLD"] = str(platforms.runnable(daemon) if daemon.exists() else daemon)
    os.environ["ENROLL_FACES"] = " ".join(arguments.face)


def run(arguments):
    """- Returns: how many tests passed, and how many failed."""
    sys.path.insert(0, str(arguments.directory))
    loader = unittest.TestLoader()
    if arguments.patterns:
        loader.testNamePatterns = [f"*{pattern}*" for pattern in arguments.patterns]
    suite = loader.discover(str(arguments.directory))
    try:
        result = unittest.TextTestRunner(verbosity=2 if arguments.verbose else 1).run(suite)
    finally:
        getattr(sys.modules.get("cases"), "tear_down", lambda: None)()
    skipped = {whole(test) for test, _ in result.skipped}
    for test, reason in result.skipped:
        print(f"skipped: {test}: {reason}")
    bad = {whole(test) for test, _ in result.failures + result.errors} | set(result.unexpectedSuccesses)
    # A failure before or after the tests of a class or a module is not a test, so `testsRun` does not count it.
    ran = {test for test in bad | skipped if isinstance(test, unittest.TestCase)}
    return max(result.testsRun - len(ran), 0), len(bad)


def whole(test):
    """The test that a subtest belongs to."""
    return getattr(test, "test_case", test)


def main():
    arguments = read_arguments()
    prepare(arguments)
    passed, failed = run(arguments)
    sys.stderr.flush()
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
