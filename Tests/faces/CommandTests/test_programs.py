"""Tests with programs that ask `enroll` for a token, as users install them: git, skopeo, msmtp, pip, uv and Google's
library; and Cargo, kubectl and Terraform if this machine has them. Each program sends its token to a small server,
which knows the valid tokens. test_credentials.py has the dialogues of programs that are not tested here."""

import base64
import http.server
import json
import os
import shutil
import socketserver
import ssl
import subprocess
import unittest
from pathlib import Path
from threading import Thread

from cases import ENROLL, CommandCase
from processes import TOP
from terminal import TIMEOUT

PROGRAMS = TOP / ".build/command/venv/bin"
HOME = Path.home()


class Guarded(http.server.BaseHTTPRequestHandler):
    """Serves the files of a folder to clients that send the token, as a Bearer token or as a password."""

    def do_GET(self):
        scheme, _, value = self.headers.get("Authorization", "").partition(" ")
        user = None
        if scheme == "Basic":
            user, _, value = base64.b64decode(value).decode().partition(":")
        self.server.seen.append((self.path, scheme, user))
        path = self.server.folder / self.path.partition("?")[0].strip("/")
        is_known = value in self.server.tokens if self.server.refused is None else value != self.server.refused
        if not is_known or scheme not in self.server.schemes:
            self.answer(401, b"", "WWW-Authenticate", f'{self.server.schemes[0]} realm="test"')
        elif (path / "index").is_file():
            kind = "application/vnd.pypi.simple.v1+json" if "simple" in self.path else "application/json"
            status = 207 if self.command == "PROPFIND" else 200
            self.answer(status, (path / "index").read_bytes(), "Content-Type", kind)
        elif path.is_file():
            self.answer(200, path.read_bytes(), "Content-Type", "application/octet-stream")
        else:
            self.answer(404, b"", "X-Test", "none")

    do_HEAD = do_PROPFIND = do_GET

    def answer(self, status, body, name, value):
        self.send_response(status)
        self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


class Mail(socketserver.StreamRequestHandler):
    """An SMTP server that accepts a token (RFC 7628)."""

    def handle(self):
        self.say("220 mail.test")
        while line := self.rfile.readline().decode().strip():
            verb, _, rest = line.partition(" ")
            if verb == "EHLO":
                self.say("250-mail.test\r\n250 AUTH OAUTHBEARER")
            elif verb == "AUTH":
                _, _, first = rest.partition(" ")
                if not first:
                    self.say("334 ")
                    first = self.rfile.readline().decode().strip()
                fields = base64.b64decode(first).decode().split("\x01")
                self.say("235 yes" if f"auth=Bearer {self.server.token}" in fields else "535 no")
            elif verb == "DATA":
                self.say("354 go on")
                lines = []
                while (line := self.rfile.readline().strip()) != b".":
                    lines.append(line)
                self.server.mails.append(b"\n".join(lines))
                self.say("250 taken")
            elif verb == "QUIT":
                self.say("221 bye")
                return
            else:
                self.say("250 yes")

    def say(self, line):
        self.wfile.write(f"{line}\r\n".encode())


class Threaded(socketserver.ThreadingTCPServer):
    daemon_threads = True


class ProgramCase(CommandCase):
    def setUp(self):
        super().setUp()
        self.bin = self.home / "bin"
        self.bin.mkdir()
        self.script("enroll", f"exec {ENROLL} \"$@\"")
        self.environment["PATH"] = f"{self.bin}:{os.environ['PATH']}"
        self.sign_in()

    def script(self, name, line, folder=None):
        program = (folder or self.bin) / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
        return program

    def serve(self, *schemes, encrypted=False):
        """Starts a server that has a folder; returns the server, and one text with its host and port."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Guarded)
        server.folder = self.home / "served"
        server.folder.mkdir()
        server.schemes, server.seen, server.tokens = schemes, [], [self.token()]
        #: None: the server accepts only the tokens in `tokens`. Otherwise the server accepts every token except this
        #: one.
        server.refused = None
        if encrypted:
            key, certificate = self.certify()
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        return server, self.start_server(server)

    def certify(self):
        """A key and a certificate for 127.0.0.1, as files."""
        key, certificate = self.home / "key.pem", self.home / "certificate.pem"
        self.run_program(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
            "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate)
        return key, certificate

    def start_server(self, server):
        Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"127.0.0.1:{server.server_address[1]}"

    def run_program(self, *words, status=0, given="", **variables):
        done = subprocess.run(
            [str(word) for word in words], input=given, capture_output=True, text=True, timeout=TIMEOUT,
            env={**self.environment, **variables}, cwd=self.home)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr


class Git(ProgramCase):
    def setUp(self):
        super().setUp()
        self.server, self.host = self.serve("Basic")
        for name, value in [("GIT_TERMINAL_PROMPT", "0"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_AUTHOR_NAME", "a"),
                            ("GIT_AUTHOR_EMAIL", "a@x.example"), ("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@x.example")]:
            self.environment[name] = value
        bare = self.server.folder / "a.git"
        self.run_program("git", "init", "-q", "work")
        self.run_program("git", "-C", "work", "commit", "-q", "--allow-empty", "-m", "one")
        self.run_program("git", "clone", "-q", "--bare", "work", bare)
        self.run_program("git", "-C", bare, "update-server-info")
        self.url = f"http://{self.host}"

    def helper(self, *options):
        """Sets the two lines of git's configuration that the command's help shows."""
        for line in ("", f"!enroll credential git --host {self.host} --allow-loopback-http {' '.join(options)}"):
            self.run_program("git", "config", "--global", "--add", f"credential.{self.url}.helper", line)

    def test_a_clone_with_the_lines_of_the_help_leaves_no_token_in_a_file(self):
        self.run_program("git", "config", "--global", "credential.helper", "store")
        self.helper()
        self.run_program("git", "clone", "-q", f"{self.url}/a.git", "copy")
        self.assertTrue((self.home / "copy/.git").is_dir())
        self.assertIn("oauth2", [user for _, _, user in self.server.seen])
        self.assertFalse((self.home / ".git-credentials").exists())

    def test_a_refused_token_is_renewed_for_the_next_command(self):
        self.helper()
        before = self.token()
        self.server.tokens = []
        self.run_program("git", "clone", "-q", f"{self.url}/a.git", "copy", status=128)
        self.assertNotEqual(self.token(), before)
        self.server.tokens = [self.token()]
        self.run_program("git", "clone", "-q", f"{self.url}/a.git", "copy")

    def test_without_a_session_git_asks_nobody(self):
        asked = self.home / "asked"
        self.environment["GIT_ASKPASS"] = str(self.script("askpass", f"touch {asked}; echo x"))
        self.helper()
        self.run_enroll("logout")
        _, words = self.run_program("git", "clone", "-q", f"{self.url}/a.git", "copy", status=128)
        self.assertIn("enroll login", words)
        self.assertIn("told us to quit", words)
        self.assertFalse(asked.exists())


class Registry(ProgramCase):
    def test_skopeo_lists_tags(self):
        server, host = self.serve("Basic")
        for path, text in (("v2", "{}"), ("v2/hello/tags/list", '{"name":"hello","tags":["one"]}')):
            (server.folder / path).mkdir(parents=True, exist_ok=True)
            (server.folder / path / "index").write_text(text)
        self.script("docker-credential-enroll", f'exec enroll credential docker --host {host} --allow-loopback-http "$@"')
        settings = self.home / "auth.json"
        settings.write_text(json.dumps({"credHelpers": {host: "enroll"}}))
        words = "skopeo", "list-tags", "--tls-verify=false", "--authfile", settings, f"docker://{host}/hello"
        self.assertEqual(json.loads(self.run_program(*words)[0])["Tags"], ["one"])
        self.assertIn("oauth2", [user for _, _, user in server.seen])
        self.run_enroll("logout")
        self.assertIn("enroll", self.run_program(*words, status=1)[1])


class Sending(ProgramCase):
    def test_msmtp_sends_with_plain_enroll_token(self):
        server = Threaded(("127.0.0.1", 0), Mail)
        server.token, server.mails = self.token(), []
        port = self.start_server(server).rpartition(":")[2]
        (self.home / ".msmtprc").write_text(f"""account default
host 127.0.0.1
port {port}
tls off
from a@x.example
auth oauthbearer
user a@x.example
passwordeval enroll token
""")
        (self.home / ".msmtprc").chmod(0o600)
        self.run_program("msmtp", "b@x.example", given="Subject: hello\n\nhello\n")
        self.assertIn(b"Subject: hello", server.mails[0])
        server.token = "another"
        self.assertIn("535", self.run_program("msmtp", "b@x.example", given="x", status=77)[1])


class Python(ProgramCase):
    """pip and uv, with a program `keyring` in a folder that only they have in PATH."""

    def setUp(self):
        super().setUp()
        self.server, self.host = self.serve("Basic")
        page = self.server.folder / "simple/hello"
        page.mkdir(parents=True)
        (page / "index").write_text(json.dumps({
            "meta": {"api-version": "1.0"}, "name": "hello",
            "files": [{"filename": "hello-1-py3-none-any.whl", "url": "/hello-1-py3-none-any.whl", "hashes": {}}]}))
        subprocess.run(["/usr/bin/python3", "-c", """
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("hello.py", "")
    wheel.writestr("hello-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: hello\\nVersion: 1\\n")
    wheel.writestr("hello-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("hello-1.dist-info/RECORD", "hello.py,,\\nhello-1.dist-info/METADATA,,\\nhello-1.dist-info/WHEEL,,\\nhello-1.dist-info/RECORD,,\\n")
""", self.server.folder / "hello-1-py3-none-any.whl"], check=True)
        own = self.home / "own"
        self.script(
            "keyring", f'exec enroll credential keyring --host {self.host} --allow-loopback-http -- "$@"', folder=own)
        for name in list(self.environment):
            if name.startswith(("PIP_", "UV_")):
                del self.environment[name]
        self.environment.update(PATH=f"{own}:{self.environment['PATH']}", PIP_CONFIG_FILE="/dev/null", UV_NO_CONFIG="1")

    def test_pip_gets_a_package(self):
        self.run_program(
            PROGRAMS / "python", "-m", "pip", "download", "--quiet", "--no-input", "--no-deps", "--disable-pip-version-check",
            "--keyring-provider", "subprocess", "--index-url", f"http://{self.host}/simple/", "hello")
        self.assertTrue((self.home / "hello-1-py3-none-any.whl").is_file())
        self.assertIn("oauth2", [user for _, _, user in self.server.seen])

    def test_uv_gets_a_package(self):
        self.run_program(
            PROGRAMS / "uv", "pip", "install", "--quiet", "--target", "out", "--no-deps", "--keyring-provider", "subprocess",
            "--index-url", f"http://oauth2@{self.host}/simple/", "hello", "--python", "/usr/bin/python3")
        self.assertTrue((self.home / "out/hello.py").is_file())


class Google(ProgramCase):
    PROGRAM = """
import json, sys
from google.auth import pluggable
audience = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q"
credentials = pluggable.Credentials(
    audience=audience, subject_token_type="urn:ietf:params:oauth:token-type:id_token", token_url="https://sts.googleapis.com/v1/token",
    credential_source={"executable": {"command": "enroll token --format google", "timeout_millis": 30000}})
try:
    print(credentials.retrieve_subject_token(None))
except Exception as error:
    sys.exit(str(error))
"""

    def read(self, status=0):
        return self.run_program(
            PROGRAMS / "python", "-c", self.PROGRAM, status=status, GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES="1")

    def test_the_library_reads_the_id_token_and_shows_why_there_is_none(self):
        self.assertEqual(self.read()[0].strip(), self.run_enroll("token", "--id-token")[0].strip())
        self.run_enroll("logout")
        self.assertIn("enroll login", self.read(status=1)[1])


@unittest.skipUnless(shutil.which("kubectl"), "kubectl is not installed; test_handing_on.py has its dialogue")
class Kubectl(ProgramCase):
    def test_it_sends_the_id_token(self):
        # kubectl sends no credential over http.
        server, host = self.serve("Bearer", encrypted=True)
        server.tokens = [self.run_enroll("token", "--id-token")[0].strip()]
        (server.folder / "version").mkdir()
        (server.folder / "version/index").write_text('{"major":"1","minor":"32","gitVersion":"v1.32.0"}')
        config = self.home / "kubeconfig"
        config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {
                "server": f"https://{host}", "certificate-authority": str(self.home / "certificate.pem")}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "me"}}],
            "users": [{"name": "me", "user": {"exec": {
                "apiVersion": "client.authentication.k8s.io/v1", "command": "enroll", "interactiveMode": "Never",
                "args": ["token", "--format", "kubernetes", "--id-token"]}}}]}))
        output, _ = self.run_program("kubectl", "--kubeconfig", config, "get", "--raw", "/version")
        self.assertIn("v1.32.0", output)


@unittest.skipUnless(shutil.which("cargo"), "Cargo is not installed; test_credentials.py has its dialogue")
class Cargo(ProgramCase):
    def setUp(self):
        super().setUp()
        self.environment.setdefault("RUSTUP_HOME", str(HOME / ".rustup"))
        self.server, self.host = self.serve("Bearer")
        (self.server.folder / "index").mkdir()
        (self.server.folder / "index/config.json").write_text(json.dumps(
            {"dl": f"http://{self.host}/dl", "api": f"http://{self.host}", "auth-required": True}))
        (self.server.folder / "api/v1/crates").mkdir(parents=True)
        (self.server.folder / "api/v1/crates/index").write_text(
            '{"crates":[{"name":"hello","max_version":"1.0.0","description":"x"}],"meta":{"total":1}}')

    def search(self, host, status=0):
        (self.home / ".cargo").mkdir(exist_ok=True)
        (self.home / ".cargo/config.toml").write_text(f"""[registries.rt]
index = "sparse+http://{self.host}/index/"
credential-provider = ["enroll", "credential", "cargo", "--host", "{host}", "--allow-loopback-http"]
""")
        return self.run_program("cargo", "search", "--registry", "rt", "hello", status=status)

    def test_it_finds_a_crate(self):
        self.assertIn("hello", self.search(self.host)[0])
        self.assertIn("Bearer", [scheme for _, scheme, _ in self.server.seen])

    def test_another_host_is_no_credential_and_no_session_is_told(self):
        self.assertIn("no token found", self.search("other.example", status=101)[1])
        self.run_enroll("logout")
        self.assertIn("enroll login", self.search(self.host, status=101)[1])


@unittest.skipUnless(shutil.which("terraform"), "Terraform is not installed; test_credentials.py has its dialogue")
class Terraform(ProgramCase):
    def test_it_asks_a_registry_for_modules(self):
        server, host = self.serve("Bearer", encrypted=True)
        versions = '{"modules":[{"versions":[{"version":"1.0.0"}]}]}'
        for path, text in ((".well-known/terraform.json", '{"modules.v1":"/v1/"}'), ("v1/a/b/c/versions", versions)):
            (server.folder / path).mkdir(parents=True)
            (server.folder / path / "index").write_text(text)
        plugins = self.home / ".terraform.d/plugins"
        plugins.mkdir(parents=True)
        (plugins / "terraform-credentials-enroll").symlink_to(ENROLL)
        settings = self.home / "terraformrc"
        settings.write_text(f'credentials_helper "enroll" {{\n  args = ["--host", "{host}"]\n}}\n')
        (self.home / "main.tf").write_text(f'module "c" {{\n  source  = "{host}/a/b/c"\n  version = "1.0.0"\n}}\n')
        # The registry has no archive of the module.
        _, words = self.run_program(
            "terraform", "init", "-no-color", status=1, TF_CLI_CONFIG_FILE=str(settings), CHECKPOINT_DISABLE="1",
            SSL_CERT_FILE=str(self.home / "certificate.pem"))
        self.assertIn(("/v1/a/b/c/versions", "Bearer", None), server.seen, words)
        self.assertIn("download", words)
