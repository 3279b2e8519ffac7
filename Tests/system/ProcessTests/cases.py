"""Shared by the tests of several processes: sandboxes, a clock for all processes, and processes with many threads."""

import functools
import json
import os
import unittest

import faces
from compiled import compiled
from gate import Gate
from platforms import BUILD, OUT
from processes import TOP, Child, workspace
from sandbox import Sandbox
from world import Clock

LONG = bool(os.environ.get("TORTURE"))
# The faces under test; the most common one comes first.
FACES = sorted(faces.selected(), key=lambda face: ["c", "jsonrpc", "swift"].index(face.name))
# A number of seconds that is greater than the lifetime of the sandbox's access tokens.
LIFETIME = 400


@functools.cache
def _crowd():
    """The path of the crowd program. ENROLL_CROWD names another program."""
    given = os.environ.get("ENROLL_CROWD")
    if given:
        return given
    flags = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", f"-I{TOP}/include", "-pthread"]
    source = TOP / "Tests/system/ProcessTests/crowd.c"
    return compiled(OUT / "crowd", *flags, source, f"-L{BUILD}/lib", "-lenroll")


class Crowd:
    """A process with many threads, which all ask for a token at each `go`."""

    def __init__(self, environment, configuration, store, threads):
        self._child = Child(
            [_crowd(), json.dumps(configuration), store, threads],
            workspace("crowd") / "stderr",
            environment={**environment, "LD_LIBRARY_PATH": f"{BUILD}/lib"},
            pipes=True,
        )
        line = self._child.process.stdout.readline().strip()
        if line != b"ready":
            raise AssertionError(f"the crowd did not start: {self._child.tail()}")

    def go(self):
        self._child.process.stdin.write(b"go\n")
        self._child.process.stdin.flush()

    def answer(self):
        """How many threads got a token, how many got no token, and the different tokens."""
        line = self._child.process.stdout.readline().split()
        if not line:
            raise AssertionError(f"the crowd ended: {self._child.tail()}")
        good, bad, different = map(int, line[:3])
        return good, bad, {line[3].decode()} | ({"another"} if different else set())

    @property
    def log(self):
        return self._child.tail()

    def close(self):
        self._child.stop()


class Asker:
    """A process of another face that asks many times at once, with the interface of a crowd."""

    def __init__(self, client, threads):
        self._client = client
        self._threads = threads

    def go(self):
        self._pending = [self._client.start("token.access", {}) for _ in range(self._threads)]

    def answer(self):
        answers = [pending.result(120) for pending in self._pending]
        good = [answer for answer in answers if "accessToken" in answer]
        return len(good), len(answers) - len(good), {answer["accessToken"] for answer in good}

    @property
    def log(self):
        return self._client.log

    def close(self):
        self._client.close()


class ProcessCase(unittest.TestCase):
    """A sandbox for each grace period of the class; a store and a clock for each test."""

    graces = (30,)

    @classmethod
    def setUpClass(cls):
        cls.sandboxes = {}
        for grace in cls.graces:
            sandbox = cls.sandboxes[grace] = Sandbox("--grace", str(grace))
            cls.addClassCleanup(sandbox.stop)

    def setUp(self):
        self.begin(self.graces[0])

    def begin(self, grace):
        """Begins without a session. A rotated refresh token works for `grace` more seconds."""
        self.sandbox = self.sandboxes[grace]
        self.sandbox.control("clearFaults")
        self.store = workspace("store") / "tokens"
        self.clock = Clock()
        self.gate = None

    def pass_through_gate(self):
        """From now on, the requests of every client to the token endpoint go through a gate (gate.py)."""
        self.gate = Gate(self.sandbox)
        self.addCleanup(self.gate.close)

    def configuration(self):
        endpoints = {"endpoints": self.gate.endpoints()} if self.gate else {}
        return self.sandbox.configuration(confirmation=False, postLogoutRedirectUri=None, **endpoints)

    def open(self, face, environment=None):
        """A client in a separate process, with this test's clock; it ends with the test."""
        client = face.within(environment or self.clock.environment).open(self.configuration(), self.store)
        self.addCleanup(client.close)
        return client

    def sign_in(self, client):
        """Signs in and returns the token; from then on `session()` describes the session at the provider."""
        before = self._sessions()
        url = client.call("registration.begin", kind="signIn")["action"]["url"]
        client.call("registration.resume", url=self.sandbox.play(url))
        (self._session,) = self._sessions().keys() - before.keys()
        return client.call("token.access")["accessToken"]

    def session(self):
        """The session at the provider: `generation` counts its refresh tokens, and `end` is set once it has ended."""
        return self._sessions()[self._session]

    def _sessions(self):
        return {session["id"]: session for session in self.sandbox.control("sessions")["sessions"]}

    def refreshes(self):
        return self.sandbox.control("counts")["refreshes"]


__all__ = ["FACES", "LIFETIME", "LONG", "Asker", "Crowd", "ProcessCase"]
