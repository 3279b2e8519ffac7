"""What the flow tests share: one sandbox, a face, and steps that many flows have."""

import sys
import unittest

import faces
from faces import Refused
from processes import workspace
from sandbox import CUSTOM, Sandbox, hop

_sandbox = None


def shared_sandbox():
    """The shared sandbox, which starts when a test first needs it; a test that sets faults starts its own
    sandbox."""
    global _sandbox
    if _sandbox is None:
        _sandbox = Sandbox()
    return _sandbox


def tear_down():
    global _sandbox
    if _sandbox is not None:
        _sandbox.stop()
        _sandbox = None


def on_each_face(tests):
    """Makes the tests of a mix-in run from each selected face."""
    return _on(faces.selected(), tests)


def on_json_rpc(tests):
    """Runs the tests of a mix-in only from JSON-RPC, if JSON-RPC is selected: the drivers of the other faces
    do not have these commands."""
    return _on([face for face in faces.selected() if face.name == "jsonrpc"], tests)


def _on(chosen, tests):
    module = sys.modules[tests.__module__]
    for face in chosen:
        name = f"{tests.__name__} from {face.name}"
        case = type(name, (tests, FlowCase), {"face": face, "__module__": module.__name__})
        case.__qualname__ = name
        setattr(module, name, case)
    return tests


class FlowCase(unittest.TestCase):
    """One face, and a separate store for each test."""

    face: faces.Face

    def setUp(self):
        if not self.face.is_built:
            self.fail(f"{self.face.program.name} is not built")
        self.sandbox = self.provide()
        self.store = workspace("store")

    def provide(self):
        return shared_sandbox()

    def own_sandbox(self, *options):
        """A sandbox in which this test may set faults."""
        sandbox = Sandbox(*options)
        self.addCleanup(sandbox.stop)
        return sandbox

    # Steps.

    def open(self, store=None, account=None, more=None, **configuration):
        """Starts a process with a client for this test's store; the process ends with the test. `more` are
        further parameters of client.open."""
        client = self.face.open(
            self.sandbox.configuration(**configuration), store or self.store, account, **(more or {})
        )
        self.addCleanup(client.close)
        return client

    def begin(self, client, kind="signIn", **parameters):
        return client.call("registration.begin", kind=kind, **parameters)

    def resume(self, client, url):
        return client.call("registration.resume", url=url)["state"]

    def confirm(self, client):
        state = client.call("registration.confirm")["state"]
        self.assertState(state, "active", "confirmed")

    def sign_in(self, client, **parameters):
        """Signs the user in with a redirect to a custom scheme, and confirms the profile."""
        begun = self.begin(client, **parameters)
        self.assertEqual(begun["action"]["type"], "openURL")
        self.assertState(self.resume(client, self.sandbox.play(begun["action"]["url"])), "awaitingConfirmation")
        self.confirm(client)

    # Assertions.

    def assertState(self, state, name, reason=None):
        self.assertEqual(state["state"], name, state)
        if reason is not None:
            self.assertEqual(state.get("reason"), reason, state)

    def assertComesBack(self, begun, redirect):
        """Checks that the browser reaches the waiting process, is redirected to the path without the query, and
        gets the page there."""
        self.assertTrue(redirect.startswith(begun["redirectUri"] + "?code="), redirect)
        sent = hop(redirect)
        self.assertEqual((sent.status, sent.headers["Location"]), (303, begun["redirectUri"]))
        shown = hop(sent.headers["Location"])
        self.assertEqual(shown.status, 200)
        self.assertIn("You can close this tab", shown.read().decode())

    def assertRefused(self, status, client, command, **parameters):
        """Checks that the command fails with this status, and returns its error."""
        with self.assertRaises(Refused) as caught:
            client.call(command, **parameters)
        self.assertEqual(caught.exception.status, status, caught.exception)
        return caught.exception

    def assertValid(self, client):
        """Checks that the session has a valid token."""
        answer = client.call("token.access")
        self.assertEqual(answer["outcome"], "valid", answer)
        return answer


__all__ = ["CUSTOM", "FlowCase", "Refused", "on_each_face", "on_json_rpc", "shared_sandbox", "tear_down"]
