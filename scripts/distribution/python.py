"""The Python wheels, one for each target, and the source distribution. bindings/python/build_library.py fills the wheels."""

import os
import re
import tempfile
from pathlib import Path

import archives
from project import TOP, libc, run

PROJECT = TOP / "bindings/python"
# What the wheels of the cross builds promise; auditwheel says whether that is true.
PROMISED = {"gnu": "manylinux_2_28", "musl": "musllinux_1_2"}


def build(tools, kind, out, **environment):
    run(tools / "bin/python", "-m", "build", "--no-isolation", f"--{kind}", "--outdir", out, PROJECT,
        env={**os.environ, **environment})  # fmt: skip


def wheel(tools, out, target, built):
    """A wheel whose tag is the platform that its libraries really need."""
    machine, _, library = target.split("-")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        files = {"ENROLLKIT_LIBRARY_FOLDER": str(built / "small")}
        build(tools, "wheel", folder, **files, ENROLLKIT_WHEEL_PLATFORM=f"linux_{machine}")
        tag = found(tools, next(folder.glob("*.whl")), machine, library, built)
    build(tools, "wheel", out, **files, ENROLLKIT_WHEEL_PLATFORM=tag)
    return next(out.glob(f"*-{tag}.whl"))


def found(tools, path, machine, library, built):
    """The tag of a platform that has what the libraries in a wheel need, as auditwheel tells."""
    if library == "musl":
        # No system of musl's carries other libraries: what is needed beside the C library would be missing.
        needed = set(re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", built / "small/libenroll.so.0", built / "small/enrolld")))
        if extra := needed - {"libc.so", f"libc.musl-{machine}.so.1"}:
            raise SystemExit(f"dist: the programs for {machine} with musl need {', '.join(sorted(extra))}")
        return f"{PROMISED[library]}_{machine}"
    told = " ".join(run(tools / "bin/auditwheel", "show", path).split())
    tag = re.search(r'is consistent with the following platform tag: "(\w+)"', told)[1]
    lowest = re.match(r"manylinux_(\d+)_(\d+)_", tag)
    promised = re.match(r"manylinux_(\d+)_(\d+)", PROMISED[library])
    if lowest and tuple(map(int, lowest.groups())) <= tuple(map(int, promised.groups())):
        return f"{PROMISED[library]}_{machine}"
    if built != TOP / "build":
        raise SystemExit(f"dist: the wheel for {machine} is {tag} and not {PROMISED[library]}: {told}")
    return tag


def sources(tools, out):
    with tempfile.TemporaryDirectory() as folder:
        build(tools, "sdist", Path(folder))
        made = next(Path(folder).glob("*.tar.gz"))
        # The same bytes, whoever owned the checkout.
        unpacked = Path(folder) / "unpacked"
        run("tar", "-xzf", made, "-C", unpacked.mkdir() or unpacked)
        root = made.name.removesuffix(".tar.gz")
        return archives.tar(out / made.name, root, archives.below(unpacked / root))
