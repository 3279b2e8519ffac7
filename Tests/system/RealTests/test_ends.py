"""Tests of the end of a session: the user signs out, or the server ends it. The app gets an event if the
server ended it, and only then."""

import apps
import kinds
from cases import SignInNeeded, on_each

ADMINISTERED = [kind for kind in kinds.PROGRAMS if kind.has_administrator]


@on_each()
class SignOut:
    def test_a_sign_out_ends_the_session_at_the_server(self):
        app, _ = self.signed_in()
        tokens = self.tokens(app)
        app.sign_out()
        self.assertSignedOut(*tokens)
        with self.assertRaises(SignInNeeded):
            app.token()

    def test_a_renewed_session_is_signed_out(self):
        app, _ = self.signed_in()
        app.renew()
        tokens = self.tokens(app)
        app.sign_out()
        self.assertSignedOut(*tokens)

    def test_signed_out_and_in_again_in_the_same_browser(self):
        app, alice = self.signed_in()
        app.sign_out()
        app.sign_in(alice)
        self.assertAlive(app)

    def test_signed_out_in_the_browser_too_and_in_again(self):
        app, alice = self.signed_in()
        app.sign_out(alice)
        passwords = alice.passwords
        app.sign_in(alice)
        self.assertGreater(alice.passwords, passwords, "the browser was still signed in")
        self.assertAlive(app)

    def test_signed_out_in_one_browser_while_another_app_is_signed_in_elsewhere(self):
        app, _ = self.signed_in()
        other, _ = self.signed_in()
        other.sign_out()
        self.assertAlive(app)

    def test_a_sign_out_that_the_server_hears_late_and_a_sign_in_meanwhile(self):
        app, alice = self.signed_in()
        self.server.refuse_revocation()
        app.sign_out()
        app.sign_in(alice)
        app.close()
        for _ in range(2):
            self.assertAlive(self.again(app))

    def test_a_sign_out_that_the_server_hears_late(self):
        app, _ = self.signed_in()
        tokens = self.tokens(app)
        self.server.refuse_revocation()
        app.sign_out()
        app.close()
        # The next process must send the revocations that are left.
        self.again(app).look()
        self.assertSignedOut(*tokens)


@on_each(at=ADMINISTERED)
class Administrator:
    def test_the_administrator_ends_the_session(self):
        app, alice = self.signed_in()
        self.server.end_sessions("alice")
        self.assertEndIsTold(app)
        app.sign_in(alice)
        self.assertAlive(app)

    def test_the_administrator_ends_another_users_session(self):
        app, _ = self.signed_in()
        self.server.end_sessions("bob")
        self.assertAlive(app)

    def test_the_signing_keys_change(self):
        app, _ = self.signed_in()
        self.server.change_keys()
        app.renew()
        self.assertAlive(app)

    def test_the_signing_keys_change_twice_between_sign_ins(self):
        app, alice = self.signed_in()
        for _ in range(2):
            self.server.change_keys()
            app.sign_in(alice)
        self.assertAlive(app)


@on_each(from_=[apps.DaemonApp])
class Restart:
    def test_the_server_restarts(self):
        """One test for all faces, with one app for each face."""
        signed_in = [(app, self.person()) for app in (self.owned(kind(self.server)) for kind in apps.ALL)]
        for app, alice in signed_in:
            app.sign_in(alice)
        self.server.restart()
        for app, alice in signed_in:
            with self.subTest(face=app.face):
                if not self.server.keeps:
                    self.assertEndIsTold(app)
                    app.sign_in(alice)
                self.assertAlive(app)
