"""Signing in at a resource: which server it names, the question, and the token from there."""

import http.server
import json
import shlex
import threading
import urllib.request

from cases import CommandCase, hints


class Resource:
    """A resource that publishes its metadata (RFC 9728), and writes down what it is asked."""

    def __init__(self, issuer):
        self.issuers = [issuer]
        self.asked = []
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.origin = f"http://127.0.0.1:{self._server.server_port}"
        self.url = f"{self.origin}/mcp"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        self._server.shutdown()
        self._server.server_close()

    def _handler(self):
        resource = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                resource.asked.append((self.path, dict(self.headers)))
                if self.path != "/.well-known/oauth-protected-resource/mcp":
                    return self.send_error(404)
                body = json.dumps({
                    "resource": resource.url, "authorization_servers": resource.issuers,
                    "scopes_supported": ["openid", "profile", "email", "offline_access"],
                }).encode()  # fmt: skip
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        return Handler


class Registered(CommandCase):
    """A client that `enroll` registers."""

    def provide(self):
        return self.own_sandbox("--open-registration")

    def setUp(self):
        super().setUp()
        self.notes = self.sandbox.issuer + "/notes"
        self.arguments = ["--resource", self.notes, "--allow-loopback-http", "--issuer", self.sandbox.issuer]

    def assertHelps(self, words):
        """The advice is about the registration, and works as it is printed."""
        (hint,) = {hint for hint in hints(words) if "register-again" in hint}
        said = shlex.split(hint)
        self.assertEqual(said[:4], ["enroll", "login", "--again", "--register-again"])
        self.assertEqual(said[said.index("--resource") + 1], self.notes)
        for other in ("--client-secret-file", "compare with what the provider has registered"):
            self.assertNotIn(other, words)
        return said[1:]

    def test_a_provider_that_forgot_it_leads_to_another_registration(self):
        self.sign_in(*self.arguments)
        self.sandbox.control("forgetClients")
        output, words = self.run_enroll("token", "--renew", "--resource", self.notes, status=5)
        self.assertEqual(output, "")
        again = self.assertHelps(words)
        answer = self.json("token", "--renew", "--resource", self.notes, status=5)
        self.assertEqual((answer["outcome"], answer["exitStatus"]), ("stale", 5))
        self.assertIn("--register-again", answer["advice"])
        self.sign_in(*again[1:], "--issuer", self.sandbox.issuer)
        self.assertTrue(self.token("--renew", "--resource", self.notes))

    def test_a_browser_that_does_not_come_back_may_mean_that_it_is_forgotten(self):
        self.sign_in(*self.arguments)
        self.sandbox.control("forgetClients")
        terminal = self.terminal("login", "--again", "--long-wait", "0", "--resource", self.notes, "--allow-loopback-http")
        terminal.shows(r"may have\s+forgotten\s+the\s+client")
        terminal.shows(r"--register-again")
        terminal.interrupt()
        self.assertEqual(terminal.ends(), 130)


class AtAResource(CommandCase):
    def setUp(self):
        super().setUp()
        # The sandbox registers nobody.
        self.resource = Resource(self.sandbox.issuer)
        self.addCleanup(self.resource.stop)
        self.arguments = ["--resource", self.resource.url, "--client-id", "sample-app", "--allow-loopback-http"]

    @property
    def profile(self):
        """The profile that was saved for the resource."""
        (path,) = (path for path in self.profiles.glob("*.json") if path.name != "default.json")
        return json.loads(path.read_text())

    def test_the_server_is_shown_and_asked_for(self):
        terminal = self.terminal("login", *self.arguments)
        terminal.shows(rf"names this authorization server:\s+{self.sandbox.issuer}")
        terminal.shows(r"Sign in there\? \[Y/n\]")
        self.assertFalse(self.has_opened)
        terminal.line("y")
        self.come_back(self.opened())
        terminal.shows(r"Continue\? \[Y/n\]")
        terminal.line("")
        self.assertEqual(terminal.ends(), 0)
        self.assertEqual(self.profile["resource"], self.resource.url)
        self.assertEqual(self.profile["issuer"], self.sandbox.issuer)
        self.assertTrue(self.token("--resource", self.resource.url))

    def test_no_registers_and_sends_nothing(self):
        terminal = self.terminal("login", *self.arguments)
        terminal.shows(r"Sign in there\?")
        terminal.line("n")
        self.assertEqual(terminal.ends(), 9)
        self.assertFalse(self.has_opened)
        self.assertEqual([path.name for path in self.profiles.glob("*.json")], ["default.json"])

    def test_a_script_names_the_server_or_accepts_it(self):
        _, words = self.run_enroll("login", *self.arguments, status=2)
        self.assertIn("--issuer", words)
        _, words = self.run_enroll("login", "--yes", *self.arguments, "--issuer", "http://127.0.0.1:1", status=5)
        self.assertIn("is not among them", words)
        self.assertFalse(self.has_opened)
        self.sign_in(*self.arguments, "--issuer", self.sandbox.issuer)
        self.assertTrue(self.token("--resource", self.resource.url))

    def test_the_token_is_that_of_the_resource_and_of_no_other(self):
        self.sign_in()
        default = self.token()
        _, words = self.run_enroll("token", "--resource", self.resource.url, status=3)
        self.assertIn(f"enroll login --resource {self.resource.url}", words)
        self.sign_in(*self.arguments)
        self.assertNotEqual(self.token("--resource", self.resource.url), default)
        self.assertEqual(self.token(), default)
        self.run_enroll("token", "--resource", self.resource.origin + "/other", status=3)

    def test_the_second_sign_in_asks_the_resource_nothing_and_other_commands_name_the_profile(self):
        self.sign_in(*self.arguments)
        asked = len(self.resource.asked)
        _, words = self.run_enroll("login", "--yes", *self.arguments)
        self.assertIn("already signed in", words)
        self.assertIn("enroll login --again --profile 127.0.0.1-", words)
        self.assertEqual(len(self.resource.asked), asked)

    def test_a_token_that_is_there_is_never_sent_to_a_resource(self):
        self.sign_in(*self.arguments)
        token = self.token("--resource", self.resource.url)
        self.sign_in("--again", "--profile", "other", *self.arguments)
        self.assertTrue(self.resource.asked)
        for _, headers in self.resource.asked:
            self.assertNotIn("Authorization", headers)
            self.assertNotIn(token, json.dumps(headers))

    def test_a_profile_of_something_else_is_not_taken_for_it(self):
        _, words = self.run_enroll("login", "--yes", "--profile", "default", *self.arguments, status=2)
        self.assertIn("is for no resource", words)

        _, words = self.run_enroll("token", "--profile", "default", "--resource", self.resource.url, status=2)
        self.assertIn("default is for no resource", words)
        self.assertIn("Leave out --profile", words)

    def test_an_option_that_contradicts_the_profile_is_refused(self):
        self.sign_in(*self.arguments)
        place = ["--resource", self.resource.url, "--allow-loopback-http"]
        for words in (["--client-id", "another"], ["--client-id", "sample-app", "--issuer", "https://another.example"]):
            _, said = self.run_enroll("login", "--yes", *place, *words, status=2)
            self.assertIn(f"not {words[-1]}", said)
            # A client that is named is not registered.
            self.assertIn("Choose another name by --profile", said)
            self.assertNotIn("--register-again", said)
        bare = [*place, "--issuer", "https://another.example"]
        self.assertIn("--again --register-again", self.run_enroll("login", "--yes", *bare, status=2)[1])

    def test_advice_about_a_resource_on_this_machine_works_as_it_is_printed(self):
        _, words = self.run_enroll("token", "--resource", self.resource.url, status=3)
        (hint,) = hints(words)
        self.assertEqual(shlex.split(hint), ["enroll", "login", "--resource", self.resource.url, "--allow-loopback-http"])
        self.assertIn(hint, self.run_enroll("doctor", "--resource", self.resource.url, status=1)[0])
        _, words = self.run_enroll("login", "--yes", "--resource", self.resource.url, status=2)
        self.assertIn("add --allow-loopback-http", words)

    def test_a_failed_attempt_is_repeated_with_the_client_that_was_named(self):
        child = self.start("login", "--yes", *self.arguments)
        redirect = self.sandbox.control("settle", url=self.opened(), error="access_denied")["redirect"]
        urllib.request.urlopen(redirect, timeout=60).close()
        child.communicate(timeout=60)
        output, _ = self.run_enroll("doctor", "--resource", self.resource.url)
        (hint,) = {hint for hint in hints(output) if hint.startswith("enroll login --")}
        said = shlex.split(hint)
        for option in ("--resource", "--client-id"):
            self.assertEqual(said[said.index(option) + 1], self.arguments[self.arguments.index(option) + 1])
        self.assertIn("--allow-loopback-http", said)

    def test_accounts_of_a_resource_are_listed_where_no_other_profile_is(self):
        (self.profiles / "default.json").unlink()
        self.sign_in(*self.arguments)
        output, _ = self.run_enroll("accounts")
        self.assertRegex(output, r"\A  \* default  Alice Example <alice@example.com> \(profile 127.0.0.1-\w+\)\n\Z")
        (told,) = self.json("accounts")["accounts"]
        self.assertNotIn("problem", told)
        self.assertEqual(told["profile"]["email"], "alice@example.com")
        self.run_enroll("accounts", "--profile", told["configuration"])
        for path in self.profiles.glob("*.json"):
            path.unlink()
        output, words = self.run_enroll("accounts", status=2)
        self.assertEqual(output, "")
        self.assertIn("there is no configuration", words)

    def test_a_resource_that_names_a_server_by_http_is_refused(self):
        self.resource.issuers = ["http://id.example"]
        _, words = self.run_enroll("login", "--yes", *self.arguments, status=5)
        self.assertIn("authorization_servers", words)
        self.assertFalse(self.has_opened)

    def test_words_that_do_not_fit_are_refused(self):
        for words in (["--register-again"], ["--resource", ""], ["--client-id", "x"]):
            self.run_enroll("login", *words, status=2)
