"""`enroll credential`, by recorded dialogues: what each program writes, and what it must read. The dialogues were
recorded with git 2.55, crane 0.22, cargo 1.95, Go 1.26, Terraform 1.11, pip 26 and uv 0.13; the dialogue of Bazel
comes from its specification. test_programs.py runs the programs themselves."""

import base64
import json
import os
import subprocess
from datetime import datetime

import manual
from cases import ENROLL, CommandCase
from terminal import TIMEOUT

#: For each format: the arguments that the program adds, its input, and the answer that means "no credential" (status
#: and output). {} is the host.
DIALOGUES = {
    "git": (["get"], "protocol=https\nhost={}\n", (0, "")),
    "docker": (["get"], "{}\n", (1, "credentials not found in native keychain\n")),
    "bazel": (["get"], '{{"uri":"https://{}/cas/x","later":1}}', (1, "")),
    "cargo": (
        ["--cargo-plugin"],
        '{{"v":1,"registry":{{"index-url":"sparse+https://{}/index/","name":"rt","headers":["WWW-Authenticate: Cargo'
        ' login_url=\\"https://x/me\\""]}},"kind":"get","operation":"read","args":[]}}\n',
        (0, '{"v":[1]}\n{"Err":{"kind":"not-found"}}\n'),
    ),
    "go": (["https://{}/hello/@v/list"], "HTTP/1.1 404 Not Found\r\nServer: x\r\n\r\n", (0, "")),
    "terraform": (["get", "{}"], "", (0, "{}\n")),
    "keyring": (["--", "--mode=creds", "--output=json", "get", "https://{}/simple/hello/"], "", (1, "")),
}


#: With TORTURE=1 each format is tested with all inputs. Otherwise each format is tested with two inputs, and the next
#: format with the next two.
ALL = os.environ.get("TORTURE") == "1"


def some(inputs, form):
    first = 2 * list(DIALOGUES).index(form)
    return inputs if ALL else [inputs[(first + step) % len(inputs)] for step in range(2)]


class Dialogue(CommandCase):
    def ask(self, form, host="host.example", named=("host.example",), options=(), status=0, words=None, given=None):
        added, question, _ = DIALOGUES[form]
        added = [word.format(host) for word in added] if words is None else words
        question = question.format(host) if given is None else given
        named = [word for name in named for word in ("--host", name)]
        return self.run_enroll("credential", form, *named, *options, *added, given=question.encode(), status=status)

    def found(self, form, output):
        """The token in an answer."""
        if form == "git":
            return dict(line.partition("=")[::2] for line in output.splitlines()).get("password")
        if form == "go":
            return output.split("Bearer ")[1].strip()
        answer = json.loads(output.splitlines()[-1])
        return {
            "docker": lambda: answer["Secret"], "bazel": lambda: answer["headers"]["Authorization"][0].removeprefix("Bearer "),
            "cargo": lambda: answer["Ok"]["token"].removeprefix("Bearer "), "terraform": lambda: answer["token"],
            "keyring": lambda: answer["password"],
        }[form]()


class Every(Dialogue):
    """Tests that hold for every format in DIALOGUES."""

    def test_each_format_has_a_dialogue(self):
        table = next(command for command in manual.commands() if command["name"] == "credential")
        self.assertEqual([row["name"] for row in table["commands"]], list(DIALOGUES))

    def test_a_named_host_gets_the_token(self):
        self.sign_in()
        token = self.token()
        for form in DIALOGUES:
            with self.subTest(form):
                output, words = self.ask(form)
                self.assertEqual(self.found(form, output), token)
                self.assertEqual(words, "")

    def test_the_usual_port_needs_no_name_and_another_port_does(self):
        self.sign_in()
        for form in DIALOGUES:
            with self.subTest(form):
                self.assertIn(self.token(), self.ask(form, "host.example:443")[0])
                self.assertIn(self.token(), self.ask(form, named=["host.example:443"])[0])
                self.assertIn(self.token(), self.ask(form, "HOST.example:8443", ["host.example:8443"])[0])
                status, nothing = DIALOGUES[form][2]
                output, words = self.ask(form, "host.example:8443", status=status)
                self.assertEqual(output, nothing)
                self.assertIn("another port", words)

    def test_another_host_gets_the_word_for_no_credential(self):
        self.sign_in()
        for form, (_, _, (status, nothing)) in DIALOGUES.items():
            hosts = ["evil.example", "host.example.evil.example", "ahost.example", "host.example@evil.example",
                     "evil.example#host.example", "evil.example/host.example", ""]
            for host in some(hosts, form):
                with self.subTest(form, host=host):
                    output, words = self.ask(form, host, status=status)
                    self.assertEqual(output, nothing)
                    if form != "bazel":
                        self.assertEqual(words, "")

    def test_a_named_host_over_http_gets_none_and_is_told(self):
        self.sign_in()
        for form, (added, question, (status, nothing)) in DIALOGUES.items():
            if form == "terraform":
                continue  # It names no scheme, and uses https alone.
            changed = [word.format("host.example").replace("https://", "http://") for word in added]
            asked = question.format("http://host.example" if form == "docker" else "host.example")
            asked = asked.replace("https://host", "http://host").replace("protocol=https", "protocol=http")
            with self.subTest(form):
                output, words = self.ask(form, words=changed, given=asked, status=status)
                self.assertEqual(output, nothing)
                self.assertIn("not encrypted", words)

    def test_a_question_that_is_none(self):
        self.sign_in()
        for form in DIALOGUES:
            for given in some(["", "\n", "{}", "[]", "\xff", "null\n", '{"uri":1}', "protocol=https\n", "get"], form):
                with self.subTest(form, given=given):
                    words = ["--", "get"] if form == "keyring" else ["get", ""] if form == "terraform" else None
                    words = ["http"] if form == "go" else words
                    added = words or [word.format("host.example") for word in DIALOGUES[form][0]]
                    done = subprocess.run(
                        [ENROLL, "credential", form, "--host", "host.example", *added], input=given.encode("latin-1"),
                        capture_output=True, env=self.environment, timeout=TIMEOUT)
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    self.assertNotIn(self.token(), done.stdout.decode())

    def test_without_a_session_the_reason_is_on_standard_error(self):
        for form in DIALOGUES:
            with self.subTest(form):
                output, words = self.ask(form, status=0 if form == "cargo" else 3)
                self.assertIn("enroll login", words)
                self.assertEqual(output.replace('{"v":[1]}\n', ""), {
                    "git": "quit=1\n", "docker": f"{words.splitlines()[0]}\n",
                    "cargo": json.dumps({"Err": {
                        "kind": "other", "message": words.splitlines()[0].removeprefix("enroll: "), "caused-by": []}},
                        separators=(",", ":")) + "\n",
                }.get(form, ""))

    def test_the_help_of_a_format_needs_only_its_name(self):
        for form in DIALOGUES:
            self.assertEqual(self.run_enroll("help", form)[0], self.run_enroll("credential", form, "--help")[0])

    def test_the_token_lasts_for_half_of_its_lifetime(self):
        self.sign_in()
        before = self.token()
        self.set_clock(170)
        after = self.found("docker", self.ask("docker")[0])
        self.assertNotEqual(after, before)
        self.assertEqual(self.found("docker", self.ask("docker", options=["--min-lifetime", "0"])[0]), after)



class Git(Dialogue):
    """git 2.46 and newer, by recorded dialogues: this machine's git may be older."""

    OFFER = "capability[]=authtype\ncapability[]=state\nprotocol=https\nhost=host.example\n"

    def answer(self, given, words=("get",)):
        output, _ = self.ask("git", words=list(words), given=given)
        return dict(line.partition("=")[::2] for line in output.splitlines())

    def test_authtype_gives_a_bearer_token_that_is_stored_nowhere(self):
        self.sign_in()
        for challenge in ("", 'wwwauth[]=Bearer realm="x"\n', 'wwwauth[]=Basic realm="x"\nwwwauth[]=bearer realm="x"\n'):
            answer = self.answer(self.OFFER + challenge)
            self.assertEqual(answer, {
                "capability[]": "authtype", "authtype": "Bearer", "credential": self.token(), "ephemeral": "1",
                "password_expiry_utc": str(self.json("token")["expiresAt"])})

    def test_a_server_that_takes_basic_alone_gets_it_ephemeral(self):
        self.sign_in()
        answer = self.answer(self.OFFER + 'wwwauth[]=Basic realm="Git"\n')
        self.assertEqual((answer["authtype"], answer["ephemeral"]), ("Basic", "1"))
        self.assertEqual(base64.b64decode(answer["credential"]).decode(), f"oauth2:{self.token()}")
        self.assertNotIn("password", answer)

    def test_erase_reads_the_credential(self):
        self.sign_in()
        for challenge in ("", 'wwwauth[]=Basic realm="Git"\n'):
            before = self.token()
            answer = self.answer(self.OFFER + challenge)
            refused = f"{self.OFFER}{challenge}authtype={answer['authtype']}\ncredential={answer['credential']}\n"
            self.assertEqual(self.answer(refused, ["erase"]), {})
            self.assertNotEqual(self.token(), before)
        again = self.token()
        self.answer(f"{self.OFFER}authtype=Basic\ncredential=%%%\n", ["erase"])
        self.assertEqual(self.token(), again)

    def test_mail_gets_a_token_for_a_named_host(self):
        self.sign_in()
        for protocol, host, named, given in [
            ("smtp", "host.example:587", "smtp://host.example:587", True),
            ("smtp", "host.example", "smtp://host.example", True), ("smtp", "host.example:587", "host.example:587", True),
            ("smtp", "host.example:587", "host.example", False), ("smtp", "host.example:25", "smtp://host.example", False),
            ("imaps", "host.example:993", "host.example", True), ("smtp", "host.example:2525", "host.example", False),
            ("imap", "host.example", "host.example", False), ("ftp", "host.example", "host.example", False),
            ("smtp", "evil.example", "smtp://host.example", False),
        ]:
            with self.subTest(protocol, host=host, named=named):
                question = f"capability[]=authtype\nprotocol={protocol}\nhost={host}\nusername=me@x.example\n"
                output, _ = self.ask("git", named=[named], given=question)
                answer = dict(line.partition("=")[::2] for line in output.splitlines())
                self.assertEqual(answer.get("password"), self.token() if given else None)
                self.assertEqual(answer.get("username"), "me@x.example" if given else None)
        # Standard error says why.
        question = "protocol=smtp\nhost=host.example:587\n"
        self.assertIn("--host smtp://host.example:587 allows it", self.ask("git", given=question)[1])

    def test_lines_may_end_with_a_carriage_return(self):
        self.sign_in()
        self.assertEqual(
            self.answer("protocol=https\r\nhost=host.example\r\nusername=me\r\n\r\n")["password"], self.token())

    def test_only_the_lines_before_the_blank_one_are_the_question(self):
        self.sign_in()
        self.assertEqual(self.ask("git", given="protocol=https\n\nhost=host.example\n")[0], "")

    def test_a_question_above_the_limit_is_not_answered_from_its_beginning(self):
        self.sign_in()
        head = "protocol=https\npath={}\nhost=host.example"
        given = head.format("x" * ((1 << 20) - len(head.format("")))) + ".evil.example\n\n"
        output, words = self.ask("git", given=given)
        self.assertEqual(output, "")
        self.assertIn("longer than 1048576 bytes", words)

    def test_a_push_can_have_a_token_for_a_resource_and_scopes(self):
        self.sign_in()
        output, _ = self.ask("git", options=["--min-lifetime", "100", "--timeout", "20", "--scope", "openid"])
        self.assertIn("password=", output)
        self.ask("git", options=["--resource", "https://nobody.example/"], status=3)

    def test_erase_renews_the_token_of_the_scopes(self):
        self.sign_in()
        options = ["--scope", "openid"]
        before = self.found("git", self.ask("git", options=options)[0])
        self.assertNotEqual(before, self.token())
        refused = f"protocol=https\nhost=host.example\npassword={before}\n"
        self.ask("git", options=options, words=["erase"], given=refused)
        self.assertNotEqual(self.found("git", self.ask("git", options=options)[0]), before)


class Cargo(Dialogue):
    REQUEST = json.loads(DIALOGUES["cargo"][1].format("host.example"))

    def plugin(self, status=0, **changes):
        given = json.dumps({**self.REQUEST, **changes}) + "\n"
        output, words = self.run_enroll("--cargo-plugin", given=given.encode(), status=status)
        hello, answer = output.splitlines()
        self.assertEqual(hello, '{"v":[1]}')
        return json.loads(answer), words

    def test_the_arguments_of_the_configuration_come_with_the_question(self):
        self.sign_in()
        told = self.json("token")
        for args in (["credential", "cargo", "--host", "host.example"], ["--host", "host.example"]):
            answer, _ = self.plugin(args=args)
            self.assertEqual(answer["Ok"]["token"], f"Bearer {told['accessToken']}")
            self.assertEqual((answer["Ok"]["kind"], answer["Ok"]["cache"]), ("get", "expires"))
            self.assertLess(answer["Ok"]["expiration"], told["expiresAt"])
        self.assertEqual(self.plugin(args=["--host", "other.example"])[0], {"Err": {"kind": "not-found"}})

    def test_no_other_command_can_be_named(self):
        self.sign_in()
        answer, words = self.plugin(args=["logout"], status=2)
        self.assertEqual(answer["Err"]["kind"], "other")
        self.assertIn("unexpected word", answer["Err"]["message"] + words)
        self.token()

    def test_login_is_not_its_own(self):
        for kind in ("login", "logout"):
            answer, _ = self.plugin(kind=kind, args=["--host", "host.example"])
            self.assertEqual(answer, {"Err": {"kind": "operation-not-supported"}})


class Others(Dialogue):
    def test_docker_names_the_registry_and_a_user(self):
        self.sign_in()
        answer = json.loads(self.ask("docker", given="https://host.example/v1/\n")[0])
        self.assertEqual((answer["ServerURL"], answer["Username"]), ("https://host.example/v1/", "oauth2"))
        self.assertEqual(json.loads(self.ask("docker", options=["--username", "me"])[0])["Username"], "me")
        answer = json.loads(self.ask("docker", given="host.example\r\n")[0])
        self.assertEqual((answer["ServerURL"], answer["Secret"]), ("host.example", self.token()))

    def test_docker_stores_and_lists_nothing(self):
        self.assertEqual(self.ask("docker", words=["list"])[0], "{}\n")
        self.assertEqual(self.ask("docker", words=["erase"]), ("", ""))
        self.assertIn("no password is stored", self.ask("docker", words=["store"], status=1)[0])
        self.assertIn("docker-credential-enroll", self.ask("docker", words=["version"])[0])
        self.assertIn("expected get, list", self.ask("docker", words=["steal"], status=2)[1])

    def test_bazel_reads_headers_and_their_end(self):
        self.sign_in()
        told = self.json("token")
        answer = json.loads(self.ask("bazel", given='{"uri":"grpcs://host.example/x.Y/Z"}')[0])
        self.assertEqual(answer["headers"], {"Authorization": [f"Bearer {told['accessToken']}"]})
        end = datetime.fromisoformat(answer["expires"].replace("Z", "+00:00")).timestamp()
        self.assertEqual(told["expiresAt"] - end, 60)
        self.assertIn("does not name it", self.ask("bazel", "evil.example", status=1)[1])

    def test_go_asks_for_all_hosts_and_again_after_a_refusal(self):
        self.sign_in()
        before = self.token()
        output, _ = self.ask("go", named=["a.example", "b.example:8443"], words=[], given="")
        self.assertEqual(output, f"https://a.example\nhttps://b.example:8443\n\nAuthorization: Bearer {before}\n\n")
        refusal = "HTTP/1.1 401 Unauthorized\r\nWww-Authenticate: Bearer\r\n\r\n"
        output, _ = self.ask("go", given=refusal)
        self.assertNotIn(before, output)
        self.assertEqual(output, f"https://host.example\n\nAuthorization: Bearer {self.token()}\n\n")
        again = self.token()
        for answer in ("HTTP/2.0 404 Not Found\r\n\r\n", "HTTP/1.1 200 401\r\n\r\n", ""):
            self.ask("go", given=answer)
        self.ask("go", "evil.example", given=refusal)
        self.assertEqual(self.token(), again)
        # The server also refuses the token that replaced the first one: a further renewal would not help.
        self.assertIn(again, self.ask("go", given=refusal)[0])
        self.assertEqual(self.token(), again)
        self.set_clock(61)
        self.assertNotIn(again, self.ask("go", given=refusal)[0])

    def test_terraform_stores_nothing(self):
        for word in ("store", "forget"):
            self.assertIn("enroll login", self.ask("terraform", words=[word, "host.example"], status=1)[1])

    def test_keyring_in_its_modes(self):
        self.sign_in()
        token = self.token()
        url = "https://host.example/simple/"
        for words, answer in [
            (["get", url, "me"], f"{token}\n"), (["--mode", "creds", "get", url], f"oauth2\n{token}\n"),
            (["--mode=creds", "get", url, "me"], f"me\n{token}\n"),
        ]:
            self.assertEqual(self.ask("keyring", words=["--", *words])[0], answer)
        # If pip gets no answer for an http URL, it asks for the bare host.
        self.assertEqual(self.ask("keyring", words=["--", "get", "host.example", "me"], status=1), ("", ""))
        self.assertIn("enroll login", self.ask("keyring", words=["--", "set", url, "me"], status=1)[1])


class Named(CommandCase):
    """`enroll` started under the names by which other programs start it."""

    def run_as(self, name, *arguments, given=b""):
        program = self.home / name
        program.symlink_to(ENROLL)
        done = subprocess.run(
            [program, *arguments], input=given, capture_output=True, env=self.environment, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def test_each_name_means_its_command(self):
        self.sign_in()
        token = self.token()
        host = "--host", "host.example"
        self.assertEqual(self.run_as("enroll-bearer"), f"Bearer {token}\n")
        self.assertIn(token, self.run_as("terraform-credentials-enroll", *host, "get", "host.example"))
        self.assertIn(token, self.run_as("git-credential-enroll", *host, "get", given=b"protocol=https\nhost=host.example\n"))
        request = {**Cargo.REQUEST, "args": list(host)}
        self.assertIn(token, self.run_as(
            "cargo-credential-enroll", "--cargo-plugin", given=json.dumps(request).encode() + b"\n"))
