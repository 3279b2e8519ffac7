"""Signing in for a resource: the server that it names, the question to the user, and the token for the resource."""

import http.server
import json
import shlex
import socket
import threading
import urllib.parse
import urllib.request
from contextlib import closing

from cases import CommandCase, hints


class Resource:
    """A resource that publishes its metadata (RFC 9728), and records its requests."""

    def __init__(self, issuer):
        self.issuers = [issuer]
        self.asked = []
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.origin = f"http://127.0.0.1:{self._server.server_port}"
        self.url = self.name = f"{self.origin}/mcp"
        #: The path of the resource's metadata; None if there is no metadata.
        self.place = "/.well-known/oauth-protected-resource/mcp"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        self._server.shutdown()
        self._server.server_close()

    def _handler(self):
        resource = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                resource.asked.append((self.path, dict(self.headers)))
                if self.path != resource.place:
                    return self.send_error(404)
                body = json.dumps({
                    "resource": resource.name, "authorization_servers": resource.issuers,
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
    """Tests with a client that `enroll` registers at the provider."""

    def provide(self):
        return self.own_sandbox("--open-registration")

    def setUp(self):
        super().setUp()
        self.notes = self.sandbox.issuer + "/notes"
        self.arguments = ["--resource", self.notes, "--allow-loopback-http", "--issuer", self.sandbox.issuer]

    def assertHelps(self, words):
        """Checks that the text advises to register again, and that the advised command works."""
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

    def test_a_first_sign_in_asks_for_each_document_once(self):
        self.sandbox.control("resetCounts")
        self.sign_in(*self.arguments)
        counts = self.counts()["counts"]
        wanted = ("notes", "notesMetadata", "discovery", "clientRegistration", "token")
        self.assertEqual([counts[name] for name in wanted], [0, 1, 1, 1, 1], counts)

    def test_a_client_that_is_forgotten_is_registered_again_without_being_told_to(self):
        self.sign_in(*self.arguments)
        first = self.configuration["clientId"]
        self.sandbox.control("forgetClients")
        self.run_enroll("token", "--renew", "--resource", self.notes, status=5)
        self.sign_in("--again", "--resource", self.notes, "--allow-loopback-http")
        self.assertNotEqual(self.configuration["clientId"], first)
        self.assertTrue(self.token("--renew", "--resource", self.notes))

    @property
    def configuration(self):
        (path,) = (path for path in self.profiles.glob("*.json") if path.name != "default.json")
        return json.loads(path.read_text())

    def test_another_registration_keeps_what_the_user_has_set(self):
        self.sign_in(*self.arguments)
        first = self.configuration
        (path,) = (path for path in self.profiles.glob("*.json") if path.name != "default.json")
        path.write_text(json.dumps({**first, "grace": 90, "user_agent": "mine/1", "client_secret": "former"}))
        self.sandbox.control("forgetClients")
        self.sign_in("--again", "--register-again", *self.arguments)
        after = self.configuration
        self.assertNotEqual(after["clientId"], first["clientId"])
        self.assertEqual((after["grace"], after["user_agent"]), (90, "mine/1"))
        self.assertNotIn("client_secret", after)

    def test_the_certificates_of_the_profile_are_those_for_its_resource(self):
        self.sign_in(*self.arguments)
        (path,) = (path for path in self.profiles.glob("*.json") if path.name != "default.json")
        path.write_text(json.dumps({**self.configuration, "caFile": str(self.home / "none.pem")}))
        asked = self.counts()["counts"]["notesMetadata"]
        self.run_enroll("login", "--yes", "--again", *self.arguments, status=2)
        # The file is read before the resource's metadata is requested.
        self.assertEqual(self.counts()["counts"]["notesMetadata"], asked)

    def test_status_and_logout_find_the_account_of_the_resource(self):
        at = ["--resource", self.notes]
        _, words = self.run_enroll("status", *at, status=3)
        self.assertIn("nobody has signed in at the resource", words)
        self.assertIn(f"enroll login --resource {self.notes}", words)
        _, words = self.run_enroll("logout", *at)
        self.assertIn("No user was signed in", words)
        self.sign_in(*self.arguments)
        self.assertIn("Alice", self.run_enroll("status", *at)[0])
        self.run_enroll("status", "--resource", f"{self.sandbox.issuer}/other", status=3)
        for command in ("status", "logout"):
            _, words = self.run_enroll(command, "--all", *at, status=2)
            self.assertIn("--all and --resource exclude each other", words)
            self.run_enroll(command, "--resource", "notes", status=2)
        self.assertTrue(self.token(*at))
        # If the environment names a configuration that is not for this resource, logout refuses. It does not
        # say that no user was signed in.
        elsewhere = {**self.environment, "ENROLL_PROFILE": "default"}
        _, words = self.run_enroll("logout", *at, status=2, environment=elsewhere)
        self.assertIn("ENROLL_PROFILE", words)
        _, words = self.run_enroll("logout", *at)
        self.assertIn("signed out", words)
        self.run_enroll("status", *at, status=3)

    def test_login_on_demand_uses_the_profile_of_the_resource(self):
        _, words = self.run_enroll("token", "--login", "--resource", self.notes, status=3)
        self.assertNotIn("the sign-in failed", words)
        self.assertIn(f"enroll login --resource {self.notes}", words)
        self.assertFalse(self.has_opened)
        self.sign_in(*self.arguments)
        self.sandbox.control("endSessions")
        child = self.start("token", "--login", "--renew", "--resource", self.notes)
        self.come_back(self.opened(2))
        output, words = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 0, words)
        self.assertEqual(output.strip(), self.token("--resource", self.notes))

    def test_a_second_sign_in_waits_for_the_first(self):
        first = self.start("login", "--yes", *self.arguments)
        url = self.opened()
        second = self.start("login", "--yes", "--again", *self.arguments)
        self.assertIn(f"Process {first.pid} is signing in to this account", second.stderr.readline())
        self.come_back(url)
        self.assertEqual(first.wait(60), 0)
        _, words = second.communicate(timeout=60)
        self.assertEqual(second.returncode, 0, words)
        self.assertIn("signed in by another command", words)
        self.assertEqual(self.counts()["counts"]["clientRegistration"], 1)

    def test_a_second_sign_in_does_its_own_if_the_first_comes_to_nothing(self):
        first = self.start("login", "--yes", *self.arguments)
        self.opened()
        second = self.start("login", "--yes", *self.arguments)
        second.stderr.readline()
        first.kill()
        self.come_back(self.opened(2))
        self.assertEqual(second.wait(60), 0)

    def second(self, first_words=(), second_words=(), **wish):
        """A signed-in user signs in again twice at the same time. Returns the second process after the first has
        ended."""
        self.sign_in(*self.arguments)
        first = self.start("login", "--yes", "--again", *self.arguments, *first_words)
        url = self.opened(2)
        second = self.start("login", "--yes", "--again", *self.arguments, *second_words)
        self.assertIn(f"Process {first.pid} is signing in", second.stderr.readline())
        self.come_back(url, **wish)
        first.wait(60)
        return second

    def test_a_session_from_before_is_not_the_result_of_a_sign_in_that_was_declined(self):
        second = self.second(error="access_denied")
        self.come_back(self.opened(3))
        self.assertEqual(second.wait(60), 0)

    def test_the_sign_in_of_another_account_is_waited_for_and_is_no_result(self):
        second = self.second(second_words=["--account", "work"])
        self.come_back(self.opened(3), user="bob")
        self.assertEqual(second.wait(60), 0)
        self.assertNotEqual(
            self.token("--resource", self.notes), self.token("--resource", self.notes, "--account", "work"))

    def test_a_sign_in_for_other_scopes_is_no_result(self):
        second = self.second(second_words=["--scope", "address"])
        url = self.opened(3)
        self.assertIn("address", self.scopes(url))
        self.come_back(url)
        self.assertEqual(second.wait(60), 0)

    def scopes(self, url):
        return urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)["scope"][0].split()

    def test_a_named_scope_is_added_to_those_of_the_session(self):
        self.sign_in(*self.arguments)
        first = self.configuration["scopes"]
        self.sign_in("--again", *self.arguments, "--scope", "address")
        self.assertEqual(self.scopes(self.opened(2)), [*first, "address"])
        self.sign_in(*self.more(), "--scope", "phone")
        self.assertEqual(self.scopes(self.opened(3)), [*first, "address", "email", "phone"])
        self.sign_in("--again", *self.arguments)
        self.assertEqual(self.scopes(self.opened(4)), [*first, "address", "email", "phone"])
        # The provider has forgotten the client. The client that replaces it requests the same scopes.
        self.sandbox.control("forgetClients")
        self.run_enroll("token", "--renew", "--resource", self.notes, status=5)
        self.sign_in("--again", *self.arguments)
        self.assertEqual(self.scopes(self.opened(5)), [*first, "address", "email", "phone"])

    def test_named_scopes_are_those_of_a_first_sign_in_with_those_of_the_challenge(self):
        self.sign_in(*self.arguments, "--scope", "address", "--challenge", 'Bearer scope="email"')
        self.assertEqual(set(self.scopes(self.opened())), {"address", "email", "openid", "offline_access"})

    def test_a_challenge_for_a_bound_token_is_understood(self):
        self.sandbox = self.own_sandbox("--open-registration", "--dpop", "offered")
        self.notes = self.sandbox.issuer + "/notes"
        self.arguments = ["--resource", self.notes, "--allow-loopback-http", "--issuer", self.sandbox.issuer]
        self.sign_in(*self.arguments)
        self.assertNotEqual(self.configuration.get("dpop"), "always")
        self.sign_in("--again", *self.arguments, "--challenge", 'DPoP algs="ES256"')
        self.assertEqual(self.configuration["dpop"], "always")
        self.assertIn("bound to a key", self.run_enroll("token", "--resource", self.notes)[1])

    def test_a_port_that_another_program_has_is_not_registered(self):
        self.sign_in(*self.arguments)
        taken = urllib.parse.urlsplit(self.configuration["redirectUri"])
        for path in self.profiles.glob("127*.json"):
            path.unlink()
        with closing(socket.create_server((taken.hostname, taken.port))):
            self.sign_in("--store", str(self.home), *self.arguments)
        self.assertNotEqual(self.configuration["redirectUri"], taken.geturl())

    def test_all_are_signed_out_where_only_a_resource_was_signed_in(self):
        (self.profiles / "default.json").unlink()
        self.sign_in(*self.arguments)
        (ended,) = self.json("logout", "--all")["loggedOut"]
        self.assertEqual(ended["account"], "default")
        self.run_enroll("token", "--resource", self.notes, status=3)

    def test_the_prompt_of_the_first_sign_in_is_that_of_the_others(self):
        self.sign_in("--prompt", "consent", *self.arguments)
        self.assertEqual(self.configuration["prompt"], "consent")
        self.sign_in("--again", *self.arguments)
        self.assertIn("prompt=consent", self.opened(2))

    def more(self, scope="email"):
        """The arguments of a sign-in after the resource wanted a scope that the client was not registered with."""
        return ["--again", *self.arguments, "--challenge", f'Bearer error="insufficient_scope", scope="{scope}"']

    def registrations(self):
        return self.counts()["counts"]["clientRegistration"]

    def test_further_scopes_are_another_registration_and_the_session_before_ends(self):
        self.sign_in("--prompt", "consent", *self.arguments)
        first = self.configuration
        self.sign_in(*self.more())
        now = self.configuration
        self.assertEqual(now.pop("scopes"), [*first.pop("scopes"), "email"])
        self.assertNotEqual(now.pop("clientId"), first.pop("clientId"))
        self.assertEqual(now, first)
        self.assertIn("prompt=consent", self.opened(2))
        self.assertTrue(self.token("--renew", "--resource", self.notes))
        self.assertEqual([end is None for end in self.sessions()], [False, True])
        # For scopes that the client may already request, no other client is registered.
        self.sign_in(*self.more())
        self.sign_in("--again", *self.arguments, "--scope", "openid", "--scope", "email")
        self.assertEqual(self.registrations(), 2)

    def test_a_scope_that_is_named_is_another_registration_too(self):
        self.sign_in(*self.arguments)
        self.sign_in("--again", *self.arguments, "--scope", "openid", "--scope", "address")
        self.assertEqual(self.registrations(), 2)

    def test_further_scopes_cost_no_session_until_the_user_has_confirmed(self):
        self.sign_in(*self.arguments)
        before = self.configuration
        stopped = self.terminal("login", *self.more())
        self.opened(2)
        stopped.shows("Waiting")
        stopped.interrupt()
        self.assertEqual(stopped.ends(), 130)
        declined = self.terminal("login", *self.more())
        self.come_back(self.opened(3))
        declined.shows(r"Continue\? \[Y/n\]")
        declined.line("n")
        self.assertEqual(declined.ends(), 9)
        self.assertEqual(self.configuration, before)
        self.assertTrue(self.token("--renew", "--resource", self.notes))
        # The user requests a further scope. Nobody has signed in with the client that was registered before.
        self.sign_in(*self.more("address"))
        self.assertEqual(self.configuration["scopes"], [*before["scopes"], "address"])
        self.assertTrue(self.token("--renew", "--resource", self.notes))

    def stopped_at_the_question(self):
        """Makes a session, and a sign-in for further scopes that waits for the user's answer. Returns the profile's
        name."""
        self.sign_in(*self.arguments)
        terminal = self.terminal("login", *self.more(), columns=300)
        self.come_back(self.opened(2))
        terminal.shows(r"Continue\? \[Y/n\]")
        terminal.interrupt()
        self.assertEqual(terminal.ends(), 130)
        (path,) = (path for path in self.profiles.glob("*.json") if path.name != "default.json")
        (self.hint,) = hints(terminal.text)
        return path.stem

    def test_a_question_about_further_scopes_is_asked_again(self):
        profile = self.stopped_at_the_question()
        status = self.json("status", "--profile", profile)
        self.assertEqual((status["state"]["state"], status["waiting"]["profile"]["name"]), ("active", "Alice Example"))
        self.assertIn("waits for your confirmation", self.run_enroll("status", "--profile", profile)[0])
        self.assertIn("waits for confirmation", self.run_enroll("accounts", "--profile", profile)[0])
        terminal = self.terminal(*shlex.split(self.hint)[1:])
        terminal.shows(r"Continue\? \[Y/n\]")
        terminal.line("n")
        self.assertEqual(terminal.ends(), 9)
        self.assertEqual([end is None for end in self.sessions()], [True, False])
        self.assertNotIn("waiting", self.json("status", "--profile", profile))

        terminal = self.terminal("login", *self.more())
        self.come_back(self.opened(3))
        terminal.shows(r"Continue\? \[Y/n\]")
        terminal.interrupt()
        self.assertEqual(terminal.ends(), 130)
        self.run_enroll("login", "--yes", "--profile", profile)
        self.assertIn("email", self.configuration["scopes"])
        self.assertTrue(self.token("--renew", "--resource", self.notes))
        self.assertEqual([end is None for end in self.sessions()], [False, False, True])
        self.assertEqual((self.registrations(), self.counts()["counts"]["authorize"]), (2, 3))

    def test_an_open_question_about_further_scopes_blocks_no_other_sign_in(self):
        self.stopped_at_the_question()
        _, words = self.sign_in(*self.more())
        self.assertRegex(words, "of Alice Example.* waited for your confirmation and was dropped")
        self.assertEqual([end is None for end in self.sessions()], [False, False, True])
        self.assertIn("email", self.configuration["scopes"])
        self.assertTrue(self.token("--renew", "--resource", self.notes))
        self.assertEqual(self.registrations(), 2)

    def test_a_sign_out_drops_an_open_question_about_further_scopes(self):
        profile = self.stopped_at_the_question()
        ended = self.json("logout", "--profile", profile)["loggedOut"]
        self.assertEqual([("profile" in one, "waiting" in one) for one in ended], [(True, False), (False, True)])
        self.assertEqual([one["providerTold"] for one in ended], ["told", "told"])
        self.assertNotIn(None, self.sessions())
        self.run_enroll("status", "--profile", profile, status=3)

    def test_a_client_that_gave_way_is_registered_again_where_it_is_forgotten(self):
        self.sign_in(*self.arguments)
        stopped = self.terminal("login", *self.more())
        self.opened(2)
        stopped.shows("Waiting")
        stopped.interrupt()
        stopped.ends()
        self.sandbox.control("forgetClients")
        _, words = self.run_enroll("token", "--renew", "--resource", self.notes, status=5)
        self.assertHelps(words)

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
        # This sandbox refuses registrations.
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

    def test_the_second_sign_in_asks_the_resource_nothing_and_hints_name_the_resource(self):
        self.sign_in(*self.arguments)
        asked = len(self.resource.asked)
        _, words = self.run_enroll("login", "--yes", *self.arguments)
        self.assertIn("already signed in", words)
        self.assertIn(f"`enroll login --again --resource {self.resource.url} --allow-loopback-http`", words)
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
            # If the user named the client, `enroll` does not register another.
            self.assertIn("Choose another name by --profile", said)
            self.assertNotIn("--register-again", said)
        bare = [*place, "--issuer", "https://another.example"]
        self.assertIn("replace it with --again", self.run_enroll("login", "--yes", *bare, status=2)[1])

    def test_a_resource_that_names_another_server_is_asked_about_and_moves(self):
        self.sign_in(*self.arguments)
        other = self.own_sandbox()
        self.resource.issuers = [other.issuer]
        _, words = self.run_enroll("login", "--yes", "--again", *self.arguments, status=2)
        self.assertIn(f"names the authorization server {other.issuer} now", words)
        self.assertTrue(self.token("--resource", self.resource.url))
        terminal = self.terminal("login", "--again", *self.arguments)
        terminal.shows(rf"names this authorization server:\s+{other.issuer}")
        terminal.shows(rf"is for another one:\s+{self.sandbox.issuer}")
        terminal.shows(r"Sign in there\? \[Y/n\]")
        terminal.line("y")
        url = self.opened(2)
        self.assertTrue(url.startswith(other.issuer), url)
        self.sandbox = other
        self.come_back(url)
        terminal.shows(r"Continue\? \[Y/n\]")
        terminal.line("")
        self.assertEqual(terminal.ends(), 0)
        self.assertEqual(self.profile["issuer"], other.issuer)
        self.assertTrue(self.token("--resource", self.resource.url))

    def test_a_resource_that_does_not_answer_is_no_obstacle_to_another_sign_in(self):
        self.sign_in(*self.arguments)
        self.resource.place = None
        self.sign_in("--again", *self.arguments)
        self.assertTrue(self.token("--resource", self.resource.url))

    def test_the_scopes_of_a_challenge_are_asked_for_and_more_are_added(self):
        self.sign_in(*self.arguments, "--challenge", 'Bearer scope="profile"')
        first = self.profile["scopes"]
        self.assertEqual((first[0], "email" in first), ("profile", False))
        self.sign_in("--again", *self.arguments, "--challenge", 'Bearer error="insufficient_scope", scope="email"')
        self.assertEqual(self.profile["scopes"], [*first, "email"])
        self.assertIn("email", urllib.parse.parse_qs(urllib.parse.urlsplit(self.opened(2)).query)["scope"][0].split())

    def test_a_server_that_is_named_is_enough_for_a_resource_without_metadata(self):
        self.resource.place = None
        _, words = self.run_enroll("login", "--yes", *self.arguments, status=2)
        self.assertIn("name it by --issuer", words)
        self.sign_in(*self.arguments, "--issuer", self.sandbox.issuer)
        self.assertTrue(self.token("--resource", self.resource.url))
        self.sign_in("--again", *self.arguments)

    def test_a_host_that_describes_itself_is_what_the_token_is_for(self):
        self.resource.place, self.resource.name = "/.well-known/oauth-protected-resource", self.resource.origin
        self.sign_in(*self.arguments)
        self.assertEqual(self.profile["resource"], self.resource.origin)
        self.assertTrue(self.token("--resource", self.resource.url))
        _, words = self.run_enroll("login", "--yes", *self.arguments)
        self.assertIn("already signed in", words)

    def test_advice_about_a_resource_on_this_machine_works_as_it_is_printed(self):
        _, words = self.run_enroll("token", "--resource", self.resource.url, status=3)
        (hint,) = hints(words)
        self.assertEqual(shlex.split(hint), ["enroll", "login", "--resource", self.resource.url, "--allow-loopback-http"])
        self.assertIn(hint, self.run_enroll("doctor", "--resource", self.resource.url, status=1)[0])
        _, words = self.run_enroll("login", "--yes", "--resource", self.resource.url, status=2)
        self.assertIn("add --allow-loopback-http", words)

    def test_a_resource_that_can_be_none_is_no_reason_to_sign_in(self):
        for resource in ("notes", "http://notes.example/", "https://notes.example/#a"):
            _, words = self.run_enroll("token", "--resource", resource, status=2)
            self.assertNotIn("enroll login", words)

    def test_a_server_that_registers_nobody_leads_to_a_client_of_ones_own(self):
        _, words = self.run_enroll(
            "login", "--yes", "--resource", self.resource.url, "--allow-loopback-http", status=2)
        (hint,) = [hint for hint in hints(words) if "--client-id" in hint]
        self.assertTrue(hint.endswith("--client-id ID"))
        self.sign_in(*shlex.split(hint.replace("--client-id ID", "--client-id sample-app"))[2:])
        self.assertTrue(self.token("--resource", self.resource.url))

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
        for words in (
            ["--register-again"], ["--resource", ""], ["--client-id", "x"], ["--challenge", "Bearer"],
            ["--client-metadata", "https://x.example/c"],
            [*self.arguments, "--client-metadata", "https://x.example/c"], [*self.arguments, "--challenge", 'Bearer a="'],
        ):
            self.run_enroll("login", *words, status=2)
