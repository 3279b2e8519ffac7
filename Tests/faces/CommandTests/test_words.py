"""Tests of commands that need no provider: the command line, and `status` and `doctor` without a network."""

import json
import subprocess

from cases import ENROLL, CommandCase
from processes import free_port
from terminal import TIMEOUT


class WordsTests(CommandCase):
    def test_they_are_read_where_proc_is_not_mounted(self):
        def hidden(*words):
            return subprocess.run(
                ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh", *words],
                env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT)

        if hidden("true").returncode:
            self.skipTest("a mount namespace is needed to hide /proc")
        shown = hidden(ENROLL, "--version")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertRegex(shown.stdout, r"^enroll \d+\.")
        self.assertEqual(hidden(ENROLL, "accounts", "--frobnicate").returncode, 2)

    def test_a_refusal_is_json_for_programs(self):
        told = self.json("token", "--timout", "3", status=2)
        self.assertEqual(told["error"]["message"], "there is no option --timout. Did you mean --timeout?")
        self.assertEqual((told["exitStatus"], told["advice"]), (2, "See `enroll token --help`."))
        told = self.json("switch", "a", "--account", "b", status=2)
        self.assertEqual(told["error"]["message"], "Name the account without --account: enroll switch NAME.")

    def test_they_are_explained_and_refused(self):
        shown, _ = self.run_enroll("help", "token")
        self.assertIn("Usage: enroll token [options]\n", shown)
        _, words = self.run_enroll("token", "--timout", "3", status=2)
        self.assertIn("enroll token: there is no option --timout. Did you mean --timeout?\n", words)
        self.assertEqual(self.run_enroll("---complete", "logo")[0].split("\t")[0], "logout")
        names = [command["name"] for command in json.loads(self.run_enroll("--dump-commands")[0])["commands"]]
        self.assertEqual(names[:3], ["login", "register", "token"])


class WithoutNetwork(CommandCase):
    def configure(self, name="default", **changes):
        """A configuration whose provider does not exist."""
        self.profiles.mkdir(parents=True, exist_ok=True)
        (self.profiles / f"{name}.json").write_text(json.dumps({
            "issuer": f"http://127.0.0.1:{free_port()}", "clientId": "app", "allowLoopbackHTTP": True,
            "redirectUri": "http://127.0.0.1/callback"}))

    def provide(self):
        return None

    def test_the_status_of_nobody_needs_none(self):
        for words in (["status"], ["status", "--all"], ["token"], ["accounts"]):
            self.run_enroll(*words, status=0 if words == ["accounts"] else 3)

    def test_the_doctor_says_what_is_well_and_that_the_provider_is_not_reached(self):
        told = self.json("doctor", status=1)
        self.assertFalse(told["ok"])
        verdicts = {check["check"]: check["verdict"] for check in told["checks"]}
        self.assertEqual(verdicts["configuration"], "good")
        self.assertEqual(verdicts["provider"], "bad")
