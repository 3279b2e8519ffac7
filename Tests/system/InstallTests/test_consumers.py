"""Programs in C and C++ that are built with pkg-config against an installed tree, and sign in."""

import re
import subprocess
import tempfile
import unittest

from sign_in import play_user
from sandbox import Sandbox
from trees import TOP, VALGRIND, tree

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
C = ["cc", "-std=c99", *STRICT], TOP / "Examples/sign_in.c"
CXX = ["c++", "-std=c++17", *STRICT], TOP / "Tests/system/InstallTests/consumer.cpp"


class ConsumerTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox()

    @classmethod
    def tearDownClass(cls):
        cls.sandbox.stop()

    def signs_in(self, built, program, wrapper=()):
        with tempfile.TemporaryDirectory() as home:
            process = subprocess.Popen(
                [*wrapper, program, self.sandbox.issuer, f"{home}/store"], env=built.environment,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
            line = process.stdout.readline()
            if "http" in line:
                play_user(line[line.index("http") :].strip())
            output, complaint = process.communicate(timeout=300)
            self.assertEqual((process.returncode, complaint), (0, ""), line + output)
            self.assertIn("Alice", output)
            self.assertRegex(output, r"A valid token of \d+ bytes")
            self.assertIn("end the browser's session", output)

    def each_signs_in(self, module, linked):
        """Builds both programs. `linked` has two libraries: the programs must be linked with the first one, but not
        with the second one."""
        needed, absent = linked
        for name, (compiler, source) in (("c", C), ("cxx", CXX)):
            with self.subTest(name):
                program = tree().build(name, compiler, source, module=module)
                self.assertIn(needed, self.needs(program))
                self.assertNotIn(absent, self.needs(program))
                self.signs_in(tree(), program)

    @staticmethod
    def needs(program):
        told = subprocess.check_output(["readelf", "-d", program], text=True)
        return set(re.findall(r"\(NEEDED\).*\[(.*)\]", told))

    def test_programs_with_the_shared_library_sign_in(self):
        self.each_signs_in("enroll", linked=("libenroll.so.0", "libjansson.so.4"))

    def test_programs_with_the_static_library_sign_in_and_need_no_library_of_ours(self):
        # The tree also has the shared library, which a linker would normally prefer to the static one.
        self.each_signs_in("enroll-static", linked=("libjansson.so.4", "libenroll.so.0"))

    def test_the_archive_alone_serves_whoever_says_static(self):
        """Links the archive by its path, as build systems do that search for archives themselves, such as Meson."""
        built = tree()
        words = [word for word in built.said("--static", "--libs") if word != "-lenroll"]
        archive = built.prefix / "lib/libenroll.a"
        program = built.prefix.parent / "by-hand"
        subprocess.run([*C[0], *built.said("--cflags"), C[1], "-o", program, archive, *words], check=True)
        self.assertNotIn("libenroll.so.0", self.needs(program))

    def test_the_c_plus_plus_program_signs_in_under_valgrind(self):
        self.signs_in(tree(), tree().build("cxx-watched", [*CXX[0], "-g"], CXX[1]), VALGRIND)

    def test_what_a_shared_program_is_told_names_no_library_of_the_librarys_own(self):
        prefix = tree().prefix
        # pkg-config finds only our own module, as on a machine without the development files of any other library.
        alone = {**tree().environment, "PKG_CONFIG_LIBDIR": f"{prefix}/lib/pkgconfig", "PKG_CONFIG_PATH": ""}
        told = subprocess.run(
            ["pkg-config", "--print-errors", "--cflags", "--libs", "enroll"], env=alone, capture_output=True, text=True)
        words = [f"-I{prefix}/include", f"-L{prefix}/lib", "-lenroll"]
        self.assertEqual((told.stdout.split(), told.stderr), (words, ""))
