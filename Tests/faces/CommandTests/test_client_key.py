"""The files that a configuration names: the client's key and the certificates. They are found from any
directory; unusable files are refused."""

import json
import os
import subprocess

from cases import ENROLL, CommandCase
from processes import workspace
from terminal import TIMEOUT

# RFC 8037 §A.1.
KEY = ('{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",'
       '"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}')


class ClientKey(CommandCase):
    def given(self):
        """The options of a first sign-in."""
        (self.profiles / "default.json").unlink()
        configuration = self.sandbox.configuration()
        return ["--issuer", configuration["issuer"], "--client-id", configuration["clientId"], "--allow-loopback-http"]

    def sign_in_from(self, folder, *arguments, profile=None):
        """The exchange of the code runs in a process with another current directory."""
        child = subprocess.Popen(
            [ENROLL, "login", "--yes", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=self.environment, cwd=folder)
        self.addCleanup(self._end, child)
        self.come_back(self.opened())
        _, words = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 0, words)
        return json.loads((profile or self.profiles / "default.json").read_text())

    def unusable(self):
        """Keys that cannot be used, each with a word of the error message about it."""
        folder = workspace("keys")
        yield folder / "none", "No such file"
        yield folder, "Is a directory"
        os.mkfifo(folder / "pipe", 0o600)
        yield folder / "pipe", "it is a pipe"
        cases = [
            ("empty", "", 0o600, "expected a key in PEM"), ("garbage", "garbage", 0o600, "expected a key in PEM"),
            ("open", KEY, 0o666, "every user of this machine may write to it"),
            ("secret", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAAA\n-----END ENCRYPTED PRIVATE KEY-----\n", 0o600,
             "clientKeyFile"),
        ]
        for name, text, mode, words in cases:
            (folder / name).write_text(text)
            (folder / name).chmod(mode)
            yield folder / name, words

    def test_a_file_that_cannot_be_used_is_not_saved_where_a_user_is_signed_in(self):
        self.sign_in()
        profile = self.profiles / "default.json"
        before = profile.read_text()
        missing = self.home / "none.pem"
        for key in ("caFile", "clientKeyFile"):
            with self.subTest(key):
                _, words = self.run_enroll("login", "--yes", "--set", f"{key}={missing}", status=2)
                self.assertIn(str(missing), words)
                self.assertIn("No such file", words)
                self.assertEqual(profile.read_text(), before)
        request = self.home / "request.pem"
        request.write_text("-----BEGIN CERTIFICATE REQUEST-----\nMAAA\n-----END CERTIFICATE REQUEST-----\n")
        _, words = self.run_enroll("login", "--yes", "--set", f"caFile={request}", status=2)
        self.assertIn("it has no line -----BEGIN CERTIFICATE-----", words)
        self.assertEqual(profile.read_text(), before)
        self.token("--renew")

    def test_a_relative_path_is_refused_where_the_current_directory_was_removed(self):
        self.sign_in()
        before = (self.profiles / "default.json").read_text()
        gone = workspace("gone")
        line = 'rmdir "$PWD" && exec "$0" login --yes --set caFile=ca.pem'
        done = subprocess.run(
            ["sh", "-c", line, ENROLL], cwd=gone, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("the current folder cannot be determined (No such file or directory)", done.stderr)
        self.assertEqual((self.profiles / "default.json").read_text(), before)

    def test_an_unusable_key_is_found_by_the_doctor_and_ends_a_sign_in_before_the_browser_opens(self):
        for path, words in self.unusable():
            with self.subTest(path.name):
                self.configure(clientKeyFile=str(path))
                output, _ = self.run_enroll("doctor", "--json", status=1)
                bad = [check for check in json.loads(output)["checks"] if check["verdict"] == "bad"]
                self.assertIn(words, " ".join(check["text"] for check in bad))
                self.assertIn("PKCS #8", bad[0]["advice"])
                self.assertIn("clientKeyFile", bad[0]["advice"])
                for way in (["login"], ["register"], ["login", "--device"]):
                    _, said = self.run_enroll(*way, "--yes", status=2)
                    self.assertIn(words, said)
        self.assertFalse(self.has_opened)

    def test_unusable_certificates_end_a_sign_in_before_the_browser_opens(self):
        configuration = self.sandbox.configuration()
        self.configure(caFile=str(self.home / "none.pem"), endpoints={
            "authorizationEndpoint": configuration["issuer"] + "/authorize",
            "tokenEndpoint": configuration["issuer"] + "/token", "jwksUri": configuration["issuer"] + "/jwks"})
        self.run_enroll("login", "--yes", status=2)
        self.assertFalse(self.has_opened)

    def test_relative_paths_in_a_profile_start_at_its_folder(self):
        (self.profiles / "client.jwk").write_text(KEY)
        (self.profiles / "ca.pem").write_text("")
        self.configure(clientKeyFile="client.jwk", caFile="ca.pem")
        self.sign_in_from("/")
        self.token()
        # The sandbox announces no private_key_jwt; that is the only finding about the key.
        output, _ = self.run_enroll("doctor", status=1)
        self.assertEqual(output.count("✗"), 1, output)
        self.assertIn("this client has a key", output)
        # The same works if the profile is named by a path relative to the current directory.
        done = subprocess.run(
            [ENROLL, "token", "--config", "enrollkit/default.json"], capture_output=True, env=self.environment,
            cwd=self.profiles.parent, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_paths_of_options_start_at_the_current_directory(self):
        folder = workspace("options")
        (folder / "client.jwk").write_text(KEY)
        (folder / "ca.pem").write_text("")
        saved = self.sign_in_from(
            folder, "--set", "caFile=ca.pem", "--set", "clientKeyFile=client.jwk", *self.given())
        self.assertEqual(saved["caFile"], str(folder / "ca.pem"))
        self.assertEqual(saved["clientKeyFile"], str(folder / "client.jwk"))

    def test_a_profile_is_saved_in_a_new_folder_of_the_current_directory(self):
        folder = workspace("relative")
        saved = self.sign_in_from(
            folder, "--config", "new/mine.json", *self.given(), profile=folder / "new/mine.json")
        self.assertEqual(saved["issuer"], self.sandbox.issuer)

    def test_a_file_that_does_not_stay_is_refused_at_once(self):
        given = self.given()
        for option in (["--client-key-file", ""], ["--set", "clientKeyFile="], ["--set", "caFile="]):
            _, words = self.run_enroll("login", *given, *option, status=2)
            self.assertIn("has no value", words)
        for option in (["--client-key-file", "/dev/fd/3"], ["--set", "caFile=/proc/self/fd/3"]):
            _, words = self.run_enroll("login", *given, *option, status=2)
            self.assertIn("it must be a file that stays there; a later process reads it again", words)
