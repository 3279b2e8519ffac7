"""Runs suites side by side and adds up their counts: shared by scripts/test and scripts/torture.

Suites start in the order in which they were added, each when a lane is free and the suites that it needs have ended.
LANES in the environment is the number of lanes, by default one for each processor. Suites that wait more than they
compute have the same number of separate lanes, so that no processor is idle while they wait. The output of a suite
goes to its log, and in one piece to standard output when the suite ends. A suite that fails or crashes counts as
failed, and the others still run. If the run ends for any reason, this program ends every process that the suites
started. At the end a table shows the seconds of each suite: by the clock, and of processor time. The lines that say
what failed follow the table, because some services keep only the end of the output.
"""

import ctypes
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

#: prctl(2): a process whose parent ended becomes a child of this process, which can find it and end it.
PR_SET_CHILD_SUBREAPER = 36
#: How many seconds the processes of an interrupted run have to tidy up.
FAREWELL_SECONDS = 5

COUNT = re.compile(r"^(\d+) passed, (\d+) failed", re.M)
#: Swift Testing writes colours, even into files.
COLOUR = re.compile(r"\x1b\[[\d;]*m")


class Interrupted(Exception):
    """Raised when a signal asks the run to end."""


def at_least_one(failed, status, ran):
    """A suite that ends with an error, or that ran no test, has at least one failure, whatever it counted."""
    return max(failed, int(status != 0 or ran == 0))


def counted(text, status):
    """The counts of a suite whose last lines have "N passed, N failed"."""
    counts = COUNT.findall(text)
    if not counts:
        return 0, 1
    passed, failed = map(int, counts[-1])
    return passed, at_least_one(failed, status, passed + failed)


def worked(text, status):
    """The counts of a step, which either works or fails."""
    return (1, 0) if status == 0 else (0, 1)


def counted_by_swift(text, status):
    """The counts of Swift Testing, which prints "Test run with N tests" at its end, and prints the name of
    each test that failed."""
    ran = re.findall(r"Test run with (\d+) tests?", text)
    if not ran:
        return 0, 1
    failed = len(re.findall(r"^✘ Test (?!run with).* failed after", text, re.M))
    failed = at_least_one(failed, status, int(ran[-1]))
    return max(int(ran[-1]) - failed, 0), failed


def troubles(text):
    """The part of the output of Swift's tests that is shown: failed and skipped tests, or the end of a run
    that broke off."""
    lines = text.splitlines()
    if "Test run with" not in text:
        return "\n".join(lines[-40:])
    return "\n".join([line for line in lines if re.search(r"^✘|error:|skipped", line)][:60])


#: A line that names a failed test or says why it failed, as Swift Testing, JUnit, TAP or unittest prints it,
#: or the line with an exception's message.
FAILURE = re.compile(
    r"^✘|^\[X\]| \[X\] |^ *=> |^not ok |^(FAIL|ERROR): |^[\w.]*(Error|Exception): "
    r"|^(\S+:\d+:\d+: )?([Ff]atal )?[Ee]rror: "
)


def reasons(text):
    """The lines that say what failed, at most 12, of at most 240 characters; the last lines if no line
    says what failed."""
    lines = text.splitlines()
    found = [line for line in lines if FAILURE.search(line)] or lines[-5:]
    return [line.strip()[:240] for line in found[:12]]


@dataclass
class Suite:
    name: str
    command: tuple
    needs: tuple
    count: object
    shown: object
    environment: dict
    is_alone: bool
    #: Whether the suite spends more time waiting than computing.
    waits: bool
    began: float = 0
    #: Seconds by the clock.
    seconds: float = 0
    #: Seconds of processor time that the suite's ended processes have used.
    used: float = 0


class Run:
    def __init__(self, logs, lanes=None):
        self.logs = Path(logs)
        self.lanes = lanes or int(os.environ.get("LANES") or os.cpu_count() or 1)
        self.began = time.monotonic()
        self.waiting = []
        #: `over` has the suites that ended. `sessions` has every suite by the session of its processes, which sometimes
        #: outlive the suite.
        self.over = []
        self.sessions = {}
        #: Seconds of processor time that processes outside the session of their suite have used.
        self.used_elsewhere = 0.0
        self.running = {}
        self.passed = self.failed = 0
        #: What failed, by the name of the suite.
        self.failures = {}
        self.is_starting = False
        self.signal = None

    def suite(self, name, *command, needs=(), count=counted, shown=str, environment=None, alone=False, waits=False):
        """Adds a suite. If a suite that it needs is not part of this run, that suite counts as ended."""
        self.waiting.append(Suite(name, command, tuple(needs), count, shown, environment or {}, alone, waits))

    def step(self, name, *command, **more):
        self.suite(name, *command, count=worked, **more)

    def swift(self, name, *command, **more):
        self.suite(name, *command, count=counted_by_swift, shown=troubles, **more)

    def finish(self, summary=lambda: ""):
        """Runs all suites. The last line is "N passed, N failed".

        - Parameter summary: what to print before that line; it is called when all suites have ended.
        - Returns: the exit status, 1 if anything failed."""
        self.logs.mkdir(parents=True, exist_ok=True)
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # A shell ignores SIGINT for its background jobs, and the suites would inherit this setting. An ignored
            # SIGHUP stays ignored: nohup asked for it.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._interrupt)
        try:
            while self.waiting or self.running:
                while suite := self._next():
                    self._start(suite)
                    if self.signal:
                        raise Interrupted(self.signal)
                process, status = self._reap(0)
                if process in self.running:
                    self._end(process, os.waitstatus_to_exitcode(status))
        except Interrupted as interrupted:
            names = ", ".join(suite.name for suite in self.running.values())
            print(f"\n{interrupted}: ended while these ran: {names}", flush=True)
            return 1
        finally:
            self._end_everything()
        self._tell_seconds()
        print(summary(), end="")
        if self.failures:
            for name, lines in self.failures.items():
                print(f"\n{name}:", *lines, sep="\n  ")
            print(f"\nfailed: {', '.join(self.failures)}; their logs are in {self.logs}")
        print(f"\n{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0

    def _next(self):
        """The first suite that can start now."""
        running = list(self.running.values())
        if any(suite.is_alone for suite in running):
            return None
        absent = {suite.name for suite in (*self.waiting, *running)}
        is_free = {waits: sum(suite.waits == waits for suite in running) < self.lanes for waits in (False, True)}
        for suite in self.waiting:
            if is_free[suite.waits] and absent.isdisjoint(suite.needs) and not (suite.is_alone and running):
                return suite
        if not self.running:
            raise ValueError(f"these need one another: {', '.join(sorted(absent))}")
        return None

    def _start(self, suite):
        # Until the process is recorded, a signal raises no exception: _end_everything() could not interrupt a process
        # that is not recorded.
        self.is_starting = True
        try:
            self._start_uninterrupted(suite)
        finally:
            self.is_starting = False

    def _start_uninterrupted(self, suite):
        self.waiting.remove(suite)
        print(f"-- {suite.name}", flush=True)
        environment = {**os.environ, **suite.environment}
        # The variables of the session bus are removed, so that tests cannot write into the keyring of the person who
        # runs them.
        for name in ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"):
            environment.pop(name, None)
        with open(self.logs / f"{suite.name}.log", "wb") as log:
            try:
                # The suite runs in a separate session, and so in a separate process group, so that all of its processes
                # can be ended.
                process = subprocess.Popen(
                    list(map(str, suite.command)), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                    env=environment, start_new_session=True)  # fmt: skip
            except OSError as fault:
                log.write(f"{suite.command[0]} does not start: {fault}\n".encode())
                process = None
        suite.began = time.monotonic()
        if process is None:
            self._count(suite, 127)
        else:
            self.running[process.pid] = self.sessions[process.pid] = suite
            # _reap() waits for the process, so Popen must not wait for it.
            process.returncode = 0

    def _end(self, process, status):
        suite = self.running.pop(process)
        end_group(process, signal.SIGKILL)
        self._count(suite, status)

    def _reap(self, options):
        """Waits for a child to end, and adds the time that the child and its own children used to the suite
        of the child.

        - Returns: the process and its status; the process is None if no child has ended and `options` are
          os.WNOHANG."""
        # The session of a process that ended is known until somebody waits for the process.
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | options)
        if ended is None:
            return None, 0
        suite = self.sessions.get(session(ended.si_pid))
        process, status, usage = os.wait4(ended.si_pid, 0)
        used = usage.ru_utime + usage.ru_stime
        if suite is None:
            self.used_elsewhere += used
        else:
            suite.used += used
        return process, status

    def _count(self, suite, status):
        suite.seconds = time.monotonic() - suite.began
        self.over.append(suite)
        text = COLOUR.sub("", (self.logs / f"{suite.name}.log").read_text(errors="replace"))
        passed, failed = suite.count(text, status)
        self.passed += passed
        self.failed += failed
        if failed:
            self.failures[suite.name] = reasons(text)
        shown = suite.shown(text).rstrip("\n")
        ending = f", ended by signal {-status}" if status < 0 else ""
        print(f"== {suite.name}", *([shown] if shown else []), sep="\n")
        print(f"== {suite.name}: {passed} passed, {failed} failed ({suite.seconds:.0f} s{ending})", flush=True)

    def _tell_seconds(self):
        """Prints the table of seconds; the suites that used the processors most come first."""
        rows = [(suite.seconds, suite.used, suite.name) for suite in sorted(self.over, key=lambda suite: -suite.used)]
        rows.append((None, self.used_elsewhere, "processes that left the session of their suite"))
        rows.append((time.monotonic() - self.began, sum(row[1] for row in rows), "all"))
        print("\n  clock processors")
        for seconds, used, name in rows:
            print(f"{'' if seconds is None else f'{seconds:,.0f}':>7} {used:>10,.0f}  {name}")

    def _interrupt(self, number, _):
        self.signal = signal.Signals(number).name
        if not self.is_starting:
            raise Interrupted(self.signal)

    def _end_everything(self):
        """Asks every suite to end, then ends all processes below this one."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for process in self.running:
            end_group(process, signal.SIGINT)
        end = time.monotonic() + FAREWELL_SECONDS
        while below := descendants():
            for process in below if time.monotonic() > end or not self.running else ():
                end_process(process, signal.SIGKILL)
            self._reap_all()
            time.sleep(0.02)

    def _reap_all(self):
        try:
            while self._reap(os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


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


def session(process):
    """The session of a process, even if the process has ended and was not waited for; None if there is
    no such process."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[3])
    except (OSError, IndexError):
        return None


def descendants():
    """The children of this process, and all of their descendants."""
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
