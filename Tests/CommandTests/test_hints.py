"""A command that is advised works as it is printed: each one is run by a shell, and is about the same account."""

import os
import shlex
from pathlib import Path

from cases import ENROLL, CommandCase, hints
from processes import free_port
from terminal import Terminal


class Hints(CommandCase):
    def provide(self):
        return self.own_sandbox("--device-interval", "1")

    def setUp(self):
        super().setUp()
        bin = self.home / "bin"
        bin.mkdir()
        (bin / "enroll").symlink_to(ENROLL)
        self.environment["PATH"] = f"{bin}:{self.environment['PATH']}"
        (self.profiles / "default.json").rename(self.profiles / "work.json")
        self.place = ["--profile", "work", "--store", str(self.home / "my store"), "--account", "o'work"]

    def shell(self, line):
        """A line as somebody pastes it into a shell."""
        terminal = Terminal(["/bin/sh", "-c", line], self.environment)
        self.addCleanup(terminal.close)
        return terminal

    def hint(self, words, *begin):
        """The one command in these words that begins so; it names the same place."""
        found = [hint for hint in hints(words) if shlex.split(hint)[1 : 1 + len(begin)] == list(begin)]
        self.assertEqual(len(found), 1, f"enroll {' '.join(begin)} in: {words}")
        self.assertKeepsPlace(found[0], self.place)
        return found[0]

    def follow(self, hint, answer="y", opened=1):
        """Signs in by what the hint says; what was on the screen."""
        terminal = self.shell(hint)
        self.come_back(self.opened(opened))
        terminal.shows(r"\[Y/n\]")
        terminal.line(answer)
        terminal.ends()
        return terminal

    def signed_in(self):
        _, words = self.run_enroll("token", *self.place, status=3)
        return self.follow(self.hint(words, "login"))

    def test_from_no_token_to_a_token_by_hints_alone(self):
        terminal = self.signed_in()
        self.assertEqual(terminal.status, 0)
        token = self.shell(self.hint(terminal.text, "token"))
        self.assertEqual(token.ends(), 0)
        self.assertEqual(token.text.strip(), self.token(*self.place))
        # Nothing happened to anybody else's account.
        self.assertEqual(os.listdir(self.home / ".local/share") if (self.home / ".local/share").exists() else [], [])

    def test_who_is_signed_in_is_told_how_to_sign_in_anew_and_who_says_no_as_somebody_else(self):
        self.signed_in()
        terminal = self.terminal("login", *self.place)
        self.assertEqual(terminal.ends(), 0)
        again = self.hint(terminal.text, "login", "--again")
        said_no = self.follow(again, answer="n", opened=2)
        self.assertEqual(said_no.status, 9)
        other = self.hint(said_no.text, "login", "--again", "--prompt", "select_account")
        self.assertEqual(self.follow(other, opened=3).status, 0)

    def test_an_attempt_that_was_stopped_is_tried_again_by_the_same_words(self):
        terminal = self.terminal("login", "--scope", "openid", "--login-hint", "it's me", *self.place)
        self.opened()
        terminal.shows("Waiting")
        terminal.interrupt()
        self.assertEqual(terminal.ends(), 130)
        hint = self.hint(terminal.text, "login")
        self.assertEqual(shlex.split(hint)[2:6], ["--login-hint", "it's me", "--scope", "openid"])
        self.assertEqual(self.follow(hint, opened=2).status, 0)

    def test_a_token_that_could_not_be_renewed(self):
        self.signed_in()
        self.sandbox.control("fault", fault="serverError", endpoint="token")
        _, words = self.run_enroll("token", "--renew", *self.place, status=4)
        self.assertEqual(self.shell(self.hint(words, "token")).ends(), 0)

    def test_a_session_that_is_over(self):
        self.signed_in()
        self.sandbox.control("endSessions")
        self.run_enroll("token", "--renew", *self.place, status=3)
        output, _ = self.run_enroll("status", *self.place, status=3)
        self.assertEqual(self.follow(self.hint(output, "login"), opened=2).status, 0)
        answer = self.json("token", "--profile", "work", "--account", "nobody", status=3)
        self.assertIn("--account nobody", answer["advice"])

    def test_trouble_leads_to_the_doctor_of_the_same_place(self):
        self.signed_in()
        self.sandbox.stop()
        _, words = self.run_enroll("login", "--device", "--again", "--yes", *self.place, status=4)
        doctor = self.shell(self.hint(words, "doctor"))
        self.assertEqual(doctor.ends(), 1)
        self.assertIn("✗ provider", doctor.text)
        self.assertIn("my store", doctor.text)
        _, words = self.run_enroll("accounts", "--profile", "work", "--store", str(self.home / "none"))
        self.assertIn("--store", hints(words)[0])

    def test_a_first_sign_in_that_fails_leads_to_the_doctor_of_that_provider(self):
        nobody = f"http://127.0.0.1:{free_port()}"
        given = ["--issuer", nobody, "--client-id", "my app", "--allow-loopback-http"]
        _, words = self.run_enroll("login", "--yes", "--profile", "new", *given, status=4)
        self.place = ["--profile", "new"]
        hint = self.hint(words, "doctor")
        self.assertEqual(shlex.split(hint)[2:], self.place + given)
        doctor = self.shell(hint)
        self.assertEqual(doctor.ends(), 1)
        self.assertIn(nobody, doctor.text)

    def test_a_place_from_the_environment_is_said(self):
        self.environment.update(ENROLL_PROFILE="work", ENROLL_ACCOUNT="mine")
        _, words = self.run_enroll("token", status=3)
        self.assertEqual(hints(words), ["enroll login --profile work --account mine"])

    def test_no_source_names_a_command_but_the_one_that_makes_hints(self):
        sources = Path(__file__).resolve().parents[2] / "Sources/enroll"
        named = [f"{path.name}: {line.strip()}" for path in sources.rglob("*.swift") for line in path.read_text().splitlines()
                 if "`enroll " in line and not line.lstrip().startswith("//")]
        self.assertEqual(named, [])
