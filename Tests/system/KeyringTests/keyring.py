"""A separate desktop session: a session bus, and gnome-keyring on this bus. A test can lock, unlock, stop and
start gnome-keyring.

The bus itself starts no services: a service that the test does not start is absent.
"""

import os
import pathlib
import signal
import socket
import struct
import subprocess
import tempfile
import time

TIMEOUT = float(os.environ.get("TIMEOUT", 60))
UNLOCK = 1

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={folder}/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>
"""


class Session:
    """A context manager. `environment` is for the processes of the session."""

    def __init__(self, password="right"):
        self._folder = tempfile.TemporaryDirectory(prefix="enroll-session-")
        self.folder = pathlib.Path(self._folder.name)
        self.folder.chmod(0o700)
        (self.folder / "data").mkdir()
        (self.folder / "bus.conf").write_text(BUS.format(folder=self.folder))
        self.environment = {
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.folder}/bus", "XDG_RUNTIME_DIR": str(self.folder),
        }
        # gnome-keyring's own files are separate from the daemon's.
        self._own = {
            **os.environ, **self.environment, "XDG_DATA_HOME": str(self.folder / "data"), "HOME": str(self.folder),
        }
        self.bus = subprocess.Popen(
            ["dbus-daemon", f"--config-file={self.folder}/bus.conf", "--nofork", "--nopidfile"], env=self._own,
            stderr=subprocess.DEVNULL)
        self.until((self.folder / "bus").exists)
        self.keyring = None
        if password is not None:
            self.start(password)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.bus.terminate()
        self.bus.wait(TIMEOUT)
        self._folder.cleanup()

    def pause(self):
        """Pauses gnome-keyring with SIGSTOP: the process exists, but does not answer."""
        self.keyring.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.keyring.send_signal(signal.SIGCONT)

    def pause_bus(self):
        """Pauses the bus with SIGSTOP: clients can connect, but get no answer to a message."""
        self.bus.send_signal(signal.SIGSTOP)

    def resume_bus(self):
        self.bus.send_signal(signal.SIGCONT)

    def until(self, condition):
        end = time.monotonic() + TIMEOUT
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError("what was waited for did not happen")
            time.sleep(0.01)

    def start(self, password):
        """Starts gnome-keyring and gives it the password. If the password is wrong, the keyring stays locked."""
        with open(self.folder / "keyring.log", "ab") as log:
            self.keyring = subprocess.Popen(
                ["gnome-keyring-daemon", "--foreground", "--components=secrets", "--unlock"], env=self._own,
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log)
        self.keyring.stdin.write(password.encode())
        self.keyring.stdin.close()
        self.until(lambda: "true" in self._ask(
            "org.freedesktop.DBus", "/", "org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.secrets"))

    def stop(self):
        if self.keyring:
            self.keyring.terminate()
            self.keyring.wait(TIMEOUT)
            self.keyring = None

    def _ask(self, *words):
        command = ["dbus-send", "--session", "--print-reply", f"--dest={words[0]}", *words[1:]]
        return subprocess.run(command, env=self._own, capture_output=True, text=True, timeout=TIMEOUT).stdout

    def lock(self):
        self._ask("org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret.Service.Lock",
                  "array:objpath:/org/freedesktop/secrets/collection/login")

    def unlock(self, password="right"):
        """Unlocks the keyring as a login does. Returns whether the password was right."""
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(TIMEOUT)
            control.connect(str(self.folder / "keyring" / "control"))
            text = password.encode()
            control.sendall(b"\0" + struct.pack(">III", 12 + len(text), UNLOCK, len(text)) + text)
            answer = control.recv(8)
        return struct.unpack(">II", answer)[1] == 0

    def items(self):
        """The number of items that belong to EnrollKit."""
        found = subprocess.run(
            ["secret-tool", "search", "--all", "xdg:schema", "org.enrollkit.StoreKey"], env=self._own,
            capture_output=True, timeout=TIMEOUT)
        return found.stdout.count(b"label = EnrollKit")
