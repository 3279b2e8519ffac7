"""Commands that change the same profile or the same configuration at the same time lose no change."""

import contextlib
import json
import os
import signal
from pathlib import Path

from processes import wait_until
from terminal import TIMEOUT
from test_setup import HOST, SetupCase


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
