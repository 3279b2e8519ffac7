"""Tests with several accounts: which account the commands use, and the status of all accounts."""

import json

from cases import CommandCase


class Switch(CommandCase):
    def setUp(self):
        super().setUp()
        self.sign_in()
        self.sandbox, first = self.own_sandbox(), self.sandbox
        self.configure("work")
        self.sign_in("--account", "second", "--profile", "work", user="bob")
        self.second, self.sandbox = self.sandbox, first

    def who(self, *arguments):
        return self.json("status", *arguments)["profile"]["email"]

    def test_commands_use_the_account_that_was_chosen(self):
        self.assertEqual(self.who(), "alice@example.com")
        output, words = self.run_enroll("switch", "second")
        self.assertEqual(output, "")
        self.assertIn("now second", words)
        self.assertEqual(self.who(), "bob@example.com")
        token = self.token()
        self.assertEqual(self.token("--account", "second", "--profile", "work"), token)
        self.run_enroll("switch", "default")
        self.assertEqual(self.who(), "alice@example.com")
        self.assertNotEqual(self.token(), token)

    def test_what_is_named_goes_before_what_was_chosen(self):
        self.run_enroll("switch", "second")
        self.assertEqual(self.who("--profile", "default"), "alice@example.com")
        self.assertEqual(self.who("--account", "default"), "alice@example.com")
        self.assertEqual(self.json("status", "--store", str(self.home), status=3)["exitStatus"], 3)
        self.environment["ENROLL_PROFILE"] = "default"
        self.assertEqual(self.who(), "alice@example.com")
        _, words = self.run_enroll("switch", "default", status=2)
        self.assertIn("ENROLL_PROFILE is set", words)

    def test_the_list_marks_it(self):
        self.run_enroll("switch", "second")
        output, _ = self.run_enroll("accounts")
        self.assertEqual([line[:8] for line in output.splitlines() if "*" in line], ["  * seco"])
        self.assertIn("alice@example.com", output)

    def test_an_account_that_is_not_there(self):
        _, words = self.run_enroll("switch", "secund", status=3)
        self.assertIn("there is an account second", words)
        self.run_enroll("logout", "--account", "second", "--profile", "work")
        self.run_enroll("switch", "second", status=3)
        self.assertEqual(self.who(), "alice@example.com")

    def test_a_chosen_account_without_a_session_is_named(self):
        self.run_enroll("switch", "second")
        self.run_enroll("logout")
        _, words = self.run_enroll("token", status=3)
        self.assertIn("the account second is the one that enroll switch chose", " ".join(words.split()))
        _, words = self.run_enroll("token", "--account", "third", status=3)
        self.assertNotIn("enroll switch chose", words)

    def test_the_choice_is_no_profile_where_both_are_in_one_folder(self):
        self.environment.update(XDG_CONFIG_HOME=str(self.home / "one"), XDG_STATE_HOME=str(self.home / "one"))
        (self.home / "one/enrollkit").mkdir(parents=True)
        (self.profiles / "work.json").rename(self.home / "one/enrollkit/work.json")
        self.run_enroll("switch", "second")
        _, words = self.run_enroll("status", "--profile", "current", status=2)
        self.assertIn("there is no configuration", words)

    def test_json(self):
        told = self.json("switch", "second")
        self.assertEqual((told["account"], told["profile"]["email"]), ("second", "bob@example.com"))

    def test_a_damaged_choice_makes_no_other_account_answer(self):
        self.run_enroll("switch", "second")
        file = self.home / ".local/state/enrollkit/current-account"
        for damage in ["", "{", "[]", '{"profile": "work"}', '{"profile": "work", "account": ""}']:
            file.write_text(damage)
            output, words = self.run_enroll("token", status=2)
            self.assertEqual(output, "")
            self.assertIn(f"the file {file} is damaged", words)
        self.assertEqual(self.json("status", "--account", "default")["profile"]["email"], "alice@example.com")
        # Another choice replaces the damaged one.
        self.run_enroll("switch", "second")
        self.assertEqual(self.who(), "bob@example.com")
        file.unlink()
        self.assertEqual(self.who(), "alice@example.com")

    def test_a_sign_in_at_a_provider_that_is_named_ends_the_choice(self):
        self.run_enroll("switch", "second")
        provider = json.loads((self.profiles / "default.json").read_text())
        self.run_enroll(
            "login", "--yes", "--issuer", provider["issuer"], "--client-id", provider["clientId"], "--allow-loopback-http")
        self.assertEqual(self.who(), "alice@example.com")

    def test_the_status_of_all(self):
        output, _ = self.run_enroll("status", "--all")
        self.assertIn("alice@example.com", output)
        self.assertIn("bob@example.com", output)
        told = self.json("status", "--all")["accounts"]
        self.assertEqual([one["account"] for one in told], ["default", "second"])
        self.assertEqual([one["exitStatus"] for one in told], [0, 0])
        self.assertEqual(told[1]["configuration"], str(self.profiles / "work.json"))
        self.run_enroll("status", "--all", "--account", "second", status=2)

    def test_the_advice_about_one_of_all_is_about_that_one(self):
        self.second.control("endSessions")
        self.run_enroll("token", "--renew", "--account", "second", "--profile", "work", status=3)
        output, _ = self.run_enroll("status", "--all", status=3)
        self.assertIn("`enroll login --profile work --account second`", " ".join(output.split()))
