"""Tests of renewals: a session lasts as long as the server allows, even if answers are lost and processes are
killed."""

import apps
import kinds
from cases import SignInNeeded, Unavailable, on_each
from processes import wait_until

#: The servers that accept a refresh token again if the answer to its first use was lost.
FORGIVING = [kind for kind in kinds.ALL if kind.forgives]
STAYING = [app for app in apps.ALL if not app.outlives_its_caller]
OUTLIVING = [app for app in apps.ALL if app.outlives_its_caller]
#: How long the server's answer is delayed while something else happens, in seconds.
HELD = 2


class Held:
    """A mix-in for tests in which the server has answered a renewal, and the answer has not arrived yet."""

    def under_way(self, start, *arguments):
        """Calls `start`, which sends a code or a refresh token; returns once the server has answered it."""
        since = self.server.recorder.count
        self.server.delay_token_answer(HELD)
        wait = start(*arguments)
        path = self.server.paths["token_endpoint"]
        wait_until(lambda: self.server.recorder.rows(path, since), "the server has answered")
        return wait


@on_each(at=kinds.ALL)
class Renewal(Held):
    def test_one_renewal_after_another(self):
        app, _ = self.signed_in()
        tokens = [app.token(), *(app.renew() for _ in range(4))]
        self.assertEqual(len(set(tokens)), 5)
        self.assertNothingSpentTwice()
        self.assertAlive(app)

    def test_eight_processes_at_once(self):
        app, _ = self.signed_in()
        waiting = [process.start_renewal() for process in [self.again(app) for _ in range(8)]]
        for wait in waiting:
            self.assertTrue(wait())
        self.assertNothingSpentTwice()
        self.assertAlive(app)

    def test_a_lost_answer(self):
        app, alice = self.signed_in()
        self.server.lose_token_answer()
        try:
            app.renew()
        except (SignInNeeded, Unavailable):
            pass
        if not self.server.forgives:
            # The new refresh token was lost with the answer, and the refresh token that was sent no longer
            # works.
            self.assertEndIsTold(app)
            app.sign_in(alice)
        self.assertAlive(app)

    def test_a_server_that_fails_for_a_moment(self):
        app, _ = self.signed_in()
        token = app.token()
        self.server.recorder.order("refuse", self.server.paths["token_endpoint"])
        try:
            app.renew()
        except Unavailable:
            self.assertEqual(app.token(), token)
        self.assertNothingSpentTwice()
        self.assertAlive(app)

    def test_a_renewal_that_a_sign_in_overtakes(self):
        app, alice = self.signed_in()
        wait = self.under_way(app.start_renewal)
        other = self.again(app)
        other.sign_in(alice)
        try:
            wait()
        except (SignInNeeded, Unavailable):
            pass
        self.assertAlive(other)

    def test_killed_between_two_renewals(self):
        app, _ = self.signed_in()
        app.renew()
        app.close()
        self.assertAlive(self.again(app))


@on_each(at=kinds.ALL, from_=OUTLIVING)
class KilledCaller(Held):
    def test_a_renewal_whose_caller_is_killed(self):
        app, _ = self.signed_in()
        self.under_way(app.start_renewal)
        app.kill_caller()
        self.assertAlive(self.again(app))
        self.assertNothingSpentTwice()

    def test_a_sign_in_whose_caller_is_killed_as_the_code_is_exchanged(self):
        """The next process asks the question that the first process would have asked."""
        app = self.app()
        self.under_way(app.start_sign_in, self.person())
        app.kill_caller()
        app = self.again(app)
        app.confirm()
        self.assertAlive(app)

    def test_a_sign_in_again_whose_caller_is_killed_as_the_code_is_exchanged(self):
        app, alice = self.signed_in()
        self.under_way(app.start_sign_in, alice)
        app.kill_caller()
        self.assertAlive(self.again(app))


@on_each(at=FORGIVING, from_=STAYING)
class KilledHost(Held):
    def test_a_renewal_whose_process_is_killed(self):
        app, _ = self.signed_in()
        self.under_way(app.start_renewal)
        app.kill()
        # Some servers end an access token when they return the next access token.
        self.assertRenews(self.again(app))
