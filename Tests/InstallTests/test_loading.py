"""The library loaded at run time, as bindings do it."""

import shutil
import unittest

from trees import FLAVOURS, HOME, TOP, VALGRIND, tree

SOURCES = TOP / "Tests/InstallTests"


class LoadingTests(unittest.TestCase):
    def program(self, built, name="loading"):
        # Of what pkg-config says only the header's place: the library is found by its soname, or by its path.
        program = built.prefix.parent / name
        made = built.run("cc", "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", SOURCES / f"{name}.c", "-o", program,
                         *built.said("--cflags"), "-ldl", "-lpthread")  # fmt: skip
        self.assertEqual(made.returncode, 0, made.stderr)
        return program

    def test_it_is_loaded_and_let_go_a_hundred_times_and_then_used(self):
        for flavour in FLAVOURS:
            for wrapper in ((), VALGRIND):
                with self.subTest(flavour, watched=bool(wrapper)):
                    built = tree(flavour)
                    ran = built.run(*wrapper, self.program(built))
                    self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "101 calls came back\n", ""))

    def test_a_handle_of_another_copy_of_the_library_is_refused(self):
        small, standard = (tree(flavour).prefix / "lib/libenroll.so.0" for flavour in FLAVOURS)
        again = shutil.copy(small, HOME / "again.so")
        for pair in ((small, standard), (small, again)):
            for wrapper in ((), VALGRIND):
                with self.subTest(copies=[str(path) for path in pair], watched=bool(wrapper)):
                    built = tree("small")
                    ran = built.run(*wrapper, self.program(built, "copies"), *pair)
                    self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "264 handles refused\n", ""))
