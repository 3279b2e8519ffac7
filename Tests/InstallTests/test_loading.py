"""The library loaded at run time, as bindings do it."""

import unittest

from trees import FLAVOURS, TOP, VALGRIND, tree

SOURCE = TOP / "Tests/InstallTests/loading.c"


class LoadingTests(unittest.TestCase):
    def program(self, built):
        # Of what pkg-config says only the header's place: the library is found by its soname.
        program = built.prefix.parent / "loading"
        made = built.run("cc", "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", SOURCE, "-o", program,
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
