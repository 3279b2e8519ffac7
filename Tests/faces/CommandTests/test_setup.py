"""`enroll setup TOOL HOST`: what it writes works with the real tool, a second run changes nothing, and `--remove` undoes it."""

import json
import shutil
import unittest

from cases import ENROLL
from test_programs import ProgramCase

HOST = "host.example"


class Setup(ProgramCase):
    def setUp(self):
        super().setUp()
        (self.bin / "enroll").unlink()
        (self.bin / "enroll").symlink_to(ENROLL)
        # The tools' files of the user who runs the tests stay as they are.
        for name in ("TF_CLI_CONFIG_FILE", "DOCKER_CONFIG", "CARGO_HOME", "KUBECONFIG", "GIT_CONFIG_GLOBAL"):
            self.environment.pop(name, None)
        self.environment.update(GIT_CONFIG_NOSYSTEM="1", GIT_TERMINAL_PROMPT="0")
        self.profile = self.profiles / "default.json"

    def set_up(self, *words, status=0):
        return self.run_enroll("setup", *words, status=status)

    def assertDone(self, *words):
        """The command changes something, and nothing the second time."""
        output, _ = self.set_up(*words, "--yes")
        self.assertNotEqual(output, "")
        again, said = self.set_up(*words, "--yes")
        self.assertEqual(again, "")
        self.assertIn("nothing to change", said)
        return output

    def hosts(self):
        return json.loads(self.profile.read_text()).get("credentialHosts")

    def test_it_asks_and_changes_nothing_before(self):
        _, words = self.set_up("git", HOST, status=2)
        self.assertIn("--yes", words)
        self.assertIn("git config", self.set_up("git", HOST, "--print")[0])
        told = self.json("setup", "git", HOST, "--print")
        self.assertEqual((told["done"], len(told["changes"])), (False, 2))
        terminal = self.terminal("setup", "docker", HOST)
        terminal.shows("Make these changes")
        terminal.line("n")
        self.assertEqual(terminal.ends(), 9)
        self.assertEqual(sorted(path.name for path in self.home.glob(".[dg][oi]*")), [])
        self.assertIsNone(self.hosts())

    def test_git(self):
        server, host = self.serve("Basic")
        bare = server.folder / "a.git"
        self.run_program("git", "init", "-q", "--bare", bare)
        self.run_program("git", "-C", bare, "update-server-info")
        self.run_program("git", "config", "--global", "credential.helper", "store")
        before = (self.home / ".gitconfig").read_text()
        self.assertDone("git", HOST, "--username", "it's me")
        for words, key in [(f"https://{HOST}", "get"), ("https://other.example", "none")]:
            output, _ = self.run_program("git", "credential", "fill", given=f"url={words}\n\n", status=0 if key == "get" else 128)
            self.assertEqual(f"password={self.token()}\n" in output, key == "get")
            self.assertEqual("username=it's me\n" in output, key == "get")
        self.assertDone("git", HOST, "--remove")
        self.assertEqual((self.home / ".gitconfig").read_text(), before)
        self.run_program("git", "config", "--global", f"credential.https://{HOST}.helper", "other")
        self.assertIn("This replaces other", self.set_up("git", HOST, "--print")[1])

    def test_docker(self):
        server, host = self.serve("Basic")
        for path, text in (("v2", "{}"), ("v2/hello/tags/list", '{"name":"hello","tags":["one"]}')):
            (server.folder / path).mkdir(parents=True, exist_ok=True)
            (server.folder / path / "index").write_text(text)
        settings = self.home / ".docker/config.json"
        settings.parent.mkdir()
        text = '{\n\t"auths": {"a": {"auth": "credHelpers"}},\n\t"credHelpers": {\n\t\t"gcr.io": "gcloud"\n\t},\n\t"x": [1,\n2.50]}'
        settings.write_text(text)
        settings.chmod(0o640)
        local = self.home / ".local/bin"
        self.environment["PATH"] += f":{local}"
        self.assertDone("docker", host)
        self.assertEqual(settings.read_text(), text.replace('"gcr.io"', f'"{host}": "enroll",\n\t\t"gcr.io"'))
        self.assertEqual(settings.stat().st_mode & 0o777, 0o640)
        self.assertEqual(self.hosts(), [{"host": host, "for": ["docker"]}])
        self.assertTrue((local / "docker-credential-enroll").is_symlink())
        # Podman's family reads the same file.
        listed = self.run_program("skopeo", "list-tags", "--tls-verify=false", "--authfile", settings, f"docker://{host}/hello")
        self.assertEqual(json.loads(listed[0])["Tags"], ["one"])
        self.assertDone("docker", host, "--remove")
        self.assertEqual(settings.read_text(), text)
        self.assertIsNone(self.hosts())
        self.assertFalse((local / "docker-credential-enroll").is_symlink())
        self.token()

    def test_docker_leaves_what_is_not_its_own(self):
        settings = self.home / ".docker/config.json"
        settings.parent.mkdir()
        for text in (f'{{"credHelpers": {{"{HOST}": "other"}}}}', "{x", '{"credHelpers": []}'):
            settings.write_text(text)
            _, words = self.set_up("docker", HOST, "--yes", status=1)
            self.assertIn(f'{{"credHelpers":{{"{HOST}":"enroll"}}}}', words)
            self.assertEqual(settings.read_text(), text)
            self.assertIsNone(self.hosts())
        settings.write_text(f'{{"credHelpers": {{"{HOST}": "other"}}}}')
        self.assertEqual(self.set_up("docker", HOST, "--remove", "--yes")[0], "")
        settings.unlink()
        self.assertDone("docker", HOST)
        self.assertEqual(json.loads(settings.read_text()), {"credHelpers": {HOST: "enroll"}})
        # Another profile cannot take the host.
        self.configure("work")
        self.assertIn("the profile default names", self.set_up("docker", HOST, "--profile", "work", "--yes", status=2)[1])

    def test_cargo(self):
        settings = self.home / ".cargo/config.toml"
        settings.parent.mkdir()
        text = f'# mine\n[registries.a]\nindex = "sparse+https://other.example/"\n\n[registries.b]\nindex = "sparse+https://{HOST}/i/"\n[net]\nretry = 1\n'
        settings.write_text(text)
        self.assertDone("cargo", HOST)
        line = f'credential-provider = ["enroll", "credential", "cargo", "--host", "{HOST}"]\n'
        self.assertEqual(settings.read_text(), text.replace("[net]", f"{line}[net]"))
        self.assertDone("cargo", HOST, "--remove")
        self.assertEqual(settings.read_text(), text)
        self.assertIn("credential-provider = ", self.set_up("cargo", "third.example", status=1)[1])
        settings.write_text(text.replace("[net]", 'credential-provider = "cargo:token"\n[net]'))
        self.set_up("cargo", HOST, "--yes", status=1)

    @unittest.skipUnless(shutil.which("terraform"), "Terraform is not installed")
    def test_terraform(self):
        server, host = self.serve("Bearer", encrypted=True)
        (server.folder / ".well-known/terraform.json").mkdir(parents=True)
        (server.folder / ".well-known/terraform.json/index").write_text('{"modules.v1":"/v1/"}')
        settings = self.home / ".terraformrc"
        settings.write_text("disable_checkpoint = true")
        self.assertDone("terraform", host)
        self.assertEqual(self.hosts(), [{"host": host, "for": ["terraform"]}])
        (self.home / "main.tf").write_text(f'module "c" {{\n  source  = "{host}/a/b/c"\n  version = "1.0.0"\n}}\n')
        self.run_program("terraform", "init", "-no-color", status=1, SSL_CERT_FILE=str(self.home / "certificate.pem"))
        self.assertIn("Bearer", [scheme for _, scheme, _ in server.seen])
        self.assertDone("terraform", host, "--remove")
        self.assertEqual(settings.read_text(), "disable_checkpoint = true\n")
        self.assertFalse((self.home / ".terraform.d/plugins/terraform-credentials-enroll").is_symlink())
        settings.write_text('credentials_helper "other" {}\n')
        self.assertIn("Terraform takes one", self.set_up("terraform", host, "--yes", status=1)[1])
        self.assertIsNone(self.hosts())

    @unittest.skipUnless(shutil.which("kubectl"), "kubectl is not installed")
    def test_kubectl(self):
        server, host = self.serve("Bearer", encrypted=True)
        server.tokens = [self.run_enroll("token", "--id-token")[0].strip()]
        (server.folder / "version").mkdir()
        (server.folder / "version/index").write_text('{"major":"1","minor":"32","gitVersion":"v1.32.0"}')
        self.environment["KUBECONFIG"] = str(self.home / "kubeconfig")
        self.assertIn("no context", self.set_up("kubectl", host, status=1)[1])
        for words in [
            ["set-cluster", "here", f"--server=https://{host}", f"--certificate-authority={self.home}/certificate.pem"],
            ["set-cluster", "there", "--server=https://other.example"], ["set-context", "h", "--cluster=here", "--user=me"],
            ["set-context", "t", "--cluster=there", "--user=me"], ["use-context", "h"],
        ]:
            self.run_program("kubectl", "config", *words)
        self.assertIn("--user=enroll-", self.assertDone("kubectl", host))
        self.assertIn("v1.32.0", self.run_program("kubectl", "get", "--raw", "/version")[0])
        users = json.loads(self.run_program("kubectl", "config", "view", "-o", "json")[0])["contexts"]
        self.assertEqual({one["name"]: one["context"]["user"] for one in users}, {"h": f"enroll-{host}", "t": "me"})
        self.assertDone("kubectl", host, "--remove")
        view = json.loads(self.run_program("kubectl", "config", "view", "-o", "json")[0])
        self.assertEqual(view["users"], None)
