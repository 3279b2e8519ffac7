"""The Python wheels, one for each target, and the source distribution (bindings/python/build_library.py)."""

import os
import re
import shutil
import tempfile
from pathlib import Path

import archives
from project import TOP, run

PROJECT = TOP / "bindings/python"
# The platforms on which the wheels of `make lib TARGET=…` promise to work. auditwheel checks the promise for glibc;
# check_musl() checks it for musl.
PROMISED = {"gnu": "manylinux_2_28", "musl": "musllinux_1_2"}


def build(tools, kind, out, **environment):
    """Builds from a copy that has only files that git knows."""
    with tempfile.TemporaryDirectory() as folder:
        for name, path in archives.known(PROJECT).items():
            copy = Path(folder) / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        run(tools / "bin/python", "-m", "build", "--no-isolation", f"--{kind}", "--outdir", out, folder,
            env={**os.environ, **environment})  # fmt: skip


def wheel(tools, out, target, built):
    """A wheel whose tag is the oldest platform that has everything its libraries need."""
    files = {"ENROLLKIT_LIBRARY_FOLDER": str(built / "lib")}
    machine, _, library = target.split("-")
    if built != TOP / "build":
        tag = f"{PROMISED[library]}_{machine}"
        build(tools, "wheel", out, **files, ENROLLKIT_WHEEL_PLATFORM=tag)
        path = next(out.glob(f"*-{tag}.whl"))
        if library == "musl":
            check_musl(machine, built)
        else:
            found = consistent(tools, path)
            if not within(found, tag):
                raise SystemExit(f"dist: {path.name} needs {found}")
        return path
    # This machine's own build promises no platform. So a first wheel is built, from which auditwheel finds
    # out the platform.
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        build(tools, "wheel", folder, **files, ENROLLKIT_WHEEL_PLATFORM=f"linux_{machine}")
        found = consistent(tools, next(folder.glob("*.whl")))
    build(tools, "wheel", out, **files, ENROLLKIT_WHEEL_PLATFORM=found)
    return next(out.glob(f"*-{found}.whl"))


def consistent(tools, path):
    """The platform tag that auditwheel gives a wheel: that platform has everything its libraries need."""
    told = " ".join(run(tools / "bin/auditwheel", "show", path).split())
    return re.search(r'is consistent with the following platform tag: "(\w+)"', told)[1]


def within(found, promised):
    """Whether each machine of the platform `promised` has all that the platform `found` has."""
    versions = [re.match(r"manylinux_(\d+)_(\d+)_(\w+)", tag) for tag in (found, promised)]
    if not all(versions) or versions[0][3] != versions[1][3]:
        return False
    lowest, at_least = (tuple(map(int, version.groups()[:2])) for version in versions)
    return lowest <= at_least


def check_musl(machine, built):
    """Checks that the files need no library but the C library. auditwheel cannot check this, because it does not
    know the libraries of musl systems by name."""
    needed = set(
        re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", built / "lib/libenroll.so.0", built / "lib/enrolld"))
    )
    if extra := needed - {"libc.so", f"libc.musl-{machine}.so.1"}:
        raise SystemExit(f"dist: the programs for {machine} with musl need {', '.join(sorted(extra))}")


def sources(tools, out):
    with tempfile.TemporaryDirectory() as folder:
        build(tools, "sdist", Path(folder))
        made = next(Path(folder).glob("*.tar.gz"))
        # The archive is written again, so that its bytes do not depend on the owner of the checkout.
        unpacked = Path(folder) / "unpacked"
        run("tar", "-xzf", made, "-C", unpacked.mkdir() or unpacked)
        root = made.name.removesuffix(".tar.gz")
        return archives.tar(out / made.name, root, archives.below(unpacked / root))
