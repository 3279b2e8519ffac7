"""Tests with many actions of a user in a random order, and with many callers that are killed: no session ends
unless the server ends it. TORTURE=1: 120 acts for each server and face (2,520 in total), and 200 callers."""

import os
import random

import apps
import kinds
from cases import Failed, SignInNeeded, Unavailable, on_each

IS_LONG = os.environ.get("TORTURE") == "1"
ACTS = 120 if IS_LONG else 6
CALLERS = 100 if IS_LONG else 4
#: The servers at which a second use of a refresh token ends the session.
STRICT = (kinds.OIDCProvider, kinds.Hydra)


class Life:
    """The acts of one user with one app, mostly in the same browser. Each act is a method."""

    def __init__(self, case):
        self.case, self.server = case, case.server
        self.begin()

    def begin(self):
        self.app, self.alice = self.case.signed_in()
        #: The person in whose browser the session began.
        self.signer = self.alice

    def _sign_in(self, person, **options):
        self.app.sign_in(person, **options)
        self.signer = person

    def sign_in_again(self):
        self._sign_in(self.alice)

    def sign_in_with_the_password(self):
        self._sign_in(self.alice, prompt="login")

    def sign_in_in_another_browser(self):
        self._sign_in(self.case.person())

    def decline(self):
        self.app.decline(self.alice)

    def decline_another_user(self):
        self.app.decline(self.case.person("bob"))

    def give_up_a_silent_sign_in(self):
        # The user signs in first, because EnrollKit begins no silent sign-in after a declined sign-in.
        self._sign_in(self.alice)
        try:
            self.app.sign_in(self.case.person(), prompt="none")
        except Failed:
            pass

    def step_up(self):
        self._sign_in(self.alice, fields=self.server.stronger_fields, **self.server.stronger)

    def fail_to_step_up(self):
        try:
            self.app.sign_in(self.alice, acrValues=["urn:example:three-factors"])
        except Failed:
            pass

    def renew(self):
        self.app.renew()

    def renew_in_two_processes(self):
        for wait in [app.start_renewal() for app in (self.app, self.case.again(self.app))]:
            wait()

    def meet_a_server_that_fails(self):
        self.server.recorder.order("refuse", self.server.paths["token_endpoint"])
        try:
            self.app.renew()
        except Unavailable:
            pass

    def go_on_in_a_new_process(self):
        self.app.close()
        self.app = self.case.again(self.app)

    def sign_out_and_in(self):
        self.app.sign_out()
        self._sign_in(self.alice)

    def sign_out_in_the_browser_and_in(self):
        self.app.sign_out(self.signer)
        self._sign_in(self.alice)

    @classmethod
    def acts(cls, server, app):
        names = {name for name, member in vars(cls).items() if callable(member) and not name.startswith("_")} - {"begin"}
        if not app.steps_up:
            names -= {"step_up", "fail_to_step_up"}
        if not server.remembers_browser:
            # The example server of zitadel asks for the password even after prompt=none.
            names -= {"give_up_a_silent_sign_in"}
        if not server.tells_browsers_apart:
            names -= {"sign_out_in_the_browser_and_in"}
        return sorted(names)


@on_each(at=kinds.ALL)
class ManyActs:
    def test_acts_in_an_order_of_chance(self):
        chance = random.Random(f"{self.kind.name} {self.app_kind.face}")
        life, ended, done = Life(self), [], []
        acts = Life.acts(self.server, self.app_kind)
        for _ in range(ACTS):
            done.append(chance.choice(acts))
            getattr(life, done[-1])()
            try:
                self.assertAlive(life.app)
            except (AssertionError, SignInNeeded) as fault:
                ended.append(f"{' > '.join(done)}: {fault}")
                life.begin()
                done.clear()
        self.assertEqual(ended, [], f"{len(ended)} sessions ended in {ACTS} acts")


@on_each(at=STRICT, from_=[apps.CommandApp])
class ManyCallers:
    def test_callers_with_a_time_limit(self):
        """Here the callers of the command kill it after a timeout, as `subprocess.run(…, timeout=…)` does."""
        chance = random.Random(self.kind.name)
        app, _ = self.signed_in()
        ended = 0
        for _ in range(CALLERS):
            app.renew_within(chance.uniform(0, 0.12))
            try:
                self.assertAlive(app)
            except (AssertionError, SignInNeeded):
                ended += 1
                app, _ = self.signed_in()
        self.assertEqual(ended, 0, f"{ended} sessions ended by {CALLERS} callers")
