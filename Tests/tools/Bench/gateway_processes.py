"""Processor time and memory of a process and its descendants, from /proc."""

import os
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def tree(pid):
    """The process and its descendants."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in children for each in tree(int(child)))]


def processor_seconds(pid):
    total = 0
    for each in tree(pid):
        fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICK


def memory(pid):
    """The memory of the processes in MB; a shared page counts once for each process."""
    lines = [line for each in tree(pid) for line in Path(f"/proc/{each}/status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1000
