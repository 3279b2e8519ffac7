"""From a resource's URL alone to a token for it: discovery, registration, sign-in (flows.md §12)."""

import json
import socket
import urllib.error
import urllib.request

from cases import Refused, on_each_face
from sandbox import CUSTOM


@on_each_face
class Resources:
    def provide(self):
        return self.own_sandbox("--open-registration")

    def setUp(self):
        super().setUp()
        self.notes = self.sandbox.issuer + "/notes"

    def start(self):
        """Starts a process without a client."""
        process = self.face.start()
        self.addCleanup(process.close)
        return process

    def discover(self, process, **more):
        return process.call("resource.discover", resource=self.notes, allowLoopbackHTTP=True, **more)

    def register(self, process, **more):
        return process.call(
            "resource.register",
            **{
                "resource": self.notes,
                "issuer": self.sandbox.issuer,
                "redirectUri": CUSTOM,
                "clientName": "Notes reader",
                "store": str(self.store),
                "allowLoopbackHTTP": True,
                **more,
            },
        )

    def read(self, token=None):
        """Requests the resource; returns a status, or the name of the notes' owner."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            with urllib.request.urlopen(urllib.request.Request(self.notes, headers=headers), timeout=60) as answer:
                return json.load(answer)["user"]
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    def test_from_the_resource_to_its_notes(self):
        self.assertEqual(self.read(), 401)
        process = self.start()
        found = self.discover(process)
        self.assertEqual((found["issuer"], found["authorizationServers"]), (self.sandbox.issuer, [self.sandbox.issuer]))
        self.assertTrue(found["canRegister"])
        self.assertEqual(self.sandbox.control("counts")["counts"]["clientRegistration"], 0)
        made = self.register(process)
        self.assertEqual((made["origin"], made["isNew"]), ("registered", True))
        self.assertEqual(made["configuration"]["resource"], self.notes)
        process.open(made["configuration"], self.store)
        self.sign_in(process)
        self.assertEqual(self.read(self.assertValid(process)["accessToken"]), "alice")
        self.assertEqual(self.read(process.call("token.refresh")["accessToken"]), "alice")

        # Another process uses the same client, and has the same session.
        heir = self.start()
        again = self.register(heir)
        self.assertEqual((again["isNew"], again["configuration"]), (False, made["configuration"]))
        heir.open(again["configuration"], self.store)
        self.assertEqual(self.read(self.assertValid(heir)["accessToken"]), "alice")
        self.assertEqual(self.sandbox.control("counts")["counts"]["clientRegistration"], 1)

    def test_what_was_found_is_not_looked_for_again(self):
        self.sandbox.control("resetCounts")
        process = self.start()
        found = self.discover(process, challenge='Bearer scope="openid profile"')
        self.assertEqual(found["scopes"], ["openid", "profile"])
        made = self.register(process, discovery=found["discovery"])
        process.open(made["configuration"], self.store)
        self.sign_in(process)
        counts = self.sandbox.control("counts")["counts"]
        wanted = ("notesMetadata", "discovery", "clientRegistration", "token")
        self.assertEqual([counts[name] for name in wanted], [1, 1, 1, 1], counts)
        with self.assertRaises(Refused) as caught:
            self.register(process, discovery="{}", again=True)
        self.assertEqual(caught.exception.data["field"], "discovery")

    def test_a_challenge_for_more_scopes_adds_them(self):
        process = self.start()
        first = self.register(process, challenge='Bearer scope="openid"')["configuration"]["scopes"]
        more = self.register(process, challenge='Bearer error="insufficient_scope", scope="email"')
        # This server registers clients with their scopes, and gives them no other scopes.
        self.assertEqual((more["isNew"], more["configuration"]["scopes"]), (True, [*first, "email"]))

    def test_a_client_that_the_server_forgot_is_registered_anew(self):
        process = self.start()
        first = self.register(process)["configuration"]
        process.open(first, self.store)
        self.sign_in(process)
        self.sandbox.control("forgetClients")
        outcome = process.call("token.refresh")
        self.assertEqual(outcome["outcome"], "stale")
        # With a token that still works, C and Swift do not return the reason of the failed renewal.
        self.assertEqual(outcome.get("error", {"field": "again"})["field"], "again", outcome)
        process = self.start()
        made = self.register(process)
        self.assertTrue(made["isNew"])
        self.assertFalse(self.register(process)["isNew"])
        self.assertNotEqual(made["configuration"]["clientId"], first["clientId"])
        process.open(made["configuration"], self.store)
        self.sign_in(process)
        self.assertEqual(self.read(self.assertValid(process)["accessToken"]), "alice")

    def test_a_port_that_another_program_has_is_not_registered(self):
        process = self.start()
        with socket.create_server(("127.0.0.1", 0)) as taken:
            uri = f"http://127.0.0.1:{taken.getsockname()[1]}/callback"
            with self.assertRaises(Refused) as caught:
                self.register(process, redirectUri=uri)
            self.assertEqual((caught.exception.status, caught.exception.data["field"]), ("busy", "redirectUri"))
            self.assertEqual(self.sandbox.control("counts")["counts"]["clientRegistration"], 0)
            # The host says that it listens on this port itself, so the port is not tried.
            self.assertTrue(self.register(process, redirectUri=uri, holdsPort=True)["isNew"])

    def test_what_cannot_be_registered_is_refused(self):
        process = self.start()
        for status, more in (
            ("issuerMismatch", {"issuer": self.sandbox.issuer + "/other"}),
            ("invalidArgument", {"resource": self.notes + "#part"}),
            ("configuration", {"redirectUri": "http://example.com/callback"}),
        ):
            with self.assertRaises(Refused) as caught:
                self.register(process, **more)
            self.assertEqual(caught.exception.status, status, caught.exception)
        self.assertEqual(self.sandbox.control("counts")["counts"]["clientRegistration"], 0)

    def test_a_server_that_registers_nobody_takes_a_configured_client(self):
        self.sandbox = self.own_sandbox()
        self.notes = self.sandbox.issuer + "/notes"
        process = self.start()
        self.assertFalse(self.discover(process)["canRegister"])
        with self.assertRaises(Refused) as caught:
            self.register(process)
        self.assertEqual((caught.exception.status, caught.exception.data["field"]), ("unsupported", "clientId"))
        made = self.register(process, clientId="sample-app")
        self.assertEqual(made["origin"], "configured")
        process.open(made["configuration"], self.store)
        self.sign_in(process)
        self.assertEqual(self.read(self.assertValid(process)["accessToken"]), "alice")
