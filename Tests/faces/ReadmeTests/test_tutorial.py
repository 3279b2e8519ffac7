"""The programs of docs/tutorial sign in to the sandbox once: the second run shows no page. bindings/cordova/tests
has the page of the hybrid app."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

from processes import workspace
from readme import BLOCK, ROOT, TUTORIAL
from sandbox import Sandbox

sys.path.insert(0, str(ROOT / "Tests/faces/CTests"))
from sign_in import play_user  # noqa: E402

FOLDER = ROOT / "docs/tutorial"
KOTLIN = ROOT / "build/kotlin/enrollkit.jar"
BROWSER = f"""#!{sys.executable}
import sys
sys.path[:0] = [{str(ROOT / 'Tests/faces/CTests')!r}, {str(ROOT / 'Tests/faces/Support')!r}]
from sign_in import play_user
play_user(sys.argv[1])
"""


class TutorialTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox()
        cls.addClassCleanup(cls.sandbox.stop)

    def setUp(self):
        self.home = workspace("tutorial")
        browser = self.home / "browser"
        browser.write_text(BROWSER)
        browser.chmod(0o755)
        self.environment = {
            **os.environ, "HOME": str(self.home), "BROWSER": f"{browser} %s", "DISPLAY": ":0",
            "PYTHONPATH": f"{ROOT}/bindings/python/src", "ENROLL_LIBRARY": f"{ROOT}/build/lib/libenroll.so.0",
        }  # fmt: skip

    def run_it(self, *command, answer="", plays=False):
        """Runs a program; returns its output. If the program prints a URL, the test plays its user."""
        program = subprocess.Popen(
            [*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=self.environment)  # fmt: skip
        program.stdin.write(answer)
        program.stdin.close()
        told = program.stdout.readline() if plays else ""
        if plays:
            self.assertRegex(told, "^Open this in your browser: http")
            play_user(told.split(": ", 1)[1].strip())
        told += program.stdout.read()
        trouble = program.stderr.read()
        program.stdout.close()
        program.stderr.close()
        return program.wait(60), told, trouble

    def signs_in_once(self, *command, answer="", plays=False, question="Alice Example"):
        before = len(self.sandbox.control("sessions")["sessions"])
        status, told, trouble = self.run_it(*command, self.sandbox.issuer, answer=answer, plays=plays)
        self.assertEqual(status, 0, trouble)
        self.assertIn(question, told)
        self.assertRegex(told, "The API knows you as .*Alice Example")
        status, told, trouble = self.run_it(*command, self.sandbox.issuer)
        self.assertEqual(status, 0, trouble)
        self.assertRegex(told, r"^The API knows you as .*Alice Example.*\n+$")
        self.assertEqual(len(self.sandbox.control("sessions")["sessions"]), before + 1)
        status, told, trouble = self.run_it(*command, self.sandbox.issuer, "logout")
        self.assertEqual((status, told), (0, "You are signed out.\n"), trouble)
        self.assertEqual(self.sandbox.control("sessions")["sessions"][-1]["end"], "revoked")
        # A mistake causes one line of output.
        status, told, trouble = self.run_it(*command, "http://127.0.0.1:1")
        self.assertEqual((status, len(trouble.splitlines())), (1, 1), trouble)
        self.assertIn("no connection to http://127.0.0.1:1", trouble)

    def goes_on_with_the_question(self, *command, question):
        """An earlier run ended at the question: the next run asks it, without the browser."""
        status, told, trouble = self.run_it(sys.executable, FOLDER / "notes.py", self.sandbox.issuer)
        self.assertEqual((status, told), (1, "Are you Alice Example? [y/n] "), trouble)
        before = len(self.sandbox.control("sessions")["sessions"])
        status, told, trouble = self.run_it(*command, self.sandbox.issuer)
        self.assertEqual(status, 0, trouble)
        self.assertIn(question, told)
        self.assertRegex(told, "The API knows you as .*Alice Example")
        self.assertEqual(len(self.sandbox.control("sessions")["sessions"]), before)
        self.assertEqual(self.run_it(*command, self.sandbox.issuer, "logout")[0], 0)

    def test_the_program_in_python(self):
        self.signs_in_once(sys.executable, FOLDER / "notes.py", answer="y\n", question="Are you Alice Example?")

    def test_a_run_that_ended_at_the_question_locks_nobody_out(self):
        program = sys.executable, FOLDER / "notes.py", self.sandbox.issuer
        before = len(self.sandbox.control("sessions")["sessions"])
        status, told, trouble = self.run_it(*program)
        self.assertEqual((status, told), (1, "Are you Alice Example? [y/n] "))
        self.assertIn("EOFError", trouble)
        # The next run asks again, without the browser.
        status, told, trouble = self.run_it(*program, answer="Yes\n")
        self.assertEqual(status, 0, trouble)
        self.assertEqual(told, "Are you Alice Example? [y/n] The API knows you as Alice Example.\n")
        self.assertEqual(len(self.sandbox.control("sessions")["sessions"]), before + 1)

    def test_while_the_provider_is_down_the_token_is_given_and_the_api_is_what_fails(self):
        program = sys.executable, FOLDER / "notes.py"
        with Sandbox() as sandbox:
            status, _, trouble = self.run_it(*program, sandbox.issuer, answer="y\n")
            self.assertEqual(status, 0, trouble)
        status, told, trouble = self.run_it(*program, sandbox.issuer)
        self.assertEqual((status, told, len(trouble.splitlines())), (1, "", 1), trouble)
        self.assertIn("notes.py: the API does not answer: ", trouble)

    def test_the_program_in_swift(self):
        self.signs_in_once(ROOT / ".build/debug/tutorial-notes", question="You signed in as Alice Example.")

    def test_the_program_in_swift_without_a_desktop(self):
        for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
            self.environment.pop(name, None)
        self.signs_in_once(ROOT / ".build/debug/tutorial-notes", plays=True, question="You signed in as Alice Example.")

    def swift_package(self):
        """Makes the Swift package of the page in a folder next to a checkout, as a reader does."""
        page = (ROOT / "docs/tutorial/swift.md").read_text()
        manifest = re.search(r"<!-- manifest -->\n```swift\n(.*?)```", page, re.S)[1]
        folder = self.home / "notes"
        (self.home / "enrollkit").symlink_to(ROOT)
        (folder / "Sources/notes").mkdir(parents=True)
        (folder / "Package.swift").write_text(manifest)
        (folder / "Sources/notes/main.swift").write_text("\n".join(text for _, name, text, _ in BLOCK.findall(page)))
        return folder

    def swift(self, folder, *words):
        done = subprocess.run(["swift", *words], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return done.stdout

    def test_the_package_of_the_page_in_swift_finds_its_product(self):
        plan = self.swift(self.swift_package(), "build", "--print-manifest-job-graph")
        self.assertIn("EnrollFoundation", plan)

    @unittest.skipUnless(os.environ.get("TORTURE"), "TORTURE=1 builds the package of the page from nothing")
    def test_the_package_of_the_page_in_swift_is_built_from_nothing(self):
        folder = self.swift_package()
        self.swift(folder, "build")
        self.signs_in_once(folder / ".build/debug/notes", question="You signed in as Alice Example.")

    def test_the_program_in_c(self):
        libraries = subprocess.run(["pkg-config", "--cflags", "--libs", "libcurl"], capture_output=True, text=True, check=True)
        program = self.home / "notes"
        subprocess.run(
            ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", FOLDER / "notes.c", "-o", program,
             f"-L{ROOT}/build/lib", "-lenroll", f"-Wl,-rpath,{ROOT}/build/lib", *libraries.stdout.split()],
            check=True)  # fmt: skip
        self.signs_in_once(program, plays=True)
        self.goes_on_with_the_question(program, question="You signed in with this profile: {")

    @unittest.skipUnless(KOTLIN.exists(), "bindings/kotlin/build has not been: the program in Kotlin was not run")
    def test_the_program_in_kotlin(self):
        out = self.home / "classes"
        subprocess.run(
            [ROOT / "bindings/kotlin/compile", "-d", out, FOLDER / "Notes.kt"], check=True,
            env={**os.environ, "CLASSPATH": str(KOTLIN)})  # fmt: skip
        libraries = ":".join(map(str, (ROOT / ".build/kotlin/libraries").glob("*.jar")))
        program = "java", f"-Duser.home={self.home}", "-cp", f"{out}:{KOTLIN}:{libraries}", "NotesKt"
        self.signs_in_once(*program, question="You signed in as Alice Example.")
        self.goes_on_with_the_question(*program, question="You signed in as Alice Example.")

    def test_each_page_shows_the_whole_of_its_program_in_its_order(self):
        for page in TUTORIAL:
            shown = re.findall(r"<!-- example: (\S+)#(\S+) -->", page.read_text())
            (source,) = {path for path, _ in shown}
            parts = re.findall(r"^(?://|#) example: (\S+)$", pathlib.Path(ROOT, source).read_text(), re.M)
            self.assertEqual([part for _, part in shown], parts, page.name)
