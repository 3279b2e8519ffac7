"""The desktop apps under Xvfb: the test clicks the button; the window's title then names the user who is signed in."""

import shutil
import subprocess

from cases import ALICE, EXAMPLES, ExampleCase, Screen
from processes import TOP, Child, workspace


class WindowTests(ExampleCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.screen = Screen(workspace("screen"))
        cls.addClassCleanup(cls.screen.stop)

    def built(self, example, out):
        subprocess.run([EXAMPLES / example / "build", TOP / "build" / out], check=True)

    def start(self, *command):
        environment = {**self.environment, "DISPLAY": self.screen.name, "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo"}
        child = Child([*map(str, command)], self.home / "app.log", environment=environment)
        self.addCleanup(child.stop)
        return child

    def walk(self, *command):
        app = self.start(*command)
        self.screen.click(self.screen.wait_for("Nobody is signed in", app))
        self.screen.wait_for(f"Signed in as {ALICE}", app)
        app.stop()
        # After a restart, no sign-in is needed.
        app = self.start(*command)
        self.screen.click(self.screen.wait_for(f"Signed in as {ALICE}", app))
        self.screen.wait_for("Nobody is signed in", app)
        app.stop()

    def says_what_is_wrong(self, *command):
        words = self.run_words(*command, expected=1, ENROLL_CONFIG=str(self.home / "nothing.json"), DISPLAY=self.screen.name)
        self.assertIn("nothing.json", words)

    def test_gtk(self):
        self.built("gtk-app", "gtk-app")
        self.walk(TOP / "build/gtk-app")
        self.says_what_is_wrong(TOP / "build/gtk-app")

    def test_swing(self):
        self.assertTrue(shutil.which("java"))
        self.built("swing-app", "swing-app")
        self.walk(TOP / "build/swing-app/swing-app")
        self.says_what_is_wrong(TOP / "build/swing-app/swing-app")
