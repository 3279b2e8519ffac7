"""Checks that every command of the manifest has a C function whose comment names the command, and that every other
function is in the table functions.txt. The library and the daemon have one manifest."""

import ctypes
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[2]
#: The function for commands that have no function of their own.
ANY_COMMAND = "enroll_call"
sys.path.insert(0, str(TOP / "scripts"))
import header  # noqa: E402: the header as a table


class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("owner", ctypes.c_size_t)]


def manifest(library):
    """The manifest, as the library returns it."""
    buffer = Buffer()
    status = library.enroll_manifest(ctypes.byref(buffer), None)
    if status != 0:
        raise AssertionError(f"enroll_manifest: {status}")
    text = ctypes.string_at(buffer.data, buffer.size)
    library.enroll_buf_free(ctypes.byref(buffer))
    return json.loads(text)


def function_of(command):
    return "enroll_" + re.sub(r"([A-Z])", r"_\1", command.replace(".", "_")).lower()


def table():
    commands, functions = {}, {}
    for line in (HERE / "functions.txt").read_text().splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "command":
            commands[words[1]] = words[2]
        else:
            functions[words[1]] = words[2] if len(words) > 2 else None
    return commands, functions


def run(count, variant):
    path = TOP / "build" / variant / "libenroll.so.0"
    described = manifest(ctypes.CDLL(str(path)))
    # In a wrongly linked program a function may read the constants of another function (scripts/build). Then the
    # manifests differ.
    told = subprocess.run([TOP / "build" / variant / "enrolld", "--manifest"], capture_output=True, check=True).stdout
    count.add(f"library and daemon of {variant} have the same manifest", described == json.loads(told))
    names = {command["name"] for command in described["commands"]}
    listed = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    exported = set(re.findall(r" T (enroll_\w+)", listed))
    commands, functions = table()
    faults = []
    expected = set(functions)
    said = {function.name: function.comment.command for function in header.read().functions}
    for name in sorted(names):
        function = commands.get(name, function_of(name))
        expected.add(function)
        if function not in exported:
            faults.append(f"{name}: no function {function}")
        elif function != ANY_COMMAND and said.get(function) != name:
            faults.append(f"{function}: its comment names the command {said.get(function)!r}, it runs {name}")
    faults += [f"functions.txt: {name} is no command" for name in sorted(set(commands) - names)]
    faults += [
        f"functions.txt: {function} runs {name}, which is no command"
        for function, name in functions.items()
        if name is not None and name not in names
    ]
    faults += [f"{name}: runs no command and is not in functions.txt" for name in sorted(exported - expected)]
    faults += [f"functions.txt: {name} is not exported" for name in sorted(expected - exported)]
    count.add(f"every command of {variant} has a C function, every function its reason", not faults, "\n".join(faults))
