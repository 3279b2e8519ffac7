"""The token in other programs: any program by its environment, curl, git, kubectl."""

import base64
import json
import resource
import signal
import ssl
import subprocess
import sys
import time
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from cases import ENROLL, CommandCase
from terminal import TIMEOUT

# A program that prints the variable, how signals are handled, and the open descriptors above the standard ones.
WITNESS = """
import json, os, signal
print(json.dumps({
    "token": os.environ.get("ACCESS_TOKEN"), "other": os.environ.get("OTHER"),
    "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "open": [name for name in os.listdir("/proc/self/fd") if int(name) > 2 and os.path.exists("/proc/self/fd/" + name)],
    "home": os.environ["HOME"],
}))
"""


class Elsewhere(BaseHTTPRequestHandler):
    """Another host, which records its requests."""

    def do_GET(self):
        self.server.seen.append(self.headers.get("Authorization"))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Redirecting(Elsewhere):
    """Redirects every request to the other host."""

    def do_GET(self):
        self.server.seen.append(self.headers.get("Authorization"))
        self.send_response(302)
        self.send_header("Location", self.server.elsewhere)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Exec(CommandCase):
    def witness(self, *options):
        output, _ = self.run_enroll("exec", *options, "--", sys.executable, "-S", "-c", WITNESS)
        return json.loads(output)

    def test_the_program_finds_the_token_and_nothing_of_ours_else(self):
        self.sign_in()
        self.environment["ACCESS_TOKEN"] = "from before"
        seen = self.witness()
        self.assertEqual(seen["token"], self.token())
        self.assertEqual((seen["blocked"], seen["home"]), ([], str(self.home)))
        # The program itself has one descriptor open while it lists the folder.
        self.assertLessEqual(len(seen["open"]), 1, seen["open"])

    def test_an_earlier_value_goes_whatever_it_begins_with(self):
        self.sign_in()
        # In Swift, the equals sign and the combining character after it are one character. If a variable is
        # in the environment twice, a shell uses the last value.
        self.environment["ACCESS_TOKEN"] = "\u0338from before"
        output, _ = self.run_enroll("exec", "--", "sh", "-c", 'printf %s "$ACCESS_TOKEN"')
        self.assertEqual(output, self.token())

    def test_a_closed_pipe_ends_the_program_as_ever(self):
        self.sign_in()
        output, _ = self.run_enroll("exec", "--", "grep", "SigIgn", "/proc/self/status")
        self.assertFalse(int(output.split()[1], 16) >> 12 & 1)

    def test_the_program_gets_the_signals_and_the_limits_that_the_command_was_started_with(self):
        self.sign_in()
        shown = ["grep", "-hE", "Sig(Blk|Ign)|core file", "/proc/self/status", "/proc/self/limits"]

        def before():
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM])
            resource.setrlimit(resource.RLIMIT_CORE, (4096, resource.getrlimit(resource.RLIMIT_CORE)[1]))

        def run(*words):
            return subprocess.run(
                words, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=TIMEOUT,
                preexec_fn=before, restore_signals=False, check=True).stdout.decode()
        self.assertEqual(run(ENROLL, "exec", "--", *shown), run(*shown))

    def test_another_variable_and_the_rest_of_the_environment_stays(self):
        self.sign_in()
        self.environment["ACCESS_TOKEN"] = "of somebody else"
        seen = self.witness("--variable", "OTHER")
        self.assertEqual((seen["token"], seen["other"]), ("of somebody else", self.token()))

    def test_the_exit_status_is_that_of_the_program(self):
        self.sign_in()
        self.run_enroll("exec", "--", "sh", "-c", "exit 42", status=42)
        child = subprocess.run([ENROLL, "exec", "--", "sh", "-c", "kill -TERM $$"], env=self.environment, timeout=TIMEOUT)
        self.assertEqual(child.returncode, -15)

    def test_no_program_runs_without_a_token(self):
        output, words = self.run_enroll("exec", "--", "echo", "ran", status=3)
        self.assertEqual(output, "")
        self.assertIn("enroll login", words)

    def test_a_program_that_is_not_there_is_named(self):
        self.sign_in()
        _, words = self.run_enroll("exec", "--", "no-such-program", status=2)
        self.assertIn("no-such-program cannot be started: No such file or directory", words)
        # The small environment in which cron and containers start programs.
        few = {"HOME": self.environment["HOME"], "PATH": "/usr/bin:/bin"}
        child = subprocess.run([ENROLL, "exec", "--", "no-such-program"], env=few, capture_output=True, timeout=TIMEOUT)
        self.assertEqual(child.returncode, 2)
        self.assertIn(b"no-such-program cannot be started", child.stderr)

    def test_what_it_does_not_take(self):
        for words, complaint in [
            (["exec"], "No program is named"),
            (["exec", "ls"], "No program is named"),
            (["exec", "--variable", "A=B", "--", "ls"], "--variable must be"),
            (["exec", "--variable", "1A", "--", "ls"], "--variable must be"),
            (["exec", "--timeout", "86401", "--", "ls"], "--timeout must be"),
        ]:
            self.assertIn(complaint, self.run_enroll(*words, status=2)[1])


class Curl(CommandCase):
    def setUp(self):
        super().setUp()
        self.sign_in()
        self.certificate = self.home / "certificate.pem"
        names = "subjectAltName=IP:127.0.0.1,DNS:localhost"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
             "-subj", "/CN=api", "-addext", names, "-keyout", self.certificate, "-out", self.home / "public.pem"],
            check=True, capture_output=True)  # fmt: skip
        self.certificate.write_text(self.certificate.read_text() + (self.home / "public.pem").read_text())

    def serve(self, handler, has_tls=True, **members):
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.seen = []
        if has_tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        for name, value in members.items():
            setattr(server, name, value)
        thread = Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def curl(self, *words, status=0):
        return self.run_enroll("curl", "--", "-sS", "--cacert", str(self.home / "public.pem"), *words, status=status)

    def test_it_asks_an_api_with_the_token(self):
        server = self.serve(Elsewhere)
        self.curl("--fail", f"https://127.0.0.1:{server.server_port}/me")
        # An address without a scheme.
        self.curl("--fail", f"localhost:{server.server_port}/me")
        self.assertEqual(server.seen, [f"Bearer {self.token()}"] * 2)

    def test_the_token_is_on_no_command_line(self):
        tools = self.home / "tools"
        tools.mkdir()
        (tools / "curl").write_text("#!/bin/sh\ntr '\\0' ' ' </proc/$$/cmdline\ncat \"$3\"\n")
        (tools / "curl").chmod(0o755)
        self.environment["PATH"] = f"{tools}:{self.environment['PATH']}"
        output, _ = self.run_enroll("curl", "--", "https://api.example/")
        line, _, rest = output.partition("oauth2-bearer")
        self.assertIn("https://api.example/", line)
        self.assertNotIn(self.token(), line)
        self.assertIn(self.token(), rest)

    def test_another_host_that_it_is_redirected_to_gets_no_token(self):
        other = self.serve(Elsewhere)
        # A different name counts as a different host, even at the same address.
        first = self.serve(Redirecting, elsewhere=f"https://localhost:{other.server_port}/")
        (self.home / ".curlrc").write_text("location\nlocation-trusted\n")
        self.curl("--location", f"https://127.0.0.1:{first.server_port}/")
        self.assertEqual((first.seen, other.seen), ([f"Bearer {self.token()}"], [None]))

    def test_http_is_refused(self):
        server = self.serve(Elsewhere, has_tls=False)
        first = self.serve(Redirecting, elsewhere=f"http://127.0.0.1:{server.server_port}/")
        (self.home / ".curlrc").write_text(f'proto = "all"\nurl = "http://127.0.0.1:{server.server_port}/"\n')
        # curl's own exit statuses: for a forbidden protocol, and for an answer that is not TLS.
        self.curl(f"http://127.0.0.1:{server.server_port}/", status=1)
        self.curl(f"127.0.0.1:{server.server_port}/", status=35)
        self.curl("--location", f"https://127.0.0.1:{first.server_port}/", status=1)
        self.assertEqual(server.seen, [])

    def test_what_it_does_not_take(self):
        self.assertIn("enroll curl -- URL", self.run_enroll("curl", status=2)[1])
        for word in ("--next", "-:"):
            _, words = self.run_enroll("curl", "--", "https://api.example/", word, "https://api.example/", status=2)
            self.assertIn("once for each request", words)


class Git(CommandCase):
    """git's credential helper (gitcredentials(7)), called by its old name, `git-credential`."""

    def git(self, operation, question, *options):
        helper = f"!'{ENROLL}' git-credential {' '.join(options)}"
        done = subprocess.run(
            ["git", "-c", "credential.helper=", "-c", f"credential.helper={helper}", "credential", operation],
            input=question, capture_output=True, text=True, timeout=TIMEOUT,
            env={**self.environment, "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true"})
        return dict(line.partition("=")[::2] for line in done.stdout.splitlines())

    QUESTION = "protocol=https\nhost=git.example\npath=a.git\n\n"

    def test_git_gets_a_token_for_a_host_that_is_named(self):
        self.sign_in()
        told = self.git("fill", self.QUESTION, "--host", "git.example")
        self.assertEqual((told["username"], told["password"]), ("oauth2", self.token()))
        told = self.git("fill", self.QUESTION, "--host", "git.example", "--username", "alice")
        self.assertEqual(told["username"], "alice")

    def test_the_answer_says_when_the_token_ends(self):
        self.sign_in()
        output, _ = self.run_enroll("git-credential", "--host", "git.example", "get", given=self.QUESTION.encode())
        told = dict(line.partition("=")[::2] for line in output.splitlines())
        self.assertEqual(int(told["password_expiry_utc"]), self.json("token")["expiresAt"])

    def test_other_hosts_and_http_get_nothing(self):
        self.sign_in()
        for question in [
            "protocol=https\nhost=evil.example\n\n", "protocol=http\nhost=git.example\n\n",
            "protocol=https\nhost=git.example:8443\n\n", "protocol=https\n\n", "\n", "host=git.example\n\n", "\xff\n",
        ]:
            output, _ = self.run_enroll(
                "git-credential", "--host", "git.example", "get", given=question.encode("latin-1"))
            self.assertEqual(output, "", question)
        self.assertNotIn(
            "password=" + self.token(),
            self.run_enroll(
                "git-credential", "--host", "git.example", "--allow-loopback-http", "get",
                given=b"protocol=http\nhost=git.example\n\n")[0])

    def test_a_host_on_this_machine_may_use_http(self):
        self.sign_in()
        question = "protocol=http\nhost=127.0.0.1:8080\n\n"
        told = self.git("fill", question, "--host", "127.0.0.1:8080", "--allow-loopback-http")
        self.assertEqual(told["password"], self.token())

    def test_a_token_that_the_host_refused_is_renewed_once(self):
        self.sign_in()
        before = self.token()
        answer = f"{self.QUESTION.strip()}\nusername=oauth2\npassword={before}\n\n"
        self.git("reject", answer, "--host", "git.example")
        self.assertNotEqual(self.token(), before)
        again = self.token()
        # Another password is not the token, so nothing is rejected.
        self.git("reject", answer.replace(before, "hunter2"), "--host", "git.example")
        self.assertEqual(self.token(), again)

    def test_nobody_is_signed_in(self):
        output, words = self.run_enroll(
            "git-credential", "--host", "git.example", "get", given=self.QUESTION.encode(), status=3)
        # With this answer, git asks no further helper.
        self.assertEqual(output, "quit=1\n")
        self.assertIn("enroll login", words)

    def test_a_host_that_is_none_is_refused_before_git_is_read(self):
        self.sign_in()
        for host in ("", " ", "git.example/path", "user@git.example", "git.example:port", "https://git.example", "a b"):
            with self.subTest(host):
                output, words = self.run_enroll(
                    "git-credential", "--host", host, "get", given=f"protocol=https\nhost={host}\n\n".encode(), status=2)
                self.assertEqual(output, "")
                self.assertIn("--host expects a host as git names it", words)
        output, _ = self.run_enroll(
            "git-credential", "--host", "[::1]:8443", "get", given=b"protocol=https\nhost=[::1]:8443\n\n")
        self.assertIn("password=", output)

    def test_no_host_is_named(self):
        self.assertIn("No host is named", self.run_enroll("git-credential", "get", status=2)[1])
        words = "git-credential", "--host", "git.example", "--username", "a\npassword=b", "get"
        self.assertIn("one line of text", self.run_enroll(*words, status=2)[1])


class Kubectl(CommandCase):
    def test_it_reads_an_exec_credential(self):
        self.sign_in()
        told = json.loads(self.run_enroll("token", "--format", "kubernetes")[0])
        answer = self.json("token")
        self.assertEqual((told["apiVersion"], told["kind"]), ("client.authentication.k8s.io/v1", "ExecCredential"))
        self.assertEqual(told["status"]["token"], answer["accessToken"])
        end = datetime.fromisoformat(told["status"]["expirationTimestamp"].replace("Z", "+00:00"))
        # kubectl uses the token until the very end, and the clock of its server may be ahead.
        self.assertEqual(int(end.timestamp()), answer["expiresAt"] - 60)

    def test_the_version_is_the_one_that_kubectl_asks_for(self):
        self.sign_in()
        for asked, given in [
            ('{"apiVersion":"client.authentication.k8s.io/v1beta1"}', "client.authentication.k8s.io/v1beta1"),
            ('{"apiVersion":"example.com/v9"}', "client.authentication.k8s.io/v1"),
            ("{", "client.authentication.k8s.io/v1"),
        ]:
            self.environment["KUBERNETES_EXEC_INFO"] = asked
            told = json.loads(self.run_enroll("token", "--format", "kubernetes")[0])
            self.assertEqual(told["apiVersion"], given)

    def test_the_id_token_is_the_one_that_is_kept_and_a_new_one_after_its_end(self):
        self.sign_in()
        first = self.run_enroll("token", "--id-token")[0].strip()
        claims = json.loads(base64.urlsafe_b64decode(first.split(".")[1] + "=="))
        self.assertEqual((claims["aud"], claims["iss"]), ("sample-app", self.sandbox.issuer))
        self.assertEqual(self.run_enroll("token", "--id-token")[0].strip(), first)
        told = json.loads(self.run_enroll("token", "--id-token", "--format", "kubernetes")[0])
        self.assertEqual(told["status"]["token"], first)
        self.assertNotEqual(self.run_enroll("token", "--id-token", "--renew")[0].strip(), first)

    def test_a_command_that_is_run_again_after_a_refusal_gets_another_token(self):
        self.sign_in()
        for words in (), ("--id-token",), ("--format", "kubernetes"), ("--scope", "openid"):
            again = "token", *words, "--renew-if-asked-again", "30"
            first, second = self.run_enroll(*again)[0], self.run_enroll(*again)[0]
            self.assertNotEqual(first, second)
            self.assertEqual(self.run_enroll("token", *words)[0], second)
        self.assertNotIn(second.strip(), (self.home / ".local/state/enrollkit/tokens.json").read_text())
        self.set_clock(40)
        self.assertEqual(self.run_enroll(*again)[0], second)

    def test_what_it_does_not_take(self):
        for words, complaint in [
            (["--format", "google", "--resource", "https://x.example"], "--format google takes no"),
            (["--format", "yaml"], "kubernetes"), (["--id-token", "--scope", "a"], "--id-token takes no"),
            (["--format", "kubernetes", "--json"], "--json is"),
        ]:
            self.assertIn(complaint, "".join(self.run_enroll("token", *words, status=2)))

    def test_without_a_session_nothing_is_printed(self):
        for words in [["--format", "kubernetes"], ["--id-token"], ["--format", "env"], ["--format", "headers"]]:
            self.assertEqual(self.run_enroll("token", *words, status=3)[0], "")


class IDTokens(CommandCase):
    """id_tokens that are about to expire. The sandbox's id_tokens last as long as its access tokens."""

    def provide(self):
        return self.own_sandbox()

    def id_token(self, *arguments):
        return self.run_enroll("token", "--id-token", *arguments)[0].strip()

    def renewals(self):
        return self.counts()["refreshes"]

    def setUp(self):
        super().setUp()
        self.sign_in()
        self.first = self.id_token()
        claims = json.loads(base64.urlsafe_b64decode(self.first.split(".")[1] + "=="))
        self.lifetime = claims["exp"] - claims["iat"]
        self.passed = 0
        self.sandbox.control("resetCounts")

    def pass_time(self, seconds):
        """Sets the provider's clock and this machine's clock to this many seconds after the sign-in."""
        self.sandbox.control("advanceClock", seconds=seconds - self.passed)
        self.set_clock(seconds)
        self.passed = seconds

    def test_it_is_renewed_before_its_end(self):
        self.pass_time(self.lifetime - 70)
        self.assertEqual(self.id_token(), self.first)
        self.pass_time(self.lifetime - 50)
        self.assertNotEqual(self.id_token(), self.first)

    def test_a_provider_that_sends_none_with_a_renewal_is_asked_once(self):
        self.sandbox.control("fault", fault="omitMember", endpoint="token", member="id_token")
        self.pass_time(self.lifetime - 50)
        for _ in range(3):
            self.assertEqual(self.id_token(), self.first)
        self.assertEqual(self.renewals(), 1)
        self.pass_time(self.lifetime + 1)
        for _ in range(2):
            self.assertIn("at the sign-in alone", self.run_enroll("token", "--id-token", status=5)[1])
        self.assertEqual(self.renewals(), 1)

    def test_the_old_one_is_not_printed_where_a_new_one_is_wanted(self):
        self.assertNotEqual(self.run_enroll("token", "--id-token", "--renew")[0].strip(), self.first)
        cases = (("omitIDToken", 5, "at the sign-in alone"), ("serverError", 4, "could not be renewed"))
        for fault, status, words in cases:
            with self.subTest(fault):
                self.sandbox.control("fault", fault=fault, endpoint="token")
                output, said = self.run_enroll("token", "--id-token", "--renew", "--timeout", "1", status=status)
                self.assertEqual(output, "")
                self.assertIn(words, said)
                self.sandbox.control("clearFaults")

    def test_the_old_one_is_printed_while_it_works(self):
        self.sandbox.control("fault", fault="serverError", endpoint="token")
        self.pass_time(self.lifetime - 50)
        output, words = self.run_enroll("token", "--id-token", "--format", "kubernetes")
        self.assertEqual(json.loads(output)["status"]["token"], self.first)
        self.assertIn("still works", words)
        # Google's library reads both streams as one document.
        output, words = self.run_enroll("token", "--format", "google")
        self.assertEqual((json.loads(output)["id_token"], words), (self.first, ""))

    def test_its_end_is_by_the_clock_of_the_provider(self):
        # This machine's clock is ahead by more than an id_token lasts.
        self.set_clock(self.lifetime + 300)
        for _ in range(4):
            self.assertNotEqual(self.id_token(), self.first)
        # The second response confirmed by how much the clocks differ, so no third renewal was needed.
        self.assertEqual(self.renewals(), 2)
        expiry = json.loads(self.run_enroll("token", "--format", "google")[0])["expiration_time"]
        self.assertGreater(expiry, time.time() + self.lifetime + 300)

    def test_a_clock_that_is_behind_prolongs_none(self):
        self.sandbox.control("advanceClock", seconds=3600)
        self.sign_in("--account", "other")
        first = self.id_token("--account", "other")
        self.assertEqual(self.id_token("--account", "other"), first)
        self.sandbox.control("advanceClock", seconds=self.lifetime + 60)
        self.set_clock(self.lifetime + 60)
        self.assertNotEqual(self.id_token("--account", "other"), first)


class Formats(CommandCase):
    def test_each_format_has_the_token(self):
        self.sign_in()
        answer, id_token = self.json("token"), self.run_enroll("token", "--id-token")[0].strip()
        token, end = answer["accessToken"], answer["expiresAt"]
        wanted = {
            "text": token, "header": f"Authorization: Bearer {token}", "bearer": f"Bearer {token}",
            "headers": json.dumps({"Authorization": f"Bearer {token}"}, separators=(",", ":")),
            "env": f"export ACCESS_TOKEN={token}\nexport ACCESS_TOKEN_EXPIRES={end}",
        }
        shown = self.run_enroll("help", "token")[0]
        for form, text in wanted.items():
            self.assertEqual(self.run_enroll("token", "--format", form)[0], text + "\n")
            self.assertIn(f"{form} (", " ".join(shown.split()))
        self.assertRegex(
            self.run_enroll("token", "--format", "env", "--id-token")[0],
            rf"\Aexport ID_TOKEN={id_token}\nexport ID_TOKEN_EXPIRES=\d+\n\Z")
        done = subprocess.run(
            ["bash", "-c", f'eval "$({ENROLL} token --format env)" && echo "$ACCESS_TOKEN $ACCESS_TOKEN_EXPIRES"'],
            env=self.environment, capture_output=True, text=True, timeout=TIMEOUT, check=True)
        self.assertEqual(done.stdout, f"{token} {end}\n")
        google = json.loads(self.run_enroll("token", "--format", "google")[0])
        self.assertEqual((google["success"], google["id_token"], google["version"]), (True, id_token, 1))
        self.assertGreaterEqual(google["expiration_time"], end)

    def test_google_reads_why_there_is_none(self):
        output, words = self.run_enroll("token", "--format", "google", status=3)
        told = json.loads(output)
        self.assertEqual((told["success"], told["code"], told["version"]), (False, "3", 1))
        self.assertIn(told["message"], words)


