#!/usr/bin/env python3
"""The README's examples: each block is the file that it names, and each file signs in against the sandbox.

`--write` puts the files into the README.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/CTests"))
from sign_in import play_user  # noqa: E402: the user of the sandbox is the same for every face

README = ROOT / "README.md"
BLOCK = re.compile(r"(<!-- example: (\S+) -->\n```\w*\n)(.*?)(```\n)", re.S)


class ReadmeTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sandbox = subprocess.Popen(
            [ROOT / ".build/debug/enroll-sandbox", "--port", "0", "--quiet", "--exit-with-stdin"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        cls.issuer = json.loads(cls.sandbox.stdout.readline())["issuer"]

    @classmethod
    def tearDownClass(cls):
        cls.sandbox.stdin.close()
        cls.sandbox.wait(10)
        cls.sandbox.stdout.close()

    def test_every_block_is_its_file(self):
        blocks = BLOCK.findall(README.read_text())
        self.assertGreaterEqual(len(blocks), 3)
        for _, name, text, _ in blocks:
            self.assertEqual(text, (ROOT / name).read_text(), f"{name}: run {__file__} --write")

    def signs_in(self, *command, environment=None):
        with tempfile.TemporaryDirectory() as home:
            program = subprocess.Popen(
                [*map(str, command), self.issuer, f"{home}/store"], stdout=subprocess.PIPE, text=True, env=environment)
            line = program.stdout.readline()
            self.assertIn("http", line, "the example prints the URL to open")
            play_user(line[line.index("http"):].strip())
            rest = program.stdout.read()
            self.assertEqual(program.wait(30), 0, rest)
            program.stdout.close()
            self.assertIn("Hello, Alice", rest)
            self.assertRegex(rest, r"A valid token of \d+ bytes")
            self.assertIn("end the browser's session", rest)

    def test_the_swift_example_signs_in(self):
        self.signs_in("stdbuf", "-oL", ROOT / ".build/debug/sign-in-example")

    def test_the_c_example_signs_in_on_both_flavours(self):
        for flavour in ("small", "standard"):
            library = ROOT / "build" / flavour
            with self.subTest(flavour), tempfile.TemporaryDirectory() as out:
                program = f"{out}/sign_in"
                subprocess.run(
                    ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", ROOT / "Examples/sign_in.c", "-o",
                     program, f"-L{library}", "-lenroll", f"-Wl,-rpath,{library}"], check=True)
                self.signs_in(program)

    def test_the_python_example_signs_in(self):
        self.signs_in(sys.executable, "-u", ROOT / "Examples/sign_in.py", ROOT / "build/bin/enrolld")


def write():
    text = BLOCK.sub(lambda found: found[1] + (ROOT / found[2]).read_text() + found[4], README.read_text())
    README.write_text(text)


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
        sys.exit()
    result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromTestCase(ReadmeTests))
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad > 0)
