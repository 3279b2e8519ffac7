"""Runs a bridge as a host does, in the environment of one measurement: a home folder, servers, and a person
at a browser."""

import json
import os
import signal
import subprocess
import threading
import time

from parties import Notes, Person, end_sign_ins
from processes import workspace

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
TIMEOUT = 60


class Unanswered(Exception):
    """Raised if no answer to a request arrived before the timeout."""


class Lab:
    """Everything that one scenario needs, for one contender. When the `with` block ends, all of its processes end."""

    def __init__(self, contender, provider, lifetime=3600, delay=0.0):
        self.contender, self.provider = contender, provider
        if provider:
            provider.begin(lifetime)
        self.notes = Notes(provider)
        self.person = Person(delay)
        self.home = workspace("bench-home")
        browser = str(self.person.program)
        self.environment = {
            "PATH": f"{self.person.program.parent}:{os.environ['PATH']}", "LANG": "C.UTF-8", "HOME": str(self.home),
            "BROWSER": browser, "MCP_REMOTE_CONFIG_DIR": str(self.home / "mcp-remote"),
        }  # fmt: skip
        self.instances = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for instance in self.instances:
            instance.kill()
        end_sign_ins(self.home)
        self.notes.stop()

    def start(self):
        instance = Instance(self)
        self.instances.append(instance)
        return instance

    def together(self, count):
        """Starts `count` bridges at once, and does not wait for their answers."""
        return [self.start() for _ in range(count)]

    def ready(self, count, timeout=TIMEOUT):
        """Starts `count` bridges and waits until they are signed in; the first bridge starts before the others."""
        first = self.start()
        first.greet(timeout)
        others = self.together(count - 1)
        for other in others:
            other.greet(timeout)
        return [first, *others]


class Instance:
    def __init__(self, lab):
        self.lab = lab
        self.begun = time.monotonic()
        self._log = open(lab.home / "bridge.log", "ab")
        # The bridge is the leader of a new process group, because desktop hosts start their servers in this way.
        self.process = subprocess.Popen(
            lab.contender.command(lab.notes.url, lab.provider is None), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._log, env=lab.environment, cwd=lab.home, start_new_session=True)
        self.is_killed = self._is_over = False
        self.may_read = threading.Event()
        self.may_read.set()
        self._answers, self._changed, self._last = {}, threading.Condition(), 0
        self._writing = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        while self.may_read.wait() and (line := self.process.stdout.readline()):
            at = time.monotonic()
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict) and "method" not in message:
                with self._changed:
                    self._answers[message.get("id")] = (at, line, message)
                    self._changed.notify_all()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    # Messages.

    def write(self, line):
        with self._writing:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()

    def notify(self, method):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method}).encode())

    def begin(self, method, params=None):
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params or {}}
        self.write(json.dumps(message).encode())
        return self._last

    def await_answer(self, identity, timeout=TIMEOUT):
        """- Returns: the time at which the answer came, its line, and the parsed message."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over or identity in self._answers, timeout)
            if identity not in self._answers:
                raise Unanswered("the bridge has ended" if self._is_over else f"no answer in {timeout} s")
            return self._answers.pop(identity)

    def ask(self, method, params=None, timeout=TIMEOUT):
        return self.await_answer(self.begin(method, params), timeout)[2]

    def call(self, tool, timeout=TIMEOUT, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments}, timeout)

    def begin_call(self, tool, **arguments):
        return self.begin("tools/call", {"name": tool, "arguments": arguments})

    def greet(self, timeout=TIMEOUT):
        """Sends the first requests of a host; returns the answer to the last of them."""
        answer = self.ask("initialize", HELLO, timeout)
        if "result" not in answer:
            return answer
        self.notify("notifications/initialized")
        return self.ask("tools/list", timeout=timeout)

    # The process.

    def memory(self, field="VmRSS", file="status"):
        """The memory of all processes of the bridge's group, in MiB. With the field `Pss` of the file `smaps_rollup`,
        each process counts only its share of a page that several processes use."""
        total = 0
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and os.getpgid(int(name)) == self.process.pid:
                    with open(f"/proc/{name}/{file}") as lines:
                        total += next((int(line.split()[1]) for line in lines if line.startswith(f"{field}:")), 0)
            except OSError:
                continue
        return total / 1024

    def processor_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self, how=signal.SIGKILL, is_group=True):
        self.is_killed = True
        if self.process.poll() is None:
            (os.killpg if is_group else os.kill)(self.process.pid, how)
        if how == signal.SIGKILL or not is_group:
            self.close()

    def close(self):
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.may_read.set()
        self._reader.join(5)
        for stream in (self.process.stdin, *([] if self._reader.is_alive() else [self.process.stdout])):
            try:
                stream.close()
            except (OSError, ValueError):
                pass
        self._log.close()
