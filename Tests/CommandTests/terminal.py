"""The command in a terminal of its own: what is on the screen, and somebody who types."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

TIMEOUT = float(os.environ.get("TIMEOUT", 60))
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A process whose controlling terminal is ours. `raw` is every byte that it wrote, `text` the same without escapes."""

    def __init__(self, arguments, environment, columns=80):
        self.raw = ""
        self.status = None
        self._bytes = b""
        size = struct.pack("HHHH", 24, columns, 0, 0)
        self.pid, self._descriptor = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, size)
                os.execve(arguments[0], [str(word) for word in arguments], environment)
            finally:
                os._exit(127)

    @property
    def text(self):
        """As it was written; what a spinner drew over is still there."""
        return ESCAPES.sub("", self.raw).replace("\r\n", "\n")

    def shows(self, pattern, after=0):
        """Waits until it is on the screen; the match."""
        end = time.monotonic() + TIMEOUT
        while True:
            found = re.compile(pattern).search(self.text, after)
            if found:
                return found
            if not self._read(end):
                raise AssertionError(f"no {pattern!r} on the screen (status {self.status}):\n{self.text}")

    def type(self, text):
        """Bytes that are no UTF-8 are written as surrogates."""
        os.write(self._descriptor, text.encode(errors="surrogateescape"))

    def line(self, text):
        self.type(text + "\n")

    def interrupt(self):
        """Ctrl-C, as the keyboard sends it."""
        self.type("\x03")

    @property
    def echoes(self):
        return bool(termios.tcgetattr(self._descriptor)[3] & termios.ECHO)

    def ends(self):
        """Reads to the end; the exit status."""
        end = time.monotonic() + TIMEOUT
        while self._read(end):
            pass
        if self.status is None:
            raise AssertionError(f"it goes on:\n{self.text}")
        return self.status

    def _read(self, end):
        """False at the end of its life, and of our timeout."""
        left = end - time.monotonic()
        if self.status is not None or left <= 0:
            return False
        if select.select([self._descriptor], [], [], left)[0]:
            try:
                piece = os.read(self._descriptor, 65536)
            except OSError:
                piece = b""
            if piece:
                self._bytes += piece
                self.raw = self._bytes.decode(errors="replace")
                return True
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            os.close(self._descriptor)
        return False

    def close(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            os.close(self._descriptor)
