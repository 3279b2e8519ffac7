"""What the tests of several processes share: sandboxes, a clock that all processes look at, crowds of threads."""

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
# The faces under test; the first is the one that most users have.
FACES = sorted(faces.selected(), key=lambda face: ["c", "jsonrpc", "swift"].index(face.name))
# Longer than an access token of the sandbox lives.
LIFETIME = 400


@functools.cache
def _crowd():
    """The program, which finds its library where it is told to."""
    given = os.environ.get("ENROLL_CROWD")
    if given:
        return given
    flags = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", f"-I{TOP}/include", "-pthread"]
    source = TOP / "Tests/ProcessTests/crowd.c"
    return compiled(OUT / "crowd", *flags, source, f"-L{BUILD}/lib", "-lenroll")


class Crowd:
    """A process with many threads that ask at once, at each `go`."""

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
        """How many got a token, how many none, and the different tokens."""
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
    """Sandboxes for the class, one for each grace that is asked for; a store and a clock of its own for each test."""

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
        """A world of its own: nobody is signed in, and a rotated refresh token works for `grace` seconds more."""
        self.sandbox = self.sandboxes[grace]
        self.sandbox.control("clearFaults")
        self.store = workspace("store") / "tokens"
        self.clock = Clock()
        self.gate = None

    def pass_through_gate(self):
        """From here on, the token endpoint of every client is a gate."""
        self.gate = Gate(self.sandbox)
        self.addCleanup(self.gate.close)

    def configuration(self):
        endpoints = {"endpoints": self.gate.endpoints()} if self.gate else {}
        return self.sandbox.configuration(confirmation=False, **endpoints)

    def open(self, face, environment=None):
        """A client in a process of its own, which lives in this test's world; it ends with the test."""
        client = face.within(environment or self.clock.environment).open(self.configuration(), self.store)
        self.addCleanup(client.close)
        return client

    def sign_in(self, client):
        """The token; `session()` is the provider's side of it from here on."""
        before = self._sessions()
        url = client.call("registration.begin", kind="signIn")["action"]["url"]
        client.call("registration.resume", url=self.sandbox.play(url))
        (self._session,) = self._sessions().keys() - before.keys()
        return client.call("token.access")["accessToken"]

    def session(self):
        """What the provider says of it: `generation` counts its refresh tokens, `end` is there once it is over."""
        return self._sessions()[self._session]

    def _sessions(self):
        return {session["id"]: session for session in self.sandbox.control("sessions")["sessions"]}

    def refreshes(self):
        return self.sandbox.control("counts")["refreshes"]


__all__ = ["FACES", "LIFETIME", "LONG", "Asker", "Crowd", "ProcessCase"]
