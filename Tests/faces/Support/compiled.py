"""C programs and libraries of the tests: compiled for the platform under test, when a test needs them."""

import functools

from platforms import BUILD, OUT, TOP, compile_into, compiler, runnable

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wstrict-prototypes", "-Werror"]


def compiled(target, *arguments):
    """Compiles `target` from these sources and options. Returns the path to load (a library), or the path to start
    (a program)."""
    compile_into(target, compiler(), *arguments)
    return target if target.suffix == ".so" else runnable(target)


@functools.cache
def c_driver():
    """The C driver as a program. LD_LIBRARY_PATH names the library that it uses."""
    folder = TOP / "Tests/faces/CTests"
    return compiled(
        OUT / "c-driver", "-std=c11", "-D_GNU_SOURCE", "-g", "-O1", *WARNINGS, f"-I{TOP / 'include'}", folder / "driver.c",
        folder / "driver_json.c", f"-L{BUILD / 'lib'}", "-lenroll", "-ljansson", "-lpthread")  # fmt: skip
