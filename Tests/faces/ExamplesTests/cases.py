"""The parts that the tests of the examples share: a sandbox, a home for each test, a browser that plays
alice, and a screen."""

import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

from processes import TOP, Child, free_port, wait_until, workspace
from sandbox import Sandbox

HERE = Path(__file__).resolve().parent
EXAMPLES = TOP / "Examples"
ALICE = "alice@example.com"


class ExampleCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox()
        cls.addClassCleanup(cls.sandbox.stop)

    def setUp(self):
        self.home = workspace("example")
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        configuration = {**json.loads((EXAMPLES / "sandbox.json").read_text()), "issuer": self.sandbox.issuer}
        (self.home / "configuration.json").write_text(json.dumps(configuration))
        kept = {name: os.environ[name] for name in ("PATH", "JAVA_HOME") if name in os.environ}
        self.environment = {
            **kept,
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.home / "data"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_CURRENT_DESKTOP": "",
            "ENROLL_CONFIG": str(self.home / "configuration.json"),
            "BROWSER": str(HERE / "browser"),
            "LANG": "C.UTF-8",
        }
        self._make_default_browser()

    def _make_default_browser(self):
        """Registers the browser for xdg-open, which asks the desktop before it reads BROWSER."""
        (self.home / "data/applications").mkdir(parents=True)
        (self.home / "data/applications/alice.desktop").write_text(
            f"[Desktop Entry]\nType=Application\nName=Alice\nExec={HERE / 'browser'} %u\nMimeType=x-scheme-handler/http;\n")
        (self.home / "config").mkdir()
        (self.home / "config/mimeapps.list").write_text("[Default Applications]\nx-scheme-handler/http=alice.desktop\n")

    def run_words(self, *command, expected=0, **environment):
        """Runs a program; returns its standard output or, for another exit status, its standard error."""
        done = subprocess.run(
            [*map(str, command)], env={**self.environment, **environment}, cwd=self.home, capture_output=True, text=True,
            timeout=120)  # fmt: skip
        self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        return (done.stderr if expected else done.stdout).strip()


class Screen:
    """Xvfb, with a mouse."""

    def __init__(self, folder):
        self.name = f":{free_port()}"
        # Without -noreset the server restarts when its last app ends, and refuses connections for a moment.
        self._child = Child(
            ["Xvfb", self.name, "-screen", "0", "1024x768x24", "-nolisten", "tcp", "-noreset"], folder / "screen.log")
        wait_until(lambda: Path(f"/tmp/.X11-unix/X{self.name[1:]}").exists(), "the screen is there")

    def _xdotool(self, *words):
        return subprocess.run(
            ["xdotool", *words], env={**os.environ, "DISPLAY": self.name}, capture_output=True, text=True, timeout=30)

    def wait_for(self, title, child):
        """Waits for a window with that title; returns its number."""

        def found():
            if child.process.poll() is not None:
                raise AssertionError(f"the app ended: {child.tail()}")
            return self._xdotool("search", "--onlyvisible", "--name", f"^{title}$").stdout.split()

        return wait_until(found, f"there is a window “{title}”; there are {self.titles()}")[0]

    def titles(self):
        windows = self._xdotool("search", "--onlyvisible", "--name", ".").stdout.split()
        return [self._xdotool("getwindowname", window).stdout.strip() for window in windows]

    def click(self, window):
        """Clicks in the middle of the window, on its button."""
        words = dict(line.split("=") for line in self._xdotool("getwindowgeometry", "--shell", window).stdout.split())
        middle = str(int(words["WIDTH"]) // 2), str(int(words["HEIGHT"]) // 2)
        self._xdotool("mousemove", "--sync", "--window", window, *middle, "click", "1")

    def stop(self):
        self._child.stop()
