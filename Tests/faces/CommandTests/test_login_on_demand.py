"""`--login`: a command that finds nobody signed in signs in, once for all that ask."""

import subprocess
from pathlib import Path

from cases import ENROLL, CommandCase
from processes import wait_until
from terminal import TIMEOUT

#: As many as a busy cluster's shell starts at once.
COMMANDS = 8


class LoginOnDemand(CommandCase):
    def provide(self):
        return self.own_sandbox()

    def opened_count(self):
        record = Path(f"{self.browser}.opened")
        return record.read_text().count("\n") if record.exists() else 0

    def test_commands_that_ask_at_once_open_one_browser(self):
        children = [self.start("token", "--login") for _ in range(COMMANDS - 2)]
        children += [self.start("token", "--login", "--format", "kubernetes", "--id-token"),
                     self.start("exec", "--login", "--", "sh", "-c", "echo $ACCESS_TOKEN")]
        url = self.opened()
        # All of them wait before the user signs in.
        for child in children:
            self.assertIn("sign in with the browser", child.stderr.readline())
        self.come_back(url)
        for child in children:
            output, words = child.communicate(timeout=TIMEOUT)
            self.assertEqual(child.returncode, 0, words)
        self.assertEqual(self.opened_count(), 1)
        self.assertEqual(output, f"{self.token()}\n")

    def test_a_caller_that_is_killed_ends_no_sign_in(self):
        child = self.start("token", "--login")
        url = self.opened()
        child.kill()
        self.come_back(url)
        wait_until(self.is_signed_in, "the sign-in ends", TIMEOUT)
        self.assertEqual(self.opened_count(), 1)

    def is_signed_in(self):
        return subprocess.run([ENROLL, "token"], env=self.environment, capture_output=True, timeout=TIMEOUT).returncode == 0

    def test_a_sign_in_that_is_declined_is_not_begun_again_at_once(self):
        child = self.start("token", "--login")
        self.come_back(self.opened(), error="access_denied")
        _, words = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 3, words)
        self.assertIn("the sign-in failed", words)
        self.assertIn("the last sign-in failed", self.run_enroll("token", "--login", status=3)[1])
        self.assertEqual(self.opened_count(), 1)

    def test_without_the_option_or_a_browser_nothing_opens(self):
        self.run_enroll("token", status=3)
        self.assertFalse(self.has_opened)
        environment = {name: value for name, value in self.environment.items() if name != "BROWSER"}
        _, words = self.run_enroll("token", "--login", status=3, environment=environment)
        self.assertIn("enroll login", words)
        # Nor without a profile: then it is not known where to sign in.
        self.run_enroll("token", "--login", "--profile", "other", status=2)
        self.assertFalse(self.has_opened)

    def test_a_session_that_has_ended_is_begun_again(self):
        self.sign_in()
        self.sandbox.control("endSessions")
        child = self.start("token", "--login", "--renew")
        self.come_back(self.opened(2))
        output, words = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 0, words)
        self.assertEqual(output, f"{self.token()}\n")
