"""Tests that the manual and the program agree on every option, exit status and variable, and that the
README's commands work."""

import re
import subprocess

import manual
from cases import ENROLL, CommandCase
from processes import TOP
from terminal import TIMEOUT


class Manual(CommandCase):
    def test_the_tables_are_drawn_from_the_program(self):
        page = manual.PAGE.read_text()
        self.assertEqual(manual.drawn(page), page, "run Tests/faces/CommandTests/run --write")
        self.assertGreater(page.count("| `--"), 20)
        self.assertEqual(page.count("\n| 130 | "), 1)
        others = manual.OTHERS.read_text()
        self.assertEqual(manual.drawn(others), others, "run Tests/faces/CommandTests/run --write")
        self.assertGreater(others.count("enroll credential"), 6)

    def test_every_command_has_its_line(self):
        page = manual.PAGE.read_text()
        for command in manual.commands():
            self.assertIn(f"**{command['name']}**: {command['abstract']}", page)

    def test_the_help_advises_what_the_manual_and_the_readme_advise(self):
        advice = re.search(r"From then on:\n\n((?:  .*\n)+)", self.run_enroll("--help")[0])[1]
        line = " ".join(advice.split())
        self.assertTrue(line.startswith("token=$(enroll token) && curl "), line)
        for page in ("docs/enroll.md", "README.md", "scripts/man-pages"):
            self.assertIn(line, (TOP / page).read_text(), page)

    def test_every_variable_that_is_read_is_told_of(self):
        read = set()
        for source in (TOP / "Sources/enroll").rglob("*.swift"):
            read |= set(re.findall(r'(?:environment|process)\["([A-Z_]+)"\]', source.read_text()))
        self.assertGreater(len(read), 8)
        # Variables of the system, which every program reads, are left out.
        told = manual.PAGE.read_text()
        self.assertEqual([name for name in sorted(read - {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "SSH_CONNECTION", "TERM"})
                          if f"`{name}`" not in told], [])

    def test_the_page_becomes_a_man_page(self):
        (self.home / "man").mkdir()
        subprocess.run([str(TOP / "scripts/setup"), "lowdown"], check=True, stderr=subprocess.DEVNULL)
        script = f"""
import sys; sys.path.insert(0, {str(TOP / 'scripts')!r})
import importlib.util, importlib.machinery, pathlib
loader = importlib.machinery.SourceFileLoader("man_pages", {str(TOP / 'scripts/man-pages')!r})
pages = importlib.util.module_from_spec(importlib.util.spec_from_loader("man_pages", loader)); loader.exec_module(pages)
pages.page(pathlib.Path({str(self.home / 'man')!r}), "enroll", 1, pages.command(), "0")
"""
        subprocess.run(["python3", "-B", "-c", script], check=True)
        page = self.home / "man/man1/enroll.1"
        told = subprocess.run(["mandoc", "-Tlint", "-Wwarning", str(page)], capture_output=True, text=True).stdout
        self.assertEqual([line for line in told.splitlines() if "missing date" not in line], [])
        text = subprocess.run(["mandoc", "-Tutf8", str(page)], capture_output=True, text=True, check=True).stdout
        text = re.sub(r".\x08", "", text)
        for word in ("--min-lifetime SECONDS", "EXIT STATUS", "ENROLL_CONFIG", "enroll-configuration"):
            self.assertIn(word, text)
        self.assertNotIn("Tests", text)


class Readme(CommandCase):
    def provide(self):
        return self.own_sandbox()

    def configure(self, *_, **__):
        """The README begins without a configuration."""

    def test_its_lines_work_as_they_stand(self):
        lines = re.search(r"<!-- run: enroll -->\n```\n(.*?)```", (TOP / "README.md").read_text(), re.S)[1]
        self.assertIn("enroll login --issuer https://id.example --client-id my-app", lines)
        # The sandbox replaces the provider of the example, --yes replaces the user's answer, and a script replaces the
        # browser.
        lines = lines.replace("https://id.example --client-id my-app",
                              f"{self.sandbox.issuer} --client-id sample-app --allow-loopback-http --yes")
        lines = lines.replace("https://api.example/", f"{self.sandbox.issuer}/userinfo")
        bin = self.home / "bin"
        bin.mkdir()
        (bin / "enroll").symlink_to(ENROLL)
        self.browser.write_text(f"""#!/usr/bin/env python3
import sys
sys.path.insert(0, {str(TOP / 'Tests/faces/CTests')!r})
from sign_in import play_user
play_user(sys.argv[1])
""")
        self.environment["PATH"] = f"{bin}:{self.environment['PATH']}"
        done = subprocess.run(["bash", "-euc", lines], env=self.environment, capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"name":"Alice Example"', done.stdout)
        self.assertIn("signed out Alice Example", done.stderr)
