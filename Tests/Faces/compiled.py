"""C programs and libraries of the tests: compiled when a test needs one, for the platform under test."""

import functools

from platforms import BUILD, OUT, TOP, compile_into, compiler, runnable

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wstrict-prototypes", "-Werror"]


def compiled(target, *arguments):
    """`target`, as the compiler makes it of these sources and options: what loads it, or what starts it."""
    compile_into(target, compiler(), *arguments)
    return target if target.suffix == ".so" else runnable(target)


@functools.cache
def c_driver():
    """The C face as a program. LD_LIBRARY_PATH names the library that it runs with."""
    folder = TOP / "Tests/CTests"
    return compiled(
        OUT / "c-driver", "-std=c11", "-D_GNU_SOURCE", "-g", "-O1", *WARNINGS, f"-I{TOP / 'include'}", folder / "driver.c",
        folder / "driver_json.c", f"-L{BUILD / 'lib'}", "-lenroll", "-ljansson", "-lpthread")  # fmt: skip
