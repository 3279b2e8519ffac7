"""Each way to sign in at each server is a test. Each way runs from one of the three faces, which take turns. With
TORTURE=1 each way runs from all three faces."""

import itertools
import unittest

import apps
import clients
import kinds
import servers
import ways


class WayCase(unittest.TestCase):
    """The ways at one server from one face, by the names of their tests."""

    ways: dict

    @property
    def way(self):
        return self.ways[self._testMethodName]

    def play(self):
        result = ways.result_of(self.way)
        self.assertFalse(result.is_fault, result.reason)


def case_of(kind, app):
    found = {f"test_{way}".replace(" ", "_"): way for way in ways.ways_at(kind) if way.app is app}
    name = f"Ways at {kind.name} from {app.face}"
    case = type(name, (WayCase,), {"ways": found, "__module__": __name__, **dict.fromkeys(found, WayCase.play)})
    case.__qualname__ = name
    return case


CASES = [case_of(kind, app) for kind, app in itertools.product(kinds.PROGRAMS, apps.ALL)]
if servers.REAL.is_dir():
    globals().update({case.__name__: case for case in CASES})


class Turns(unittest.TestCase):
    def test_in_one_run_each_face_meets_each_kind_of_client_in_each_flow(self):
        met = {(way.client, way.flow, way.app) for case in CASES for way in case.ways.values()}
        self.assertLessEqual(set(itertools.product(clients.METHODS, clients.FLOWS, apps.ALL)), met)


def tests_in(suite):
    for test in suite:
        yield from tests_in(test) if isinstance(test, unittest.TestSuite) else (test,)


def load_tests(loader, tests, pattern):
    """Plans only the ways of the selected tests."""
    ways.plan(test.way for test in tests_in(tests) if isinstance(test, WayCase))
    return tests
