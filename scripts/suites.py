"""Runs suites side by side and adds up what they counted: what scripts/test and scripts/torture have in common.

A suite starts when a lane is free and the suites that it needs have ended, in the order in which they were added. LANES in
the environment is the number of lanes, by default one more than there are processors, since most suites wait more than they
compute. What a suite writes goes to its log, and to standard output as one piece when it ends. A suite that fails or
crashes counts as failed, and the others run all the same. Whatever ends the run ends every process that the suites started.
"""

import ctypes
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

#: prctl(2): processes whose parent ended become children of this one, so that they can be found and ended.
PR_SET_CHILD_SUBREAPER = 36
#: How long the processes of a run that is interrupted have to tidy up.
FAREWELL_SECONDS = 5

COUNT = re.compile(r"^(\d+) passed, (\d+) failed", re.M)
#: Swift Testing writes colours, also into files.
COLOUR = re.compile(r"\x1b\[[\d;]*m")


class Interrupted(Exception):
    """A signal asks the run to end."""


def at_least_one(failed, status, ran):
    """A suite that ends badly, or of which nothing ran, has failed, whatever it counted."""
    return max(failed, int(status != 0 or ran == 0))


def counted(text, status):
    """A suite's own last lines hold "N passed, N failed"."""
    counts = COUNT.findall(text)
    if not counts:
        return 0, 1
    passed, failed = map(int, counts[-1])
    return passed, at_least_one(failed, status, passed + failed)


def worked(text, status):
    """A step works or does not."""
    return (1, 0) if status == 0 else (0, 1)


def counted_by_swift(text, status):
    """Swift Testing says "Test run with N tests" at its end, and names each test that failed."""
    ran = re.findall(r"Test run with (\d+) tests?", text)
    if not ran:
        return 0, 1
    failed = len(re.findall(r"^✘ Test (?!run with).* failed after", text, re.M))
    failed = at_least_one(failed, status, int(ran[-1]))
    return max(int(ran[-1]) - failed, 0), failed


def troubles(text):
    """Of Swift's tests: what failed or was skipped, or the end of a run that did not come to its end."""
    lines = text.splitlines()
    if "Test run with" not in text:
        return "\n".join(lines[-40:])
    return "\n".join([line for line in lines if re.search(r"^✘|error:|skipped", line)][:60])


@dataclass
class Suite:
    name: str
    command: tuple
    needs: tuple
    count: object
    shown: object
    environment: dict
    is_alone: bool


class Run:
    def __init__(self, logs, lanes=None):
        self.logs = Path(logs)
        self.lanes = lanes or int(os.environ.get("LANES") or (os.cpu_count() or 1) + 1)
        self.waiting = []
        self.running = {}
        self.ended = set()
        self.passed = self.failed = 0
        self.failures = []
        self.is_starting = False
        self.signal = None

    def suite(self, name, *command, needs=(), count=counted, shown=str, environment=None, alone=False):
        """Adds a suite; the names that it needs and that are not part of this run count as ended."""
        self.waiting.append(Suite(name, command, tuple(needs), count, shown, environment or {}, alone))

    def step(self, name, *command, **more):
        self.suite(name, *command, count=worked, **more)

    def swift(self, name, *command, **more):
        self.suite(name, *command, count=counted_by_swift, shown=troubles, **more)

    def finish(self):
        """Runs all suites. The last line is "N passed, N failed".

        - Returns: the exit status, 1 if anything failed."""
        self.logs.mkdir(parents=True, exist_ok=True)
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # A shell ignores SIGINT for what runs in its background: the suites would inherit that. nohup means it.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._interrupt)
        try:
            while self.waiting or self.running:
                while suite := self._next():
                    self._start(suite)
                    if self.signal:
                        raise Interrupted(self.signal)
                process, status = os.wait()
                if process in self.running:
                    self._end(process, os.waitstatus_to_exitcode(status))
        except Interrupted as interrupted:
            names = ", ".join(suite.name for suite, _ in self.running.values())
            print(f"\n{interrupted}: ended while these ran: {names}", flush=True)
            return 1
        finally:
            self._end_everything()
        if self.failures:
            print(f"\nfailed: {', '.join(self.failures)}; their words are in {self.logs}")
        print(f"\n{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0

    def _next(self):
        """The first suite that can start now."""
        if len(self.running) >= self.lanes or any(suite.is_alone for suite, _ in self.running.values()):
            return None
        absent = {suite.name for suite in self.waiting} | {suite.name for suite, _ in self.running.values()}
        for suite in self.waiting:
            if absent.isdisjoint(suite.needs) and not (suite.is_alone and self.running):
                return suite
        if not self.running:
            raise ValueError(f"these need one another: {', '.join(sorted(absent))}")
        return None

    def _start(self, suite):
        # A signal that comes before the process is known would miss it.
        self.is_starting = True
        try:
            self._start_uninterrupted(suite)
        finally:
            self.is_starting = False

    def _start_uninterrupted(self, suite):
        self.waiting.remove(suite)
        print(f"-- {suite.name}", flush=True)
        environment = {**os.environ, **suite.environment}
        # Nothing of the tests ends in the keyring of the person who runs them.
        for name in ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"):
            environment.pop(name, None)
        with open(self.logs / f"{suite.name}.log", "wb") as log:
            try:
                # A group of its own, so that it can be ended with all of its processes.
                process = subprocess.Popen(
                    list(map(str, suite.command)), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                    env=environment, start_new_session=True)  # fmt: skip
            except OSError as fault:
                log.write(f"{suite.command[0]} does not start: {fault}\n".encode())
                process = None
        began = time.monotonic()
        if process is None:
            self._count(suite, began, 127)
        else:
            self.running[process.pid] = suite, began
            # os.wait() looks after it.
            process.returncode = 0

    def _end(self, process, status):
        suite, began = self.running.pop(process)
        end_group(process, signal.SIGKILL)
        self._count(suite, began, status)

    def _count(self, suite, began, status):
        text = COLOUR.sub("", (self.logs / f"{suite.name}.log").read_text(errors="replace"))
        passed, failed = suite.count(text, status)
        self.passed += passed
        self.failed += failed
        if failed:
            self.failures.append(suite.name)
        shown = suite.shown(text).rstrip("\n")
        ending = f", ended by signal {-status}" if status < 0 else ""
        seconds = round(time.monotonic() - began)
        print(f"== {suite.name}", *([shown] if shown else []), sep="\n")
        print(f"== {suite.name}: {passed} passed, {failed} failed ({seconds} s{ending})", flush=True)

    def _interrupt(self, number, _):
        self.signal = signal.Signals(number).name
        if not self.is_starting:
            raise Interrupted(self.signal)

    def _end_everything(self):
        """Asks every suite to end, then ends all processes that there are below this one."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for process in self.running:
            end_group(process, signal.SIGINT)
        end = time.monotonic() + FAREWELL_SECONDS
        while below := descendants():
            for process in below if time.monotonic() > end or not self.running else ():
                end_process(process, signal.SIGKILL)
            reap()
            time.sleep(0.02)


def end_group(process, number):
    try:
        os.killpg(process, number)
    except ProcessLookupError:
        pass


def end_process(process, number):
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def descendants():
    """The processes below this one."""
    children = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        children.setdefault(parent, []).append(int(folder.name))
    found, waiting = [], [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found
