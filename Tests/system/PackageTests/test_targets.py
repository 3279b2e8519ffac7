"""The artefacts for each target: they contain the bytes that PlatformTests runs, and sign in under qemu."""

import functools
import hashlib
import platform
import re
import subprocess
import unittest

from archived import programs, target_of
from cases import built, distribution, example, sandbox, torture_only
from processes import TOP, workspace

MACHINE = platform.machine()
OTHER = {"x86_64": "aarch64", "aarch64": "x86_64"}[MACHINE]
KINDS = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}
NODE = {"linux-x64-glibc": "x86_64-linux-gnu", "linux-arm64-glibc": "aarch64-linux-gnu",
        "linux-x64-musl": "x86_64-linux-musl", "linux-arm64-musl": "aarch64-linux-musl"}  # fmt: skip
#: The libraries that a program may need: the C library, and jansson in the build for this machine.
NEEDED = {
    "gnu": {f"{name}.so.{number}" for name, number in (("libc", 6), ("libm", 6), ("libpthread", 0), ("libdl", 2),
                                                       ("ld-linux-x86-64", 2), ("ld-linux-aarch64", 1))},
    "musl": {"libc.so"},
}  # fmt: skip


@functools.cache
def artefacts():
    """The target, the path and the programs of each artefact. The programs of the jar are stripped further."""
    return tuple(found_artefacts())


def found_artefacts():
    for path in sorted(distribution().iterdir()):
        is_tar = path.name.endswith(tuple(f"-{target}.tar.gz" for target in built()))
        if is_tar or path.suffix in (".whl", ".deb") and not path.name.startswith("python3-"):
            yield target_of(path), path, programs(path)
        elif path.name.startswith("enrollkit-") and path.suffix == ".tgz":
            found = programs(path)
            for folder, target in NODE.items():
                if own := {name: content for name, content in found.items() if f"/{folder}/" in name}:
                    yield target, path, own


class EachTarget(unittest.TestCase):
    def test_artefacts_carry_the_bytes_that_were_built_and_tested(self):
        seen = set()
        for target, path, found in artefacts():
            with self.subTest(path.name, target=target):
                # libenroll-dev has no program: it has an archive and a link to the library.
                self.assertTrue(found or "libenroll-dev" in path.name)
                files = (built()[target] / "lib").glob("*")
                known = {hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
                self.assertEqual(
                    [name for name, content in found.items() if hashlib.sha256(content).hexdigest() not in known], []
                )
                seen.add((target, path.suffix))
        for target in built():
            kinds = {".gz", ".whl", ".tgz", *([".deb"] if target.endswith("gnu") else [])}
            self.assertEqual({kind for name, kind in seen if name == target}, kinds, target)

    def test_programs_are_of_the_machine_that_the_name_says_and_need_the_c_library_alone(self):
        packages = {
            (target, path.name.partition("_")[0])
            for target, path, found in artefacts()
            if path.suffix == ".deb" and found
        }
        self.assertLessEqual(
            {(target, name) for target in built() if target.endswith("gnu") for name in ("libenroll0", "enrolld")},
            packages,
        )
        program = workspace("program") / "program"
        for target, path, found in artefacts():
            machine, _, library = target.split("-")
            allowed = NEEDED[library] | ({"libjansson.so.4"} if built()[target] == TOP / "build" else set())
            for name, content in found.items():
                with self.subTest(path.name, file=name):
                    program.write_bytes(content)
                    told = subprocess.check_output(["readelf", "-hd", program], text=True)
                    self.assertRegex(told, rf"Machine: +{KINDS[machine]}")
                    self.assertLessEqual(set(re.findall(r"\(NEEDED\).*\[(.+)\]", told)), allowed)


class Emulated:
    """A machine with the other processor, simulated by qemu. The libraries are Debian's for that architecture."""

    def __init__(self, target):
        compiler = subprocess.run(
            [TOP / "scripts/sysroot", target, "root", "--compiler"], stdout=subprocess.PIPE, text=True, check=True
        )
        self.compiler = compiler.stdout.splitlines()
        self.root = TOP / ".build/targets" / target / "root"

    def start(self, *command, **environment):
        variables = [word for name, value in environment.items() for word in ("-E", f"{name}={value}")]
        words = [f"qemu-{OTHER}-static", "-L", self.root, *variables, *map(str, command)]
        pipe = subprocess.PIPE
        return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def run(self, *command):
        child = self.start(*command)
        output, words = child.communicate(timeout=60)
        if child.returncode != 0:
            raise AssertionError(f"{command}: status {child.returncode}\n{output}{words}")
        return output


@torture_only
class OtherProcessor(unittest.TestCase):
    def test_the_libraries_of_tar_and_wheel_sign_in_and_every_daemon_starts(self):
        target = f"{OTHER}-linux-gnu"
        machine = Emulated(target)
        folder = workspace("emulated")
        daemons = []
        for of, path, found in artefacts():
            place = folder / path.name
            for name, content in found.items() if of == target else ():
                file = place / name
                file.parent.mkdir(parents=True, exist_ok=True)
                # The loader looks for this name, which the tar's links and ldconfig provide.
                file = file.with_name("libenroll.so.0") if "libenroll.so" in name else file
                file.write_bytes(content)
                file.chmod(0o755)
                if file.name == "enrolld":
                    daemons.append(file)
        # The daemons come from a tar, a wheel, a Debian package and the npm package.
        self.assertEqual(len(daemons), 4, daemons)
        for daemon in daemons:
            self.assertRegex(machine.run(daemon, "--version"), r"^enrolld \d")
        program = folder / "sign_in"
        libraries = [path.parent for path in folder.rglob("libenroll.so.0")]
        self.assertEqual(len(libraries), 3, libraries)
        for index, library in enumerate(libraries):
            with self.subTest(library.relative_to(folder)):
                (library / "libenroll.so").unlink(missing_ok=True)
                (library / "libenroll.so").symlink_to("libenroll.so.0")
                words = TOP / "Examples/sign_in.c", "-I", TOP / "include", "-L", library, "-lenroll", "-o", program
                subprocess.run([*machine.compiler, *words], check=True)
                told = example(machine, program, sandbox().issuer, folder / f"store-{index}", LD_LIBRARY_PATH=library)
                self.assertRegex(told, r"A valid token of \d+ bytes\.")
