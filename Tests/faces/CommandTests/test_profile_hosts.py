"""Tests the hosts that profiles name in `credentialHosts`. They are for programs that start `enroll` through
a link, without arguments."""

import json
import os
import subprocess

from cases import ENROLL, CommandCase
from processes import TOP
from terminal import TIMEOUT
from test_credentials import DIALOGUES, Cargo

ENROLLD = os.environ.get("ENROLLD") or str(TOP / "build/bin/enrolld")
HOST = "host.example"
#: For each link to `enroll`: its credential format, and the arguments that the program passes. DIALOGUES has the inputs
#: and answers.
LINKS = {
    "git-credential-enroll": ("git", ["get"]), "docker-credential-enroll": ("docker", ["get"]),
    "enroll-bazel-credential": ("bazel", ["get"]), "cargo-credential-enroll": ("cargo", ["--cargo-plugin"]),
    "terraform-credentials-enroll": ("terraform", ["get", "{}"]),
}  # fmt: skip


class ProfileHosts(CommandCase):
    def setUp(self):
        super().setUp()
        for name in LINKS:
            (self.home / name).symlink_to(ENROLL)

    def name_hosts(self, *entries, profile="default"):
        path = self.profiles / f"{profile}.json"
        configuration = json.loads(path.read_text())
        configuration["credentialHosts"] = list(entries)
        path.write_text(json.dumps(configuration))

    def ask(self, link, host=HOST, status=0):
        form, words = LINKS[link]
        done = subprocess.run(
            [self.home / link, *(word.format(host) for word in words)], capture_output=True, text=True,
            input=DIALOGUES[form][1].format(host), env=self.environment, timeout=TIMEOUT)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def test_a_link_gives_the_token_to_the_hosts_of_a_profile_alone(self):
        self.name_hosts({"host": HOST, "for": [form for form, _ in LINKS.values()], "username": "me"})
        self.sign_in()
        token = self.token()
        for link, (form, _) in LINKS.items():
            with self.subTest(link):
                output, words = self.ask(link)
                self.assertIn(token, output)
                self.assertEqual(words, "")
                status, nothing = DIALOGUES[form][2]
                output, words = self.ask(link, "evil.example", status)
                self.assertEqual(output, nothing)
        self.assertIn('"Username":"me"', self.ask("docker-credential-enroll")[0])
        self.assertIn("username=me\n", self.ask("git-credential-enroll")[0])

    def test_without_hosts_in_a_profile_there_is_no_credential(self):
        self.sign_in()
        self.name_hosts({"host": HOST, "for": ["go"]})
        for link, (form, _) in LINKS.items():
            with self.subTest(link):
                self.assertEqual(self.ask(link, status=DIALOGUES[form][2][0])[0], DIALOGUES[form][2][1])
        # A user who runs the command directly, without a host, gets an error.
        self.assertIn("No host is named", self.run_enroll("credential", "docker", "get", status=2)[1])

    def test_the_token_is_that_of_the_profile_and_the_account(self):
        self.configure("work", scopes=["openid"])
        self.name_hosts({"host": HOST, "for": ["docker"], "account": "bob"}, profile="work")
        self.sign_in()
        self.sign_in("--profile", "work", "--account", "bob", user="bob")
        bob = self.token("--profile", "work", "--account", "bob")
        self.assertNotEqual(bob, self.token())
        self.assertEqual(json.loads(self.ask("docker-credential-enroll")[0])["Secret"], bob)
        self.run_enroll("logout", "--profile", "work", "--account", "bob")
        output, words = self.ask("docker-credential-enroll", status=3)
        self.assertIn("enroll login --profile work --account bob", words)

    def test_two_profiles_that_name_a_host_are_an_error(self):
        self.configure("work")
        self.name_hosts({"host": HOST, "for": ["docker", "git"]})
        self.name_hosts({"host": f"{HOST}:443", "for": ["docker"]}, profile="work")
        self.sign_in()
        output, words = self.ask("docker-credential-enroll", status=2)
        self.assertIn("the profiles default and work both name host.example for docker", output)
        self.assertIn("the profiles default and work", words)
        self.assertIn(self.token(), self.ask("git-credential-enroll")[0])
        # If the environment names the profile, only this profile is read, so the command succeeds.
        self.environment["ENROLL_PROFILE"] = "default"
        self.assertIn(self.token(), self.ask("docker-credential-enroll")[0])

    def test_an_entry_that_is_wrong_is_told_of(self):
        self.sign_in()
        for entry, words, status in [
            ({"host": "a b", "for": ["git"]}, "[0].host: expected a host", 0),
            ({"host": HOST}, "[0].for: expected a list", 2),
            ({"host": HOST, "for": ["svn"]}, "[0].for: expected a list", 2), ("x", "[0]: expected an object", 0),
            ({"host": HOST, "for": ["git"], "user": "me"}, "[0]: expected the keys host, username", 2),
            ({"host": f"{HOST}:443", "for": ["git"], "account": ""}, "[0].account: expected one line", 2),
        ]:
            with self.subTest(entry):
                self.name_hosts(entry)
                output, said = self.ask("git-credential-enroll", status=status)
                self.assertIn(f"credentialHosts{words}", said)
                self.assertEqual(output, "quit=1\n" if status else "")
        # `credentialHosts` is not a key of the library's configuration, but no command refuses it.
        self.token()
        self.assertIn("credentialHosts", (self.profiles / "default.json").read_text())

    def test_an_entry_that_is_wrong_stops_no_other_host(self):
        self.sign_in()
        self.configure("work")
        self.name_hosts({"host": HOST, "for": ["git"]})
        self.name_hosts({"host": "other.example", "for": ["git"], "user": "me"}, profile="work")
        self.assertIn(self.token(), self.ask("git-credential-enroll")[0])
        # If no profile names the host, the output is empty, so that git asks its other helpers.
        output, words = self.ask("git-credential-enroll", "third.example")
        self.assertEqual(output, "")
        self.assertIn("the profile work: credentialHosts[0]", words)
        self.assertEqual(self.ask("git-credential-enroll", "other.example", status=2)[0], "quit=1\n")
        # An entry that is only for other programs has no effect on git.
        self.name_hosts({"host": HOST, "for": ["docker"], "user": "me"}, profile="work")
        self.assertIn(self.token(), self.ask("git-credential-enroll")[0])
        self.environment["ENROLL_PROFILE"] = "missing"
        self.assertEqual(self.ask("git-credential-enroll")[0], "")

    def test_a_profile_that_cannot_be_read_names_no_host(self):
        self.sign_in()
        self.name_hosts({"host": HOST, "for": ["git"]})
        (self.profiles / "broken.json").write_text("{")
        self.assertIn(self.token(), self.ask("git-credential-enroll")[0])
        self.assertIn("broken", self.ask("git-credential-enroll", "other.example")[1])

    def test_http_to_this_machine_is_up_to_the_profile(self):
        self.name_hosts({"host": "127.0.0.1:8080", "for": ["git"]})
        self.sign_in()
        def ask():
            return subprocess.run(
                [self.home / "git-credential-enroll", "get"], input="protocol=http\nhost=127.0.0.1:8080\n", text=True,
                capture_output=True, env=self.environment, timeout=TIMEOUT)
        self.assertIn(self.token(), ask().stdout)
        path = self.profiles / "default.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "allowLoopbackHTTP": False}))
        done = ask()
        self.assertEqual(done.stdout, "")
        self.assertIn("allowLoopbackHTTP allows it", done.stderr)

    def test_cargo_can_name_the_command_without_a_host(self):
        self.sign_in()
        self.name_hosts({"host": HOST, "for": ["cargo"]})
        request = json.dumps({**Cargo.REQUEST, "args": ["credential", "cargo"]}) + "\n"
        self.assertIn(self.token(), self.run_enroll("--cargo-plugin", given=request.encode())[0])

    def test_go_gets_one_token_for_the_hosts_of_one_profile(self):
        self.sign_in()
        self.name_hosts({"host": HOST, "for": ["go"]}, {"host": "b.example", "for": ["go"]})
        output, _ = self.run_enroll("credential", "go")
        self.assertEqual(output, f"https://{HOST}\nhttps://b.example\n\nAuthorization: Bearer {self.token()}\n\n")
        self.configure("work")
        self.name_hosts({"host": "c.example", "for": ["go"]}, profile="work")
        self.assertIn("both name hosts for go", self.run_enroll("credential", "go", status=2)[1])

    def test_the_daemon_opens_a_profile_that_names_hosts(self):
        self.name_hosts({"host": HOST, "for": ["git"]})
        daemon = subprocess.run(
            [ENROLLD], capture_output=True, text=True, env=self.environment, timeout=TIMEOUT,
            input=json.dumps({
                "jsonrpc": "2.0", "id": 1, "method": "client.open",
                "params": {"configurationName": "default", "account": "default"}}) + "\n")
        self.assertNotIn("credentialHosts", daemon.stdout)
        self.assertIn('"result"', daemon.stdout)
