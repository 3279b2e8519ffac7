"""While the other tests run, checks that functions return only statuses that the header names.

A preloaded library (LD_PRELOAD) wraps each function that returns an enroll_status: it calls the real function, and
records each status that the function's comment does not name.
"""

import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TOP / "scripts"), str(TOP / "Tests/faces/Support")]
import header  # noqa: E402: the header as a table
import platforms  # noqa: E402
from compiled import compiled  # noqa: E402

OUT = platforms.OUT / "c"
LIBRARY = OUT / "libdocumented.so"
SEEN = OUT / "undocumented.txt"
#: Environment variables for the processes of the tests.
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
    """The C code of a wrapper, which calls the real function of the same name."""
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
    """Builds the preloaded library, and deletes the records of an earlier run."""
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
