"""Generates the comments of `EnrollError.Code` in Swift from the summaries in its table. Also reads the
advice in the table's rows."""

import re

from .manifest import TOP, Refused
from .text import lines, sentence

#: The width of the Swift lines that `swift format` accepts.
SWIFT_WIDTH = 110


def path():
    found = [one for one in (TOP / "Sources/EnrollRules").rglob("EnrollErrorTable.swift")]
    if len(found) != 1:
        raise Refused("Sources/EnrollRules has no EnrollErrorTable.swift, or several. The table of errors is one file.")
    return str(found[0].relative_to(TOP))


def advice(read):
    """{error: advice}, in Markdown. The manifest does not contain the advice, because the advice would make
    every program with the manifest larger."""
    row = r'Row\(\s*"(\w+)",(?:(?!Row\().)*?advice:\s*"((?:[^"\\]|\\.)*)"\s*\)'
    return {name: text.replace('\\"', '"') for name, text in re.findall(row, read(path()), re.DOTALL)}


def files(manifest, read):
    """The generated files: {path: text}. `read` returns the current text of the file at a path."""
    where = path()
    summaries = {error["status"]: (error["code"], error["summary"]) for error in manifest.errors}

    def case(found):
        name = found["name"].strip("`")
        code, summary = summaries.get(name, (None, ""))
        if code != int(found["code"]):
            raise Refused(f"{where}: case {name} = {found['code']} is not what the daemon says. Build the daemon anew.")
        about = "\n".join(lines(sentence(summary), SWIFT_WIDTH, "    /// ", "    /// "))
        return f"{about}\n    case {found['name']} = {found['code']}\n"

    text = re.sub(r"(?:    ///[^\n]*\n)*    case (?P<name>`?\w+`?) = (?P<code>-\d+)\n", case, read(where))
    return {where: text}
