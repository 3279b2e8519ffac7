"""The world of processes under test, from outside: what time it is there, and when one of them dies or stands still.

`world.c` is preloaded into them; it says what the variables mean.
"""

import functools
import mmap
import struct
import time

from compiled import compiled
from platforms import OUT
from processes import TOP, workspace


@functools.cache
def _library():
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared"]
    return compiled(OUT / "world.so", *flags, TOP / "Tests/Faces/world.c", "-ldl")


class Clock:
    """One clock for all processes that are given its environment: the machine's, and what was added."""

    def __init__(self):
        self._path = workspace("clock") / "offsets"
        self._path.write_bytes(bytes(16))
        with open(self._path, "r+b") as file:
            self._place = mmap.mmap(file.fileno(), 16)
        self._seconds = 0

    def set_date(self, seconds):
        """The date becomes this one, in seconds since 1970; nothing else moves."""
        self._place[8:] = struct.pack("=q", round((seconds - time.time()) * 1e9))

    def advance(self, seconds, date=False):
        """The machine slept for so long; its date moves along only with `date`."""
        self._seconds += seconds
        nanoseconds = round(self._seconds * 1e9)
        self._place[:8] = struct.pack("=q", nanoseconds)
        if date:
            self._place[8:] = struct.pack("=q", nanoseconds)

    @property
    def environment(self):
        return {"LD_PRELOAD": str(_library()), "WORLD_CLOCK": str(self._path)}

    def dying(self, point):
        """The environment of a process that is killed there, as WORLD_KILL says it."""
        return {**self.environment, "WORLD_KILL": point}

    def stopping(self, point):
        """The environment of a process that stands still there until it is told to go on."""
        return {**self.environment, "WORLD_STOP": point}
