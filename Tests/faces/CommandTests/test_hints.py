"""Tests that each command that a hint advises works as it is printed: a shell runs the command, which must be for
the same account."""

import os
import re
import shlex
from pathlib import Path

from cases import ENROLL, CommandCase, hints
from processes import TOP, free_port
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
        """Runs a line in a shell, as a user who pastes it."""
        terminal = Terminal(["/bin/sh", "-c", line], self.environment)
        self.addCleanup(terminal.close)
        return terminal

    def hint(self, words, *begin):
        """The one command in the text that begins with these words; the command must name the same profile,
        account and store as this test."""
        found = [hint for hint in hints(words) if shlex.split(hint)[1 : 1 + len(begin)] == list(begin)]
        self.assertEqual(len(found), 1, f"enroll {' '.join(begin)} in: {words}")
        self.assertKeepsPlace(found[0], self.place)
        return found[0]

    def follow(self, hint, answer="y", opened=1):
        """Signs in with the advised command; returns the text on the screen."""
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
        # No other account was used.
        self.assertEqual(os.listdir(self.home / ".local/share") if (self.home / ".local/share").exists() else [], [])

    def test_who_is_signed_in_is_told_how_to_sign_in_anew_and_who_says_no_as_somebody_else(self):
        self.signed_in()
        terminal = self.terminal("login", *self.place)
        self.assertEqual(terminal.ends(), 0)
        again = self.hint(terminal.text, "login", "--again")
        said_no = self.follow(again, answer="n", opened=2)
        self.assertEqual(said_no.status, 9)
        other = self.hint(said_no.text, "login", "--again", "--prompt", "login")
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

    def test_a_user_who_was_not_asked_is_told_how_to_end_the_providers_session(self):
        self.signed_in()
        self.sandbox.control("fault", fault="setClaim", endpoint="token", member="auth_time", value=1_700_000_000)
        terminal = self.follow(shlex.join(["enroll", "login", "--again", *self.place]), opened=2)
        self.assertIn("The provider did not ask", terminal.text)
        self.assertEqual(self.shell(self.hint(terminal.text, "logout")).ends(), 0)
        self.run_enroll("token", *self.place, status=3)

    def test_a_token_that_is_bound_to_a_key_leads_to_one_that_is_not(self):
        self.sandbox = self.own_sandbox("--dpop", "offered")
        self.configure("work", dpop="always")
        self.signed_in()
        _, words = self.run_enroll("token", *self.place)
        self.assertIn("bound to a key", words)
        hint = self.hint(words, "login", "--again")
        self.assertEqual(shlex.split(hint)[-2:], ["--set", "dpop=never"])
        self.assertEqual(self.follow(hint, opened=2).status, 0)
        _, words = self.run_enroll("token", *self.place)
        self.assertEqual(words, "")

    def test_accounts_are_listed_as_it_is_printed(self):
        self.place = ["--profile", "work", "--account", "o'work"]
        self.signed_in()
        _, words = self.run_enroll("switch", "nobody", "--profile", "work", status=3)
        accounts = self.shell([hint for hint in hints(words) if hint.startswith("enroll accounts")][0])
        self.assertEqual(accounts.ends(), 0)
        self.assertIn("o'work", accounts.text)

    def test_a_sign_in_by_another_device_is_followed_as_it_is_printed(self):
        terminal = self.terminal("login", "--no-browser", *self.place)
        terminal.shows("Waiting")
        terminal.interrupt()
        terminal.ends()
        device = self.shell(self.hint(terminal.text, "login", "--device"))
        self.sandbox.control("device", userCode=device.shows(r"type the code (\S+)")[1])
        device.shows(r"\[Y/n\]")
        device.line("y")
        self.assertEqual(device.ends(), 0)

    def test_the_first_sign_in_is_followed_with_the_users_own_words(self):
        self.place = ["--profile", "new"]
        _, words = self.run_enroll("token", *self.place, status=2)
        hint = self.hint(words, "login")
        self.assertEqual(shlex.split(hint)[-4:], ["--issuer", "URL", "--client-id", "ID"])
        line = hint.replace("URL", self.sandbox.issuer).replace("ID", "sample-app")
        self.assertEqual(self.follow(f"{line} --allow-loopback-http").status, 0)

    def test_help_is_a_command_as_it_is_printed(self):
        _, words = self.run_enroll("login", "--issuer", "nowhere", "--client-id", "x", "--profile", "new", "--yes", status=2)
        for words in (words, self.run_enroll("tokn", status=2)[1]):
            for hint in [hint for hint in hints(words) if hint.endswith("--help")]:
                self.assertEqual(self.shell(hint).ends(), 0)

    # Each command that a hint may name, and the test that runs this command as the hint prints it.
    FOLLOWED = {
        "login": "Hints.test_from_no_token_to_a_token_by_hints_alone",
        "loginAgain": "Hints.test_who_is_signed_in_is_told_how_to_sign_in_anew_and_who_says_no_as_somebody_else",
        "loginAsSomebodyElse": "Hints.test_who_is_signed_in_is_told_how_to_sign_in_anew_and_who_says_no_as_somebody_else",
        "loginByDevice": "Hints.test_a_sign_in_by_another_device_is_followed_as_it_is_printed",
        "loginForBearer": "Hints.test_a_token_that_is_bound_to_a_key_leads_to_one_that_is_not",
        "firstLogin": "Hints.test_the_first_sign_in_is_followed_with_the_users_own_words",
        "loginAtResource": "AtAResource.test_advice_about_a_resource_on_this_machine_works_as_it_is_printed",
        "loginWithClient": "AtAResource.test_a_server_that_registers_nobody_leads_to_a_client_of_ones_own",
        "logout": "Hints.test_a_user_who_was_not_asked_is_told_how_to_end_the_providers_session",
        "registerAgain": "Registered.test_a_provider_that_forgot_it_leads_to_another_registration",
        "sameAgain": "Hints.test_an_attempt_that_was_stopped_is_tried_again_by_the_same_words",
        "token": "Hints.test_from_no_token_to_a_token_by_hints_alone",
        "doctor": "Hints.test_trouble_leads_to_the_doctor_of_the_same_place",
        "accounts": "Hints.test_accounts_are_listed_as_it_is_printed",
        "help": "Hints.test_help_is_a_command_as_it_is_printed",
        "loginHelp": "Hints.test_help_is_a_command_as_it_is_printed",
    }

    def test_every_command_that_a_hint_may_name_is_followed_by_a_test(self):
        tests = Path(__file__).parent
        source = (TOP / "Sources/enroll/Process/Advice.swift").read_text()
        cases = source.partition("enum HintedCommand: CaseIterable {")[2].partition("func line")[0]
        named = [name for line in re.findall(r"^  case (.+)$", cases, re.M) for name in re.split(r",\s*", line)]
        self.assertEqual(sorted(named), sorted(self.FOLLOWED))
        defined = "".join(path.read_text() for path in tests.glob("test_*.py"))
        for test in self.FOLLOWED.values():
            self.assertIn(f"def {test.partition('.')[2]}(self", defined)

    def test_no_source_names_a_command_but_the_one_that_makes_hints(self):
        sources = TOP / "Sources/enroll"
        named = [f"{path.name}: {line.strip()}" for path in sources.rglob("*.swift") for line in path.read_text().splitlines()
                 if "`enroll " in line and not line.lstrip().startswith("//")]
        self.assertEqual(named, [])
