"""Commands that change the same profile or the same configuration at the same time lose no change."""

import contextlib
import json
import os
import re
import signal
import urllib.request
from pathlib import Path

from processes import wait_until
from terminal import TIMEOUT
from test_setup import HOST, SetupCase

# A preloaded library that ends or stops the process in its first rename of a file of a profile.
DIES = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rename(const char *from, const char *to) {
  int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
  if (getenv("DIES") && strstr(to, "/enrollkit/")) kill(getpid(), atoi(getenv("DIES")));
  return real(from, to);
}
"""


class SetupAtOnce(SetupCase):
    def finish(self, child):
        _, words = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 0, words)
        return words

    def test_setups_at_once_keep_each_change(self):
        for tool in ("docker", "terraform", "git"):
            hosts = [f"r{number}-{tool}.example" for number in range(8)]
            for words in [self.start("setup", tool, host, "--yes") for host in hosts]:
                self.finish(words)
            if tool == "git":
                text = self.run_program("git", "config", "--global", "--list")[0]
            else:
                text = self.profile.read_text()
            for host in hosts:
                self.assertIn(host, text)
        for child in [self.start("setup", "docker", host, "--yes", "--remove") for host in hosts]:
            self.finish(child)

    def test_a_sign_in_keeps_the_hosts_that_a_setup_adds_meanwhile(self):
        child = self.start("login", "--yes", "--again", "--set", "postLogoutRedirectUri=http://127.0.0.1/out")
        address = self.opened(2)
        self.set_up("docker", HOST, "--yes")
        self.come_back(address)
        self.finish(child)
        profile = json.loads(self.profile.read_text())
        self.assertEqual(profile["postLogoutRedirectUri"], "http://127.0.0.1/out")
        self.assertEqual(profile["credentialHosts"], [{"host": HOST, "for": ["docker"]}])

    def test_sign_ins_at_once_with_one_new_profile_for_two_providers_keep_both(self):
        other = self.own_sandbox()
        children = []
        for number, sandbox in enumerate((self.sandbox, other)):
            words = ["login", "--profile", "new", "--account", f"a{number}", "--issuer", sandbox.issuer,
                     "--client-id", "sample-app", "--allow-loopback-http", "--yes"]
            children.append((words, sandbox, self.start(*words), self.opened(2 + number)))
        for words, sandbox, child, address in children:
            redirect = sandbox.control("settle", url=address)["redirect"]
            with urllib.request.urlopen(redirect, timeout=TIMEOUT):
                pass
            _, said = child.communicate(timeout=TIMEOUT)
            self.assertEqual(child.returncode, 0 if sandbox is self.sandbox else 2, said)
            self.assertEqual(json.loads((self.profiles / "new.json").read_text())["issuer"], self.sandbox.issuer)
        said = re.sub(r"\s+", " ", said)
        self.assertIn(f"is for {self.sandbox.issuer} and client sample-app since another command saved it", said)
        self.assertIn(f"this sign-in is for {other.issuer} and client sample-app", said)
        # The second sign-in is not lost: it waits for its profile.
        words[2] = "second"
        _, said = self.run_enroll(*words)
        self.assertIn("An earlier sign-in waits", said)
        for profile, account in (("new", "a0"), ("second", "a1")):
            self.assertTrue(self.token("--profile", profile, "--account", account))

    def test_a_profile_that_is_a_link_stays_a_link(self):
        target = self.home / "mine.json"
        self.profile.rename(target)
        self.profile.symlink_to(target)
        self.finish(self.start("login", "--set", "postLogoutRedirectUri=http://127.0.0.1/out"))
        self.assertTrue(self.profile.is_symlink())
        self.assertEqual(json.loads(target.read_text())["postLogoutRedirectUri"], "http://127.0.0.1/out")

    def test_it_waits_while_another_changes_the_configuration(self):
        # The first command keeps the lock until git ends.
        program = self.script(
            "git", 'PATH=${PATH#*:}\ncase "$*" in *--add*) touch $HOME/begun; while [ ! -e $HOME/go ]; do sleep 0.05; done ;; esac\nexec git "$@"')
        first = self.start("setup", "git", HOST, "--yes")
        while not (self.home / "begun").exists():
            self.assertIsNone(first.poll())
        second = self.start("setup", "docker", HOST, "--yes")
        third = self.start("login", "--set", "postLogoutRedirectUri=http://127.0.0.1/out")
        (self.home / "go").touch()
        for child in (first, second, third):
            self.finish(child)
        self.assertEqual(json.loads(self.profile.read_text())["postLogoutRedirectUri"], "http://127.0.0.1/out")
        self.assertEqual(self.hosts(), [{"host": HOST, "for": ["docker"]}])
        program.unlink()

    def test_a_signal_ends_a_tool_that_hangs(self):
        self.script("git", 'PATH=${PATH#*:}\ncase "$*" in *--add*) echo $$ >$HOME/begun; exec sleep 600 ;; esac\nexec git "$@"')
        child = self.start("setup", "git", HOST, "--yes")
        begun = self.home / "begun"
        wait_until(lambda: begun.exists() and begun.read_text().endswith("\n"), "git hangs", TIMEOUT)
        tool = int(begun.read_text())
        self.addCleanup(self.end, tool)
        child.terminate()
        _, words = child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 130, words)
        self.assertIn("stopped while git was running", words)
        self.assertFalse(Path(f"/proc/{tool}").exists())

    @staticmethod
    def end(process):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)

    def test_a_killed_command_leaves_no_further_file(self):
        self.preload(DIES)
        profile, names = self.profile.read_text(), set(self.profiles.iterdir())
        for end in (signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP):
            self.environment["DIES"] = str(int(end))
            child = self.start("setup", "docker", HOST, "--yes")
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT)
            self.assertEqual(self.profile.read_text(), profile)
            self.assertEqual(len(set(self.profiles.iterdir()) - names), 1)
        (draft,) = set(self.profiles.iterdir()) - names
        text = draft.read_text()
        self.assertIn(HOST, text)
        # The file of a process that lives is not touched. The other command has other locks.
        del self.environment["DIES"]
        environment = {**self.environment, "XDG_STATE_HOME": str(self.home / "state")}
        self.run_enroll("setup", "docker", "other.example", "--yes", environment=environment)
        self.assertEqual(self.hosts()[0]["host"], "other.example")
        self.assertEqual(draft.read_text(), text)
        child.kill()
        child.communicate()
        self.set_up("docker", HOST, "--yes")
        self.assertEqual(len(self.hosts()), 2)
        self.assertEqual(set(self.profiles.iterdir()), names)
