"""Shared by the tests that sign in."""

import tempfile
import unittest

from daemon import Daemon
from provider import Sandbox


class SandboxCase(unittest.TestCase):
    """One sandbox for the class, and one store for the test."""

    sandbox_arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox(*cls.sandbox_arguments)
        cls.addClassCleanup(cls.sandbox.stop)

    def setUp(self):
        self.sandbox.control("clearFaults")
        self.sandbox.control("resetCounts")
        directory = tempfile.TemporaryDirectory(prefix="enrolld-store-")
        self.addCleanup(directory.cleanup)
        self.store = directory.name + "/store"

    def daemon(self, **options):
        daemon = Daemon(**options)
        self.addCleanup(daemon.__exit__)
        return daemon

    def open(self, daemon, configuration=None, **more):
        parameters = {"configuration": configuration or self.sandbox.configuration, "store": self.store, **more}
        return daemon.call("client.open", **parameters)["client"]

    def sign_in(self, daemon, client):
        """Signs in and confirms, without pages."""
        begun = daemon.call("registration.begin", client=client)
        redirect = self.sandbox.play(begun["action"]["url"])
        state = daemon.call("registration.resume", client=client, url=redirect)["state"]
        self.assertEqual(state["state"], "awaitingConfirmation")
        self.assertEqual(daemon.call("registration.confirm", client=client)["state"], {"state": "active", "reason": "confirmed"})

    def signed_in(self, daemon=None, configuration=None, **more):
        daemon = daemon or self.daemon()
        client = self.open(daemon, configuration, **more)
        self.sign_in(daemon, client)
        return daemon, client
