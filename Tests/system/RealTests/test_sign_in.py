"""Tests of everyday sign-ins: a signed-in user stays signed in, whatever else happens in the same browser."""

import apps
import kinds
from cases import Failed, on_each

REMEMBERING = [kind for kind in kinds.PROGRAMS if kind.remembers_browser]
STEPPING_UP = [app for app in apps.ALL if app.steps_up]
REFUSING = (kinds.OIDCProvider, kinds.Hydra)


@on_each()
class SignIn:
    def test_a_sign_in_gives_a_session(self):
        app, _ = self.signed_in()
        self.assertAlive(app)

    def test_a_new_process_has_the_same_session(self):
        app, _ = self.signed_in()
        app.close()
        self.assertAlive(self.again(app))

    def test_the_same_user_signs_in_again_in_the_same_browser(self):
        app, alice = self.signed_in()
        app.sign_in(alice)
        self.assertAlive(app)

    def test_the_same_user_signs_in_again_three_times(self):
        app, alice = self.signed_in()
        for _ in range(3):
            app.sign_in(alice)
        self.assertAlive(app)

    def test_the_same_user_signs_in_again_with_the_password(self):
        app, alice = self.signed_in()
        app.sign_in(alice, prompt="login")
        self.assertAlive(app)

    def test_the_same_user_signs_in_again_in_another_browser(self):
        app, _ = self.signed_in()
        app.sign_in(self.person())
        self.assertAlive(app)

    def test_a_sign_in_again_that_the_user_declines(self):
        app, alice = self.signed_in()
        app.decline(alice)
        self.assertAlive(app)

    def test_a_first_sign_in_that_the_user_declines_and_then_confirms(self):
        app, alice = self.app(), self.person()
        app.decline(alice)
        app.sign_in(alice)
        self.assertAlive(app)

    def test_another_user_is_declined(self):
        app, _ = self.signed_in()
        app.decline(self.person("bob"))
        self.assertAlive(app)

    def test_another_user_takes_the_place(self):
        app, _ = self.signed_in()
        before = self.tokens(app)
        app.sign_in(self.person("bob"))
        self.assertAlive(app, "bob")
        self.assertSignedOut(*before)

    def test_two_users_in_two_accounts_of_one_store(self):
        app, _ = self.signed_in()
        other = self.again(app, "second")
        other.sign_in(self.person("bob"))
        self.assertAlive(app)
        other.sign_out()
        self.assertAlive(app)

    def test_one_user_in_two_accounts_of_one_store(self):
        app, alice = self.signed_in()
        other = self.again(app, "second")
        other.sign_in(alice)
        self.assertAlive(app)
        other.sign_out()
        self.assertAlive(app)

    def test_killed_at_the_question_which_the_next_process_asks(self):
        app, alice = self.signed_in()
        app.come_back(alice)
        app.kill()
        app = self.again(app)
        app.confirm()
        self.assertAlive(app)


@on_each(at=REMEMBERING)
class SilentSignIn:
    def test_a_sign_in_without_pages_that_the_server_refuses(self):
        """Signs in with prompt=none in a browser in which the user is not signed in."""
        app, _ = self.signed_in()
        try:
            app.sign_in(self.person(), prompt="none")
        except Failed:
            pass
        self.assertAlive(app)


@on_each(at=REFUSING)
class Refusal:
    def test_a_sign_in_again_that_the_user_refuses_at_the_server(self):
        app, _ = self.signed_in()
        with self.assertRaises(Failed) as caught:
            app.sign_in(self.person(), refuse=True)
        self.assertEqual(caught.exception.status, "accessDenied", caught.exception)
        self.assertAlive(app)


@on_each(from_=STEPPING_UP)
class StepUp:
    def test_a_step_up_that_succeeds(self):
        app, alice = self.signed_in()
        app.sign_in(alice, fields=self.server.stronger_fields, **self.server.stronger)
        self.assertAlive(app)

    def test_a_step_up_that_fails(self):
        app, alice = self.signed_in()
        with self.assertRaises(Failed) as caught:
            app.sign_in(alice, acrValues=["urn:example:three-factors"])
        self.assertIn(caught.exception.status, ("idTokenInvalid", "oauth"), caught.exception)
        self.assertAlive(app)

    def test_a_step_up_that_the_user_declines(self):
        app, alice = self.signed_in()
        app.decline(alice, fields=self.server.stronger_fields, **self.server.stronger)
        self.assertAlive(app)
