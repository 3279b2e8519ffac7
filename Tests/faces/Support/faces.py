"""The three faces, each as a separate process, with one interface for the tests.

A `Client` is one opened client in one process: `client.call("token.access")`. `enrolld` speaks JSON-RPC; the Swift and
C drivers read lines `COMMAND JSON`, and answer `ok JSON` or `error JSON`. The manifest defines the commands, parameters
and results.
"""

import copy
import json
import os
import queue
import signal
import threading

from compiled import c_driver
from platforms import BUILD, runnable
from processes import TOP, Child, TimedOut, workspace


class Refused(Exception):
    """The command failed; `data` is the face's error object."""

    def __init__(self, command, message, data):
        super().__init__(f"{command}: {message} {json.dumps(data)}")
        self.message = message
        self.data = data
        self.status = data.get("status")
        self.blame = data.get("blame")
        self.retryable = data.get("retryable")
        self.oauth_error = data.get("oauthError")
        self.oauth_error_description = data.get("oauthErrorDescription")


class Pending:
    """A command in progress."""

    def __init__(self, command):
        self._command = command
        self._answer = queue.Queue(1)

    def settle(self, result, error):
        self._answer.put((result, error))

    @property
    def is_settled(self):
        return not self._answer.empty()

    def result(self, timeout=60.0):
        """The result; raises `Refused`, or `TimedOut` if no answer comes."""
        try:
            result, error = self._answer.get(timeout=timeout)
        except queue.Empty:
            raise TimedOut(f"{self._command}: no answer in {timeout:g} s") from None
        if error is not None:
            raise error
        return result


class Client:
    """A client that runs in a process of its own. Closing the client stops the process."""

    def __init__(self, arguments, environment):
        self.home = home = workspace("client")
        self._child = Child(
            arguments,
            home / "stderr",
            pipes=True,
            environment={
                "HOME": str(home),
                "XDG_CONFIG_HOME": str(home),
                "XDG_DATA_HOME": str(home),
                **environment,
            },
        )
        self._writing = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def open(self, configuration, store, account=None, **more):
        parameters = {"configuration": configuration, "store": str(store), **more}
        if account is not None:
            parameters["account"] = account
        self._opened(self.start("client.open", parameters).result())

    def call(self, command, **parameters):
        return self.start(command, parameters).result()

    def start(self, command, parameters):
        """Sends the command and does not wait for its answer."""
        pending = Pending(command)
        with self._writing:
            line = self._request(command, parameters, pending)
            self._child.process.stdin.write(line.encode() + b"\n")
            self._child.process.stdin.flush()
        return pending

    @property
    def process_id(self):
        return self._child.process.pid

    @property
    def log(self):
        return self._child.log.read_text(errors="replace")

    def kill(self):
        """Kills the process with SIGKILL, so that the process can write nothing more."""
        self._child.kill()

    def end(self, timeout=60):
        """Waits for the process to end by itself; returns its exit status, -9 if it was killed."""
        return self._child.process.wait(timeout)

    def stopped(self):
        """Waits until the process is stopped by a signal."""
        _, status = os.waitpid(self.process_id, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            raise AssertionError(f"the process ended instead: {self._child.tail()}")

    def go_on(self):
        os.kill(self.process_id, signal.SIGCONT)

    def close(self):
        self._child.stop()

    def _read(self):
        for line in self._child.process.stdout:
            self._answered(line.decode())
        self._lost(Refused("-", "the process ended", {"status": "ended", "log": self._child.tail()}))

    def _opened(self, result):
        pass


class JSONRPCClient(Client):
    WITHOUT_CLIENT = (
        "accounts.list", "store.diagnose", "redirect.route", "installation.reset", "resource.discover", "resource.register"
    )  # fmt: skip

    def __init__(self, arguments, environment):
        self._waiting = {}
        self._handle = None
        self._sent = 0
        super().__init__(arguments, environment)

    def _opened(self, result):
        self._handle = result["client"]

    def _request(self, command, parameters, pending):
        self._sent += 1
        self._waiting[self._sent] = pending
        if self._handle is not None and command not in self.WITHOUT_CLIENT:
            parameters = {"client": self._handle, **parameters}
        return json.dumps({"jsonrpc": "2.0", "id": self._sent, "method": command, "params": parameters})

    def _answered(self, line):
        answer = json.loads(line)
        pending = self._waiting.pop(answer.get("id"), None)
        if pending is None:
            return
        error = answer.get("error")
        if error is not None:
            error = Refused(
                pending._command, error["message"], {"code": error["code"], **error.get("data", {})}
            )
        pending.settle(answer.get("result"), error)

    def _lost(self, error):
        for pending in list(self._waiting.values()):
            pending.settle(None, error)


class DriverClient(Client):
    """A client in a driver, which answers in the order of the requests."""

    def __init__(self, arguments, environment):
        self._waiting = queue.Queue()
        super().__init__(arguments, environment)

    def _request(self, command, parameters, pending):
        self._waiting.put(pending)
        return f"{command} {json.dumps(parameters)}"

    def _answered(self, line):
        pending = self._waiting.get()
        word, _, rest = line.partition(" ")
        value = json.loads(rest)
        if word == "ok":
            pending.settle(value, None)
        else:
            pending.settle(None, Refused(pending._command, value.get("message"), value))

    def _lost(self, error):
        while not self._waiting.empty():
            self._waiting.get().settle(None, error)


class Face:
    """How to start the process of one face."""

    def __init__(self, name, client, variable, program, library=None, arguments=()):
        self.name = name
        self._client = client
        self._arguments = arguments
        self._program = os.environ.get(variable) or program
        self._environment = {"LD_LIBRARY_PATH": str(BUILD / library)} if library else {}

    @property
    def program(self):
        """The path of the program. A program that the tests compile is compiled at the first use."""
        return TOP / (self._program() if callable(self._program) else self._program)

    @property
    def is_built(self):
        return os.access(self.program, os.X_OK)

    def within(self, environment):
        """Returns a copy of this face whose processes get these additional environment variables."""
        face = copy.copy(self)
        face._environment = {**self._environment, **environment}
        return face

    def start(self):
        """Starts a process without a client."""
        return self._client([self.program, *self._arguments], self._environment)

    def open(self, configuration, store, account=None, **more):
        """Starts a process with one client; `more` are further parameters of client.open."""
        client = self.start()
        try:
            client.open(configuration, store, account, **more)
        except BaseException:
            client.close()
            raise
        return client


FACES = {
    face.name: face
    for face in (
        Face("swift", DriverClient, "ENROLL_SWIFT_DRIVER", ".build/debug/swift-driver"),
        Face("c", DriverClient, "ENROLL_C_DRIVER", c_driver, "lib"),
        # The daemon's log is at its most verbose: no line of it may contain a secret.
        Face("jsonrpc", JSONRPCClient, "ENROLLD", lambda: runnable(BUILD / "lib/enrolld"), arguments=("--log-level", "debug")),
    )
}


def selected():
    """The faces under test: all faces, or the ones that `run --face` names."""
    return [FACES[name] for name in os.environ.get("ENROLL_FACES", "").split() or FACES]
