"""Tests the library when a program loads it at run time, as bindings do."""

import shutil
import unittest

from trees import HOME, TOP, VALGRIND, tree

SOURCES = TOP / "Tests/system/InstallTests"


class LoadingTests(unittest.TestCase):
    def program(self, built, name="loading"):
        # The build uses only the folder of the header from the output of pkg-config. The program itself opens
        # the library, by its soname or by its path.
        program = built.prefix.parent / name
        made = built.run("cc", "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", SOURCES / f"{name}.c", "-o", program,
                         *built.said("--cflags"), "-ldl", "-lpthread")  # fmt: skip
        self.assertEqual(made.returncode, 0, made.stderr)
        return program

    def test_it_is_loaded_and_let_go_a_hundred_times_and_then_used(self):
        program = self.program(tree())
        for wrapper in ((), VALGRIND):
            with self.subTest(watched=bool(wrapper)):
                ran = tree().run(*wrapper, program)
                self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "101 calls came back\n", ""))

    def test_a_handle_of_another_copy_of_the_library_is_refused(self):
        library = tree().prefix / "lib/libenroll.so.0"
        again = shutil.copy(library, HOME / "again.so")
        program = self.program(tree(), "copies")
        for wrapper in ((), VALGRIND):
            with self.subTest(watched=bool(wrapper)):
                ran = tree().run(*wrapper, program, library, again)
                self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "264 handles refused\n", ""))
