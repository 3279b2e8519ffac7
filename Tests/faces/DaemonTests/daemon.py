"""Runs enrolld as a child process, with both framings, concurrent requests, notifications, and the daemon's
requests to its host.

The environment variable `ENROLLD` names the program; without the variable, the debug build is used.
`Daemon.call` checks every result against the manifest's schema of its command, and every error against the
manifest's list.
"""

import contextlib
import functools
import json
import os
import pathlib
import queue
import subprocess
import tempfile
import threading

from processes import TOP
from schema import check, resolved

ENROLLD = pathlib.Path(os.environ.get("ENROLLD") or TOP / ".build" / "debug" / "enrolld")
TIMEOUT = float(os.environ.get("TIMEOUT", 60))


class Refused(Exception):
    """The daemon answered with an error."""

    def __init__(self, error):
        super().__init__(f"{error['code']} {error['message']} {json.dumps(error.get('data'))}")
        self.code = error["code"]
        self.message = error["message"]
        self.data = error.get("data", {})
        self.status = self.data.get("status")


class Declined(Exception):
    """An exception that a host's function raises to answer with an error."""

    def __init__(self, code=-32603, status=None, **data):
        super().__init__(code, status)
        data = {**({"status": status} if status else {}), **data}
        self.error = {"code": code, "message": "no", **({"data": data} if data else {})}


class Ended(Exception):
    """The daemon ended before it answered."""


@functools.cache
def manifest():
    """The output of `enrolld --manifest`, with commands and errors by name."""
    printed = resolved(json.loads(subprocess.run([ENROLLD, "--manifest"], stdout=subprocess.PIPE, check=True).stdout))
    printed["byName"] = {command["name"]: command for command in printed["commands"]}
    printed["eventByName"] = {event["name"]: event for event in printed["events"]}
    printed["requestByName"] = {request["name"]: request for request in printed["requests"]}
    printed["errorByStatus"] = {error["status"]: error for error in printed["errors"]}
    return printed


class Daemon:
    """One process of the daemon. As a context manager, this object ends the process at the end of the block.

    `host` maps the names of requests to the functions that answer them; each call runs on a separate thread.
    Requests without a function go to the queue `asked`, and the test answers them.
    """

    def __init__(self, headers=False, log="debug", home=None, arguments=(), host=None, **popen):
        self._headers = headers
        self._home = home or tempfile.TemporaryDirectory(prefix="enrolld-")
        self.home = pathlib.Path(getattr(self._home, "name", self._home))
        self._log = open(self.home / "stderr", "ab")
        own = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "DBUS_"))}
        environment = {**own, "HOME": str(self.home), **popen.pop("env", {})}
        self.process = subprocess.Popen(
            [ENROLLD, "--log-level", log, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._log, env=environment, **popen)
        self._lock = threading.Lock()
        self._pending = {}
        self._last_id = 0
        self.unasked = queue.Queue()
        self.notifications = queue.Queue()
        self.host = host or {}
        self.asked = queue.Queue()
        self.given_up = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    # Sending.

    def write(self, text):
        """Writes bytes without framing."""
        self.process.stdin.write(text if isinstance(text, bytes) else text.encode())
        self.process.stdin.flush()

    def post(self, message):
        """Sends one message, with the framing that this daemon uses for all messages."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        with self._lock:
            self.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) if self._headers else body + b"\n")

    def start(self, method, params=None, request_id=None):
        """Sends a request; the returned `Pending` gets its answer."""
        with self._lock:
            self._last_id += 1
            request_id = self._last_id if request_id is None else request_id
            pending = self._pending[request_id] = Pending(method, request_id)
        message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        if params is not None:
            message["params"] = params
        self.post(message)
        return pending

    def call(self, method, /, **params):
        return self.start(method, params).result()

    def notify(self, method, **params):
        self.post({"jsonrpc": "2.0", "method": method, "params": params})

    def cancel(self, pending):
        self.notify("$/cancelRequest", id=pending.request_id)

    # The next functions handle the daemon's requests to its host.

    def question(self, timeout=TIMEOUT):
        """Returns the next request of the daemon that no function answers."""
        return self.asked.get(timeout=timeout)

    def answer(self, question, result):
        self.post({"jsonrpc": "2.0", "id": question["id"], "result": result})

    def decline(self, question, code=-32603, status=None):
        self.post({"jsonrpc": "2.0", "id": question["id"], "error": Declined(code, status).error})

    def _serve(self, question, function):
        try:
            result = function(question["params"])
        except Declined as declined:
            answer = {"error": declined.error}
        else:
            answer = {"result": result}
        with contextlib.suppress(BrokenPipeError, ValueError):
            self.post({"jsonrpc": "2.0", "id": question["id"], **answer})

    def _take_question(self, message):
        check(message["params"], manifest()["requestByName"][message["method"]]["input"])
        function = self.host.get(message["method"])
        if function is None:
            self.asked.put(message)
        else:
            threading.Thread(target=self._serve, args=(message, function), daemon=True).start()

    # Receiving.

    def raw(self, timeout=TIMEOUT):
        """Returns the next message that answers no request of `start`; None after the daemon's last
        message."""
        return self.unasked.get(timeout=timeout)

    def notification(self, method, timeout=TIMEOUT):
        """The parameters of the next notification with that name."""
        while True:
            message = self.notifications.get(timeout=timeout)
            if message is None:
                raise Ended(method)
            if message["method"] == method:
                return message["params"]

    def _read(self):
        for body in self._messages(self.process.stdout):
            message = json.loads(body)
            if isinstance(message, dict) and "method" in message:
                if "id" in message:
                    self._take_question(message)
                    continue
                if message["method"] == "$/cancelRequest":
                    self.given_up.put(message["params"]["id"])
                    continue
                check(message["params"], manifest()["eventByName"][message["method"]]["parameters"])
                self.notifications.put(message)
                continue
            pending = None
            if isinstance(message, dict) and isinstance(message.get("id"), (int, str)):
                with self._lock:
                    pending = self._pending.pop(message["id"], None)
            if pending:
                pending.settle(message)
            else:
                self.unasked.put(message)
        with self._lock:
            left, self._pending = list(self._pending.values()), {}
        for pending in left:
            pending.settle(None)
        self.unasked.put(None)
        self.notifications.put(None)

    def _messages(self, stream):
        if not self._headers:
            yield from stream
            return
        while True:
            length = None
            while (line := stream.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                assert name == b"Content-Length", line
                length = int(value)
            if length is None:
                return
            yield stream.read(length)

    # The end of the process.

    def end_input(self):
        self.process.stdin.close()

    def wait(self, timeout=TIMEOUT):
        """Waits until the process ends by itself; returns its exit status."""
        return self.process.wait(timeout)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        """Ends the process as a host does."""
        if not self.process.stdin.closed:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        try:
            status = self.process.wait(TIMEOUT)
        finally:
            if self.process.poll() is None:
                self.kill()
            self._reader.join(TIMEOUT)
            self.process.stdout.close()
            self._log.close()
        return status

    def sockets(self):
        """The number of the process's open sockets."""
        found = 0
        for link in pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                found += os.readlink(link).startswith("socket:")
        return found

    @property
    def log(self):
        return (self.home / "stderr").read_text()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        if isinstance(self._home, tempfile.TemporaryDirectory):
            self._home.cleanup()


class Pending:
    """A request in progress."""

    def __init__(self, method, request_id):
        self.method = method
        self.request_id = request_id
        self._answer = queue.Queue(1)
        self._settled = None

    def settle(self, message):
        self._answer.put(message)

    @property
    def is_answered(self):
        return self._settled is not None or not self._answer.empty()

    def message(self, timeout=TIMEOUT):
        if self._settled is None:
            self._settled = self._answer.get(timeout=timeout)
            if self._settled is None:
                raise Ended(self.method)
        return self._settled

    def result(self, timeout=TIMEOUT):
        message = self.message(timeout)
        assert message["jsonrpc"] == "2.0" and ("result" in message) != ("error" in message), message
        if "error" in message:
            self._check(message["error"])
            raise Refused(message["error"])
        command = manifest()["byName"].get(self.method)
        if command:
            check(message["result"], command["output"])
        return message["result"]

    def _check(self, error):
        check(error["data"], manifest()["error"])
        status = error["data"]["status"]
        known = manifest()["errorByStatus"][status]
        command = manifest()["byName"].get(self.method)
        if command:
            common = manifest()["commonErrors"]
            # Every command that has a parameter `client` may answer that there is no such client.
            allowed = {*common["every"], *common["client"], *command["errors"]}
            assert status in allowed, f"{self.method} answered {status}, which its `fails:` does not name: {error}"
        if error["code"] not in (-32700, -32600, -32601):
            assert error["code"] == known["rpcCode"], error
        assert error["data"]["code"] == known["code"], error
