"""`--login`: if no user is signed in, the command starts a sign-in; commands that run at once share one sign-in."""

import json
import os
import shlex
import signal
import subprocess
from pathlib import Path

from cases import ENROLL, CommandCase
from processes import wait_until, workspace
from terminal import TIMEOUT, Terminal

#: The number of commands that start at once, as in a shell that works with a cluster.
COMMANDS = 8

# In every process except those of the sign-in, clocks run ten times as fast. The process of the sign-in starts half a
# second late, which is five seconds for the process that waits for it.
SLOW_HELPER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int (*real)(clockid_t, struct timespec *);
static int is_helper;

static long long now(clockid_t clock) {
  struct timespec time;
  real(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

__attribute__((constructor)) static void begin(void) {
  char line[4096];
  int file = open("/proc/self/cmdline", O_RDONLY);
  ssize_t size = read(file, line, sizeof line);
  close(file);
  real = dlsym(RTLD_NEXT, "clock_gettime");
  is_helper = size > 0 && memmem(line, size, "token", 5) == NULL;
  if (size > 0 && memmem(line, size, "detached-sign-in", 16) && !memmem(line, size, "leave", 5)) usleep(500000);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  static long long start[16];
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, time);
  if (is_helper || clock == CLOCK_REALTIME || clock < 0 || clock >= 16 || result != 0) return result;
  if (start[clock] == 0) start[clock] = now(clock);
  long long value = start[clock] + 10 * (now(clock) - start[clock]);
  time->tv_sec = value / 1000000000, time->tv_nsec = value % 1000000000;
  return 0;
}
"""


class LoginOnDemand(CommandCase):
    def provide(self):
        return self.own_sandbox()

    def opened_count(self):
        record = Path(f"{self.browser}.opened")
        return record.read_text().count("\n") if record.exists() else 0

    def test_commands_that_ask_at_once_open_one_browser(self):
        children = [self.start("token", "--login") for _ in range(COMMANDS - 2)]
        children += [self.start("token", "--login", "--format", "kubernetes", "--id-token"),
                     self.start("exec", "--login", "--", "sh", "-c", "echo $ACCESS_TOKEN")]
        url = self.opened()
        # All commands wait before the user signs in.
        for child in children:
            self.assertIn("sign in with the browser", child.stderr.readline())
        self.come_back(url)
        for child in children:
            output, words = child.communicate(timeout=TIMEOUT)
            self.assertEqual(child.returncode, 0, words)
        self.assertEqual(self.opened_count(), 1)
        self.assertEqual(output, f"{self.token()}\n")

    def test_a_caller_that_is_killed_ends_no_sign_in(self):
        child = self.start("token", "--login")
        url = self.opened()
        child.kill()
        self.come_back(url)
        wait_until(self.is_signed_in, "the sign-in ends", TIMEOUT)
        self.assertEqual(self.opened_count(), 1)

    def is_signed_in(self):
        return subprocess.run([ENROLL, "token"], env=self.environment, capture_output=True, timeout=TIMEOUT).returncode == 0

    def test_a_tab_that_may_have_been_closed_is_opened_again(self):
        children = [self.start("token", "--login")]
        url = self.opened()
        for later, count in ((0, 1), (130, 2)):
            self.set_clock(later)
            children.append(self.start("token", "--login"))
            self.assertIn("the browser that another command opened", children[-1].stderr.readline())
            self.assertEqual(self.opened(count), url)
        self.come_back(url)
        for child in children:
            _, words = child.communicate(timeout=TIMEOUT)
            self.assertEqual(child.returncode, 0, words)
        self.assertEqual(self.opened_count(), 2)

    def test_a_sign_in_that_is_declined_is_not_begun_again_at_once(self):
        child = self.start("token", "--login")
        self.come_back(self.opened(), error="access_denied")
        _, words = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 3, words)
        self.assertIn("the sign-in failed", words)
        self.assertIn("the last sign-in failed", self.run_enroll("token", "--login", status=3)[1])
        self.assertEqual(self.opened_count(), 1)

    def test_after_a_decline_a_sign_in_that_the_user_begins_is_waited_for(self):
        child = self.start("token", "--login")
        self.come_back(self.opened(), error="access_denied")
        child.communicate(timeout=TIMEOUT)
        for count, error in enumerate(({"error": "access_denied"}, {}), 2):
            with self.subTest(error):
                login = self.start("login", "--yes")
                url = self.opened(count)
                children = [self.start("token", "--login"), self.start("exec", "--login", "--", "true")]
                for child in children:
                    self.assertIn("waiting for it", child.stderr.readline())
                self.come_back(url, **error)
                login.communicate(timeout=TIMEOUT)
                for child in children:
                    _, words = child.communicate(timeout=TIMEOUT)
                    self.assertEqual(child.returncode, 3 if error else 0, words)
        # The commands that waited opened no tab of their own.
        self.assertEqual(self.opened_count(), 3)

    def test_the_users_own_sign_in_is_waited_for(self):
        # The user answers, rejects, or stops at the question; or stops before the sign-in.
        for answer, status in ((None, 3), ("n", 3), ("stop", 3), ("y", 0)):
            with self.subTest(answer):
                count = self.opened_count() + 1
                login = self.terminal("login")
                if answer == "y":
                    # The earlier sign-in still waits for the answer.
                    login.shows("An earlier sign-in waits")
                    count -= 1
                else:
                    url = self.opened(count)
                children = [self.start("token", "--login")]
                self.assertIn("waiting for it", children[0].stderr.readline())
                if answer:
                    if answer != "y":
                        self.come_back(url)
                    login.shows(r"\[Y/n\]")
                    # This command begins while the question is shown.
                    children.append(self.start("exec", "--login", "--", "true"))
                    self.assertIn("waiting for it", children[1].stderr.readline())
                if answer in ("y", "n"):
                    login.line(answer)
                else:
                    login.interrupt()
                login.ends()
                for child in children:
                    _, words = child.communicate(timeout=TIMEOUT)
                    self.assertEqual(child.returncode, status, words)
                    self.assertEqual("waits for your confirmation" in words, answer == "stop")
                self.assertEqual(self.opened_count(), count)

    def test_a_signal_ends_the_sign_in_at_the_terminal(self):
        for number in (signal.SIGTERM, signal.SIGHUP, None):
            with self.subTest(number):
                terminal = self.terminal("token", "--login", BROWSER=None)
                terminal.shows(r"Open this address in a browser:\s+http\S+")
                (child,) = Path(f"/proc/{terminal.pid}/task/{terminal.pid}/children").read_text().split()
                if number:
                    os.kill(terminal.pid, number)
                else:
                    terminal.interrupt()
                self.assertEqual(terminal.ends(), 130)
                self.assertFalse(Path(f"/proc/{child}").exists())

    def test_at_a_terminal_without_a_browser_another_sign_in_is_waited_for(self):
        first = self.terminal("token", "--login", BROWSER=None, columns=400)
        url = first.shows(r"Open this address in a browser:\s+(http\S+)")[1]
        second = self.terminal("token", "--login", BROWSER=None, columns=400)
        second.shows("another command is signing in to this account; waiting for it to end")
        self.come_back(url)
        first.shows(r"\[Y/n\]")
        first.line("y")
        self.assertEqual((first.ends(), second.ends()), (0, 0))
        self.assertNotIn("the browser that opens", second.text)

    def test_the_cause_is_named_if_no_sign_in_can_be_recorded(self):
        state = self.home / ".local/state/enrollkit"
        self.sign_in()
        self.run_enroll("logout")
        child = self.start("token", "--login")
        self.come_back(self.opened(2))
        child.communicate(timeout=TIMEOUT)
        self.run_enroll("logout")
        tabs = self.opened_count()
        for pattern in ("mcp-*.lock", "mcp-*.json"):
            (file,) = state.glob(pattern)
            for make in (file.mkdir, lambda: os.mkfifo(file)):
                with self.subTest(pattern, make=make):
                    file.unlink()
                    make()
                    _, said = self.run_enroll("token", "--login", status=3)
                    self.assertIn(f"{file} cannot be written", said)
                    self.assertIn("`enroll login`", said)
                    self.assertNotIn("the browser that opens", said)
                    file.rmdir() if file.is_dir() else file.unlink()
                    file.touch()
        for file in state.iterdir():
            file.unlink()
        state.rmdir()
        state.touch()
        _, said = self.run_enroll("exec", "--login", "--", "true", status=3)
        self.assertIn("cannot be written: Not a directory", said)
        self.assertEqual(self.opened_count(), tabs)
        # The command that the message advises needs no file in that folder.
        self.sign_in()
        self.assertTrue(self.token("--login"))

    def test_the_cause_is_named_if_no_browser_opens(self):
        absent = {**self.environment, "BROWSER": "/nonexistent/browser"}
        for words in (["token", "--login"], ["exec", "--login", "--", "true"], ["token", "--login", "--id-token"]):
            with self.subTest(words):
                _, said = self.run_enroll(*words, status=3, environment=absent)
                self.assertIn("BROWSER names no program that can be started", said)
                self.assertIn("`enroll login`", said)
        output, _ = self.run_enroll("token", "--login", "--json", status=3, environment=absent)
        self.assertIn("BROWSER names no program", json.loads(output)["error"]["message"])
        absent.pop("BROWSER")
        self.assertIn("DISPLAY", self.run_enroll("token", "--login", status=3, environment=absent)[1])

    def test_without_the_option_or_a_browser_nothing_opens(self):
        self.run_enroll("token", status=3)
        self.assertFalse(self.has_opened)
        environment = {name: value for name, value in self.environment.items() if name != "BROWSER"}
        _, words = self.run_enroll("token", "--login", status=3, environment=environment)
        self.assertIn("enroll login", words)
        # Without a profile, the command does not know where to sign in.
        self.run_enroll("token", "--login", "--profile", "other", status=2)
        self.assertFalse(self.has_opened)

    def test_a_question_that_is_open_is_answered_by_the_user_alone(self):
        terminal = self.terminal("login")
        self.come_back(self.opened())
        terminal.shows(r"\[Y/n\]")
        terminal.interrupt()
        self.assertEqual(terminal.ends(), 130)
        for words in (["token", "--login"], ["token", "--login", "--id-token"], ["exec", "--login", "--", "true"]):
            with self.subTest(words):
                _, said = self.run_enroll(*words, status=3)
                self.assertRegex(said, r"(?s)a sign-in waits for your confirmation.*`enroll login`")
        # A sign-in that a program started before the question was open does not answer the question, either.
        _, said = self.run_enroll("login", "--yes", "--open-again", str(self.home / "again"), status=3)
        self.assertRegex(said, "of Alice Example.* waits for your confirmation")
        self.assertIn("waiting", self.json("status", status=3))
        self.assertEqual(self.opened_count(), 1)

    def test_relative_paths_are_those_of_the_caller(self):
        (self.profiles / "default.json").rename(self.home / "mine.json")
        places = ["--config", "mine.json", "--store", "tokens"]
        child = subprocess.Popen(
            [ENROLL, "token", "--login", *places], cwd=self.home, env=self.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self._end, child)
        self.come_back(self.opened())
        output, words = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 0, words)
        self.assertTrue((self.home / "tokens").is_dir())
        self.assertTrue(output)

    def test_a_process_that_begins_late_is_waited_for(self):
        self.preload(SLOW_HELPER)
        child = self.start("token", "--login")
        self.come_back(self.opened())
        _, words = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 0, words)

    def test_the_sign_in_at_a_terminal_is_this_programs_and_has_the_passphrase(self):
        folder = workspace("path")
        (folder / "enroll").write_text(f"#!/bin/sh\ntouch {folder}/other\n")
        (folder / "enroll").chmod(0o755)
        (folder / "passphrase").write_text("correct horse")
        environment = {**self.environment, "PATH": f"{folder}:{os.environ['PATH']}"}
        del environment["BROWSER"]
        command = f"{shlex.quote(ENROLL)} token --login --keys passphrase --passphrase-fd 3 3<{folder}/passphrase"
        terminal = Terminal(["/bin/sh", "-c", command], environment, 400)
        self.addCleanup(terminal.close)
        terminal.shows(r"Open this address in a browser:\s+http\S+")
        self.assertNotIn("Passphrase", terminal.text)
        self.assertFalse((folder / "other").exists())
        terminal.interrupt()
        terminal.ends()

    def test_a_session_that_has_ended_is_begun_again(self):
        self.sign_in()
        self.sandbox.control("endSessions")
        child = self.start("token", "--login", "--renew")
        self.come_back(self.opened(2))
        output, words = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 0, words)
        self.assertEqual(output, f"{self.token()}\n")
