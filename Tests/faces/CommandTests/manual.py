"""Compares docs/enroll.md with the program: its tables of options and exit statuses are generated from the program.

`run --write` generates them. The page is installed as enroll(1).
"""

import json
import os
import re
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
PAGE = TOP / "docs/enroll.md"
STATUSES = TOP / "Sources/enroll/Process/CommandStatus.swift"


def program():
    """The program's description of its commands."""
    enroll = os.environ.get("ENROLL") or TOP / "build/bin/enroll"
    return json.loads(subprocess.run([enroll, "--dump-commands"], capture_output=True, check=True).stdout)


def commands():
    return program()["commands"]


def row(argument):
    default = f" Default: {argument['default']}." if "default" in argument else ""
    return f"| `{argument['synopsis']}` | {argument['help']}{default} |"


def table(arguments):
    return "\n".join(["| option | meaning |", "| --- | --- |", *map(row, arguments)]) + "\n"


def own(command):
    """The arguments that belong only to this command: they have no group."""
    return [argument for argument in command["arguments"] if "group" not in argument]


def options():
    parts, login, shared = [], [], []
    for command in commands():
        parts.append(f"**{command['name']}**: {command['abstract']}\n")
        arguments = own(command)
        login = login or arguments
        shared = shared or [argument for argument in command["arguments"] if "group" in argument]
        if command["name"] == "register" and arguments == [one for one in login if one["name"] != "device"]:
            parts.append("The options of login, without `--device`.\n")
        elif arguments:
            parts.append(table(arguments))
    parts.append("All of them but `completions`:\n")
    parts.append(table(shared))
    return "\n".join(parts)


def statuses():
    source = STATUSES.read_text()
    numbers = dict(re.findall(r"case (\w+) = (\d+)", source))
    said = dict(re.findall(r'case \.(\w+):\s+"(.*)"', source.partition("var summary")[2].partition("init(")[0]))
    rows = [f"| {number} | {said[name]} |" for name, number in numbers.items()]
    return "\n".join(["| status | meaning |", "| --- | --- |", *rows]) + "\n"


def drawn(page):
    for mark, text in (("options", options()), ("endings", statuses())):
        # Replaces the text from the mark to the next heading.
        page = re.sub(rf"(<!-- {mark} -->\n)\n.*?(?=## )", lambda found, text=text: f"{found[1]}\n{text}\n", page, flags=re.S)
    return page


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text()))
