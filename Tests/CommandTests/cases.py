"""What the tests of the command share: a home, a sandbox, a browser that is a file, runs in pipes and in terminals."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import unittest
import urllib.request
from pathlib import Path

from processes import TOP, wait_until, workspace
from sandbox import Sandbox
from terminal import TIMEOUT, Terminal

ENROLL = os.environ.get("ENROLL") or str(TOP / "build/bin/enroll")

# What the environment of who runs the tests must not decide.
OWN = re.compile(r"^(ENROLL|XDG_|DBUS_|SSH_|LC_|LANG|DISPLAY|WAYLAND|BROWSER|COLUMNS|NO_COLOR|TERM$)")

BROWSER = """#!/bin/sh
# Writes down what it is to open, and opens nothing.
printf '%s\\n' "$1" >>"$0.opened"
exit {status}
"""

# A shell starts what runs in its background with SIGINT and SIGQUIT ignored, nohup with SIGHUP: every child would inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

_sandbox = None


def recording_browser(status=0):
    """A program for BROWSER."""
    program = workspace("browser") / "browser"
    program.write_text(BROWSER.format(status=status))
    program.chmod(0o755)
    return program


# A command that somebody is advised to run, and the options that name their place.
HINT = re.compile(r"`(enroll [^`]*)`")
PLACE = ("--config", "--profile", "--store", "--account", "--keys")


def hints(words):
    """The commands that these words advise; a narrow terminal may have broken their lines."""
    return HINT.findall(re.sub(r"\s*\n\s*", " ", words))


def shared_sandbox():
    """The one sandbox, started when first asked for; a test that plans faults starts its own."""
    global _sandbox
    if _sandbox is None:
        _sandbox = Sandbox("--device-interval", "1")
    return _sandbox


def tear_down():
    global _sandbox
    if _sandbox is not None:
        _sandbox.stop()
        _sandbox = None


class CommandCase(unittest.TestCase):
    """A user with a home of their own, and a configuration for the sandbox in it."""

    def setUp(self):
        self.sandbox = self.provide()
        self.home = workspace("home")
        self.profiles = self.home / ".config/enrollkit"
        self.store = self.home / ".local/share/enrollkit"
        self.browser = self.make_browser()
        self.environment = {
            **{name: value for name, value in os.environ.items() if not OWN.match(name)},
            "HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "xterm", "BROWSER": str(self.browser),
        }
        self.configure()
        self.addCleanup(self._end_detached)

    def provide(self):
        return shared_sandbox()

    def own_sandbox(self, *options):
        """One that this test may set faults in."""
        sandbox = Sandbox(*options)
        self.addCleanup(sandbox.stop)
        return sandbox

    def configure(self, name="default", **changes):
        self.profiles.mkdir(parents=True, exist_ok=True)
        configuration = self.sandbox.configuration(
            redirectUri="http://127.0.0.1/callback", postLogoutRedirectUri=None, **changes)
        (self.profiles / f"{name}.json").write_text(json.dumps(configuration))

    def make_browser(self, status=0):
        return recording_browser(status)

    # Runs.

    def run_enroll(self, *arguments, given=b"", status=0, pass_fds=(), environment=None, output=subprocess.PIPE):
        """In pipes; its output and its words."""
        done = subprocess.run(
            [ENROLL, *arguments], input=given, stdout=output, stderr=subprocess.PIPE, timeout=TIMEOUT,
            env=environment or self.environment, pass_fds=pass_fds)
        words = done.stderr.decode()
        self.assertEqual(done.returncode, status, f"enroll {' '.join(arguments)}: {words}")
        for hint in hints(words):
            self.assertKeepsPlace(hint, arguments)
        return (done.stdout or b"").decode(), words

    def assertKeepsPlace(self, hint, arguments):
        """What is advised is about the same profile, account and store."""
        if hint.endswith("--help"):
            return
        said = shlex.split(hint)
        for option, value in zip(arguments, arguments[1:]):
            if option in PLACE:
                self.assertIn(option, said, hint)
                self.assertEqual(said[said.index(option) + 1], value, hint)

    def json(self, *arguments, status=0):
        """With --json: the one document that it prints."""
        output, words = self.run_enroll(*arguments, "--json", status=status)
        self.assertEqual(output.count("\n"), 1, output)
        return json.loads(output)

    def start(self, *arguments, environment=None):
        """In pipes, and not waited for."""
        child = subprocess.Popen(
            [ENROLL, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment or self.environment)
        self.addCleanup(self._end, child)
        return child

    @staticmethod
    def _end(child):
        if child.poll() is None:
            child.kill()
        child.communicate()

    def terminal(self, *arguments, columns=80, **variables):
        """In a terminal. A variable that is None is not there."""
        environment = {**self.environment, **variables}
        terminal = Terminal(
            [ENROLL, *arguments], {name: value for name, value in environment.items() if value is not None}, columns)
        self.addCleanup(terminal.close)
        return terminal

    def preload(self, text):
        """C functions that take the place of the system's, in every command from now on."""
        source = workspace("preload") / "library.c"
        source.write_text(text)
        library = source.with_suffix(".so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        self.environment["LD_PRELOAD"] = str(library)

    def detached(self):
        """The processes, as folders of /proc, in which this test's commands renew or exchange a code."""
        found = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit() and (folder / "cmdline").read_bytes().startswith(b"enroll\0detached-step\0"):
                    if f"HOME={self.home}\0".encode() in (folder / "environ").read_bytes():
                        found.append(folder)
        return found

    def _end_detached(self):
        """Those that a test kept from ending."""
        for folder in self.detached():
            with contextlib.suppress(OSError):
                os.kill(int(folder.name), signal.SIGKILL)

    # Steps.

    def opened(self, count=1):
        """The address that the browser was told to open last, once it was told so often."""
        record = Path(f"{self.browser}.opened")
        wait_until(lambda: record.exists() and record.read_text().count("\n") >= count, f"opened {count} times", TIMEOUT)
        return record.read_text().splitlines()[count - 1]

    @property
    def has_opened(self):
        return Path(f"{self.browser}.opened").exists()

    def come_back(self, url, **wish):
        """Alice says who she is and yes; the browser follows the redirect to the listener."""
        redirect = self.sandbox.control("settle", url=url, **wish)["redirect"]
        with urllib.request.urlopen(redirect, timeout=TIMEOUT) as page:
            return page.read().decode()

    def sign_in(self, *arguments, user="alice"):
        """The whole of it, in pipes."""
        before = Path(f"{self.browser}.opened")
        count = before.read_text().count("\n") if before.exists() else 0
        child = self.start("login", "--yes", *arguments)
        self.come_back(self.opened(count + 1), user=user)
        output, words = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 0, words)
        return output, words

    def token(self, *arguments):
        output, words = self.run_enroll("token", *arguments)
        self.assertRegex(output, r"\A[\w.~+/-]+=*\n\Z")
        return output.strip()

    def counts(self):
        return self.sandbox.control("counts")

    def sessions(self):
        """How the provider's sessions of this test ended: None for those that live."""
        return [session.get("end") for session in self.sandbox.control("sessions")["sessions"]]
