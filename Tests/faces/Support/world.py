"""Controls the environment of processes under test: their clock, and the point at which a process is killed
or stopped.

The processes preload a library made from `world.c`; its comments explain the variables.
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
    return compiled(OUT / "world.so", *flags, TOP / "Tests/faces/Support/world.c", "-ldl")


class Clock:
    """A clock for all processes that run with its `environment`: the machine's clock plus the added time."""

    def __init__(self):
        self._path = workspace("clock") / "offsets"
        self._path.write_bytes(bytes(16))
        with open(self._path, "r+b") as file:
            self._place = mmap.mmap(file.fileno(), 16)
        self._seconds = 0

    def set_date(self, seconds):
        """Sets the date, in seconds since 1970; no other clock changes."""
        self._place[8:] = struct.pack("=q", round((seconds - time.time()) * 1e9))

    def advance(self, seconds, date=False):
        """Advances the clocks as if the machine had slept. The date changes only if `date` is true."""
        self._seconds += seconds
        nanoseconds = round(self._seconds * 1e9)
        self._place[:8] = struct.pack("=q", nanoseconds)
        if date:
            self._place[8:] = struct.pack("=q", nanoseconds)

    @property
    def environment(self):
        return {"LD_PRELOAD": str(_library()), "WORLD_CLOCK": str(self._path)}

    def dying(self, point):
        """The environment of a process that is killed at this point (WORLD_KILL)."""
        return {**self.environment, "WORLD_KILL": point}

    def stopping(self, point):
        """The environment of a process that is stopped at this point until it is continued (WORLD_STOP)."""
        return {**self.environment, "WORLD_STOP": point}
