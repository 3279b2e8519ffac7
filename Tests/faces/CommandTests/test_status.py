"""Tests of the commands status, accounts and logout, and of the form of their output on every kind of
terminal."""

import functools
import json
import os
import re
import signal
import subprocess
import time
import urllib.parse

from cases import AHEAD, ENROLL, CommandCase
from processes import TOP, wait_until
from sandbox import CUSTOM_LOGOUT
from schema import check, resolved
from terminal import TIMEOUT


@functools.cache
def manifest():
    daemon = os.environ.get("ENROLLD") or TOP / "build/bin/enrolld"
    return resolved(json.loads(subprocess.run([daemon, "--manifest"], capture_output=True, check=True).stdout))


def shape(name, member):
    """The schema of a member of a command's result."""
    command = next(command for command in manifest()["commands"] if command["name"] == name)
    return command["output"]["properties"][member]


class Status(CommandCase):
    def provide(self):
        return self.own_sandbox()

    def test_who_where_and_how_long(self):
        self.sign_in()
        output, _ = self.run_enroll("status")
        lines = output.splitlines()
        self.assertEqual(lines[0], "✓ Signed in as Alice Example <alice@example.com>")
        facts = dict(re.split(r"  +", line.strip(), maxsplit=1) for line in lines[1:])
        self.assertEqual(facts["account"], "default")
        self.assertEqual(facts["provider"], self.sandbox.issuer)
        self.assertEqual(facts["profile"], "default")
        self.assertRegex(facts["token"], r"^valid, expires in (4|5) min; renewed on use when due")
        self.assertEqual(facts["store"], str(self.store))
        self.assertEqual(facts["key"], "in a key file in the store")

    def test_a_date_that_was_wrong_at_the_sign_in_and_was_set_right_moves_the_tokens_end(self):
        self.preload(AHEAD)
        for ahead in ("86400", "-86400"):
            with self.subTest(ahead):
                self.environment["AHEAD"] = ahead
                self.sign_in("--again")
                self.environment["AHEAD"] = "0"
                ends = [
                    self.json("token")["expiresAt"], self.json("status")["expiresAt"],
                    self.json("accounts")["accounts"][0]["expiresAt"]]
                # The date is read in whole seconds, and not in the same instant as the monotonic clock.
                self.assertLessEqual(max(ends) - min(ends), 1, ends)
                # The token lives for five minutes.
                self.assertTrue(0 < ends[0] - time.time() <= 302, ends)
                self.assertRegex(self.run_enroll("status")[0], r"token +valid, expires in (4|5) min")

    def test_json_is_what_the_manifest_says(self):
        self.sign_in()
        told = self.json("status")
        check(told["state"], shape("registration.state", "state"))
        self.assertEqual(told["state"]["state"], "active")
        check(told["profile"], shape("account.read", "profile"))
        check(told["expiresAt"], shape("account.read", "expiresAt"))
        self.assertEqual(told["keyProviders"], ["file"])
        self.assertEqual(
            (told["account"], told["issuer"], told["store"], told["configuration"], told["exitStatus"]),
            ("default", self.sandbox.issuer, str(self.store), str(self.profiles / "default.json"), 0))
        (self.profiles / "bad.json").write_text('{"issuer": "ftp://id.example"}')
        refused = self.json("status", "--profile", "bad", status=2)
        check(refused["error"], manifest()["error"])
        self.assertEqual((refused["error"]["status"], refused["exitStatus"]), ("configuration", 2))

    def test_a_profile_has_the_claims_of_the_user_alone(self):
        said = json.loads(self.sign_in("--json")[0].splitlines()[-1])
        whole = [said, self.json("status"), self.json("accounts")["accounts"][0], self.json("logout")["loggedOut"][0]]
        for one in whole:
            self.assertEqual((one["profile"]["sub"], one["profile"]["email"]), ("user-alice", "alice@example.com"))
            found = {"aud", "exp", "iat", "nonce", "at_hash", "azp", "sid"} & set(one["profile"])
            self.assertEqual(found, set())
            self.assertNotIn("nonce", json.dumps(one.get("state")))

    def test_nobody(self):
        _, words = self.run_enroll("status", status=3)
        self.assertIn("no user is signed in", words)
        self.assertIn("Run `enroll login`", words)
        self.sign_in()
        self.run_enroll("logout")
        output, _ = self.run_enroll("status", status=3)
        self.assertIn("No user is signed in", output)

    def test_a_session_that_is_over(self):
        self.sign_in()
        self.sandbox.control("endSessions")
        self.run_enroll("token", "--renew", status=3)
        output, _ = self.run_enroll("status", status=3)
        self.assertIn("✗ The session has ended", output)
        self.assertIn("Run `enroll login`", output)

    def test_a_provider_out_of_reach_is_told_only_where_it_matters(self):
        self.sign_in()
        self.sandbox.stop()
        self.assertIn("valid", self.run_enroll("status")[0])


class Looks(CommandCase):
    def sign_in_narrow(self, **variables):
        terminal = self.terminal("login", columns=40, **variables)
        self.come_back(self.opened())
        terminal.shows(r"\[Y/n\]")
        terminal.line("")
        self.assertEqual(terminal.ends(), 0)
        return terminal

    def lines_fit(self, text, width):
        for line in re.split(r"[\r\n]+", text):
            longest = max(map(len, line.split()), default=0)
            self.assertLessEqual(len(line), max(width, longest + 14), line)

    def test_forty_columns(self):
        terminal = self.sign_in_narrow()
        self.lines_fit(terminal.text, 40)
        status = self.terminal("status", columns=40)
        self.assertEqual(status.ends(), 0)
        self.lines_fit(status.text, 40)
        self.assertRegex(status.text, r"\n  token     valid, expires in \d min;\n            renewed on use when due")
        # The environment variable takes precedence over the terminal's own width.
        wide = self.terminal("status", columns=40, COLUMNS="200")
        self.assertEqual(wide.ends(), 0)
        self.assertRegex(wide.text, r"token +valid, expires in \d min; renewed on use when due\n")

    def test_colours_where_they_are_wanted(self):
        self.sign_in()
        for variables, wanted in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"TERM": None}, False)):
            terminal = self.terminal("status", **variables)
            self.assertEqual(terminal.ends(), 0)
            self.assertEqual("\x1b[32m✓\x1b[0m" in terminal.raw, wanted, variables)
            # Only colours are searched: a spinner may have moved the cursor, but it uses no colour.
            self.assertEqual(bool(re.search(r"\x1b\[[\d;]*m", terminal.raw)), wanted, variables)

    def test_the_spinner_turns_where_the_cursor_can_move_and_is_gone_afterwards(self):
        for variables, turns in (({}, True), ({"NO_COLOR": "1"}, True), ({"TERM": "dumb"}, False)):
            terminal = self.terminal("login", "--again", **variables)
            terminal.shows("Waiting for the browser")
            terminal.interrupt()
            self.assertEqual(terminal.ends(), 130)
            self.assertEqual("\x1b[A\r\x1b[K" in terminal.raw, turns, variables)
            self.assertEqual(bool(re.search("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", terminal.raw)), turns, variables)
            self.assertEqual("\x1b[1m" in terminal.raw, variables == {}, variables)
            if turns:
                after = terminal.raw[terminal.raw.rindex("\r\x1b[K") :]
                self.assertNotIn("Waiting", after)

    def test_whatever_ends_the_program_the_shell_goes_on_at_the_beginning_of_a_line(self):
        terminal = self.terminal("login", "--again")
        terminal.shows("(?s)Waiting for the browser.*Waiting for the browser")
        os.kill(terminal.pid, signal.SIGKILL)
        terminal.ends()
        self.assertRegex(terminal.text, r"Waiting for the browser\r?\n\Z")

    def test_a_locale_without_signs(self):
        self.sign_in()
        output, _ = self.run_enroll("status", environment={**self.environment, "LANG": "C"})
        self.assertTrue(output.startswith("+ Signed in"), output)
        self.assertTrue(output.isascii())

    def test_pipes_get_no_escapes_and_no_spinner(self):
        output, words = self.sign_in("--again")
        self.assertNotIn("\x1b", output + words)
        self.assertNotIn("Waiting", words)


class Accounts(CommandCase):
    def test_all_with_the_one_in_use_marked(self):
        self.assertEqual(self.run_enroll("accounts")[0], "")
        self.assertEqual(self.json("accounts"), {"accounts": []})
        self.sign_in()
        self.sign_in("--account", "work", user="bob")
        self.assertEqual(
            self.run_enroll("accounts")[0].splitlines(),
            ["  * default  Alice Example <alice@example.com>", "    work     Bob Builder <bob@example.com>"])
        self.environment = {**self.environment, "ENROLL_ACCOUNT": "work"}
        self.assertIn("* work", self.run_enroll("accounts")[0])
        told = self.json("accounts")["accounts"]
        self.assertEqual([one["account"] for one in told], ["default", "work"])
        self.assertEqual(told[1]["profile"]["email"], "bob@example.com")

    def test_one_of_another_provider_is_listed_without_its_name(self):
        self.sign_in("--account", "mine")
        other = self.own_sandbox()
        self.sandbox, mine = other, self.sandbox
        self.configure("other")
        self.assertIn("not signed in at this provider", self.run_enroll("accounts", "--profile", "other")[0])
        self.sandbox = mine


    def test_one_that_is_damaged_hides_no_other(self):
        for name in ("a", "b", "c"):
            self.sign_in("--account", name)
        for machine in (False, True):
            with self.subTest(json=machine):
                record = min(self.store.glob("*.record"))
                record.write_bytes(record.read_bytes()[:-1])
                output, words = self.run_enroll("accounts", *(["--json"] if machine else []), status=8)
                if machine:
                    told = json.loads(output)
                    self.assertEqual(len(told["accounts"]), 1)
                    words = told["error"]["message"]
                else:
                    self.assertEqual(len(output.splitlines()), 2)
                self.assertIn(record.name, words)
        self.assertEqual(len(self.run_enroll("accounts")[0].splitlines()), 1)


    def test_many_need_no_more_descriptors_than_one(self):
        names = [f"account-{number:02}" for number in range(24)]
        for name in names:
            self.sign_in("--account", name)

        def few(*words):
            done = subprocess.run(
                ["prlimit", "--nofile=24", ENROLL, *words, "--json"], env=self.environment, stdin=subprocess.DEVNULL,
                capture_output=True, timeout=TIMEOUT)
            self.assertEqual(done.returncode, 0, done.stdout)
            return json.loads(done.stdout)

        self.assertEqual([one["account"] for one in few("accounts")["accounts"] if "expiresAt" in one], names)
        self.assertEqual([one["account"] for one in few("logout", "--all")["loggedOut"]], names)


class Phantoms(CommandCase):
    def provide(self):
        return self.own_sandbox()

    def test_an_attempt_that_was_stopped_leaves_no_account(self):
        self.sign_in()
        for account, end in (("stopped", signal.SIGINT), ("killed", signal.SIGKILL)):
            child = self.start("login", "--yes", "--again", "--account", account)
            self.opened(2 if account == "stopped" else 3)
            child.send_signal(end)
            child.communicate(timeout=60)
            self.assertEqual([one["account"] for one in self.json("accounts")["accounts"]], ["default"])
        # An account that signed out is still listed.
        self.run_enroll("logout")
        self.assertEqual([one["account"] for one in self.json("accounts")["accounts"]], ["default"])


class Unreadable(CommandCase):
    def provide(self):
        return self.own_sandbox()

    def test_an_account_whose_state_cannot_be_read_hides_no_other(self):
        self.sign_in("--account", "work")
        known = set(self.store.glob("*.write"))
        self.sandbox.control("fault", fault="setMember", endpoint="token", member="expires_in", value=1, times=1)
        self.sign_in("--account", "due")
        (lock,) = set(self.store.glob("*.write")) - known
        lock.chmod(0o644)
        end = self.json("accounts")["accounts"][0]["expiresAt"]
        wait_until(lambda: time.time() > end + 1, "the token is due", TIMEOUT)
        told = {one["account"]: one for one in self.json("status", "--all", status=8)["accounts"]}
        self.assertEqual(told["work"]["exitStatus"], 0)
        self.assertEqual(sorted(told["due"]), ["account", "problem"])
        self.assertIn(lock.name, told["due"]["problem"]["message"])
        output, _ = self.run_enroll("status", "--all", status=8)
        self.assertIn("✗ due: ", output)
        self.assertIn("✓ Signed in as Alice", output)


class Guesses(CommandCase):
    def test_a_misspelt_word_is_answered_by_the_one_that_was_meant(self):
        self.configure("work")
        self.sign_in("--account", "home")
        for line, meant in (
            ("logn", "Did you mean enroll login?"), ("tokne --json", "Did you mean enroll token?"),
            ("token --acount home", "--account"),
            ("token --profile wrok", "there is a profile work"),
        ):
            self.assertIn(meant, "".join(self.run_enroll(*line.split(), status=2)), line)
        self.assertIn("there is an account home", self.run_enroll("token", "--account", "hmoe", status=3)[1])
        self.assertEqual(
            self.run_enroll("exec", "--account", "hmoe", "--", "true", status=3)[1].count("there is an account"), 1)
        self.assertNotIn("there is an", self.run_enroll("token", "--account", "elsewhere", status=3)[1])
        self.assertNotIn("Did you mean", self.run_enroll("bogus", status=2)[1])


class Logout(CommandCase):
    def provide(self):
        return self.own_sandbox()

    def test_it_erases_and_tells_the_provider(self):
        self.sign_in()
        _, words = self.run_enroll("logout")
        self.assertIn("signed out Alice Example", words)
        self.assertEqual(self.sessions(), ["revoked"])
        self.run_enroll("token", status=3)
        _, words = self.run_enroll("logout")
        self.assertIn("No user was signed in", words)

    def test_json_tells_whose_and_where_the_browsers_session_ends(self):
        self.sign_in()
        told = self.json("logout")["loggedOut"]
        self.assertEqual([(one["account"], one["providerTold"]) for one in told], [("default", "told")])
        self.assertTrue(told[0]["url"].startswith(f"{self.sandbox.issuer}/end-session?"))
        self.assertEqual(self.json("logout"), {"loggedOut": []})

    def test_it_revokes_at_once_though_the_browser_would_return_to_an_app(self):
        self.sign_in()
        self.configure(postLogoutRedirectUri=CUSTOM_LOGOUT)
        (told,) = self.json("logout")["loggedOut"]
        self.assertIn("post_logout_redirect_uri=", told["url"])
        self.assertEqual(told["providerTold"], "told")
        self.assertEqual(self.sessions(), ["revoked"])

    def test_all_accounts(self):
        self.sign_in()
        self.sign_in("--account", "work", user="bob")
        _, words = self.run_enroll("logout", "--all")
        self.assertEqual(words.count("signed out"), 2)
        self.assertEqual(self.sessions(), ["revoked", "revoked"])

    def test_the_browsers_session_ends_where_that_is_asked_for(self):
        self.sign_in()
        terminal = self.terminal("logout")
        self.assertEqual(terminal.ends(), 0)
        self.assertIn("--browser", terminal.text)
        self.assertNotIn("id_token_hint", terminal.text)
        self.sign_in()
        self.run_enroll("logout", "--browser")
        self.assertEqual(urllib.parse.urlsplit(self.opened(3)).path, "/end-session")

    def test_a_browser_that_fails_is_no_end_of_its_session(self):
        self.sign_in()
        self.environment["BROWSER"] = "/bin/false"
        _, words = self.run_enroll("logout", "--browser")
        self.assertIn("/bin/false ended with status 1", words)
        self.assertNotIn("The browser ends its session", words)
        self.assertIn("/end-session", words)

    def test_ctrl_c_while_the_provider_is_told_says_who_was_signed_out(self):
        for machine in (False, True):
            with self.subTest(json=machine):
                self.sign_in()
                self.sandbox.control("resetCounts")
                self.sandbox.control("fault", fault="delay", value=10000, endpoint="revocation", times=1)
                child = self.start("logout", *(["--json"] if machine else []))
                wait_until(lambda: self.counts()["counts"].get("revocation"), "the provider is told", TIMEOUT)
                child.send_signal(signal.SIGINT)
                output, words = child.communicate(timeout=TIMEOUT)
                self.assertEqual(child.returncode, 130, words)
                if machine:
                    (told,) = json.loads(output)["loggedOut"]
                    self.assertEqual((told["account"], told["providerTold"]), ("default", "queued"))
                else:
                    self.assertIn("signed out Alice Example", words)
                    self.assertIn("are not revoked at the provider yet: the next use tries again", words)
                self.run_enroll("token", status=3)

    def test_a_provider_that_is_down_is_told_later(self):
        self.sign_in()
        self.sandbox.control("fault", fault="serverError", endpoint="revocation")
        _, words = self.run_enroll("logout")
        self.assertIn("are not revoked at the provider yet", words)
        self.run_enroll("token", status=3)
        self.sandbox.control("clearFaults")
        self.assertEqual(self.sessions(), [None])
        self.sandbox.control("resetCounts")
        for _ in range(int(TIMEOUT)):
            self.run_enroll("status", status=3)
            if self.sessions() == ["revoked"]:
                return
        self.fail("the provider was never told")
