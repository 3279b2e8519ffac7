#!/usr/bin/env python3
"""Compares the daemon with C programs on the same pipes: one parses and answers the same line (answer.c), and one
echoes it.

Start to first answer: from fork until the answer's line is read. CPU for a request: the CPU time of the process,
from /proc, which other work on the machine hardly changes. Memory: resident, of the whole process, compared with
oidc-agent's processes.
"""

import contextlib
import json
import os
import subprocess
import time
from pathlib import Path

from agent import Agent, is_installed
from measure import BUILT, HERE, compare, emit, in_turns, plain

from processes import workspace
from sandbox import Sandbox

ENROLLD = BUILT / "enrolld"
REQUEST = b'{"jsonrpc":"2.0","id":%d,"method":"expiry.check","params":{"expiresAt":1,"now":0}}\n'
STARTS = 101
ROUNDS = 15
OUTSTANDING = (1, 64)
REQUESTS = 12_800
TOKENS = 5_000


class Program:
    def __init__(self, *arguments):
        self._process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self._given, self._got = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._sent = 0

    def exchange(self, requests, answers=1):
        """Writes the requests, and reads `answers` lines; returns the number of bytes that were read."""
        os.write(self._given, requests)
        seen = size = 0
        while seen < answers:
            read = os.read(self._got, 1 << 16)
            if not read:
                raise RuntimeError("the program ended")
            seen += read.count(b"\n")
            size += len(read)
        return size

    def call(self, method, **parameters):
        """The result of one request."""
        self._sent += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self._sent, "method": method, "params": parameters})
        os.write(self._given, line.encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            answer += os.read(self._got, 1 << 16)
        told = json.loads(answer)
        if "error" in told:
            raise RuntimeError(f"{method}: {told['error']['message']}")
        return told["result"]

    def resident(self):
        """Kilobytes of resident memory."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))

    def cpu(self):
        """The CPU time of all threads of the program, in seconds."""
        tasks = Path(f"/proc/{self._process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@contextlib.contextmanager
def one_processor():
    """Keeps programs that wait for each other on one processor: otherwise the time would mostly depend on the processor
    on which the next program wakes up."""
    all_of_them = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(all_of_them)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_of_them)


def start(path):
    """Milliseconds until the first answer."""
    begun = time.perf_counter()
    program = Program(path)
    program.exchange(REQUEST % 1)
    took = (time.perf_counter() - begun) * 1e3
    program.close()
    return took


def request(path, outstanding):
    """Microseconds of CPU for one request, and requests a second."""
    program = Program(path)
    program.exchange(REQUEST % 1)
    burst = b"".join(REQUEST % number for number in range(outstanding))
    cpu, wall = program.cpu(), time.perf_counter()
    for _ in range(REQUESTS // outstanding):
        program.exchange(burst, outstanding)
    wall, cpu = time.perf_counter() - wall, program.cpu() - cpu
    program.close()
    return cpu / REQUESTS * 1e6, REQUESTS / wall


def requests(answer):
    compare("enrolld, start to first answer", *in_turns(STARTS, lambda: start(ENROLLD), lambda: start(answer)), "ms")
    for outstanding in OUTSTANDING:
        with one_processor() if outstanding == 1 else contextlib.nullcontext():
            ours, theirs = in_turns(ROUNDS, lambda: request(ENROLLD, outstanding), lambda: request(answer, outstanding))
        compare(f"enrolld, CPU for a request, {outstanding} outstanding", [cpu for cpu, _ in ours], [cpu for cpu, _ in theirs], "µs")
        compare(f"enrolld, requests a second, {outstanding} outstanding", [rate for _, rate in ours],
                [rate for _, rate in theirs], "/s", digits=0)  # fmt: skip


def sign_in(daemon, sandbox):
    """Signs a client in, and returns the daemon's id of the client."""
    configuration = sandbox.configuration()
    client = daemon.call("client.open", configuration=configuration, store=str(workspace("store")))["client"]
    begun = daemon.call("registration.begin", client=client)
    daemon.call("registration.resume", client=client, url=sandbox.play(begun["action"]["url"]))
    daemon.call("registration.confirm", client=client)
    return client


def tokens(daemon, client):
    """Compares a cached token with an echo program that answers the same number of bytes."""
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "token.access", "params": {"client": client}}).encode() + b"\n"
    echo = Program(plain("echo", HERE / "echo.c"), str(daemon.exchange(line)))

    def microseconds(program):
        began = time.perf_counter()
        for _ in range(TOKENS):
            program.exchange(line)
        return (time.perf_counter() - began) / TOKENS * 1e6

    compare("token.access of enrolld", *in_turns(ROUNDS, lambda: microseconds(daemon), lambda: microseconds(echo)), "µs")
    echo.close()


def megabytes(kilobytes):
    return round(kilobytes * 1024 / 1e6, 3)


def memory_and_tokens():
    peers = [{}, {}]
    if is_installed():
        agent = Agent()
        peers[0] = {"theirs": megabytes(agent.resident())}
        agent.add_account()
        peers[1] = {"theirs": megabytes(agent.resident())}
        agent.stop()
    with Sandbox("--access-lifetime", "86400") as sandbox:
        daemon = Program(ENROLLD)
        daemon.exchange(REQUEST % 1)
        emit("enrolld, resident before the first client", ours=megabytes(daemon.resident()), unit="MB", **peers[0])
        client = sign_in(daemon, sandbox)
        emit("enrolld, resident after the first client", ours=megabytes(daemon.resident()), unit="MB", **peers[1])
        tokens(daemon, client)
        daemon.close()


if __name__ == "__main__":
    requests(plain("answer", HERE / "answer.c", "-ljansson"))
    with one_processor():
        memory_and_tokens()
