"""Runs 64 threads at once (crowd.c), checked by the thread and address sanitizers and by valgrind. The
program is instrumented, the installed library is not."""

import unittest

from trees import TOP, VALGRIND, tree

SOURCES = [TOP / "Tests/system/InstallTests/crowd.c", TOP / "Tests/faces/CTests/provider.c"]
GCC = ["gcc", "-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{TOP}/Tests/faces/CTests"]
# The library counts references and keeps handles with atomics, which the thread sanitizer cannot see in code that it
# did not compile: it ignores the library's accesses to its own memory. The sanitizer sees the library's locks and
# threads, and every access of the program: in the program's threads, in the transport and in callbacks.
THREAD = {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1 halt_on_error=0 exitcode=66"}
ADDRESS = {"ASAN_OPTIONS": "detect_leaks=1 detect_stack_use_after_return=1", "UBSAN_OPTIONS": "halt_on_error=1"}
WATCHED = {
    "thread sanitizer": (["-fsanitize=thread", "-Wno-tsan"], [], THREAD, 20),
    "address sanitizer": (["-fsanitize=address,undefined"], [], ADDRESS, 20),
    "valgrind": ([], VALGRIND, {}, 6),
}


class CrowdTests(unittest.TestCase):
    def runs_clean(self, name):
        options, wrapper, environment, rounds = WATCHED[name]
        built = tree()
        program = built.build(name.replace(" ", "-"), GCC, *SOURCES, options=[*options, "-lpthread"])
        ran = built.run(*wrapper, program, 64, rounds, **environment)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertRegex(ran.stdout, r"^64 threads, [1-9]\d+ callbacks$")

    def test_64_threads_under_the_thread_sanitizer(self):
        self.runs_clean("thread sanitizer")

    def test_64_threads_under_the_address_sanitizer(self):
        self.runs_clean("address sanitizer")

    def test_64_threads_under_valgrind(self):
        self.runs_clean("valgrind")
