"""Tests with a home directory whose user signed in with the command of an earlier build."""

import earlier
from cases import CommandCase


class AnEarlierHome(CommandCase):
    def provide(self):
        return None

    def configure(self, name="default", **changes):
        pass

    def test_the_user_is_still_signed_in_and_gets_new_tokens(self):
        self.assertTrue(earlier.ARCHIVES, "no archive of stores")
        for archive in earlier.ARCHIVES:
            with self.subTest(archive.name):
                made = earlier.EarlierStore(archive, "command-home")
                try:
                    self.use(made)
                finally:
                    made.close()

    def use(self, made):
        self.environment.update(made.after(earlier.MONTH), HOME=str(made.folder / "home"))
        self.assertIn("alice@example.com", self.run_enroll("status")[0])
        self.assertEqual(len(self.json("accounts")["accounts"]), 1)
        first, second = self.run_enroll("token")[0], self.run_enroll("token", "--renew")[0]
        self.assertTrue(first.strip() and second.strip())
        self.run_enroll("doctor")
        self.run_enroll("logout")
        self.assertEqual(made.sandbox.control("sessions")["sessions"][0]["end"], "revoked")
        self.run_enroll("token", status=3)
