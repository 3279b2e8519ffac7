"""What the functions return while the other tests run is what the header says that they may return.

A library between the program and libenroll (LD_PRELOAD) has each function that returns an enroll_status, calls the real
one, and writes down each status that the function's comment does not name.
"""

import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(TOP / "scripts"), str(TOP / "Tests/Faces")]
import header  # noqa: E402: the header as a table
import platforms  # noqa: E402
from compiled import compiled  # noqa: E402

OUT = platforms.OUT / "c"
LIBRARY = OUT / "libdocumented.so"
SEEN = OUT / "undocumented.txt"
#: For the processes of the tests.
ENVIRONMENT = {"LD_PRELOAD": str(LIBRARY), "ENROLL_UNDOCUMENTED": str(SEEN)}

PRELUDE = """\
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "enroll.h"

/* In one write, so that lines of several processes do not mix. */
static enroll_status seen(const char *function, enroll_status status, const enroll_status *documented, size_t count) {
  for (size_t index = 0; index < count; index++)
    if (documented[index] == status) return status;
  char line[128];
  const char *path = getenv("ENROLL_UNDOCUMENTED");
  int size = snprintf(line, sizeof line, "%s: %d\\n", function, (int)status);
  int file = path == NULL ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (file < 0 || write(file, line, (size_t)size) != size) abort();
  close(file);
  return status;
}
"""


def interposed(read, function):
    """One function that calls the next of its name."""
    statuses = sorted(read.statuses(function) | read.everywhere)
    declaration = function.declaration.rstrip(";")
    types = ", ".join(parameter.type for parameter in function.parameters)
    arguments = ", ".join(parameter.name for parameter in function.parameters)
    return f"""
{declaration} {{
  static const enroll_status documented[] = {{{", ".join(statuses)}}};
  enroll_status (*next)({types}) = (enroll_status (*)({types}))dlsym(RTLD_NEXT, "{function.name}");
  return seen("{function.name}", next({arguments}), documented, sizeof documented / sizeof *documented);
}}
"""


def build():
    """The library to be preloaded; what an earlier run wrote down is forgotten."""
    read = header.read()
    functions = [function for function in read.functions if function.type == "enroll_status"]
    source = OUT / "documented.c"
    source.write_text(PRELUDE + "".join(interposed(read, function) for function in functions))
    compiled(
        LIBRARY, "-std=gnu11", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", f"-I{TOP / 'include'}", source, "-ldl")  # fmt: skip
    SEEN.unlink(missing_ok=True)


def run(count):
    constants = header.read().constants
    names = {constant.value: constant.name for constant in constants if constant.name.startswith("ENROLL_E_")}
    found = sorted(set(SEEN.read_text().splitlines())) if SEEN.exists() else []
    faults = []
    for line in found:
        function, _, status = line.partition(": ")
        faults.append(f"{function} returned {names.get(int(status), status)}, which its comment does not name")
    count.add("every status that came is one that the header promises", not faults, "\n".join(faults))
