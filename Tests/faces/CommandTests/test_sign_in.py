"""Tests of signing in as a user does (with the browser, the question, Ctrl-C, without a browser, with another
device), and of signing in from a script."""

import base64
import contextlib
import hashlib
import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from cases import ENROLL, CommandCase, hints
from person import Person
from processes import free_port, is_listening, wait_until
from sandbox import hop, parameter
from terminal import TIMEOUT

ALICE = "Alice Example <alice@example.com>"
LOGO = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="
SECRET = "GOCSPX-a secret+with/signs%"


class InATerminal(CommandCase):
    def provide(self):
        return self.own_sandbox("--device-interval", "1")

    def test_the_whole_way(self):
        terminal = self.terminal("login")
        url = self.opened()
        self.assertIn(url, terminal.shows(r"open this address yourself:\s+(http\S+)")[1])
        terminal.shows("Waiting for the browser")
        self.come_back(url)
        terminal.shows(rf"Signed in as {re.escape(ALICE)}\. Continue\? \[Y/n\] $")
        terminal.line("y")
        self.assertEqual(terminal.ends(), 0)
        self.assertIn(f"✓ signed in as {ALICE}", terminal.text)
        self.assertTrue(self.token())
        self.assertEqual(self.sessions(), [None])

    def test_a_second_sign_in_of_the_account_waits_for_the_first(self):
        for number, error in enumerate(({}, {"error": "access_denied"})):
            first = self.start("login", "--yes", "--again")
            url = self.opened(1 + number)
            second = self.start("login", "--yes", "--again")
            self.assertIn(f"Process {first.pid} is signing in to this account", second.stderr.readline())
            self.come_back(url, **error)
            self.assertEqual(first.wait(TIMEOUT), 9 if error else 0)
            if error:
                self.come_back(self.opened(3))
            self.assertEqual(second.wait(TIMEOUT), 0)
            said = second.stderr.read()
            # The second command has the sign-in that it wanted, so it does not advise another sign-in.
            self.assertNotIn("--again", said)
            self.assertIn("signed in as" if error else "signed in by another command as Alice Example", said)
        self.assertEqual(len(Path(f"{self.browser}.opened").read_text().splitlines()), 3)

    def test_a_user_who_is_signed_in_does_not_wait_for_another_sign_in(self):
        self.sign_in()
        self.start("login", "--yes", "--again")
        self.opened(2)
        self.assertIn("already signed in as Alice Example", self.run_enroll("login", "--yes")[1])

    def test_accounts_sign_in_at_once_unless_they_share_a_port(self):
        for number, port in enumerate(("", f":{free_port()}")):
            self.configure(redirectUri=f"http://127.0.0.1{port}/callback")
            first = self.start("login", "--yes", "--again")
            url = self.opened(1 + 2 * number)
            second = self.start("login", "--yes", "--again", "--account", "work")
            if port:
                self.assertIn(f"Process {first.pid} is signing in with the same redirect", second.stderr.readline())
                self.come_back(url)
            other = self.opened(2 + 2 * number)
            if not port:
                self.come_back(url)
            self.come_back(other, user="bob")
            self.assertEqual((first.wait(TIMEOUT), second.wait(TIMEOUT)), (0, 0))

    def test_no_gives_the_tokens_back(self):
        terminal = self.terminal("login")
        self.come_back(self.opened())
        terminal.shows(r"\[Y/n\]")
        terminal.line("maybe")
        terminal.shows("Please answer y or n")
        terminal.line("n")
        self.assertEqual(terminal.ends(), 9)
        self.assertEqual(self.sessions(), ["revoked"])
        self.run_enroll("token", status=3)

    def test_what_was_typed_before_the_question_answers_nothing(self):
        terminal = self.terminal("login")
        url = self.opened()
        terminal.shows("Waiting")
        terminal.line("n")
        self.come_back(url)
        terminal.shows(r"\[Y/n\]")
        terminal.line("")
        self.assertEqual(terminal.ends(), 0)

    def test_ctrl_c_at_the_question_leaves_it_to_the_next_login_and_no_browser_is_needed(self):
        terminal = self.terminal("login")
        self.come_back(self.opened())
        terminal.shows(r"\[Y/n\]")
        terminal.interrupt()
        self.assertEqual(terminal.ends(), 130)
        _, words = self.run_enroll("token", status=3)
        self.assertIn("confirmation", words)
        output, _ = self.run_enroll("status", status=3)
        self.assertIn("not confirmed", output)
        terminal = self.terminal("login")
        terminal.shows(r"Signed in as Alice.*\[Y/n\]")
        terminal.line("")
        self.assertEqual(terminal.ends(), 0)
        self.opened(1)
        self.assertTrue(self.token())

    def test_ctrl_c_while_waiting_closes_the_listener_and_the_next_login_works(self):
        terminal = self.terminal("login")
        url = self.opened()
        port = int(urllib.parse.urlsplit(parameter(url, "redirect_uri")).port)
        self.assertTrue(is_listening(port))
        terminal.shows("Waiting")
        terminal.interrupt()
        self.assertEqual(terminal.ends(), 130)
        self.assertIn("stopped; nothing has changed", terminal.text)
        self.assertFalse(is_listening(port))
        self.sign_in()
        self.assertTrue(self.token())

    def test_ctrl_c_beside_a_session_leaves_it_alone(self):
        self.sign_in()
        token = self.token()
        terminal = self.terminal("login", "--again")
        self.opened(2)
        terminal.shows("Waiting")
        terminal.interrupt()
        self.assertEqual(terminal.ends(), 130)
        self.assertEqual(self.token(), token)

    def test_ctrl_c_after_a_renewal_does_not_say_that_a_user_has_signed_in(self):
        self.sign_in()
        terminal = self.terminal("login", "--again")
        self.opened(2)
        terminal.shows("Waiting")
        self.token("--renew")
        terminal.interrupt()
        self.assertEqual(terminal.ends(), 130)
        self.assertIn("stopped; nothing has changed", terminal.text)

    def test_no_beside_a_session_of_the_same_user_does_not_say_that_tokens_were_revoked(self):
        self.sign_in()
        terminal = self.terminal("login", "--again")
        self.come_back(self.opened(2))
        terminal.shows(r"\[Y/n\]")
        terminal.line("n")
        self.assertEqual(terminal.ends(), 9)
        self.assertIn("not confirmed: the new tokens are not kept", terminal.text)
        self.assertNotIn("revoked", terminal.text)
        self.assertNotIn("revoked", self.sessions())

    def test_an_answer_of_another_provider_is_not_advised_as_the_issuer(self):
        cases = (("wrongIssuer", "comes from the issuer"), ("omitIssuer", "without it"))
        for number, (fault, words) in enumerate(cases, 1):
            with self.subTest(fault):
                self.sandbox = self.own_sandbox()
                self.configure()
                self.sandbox.control("fault", fault=fault, endpoint="authorize", times=1)
                terminal = self.terminal("login", columns=2000)
                redirect = self.sandbox.control("settle", url=self.opened(number))["redirect"]
                with contextlib.suppress(urllib.error.HTTPError):
                    urllib.request.urlopen(redirect, timeout=TIMEOUT).close()
                self.assertEqual(terminal.ends(), 5)
                self.assertIn("The answer was not from the provider with which the sign-in began", terminal.text)
                self.assertIn(words, terminal.text)
                self.assertNotIn("Use the issuer", terminal.text)

    def test_who_is_signed_in_stays_so_unless_again_is_said(self):
        self.sign_in()
        terminal = self.terminal("login")
        self.assertEqual(terminal.ends(), 0)
        self.assertIn(f"already signed in as {ALICE}", terminal.text)
        self.opened(1)
        self.sign_in("--again", user="bob")
        self.assertIn("Bob Builder", self.run_enroll("status")[0])

    def test_another_device(self):
        terminal = self.terminal("login", "--device")
        self.assertIn(terminal.shows(r"open this address:\s+(\S+)")[1], f"{self.sandbox.issuer}/device")
        code = terminal.shows(r"type the code (\S+)")[1]
        terminal.shows("Waiting for the other device")
        self.sandbox.control("device", userCode=code)
        terminal.shows(r"Signed in as Alice.*\[Y/n\]")
        terminal.line("yes")
        self.assertEqual(terminal.ends(), 0)
        self.assertFalse(self.has_opened)
        self.assertTrue(self.token())

    def test_another_device_says_no(self):
        terminal = self.terminal("login", "--device")
        self.sandbox.control("device", userCode=terminal.shows(r"type the code (\S+)")[1], deny=True)
        self.assertEqual(terminal.ends(), 9)

    def test_another_device_is_not_waited_for_after_ctrl_c_and_may_be_again(self):
        terminal = self.terminal("login", "--device")
        terminal.shows("Waiting")
        terminal.interrupt()
        self.assertEqual(terminal.ends(), 130)
        terminal = self.terminal("login", "--device", "--yes")
        self.sandbox.control("device", userCode=terminal.shows(r"type the code (\S+)")[1])
        self.assertEqual(terminal.ends(), 0)
        self.assertTrue(self.token())

    def test_without_a_desktop_the_address_is_shown_and_what_else_helps(self):
        terminal = self.terminal("login", BROWSER=None)
        terminal.shows("No browser: there is no desktop")
        url = terminal.shows(r"Open this address in a browser:\s+(http\S+)")[1]
        terminal.shows("enroll login --device")
        self.come_back(url)
        terminal.shows(r"\[Y/n\]")
        terminal.line("")
        self.assertEqual(terminal.ends(), 0)

    def test_another_device_is_advised_only_where_the_provider_has_an_endpoint_for_it(self):
        self.sandbox.control(
            "fault", fault="omitMember", endpoint="discovery", member="device_authorization_endpoint")
        terminal = self.terminal("login", BROWSER=None)
        terminal.shows("Waiting")
        terminal.interrupt()
        self.assertEqual(terminal.ends(), 130)
        self.assertNotIn("--device", terminal.text)
        environment = {name: value for name, value in self.environment.items() if name != "BROWSER"}
        output, _ = self.run_enroll("doctor", environment=environment)
        self.assertIn("! browser: there is no desktop", output)
        self.assertNotIn("--device", output)

    def test_a_browser_that_stays_away_is_asked_about_with_what_to_compare(self):
        terminal = self.terminal("login", "--long-wait", "0")
        url = self.opened()
        terminal.shows(r"Does the browser show an error page\?")
        terminal.shows("client id: sample-app\n")
        terminal.shows(re.escape(f"redirect: {parameter(url, 'redirect_uri')}\n"))
        self.come_back(url)
        terminal.shows(r"\[Y/n\]")
        terminal.line("y")
        self.assertEqual(terminal.ends(), 0)
        # The hint is printed once, however long the wait is.
        self.assertEqual(terminal.text.count("error page"), 1)

    def test_a_browser_that_stays_away_is_asked_about_with_the_providers_answer_to_the_pushed_request(self):
        self.sandbox = self.own_sandbox("--pushed-requests", "offered")
        self.configure()
        self.sandbox.control("fault", fault="oauthError", endpoint="pushed", value="invalid_request", times=1)
        terminal = self.terminal("login", "--long-wait", "0", columns=300)
        url = self.opened()
        terminal.shows(r"Before the browser opened: .*the provider answered invalid_request")
        terminal.shows(r"The authorization request goes through the browser instead")
        terminal.shows(r"Does the browser show an error page\?")
        self.come_back(url)
        terminal.shows(r"\[Y/n\]")
        terminal.line("y")
        self.assertEqual(terminal.ends(), 0)
        # The request was pushed, so the hint does not mention a push that failed.
        terminal = self.terminal("login", "--again", "--long-wait", "0", columns=300)
        self.opened(2)
        terminal.shows(r"Does the browser show an error page\?")
        terminal.interrupt()
        terminal.ends()
        self.assertNotIn("Before the browser opened", terminal.text)

    def two_that_ask(self):
        """Runs two sign-ins at once, with two profiles of one client. The user signs in for the first of
        them; then both ask whether the profile is the user's."""
        self.configure("other")
        first = self.terminal("login")
        url = self.opened()
        second = self.terminal("login", "--profile", "other")
        self.opened(2)
        second.shows("Waiting")
        self.come_back(url)
        for one in (first, second):
            one.shows(r"Signed in as Alice Example \S+ Continue\?\s+\[Y/n\]")
        return first, second

    def test_of_two_attempts_both_ask_about_who_came_with_either(self):
        first, second = self.two_that_ask()
        second.interrupt()
        self.assertEqual(second.ends(), 130)
        self.assertRegex(second.text, r"stopped before you confirmed")
        first.line("y")
        self.assertEqual(first.ends(), 0)

    def test_yes_puts_no_earlier_sign_in_in_another_users_place(self):
        self.sign_in()
        terminal = self.terminal("login", "--again")
        self.come_back(self.opened(2), user="bob")
        terminal.shows(r"Signed in as Bob.*\[Y/n\]")
        terminal.interrupt()
        self.assertEqual(terminal.ends(), 130)
        _, words = self.run_enroll("login", "--yes", status=9)
        self.assertRegex(words, r"sign-in, of Bob Builder.* waits for confirmation.*--yes does not answer for it")
        kept = self.json("status")
        self.assertEqual((kept["profile"]["name"], kept["waiting"]["profile"]["name"]), ("Alice Example", "Bob Builder"))
        terminal = self.terminal("login", "--yes")
        terminal.shows(r"Signed in as Bob.*\[Y/n\]")
        terminal.line("n")
        self.assertEqual(terminal.ends(), 9)
        self.assertEqual(self.json("status")["profile"]["name"], "Alice Example")

    def test_again_and_other_scopes_do_not_stop_at_an_open_question(self):
        def stop_at_the_question(*words, opened):
            terminal = self.terminal("login", *words)
            self.come_back(self.opened(opened))
            terminal.shows(r"\[Y/n\]")
            terminal.interrupt()
            self.assertEqual(terminal.ends(), 130)

        stop_at_the_question(opened=1)
        _, words = self.run_enroll("token", status=3)
        self.assertRegex(words, r"(?s)a sign-in waits for your confirmation.*`enroll login`")
        # The sign-in that waits was for other scopes, so it is dropped.
        self.assertRegex(self.sign_in("--scope", "openid")[1], r"of Alice Example.* was dropped")
        stop_at_the_question("--again", opened=3)
        self.assertRegex(self.sign_in("--again")[1], r"of Alice Example.* was dropped")
        # The provider does not ask the user for another account.
        self.assertNotIn("prompt=login", self.opened(4))
        self.assertNotIn("waiting", self.json("status"))
        self.token("--renew")

    def test_a_question_that_another_terminal_has_answered_is_settled(self):
        first, second = self.two_that_ask()
        first.line("y")
        self.assertEqual(first.ends(), 0)
        # Once the session is confirmed, even the answer "no" has no effect on it.
        second.line("n")
        self.assertEqual(second.ends(), 0)
        self.assertIn("already signed in as Alice Example", second.text)
        self.assertTrue(self.token())
        self.assertEqual(self.sessions(), [None])

    def test_a_renewal_that_takes_long_is_no_reason_to_sign_in_anew(self):
        self.sandbox = self.own_sandbox("--access-lifetime", "1")
        self.configure()
        self.sign_in()
        end = self.json("accounts")["accounts"][0]["expiresAt"]
        wait_until(lambda: time.time() > end + 1, "the token is over", TIMEOUT)
        self.sandbox.control("fault", fault="delay", value=20000, endpoint="token")
        _, words = self.run_enroll("login", "--yes", status=4)
        self.assertIn("is signed in, and the provider has not answered", words)
        self.assertIn("enroll login --again", words)

    def test_an_attempt_ends_once_another_one_signed_somebody_in(self):
        for profile in ("default", "other"):
            self.configure(profile, confirmation=False)
        waiting = self.terminal("login")
        self.opened()
        waiting.shows("Waiting")
        child = self.start("login", "--yes", "--profile", "other")
        self.come_back(self.opened(2))
        self.assertEqual(child.wait(60), 0)
        self.assertEqual(waiting.ends(), 0)
        self.assertRegex(waiting.text, r"signed in as Alice Example")

    def test_the_page_has_the_apps_words_and_the_address_bar_has_no_code(self):
        self.configure(returnPage={
            "appName": "Größe <1>", "logo": LOGO, "text": "Bis gleich!", "language": "de", "color": "#0b6e4f",
            "backgroundColor": "#102030", "link": "com.example.app://open"})
        terminal = self.terminal("login")
        redirect = self.sandbox.play(self.opened())
        with urllib.request.urlopen(redirect, timeout=60) as answer:
            self.assertEqual(answer.geturl(), redirect.partition("?")[0])
            self.assertEqual(answer.headers["Content-Type"], "text/html; charset=utf-8")
            policy, page = answer.headers["Content-Security-Policy"], answer.read().decode()
        self.assertIn('<html lang="de">', page)
        self.assertIn('<meta charset="utf-8">', page)
        for words in ("<title>Sie sind angemeldet · Größe &lt;1&gt;</title>", '<p class="app">Größe &lt;1&gt;</p>',
                      "<h1>Sie sind angemeldet</h1>", "<p>Bis gleich!</p>", f'<img class="logo" src="{LOGO}" alt="">', "solid #0b6e4f", "background:#102030;color:#fff",
                      '<a href="com.example.app://open">Zurück zu Größe &lt;1&gt;</a>'):
            self.assertIn(words, page)
        style = re.search("<style>(.*?)</style>", page)[1]
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        self.assertIn(f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:;", policy)
        terminal.shows(r"\[Y/n\]")
        terminal.line("y")
        self.assertEqual(terminal.ends(), 0)

    def test_keys_that_are_away_when_the_browser_comes_back_are_asked_for_again(self):
        self.sandbox.control("fault", fault="serverError", endpoint="jwks")
        terminal = self.terminal("login")
        page = self.come_back(self.opened())
        self.assertIn("Signing in is not finished yet", page)
        self.assertIn("keeps trying", page)
        self.assertEqual(self.counts()["counts"].get("token", 0), 0)
        self.sandbox.control("clearFaults")
        terminal.shows(r"(?s)Signed in as Alice.*\[Y/n\]")
        terminal.line("y")
        self.assertEqual(terminal.ends(), 0)

    def test_a_redirect_to_localhost_where_the_configuration_has_it(self):
        self.configure()
        path = self.profiles / "default.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "redirectUri": "http://localhost/callback"}))
        child = self.start("login", "--yes")
        url = self.opened()
        self.assertRegex(parameter(url, "redirect_uri"), r"\Ahttp://localhost:\d+/callback\Z")
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(60), 130)

    def test_over_ssh_the_way_to_the_port_is_told(self):
        terminal = self.terminal("login", "--no-browser", SSH_CONNECTION="192.0.2.1 1 192.0.2.2 22")
        url = terminal.shows(r"Open this address in a browser:\s+(http\S+)")[1]
        port = urllib.parse.urlsplit(parameter(url, "redirect_uri")).port
        terminal.shows(rf"ssh -L {port}:127\.0\.0\.1:{port}")
        self.assertFalse(self.has_opened)
        terminal.interrupt()
        self.assertEqual(terminal.ends(), 130)

    def test_the_address_that_another_machines_browser_ended_at_may_be_pasted(self):
        terminal = self.terminal("login", "--no-browser")
        url = terminal.shows(r"Open this address in a browser:\s+(http\S+)")[1]
        terminal.shows("paste the address")
        redirect = self.sandbox.play(url)
        terminal.line("http://127.0.0.1/callback?code=x&state=y")
        terminal.shows("This address is not the redirect")
        terminal.line(f"  {redirect} ")
        terminal.shows(r"Signed in as Alice.*\[Y/n\]")
        terminal.line("y")
        self.assertEqual(terminal.ends(), 0)
        self.assertTrue(self.token())

    def test_a_redirect_to_an_app_is_pasted_as_well(self):
        self.configure("app")
        path = self.profiles / "app.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "redirectUri": "com.example.app:/callback"}))
        terminal = self.terminal("login", "--no-browser", "--profile", "app", "--yes")
        url = terminal.shows(r"Open this address in a browser:\s+(http\S+)")[1]
        terminal.line(self.sandbox.play(url))
        self.assertEqual(terminal.ends(), 0)
        _, words = self.run_enroll("login", "--yes", "--again", "--profile", "app", status=2)
        self.assertIn("leads back to an app", words)

    def test_a_browser_that_fails_is_noticed(self):
        self.browser = self.make_browser(status=3)
        terminal = self.terminal("login", BROWSER=str(self.browser))
        url = self.opened()
        terminal.shows(r"ended\s+with\s+status\s+3")
        self.come_back(url)
        terminal.shows(r"\[Y/n\]")
        terminal.line("y")
        self.assertEqual(terminal.ends(), 0)

    def test_browser_names_several_with_the_address_where_it_says(self):
        terminal = self.terminal("login", "--yes", BROWSER=f"/nowhere/firefox:{self.browser} %s --new-window")
        self.come_back(self.opened())
        self.assertEqual(terminal.ends(), 0)

    def test_a_name_from_elsewhere_moves_no_cursor(self):
        self.sandbox = self.own_sandbox("--user", "eve\x1b]0;owned\x07\u202egnp")
        self.configure()
        terminal = self.terminal("login")
        self.come_back(self.opened(), user="eve\x1b]0;owned\x07\u202egnp")
        terminal.shows(r"(?s)Signed in as Eve.*\[Y/n\]")
        self.assertNotIn("\x1b]0", terminal.raw)
        self.assertNotIn("\u202e", terminal.raw)
        terminal.line("y")
        self.assertEqual(terminal.ends(), 0)
        output, _ = self.run_enroll("status", "--json")
        self.assertNotIn("\u202e", output)
        self.assertIn("\u202e", json.loads(output)["profile"]["sub"])


class Registering(CommandCase):
    def provide(self):
        return self.own_sandbox()

    def test_register_leads_to_the_page_that_makes_accounts(self):
        self.configure(registration="promptCreate")
        child = self.start("register", "--yes")
        person = Person(self.sandbox).open(self.opened())
        self.assertEqual(person.heading, "Create an account")
        person.press("continue", username="carol", name="Carol New", email="carol@example.com", password="carol-password-1")
        if not person.left:
            person.press("continue")
        urllib.request.urlopen(person.left, timeout=60).close()
        _, words = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 0, words)
        self.assertIn("carol@example.com", words)
        self.assertTrue(self.token())


class FirstUse(CommandCase):
    def configure(self, *_, **__):
        """There is no configuration yet."""

    def arguments(self, issuer=None, client="sample-app"):
        return ["--issuer", issuer or self.sandbox.issuer, "--client-id", client, "--allow-loopback-http"]

    def test_every_command_says_how_to_begin(self):
        for command in ("login --yes", "token", "status", "logout", "doctor"):
            output, words = self.run_enroll(*command.split(), status=1 if command == "doctor" else 2)
            self.assertIn("there is no configuration at", output + words, command)
            self.assertIn("enroll login --issuer URL --client-id ID", output + words, command)
        self.assertEqual(list(self.home.iterdir()), [])

    def test_the_provider_is_saved_as_a_profile_and_that_is_said(self):
        _, words = self.sign_in(*self.arguments())
        path = self.profiles / "default.json"
        self.assertIn(f"Saved the provider as the profile default: {path}", words)
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.store.stat().st_mode & 0o777, 0o700)
        self.assertEqual(json.loads(path.read_text()), {
            "issuer": self.sandbox.issuer, "clientId": "sample-app", "redirectUri": "http://127.0.0.1/callback",
            "dpop": "never", "allowLoopbackHTTP": True})
        self.assertTrue(self.token())
        # A second run with the same options changes nothing.
        self.assertNotIn("Saved", self.run_enroll("login", "--yes", *self.arguments())[1])

    def refuse_scopes(self, url):
        """The URL to which the browser is redirected; None if it is not redirected."""
        redirect = self.sandbox.control("settle", url=url, error="invalid_scope")["redirect"]
        return hop(redirect).headers.get("Location")

    def test_offline_access_that_nobody_chose_is_left_out_where_the_provider_refuses_it(self):
        child = self.start("login", "--yes", *self.arguments())
        url = self.refuse_scopes(self.opened())
        self.assertEqual(parameter(url, "scope"), "openid profile")
        self.come_back(url)
        _, words = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 0, words)
        self.assertNotIn("scopes", json.loads((self.profiles / "default.json").read_text()))

    def test_scopes_that_the_provider_does_not_grant_are_named(self):
        self.sandbox.control("fault", fault="setMember", endpoint="token", member="scope", value="openid", times=1)
        _, words = self.sign_in(*self.arguments())
        self.assertIn("did not grant: profile", words)
        self.assertIn("profile", self.run_enroll("status")[0].split("not granted")[1])
        status = json.loads(self.run_enroll("status", "--json")[0])
        self.assertEqual(status["missingScopes"], "profile")

    def test_scopes_that_somebody_chose_are_named_where_the_provider_refuses_them(self):
        child = self.start("login", "--yes", *self.arguments(), "--scope", "openid", "--scope", "offline_access")
        self.refuse_scopes(self.opened())
        _, words = child.communicate(timeout=60)
        self.assertNotEqual(child.returncode, 0)
        self.assertIn("offline_access", words)

    def test_a_client_secret_comes_out_of_a_file_or_a_pipe_and_is_shown_nowhere(self):
        self.sandbox = self.own_sandbox("--client-secret", SECRET)
        file = self.home / "secret"
        file.write_text(SECRET + "\r\n")
        given = [*self.arguments(), "--client-secret-file", str(file)]
        output, words = self.sign_in(*given)
        shown = output + words
        profile = self.profiles / "default.json"
        self.assertEqual(json.loads(profile.read_text())["clientSecret"], SECRET)
        self.assertEqual(profile.stat().st_mode & 0o777, 0o600)
        self.assertTrue(self.token())
        for command in ("status --json", "doctor", "doctor --json", "accounts --json"):
            shown += "".join(self.run_enroll(*command.split()))
        # A second run with the same options changes nothing. But a different secret is not accepted silently.
        self.assertNotIn("Saved", self.run_enroll("login", "--yes", *given)[1])
        file.write_text("another")
        _, words = self.run_enroll("login", "--yes", *given, status=2)
        self.assertIn("has another client secret", words)
        self.assertNotIn(SECRET, shown + words)
        reading, writing = os.pipe()
        os.write(writing, SECRET.encode())
        os.close(writing)
        self.run_enroll(
            "login", "--yes", *self.arguments(), "--client-secret-file", f"/dev/fd/{reading}", pass_fds=[reading])
        os.close(reading)

    def test_without_its_secret_the_sign_in_fails_and_says_which_option_helps(self):
        self.sandbox = self.own_sandbox("--client-secret", SECRET)
        child = self.start("login", "--yes", *self.arguments())
        self.come_back(self.opened())
        _, words = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 5, words)
        self.assertIn("--client-secret-file", words)
        # The command records a failed sign-in for the doctor, but not the secret.
        file = self.home / "secret"
        file.write_text("wrong-" + SECRET)
        child = self.start("login", "--yes", *self.arguments(), "--client-secret-file", str(file))
        self.come_back(self.opened(2))
        child.communicate(timeout=60)
        notes = "".join(path.read_text() for path in (self.home / ".local/state").rglob("*.json"))
        self.assertIn("invalid_client", notes)
        self.assertNotIn(SECRET, notes)

    def test_a_secret_that_has_expired_is_corrected_as_it_is_advised(self):
        self.sandbox = self.own_sandbox("--client-secret", SECRET)
        file, profile = self.home / "secret", self.profiles / "default.json"
        file.write_text(SECRET)
        self.sign_in(*self.arguments(), "--client-secret-file", str(file))
        whole = profile.read_text()
        profile.write_text(json.dumps({**json.loads(whole), "clientSecret": "expired"}))
        child = self.start("login", "--again", "--yes")
        self.come_back(self.opened(2))
        _, words = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 5, words)
        self.assertIn("correct clientSecret in the profile", words)
        # Both methods were tried already.
        self.assertNotIn("--set tokenEndpointAuthMethod", words)
        profile.write_text(whole)
        self.sign_in("--again")
        self.assertTrue(self.token("--renew"))

    def test_a_secret_that_is_none_is_told_by_its_option(self):
        file = self.home / "secret"
        given = [*self.arguments(), "--client-secret-file", str(file)]
        for content in (None, b"", b"\n", b"a\nb", b"\xff", b"x" * 513, b"x" * (2 << 20)):
            if content is not None:
                file.write_bytes(content)
            _, words = self.run_enroll("login", "--yes", *given, status=2)
            self.assertIn("--client-secret-file", words, content)
        # The secret is refused on the command line, because every user of the machine could read it there.
        _, words = self.run_enroll("login", "--yes", *self.arguments(), "--client-secret", SECRET, status=2)
        self.assertNotIn(SECRET, words)
        self.run_enroll("login", "--yes", "--client-secret-file", str(file), status=2)

    def test_a_profile_of_another_provider_is_not_overwritten(self):
        self.sign_in(*self.arguments())
        before = (self.profiles / "default.json").read_text()
        _, words = self.run_enroll("login", "--yes", *self.arguments(client="other"), status=2)
        self.assertIn("the profile default is for", words)
        self.assertIn("by --profile", words)
        self.assertEqual((self.profiles / "default.json").read_text(), before)

    def test_what_was_said_wrongly_is_not_saved_and_is_told_by_its_option(self):
        _, words = self.run_enroll("login", "--yes", *self.arguments()[:-1], status=2)
        self.assertIn("add --allow-loopback-http", words)
        self.assertNotIn("Mend", words)
        redirect = ["--redirect-uri", "http://127.0.0.2/callback"]
        _, words = self.run_enroll("login", "--yes", *self.arguments(), *redirect, status=2)
        self.assertIn("by --redirect-uri", words)
        _, words = self.run_enroll("token", "--profile", "nope", status=2)
        self.assertIn("enroll login --profile nope --issuer", words)
        # The provider shows the user that it does not know the client; the browser does not return to the command.
        child = self.start("login", "--yes", *self.arguments(client="sampel-app"))
        self.opened()
        child.send_signal(signal.SIGINT)
        self.assertEqual((child.wait(60), self.profiles.exists()), (130, False))
        self.sign_in(*self.arguments())

    def test_what_is_wrong_in_a_profile_is_told_with_its_path(self):
        self.sign_in(*self.arguments())
        path = self.profiles / "default.json"
        path.write_text(path.read_text().replace('"clientId"', '"client"'))
        for command in ("token", "status", "login --yes"):
            _, words = self.run_enroll(*command.split(), status=2)
            self.assertIn(f"Correct {path}", words, command)

    def test_a_profile_with_a_name(self):
        self.sign_in("--profile", "work", "--scope", "openid", *self.arguments())
        self.assertEqual([path.name for path in self.profiles.iterdir()], ["work.json"])
        self.assertEqual(json.loads((self.profiles / "work.json").read_text())["scopes"], ["openid"])
        self.assertTrue(self.token("--profile", "work"))
        self.environment["ENROLL_PROFILE"] = "work"
        self.assertTrue(self.token())
        self.environment = {**self.environment, "ENROLL_PROFILE": "none", "ENROLL_CONFIG": str(self.profiles / "work.json")}
        self.assertTrue(self.token())

    def test_a_provider_that_does_not_answer_is_not_saved(self):
        nobody = f"http://127.0.0.1:{free_port()}"
        _, words = self.run_enroll("login", "--yes", *self.arguments(issuer=nobody), status=4)
        self.assertIn("enroll doctor", words)
        self.assertFalse((self.profiles / "default.json").exists())
        self.assertFalse(self.has_opened)


class InScripts(CommandCase):
    def provide(self):
        return self.own_sandbox()

    def test_without_a_terminal_somebody_has_to_say_yes_beforehand(self):
        _, words = self.run_enroll("login", status=2)
        self.assertIn("--yes", words)
        self.assertFalse(self.has_opened)

    def test_json_is_one_line_for_the_beginning_and_one_for_the_end(self):
        output, words = self.sign_in("--json")
        begun, ended = map(json.loads, output.splitlines())
        self.assertEqual(begun["action"], {"type": "openURL", "url": self.opened()})
        self.assertEqual((ended["account"], ended["profile"]["name"]), ("default", "Alice Example"))
        self.assertEqual(ended["state"]["state"], "active")

    def test_the_browser_gets_the_usual_signals_and_the_nohup_of_the_command(self):
        self.browser.write_text(
            '#!/bin/sh\ngrep -E "^Sig(Ign|Blk)" /proc/self/status >"$0.signals"\nprintf "%s\\n" "$1" >>"$0.opened"\n')

        def change_signals():
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGTSTP):
                signal.signal(number, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])

        child = subprocess.Popen(
            [ENROLL, "login", "--yes"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=self.environment, preexec_fn=change_signals)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.opened()
        seen = dict(line.split(":\t") for line in Path(f"{self.browser}.signals").read_text().splitlines())
        # glibc keeps 32 and 33 for itself, and ignores them in a program that posix_spawn starts.
        numbers = {
            name: [number for number in range(1, 65) if int(value, 16) >> number - 1 & 1 and number not in (32, 33)]
            for name, value in seen.items()}
        self.assertEqual(numbers, {"SigBlk": [], "SigIgn": [signal.SIGHUP]})

    def test_the_users_no_is_an_answer(self):
        child = self.start("login", "--yes", "--json")
        url = self.opened()
        redirect = self.sandbox.control("settle", url=url, error="access_denied")["redirect"]
        urllib.request.urlopen(redirect, timeout=60).close()
        output, _ = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 9)
        refused = json.loads(output.splitlines()[-1])
        self.assertEqual((refused["error"]["status"], refused["exitStatus"]), ("accessDenied", 9))

    def test_a_provider_that_is_down(self):
        self.sandbox.stop()
        _, words = self.run_enroll("login", "--yes", status=4)
        self.assertIn("Try again later", words)
        self.assertFalse(self.has_opened)

    def test_a_signal_ends_it_in_order(self):
        child = self.start("login", "--yes")
        self.opened()
        child.send_signal(signal.SIGTERM)
        _, words = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130)
        self.assertIn("stopped", words)

    def test_what_a_person_says_reaches_the_provider(self):
        self.sign_in("--login-hint", "alice@example.com", "--prompt", "login", "--scope", "openid", "--scope", "email")
        url = self.opened()
        self.assertEqual(parameter(url, "login_hint"), "alice@example.com")
        self.assertEqual(parameter(url, "prompt"), "login")
        self.assertEqual(parameter(url, "scope"), "openid email")

    def test_the_browser_is_no_part_of_this_programs_group_and_has_none_of_its_streams(self):
        self.browser.write_text(
            '#!/bin/sh\nseen=$(ps -o pgid= -p $$; ps -o pgid= -p $PPID; cd /proc/$$/fd; readlink 0 2; readlink /proc/self/fd/3)'
            ' 3>&1\nprintf "%s\\n" $seen >"$0.seen"\nprintf "%s\\n" "$1" >>"$0.opened"\n')
        self.sign_in()
        own, parents, *streams = open(f"{self.browser}.seen").read().split()
        self.assertNotEqual(own, parents)
        self.assertEqual(streams, ["/dev/null"] * 3)
