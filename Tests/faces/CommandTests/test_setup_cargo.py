"""Tests that `enroll setup cargo HOST` changes one line of Cargo's configuration, which stays a valid
document."""

import tomllib

from test_setup import HOST, SetupCase

INDEX = f'index = "sparse+https://{HOST}/i/"'
LINE = f'credential-provider = ["enroll", "credential", "cargo", "--host", "{HOST}"]'


class SetupCargo(SetupCase):
    def setUp(self):
        super().setUp()
        self.settings = self.home / ".cargo/config.toml"
        self.settings.parent.mkdir()

    def write(self, text):
        self.settings.write_bytes(text.encode())

    @property
    def text(self):
        return self.settings.read_bytes().decode()

    def test_each_form_of_a_registry(self):
        for text, after in (
            (f"[registries.a]\n{INDEX}", f"[registries.a]\n{INDEX}\n{LINE}"),
            (f"[registries.a]\r\n{INDEX} # c\r\n\r\n[net]\r\n", f"[registries.a]\r\n{INDEX} # c\r\n{LINE}\r\n\r\n[net]\r\n"),
            (f"registries.a.{INDEX}\n", f"registries.a.{INDEX}\nregistries.a.{LINE}\n"),
            (f"[registries]\n\ta.{INDEX}\n", f"[registries]\n\ta.{INDEX}\n\ta.{LINE}\n"),
            (f"[ registries . 'a b' ]\n{INDEX}\n", f"[ registries . 'a b' ]\n{INDEX}\n{LINE}\n"),
            (f'x = """\n[registries.a]\n{INDEX}\n"""\n[registries.b]\n{INDEX}\n', f'x = """\n[registries.a]\n{INDEX}\n"""\n[registries.b]\n{INDEX}\n{LINE}\n'),
            (f"[registries.a]\n'index' = 'sparse+https://{HOST}/i/'\n", f"[registries.a]\n'index' = 'sparse+https://{HOST}/i/'\n{LINE}\n"),
            (f"x = [ # [\n 1,\n]\nd = 1979-05-27 07:32:00 # y\n[registries.a]\n{INDEX}\n", f"x = [ # [\n 1,\n]\nd = 1979-05-27 07:32:00 # y\n[registries.a]\n{INDEX}\n{LINE}\n"),
        ):  # fmt: skip
            with self.subTest(text):
                self.write(text)
                self.assertDone("cargo", HOST)
                self.assertEqual(self.text, after)
                tomllib.loads(self.text)
                self.assertDone("cargo", HOST, "--remove")
                self.assertEqual(self.text, text)

    def test_a_quoted_key_is_the_same_key(self):
        for text in (f'[registries.a]\n"credential-provider" = ["cargo:token"]\n{INDEX}\n', f"[registries.a]\n{INDEX}\n\n[registries]\na.credential-provider = 'x'\n"):
            self.write(text)
            self.assertIn("another credential-provider", self.set_up("cargo", HOST, "--yes", status=1)[1])
            self.assertEqual(self.text, text)
        self.write(f'[registries.a]\n"credential-provider" = ["/old/enroll", "credential", "cargo"] # mine\n{INDEX}\n')
        self.assertDone("cargo", HOST)
        self.assertIn('"] # mine\n', self.text)
        tomllib.loads(self.text)
        self.assertEqual(self.text.count("credential-provider"), 1)

    def test_a_comment_stays_and_the_same_words_are_no_change(self):
        spaced = LINE.replace('["', '[ "')
        several = LINE.replace('["enroll", ', '[\n "enroll", # program\n ').replace("]", ",\n]")
        for line in (f"{LINE} # mine", f"{spaced} # mine", several):
            self.write(f"[registries.a]\n{INDEX}\n{line}\n")
            self.assertIn("nothing to change", self.set_up("cargo", HOST, "--yes")[1])
            self.assertDone("cargo", HOST, "--login")
            self.assertIn('"--login"]' + (" # mine" if "mine" in line else ""), self.text)
            self.assertDone("cargo", HOST, "--remove")
            self.assertEqual(self.text, f"[registries.a]\n{INDEX}\n")

    def test_what_cannot_be_read_is_not_changed(self):
        for text, said in (
            (f"[registries.a]\n{INDEX}\n[foo\n", "line 3"),
            (f"[registries.a\n{INDEX}\n", "line 1"),
            (f"[registries.a]\n{INDEX}\nx = 'open\n", "line 3"),
            (f"[registries.a]\n{INDEX}\n[registries.a]\n", "twice"),
            (f"[registries.a]\n{INDEX}\n{INDEX}\n", "twice"),
            (f"[registries]\na = {{ {INDEX} }}\n", "in braces"),
            (f'[registries.a]\nindex = "sparse+https://{HOST}@evil.example/"\n', "no registry"),
            (f"# [registries.a]\n# {INDEX}\n", "no registry"),
            (f"[[registries]]\n{INDEX}\n", "no registry"),
        ):
            with self.subTest(text):
                self.write(text)
                words = self.set_up("cargo", HOST, "--yes", status=1)[1]
                self.assertIn(said, words)
                self.assertIn("credential-provider = ", words)
                if "is not TOML" in words:
                    self.assertIn("Remove this line", self.set_up("cargo", HOST, "--remove", "--yes", status=1)[1])
                self.assertEqual(self.text, text)

    def test_the_file_that_cargo_reads(self):
        old = self.settings.with_name("config")
        for path in (self.settings, old):
            path.write_text(f"[registries.a]\n{INDEX}\n")
        self.assertDone("cargo", HOST)
        self.assertEqual(self.text, f"[registries.a]\n{INDEX}\n")
        self.assertIn(LINE, old.read_text())
        self.environment["CARGO_HOME"] = str(self.home / "cargo")
        self.settings.parent.rename(self.home / "cargo")
        self.assertDone("cargo", HOST, "--remove")
        self.assertEqual((self.home / "cargo/config").read_text(), f"[registries.a]\n{INDEX}\n")

