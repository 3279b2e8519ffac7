"""A host of the Model Context Protocol: it starts the bridge as hosts do, and reads its lines."""

import json
import queue
import subprocess
import threading
import time

from cases import ENROLL

TIMEOUT = 60
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Host:
    def __init__(self, environment, *arguments, log, pass_fds=(), prefix=()):
        self.log = open(log, "ab")
        self.process = subprocess.Popen(
            [*prefix, ENROLL, "mcp", *arguments, "--allow-loopback-http"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=environment, pass_fds=pass_fds)
        self.lines = queue.Queue()
        #: Every answer, in the order of arrival.
        self.answers = []
        #: Messages that no call waited for.
        self.others = []
        self._answers = {}
        self._changed = threading.Condition()
        self._last = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            with self._changed:
                if isinstance(message, dict) and "method" not in message and message.get("id") is not None:
                    self.answers.append(message)
                    self._answers[json.dumps(message["id"])] = line
                else:
                    self.others.append(message)
                self._changed.notify_all()

    # Messages.

    def write(self, line):
        self.process.stdin.write(line if isinstance(line, bytes) else line.encode())
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def send(self, method, params=None, **more):
        """Sends a message; returns its id, if it is a request."""
        message = {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params}), **more}
        self.write(json.dumps(message))
        return message.get("id")

    def begin(self, method, params=None):
        self._last += 1
        return self.send(method, params, id=self._last)

    def line(self, identity, timeout=TIMEOUT):
        """The line with the answer to the request with this id."""
        key = json.dumps(identity)
        with self._changed:
            if not self._changed.wait_for(lambda: key in self._answers, timeout):
                raise AssertionError(f"no answer to {key} in {timeout} s")
            return self._answers.pop(key)

    def answer(self, identity, timeout=TIMEOUT):
        return json.loads(self.line(identity, timeout))

    def ask(self, method, params=None, timeout=TIMEOUT):
        return self.answer(self.begin(method, params), timeout)

    def other(self, is_wanted, timeout=TIMEOUT):
        """A message of the server that is not a response."""
        def found():
            return next((message for message in self.others if is_wanted(message)), None)

        with self._changed:
            if not self._changed.wait_for(lambda: found() is not None, timeout):
                raise AssertionError(f"no such message among {self.others}")
            message = found()
            self.others.remove(message)
            return message

    # Sessions.

    def initialize(self, version="2025-11-25", timeout=TIMEOUT):
        answer = self.ask("initialize", {**HELLO, "protocolVersion": version}, timeout)
        if "result" in answer:
            self.send("notifications/initialized")
        return answer

    def call(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def modern(self, method, **params):
        return self.ask(method, {**params, "_meta": META})

    # The end.

    @property
    def resident(self):
        """The resident memory in KiB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    def end(self, timeout=10):
        """Ends the input; returns the exit status and the seconds until the end."""
        begun = time.monotonic()
        self.process.stdin.close()
        status = self.process.wait(timeout)
        return status, time.monotonic() - begun

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join(10)
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except OSError:
                pass
        self.log.close()


def text(answer):
    """The text of a tool's result."""
    return answer["result"]["content"][0]["text"]
