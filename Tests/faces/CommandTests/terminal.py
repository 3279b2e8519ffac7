"""Runs the command in its own terminal: reads the text on the screen, and types input."""

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
    """A process and its controlling terminal. `raw` is everything that the process wrote; `text` is its
    output without escape sequences."""

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
        """The output without escape sequences, in the order in which it was written. Text that a spinner
        overwrote is still in it."""
        return ESCAPES.sub("", self.raw).replace("\r\n", "\n")

    def shows(self, pattern, after=0):
        """Waits until the pattern is on the screen; returns the match."""
        end = time.monotonic() + TIMEOUT
        while True:
            found = re.compile(pattern).search(self.text, after)
            if found:
                return found
            if not self._read(end):
                raise AssertionError(f"no {pattern!r} on the screen (status {self.status}):\n{self.text}")

    def type(self, text):
        """Types text. In `text`, a byte that is not UTF-8 is written as a surrogate."""
        os.write(self._descriptor, text.encode(errors="surrogateescape"))

    def line(self, text):
        self.type(text + "\n")

    def interrupt(self):
        """Sends Ctrl-C, as the keyboard does."""
        self.type("\x03")

    @property
    def echoes(self):
        return bool(termios.tcgetattr(self._descriptor)[3] & termios.ECHO)

    def ends(self):
        """Reads to the end of the output; returns the exit status."""
        end = time.monotonic() + TIMEOUT
        while self._read(end):
            pass
        if self.status is None:
            raise AssertionError(f"it goes on:\n{self.text}")
        return self.status

    def _read(self, end):
        """Reads a piece of output. Returns False if the process has ended, or after the timeout."""
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
