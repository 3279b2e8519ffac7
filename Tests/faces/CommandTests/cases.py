"""The code that the tests of the command share: a home, a sandbox, a script that plays the browser, and runs
with pipes and in terminals."""

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

# Environment variables of the user who runs the tests. They must not change the results of the tests.
OWN = re.compile(r"^(ENROLL|SUDO_|XDG_|DBUS_|SSH_|LC_|LANG|DISPLAY|WAYLAND|BROWSER|COLUMNS|NO_COLOR|TERM$)")

BROWSER = """#!/bin/sh
# Writes down the URL that it should open, and opens nothing.
printf '%s\\n' "$1" >>"$0.opened"
exit {status}
"""

# A preloaded library that moves the clocks ahead by $LATER seconds.
LATER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
  int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, time);
  time->tv_sec += atol(getenv("LATER"));
  return result;
}
"""

# A preloaded library that moves the date ahead by $AHEAD seconds, and no other clock.
AHEAD = LATER.replace("LATER", "AHEAD").replace(
    "time->tv_sec +=", "if (clock == CLOCK_REALTIME) time->tv_sec +=")

# A preloaded library that makes posix_spawn fail.
NO_PROCESSES = r"""
#include <errno.h>
#include <spawn.h>
int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *files, const posix_spawnattr_t *attributes,
                char *const words[], char *const environment[]) {
  return EAGAIN;
}
"""

# A preloaded library that makes fork fail. The program is started twice: posix_spawn starts the intermediate
# process, which then forks the detached process.
NO_FORK = r"""
#include <errno.h>
#include <unistd.h>
pid_t fork(void) {
  errno = EAGAIN;
  return -1;
}
"""

# A shell makes background programs ignore SIGINT and SIGQUIT, and nohup makes them ignore SIGHUP. Every child would
# inherit these settings.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

_sandbox = None


def recording_browser(status=0):
    """A program for BROWSER that records the URLs that it should open."""
    program = workspace("browser") / "browser"
    program.write_text(BROWSER.format(status=status))
    program.chmod(0o755)
    return program


# The pattern of a command that a message advises, and the options that select a profile, store and account.
HINT = re.compile(r"`(enroll [^`]*)`")
PLACE = ("--config", "--profile", "--store", "--account", "--keys")


def hints(words):
    """The commands that this text advises; a narrow terminal may have broken its lines."""
    return HINT.findall(re.sub(r"\s*\n\s*", " ", words))


def shared_sandbox():
    """The sandbox that tests share. It starts when it is first needed. A test that sets faults starts its own
    sandbox."""
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
    """A user with their own home, which has a configuration for the sandbox."""

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
        """A sandbox in which this test may set faults."""
        sandbox = Sandbox(*options)
        self.addCleanup(sandbox.stop)
        return sandbox

    def configure(self, name="default", **changes):
        self.profiles.mkdir(parents=True, exist_ok=True)
        configuration = self.sandbox.configuration(
            **{"redirectUri": "http://127.0.0.1/callback", "postLogoutRedirectUri": None, **changes})
        (self.profiles / f"{name}.json").write_text(json.dumps(configuration))

    def make_browser(self, status=0):
        return recording_browser(status)

    # Runs.

    def run_enroll(self, *arguments, given=b"", status=0, pass_fds=(), environment=None, output=subprocess.PIPE):
        """Runs the command with pipes; returns its standard output and its standard error."""
        done = subprocess.run(
            [ENROLL, *arguments], input=given, stdout=output, stderr=subprocess.PIPE, timeout=TIMEOUT,
            env=environment or self.environment, pass_fds=pass_fds)
        words = done.stderr.decode()
        self.assertEqual(done.returncode, status, f"enroll {' '.join(arguments)}: {words}")
        for hint in hints(words):
            self.assertKeepsPlace(hint, arguments)
        return (done.stdout or b"").decode(), words

    def assertKeepsPlace(self, hint, arguments):
        """Checks that the advised command has the profile, account and store that `arguments` name."""
        if hint.endswith("--help"):
            return
        said = shlex.split(hint)
        for option, value in zip(arguments, arguments[1:]):
            if option in PLACE:
                self.assertIn(option, said, hint)
                self.assertEqual(said[said.index(option) + 1], value, hint)

    def json(self, *arguments, status=0):
        """Runs the command with --json; returns the one document that it prints."""
        output, words = self.run_enroll(*arguments, "--json", status=status)
        self.assertEqual(output.count("\n"), 1, output)
        return json.loads(output)

    def start(self, *arguments, environment=None):
        """Starts the command with pipes, and does not wait for it."""
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
        """Runs the command in a terminal. A variable that is None is removed from the environment."""
        environment = {**self.environment, **variables}
        terminal = Terminal(
            [ENROLL, *arguments], {name: value for name, value in environment.items() if value is not None}, columns)
        self.addCleanup(terminal.close)
        return terminal

    def preload(self, text):
        """Makes these C functions replace the system's functions in every later command."""
        source = workspace("preload") / "library.c"
        source.write_text(text)
        library = source.with_suffix(".so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        self.environment["LD_PRELOAD"] = str(library)

    def set_clock(self, later):
        """Moves the clocks of later commands ahead by this many seconds."""
        if "LATER" not in self.environment:
            self.preload(LATER)
        self.environment["LATER"] = str(later)

    def detached(self):
        """The processes in which this test's commands renew a token or exchange a code, as folders of /proc."""
        found = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit() and (folder / "cmdline").read_bytes().startswith(b"enroll\0detached-step\0"):
                    if f"HOME={self.home}\0".encode() in (folder / "environ").read_bytes():
                        found.append(folder)
        return found

    def _end_detached(self):
        """Ends the detached processes of this test that still run."""
        for folder in self.detached():
            with contextlib.suppress(OSError):
                os.kill(int(folder.name), signal.SIGKILL)

    # Steps.

    def opened(self, count=1):
        """Waits until the browser got `count` URLs; returns the last URL."""
        record = Path(f"{self.browser}.opened")
        wait_until(lambda: record.exists() and record.read_text().count("\n") >= count, f"opened {count} times", TIMEOUT)
        return record.read_text().splitlines()[count - 1]

    @property
    def has_opened(self):
        return Path(f"{self.browser}.opened").exists()

    def come_back(self, url, **wish):
        """Plays the browser: Alice signs in and consents, and the browser follows the redirect to the
        listener."""
        redirect = self.sandbox.control("settle", url=url, **wish)["redirect"]
        with urllib.request.urlopen(redirect, timeout=TIMEOUT) as page:
            return page.read().decode()

    def sign_in(self, *arguments, user="alice"):
        """Signs in completely, with pipes."""
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
        """For each session of this test, the reason why it ended at the provider; None if it still exists."""
        return [session.get("end") for session in self.sandbox.control("sessions")["sessions"]]
