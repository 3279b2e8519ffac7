"""Compiles the modules behind the C library and the daemon as Embedded Swift for systems that SwiftPM does not build for here:
what scripts/check-darwin and scripts/check-android have in common."""

import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
#: In the order of their dependencies. One that is missing here fails where another module imports it.
LIBRARY = (
    "EnrollJSON", "EnrollCrypto", "EnrollCore", "EnrollPosix", "EnrollStore", "EnrollHost", "EnrollCommands", "EnrollC",
)  # fmt: skip
DAEMON = "enrolld"
C_MODULES = "COpenSSL", "CJansson", "CCurl", "CPosix", "CSecret"
#: As in Package.swift. Warnings are errors.
SETTINGS = (
    "-swift-version", "6", "-enable-experimental-feature", "Embedded", "-enable-upcoming-feature", "InternalImportsByDefault",
    "-enable-upcoming-feature", "MemberImportVisibility", "-package-name", "enrollkit", "-warnings-as-errors",
    # scripts/build-library says why.
    "-Xllvm", "-sil-disable-pass=object-outliner",
)  # fmt: skip


def sysroot():
    """scripts/sysroot, which has the packages and sources of others."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("sysroot", str(TOP / "scripts/sysroot"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("sysroot", loader))
    loader.exec_module(module)
    return module


def toolchain():
    """The folder of the compiler's own modules and headers."""
    return Path(shutil.which("swiftc")).resolve().parent.parent / "lib/swift"


def resources(to, name, triple, before, after):
    """The toolchain's folder by links, but for the modules of Embedded Swift: those of `name`, as `triple`, with the bytes
    `after` in place of the equally long `before`, which name the platform."""
    assert len(before) == len(after)
    own = toolchain()
    shutil.rmtree(to, ignore_errors=True)
    (to / "embedded").mkdir(parents=True)
    for entry in own.iterdir():
        if entry.name != "embedded":
            (to / entry.name).symlink_to(entry)
    for entry in (own / "embedded").iterdir():
        module = entry / f"{name}.swiftmodule"
        if module.exists():
            (to / "embedded" / entry.name).mkdir()
            (to / "embedded" / entry.name / f"{triple}.swiftmodule").write_bytes(module.read_bytes().replace(before, after))
    (to / "embedded" / triple).symlink_to(own / "embedded" / name)


def compile_modules(triple, out, words):
    """The objects of the library's modules and the daemon's, in `out`. `words` are the compiler's for this platform.

    - Returns: the paths of the library's objects and of the daemon's."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    maps = [f"-fmodule-map-file={TOP}/Sources/{name}/module.modulemap" for name in C_MODULES]
    maps.append(f"-fmodule-map-file={TOP}/include/module.modulemap")
    for name in (*LIBRARY, DAEMON):
        # Package.swift leaves that folder out, too, unless HTTP=host.
        sources = sorted(path for path in (TOP / "Sources" / name).rglob("*.swift") if path.parent.name != "NoCurl")
        command = [
            "swiftc", "-c", "-emit-object", "-wmo", "-target", triple, *SETTINGS, *words, "-I", out,
            "-module-cache-path", out / "cache", *(word for path in maps for word in ("-Xcc", path)),
            "-module-name", name, "-emit-module", "-emit-module-path", out / f"{name}.swiftmodule", "-o", out / f"{name}.o",
            *([] if name == DAEMON else ["-parse-as-library"]), *sources,
        ]  # fmt: skip
        run(command, f"{name} does not compile for {triple}")
    return [out / f"{name}.o" for name in LIBRARY], out / f"{DAEMON}.o"


def c_words(folders, *more):
    """Words for Swift's compiler: headers are looked for in the compiler's own folder, then in these, nowhere else."""
    found = ["-nostdlibinc"]
    for folder in (toolchain() / "clang/include", *folders):
        found += ["-isystem", str(folder)]
    return [part for word in (*found, *more) for part in ("-Xcc", word)]


def run(command, complaint):
    """Its output. Ends the program with it where the command fails."""
    result = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=TOP, env=os.environ
    )
    if result.returncode:
        print("\n".join(result.stdout.splitlines()[-60:]))
        raise SystemExit(f"{Path(sys.argv[0]).name}: {complaint}")
    return result.stdout
