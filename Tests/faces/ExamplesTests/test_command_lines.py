"""Tests of the command-line examples and of the session of the Electron example: sign in, show the user, sign
out."""

import sys

from cases import ALICE, EXAMPLES, ExampleCase
from processes import TOP

ELECTRON = """
import { openSession } from './session.mjs';
import { spawn } from 'node:child_process';
const openExternal = (url) => void spawn(process.env.BROWSER, [url]);
const session = await openSession({ data: process.env.HOME, openExternal });
const { answers } = session;
console.log((await answers.state()).state);
console.log(await answers.signIn());
console.log(await answers.confirm());
console.log((await answers.whoami()).email);
await answers.signOut();
console.log((await answers.state()).state);
await session.close();
"""


class CommandLineTests(ExampleCase):
    def walk(self, *tool):
        nobody = self.run_words(*tool, "whoami", expected=1)
        self.assertIn("nobody is signed in; run: ", nobody)
        self.assertEqual(self.run_words(*tool, "login"), f"Signed in as {ALICE}.")
        self.assertEqual(self.run_words(*tool, "whoami"), f"Alice Example <{ALICE}>")
        self.assertEqual(self.run_words(*tool, "logout"), "Signed out.")
        self.assertIn("nobody is signed in", self.run_words(*tool, "whoami", expected=1))
        self.assertIn("usage: ", self.run_words(*tool, "leave", expected=self.usage))
        missing = self.run_words(*tool, "login", expected=1, ENROLL_CONFIG=str(self.home / "nothing.json"))
        self.assertIn("nothing.json", missing)

    def test_python(self):
        self.usage = 1
        self.environment["PYTHONPATH"] = str(TOP / "bindings/python/src")
        self.environment["ENROLL_LIBRARY"] = str(TOP / "build/lib/libenroll.so.0")
        self.walk(sys.executable, "-B", EXAMPLES / "python-cli/whoami.py")

    def test_swift(self):
        self.usage = 2
        self.walk(TOP / ".build/debug/swift-cli-example")

    def test_the_session_of_the_electron_app(self):
        app = self.home / "app"
        (app / "node_modules").mkdir(parents=True)
        (app / "node_modules/enrollkit").symlink_to(TOP / "bindings/node")
        (app / "session.mjs").write_bytes((EXAMPLES / "electron-app/session.mjs").read_bytes())
        (app / "walk.mjs").write_text(ELECTRON)
        said = self.run_words("node", app / "walk.mjs", ENROLLD=str(TOP / "build/lib/enrolld"))
        states = ["unregistered", "awaitingConfirmation", "active", ALICE, "unregistered"]
        self.assertEqual(said.splitlines(), states)


class ReadmeTests(ExampleCase):
    def test_each_example_has_a_short_page_that_names_the_variable(self):
        folders = [path for path in EXAMPLES.iterdir() if path.is_dir() and "-" in path.name]
        self.assertGreaterEqual(len(folders), 6)
        for folder in folders:
            page = (folder / "README.md").read_text()
            self.assertLessEqual(len(page.splitlines()), 40, folder.name)
            self.assertIn("ENROLL_CONFIG", page, folder.name)
            self.assertIn("sandbox", page, folder.name)
