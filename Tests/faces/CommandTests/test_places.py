"""Paths of configuration and store: missing, unreadable, through a pipe, and with names that are not UTF-8
(enroll(1), --config, --store)."""

import os
import resource
import signal
import subprocess
import threading
from pathlib import Path

from cases import ENROLL, CommandCase
from processes import wait_until, workspace
from terminal import TIMEOUT


class Places(CommandCase):
    def loop(self):
        """A path that nobody can open, not even root."""
        path = self.home / "loop"
        path.symlink_to("loop")
        return path

    def test_a_store_that_cannot_be_looked_at_is_not_taken_for_none(self):
        store = str(self.loop() / "store")
        for words in (["token"], ["status"], ["logout"], ["logout", "--all"], ["login", "--yes"], ["accounts"]):
            with self.subTest(words):
                _, said = self.run_enroll(*words, "--store", store, status=8)
                self.assertNotIn("obody", said)
        self.assertEqual(self.run_enroll("logout", "--store", str(self.home / "none/store"))[1], "No user was signed in.\n")

    def test_a_configuration_that_cannot_be_opened_is_not_taken_for_none(self):
        for words in (["token"], ["status"], ["login", "--yes"], ["logout"]):
            _, said = self.run_enroll(*words, "--config", str(self.loop_once() / "c.json"), status=2)
            self.assertRegex(said, "cannot be (opened|accessed): Too many levels of symbolic links")
        _, said = self.run_enroll(
            "login", "--issuer", self.sandbox.issuer, "--client-id", "app", "--allow-loopback-http",
            "--config", str(self.loop_once() / "c.json"), status=2)
        self.assertIn("cannot be accessed: Too many levels of symbolic links", said)
        _, said = self.run_enroll("status", "--config", str(self.home / "none.json"), status=2)
        self.assertIn("there is no configuration at", said)

    def loop_once(self):
        path = self.home / "loop"
        return path if path.is_symlink() else self.loop()

    def test_a_store_that_takes_nothing_is_no_provider_out_of_reach(self):
        self.sign_in()

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

        done = subprocess.run(
            [ENROLL, "token", "--renew"], env=self.environment, capture_output=True, text=True, timeout=TIMEOUT,
            preexec_fn=limit)
        self.assertEqual(done.returncode, 8, done.stderr)
        self.token()

    def test_files_and_folders_are_their_owners_whatever_the_umask(self):
        if os.geteuid() == 0:
            # Without these capabilities, file modes restrict root, too.
            capabilities = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all"]
        else:
            capabilities = []
        for umask in (0o777, 0o277, 0o177):
            with self.subTest(f"{umask:o}"):
                home = workspace(f"umask-{umask:o}")
                variables = {name: str(home / name) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
                child = subprocess.Popen(
                    [*capabilities, ENROLL, "login", "--yes", "--issuer", self.sandbox.issuer, "--client-id", "sample-app",
                     "--allow-loopback-http"], env={**self.environment, **variables}, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, umask=umask)
                self.addCleanup(self._end, child)
                seen = Path(f"{self.browser}.opened")
                seen.unlink(missing_ok=True)
                self.come_back(self.opened())
                _, words = child.communicate(timeout=TIMEOUT)
                self.assertEqual(child.returncode, 0, words)
                for path in home.rglob("*"):
                    expected = 0o700 if path.is_dir() else 0o600
                    self.assertEqual(path.stat().st_mode & 0o777, expected, path)
                self.run_enroll("token", environment={**self.environment, **variables})

    # Pipes.

    def test_a_configuration_through_a_pipe_is_waited_for_and_read_once(self):
        self.sign_in()
        text = (self.profiles / "default.json").read_bytes()
        for words in (["status"], ["token"], ["logout"]):
            fifo = self.home / f"{words[0]}.fifo"
            os.mkfifo(fifo)

            def write():
                with open(fifo, "wb", buffering=0) as pipe:
                    pipe.write(text[:20])
                    pipe.write(text[20:])

            threading.Thread(target=write, daemon=True).start()
            self.run_enroll(*words, "--config", str(fifo))

    def test_a_pipe_that_nobody_writes_to_is_named_as_one(self):
        fifo = self.home / "fifo"
        os.mkfifo(fifo)
        _, said = self.run_enroll("status", "--config", str(fifo), status=2)
        self.assertIn("it is a pipe, and nothing was read from it", said)

    def test_ctrl_c_ends_the_wait_for_a_configuration(self):
        fifo = self.home / "fifo"
        os.mkfifo(fifo)
        reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        # The pipe has a writer, so the command waits.
        writing = os.open(fifo, os.O_WRONLY)
        os.close(reading)
        self.addCleanup(os.close, writing)
        child = self.start("status", "--config", str(fifo))
        wait_until(
            lambda: any(os.readlink(entry) == str(fifo) for entry in self.descriptors(child)), "its hold of the pipe", TIMEOUT)
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=TIMEOUT)
        self.assertEqual(child.returncode, 130)

    @staticmethod
    def descriptors(child):
        folder = f"/proc/{child.pid}/fd"
        return [f"{folder}/{name}" for name in os.listdir(folder) if os.path.lexists(f"{folder}/{name}")]

    # Names that are not UTF-8.

    def test_bytes_that_are_no_utf_8_name_no_other_place(self):
        parent = os.fsencode(self.home)
        for words in ([b"--store", parent + b"/st\xff"], [b"--account", b"\xff"], [b"--config", b"\xff"]):
            done = subprocess.run([ENROLL, "login", "--yes", *words], env=self.environment, capture_output=True, timeout=TIMEOUT)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(b"is not UTF-8", done.stderr)
        for name in ("ENROLL_STORE", "ENROLL_CONFIG", "ENROLL_PROFILE", "ENROLL_ACCOUNT", "HOME"):
            environment = {**{os.fsencode(key): os.fsencode(value) for key, value in self.environment.items()},
                           name.encode(): parent + b"/st\xff"}
            done = subprocess.run([ENROLL, "login", "--yes"], env=environment, capture_output=True, timeout=TIMEOUT)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(name.encode() + b" is not UTF-8", done.stderr)
        folder = parent + b"/\xff"
        os.mkdir(folder)
        done = subprocess.run(
            [ENROLL, "login", "--yes", "--store", "s"], env=self.environment, cwd=folder, capture_output=True, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertFalse(os.listdir(folder))

    def test_an_empty_value_names_no_place(self):
        for option in ("--store", "--config", "--account"):
            _, said = self.run_enroll("status", option, "", status=2)
            self.assertIn(f"{option} has no value", said)

    def test_a_configuration_that_is_no_json_is_told_in_words(self):
        text = (self.profiles / "default.json").read_bytes()
        for content, words in (
                (b"\xef\xbb\xbf" + text, "byte order mark"), (b" " * (1 << 20) + b" ", "longer than 1048576 bytes")):
            (self.profiles / "default.json").write_bytes(content)
            _, said = self.run_enroll("status", status=2)
            self.assertIn(words, said)
            self.assertNotIn("(byte", said)
