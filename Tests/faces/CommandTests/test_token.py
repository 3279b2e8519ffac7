"""Tests of `enroll token`: it prints the token or nothing; its exit statuses; one renewal for all callers."""

import fcntl
import json
import os
import pwd
import signal
import subprocess
import time

from cases import ENROLL, CommandCase
from processes import wait_until
from terminal import TIMEOUT


class Printing(CommandCase):
    """Tests that share a sandbox, because they set no faults."""

    def test_a_token_and_nothing_else(self):
        self.sign_in()
        output, words = self.run_enroll("token")
        self.assertRegex(output, r"\A\S+\n\Z")
        self.assertEqual(words, "")

    def test_curl_works_with_it(self):
        self.sign_in()
        line = f'curl -sS -f -H "Authorization: Bearer $("{ENROLL}" token)" {self.sandbox.issuer}/userinfo'
        done = subprocess.run(["bash", "-c", line], env=self.environment, capture_output=True, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["email"], "alice@example.com")

    def test_nobody_is_signed_in(self):
        output, words = self.run_enroll("token", status=3)
        self.assertEqual(output, "")
        self.assertIn("Run `enroll login`", words)
        self.assertFalse(self.store.exists())
        self.assertEqual(self.json("token", status=3)["exitStatus"], 3)

    def test_under_sudo_another_user_is_meant(self):
        (self.profiles / "default.json").unlink()
        self.environment["SUDO_USER"] = "alice"
        for words in (("token",), ("credential", "terraform", "--host", "x.example", "get", "x.example")):
            self.assertIn("not those of alice", self.run_enroll(*words, status=2)[1])
        self.configure()
        _, words = self.run_enroll("token", status=3)
        self.assertIn("without sudo", words)
        self.assertNotIn("alice", self.run_enroll("token", "--store", str(self.store), status=3)[1])

    def test_it_never_asks(self):
        terminal = self.terminal("token", "--keys", "passphrase")
        self.assertEqual(terminal.ends(), 6)
        self.assertIn("--passphrase-fd", terminal.text)

    def test_what_cannot_be_printed_is_a_failure(self):
        self.sign_in()
        with open("/dev/full", "wb") as full:
            _, words = self.run_enroll("token", status=1, output=full)
        self.assertIn("standard output cannot be written", words)
        closed = subprocess.run(
            ["sh", "-c", 'exec "$0" token >&-', ENROLL], stderr=subprocess.PIPE, env=self.environment, timeout=TIMEOUT)
        self.assertEqual(closed.returncode, 1, closed.stderr)
        self.assertIn(b"standard output cannot be written", closed.stderr)

    def test_several_accounts_and_stores(self):
        self.sign_in()
        self.sign_in("--account", "bob", user="bob")
        elsewhere = self.home / "elsewhere"
        self.sign_in("--store", str(elsewhere))
        tokens = {self.token(), self.token("--account", "bob"), self.token("--store", str(elsewhere))}
        self.assertEqual(len(tokens), 3)
        self.environment = {**self.environment, "ENROLL_ACCOUNT": "bob"}
        self.assertIn(self.token(), tokens)
        self.assertIn("Bob Builder", self.run_enroll("status")[0])

    def test_a_token_that_is_no_bearer_token_says_so(self):
        self.sandbox = self.own_sandbox("--dpop", "offered")
        self.configure()
        self.sign_in()
        output, words = self.run_enroll("token")
        self.assertTrue(output)
        self.assertIn("DPoP", words)
        self.assertEqual(self.json("token")["tokenType"], "DPoP")


class Renewal(CommandCase):
    def provide(self):
        return self.own_sandbox()

    def short(self, lifetime=1, left=0):
        """Signs in with a token that has `left` seconds left; later tokens live longer."""
        self.sandbox.control("fault", fault="setMember", endpoint="token", member="expires_in", value=lifetime, times=1)
        self.sign_in()
        # Waits one second longer, because the token's end is given in whole seconds.
        end = self.json("accounts")["accounts"][0]["expiresAt"] - left
        wait_until(lambda: time.time() > end + 1, "the token is nearly over", TIMEOUT)

    def test_time_in_which_the_command_is_stopped_is_no_part_of_its_limit(self):
        self.short()
        self.sandbox.control("fault", fault="delay", value=1500, endpoint="token", times=1)
        before = self.counts()["counts"]["token"]
        child = self.start("token", "--timeout", "3")
        wait_until(lambda: self.counts()["counts"]["token"] > before, "the renewal is sent", TIMEOUT)
        child.send_signal(signal.SIGSTOP)
        # This waits for twice the command's timeout. Another process does the renewal.
        time.sleep(6)
        child.send_signal(signal.SIGCONT)
        output, words = child.communicate(timeout=TIMEOUT)
        self.assertEqual((child.returncode, words), (0, ""))
        self.assertRegex(output, r"\A\S+\n\Z")
        self.assertEqual(self.counts()["refreshes"], 1)

    def test_an_expired_one_is_renewed(self):
        self.short()
        first = self.token()
        self.assertEqual(self.counts()["refreshes"], 1)
        self.assertEqual(self.token(), first)
        self.assertEqual(self.counts()["refreshes"], 1)

    def test_a_renewal_is_one_request(self):
        self.short()
        self.sandbox.control("resetCounts")
        self.token()
        self.assertEqual({name: count for name, count in self.counts()["counts"].items() if count}, {"token": 1})

    def test_what_is_kept_of_the_provider_may_be_damaged(self):
        self.short()
        [kept] = self.store.glob("*.provider")
        kept.write_bytes(b"\0" * 100)
        self.sandbox.control("resetCounts")
        self.token()
        counts = self.counts()["counts"]
        self.assertEqual([counts.get(name, 0) for name in ("discovery", "jwks", "token")], [1, 1, 1])
        self.assertGreater(kept.stat().st_size, 1000)

    def test_one_renewal_serves_all_who_ask_at_once(self):
        self.short()
        children = [self.start("token") for _ in range(4)]
        said = [child.communicate(timeout=TIMEOUT) for child in children]
        self.assertEqual([child.returncode for child in children], [0] * 4, said)
        self.assertEqual(len({output for output, _ in said}), 1)
        self.assertEqual(self.counts()["refreshes"], 1)

    def test_a_lifetime_that_is_needed(self):
        self.short(lifetime=40, left=35)
        first = self.token("--min-lifetime", "10")
        self.assertEqual(self.counts()["refreshes"], 0)
        self.assertNotEqual(self.token("--min-lifetime", "60"), first)
        self.assertEqual(self.counts()["refreshes"], 1)

    def test_renew_makes_a_new_one(self):
        self.sign_in()
        self.assertNotEqual(self.token(), self.token("--renew"))
        self.assertEqual(self.counts()["refreshes"], 1)

    def test_fewer_scopes_have_a_token_of_their_own(self):
        self.sign_in()
        own, narrow = self.token(), self.token("--scope", "profile openid")
        self.assertNotEqual(own, narrow)
        self.assertEqual(self.token("--scope", "openid profile"), narrow)
        self.assertEqual(self.token(), own)
        self.assertEqual(self.counts()["refreshes"], 1)
        output, words = self.run_enroll("token", "--scope", "admin", status=5)
        self.assertEqual(output, "")
        self.assertIn("admin", words)
        self.assertEqual(self.token(), own)

    def test_a_live_one_is_served_while_the_provider_is_down(self):
        self.short(lifetime=40, left=35)
        self.sandbox.control("fault", fault="serverError", endpoint="token")
        self.assertEqual(self.run_enroll("token")[1], "")
        output, words = self.run_enroll("token", "--min-lifetime", "60")
        self.assertRegex(output, r"\A\S+\n\Z")
        self.assertIn("could not be renewed", words)

    def test_an_expired_one_while_the_provider_is_down(self):
        self.short()
        self.sandbox.control("fault", fault="serverError", endpoint="token")
        output, words = self.run_enroll("token", status=4)
        self.assertEqual(output, "")
        self.assertIn("Try again later", words)
        answer = self.json("token", status=4)
        self.assertEqual(answer["outcome"], "expired")
        self.assertGreaterEqual(answer["retryAfter"], 1)
        self.sandbox.control("clearFaults")
        # All processes share the pause after a failure; only --renew waits during the pause, and for at
        # most two seconds.
        wait_until(lambda: self.start("token", "--renew").wait(TIMEOUT) == 0, "a renewal", TIMEOUT)
        self.token()

    def test_twenty_at_once_are_one_request_to_a_provider_that_is_asked_too_much(self):
        self.short()
        self.sandbox.control("fault", fault="tooMany", endpoint="token", retryAfter="60")
        before = self.counts()["counts"]["token"]
        children = [self.start("token") for _ in range(20)]
        for child in children:
            output, _ = child.communicate(timeout=TIMEOUT)
            self.assertEqual((child.returncode, output), (4, ""))
        self.assertEqual(self.counts()["counts"]["token"] - before, 1)

    def test_a_new_token_that_cannot_be_had(self):
        """After an API refused a token, the token is useless: --renew does not print it."""
        self.sign_in()
        old = self.token()
        self.sandbox.control("fault", fault="serverError", endpoint="token")
        output, words = self.run_enroll("token", "--renew", status=4)
        self.assertEqual(output, "")
        self.assertIn("could not be renewed", words)
        self.assertIn("`enroll token` prints it", words)
        answer = self.json("token", "--renew", status=4)
        self.assertEqual((answer["outcome"], answer["exitStatus"]), ("stale", 4))
        self.assertNotIn("accessToken", answer)
        self.assertEqual(self.token(), old)

    def test_a_session_that_is_over(self):
        self.sign_in()
        self.sandbox.control("endSessions")
        output, words = self.run_enroll("token", "--renew", status=3)
        self.assertEqual(output, "")
        self.assertIn("Run `enroll login`", words)
        self.assertIn("the provider has ended the session", words)
        answer = self.json("token", status=3)
        self.assertEqual((answer["outcome"], answer["exitStatus"]), ("reauthenticate", 3))
        self.assertEqual(answer["advice"], "Run `enroll login`.")
        self.sign_in()
        self.token()

    def test_a_renewal_that_is_refused(self):
        self.short()
        self.sandbox.control("fault", fault="oauthError", value="unauthorized_client", endpoint="token")
        output, words = self.run_enroll("token", status=5)
        self.assertEqual(output, "")
        self.assertIn("refused", words)

    def test_the_time_is_up_first(self):
        self.short()
        self.sandbox.control("fault", fault="delay", value=5000, endpoint="token")
        output, words = self.run_enroll("token", "--timeout", "2", status=7)
        self.assertEqual(output, "")
        self.assertIn("Try again", words)
        self.assertIn("no renewal ended before the timeout", words)
        # The renewal goes on, and the next command waits for the new token.
        self.token()
        self.assertEqual(self.counts()["refreshes"], 1)

    def test_no_time_at_all_is_up_at_once(self):
        self.short()
        output, words = self.run_enroll("token", "--timeout", "0", status=7)
        self.assertEqual(output, "")
        self.assertIn("Try again", words)
        self.assertIn("no renewal ended before the timeout", words)
        self.assertNotIn("another", words)
        # The renewal goes on.
        wait_until(lambda: not self.detached(), "the end of the renewal", TIMEOUT)
        self.token("--timeout", "0")
        self.assertEqual(self.counts()["refreshes"], 1)

    def test_no_time_for_a_new_one_is_no_provider_that_is_down(self):
        self.sign_in()
        output, words = self.run_enroll("token", "--renew", "--timeout", "0", status=7)
        self.assertEqual(output, "")
        self.assertIn("before the request was sent", words)
        self.assertIn("The old token works until it expires", words)

    def test_a_renewal_of_another_process_is_no_provider_that_is_down(self):
        self.sign_in()
        old = self.token("--renew")
        (lock,) = self.store.glob("*.renew")
        with open(lock, "rb") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            output, words = self.run_enroll("token", "--renew", "--timeout", "3", status=7)
            self.assertEqual(output, "")
            self.assertIn("another process is renewing the token", words)
            answer = self.json("token", "--renew", "--timeout", "3", status=7)
            self.assertEqual((answer["outcome"], answer["error"]["status"], answer["exitStatus"]), ("stale", "busy", 7))
            self.assertEqual(self.token(), old)
        self.assertNotEqual(self.token("--renew"), old)

    def test_a_signal_ends_the_wait_and_not_the_renewal(self):
        self.short()
        self.sandbox.control("fault", fault="delay", value=1500, endpoint="token")
        before = self.counts()["counts"]["token"]
        child = self.start("token")
        wait_until(lambda: self.counts()["counts"]["token"] > before, "the renewal is under way", TIMEOUT)
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate(timeout=TIMEOUT)
        self.assertEqual((child.returncode, output), (130, ""))
        self.sandbox.control("clearFaults")
        self.token()
        self.assertEqual(self.counts()["refreshes"], 1)


    def test_a_time_that_the_user_names_is_used_while_the_provider_is_in_trouble(self):
        self.sign_in()
        self.sandbox.control("fault", fault="serverError", endpoint="token", times=6)
        output, _ = self.run_enroll("token", "--renew", "--timeout", "50")
        self.assertRegex(output, r"\A\S+\n\Z")

    def test_enough_killed_sign_ins_do_not_keep_the_user_from_signing_in(self):
        for number in range(32):
            child = self.start("login", "--yes")
            self.opened(number + 1)
            child.kill()
            child.wait()
        self.sign_in()


class Words(CommandCase):
    """Arguments that are refused: status 2, and standard output stays empty."""

    def test_each_is_refused(self):
        lines = """
            bogus
            token extra
            token --min-lifetime x
            token --min-lifetime -1
            token --min-lifetime 31536001
            token --timeout 86401
            token --renew --min-lifetime 5
            token --config a --profile b
            token --profile ../x
            token --profile .hidden
            token --account
            token --keys magnet
            token --passphrase-fd -1
            token --passphrase-fd 63
            token --passphrase-fd 3 --keys file
            token --passphrase-fd 3 --pin-fd 3
            token --token=x
            token --resource https://a.example --resource https://b.example
            login --resource https://a.example --resource https://b.example
            login --resource https://a.example --register-again --client-id x
            doctor --resource https://a.example --register-again
            login --issuer https://id.example
            login --client-id x
            login --allow-loopback-http
            login --redirect-uri http://127.0.0.1/x
            login --device --no-browser
            login --device --prompt login
            register --device
            logout --all --account x
            accounts --all
            completions tcsh
            completions
        """
        for line in filter(None, map(str.strip, lines.splitlines())):
            with self.subTest(line):
                output, words = self.run_enroll(*line.split(), status=2)
                self.assertEqual(output, "")
                self.assertGreater(len(words), 20)

    def test_a_long_resource_is_not_repeated(self):
        _, words = self.run_enroll("token", "--resource", "https://" + "a" * 100_000, status=2)
        self.assertLess(len(words), 1000)

    def test_a_configuration_that_is_not_acceptable_names_its_field(self):
        path = self.profiles / "default.json"
        for text, said in (
            ("{", "byte"), ('{"issuer": "https://id.example"}', "clientId"),
            ('{"issuer": "http://id.example", "clientId": "a", "redirectUri": "http://127.0.0.1/c"}', "issuer"),
            ('{"issuer": "https://id.example", "clientId": "a", "redirectUri": "http://127.0.0.1/c", "x": 1}', "x"),
        ):
            path.write_text(text)
            for command in (("login", "--yes"), ("doctor",)):
                output, words = self.run_enroll(*command, status=1 if command == ("doctor",) else 2)
                self.assertIn(said, output + words)

    def test_nobodys_home(self):
        # Without HOME the password database names the home; a HOME that is no absolute path is an error.
        environment = {name: value for name, value in self.environment.items() if name != "HOME"}
        _, words = self.run_enroll("token", "--profile", "nobody-has-it", status=2, environment=environment)
        self.assertIn(f"{pwd.getpwuid(os.getuid()).pw_dir}/.config/enrollkit/nobody-has-it.json", words)
        _, words = self.run_enroll("token", status=2, environment={**environment, "HOME": "here"})
        self.assertIn("HOME names an absolute path", words)
        self.run_enroll("--version", environment=environment)

    def test_help_and_version_are_output(self):
        for words, begin in (
                (["--version"], "enroll 0."), (["--help"], "Sign in through the browser once"),
                (["help", "token"], "Print a valid access token, and nothing else.\n\nUsage: enroll token [options]\n")):
            output, said = self.run_enroll(*words)
            self.assertTrue(output.startswith(begin), output)
            self.assertEqual(said, "")

    def test_no_option_takes_a_secret(self):
        for command in ("login", "register", "token", "status", "accounts", "logout", "doctor"):
            output, _ = self.run_enroll(command, "--help")
            for word in ("--password", "--passphrase ", "--pin ", "--client-secret ", "--token "):
                self.assertNotIn(word, output)
