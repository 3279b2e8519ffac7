#!/usr/bin/env python3
"""Measures the daemon beside a plain C program with jansson that answers the same line (answer.c).

    Tests/Bench/daemon.py [PROGRAM...]     default: the daemons of build/small and build/standard

Start to first answer: fork and exec until the answer's line is read, medians of interleaved runs. CPU per request: user and
system time of the child from /proc, so that a busy machine does not show: medians. Requests per second, with the caller that
this program is: the best of interleaved rounds, and only of use where the machine is calm. Memory: resident, after the first
answer.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
REQUEST = b'{"jsonrpc":"2.0","id":%d,"method":"expiry.check","params":{"expiresAt":1,"now":0}}\n'


class Program:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.given, self.got = self.process.stdin.fileno(), self.process.stdout.fileno()

    def exchange(self, requests, answers):
        os.write(self.given, requests)
        seen = 0
        while seen < answers:
            seen += os.read(self.got, 1 << 16).count(b"\n")

    def memory(self, word):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(word + ":"))

    def cpu(self):
        """Seconds, of all its threads."""
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def start(path):
    """Seconds until the first answer, and kilobytes resident then."""
    begun = time.perf_counter()
    program = Program(path)
    program.exchange(REQUEST % 1, 1)
    took = time.perf_counter() - begun
    memory = program.memory("VmRSS"), program.memory("RssAnon")
    program.close()
    return took, *memory


ROUNDS = 7
OUTSTANDING = (1, 64)


def per_request(path, outstanding, count=12_800):
    """Microseconds of CPU, and of wall time, per request."""
    program = Program(path)
    program.exchange(REQUEST % 1, 1)
    burst = b"".join(REQUEST % number for number in range(outstanding))
    cpu, wall = program.cpu(), time.perf_counter()
    for _ in range(count // outstanding):
        program.exchange(burst, outstanding)
    wall = time.perf_counter() - wall
    cpu = program.cpu() - cpu
    program.close()
    return cpu / count * 1e6, wall / count * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", nargs="*", default=[TOP / "build" / name / "enrolld" for name in ("small", "standard")])
    parser.add_argument("--runs", type=int, default=101)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plain, linked = folder + "/answer", folder + "/answer-libcrypto"
        cc = ["cc", "-O2", HERE / "answer.c", "-ljansson"]
        subprocess.run([*cc, "-o", plain], check=True)
        # The same, with libcrypto loaded: what a program pays that may have to verify a signature.
        subprocess.run([*cc, "-Wl,--no-as-needed", "-lcrypto", "-o", linked], check=True)
        rows = {"C + jansson": plain, "C + jansson, libcrypto linked": linked}
        rows |= {f"enrolld {pathlib.Path(path).parent.name}": path for path in given.programs}
        starts = {name: [] for name in rows}
        for _ in range(given.runs):
            for name, path in rows.items():
                starts[name].append(start(path))
        costs = {name: {outstanding: [] for outstanding in OUTSTANDING} for name in rows}
        for _ in range(ROUNDS):
            for name, path in rows.items():
                for outstanding in OUTSTANDING:
                    costs[name][outstanding].append(per_request(path, outstanding))
        print(f"{'':32}{'first answer':>14}{'':>7}{'resident':>11}{'own pages':>11}" + "".join(
            f"{f'CPU, {outstanding} out':>12}{'':>7}{f'requests, {outstanding} out':>18}{'':>7}" for outstanding in OUTSTANDING))
        base = None
        for name in rows:
            took = statistics.median(one[0] for one in starts[name]) * 1e3
            figures = [took]
            for outstanding in OUTSTANDING:
                figures.append(statistics.median(cpu for cpu, _ in costs[name][outstanding]))
                figures.append(1e6 / min(wall for _, wall in costs[name][outstanding]))
            base = base or figures
            line = f"{name:32}{took:11.2f} ms{took / base[0]:6.1f}×{starts[name][-1][1]:8d} kB{starts[name][-1][2]:8d} kB"
            for at in range(1, len(figures), 2):
                line += f"{figures[at]:9.2f} µs{figures[at] / base[at]:6.2f}×"
                line += f"{figures[at + 1]:16.0f}/s{figures[at + 1] / base[at + 1]:6.2f}×"
            print(line)


if __name__ == "__main__":
    sys.exit(main())
