"""Shared by the tests: each act at each server from each face, and the conditions that must hold afterwards.

The server decides whether a session is live. A live session has an access token that the server's userinfo accepts,
and a refresh token that renews; an ended session has neither. The recorder knows the tokens that a server returned, so
EnrollKit is not asked for them.
"""

import sys
import unittest

import apps
import kinds
import servers
import ways
from apps import Failed, SignInNeeded, Unavailable
from processes import wait_until


def tear_down():
    ways.tear_down()
    apps.Interpreter.close_all()
    servers.close_all()


def on_each(at=kinds.PROGRAMS, from_=apps.ALL):
    """Runs the tests of a mix-in at each of these servers, from each of these faces. Without the servers there are
    no tests: `test_servers.py` reports that."""

    def multiply(tests):
        module = sys.modules[tests.__module__]
        for kind in at if servers.REAL.is_dir() else ():
            for app in from_:
                name = f"{tests.__name__} at {kind.name} from {app.face}"
                members = {"kind": kind, "app_kind": app, "__module__": module.__name__}
                case = type(name, (tests, RealCase), members)
                case.__qualname__ = name
                setattr(module, name, case)
        return tests

    return multiply


class RealCase(unittest.TestCase):
    """One server and one face; a separate store for each test."""

    kind: type
    app_kind: type

    def setUp(self):
        self.server = servers.shared(self.kind)
        self.began = self.server.recorder.count

    # Steps of the tests.

    def app(self):
        """The app, with a new store."""
        return self.owned(self.app_kind(self.server))

    def again(self, app, account=None):
        """A new process of the same app; with `account`, for another user."""
        return self.owned(app.again(account))

    def owned(self, app):
        self.addCleanup(app.close)
        return app

    def person(self, name="alice"):
        return self.server.person(name)

    def signed_in(self, person=None):
        """The app with a session, and the person whose browser was used."""
        app, person = self.app(), person or self.person()
        app.sign_in(person)
        return app, person

    def tokens(self, app):
        """The app's access token, and the refresh token that the server returned with it."""
        access = app.token()
        return access, self.server.refresh_token_of(access)

    # The server's view of a session.

    def assertAlive(self, app, user="alice"):
        """The session lives at the server: the server accepts the app's access token, and renews it."""
        access, refresh = self.tokens(app)
        self.assertEqual(self.server.user_of(access), user, "the server refuses the access token")
        self.assertIsNot(self.server.introspects(refresh), False, "the server says that the refresh token is not active")
        self.assertNotEqual(self.assertRenews(app, user), access)

    def assertRenews(self, app, user="alice"):
        """The session lives, even if its last access token does not work."""
        try:
            renewed = app.renew()
        except SignInNeeded as told:
            self.fail(f"the session ended: {told}")
        self.assertEqual(self.server.user_of(renewed), user, "the server refuses the renewed access token")
        return renewed

    def assertSignedOut(self, access, refresh):
        """Checks that EnrollKit has ended the session at the server."""
        wait_until(lambda: self.server.heard_revocation(refresh), "the server is told to revoke the refresh token", timeout=20)
        self.assertIsNone(self.server.userinfo(access), "the server accepts the access token")
        self.assertFalse(self.server.renews(refresh), "the server still renews")

    def assertEndIsTold(self, app):
        """The server has ended the session: EnrollKit reports this to the app, whose user can sign in again."""
        with self.assertRaises(SignInNeeded):
            app.renew()
        with self.assertRaises(SignInNeeded):
            app.token()

    def assertNothingSpentTwice(self):
        """Checks that no refresh token was sent again after the server had replaced it."""
        self.assertEqual(self.server.spent_twice(self.began), [])


__all__ = ["Failed", "RealCase", "SignInNeeded", "Unavailable", "on_each", "tear_down"]
