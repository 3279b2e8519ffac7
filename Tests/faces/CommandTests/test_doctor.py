"""Tests what `enroll doctor` finds: nothing on a healthy machine, and each kind of problem where it exists.
The doctor changes nothing."""

import json
import signal
import urllib.request

from cases import CommandCase
from keyring import Session


class Doctor(CommandCase):
    def provide(self):
        return self.own_sandbox()

    def checks(self, status=0, **variables):
        environment = {**self.environment, **variables}
        output, _ = self.run_enroll("doctor", "--json", status=status, environment=environment)
        told = json.loads(output)
        self.assertEqual(told["ok"], status == 0)
        return {check["check"]: check for check in told["checks"]}, told

    def assertFound(self, check, verdict, *words):
        self.assertEqual(check["verdict"], verdict, check)
        for word in words:
            self.assertIn(word, json.dumps(check, ensure_ascii=False))

    def seen(self):
        return {path.name: (path.stat().st_mode, path.read_bytes()) for path in sorted(self.store.iterdir())}

    def test_all_is_well(self):
        self.sign_in()
        before = self.seen()
        output, words = self.run_enroll("doctor")
        self.assertEqual(words, "")
        for line in ("✓ configuration:", "✓ store:", "✓ key:", "! keyring: none", "✓ provider:",
                     "✓ clock: agrees with the provider's", "✓ browser:"):
            self.assertIn(line, output)
        self.assertNotIn("✗", output)
        self.assertIn("; only a sign-in shows whether client id and redirect URI are right\n", output)
        checks, told = self.checks()
        self.assertEqual(told["store"]["accounts"], 1)
        self.assertEqual(told["provider"]["issuer"], self.sandbox.issuer)
        self.assertEqual(self.seen(), before)
        # The doctor signed nobody in, and prints no data about the user.
        self.assertEqual(len(self.sessions()), 1)
        self.assertNotIn("alice", json.dumps(told))

    def test_a_session_that_has_ended(self):
        self.sign_in()
        self.sandbox.control("endSessions")
        self.run_enroll("token", "--renew", status=3)
        checks, _ = self.checks(status=1)
        self.assertFound(checks["session"], "bad", "it has ended", "enroll login")
        self.sign_in()
        self.assertNotIn("session", self.checks()[0])

    def test_before_the_first_sign_in(self):
        checks, _ = self.checks()
        self.assertFound(checks["store"], "warning", "none yet", "enroll login")
        self.assertNotIn("key", checks)
        self.assertFalse(self.store.exists())
        self.store.mkdir(parents=True, mode=0o700)
        checks, _ = self.checks()
        self.assertFound(checks["key"], "good", "a new store's key would be in a key file in the store")

    def test_no_configuration(self):
        (self.profiles / "default.json").unlink()
        checks, _ = self.checks(status=1)
        self.assertFound(checks["configuration"], "bad", "enroll login --issuer")

    def test_a_redirect_that_comes_back_to_an_app(self):
        path = self.profiles / "default.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "redirectUri": "com.example.app:/callback"}))
        checks, _ = self.checks()
        self.assertFound(checks["redirect"], "warning", "http://127.0.0.1/callback", "enroll login --device")
        self.sandbox.control(
            "fault", fault="omitMember", endpoint="discovery", member="device_authorization_endpoint")
        checks, _ = self.checks()
        self.assertFound(checks["redirect"], "warning", "http://127.0.0.1/callback")
        self.assertNotIn("--device", checks["redirect"]["advice"])

    def test_a_store_that_others_may_read(self):
        self.sign_in()
        self.store.chmod(0o755)
        checks, _ = self.checks(status=1)
        self.assertFound(
            checks["store"], "bad", "0755", "Name a folder that holds the store alone, or, if this one does, give it mode 700.")
        self.assertNotIn("chmod", checks["store"]["advice"])
        _, words = self.run_enroll("token", status=8)
        self.assertIn("enroll doctor", words)

    def test_a_file_that_others_may_read_is_named_with_what_mends_it(self):
        self.sign_in("--keys", "file")
        self.token("--renew")
        for pattern, mode in (("*.record", 0o644), ("keys", 0o644), ("key", 0o640), ("*.renew", 0o604), ("*.write", 0o644)):
            (path,) = self.store.glob(pattern)
            with self.subTest(path.name):
                path.chmod(mode)
                output, _ = self.run_enroll("doctor", status=1)
                self.assertIn(f"{path.name} has mode 0{mode:o}; expected 0600\n  chmod 600 {path}\n", output)
                self.assertEqual(output.count("✗"), 1, output)
                self.assertNotIn("backup", output)
                self.assertNotIn("a new store", output)
                command = ("login", "--yes", "--again") if pattern in ("*.record", "*.write") else ("token", "--renew")
                _, words = self.run_enroll(*command, status=8)
                self.assertIn(f"chmod 600 {path}", words)
                path.chmod(0o600)
                self.assertIn("✓ store:", self.run_enroll("doctor")[0])
        # The store gets all kinds of damage at once.
        paths = [path for path in self.store.iterdir() if path.suffix in (".record", ".renew")]
        for path in paths:
            path.chmod(0o644)
        output, _ = self.run_enroll("doctor", status=1)
        for path in paths:
            self.assertIn(f"chmod 600 {path}", output)

    def test_the_setgid_bit_of_a_parent_lets_nobody_in(self):
        self.store.parent.mkdir(parents=True)
        self.store.parent.chmod(0o2755)
        self.sign_in()
        self.assertEqual(self.store.stat().st_mode & 0o7777, 0o2700)
        self.assertIn("✓ store:", self.run_enroll("doctor")[0])
        self.token()
        self.store.chmod(0o2750)
        self.assertIn("if this one does, give it mode 700.", self.run_enroll("doctor", status=1)[0])

    def test_a_damaged_store(self):
        self.sign_in()
        record = next(self.store.glob("*.record"))
        content = bytearray(record.read_bytes())
        content[len(content) // 2] ^= 1
        record.write_bytes(content)
        before = self.seen()
        output, _ = self.run_enroll("doctor", status=1)
        self.assertIn(f"✗ store: {record.name}", output)
        self.assertEqual(self.seen(), before)
        # The first use moves the damaged record aside and says so; the doctor still reports it.
        _, words = self.run_enroll("token", status=8)
        self.assertIn("enroll doctor", words)
        checks = self.run_enroll("doctor", status=1)[0]
        self.assertIn("was damaged and set aside", checks)
        self.run_enroll("token", status=3)
        self.sign_in()
        self.token()

    def test_a_key_file_that_is_gone(self):
        self.sign_in()
        (self.store / "key").unlink()
        checks, _ = self.checks(status=1)
        self.assertFound(checks["store"], "bad", "key file is missing", "Restore it from a backup")
        # The store is not merely locked, so the message must not advise to unlock it.
        _, words = self.run_enroll("token", status=6)
        self.assertIn("Restore it from a backup", words)
        self.assertNotIn("nlock", words)
        (self.store / "keys").unlink()
        checks, _ = self.checks(status=1)
        self.assertFound(checks["store"], "bad", "keys file is missing", "Restore it from a backup")

    def test_a_store_whose_folder_is_missing_is_made_by_nobody(self):
        checks, _ = self.checks(status=1, ENROLL_STORE=str(self.home / "nowhere/store"))
        self.assertFound(checks["store"], "bad", f"the folder {self.home}/nowhere does not exist")

    def test_a_profile_that_cannot_be_used_is_named(self):
        self.sign_in()
        path = self.profiles / "default.json"
        for text, fault in (("null", "got null"), ("[]", "got array"), ('{"issuer":1}', "issuer")):
            path.write_text(text)
            checks, _ = self.checks(status=1)
            self.assertFound(checks["configuration"], "bad", fault, str(path))
            _, words = self.run_enroll("token", status=2)
            self.assertIn(str(path), words)

    def test_a_provider_that_is_down(self):
        self.sandbox.stop()
        checks, _ = self.checks(status=1)
        self.assertFound(checks["provider"], "bad", "network")

    def test_an_issuer_that_is_somebody_else(self):
        self.sandbox.control("fault", fault="setMember", endpoint="discovery", member="issuer", value="https://evil.example")
        checks, _ = self.checks(status=1)
        self.assertFound(checks["provider"], "bad", "names itself https://evil.example")

    def test_a_clock_that_is_off(self):
        for seconds, verdict in ((30, "good"), (-120, "warning"), (4000, "bad"), (-4000, "bad")):
            self.sandbox.control("clearFaults")
            self.sandbox.control("fault", fault="dateOffset", endpoint="discovery", value=seconds)
            checks, _ = self.checks(status=1 if verdict == "bad" else 0)
            self.assertFound(checks["clock"], verdict, "behind" if seconds > 0 else "ahead of")

    def test_no_browser(self):
        del self.environment["BROWSER"]
        checks, _ = self.checks()
        self.assertFound(checks["browser"], "warning", "neither DISPLAY nor WAYLAND_DISPLAY", "--device")
        checks, _ = self.checks(BROWSER="/nowhere/browser")
        self.assertFound(checks["browser"], "warning", "BROWSER names no program")


class Attempts(CommandCase):
    """Tests of the doctor, and of failed sign-ins, while there is no profile."""

    def provide(self):
        return self.own_sandbox()

    def configure(self, *_, **__):
        """There is no profile yet."""

    def given(self, issuer=None):
        return ["--issuer", issuer or self.sandbox.issuer, "--client-id", "sample-app", "--allow-loopback-http"]

    def test_a_configuration_that_is_refused_leads_to_no_sign_in(self):
        for words in (
            ["--provider", "b2c", "--set", "tenant=t"], ["--provider", "apple", "--client-id", "x"], ["--issuer", "nowhere"],
        ):
            output, _ = self.run_enroll("doctor", *words, status=1)
            self.assertIn("✗ configuration:", output)
            self.assertIn("! store: none yet", output)
            self.assertNotIn("`enroll login", output)

    def test_a_part_that_is_missing_or_too_much_is_named_with_its_option(self):
        for words, advice in (
            (["--provider", "entra"], "--set tenant=VALUE"), (["--provider", "okta", "--set", "domain="], "--set domain=VALUE"),
            (["--provider", "okta", "--set", "domain=a.okta.com", "--set", "realm=x"], "Leave out --set realm."),
        ):
            for command in (["doctor"], ["login", "--yes"]):
                output, told = self.run_enroll(
                    *command, *words, "--client-id", "x", status=1 if command == ["doctor"] else 2)
                self.assertIn(advice, output + told)

    def test_a_key_that_a_later_object_would_drop_is_refused(self):
        part, whole = "endpoints.tokenEndpoint=https://a.example/token", 'endpoints={"jwksUri":"https://a.example/keys"}'
        _, told = self.run_enroll("doctor", *self.given(), "--set", part, "--set", whole, status=2)
        self.assertIn("--set endpoints would replace --set endpoints.tokenEndpoint", told)
        output, _ = self.run_enroll("doctor", *self.given(), "--set", whole, "--set", part, status=1)
        self.assertIn("✓ configuration", output)

    def test_a_redirect_of_an_app_leads_to_the_option_for_another(self):
        for name in ("facebook", "google-ios"):
            words = ["--provider", name, "--client-id", "12.apps.googleusercontent.com" if name == "google-ios" else "12"]
            _, told = self.run_enroll("login", "--yes", *words, status=2)
            self.assertIn("--redirect-uri", told)
            self.assertNotIn("Configure", told)

    def test_an_issuer_with_a_slash_too_many_comes_with_what_to_do(self):
        output, _ = self.run_enroll(
            "doctor", "--issuer", self.sandbox.issuer + "/", "--allow-loopback-http", status=1)
        self.assertRegex(output, r"✗ provider: .*\n  Use the issuer exactly as the provider spells it")

    def test_a_provider_that_is_named_is_looked_at(self):
        output, _ = self.run_enroll("doctor", *self.given())
        self.assertIn(f"✓ configuration: as given here: client sample-app of {self.sandbox.issuer}", output)
        self.assertIn("✓ provider:", output)
        # Without a client, the doctor only checks discovery.
        output, _ = self.run_enroll("doctor", "--issuer", self.sandbox.issuer, "--allow-loopback-http")
        self.assertIn("✓ provider:", output)
        self.assertNotIn("client", output)
        self.assertEqual(list(self.home.iterdir()), [])
        self.run_enroll("doctor", "--client-id", "x", status=2)

    def test_a_pushed_request_shows_whether_the_client_is_right(self):
        self.sandbox = self.own_sandbox("--pushed-requests", "offered")
        output, _ = self.run_enroll("doctor", *self.given())
        self.assertIn("✓ provider:", output)
        self.assertNotIn("only a sign-in shows", output)

    def test_a_first_sign_in_that_was_refused_is_known_until_one_succeeds(self):
        child = self.start("login", "--yes", *self.given(), "--scope", "openid", "--scope", "parties")
        url = self.opened()
        redirect = self.sandbox.control("settle", url=url, error="invalid_scope")["redirect"]
        urllib.request.urlopen(redirect, timeout=60).close()
        _, words = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 5)
        self.assertIn("asked: openid parties", words)
        self.assertRegex(words, r"the provider lists: openid \S+")
        output, _ = self.run_enroll("doctor")
        self.assertIn(f"none at {self.profiles}/default.json yet; the last attempt's: client sample-app of", output)
        self.assertIn("✓ provider:", output)
        self.assertRegex(output, r"! last sign-in: failed \d+ s ago: the provider answered invalid_scope")
        self.assertIn("asked: openid parties", output)
        note = self.home / ".local/state/enrollkit/last-attempt.json"
        self.assertEqual(note.stat().st_mode & 0o777, 0o600)
        self.assertNotIn("last sign-in", self.run_enroll("doctor", "--profile", "other", status=1)[0])
        self.sign_in(*self.given())
        self.assertFalse(note.exists())
        self.assertNotIn("last sign-in", self.run_enroll("doctor")[0])

    def test_scopes_that_are_refused_before_the_browser_are_told_alike(self):
        self.sandbox = self.own_sandbox("--pushed-requests", "required")
        # Without a client, the doctor only checks discovery.
        output, _ = self.run_enroll("doctor", "--issuer", self.sandbox.issuer, "--allow-loopback-http")
        self.assertIn("✓ provider:", output)
        for endpoint, option in (("pushed", "--no-browser"), ("deviceAuthorization", "--device")):
            self.sandbox.control("fault", fault="oauthError", value="invalid_scope", endpoint=endpoint)
            _, words = self.run_enroll("login", "--yes", option, *self.given(), status=5)
            # The second attempt leaves out offline_access, which is one of the default scopes.
            self.assertIn("asked: openid profile; the provider lists: openid", words)
            self.assertNotIn("pushedRequests", words)

    def test_a_provider_without_s256_is_no_matter_of_the_command_line(self):
        self.sandbox.control(
            "fault", fault="setMember", endpoint="discovery", member="code_challenge_methods_supported", value=["plain"])
        child = self.start("login", "--yes", *self.given())
        _, words = child.communicate(timeout=60)
        self.assertIn("S256 is not among them", words)
        self.assertIn("administrator has to allow PKCE with S256", words)
        self.assertNotIn("--help", words)

    def test_a_sign_in_that_was_stopped_is_known(self):
        child = self.start("login", "--yes", *self.given())
        self.opened()
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=60)
        checks = json.loads(self.run_enroll("doctor", "--json")[0])["checks"]
        attempt = next(check for check in checks if check["check"] == "last sign-in")
        self.assertIn("stopped", attempt["text"])
        self.assertEqual(attempt["advice"].split("`")[1].split(), ["enroll", "login", *self.given()])


class Keyring(CommandCase):
    """Tests with the store's key in a real keyring."""

    def setUp(self):
        super().setUp()
        self.session = Session()
        self.addCleanup(self.session.__exit__, None, None, None)
        self.environment = {**self.environment, **self.session.environment}

    def doctor(self, status):
        return self.run_enroll("doctor", status=status)[0]

    def test_the_best_provider_is_taken_and_named_and_a_locked_one_signs_nobody_out(self):
        self.sign_in()
        self.assertEqual(self.session.items(), 1)
        self.assertIn("key       in the desktop's keyring", self.run_enroll("status")[0])
        self.assertIn("✓ keyring: present and unlocked", self.doctor(0))
        self.session.lock()
        output, words = self.run_enroll("token", status=6)
        self.assertEqual(output, "")
        self.assertIn("Unlock the keyring", words)
        found = self.doctor(1)
        self.assertIn("✗ keyring: ", found)
        self.assertIn("Unlock it", found)
        self.run_enroll("status", status=6)
        self.session.unlock()
        self.token()
        self.assertIn("✓ store:", self.doctor(0))

    def test_without_its_session_the_store_is_locked_and_not_lost(self):
        self.sign_in()
        kept = self.environment
        self.environment = {name: value for name, value in kept.items() if name not in self.session.environment}
        _, words = self.run_enroll("token", status=6)
        self.assertIn("the Secret Service", words)
        self.assertIn("✗ keyring: none", self.doctor(1))
        self.environment = kept
        self.token()

    def test_a_file_may_be_chosen_instead(self):
        self.sign_in("--keys", "file")
        self.assertEqual(self.session.items(), 0)
        self.assertEqual(self.json("status")["keyProviders"], ["file"])
