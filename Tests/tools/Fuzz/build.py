"""Builds the fuzzer as one program: the targets, and the modules that read outside data, instrumented.

SwiftPM is not used, because its release build is not instrumented. One run of the compiler makes a module's code and
its interface: with two runs, everything would be optimized twice.
"""

import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[2]
OUT = TOP / "build/fuzz"
# The modules, in the order in which they import one another.
MODULES = (
    "EnrollJSON", "EnrollCrypto", "EnrollRules", "EnrollSteps", "EnrollPosix", "EnrollStore", "EnrollHost", "EnrollCommands",
)  # fmt: skip
# The parts of the daemon that read outside data are compiled into the program itself.
DAEMON = ("Framing", "RPC", "Process/Log.swift")
FLAGS = [
    "-O", "-wmo", "-g", "-sanitize=fuzzer,address", "-parse-as-library", "-enable-testing", "-swift-version", "6",
    "-enable-upcoming-feature", "InternalImportsByDefault", "-enable-upcoming-feature", "MemberImportVisibility",
    "-package-name", "enrollkit", "-suppress-warnings", "-I", str(OUT),
    *(flag for library in ("COpenSSL", "CJansson", "CCurl", "CPosix", "CSecret") for flag in ("-I", f"Sources/{library}")),
]  # fmt: skip


def sources(*places):
    found = []
    for place in places:
        found += [place] if place.suffix == ".swift" else sorted(place.rglob("*.swift"))
    # The sources in NoCurl are left out: they replace libcurl, but only in builds with HTTP=host.
    return [str(path) for path in found if path.parent.name != "NoCurl"]


def swiftc(*arguments):
    subprocess.run(["swiftc", *FLAGS, *arguments], cwd=TOP, check=True)


def module(name, *places):
    swiftc("-c", "-o", str(OUT / f"{name}.o"), "-emit-module", "-emit-module-path", str(OUT / f"{name}.swiftmodule"),
           "-module-name", name, *sources(*places))  # fmt: skip


def build():
    """- Returns: the path of the program."""
    OUT.mkdir(parents=True, exist_ok=True)
    for name in MODULES:
        module(name, TOP / "Sources" / name)
    module("Fuzz", HERE, *(TOP / "Sources/enrolld" / part for part in DAEMON))
    program = OUT / "fuzz"
    objects = [str(OUT / f"{name}.o") for name in (*MODULES, "Fuzz")]
    linked = ["-sanitize=fuzzer,address", "-use-ld=lld", "-ljansson", "-ldl"]
    subprocess.run(["swiftc", *objects, *linked, "-o", str(program)], cwd=TOP, check=True)
    return program


if __name__ == "__main__":
    print(build())
