"""Android's C library (bionic) for scripts/sysroot: headers, libraries and start-up objects of API level 24, taken from
the folder that one of these environment variables names:

    ANDROID_NDK_HOME     the NDK, 27 or later
    ANDROID_BUILD_TOP    if ANDROID_NDK_HOME is not set, a tree of Android's sources: bionic and libnativehelper are
                         read. The libraries are then stubs, made from bionic's lists of symbols: programs can be
                         linked with them, but not run
"""

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

#: The oldest Android that is supported, 7.0.
LEVEL = 24
#: For each processor: its name in bionic's lists, and the folder with its kernel headers. The key is the NDK's name.
PROCESSORS = {"aarch64": ("arm64", "asm-arm64"), "x86_64": ("x86_64", "asm-x86")}
#: Parts of libraries that no app may use.
CLOSED = re.compile(r"_(PRIVATE|PLATFORM|DEPRECATED)$")
CLOSED_TAGS = {"platform-only", "apex", "llndk", "systemapi", "future"}
#: Start-up objects of a library, then of a program.
START_UP = "crtbegin_so.o", "crtend_so.o", "crtbegin_dynamic.o", "crtend_android.o"


def named():
    """The environment variable that names a folder, and that folder. None if neither variable is set."""
    for variable in ("ANDROID_NDK_HOME", "ANDROID_BUILD_TOP"):
        if folder := os.environ.get(variable):
            return variable, Path(folder)
    return None


def version():
    """The inputs of a sysroot, as text: the sysroot is made again when the text changes."""
    return inspect.getsource(sys.modules[__name__]) + str(named())


def c_library(target):
    """Fills the sysroot of `target`."""
    if not (found := named()):
        raise SystemExit(
            "sysroot: Android's headers and libraries are in no package. Set ANDROID_NDK_HOME to the folder of an NDK,"
            " 27 or later"
        )
    variable, folder = found
    # The other steps put their parts into the same folder, so they are done again, too.
    for stamp in target.folder.glob("*.stamp"):
        stamp.unlink()
    shutil.rmtree(target.sysroot, ignore_errors=True)
    target.libraries.mkdir(parents=True)
    try:
        (from_ndk if variable == "ANDROID_NDK_HOME" else from_sources)(target, folder)
    except (OSError, StopIteration) as fault:
        what = fault if isinstance(fault, OSError) else "no toolchains/llvm/prebuilt with headers and libraries"
        raise SystemExit(f"sysroot: {variable} is {folder}, which is not complete: {what}") from None
    # Empty archives, because bionic's threads and timers are in its C library.
    for name in ("libpthread.a", "librt.a"):
        run("llvm-ar", "rcs", target.libraries / name)


def from_ndk(target, folder):
    tools = next(folder.glob("toolchains/llvm/prebuilt/*"))
    system = f"{target.architecture}-linux-android"
    headers = tools / "sysroot/usr/include"
    shutil.copytree(headers, target.include, ignore=shutil.ignore_patterns("c++", "*-linux-android*"))
    shutil.copytree(headers / system, target.include, dirs_exist_ok=True)
    own = tools / "sysroot/usr/lib" / system / str(LEVEL)
    for name in ("libc.so", "libdl.so", "libm.so", *START_UP):
        shutil.copy(own / name, target.libraries)
    functions = f"libclang_rt.builtins-{target.architecture}-android.a"
    shutil.copy(next(tools.glob(f"lib*/clang/*/lib/linux/{functions}")), target.libraries / "libgcc.a")


def from_sources(target, folder):
    bionic = folder / "bionic"
    kernel = bionic / "libc/kernel"
    _, asm = PROCESSORS[target.architecture]
    # The first folder of the search path takes precedence, so it is copied last.
    for headers in (kernel / "android/uapi", kernel / "uapi" / asm, kernel / "uapi", bionic / "libc/include"):
        shutil.copytree(headers, target.include, dirs_exist_ok=True)
    shutil.copy(folder / "libnativehelper/include_jni/jni.h", target.include)
    for name in ("libc", "libdl", "libm"):
        stub(target, name, bionic / name / f"{name}.map.txt")
    # The crtend objects only mark the end of unwind tables, which are not used.
    begin = bionic / "libc/arch-common/bionic"
    sources = begin / "crtbegin_so.c", "/dev/null", begin / "crtbegin.c", "/dev/null"
    for name, source in zip(START_UP, sources):
        words = "-O2", "-fPIC", "-w", f"-I{bionic / 'libc'}", "-x", "c", "-c", source, "-o", target.libraries / name
        run(*target.clang(), *words)
    shutil.copy(target.compiler_functions(), target.libraries)


def stub(target, name, symbols):
    """Makes a shared library that has the symbols of a list, but no code for them."""
    lines = [".text"]
    for symbol, is_variable in listed(symbols.read_text(), PROCESSORS[target.architecture][0]):
        kind = "%object" if is_variable else "%function"
        lines.append(f".globl {symbol}\n.type {symbol}, {kind}\n{symbol}: .quad 0\n.size {symbol}, 8")
    source = target.folder / f"{name}.s"
    source.write_text("\n".join(lines) + "\n")
    built = target.folder / f"{name}.o"
    run(*target.clang(), "-c", source, "-o", built)
    run(*target.clang(), "-shared", f"-Wl,-soname,{name}.so", built, "-o", target.libraries / f"{name}.so")


def listed(text, processor):
    """The symbols of a list (*.map.txt) that apps of this API level may use, each with whether it is a variable."""
    is_open = False
    for line in text.splitlines():
        line, _, comment = line.partition("#")
        tags = set(comment.split())
        if opening := re.match(r"(\w+) \{", line):
            is_open = not CLOSED.search(opening[1]) and is_there(tags, processor)
        elif line.strip() == "local:":
            is_open = False
        elif (symbol := re.match(r"\s+([\w.]+);", line)) and is_open and is_there(tags, processor):
            yield symbol[1], "var" in tags


def is_there(tags, processor):
    processors = tags & {"arm", "arm64", "riscv64", "x86", "x86_64"}
    since = {word.partition("=")[0]: word.partition("=")[2] for word in tags if word.startswith("introduced")}
    level = since.get(f"introduced-{processor}", since.get("introduced", "0"))
    is_open = (not processors or processor in processors) and not tags & CLOSED_TAGS
    return is_open and level.isdigit() and int(level) <= LEVEL


def run(*command):
    """Runs a command. If it fails, this program ends with the last lines of the command's errors."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"sysroot: {command[0]} failed:\n" + "\n".join(result.stderr.splitlines()[-20:]))
