"""Many clients of one process that renew in the background share the threads that look for due renewals."""

import functools
import json
import pathlib

from cases import ProcessCase
from compiled import compiled
from platforms import BUILD, OUT
from processes import TOP, Child, wait_until, workspace

CLIENTS = 200
# The largest number of threads: the program's own thread, the thread of the timers, and the threads that read stores.
MOST = 2 + 8


@functools.cache
def _holder():
    """The program of the measurements, which keeps clients open."""
    flags = ["-std=gnu99", "-Wall", "-Wextra", "-Werror", f"-I{TOP}/include", "-pthread"]
    source = TOP / "Tests/tools/Bench/scale.c"
    return compiled(OUT / "scale", *flags, source, f"-L{BUILD}/lib", "-lenroll")


class ManyClients(ProcessCase):
    def threads(self, child):
        return len(list(pathlib.Path(f"/proc/{child.process.pid}/task").iterdir()))

    def test_they_take_one_thread_more_than_the_program_has_and_few_while_they_look(self):
        child = Child(
            [_holder(), "clients", json.dumps(self.configuration()), self.store, CLIENTS],
            workspace("clients") / "stderr",
            environment={"LD_LIBRARY_PATH": f"{BUILD}/lib"},
            pipes=True,
        )
        self.addCleanup(child.stop)
        self.assertEqual(child.process.stdout.readline(), b"ready\n", child.tail())
        self.assertLessEqual(self.threads(child), MOST)
        wait_until(lambda: self.threads(child) == 2, "only the program and the timers are left")
