"""Tests `enroll setup TOOL HOST`: what it writes works with the real tool, a second run changes nothing, and
`--remove` undoes everything."""

import json
import re
import shlex
import shutil
import subprocess
import unittest

from cases import ENROLL
from terminal import TIMEOUT
from test_programs import ProgramCase

HOST = "host.example"


class SetupCase(ProgramCase):
    def setUp(self):
        super().setUp()
        (self.bin / "enroll").unlink()
        (self.bin / "enroll").symlink_to(ENROLL)
        # The tests do not change the tools' files of the user who runs them.
        for name in ("TF_CLI_CONFIG_FILE", "DOCKER_CONFIG", "CARGO_HOME", "KUBECONFIG", "GIT_CONFIG_GLOBAL"):
            self.environment.pop(name, None)
        self.environment.update(GIT_CONFIG_NOSYSTEM="1", GIT_TERMINAL_PROMPT="0")
        self.profile = self.profiles / "default.json"

    def set_up(self, *words, status=0):
        return self.run_enroll("setup", *words, status=status)

    def assertDone(self, *words):
        """Checks that the command changes something, and that a second run changes nothing."""
        output, _ = self.set_up(*words, "--yes")
        self.assertNotEqual(output, "")
        again, said = self.set_up(*words, "--yes")
        self.assertEqual(again, "")
        self.assertIn("nothing to change", said)
        return output

    def hosts(self):
        return json.loads(self.profile.read_text()).get("credentialHosts")


class Setup(SetupCase):
    def test_it_asks_and_changes_nothing_before(self):
        _, words = self.set_up("git", HOST, status=2)
        self.assertIn("--yes", words)
        self.assertIn("git config", self.set_up("git", HOST, "--print")[0])
        told = self.json("setup", "git", HOST, "--print")
        self.assertEqual((told["done"], len(told["changes"])), (False, 3))
        terminal = self.terminal("setup", "docker", HOST)
        terminal.shows("Make these changes")
        terminal.line("n")
        self.assertEqual(terminal.ends(), 9)
        self.assertEqual(sorted(path.name for path in self.home.glob(".[dg][oi]*")), [])
        self.assertIsNone(self.hosts())

    def test_a_relative_path_in_a_tools_variable_is_that_of_the_current_folder(self):
        for tool, name, value, file in (
            ("docker", "DOCKER_CONFIG", "d", "d/config.json"),
            ("terraform", "TF_CLI_CONFIG_FILE", "t.tfrc", "t.tfrc"),
        ):
            with self.subTest(tool):
                subprocess.run(
                    [ENROLL, "setup", tool, HOST, "--yes"], cwd=self.home, check=True, timeout=TIMEOUT,
                    env={**self.environment, name: value}, capture_output=True)
                self.assertTrue((self.home / file).exists())

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
        # Podman and its related programs, such as skopeo, read the same file.
        listed = self.run_program("skopeo", "list-tags", "--tls-verify=false", "--authfile", settings, f"docker://{host}/hello")
        self.assertEqual(json.loads(listed[0])["Tags"], ["one"])
        self.assertDone("docker", host, "--remove")
        self.assertEqual(settings.read_text(), text)
        self.assertIsNone(self.hosts())
        self.assertFalse((local / "docker-credential-enroll").is_symlink())
        self.token()

    def test_nothing_else_of_a_file_is_shown(self):
        settings = self.home / ".docker/config.json"
        settings.parent.mkdir()
        settings.write_text('{"auths": {"r.example": {"auth": "c2VjcmV0"}}}')
        profile = json.loads(self.profile.read_text())
        self.profile.write_text(json.dumps({**profile, "clientSecret": "other-secret"}))
        output, _ = self.set_up("docker", HOST, "--yes")
        self.assertIn(f'+ "credHelpers": {{"{HOST}":"enroll"}}\n', output)
        self.assertIn(f'+ "credentialHosts": [{{"host":"{HOST}","for":["docker"]}}]\n', output)
        removed, _ = self.set_up("docker", HOST, "--remove", "--yes")
        self.assertIn(f'- "credHelpers": {{"{HOST}":"enroll"}}\n', removed)
        cargo = self.home / ".cargo/config.toml"
        cargo.parent.mkdir()
        cargo.write_text("".join(f'[registries.{name}]\nindex = "https://{HOST}/{name}/"\ntoken = "third-secret"\n' for name in "ab"))
        listed, _ = self.set_up("cargo", HOST, "--print")
        self.assertEqual(listed.count("+ credential-provider = "), 2)
        for secret in ("c2VjcmV0", "other-secret", "third-secret"):
            self.assertNotIn(secret, output + removed + listed)

    def test_the_profile_keeps_every_other_byte(self):
        document = {**json.loads(self.profile.read_text()), "caFile": "ca.pem", "credentialHosts": [{"host": "a.example", "for": ["git"]}]}
        for text in (json.dumps(document, indent="\t"), json.dumps(document)):
            self.profile.write_text(text)
            self.set_up("docker", HOST, "--yes")
            self.assertIn('"caFile": "ca.pem"', self.profile.read_text())
            self.assertEqual(self.hosts(), document["credentialHosts"] + [{"host": HOST, "for": ["docker"]}])
            self.set_up("docker", HOST, "--remove", "--yes")
            self.assertEqual(self.profile.read_text(), text)
        # An entry that names two programs is not removed, but stays for the other program.
        document["credentialHosts"] = [{"host": HOST, "for": ["docker", "git"]}, {"host": "a.example", "for": ["git"]}]
        self.profile.write_text(json.dumps(document))
        self.set_up("docker", HOST, "--remove", "--yes")
        document["credentialHosts"][0]["for"] = ["git"]
        self.assertEqual(json.loads(self.profile.read_text()), document)

    def test_a_change_before_the_answer_is_kept(self):
        settings = self.home / ".docker/config.json"
        settings.parent.mkdir()
        settings.write_text("{}")
        profile = self.profile.read_text()
        terminal = self.terminal("setup", "docker", HOST)
        terminal.shows("Make these changes")
        settings.write_text('{"auths": {"new.example": {}}}')
        terminal.line("y")
        self.assertEqual(terminal.ends(), 1)
        self.assertEqual(settings.read_text(), '{"auths": {"new.example": {}}}')
        self.assertEqual(self.profile.read_text(), profile)
        self.assertFalse((self.home / ".local/bin/docker-credential-enroll").is_symlink())
        terminal = self.terminal("setup", "git", HOST)
        terminal.shows("Make these changes")
        self.run_program("git", "config", "--global", f"credential.https://{HOST}.helper", "new")
        terminal.line("y")
        self.assertEqual(terminal.ends(), 1)
        self.assertEqual(self.run_program("git", "config", "--global", "--get-all", f"credential.https://{HOST}.helper")[0], "new\n")

    def test_a_file_that_changes_between_two_steps_is_kept(self):
        # The command first writes the profile. The tool's file, which it writes next, is a link to the profile, so the
        # command finds that this file has changed in the meantime.
        (self.home / ".docker").mkdir()
        (self.home / ".docker/config.json").symlink_to(self.profile)
        _, words = self.set_up("docker", HOST, "--yes", status=1)
        self.assertIn("has changed meanwhile", words)
        self.assertEqual(json.loads(self.profile.read_text()).get("credHelpers"), None)
        self.assertEqual(self.hosts(), [{"host": HOST, "for": ["docker"]}])

    def test_a_link_that_leads_nowhere_is_not_replaced(self):
        settings = self.home / ".docker/config.json"
        settings.parent.mkdir()
        settings.symlink_to(self.home / "away/config.json")
        self.assertIn("does not exist", self.set_up("docker", HOST, "--yes", status=1)[1])
        self.assertTrue(settings.is_symlink())
        self.assertIsNone(self.hosts())

    def test_the_profile_gets_the_options_that_docker_cannot_pass(self):
        for option, value in [("--config", self.profile), ("--store", self.store), ("--keys", "file")]:
            for tool in ("docker", "terraform"):
                self.assertIn("would be lost", self.set_up(tool, HOST, option, str(value), "--yes", status=2)[1])
        unknown = "https://unknown.example/"
        self.assertIn("no profile is for", self.set_up("docker", HOST, "--resource", unknown, "--yes", status=2)[1])
        self.assertIsNone(self.hosts())
        words = ("docker", HOST, "--profile", "default", "--resource", unknown, "--account", "bob", "--username", "me")
        self.assertIn("no profile is for", self.set_up(*words, "--yes", status=2)[1])
        self.configure(resource=unknown)
        self.assertDone(*words)
        entry = {"host": HOST, "for": ["docker"], "username": "me", "resource": unknown, "account": "bob"}
        self.assertEqual(self.hosts(), [entry])
        # These commands would set up a token that differs from the token of the existing entry.
        for others in ([], ["--account", "bob"], ["--resource", unknown, "--profile", "default"]):
            for remove in ([], ["--remove"]):
                said = self.set_up("docker", HOST, *others, *remove, "--yes", status=2)[1]
                self.assertIn("for another token", said)
        self.assertIn("another user name", self.set_up(*words[:-1], "you", "--yes", status=2)[1])
        self.assertEqual(self.hosts(), [entry])
        self.assertDone(*words[:-2], "--remove")
        self.assertIsNone(self.hosts())
        self.environment["ENROLL_ACCOUNT"] = "carol"
        self.set_up("docker", HOST, "--yes")
        self.assertEqual(self.hosts(), [{"host": HOST, "for": ["docker"], "account": "carol"}])

    def test_a_host_is_the_same_with_its_usual_port(self):
        self.assertDone("docker", HOST)
        self.set_up("docker", f"{HOST}:443", "--yes")
        self.assertEqual(self.hosts(), [{"host": HOST, "for": ["docker"]}])
        self.assertIn(self.token(), self.run_enroll("credential", "docker", "get", given=HOST.encode())[0])
        self.assertDone("docker", f"{HOST}:443", "--remove")
        self.assertIsNone(self.hosts())
        self.assertEqual(json.loads((self.home / ".docker/config.json").read_text()), {})

    def test_each_written_line_is_taken_by_the_command(self):
        cargo = self.home / ".cargo/config.toml"
        cargo.parent.mkdir()
        cargo.write_text(f'[registries.b]\nindex = "sparse+https://{HOST}/i/"\n')
        self.configure("api", resource="https://api.example/")
        place = ["--profile", "api", "--store", str(self.store), "--account=-a", "--keys", "file", "--login"]
        resource = ["--resource", "https://api.example/"]
        extra = {"git": ["--username", "it's me", *resource], "cargo": resource, "kubectl": []}
        self.fake_kubectl({"clusters": [{"name": "c", "cluster": {"server": f"https://{HOST}"}}], "contexts": [{"name": "x", "context": {"cluster": "c"}}]})
        for tool, options in extra.items():
            with self.subTest(tool):
                output, _ = self.set_up(tool, HOST, *place, *options, "--print")
                if tool == "git":
                    line = shlex.split(output.splitlines()[1])[-1].removeprefix("!")
                    words = shlex.split(line) + ["get"]
                elif tool == "cargo":
                    line = next(line for line in output.splitlines() if line.startswith("+ credential-provider = "))
                    words = json.loads(line.partition(" = ")[2])
                else:
                    line = shlex.split(output.splitlines()[0])
                    words = [word.partition("=")[2] for word in line if word.startswith(("--exec-command=", "--exec-arg="))]
                for option in place + options:
                    self.assertIn(option, words)
                # The command accepts the command line, and then finds that no user is signed in.
                words.remove("--login")
                question = json.dumps({"v": 1, "kind": "get", "registry": {"index-url": f"sparse+https://{HOST}/i/"}})
                given = question if tool == "cargo" else f"protocol=https\nhost={HOST}\n\n"
                _, said = self.run_enroll(*words[1:], given=given.encode(), status=0 if tool == "cargo" else 3)
                self.assertIn("enroll login", said)
        for tool, option in [("cargo", "--username"), ("terraform", "--username"), ("kubectl", "--username"), ("kubectl", "--resource")]:
            self.assertIn(option, self.set_up(tool, HOST, option, "x", "--print", status=2)[1])

    def fake_kubectl(self, view):
        (self.home / "view.json").write_text(json.dumps(view))
        self.script("kubectl", f"exec cat {self.home}/view.json")

    def test_what_kubectl_prints_is_read_to_its_end(self):
        view = {
            "clusters": [{"name": "c", "cluster": {"server": f"https://{HOST}", "padding": "x" * 2_000_000}}],
            "contexts": [{"name": "x", "context": {"cluster": "c"}}],
        }  # fmt: skip
        self.fake_kubectl(view)
        self.assertIn("set-context x", self.set_up("kubectl", HOST, "--print")[0])
        self.fake_kubectl({**view, "more": "x" * 3_000_000})
        self.assertIn("prints more than 4194304 bytes", self.set_up("kubectl", HOST, "--print", status=1)[1])

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
        # A second profile cannot name the same host.
        self.configure("work")
        self.assertIn("the profile default names", self.set_up("docker", HOST, "--profile", "work", "--yes", status=2)[1])

    def test_the_name_that_docker_starts(self):
        link = self.home / ".local/bin/docker-credential-enroll"
        link.parent.mkdir(parents=True)
        self.environment["PATH"] += f":{link.parent}"
        link.write_text("text")
        self.assertIn("is not a program", self.set_up("docker", HOST, "--yes", status=1)[1])
        self.assertEqual(link.read_text(), "text")
        self.assertIsNone(self.hosts())
        link.unlink()
        link.mkdir()
        self.assertIn("is not a program", self.set_up("docker", HOST, "--yes", status=1)[1])
        link.rmdir()
        link.symlink_to("/nonexistent/enroll")
        self.assertDone("docker", HOST)
        self.assertIn(self.token(), self.run_program(link, "get", given=HOST)[0])
        link.unlink()
        self.script(link.name, "exit 1", link.parent)
        for _ in "ab":
            self.assertIn("has to start enroll", self.set_up("docker", HOST, "--yes")[1])

    def test_what_another_profile_needs_stays(self):
        self.configure("work")
        self.set_up("docker", HOST, "--yes")
        self.assertIn("The profile default names", self.set_up("docker", HOST, "--remove", "--profile", "work", "--yes")[1])
        self.assertEqual(json.loads((self.home / ".docker/config.json").read_text()), {"credHelpers": {HOST: "enroll"}})
        self.assertDone("docker", HOST, "--remove")
        self.assertEqual(json.loads((self.home / ".docker/config.json").read_text()), {})

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
            ["set-cluster", "there", "--server=https://other.example"], ["set-context", "h", "--cluster=here"],
            ["set-context", "t", "--cluster=there", "--user=me"], ["use-context", "h"],
        ]:
            self.run_program("kubectl", "config", *words)
        self.assertIn("--user=enroll-", self.assertDone("kubectl", host))
        self.assertIn("v1.32.0", self.run_program("kubectl", "get", "--raw", "/version")[0])
        users = json.loads(self.run_program("kubectl", "config", "view", "-o", "json")[0])["contexts"]
        self.assertEqual({one["name"]: one["context"]["user"] for one in users}, {"h": f"enroll-{host}", "t": "me"})
        # A user that a context of another cluster has stays.
        self.run_program("kubectl", "config", "set-context", "t", f"--user=enroll-{host}")
        self.assertIn("so this user stays", self.set_up("kubectl", host, "--remove", "--yes")[1])
        view = json.loads(self.run_program("kubectl", "config", "view", "-o", "json")[0])
        self.assertEqual([user["name"] for user in view["users"]], [f"enroll-{host}"])
        self.run_program("kubectl", "config", "set-context", "t", "--user=me")
        self.assertDone("kubectl", host)
        self.assertDone("kubectl", host, "--remove")
        view = json.loads(self.run_program("kubectl", "config", "view", "-o", "json")[0])
        self.assertEqual(view["users"], None)
        self.run_program("kubectl", "config", "set-context", "h", "--user=me")
        before = (self.home / "kubeconfig").read_text()
        words = self.set_up("kubectl", host, "--yes", status=1)[1]
        self.assertIn("has another user, me", words)
        self.assertIn("kubectl config set-context h --user=enroll-", re.sub(r"\s+", " ", words))
        self.assertEqual((self.home / "kubeconfig").read_text(), before)

    @unittest.skipUnless(shutil.which("kubectl"), "kubectl is not installed")
    def test_kubectl_keeps_words_with_commas_and_quotes(self):
        self.environment["KUBECONFIG"] = str(self.home / "kubeconfig")
        self.run_program("kubectl", "config", "set-cluster", "here", f"--server=https://{HOST}")
        self.run_program("kubectl", "config", "set-context", "h", "--cluster=here")
        for account in ("a,b", 'the "one", or', '"', " ,x ", '"\u0301'):
            with self.subTest(account):
                self.assertDone("kubectl", HOST, "--account", account)
                (user,) = json.loads(self.run_program("kubectl", "config", "view", "-o", "json")[0])["users"]
                words = user["user"]["exec"]["args"]
                self.assertEqual(words[words.index("--account") + 1], account)
