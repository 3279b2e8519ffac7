"""What the flow tests share: one sandbox, a face, and the steps that every flow has."""

import sys
import unittest

import faces
from faces import Refused
from processes import workspace
from sandbox import CUSTOM, Sandbox, hop

_sandbox = None


def shared_sandbox():
    """The one sandbox, started when first asked for; a test that plans faults starts its own."""
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
    """Runs a mix-in's tests from each selected face."""
    return _on(faces.selected(), tests)


def on_json_rpc(tests):
    """Runs a mix-in's tests from that face alone, if it is selected: for what the drivers of the others do not speak."""
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
    """One face; a store of its own for each test."""

    face: faces.Face

    def setUp(self):
        if not self.face.is_built:
            self.fail(f"{self.face.program.name} is not built")
        self.sandbox = self.provide()
        self.store = workspace("store")

    def provide(self):
        return shared_sandbox()

    def own_sandbox(self, *options):
        """One that this test may set faults in."""
        sandbox = Sandbox(*options)
        self.addCleanup(sandbox.stop)
        return sandbox

    # Steps.

    def open(self, store=None, account=None, more=None, **configuration):
        """A process with a client for this test's store; it ends with the test. `more` is for client.open."""
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
        """The whole sign-in by custom scheme, confirmed."""
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
        """The browser goes to the process that waits, on to the path without the query, and shows the page that is there."""
        self.assertTrue(redirect.startswith(begun["redirectUri"] + "?code="), redirect)
        sent = hop(redirect)
        self.assertEqual((sent.status, sent.headers["Location"]), (303, begun["redirectUri"]))
        shown = hop(sent.headers["Location"])
        self.assertEqual(shown.status, 200)
        self.assertIn("You can close this tab", shown.read().decode())

    def assertRefused(self, status, client, command, **parameters):
        """The command fails with this status; what it said."""
        with self.assertRaises(Refused) as caught:
            client.call(command, **parameters)
        self.assertEqual(caught.exception.status, status, caught.exception)
        return caught.exception

    def assertValid(self, client):
        """A token is handed out."""
        answer = client.call("token.access")
        self.assertEqual(answer["outcome"], "valid", answer)
        return answer


__all__ = ["CUSTOM", "FlowCase", "Refused", "on_each_face", "on_json_rpc", "shared_sandbox", "tear_down"]
