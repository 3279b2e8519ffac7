"""Child processes of the tests: finds free ports, waits by polling, and ends every child.

Every server or driver that a test starts goes through `Child`. A child writes its output to a file. It is ended by its
process id, and it dies with the test process even if the test process is killed. This module works for any program.
"""

import atexit
import fcntl
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

TOP = next(folder for folder in Path(__file__).resolve().parents if (folder / "Package.swift").is_file())

TIMEOUT = float(os.environ.get("TIMEOUT", 60))

# The lock files of ports, which are locked as long as this process lives.
_claims = []


class TimedOut(AssertionError):
    """A condition did not become true before the timeout."""


def wait_until(condition, what, timeout=TIMEOUT, every=0.02):
    """Polls `condition` until it is true and returns its value; raises `TimedOut` after the timeout."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimedOut(f"after {timeout:g} s: {what}")
        time.sleep(every)


def free_port():
    """A TCP port that nobody uses, below the range that the kernel gives to clients. Until this process ends, no other
    suite on this machine gets the port."""
    folder = TOP / ".build/faces/ports"
    folder.mkdir(parents=True, exist_ok=True)
    while True:
        port = random.randrange(20000, 32000)
        claim = open(folder / str(port), "a")
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            claim.close()
            continue
        _claims.append(claim)
        return port


def is_listening(port):
    """Whether a connection to this loopback port is accepted."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def workspace(name):
    """A new private directory, removed when the test process ends."""
    root = TOP / ".build" / "faces" / str(os.getpid())
    if not root.exists():
        _remove_leftovers(root.parent)
        root.mkdir(parents=True, exist_ok=True)
        atexit.register(_remove_workspace, root, os.getpid())
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=root))


def _remove_workspace(root, owner):
    if os.getpid() == owner and not os.environ.get("KEEP"):
        shutil.rmtree(root, ignore_errors=True)


def _remove_leftovers(parent):
    """Removes the directories of test processes that were killed before they could clean up."""
    for old in parent.glob("[0-9]*"):
        if not Path(f"/proc/{old.name}").exists():
            shutil.rmtree(old, ignore_errors=True)


class Child:
    """One child process, with its log file."""

    _living = set()

    def __init__(self, arguments, log, environment=None, pipes=False, directory=None):
        self.log = Path(log)
        with open(self.log, "ab") as output:
            self.process = subprocess.Popen(
                # setpriv executes the program in its own process: the process id is the child's.
                ["setpriv", "--pdeathsig", "KILL", *map(str, arguments)],
                stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
                stdout=subprocess.PIPE if pipes else output,
                stderr=output,
                env={**os.environ, **(environment or {})},
                cwd=directory,
            )
        Child._living.add(self)

    @property
    def is_running(self):
        return self.process.poll() is None

    def wait_for(self, condition, what, timeout=30.0):
        """Like `wait_until`, but a child that exits meanwhile is reported with its log."""

        def step():
            if not self.is_running:
                raise AssertionError(f"{what}: exited {self.process.returncode}\n{self.tail()}")
            return condition()

        try:
            return wait_until(step, what, timeout)
        except TimedOut as failure:
            raise TimedOut(f"{failure}\n{self.tail()}") from None

    def tail(self, lines=20):
        """The end of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def kill(self):
        """Kills the process with SIGKILL, so that it can write nothing more."""
        self._end(signal.SIGKILL)

    def stop(self):
        """Sends SIGTERM, and SIGKILL if the process does not end."""
        self._end(signal.SIGTERM)

    def _end(self, how):
        Child._living.discard(self)
        if self.is_running:
            self.process.send_signal(how)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass


@atexit.register
def _end_all():
    for child in list(Child._living):
        child.kill()
