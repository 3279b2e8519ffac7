"""Tests with a resource that requires another scope, at servers that grant a registered client only the
scopes of its registration."""

import json
import signal

import apps
import kinds
import registered
from cases import on_each
from sandbox import come_back

PINNING = (kinds.Hydra, kinds.Spring)
CHALLENGE = 'Bearer error="insufficient_scope", scope="email"'


@on_each(at=PINNING, from_=(apps.CommandApp,))
class FurtherScopes:
    def setUp(self):
        super().setUp()
        self.registering = registered.Registering(self.server)
        self.client = self.owned(registered.APPS[self.app_kind](self.registering))
        self.alice = self.person()
        self.client.sign_in(self.alice)

    @property
    def profile(self):
        (path,) = self.client.command.profiles.glob("*.json")
        return json.loads(path.read_text())

    def start(self):
        """Starts the sign-in for the challenge; returns the command's process and the URL that the command
        opens."""
        words = ["login", "--again", "--yes", *self.client.place, *self.registering.options, "--challenge", CHALLENGE]
        child = self.client.command.start(*words)
        return child, apps.opened(self.client.command.browser)

    def registrations(self):
        return [json.loads(row["body"])["scope"].split() for row in registered.registrations(self.server, self.began)]

    def granted(self, access):
        """The scopes of an access token, from the recorded answers of the token endpoint."""
        rows = self.server.recorder.rows(self.server.paths["token_endpoint"], self.began)
        answers = [json.loads(row["answer"]) for row in rows if row["status"] == 200]
        return next(answer["scope"].split() for answer in answers if answer["access_token"] == access)

    def test_the_scope_is_granted_to_another_client_and_the_session_before_ends(self):
        before, first = self.profile, self.client.token()
        child, url = self.start()
        come_back(self.alice.open(url))
        _, words = child.communicate(timeout=apps.TIMEOUT)
        self.assertEqual(child.returncode, 0, words)
        now = self.profile
        self.assertNotEqual(now["clientId"], before["clientId"])
        self.assertEqual(now["scopes"], [*before["scopes"], "email"])
        self.assertEqual(self.registrations(), [before["scopes"], now["scopes"]])
        self.assertIn("email", self.granted(self.client.token()))
        self.assertEqual(self.server.holder_of(self.client.renew()), "alice")
        self.assertIsNone(self.server.holder_of(first), "the session before goes on")

    def test_a_sign_in_that_is_stopped_costs_no_session(self):
        before = self.profile
        child, _ = self.start()
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=apps.TIMEOUT)
        self.assertEqual(child.returncode, 130)
        self.assertEqual(self.profile, before)
        self.assertEqual(self.server.holder_of(self.client.renew()), "alice")
