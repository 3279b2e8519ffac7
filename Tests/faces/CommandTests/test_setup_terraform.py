"""`enroll setup terraform HOST` changes one line of Terraform's configuration, and reports a setting that takes
precedence over this line."""

import json
import os
import re
import shutil
import unittest

from test_setup import HOST, SetupCase

BLOCK = 'credentials_helper "enroll" {}'


class SetupTerraform(SetupCase):
    def setUp(self):
        super().setUp()
        self.settings = self.home / ".terraformrc"
        self.folder = self.home / ".terraform.d"

    def write(self, text):
        self.settings.write_bytes(text.encode())

    @property
    def text(self):
        return self.settings.read_bytes().decode()

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
        self.assertEqual(settings.read_text(), "disable_checkpoint = true")
        self.assertFalse((self.home / ".terraform.d/plugins/terraform-credentials-enroll").is_symlink())
        settings.write_text('credentials_helper "other" {}\n')
        self.assertIn("Terraform takes one", self.set_up("terraform", host, "--yes", status=1)[1])
        self.assertIsNone(self.hosts())

    def test_only_a_file_is_changed(self):
        pipe = self.home / "pipe"
        os.mkfifo(pipe)
        self.settings.symlink_to(pipe)
        self.assertIn("not a file", self.set_up("terraform", HOST, "--yes", status=1)[1])
        self.assertTrue(self.settings.is_symlink() and pipe.is_fifo())

    def test_each_form_of_the_file(self):
        for text, after in (
            ("", f"{BLOCK}\n"),
            ("disable_checkpoint = true // x", f"disable_checkpoint = true // x\n{BLOCK}"),
            ("disable_checkpoint = true\r\n", f"disable_checkpoint = true\r\n{BLOCK}\r\n"),
            ("a = true\r\nb = 1", f"a = true\r\nb = 1\r\n{BLOCK}"),
            *((text, f"{text}{BLOCK}\n") for text in (
                '# credentials_helper "other" {}\n/* credentials_helper "x" {\n} */\n// credentials_helper "y" {}\n',
                'x = <<EOT\ncredentials_helper "other" {}\nEOT\n',
                'a = "{ credentials_helper \\" "\n',
                'credentials "other.example" {\n  token = "}"\n}\n',
                'provider_installation {\n  direct { # }\n    include = ["a/*", "b/*"]\n  }\n}\n',
                'a = [\n  1, // ]\n]\n',
            )),
        ):  # fmt: skip
            with self.subTest(text):
                self.write(text)
                self.assertDone("terraform", HOST)
                self.assertEqual(self.text, after)
                if shutil.which("terraform"):
                    self.assertNotIn("Error", self.run_program("terraform", "-version", "-no-color")[1])
                self.assertDone("terraform", HOST, "--remove")
                self.assertEqual(self.text, text)
        self.write('credentials_helper "enroll" {\n}\n')
        self.set_up("terraform", HOST, "--yes")
        self.assertEqual(self.text, 'credentials_helper "enroll" {\n}\n')

    def test_what_takes_precedence(self):
        self.folder.mkdir()
        token = f'credentials "{HOST}" {{\n  token = "secret"\n}}\n'
        for path, text, said in (
            (self.settings, token, "has a token for"),
            (self.folder / "more.tfrc", token, "has a token for"),
            (self.folder / "credentials.tfrc.json", json.dumps({"credentials": {HOST: {"token": "secret"}}}), "has a token for"),
            (self.settings, 'credentials_helper "other" {}\n', "Terraform takes one"),
            (self.settings, 'credentials_helper "enroll" {\n  args = ["x"]\n}\n', f'Add "--host", "{HOST}" to its args'),
            (self.folder / "more.tfrc.json", '{"credentials_helper": {"other": {}}}', "Terraform takes one"),
            (self.folder / "more.tfrc", 'credentials_helper "other" {}\n', "Terraform takes one"),
            (self.settings, "/* a\n", "line 1 is not HCL"),
            (self.settings, "\ufeffa = 1\n", "line 1 is not HCL"),
            (self.settings, 'a = 1\ncredentials_helper "x" {\n', "line 2 is not HCL"),
            (self.settings, '{"credentials_helper": {"other": {}}}', "line 1 is not HCL"),
            (self.settings, 'a = 1\nfoo = "open\n', "line 2 is not HCL"),
            (self.folder / "more.tfrc.json", "{", "not JSON"),
        ):  # fmt: skip
            with self.subTest(text):
                path.write_text(text)
                words = self.set_up("terraform", HOST, "--yes", status=1)[1]
                self.assertIn(said, words)
                self.assertNotIn("secret", words)
                self.assertEqual(path.read_text(), text)
                self.assertIsNone(self.hosts())
                self.assertFalse((self.folder / "plugins/terraform-credentials-enroll").is_symlink())
                path.unlink()
        # An empty variable has no effect. With a file in TF_CLI_CONFIG_FILE, Terraform does not read the folder.
        (self.folder / "more.tfrc").write_text(token)
        self.environment["TF_CLI_CONFIG_FILE"] = ""
        self.assertIn("has a token for", self.set_up("terraform", HOST, "--yes", status=1)[1])
        self.environment["TF_CLI_CONFIG_FILE"] = str(self.settings)
        self.environment["TF_TOKEN_host_example"] = "secret"
        self.assertIn("TF_TOKEN_host_example", self.set_up("terraform", HOST, "--yes")[1])
        self.assertEqual(self.text, f"{BLOCK}\n")

    def test_the_link_stays_for_a_block_that_it_did_not_write(self):
        link = self.folder / "plugins/terraform-credentials-enroll"
        for path, text in (
            (self.settings, 'credentials_helper "enroll" {\n  args = ["--profile", "work"]\n}\n'),
            (self.folder / "more.tfrc", f"{BLOCK}\n"),
            (self.folder / "more.tfrc.json", '{"credentials_helper": {"enroll": {}}}'),
        ):
            with self.subTest(path):
                self.set_up("terraform", HOST, "--yes")
                if path != self.settings:
                    self.settings.unlink()
                path.write_text(text)
                said = self.set_up("terraform", HOST, "--remove", "--yes")[1]
                self.assertIn(f"{path} has a credentials_helper that starts this program", re.sub(r"\s+", " ", said))
                self.assertTrue(link.is_symlink())
                self.assertEqual(path.read_text(), text)
                self.assertIsNone(self.hosts())
                path.unlink()

    def test_the_name_that_terraform_starts(self):
        link = self.folder / "plugins/terraform-credentials-enroll"
        link.parent.mkdir(parents=True)
        link.write_text("text")
        self.assertIn("is not a program", self.set_up("terraform", HOST, "--yes", status=1)[1])
        link.unlink()
        link.symlink_to("/nonexistent")
        self.assertDone("terraform", HOST)
        self.assertTrue(link.exists())
