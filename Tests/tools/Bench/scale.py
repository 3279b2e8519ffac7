#!/usr/bin/env python3
"""Measures costs that may grow with accounts, clients, callers and requests: each row is compared with the cost for one
account, client, caller or request.

    Tests/tools/Bench/scale.py [PART...]     parts: accounts, clients, renewal, requests; default: all of them

It needs the library and the daemon in build/lib, and .build/debug/enroll-sandbox. The environment
variables ACCOUNTS and CLIENTS set their numbers.
"""

import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from measure import BUILT, HERE, TOP, bench_steps, emit

from processes import wait_until
from sandbox import Sandbox
from world import Clock

ACCOUNTS = int(os.environ.get("ACCOUNTS", 100_000))
CLIENTS = int(os.environ.get("CLIENTS", 400))


def row(what, ours, theirs, unit):
    emit(what, **{name: figure if figure is None else float(f"{figure:.4g}") for name, figure in {
        "ours": ours, "theirs": theirs, "ratio": ours / theirs if theirs else None}.items()}, unit=unit)  # fmt: skip


class Programs:
    """The programs that are compiled for this run, in a folder that is deleted at its end."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.scale = self.folder / "scale"
        flags = ["-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{TOP}/include", "-pthread"]
        rest = [HERE / "scale.c", f"-L{BUILT}", "-lenroll", f"-Wl,-rpath,{BUILT}"]
        subprocess.run(["cc", *flags, "-o", self.scale, *rest], check=True)
        self.steps = bench_steps()
        # A library that makes fsync do nothing, so that stores are filled without waiting for the disk.
        self.hasty = self.folder / "hasty.so"
        source = b"int fsync(int f) { (void)f; return 0; } int fdatasync(int f) { (void)f; return 0; }"
        subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", self.hasty], input=source, check=True)

    def run(self, *arguments):
        """Runs the program and returns the numbers that it prints."""
        printed = subprocess.run([self.scale, *map(str, arguments)], stdout=subprocess.PIPE, check=True).stdout
        return [int(number) for number in printed.split()]

    def store(self, name, accounts, configuration):
        """The path of a store with that many accounts."""
        home = self.folder / name
        home.mkdir()
        environment = {
            **os.environ, "LD_PRELOAD": str(self.hasty), "BENCH_FILL": configuration, "BENCH_TO": str(accounts)}
        subprocess.run([self.steps], cwd=home, env=environment, check=True)
        return home / "store"

    @contextlib.contextmanager
    def running(self, *arguments, environment=None):
        """A process that has printed "ready"; it ends when its input ends."""
        process = subprocess.Popen(
            [self.scale, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **(environment or {})}, bufsize=0)
        try:
            assert process.stdout.readline() == b"ready\n"
            yield process
        finally:
            process.stdin.close()
            process.wait(60)
            process.stdout.close()


def status(pid, word, task=None):
    """The number after `word` in /proc/PID/status or, with `task`, in the status file of this thread."""
    place = f"/proc/{pid}/task/{task}/status" if task else f"/proc/{pid}/status"
    with open(place) as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(word + ":"))


def tasks(pid):
    return os.listdir(f"/proc/{pid}/task")


def wakings(pid):
    """How often the threads of a process waited and continued (context switches)."""
    total = 0
    for task in tasks(pid):
        with contextlib.suppress(FileNotFoundError):
            total += status(pid, "voluntary_ctxt_switches", task)
    return total


class Daemon:
    """enrolld, over its pipes."""

    def __init__(self):
        self.process = subprocess.Popen([BUILT / "enrolld"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid
        self.last = 0

    def lines(self, method, parameters, count=1):
        first = self.last + 1
        self.last += count
        return b"".join(
            json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}).encode() + b"\n"
            for number in range(first, self.last + 1))

    def send(self, lines):
        self.process.stdin.write(lines)
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        assert line, "enrolld ended"
        return json.loads(line)

    def call(self, method, **parameters):
        self.send(self.lines(method, parameters))
        return self.answer()["result"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


def accounts(programs):
    """Stores with one account and with many, in alternating rounds."""
    # Each process of the program asks the provider for its metadata once.
    with Sandbox() as sandbox:
        measure_accounts(programs, json.dumps(sandbox.configuration(confirmation=False)))


def measure_accounts(programs, configuration):
    few, many = programs.store("few", 1, configuration), programs.store("many", ACCOUNTS, configuration)
    last = f"account-{ACCOUNTS - 1}"
    rounds = 7
    measured = {store: [] for store in (few, many)}
    for _ in range(rounds):
        for store, account in ((few, "account-0"), (many, last)):
            measured[store].append(programs.run("account", configuration, store, account))
    # The lowest figure of each kind, because other work on the machine only adds to a figure.
    figures = {store: [min(numbers) for numbers in zip(*all_rounds)] for store, all_rounds in measured.items()}
    title = f"{ACCOUNTS:,} accounts: "
    row(title + "opening, and a first token", figures[many][0] / 1e6, figures[few][0] / 1e6, "ms")
    row(title + "a cached token", figures[many][1], figures[few][1], "ns")
    row(title + "a save", figures[many][2] / 1e6, figures[few][2] / 1e6, "ms")
    listed = min(programs.run("list", many)[0] for _ in range(3))
    read = min(programs.run("files", many)[0] for _ in range(3))
    row(title + "the list, beside reading their files", listed / 1e6, read / 1e6, "ms")

    resident = []
    for store, account in ((few, "account-0"), (many, last)):
        daemon = Daemon()
        client = daemon.call(
            "client.open", configuration=json.loads(configuration), store=str(store), account=account)["client"]
        daemon.call("token.access", client=client)
        resident.append(status(daemon.pid, "VmRSS"))
        if store == many:
            damage_one(title, daemon, client, store, resident[1])
        daemon.close()
    row(title + "memory of enrolld with a client", resident[1], resident[0], "kB")


def damage_one(title, daemon, client, store, before):
    """Damages one of many records: the list of accounts reports the damaged record, and contains all other
    accounts."""
    assert len(daemon.call("accounts.list", store=str(store))["accounts"]) == ACCOUNTS
    row(title + "memory of enrolld after the list", status(daemon.pid, "VmRSS"), before, "kB")
    # The record of the first account.
    damaged = min(store.glob("*.record"), key=lambda path: path.stat().st_mtime_ns)
    damaged.write_bytes(damaged.read_bytes()[:-1])
    daemon.send(daemon.lines("accounts.list", {"store": str(store)}))
    error = daemon.answer()["error"]
    assert error["data"]["status"] == "storeCorrupt" and damaged.name in error["message"], error
    left = daemon.call("accounts.list", store=str(store))["accounts"]
    row(title + "listed with one damaged", len(left), ACCOUNTS - 1, "accounts")
    assert daemon.call("token.access", client=client)["outcome"] == "valid"
    begun = time.perf_counter()
    found = daemon.call("store.diagnose", store=str(store))
    took = time.perf_counter() - begun
    (aside,) = [file for file in found["files"] if "setAsideFrom" in file]
    assert (aside["setAsideFrom"], found["accounts"], found["setAside"]) == (damaged.name, ACCOUNTS - 1, 1)
    row(title + "store.diagnose", took * 1e3, None, "ms")
    row(title + "memory of enrolld after store.diagnose", status(daemon.pid, "VmRSS"), before, "kB")


def clients(programs):
    """Clients that renew in the background: first every client is signed in, with a token that is not due; then no
    client is signed in."""
    with Sandbox() as sandbox:
        configuration = json.dumps(sandbox.configuration(confirmation=False))
    for title, count in (("signed in", CLIENTS), ("signed out", 0)):
        store = programs.store(f"clients-{count}", count, configuration) if count else programs.folder / "nobody"
        threads, switches = [], []
        for number in (1, CLIENTS):
            with programs.running("clients", configuration, store, number) as process:
                most = len(tasks(process.pid))
                # The threads that opened the clients end a second after their last job.
                wait_until(lambda: len(tasks(process.pid)) <= 2, "the threads end", every=0.1)
                before = wakings(process.pid)
                time.sleep(10)
                switches.append(wakings(process.pid) - before)
                threads.append((len(tasks(process.pid)), most))
        text = f"{CLIENTS} clients, {title}: "
        row(text + "threads", threads[1][0], threads[0][0], "threads")
        row(text + "threads right after opening", threads[1][1], threads[0][1], "threads")
        row(text + "wake-ups in 10 s", switches[1], switches[0], "wake-ups")


def signed_in(sandbox, store, clock):
    """Signs in the account `default` by the daemon."""
    configuration = sandbox.configuration(confirmation=False)
    daemon = Daemon()
    client = daemon.call("client.open", configuration=configuration, store=str(store))["client"]
    url = daemon.call("registration.begin", client=client)["action"]["url"]
    daemon.call("registration.resume", client=client, url=sandbox.play(url))
    daemon.close()
    return json.dumps(configuration)


def renewal(programs):
    """A renewal that 64 threads in each of 8 processes wait for, compared with a renewal for a single thread."""
    processes, threads, rounds, lifetime = 8, 64, 15, 400
    for delay in (0, 400):
        with Sandbox() as sandbox, contextlib.ExitStack() as stack:
            clock = Clock()
            store = programs.folder / f"renewal-{delay}"
            configuration = signed_in(sandbox, store, clock)
            crowds = {
                "one": [stack.enter_context(programs.running("crowd", configuration, store, 1, environment=clock.environment))],
                "all": [
                    stack.enter_context(
                        programs.running("crowd", configuration, store, threads, environment=clock.environment))
                    for _ in range(processes)
                ],
            }  # fmt: skip
            times = {"one": [], "all": [], "memory": []}
            for number in range(rounds + 2):
                # The last measurement repeats the call in all threads, with the token in memory: it shows the time that
                # this number of threads takes without a renewal.
                for name, group in [*crowds.items(), ("memory", crowds["all"])]:
                    if name != "memory":
                        clock.advance(lifetime)
                    sandbox.control("resetCounts")
                    if delay and name != "memory":
                        sandbox.control("fault", fault="delay", endpoint="token", value=delay, times=1)
                    # The instant is late enough: by then, every thread is waiting for it.
                    instant = time.monotonic_ns() + 100_000_000
                    for process in group:
                        process.stdin.write(b"%d\n" % instant)
                    answers = [[int(text) for text in process.stdout.readline().split()] for process in group]
                    expected = 1 if name == "one" else threads * processes
                    assert sum(good for good, _ in answers) == expected, answers
                    assert sandbox.control("counts")["refreshes"] == (name != "memory")
                    # The first rounds also open libraries and connections.
                    if number >= 2:
                        times[name].append(max(last for _, last in answers) / 1e6)
        one, last, nothing = (statistics.median(times[name]) for name in ("one", "all", "memory"))
        what = f"last of {threads * processes} callers in {processes} processes, answer after {delay} ms"
        row(what, last, one, "ms")
        row(what + ", less that with a cached token", last - nothing, one, "ms")


def requests(programs):
    """10,000 requests that wait for one renewal, and the same number that do not wait."""
    count = 10_000
    with Sandbox() as sandbox:
        store = programs.folder / "requests"
        configuration = json.loads(signed_in(sandbox, store, None))
        daemon = Daemon()
        client = daemon.call("client.open", configuration=configuration, store=str(store))["client"]
        daemon.call("token.access", client=client)
        before = status(daemon.pid, "VmRSS")
        sandbox.control("fault", fault="delay", endpoint="token", value=3000, times=1)
        sandbox.control("resetCounts")
        lines = daemon.lines("token.refresh", {"client": client}, count)
        cpu = os.times()
        daemon.send(lines)
        time.sleep(2)
        waiting, threads = status(daemon.pid, "VmRSS"), len(tasks(daemon.pid))
        answers = [daemon.answer() for _ in range(count)]
        assert len({answer["id"] for answer in answers}) == count
        tokens = sum("result" in answer for answer in answers)
        sent = sandbox.control("counts")["refreshes"]
        row(f"{count:,} outstanding requests: answers", len(answers), count, "answers")
        row(f"{count:,} outstanding requests: tokens", tokens, count, "tokens")
        row(f"{count:,} outstanding requests: requests to the provider", sent, 1, "requests")
        row(f"{count:,} outstanding requests: threads", threads, None, "threads")
        row(f"{count:,} outstanding requests: memory meanwhile", waiting, before, "kB")
        row(f"{count:,} outstanding requests: memory afterwards", status(daemon.pid, "VmRSS"), before, "kB")
        row(f"{count:,} outstanding requests: most memory", status(daemon.pid, "VmHWM"), before, "kB")
        daemon.close()


PARTS = {"accounts": accounts, "clients": clients, "renewal": renewal, "requests": requests}


def main():
    names = sys.argv[1:] or PARTS
    with tempfile.TemporaryDirectory(prefix="enroll-scale-", dir=os.environ.get("SCALE_FOLDER")) as folder:
        programs = Programs(folder)
        for name in names:
            PARTS[name](programs)


if __name__ == "__main__":
    sys.exit(main())
