"""Tests the man pages as a terminal shows them: no character of an example or a name is lost, every function,
callback and struct of the header has its page, and the system's index finds the pages."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from trees import TOP

sys.path.insert(0, str(TOP / "scripts"))
import header  # noqa: E402: the header as a table

ENROLLD = os.environ.get("ENROLLD") or TOP / "build/lib/enrolld"
SOURCES = {
    ("1", "enroll"): "docs/enroll.md", ("1", "enrolld"): "docs/json-rpc.md",
    ("5", "enroll-configuration"): "docs/configuration.md", ("3", "libenroll"): "Examples/sign_in.c",
}  # fmt: skip


class PageTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="enroll-pages-")
        cls.addClassCleanup(directory.cleanup)
        cls.manual = Path(directory.name)
        subprocess.run([TOP / "scripts/man-pages", ENROLLD, cls.manual], check=True)
        cls.header = header.read()

    def shown(self, section, name, viewer="man"):
        """The text of a page on the screen: formatted by groff, as on Linux, or by mandoc, as on BSD and macOS."""
        page = str(self.manual / f"man{section}/{name}.{section}")
        wide = {**os.environ, "MANWIDTH": "200", "LC_ALL": "C.UTF-8", "MANROFFOPT": ""}
        command = ["man", "--local-file", page] if viewer == "man" else ["mandoc", "-Tutf8", "-Owidth=200", page]
        told = subprocess.run(command, env=wide, capture_output=True, text=True, check=True)
        return re.sub(r".\x08", "", told.stdout)

    def synopsis(self, name):
        return re.sub(r"\s+", " ", self.shown("3", name, "mandoc").partition("SYNOPSIS")[2].partition("DESCRIPTION")[0])

    def test_no_name_loses_an_underscore_or_is_broken(self):
        for (section, name), source in SOURCES.items():
            names = set(re.findall(r"\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b", (TOP / source).read_text()))
            for viewer in ("man", "mandoc"):
                with self.subTest(name, viewer=viewer):
                    page = self.shown(section, name, viewer)
                    written = (TOP / source).read_text()
                    for word in sorted(names):
                        shown = set(re.findall(word.replace("_", "_?"), page))
                        self.assertIn(word, shown)
                        self.assertEqual([other for other in shown if other not in written], [])
                    self.assertFalse("\u2010" in page, "a word is broken")

    def test_an_example_is_shown_line_by_line_and_set_in(self):
        for (section, name), source in SOURCES.items():
            text = (TOP / source).read_text()
            blocks = [text] if source.endswith(".c") else re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)
            indented = [] if source.endswith(".c") else re.findall(r"(?:^    .*\n)+", text, re.M)
            lines = {line.rstrip() for block in blocks + indented for line in block.splitlines() if line.strip()}
            for viewer in ("man", "mandoc"):
                with self.subTest(name, viewer=viewer):
                    page = [line.rstrip() for line in self.shown(section, name, viewer).splitlines()]
                    text = next(line for line in page if line[:1] == " ")
                    margin = len(text) - len(text.lstrip())
                    for line in lines:
                        found = [shown for shown in page if shown.strip() == line.strip()]
                        self.assertTrue(found, line)
                        self.assertTrue(all(shown.startswith(" " * (margin + 1)) for shown in found[-1:]), line)

    def test_every_function_callback_and_struct_has_its_page(self):
        declared = [*self.header.functions, *self.header.callbacks, *self.header.records]
        pages = {page.stem for page in self.manual.glob("man3/*.3")}
        self.assertEqual(pages, {"libenroll", *(one.name for one in declared)})
        overview = self.shown("3", "libenroll")
        self.assertEqual([one.name for one in declared if f"{one.name}(3)" not in overview], [])

    def test_a_function_that_calls_back_shows_how(self):
        callbacks = {callback.name: callback for callback in self.header.callbacks}
        started = 0
        for function in self.header.functions:
            for parameter in function.parameters:
                if parameter.type in callbacks:
                    started += 1
                    synopsis = self.synopsis(function.name)
                    self.assertIn(f"typedef void (*{parameter.type})(", synopsis)
                    for part in callbacks[parameter.type].parameters:
                        self.assertIn(part.declaration, synopsis)
        self.assertGreater(started, 6)

    def test_a_structs_page_shows_its_members_and_says_what_they_are(self):
        for record in self.header.records:
            page = re.sub(r"\s+", " ", self.shown("3", record.name, "mandoc"))
            for member, comment in record.members:
                self.assertRegex(self.synopsis(record.name), rf"\b{member.name}\b")
                if comment:
                    self.assertIn(f"• {member.name} {comment.words.replace('`', '')[:40]}", page)
        self.assertIn("enroll_status (*send)(void *user_data, const enroll_http_request *request,",
                      self.synopsis("enroll_transport"))

    def test_the_systems_index_finds_every_page(self):
        subprocess.run(["mandb", "--create", "--quiet", "--user-db", self.manual], check=True, capture_output=True)
        listed = subprocess.run(["man", "-M", self.manual, "-k", "."], capture_output=True, text=True).stdout
        names = {line.split()[0] for line in listed.splitlines() if line.strip()}
        pages = list(self.manual.glob("man*/*.[135]"))
        self.assertEqual({page.stem for page in pages} - names, set())
        # Programs that list pages look for this line.
        self.assertEqual([page.name for page in pages if "\n.SH NAME\n" not in page.read_text()], [])

    def test_an_installation_renews_the_systems_index_where_its_pages_are_looked_for(self):
        if os.geteuid() != 0:
            self.skipTest("root is needed: nobody else can write the index")
        with tempfile.TemporaryDirectory() as home:
            for name, body in (("manpath", f"echo /usr/share/man:{home}/known/share/man"), ("mandb", f'echo "$@" >>{home}/told'),
                               ("ldconfig", "true")):
                program = Path(home, "bin", name)
                program.parent.mkdir(exist_ok=True)
                program.write_text(f"#!/bin/sh\n{body}\n")
                program.chmod(0o755)
            played = {**os.environ, "PATH": f"{home}/bin:{os.environ['PATH']}", "DESTDIR": ""}
            for prefix in ("known", "elsewhere"):
                # An uninstallation renews the index of man pages only if manpath lists their folder (`known`).
                subprocess.run([TOP / "scripts/install", "uninstall"], check=True, env={**played, "PREFIX": f"{home}/{prefix}"})
            subprocess.run([TOP / "scripts/install", "uninstall"], check=True,
                           env={**played, "PREFIX": f"{home}/known", "DESTDIR": f"{home}/stage"})
            self.assertEqual(Path(home, "told").read_text(), f"--quiet {home}/known/share/man\n")
