"""Shared by the tests: running them on each provider and face, and the steps of a flow."""

import sys
import unittest
from urllib.parse import parse_qs, urlsplit

import faces
import providers
from browser import Browser
from canaille_provider import Canaille
from faces import Refused
from glewlwyd_provider import Glewlwyd
from processes import workspace
from providers import ALICE, CUSTOM
from world import Clock

BOTH = (Glewlwyd, Canaille)

_browser = None
_regulars = {}


def browser():
    """The shared Chromium, which starts when it is first needed."""
    global _browser
    if _browser is None:
        _browser = Browser()
    return _browser


def tear_down():
    """Ends the objects that the tests share."""
    global _browser
    for person in _regulars.values():
        person.close()
    _regulars.clear()
    if _browser is not None:
        _browser.close()
        _browser = None
    providers.stop_all()


def on_each(kinds=BOTH):
    """Makes the tests of a mix-in run on each of these providers, from each selected face."""

    def multiply(tests):
        module = sys.modules[tests.__module__]
        for kind in kinds:
            for face in faces.selected():
                name = f"{tests.__name__} on {kind.name} from {face.name}"
                case = type(
                    name, (tests, ProviderCase), {"kind": kind, "face": face, "__module__": module.__name__}
                )
                case.__qualname__ = name
                setattr(module, name, case)
        return tests

    return multiply


class ProviderCase(unittest.TestCase):
    """One provider and one face; a separate store for each test."""

    kind: type
    face: faces.Face

    def setUp(self):
        self.need(self.face)
        self.provider = self.provide()
        self.store = workspace("store")

    def need(self, face):
        if not face.is_built:
            self.fail(f"{face.program} is not built")

    def provide(self):
        return providers.shared(self.kind)

    # Clients and users.

    def open(self, redirect=CUSTOM, store=None, account=None, **configuration):
        """Starts a process with a client for this test's store; it ends with the test."""
        client = self.face.open(
            self.provider.configuration(redirect, **configuration), store or self.store, account
        )
        self.addCleanup(client.close)
        return client

    def somebody(self, user=ALICE):
        """A new browser profile for this test, without a session at the provider."""
        person = browser().person(self.provider, user)
        self.addCleanup(person.close)
        return person

    def regular(self):
        """Alice in a shared browser, which is signed in at the provider after its first use."""
        if self.provider not in _regulars:
            _regulars[self.provider] = browser().person(self.provider, ALICE)
        return _regulars[self.provider]

    # Steps of the tests.

    def begin(self, client, **parameters):
        """Begins a sign-in; returns the transaction with its action."""
        begun = client.call("registration.begin", kind="signIn", **parameters)
        self.assertEqual(begun["action"]["type"], "openURL")
        return begun

    def redirect(self, client, person=None, **parameters):
        """Begins a sign-in and lets a user finish it; returns the URL that the host then receives.

        Without `person`, pages that would not ask the user are skipped.
        """
        url = self.begin(client, **parameters)["action"]["url"]
        visit = person.open(url, until=CUSTOM) if person else self.regular().hop(url, until=CUSTOM)
        return visit.redirect

    def resume(self, client, url):
        return client.call("registration.resume", url=url)["state"]

    def sign_in(self, client, person=None, **parameters):
        """Signs the user in with a redirect to a custom scheme, and confirms the profile."""
        state = self.resume(client, self.redirect(client, person, **parameters))
        self.confirm(client, state)

    def confirm(self, client, state):
        """Confirms the profile: the tokens are provisional until the user has seen it (flows.md §7)."""
        self.assertState(state, "awaitingConfirmation")
        confirmed = client.call("registration.confirm")["state"]
        self.assertState(confirmed, "active", "confirmed")

    def refusal(self, client, url):
        """Resumes with the redirect of a failed sign-in; returns the provider's own error code."""
        try:
            state = client.call("registration.resume", url=url)["state"]
        except Refused as refused:
            return refused.oauth_error
        self.assertState(state, "failed", "registration")
        return state["error"]["oauthError"]

    def refresh(self, client):
        return client.call("token.refresh")

    # Assertions.

    def assertState(self, state, name, reason=None):
        self.assertEqual(state["state"], name, state)
        if reason is not None:
            self.assertEqual(state.get("reason"), reason, state)

    def assertValid(self, answer):
        """The answer has a token, and the provider still accepts it."""
        self.assertEqual(answer["outcome"], "valid", answer)
        self.assertTrue(answer["accessToken"])
        self.assertEqual(answer["tokenType"].lower(), "bearer")

    def assertSignInNeeded(self, client):
        self.assertState(client.call("registration.state")["state"], "unregistered")
        try:
            answer = client.call("token.access")
        except Refused as refused:
            self.assertNotIn("accessToken", refused.data)
        else:
            self.assertEqual(answer["outcome"], "reauthenticate", answer)
            self.assertFalse(answer.get("accessToken"))

    def assertNoEffect(self, client, url, command="registration.resume"):
        """Checks that the URL is refused, and that the state has not changed."""
        before = client.call("registration.state")["state"]
        with self.assertRaises(Refused) as caught:
            client.call(command, url=url)
        self.assertEqual(client.call("registration.state")["state"], before)
        return caught.exception


class Timed:
    """A mix-in for tests that advance the clock of processes, or kill them at a point of their work."""

    def setUp(self):
        super().setUp()
        self.clock = Clock()

    def open_within(self, environment):
        client = self.face.within(environment).open(self.provider.configuration(CUSTOM), self.store)
        self.addCleanup(client.close)
        return client

    def assertOneRequestEach(self, processes, rounds, seconds):
        """Checks several rounds: after `seconds`, all processes request the token at the same time; only one request is
        sent, and all get the same token."""
        clients = [self.open_within(self.clock.environment) for _ in range(processes)]
        self.sign_in(clients[0])
        sent = self.provider.token_requests()
        for _ in range(rounds):
            self.clock.advance(seconds)
            answers = [pending.result() for pending in [client.start("token.access", {}) for client in clients]]
            for answer in answers:
                self.assertValid(answer)
            self.assertEqual(len({answer["accessToken"] for answer in answers}), 1)
        self.assertEqual(self.provider.token_requests(), sent + rounds)
        self.assertTrue(clients[0].call("identity.userinfo")["claims"]["sub"])

    def lose_rotated_tokens(self):
        """Lets a process renew, and kills it before it has stored the new tokens."""
        dying = self.open_within(self.clock.dying("before renameat .record 2"))
        with self.assertRaises(Refused):
            dying.call("token.refresh")
        self.assertEqual(dying.end(), -9)


def parameter(url, name):
    """The value of a query parameter, decoded."""
    return parse_qs(urlsplit(url).query)[name][0]


def with_query(url, **changes):
    """`url` with these query parameters replaced, added or (None) removed."""
    base, _, query = url.partition("?")
    kept = [part for part in query.split("&") if part.split("=")[0] not in changes]
    new = [f"{name}={value}" for name, value in changes.items() if value is not None]
    return f"{base}?{'&'.join(kept + new)}"
