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
#: The page about the use of enroll with other programs.
OTHERS = TOP / "docs/other-programs.md"
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
        if "commands" in command:
            parts.append((tools if command["name"] == "setup" else formats)(command["commands"]))
            continue
        if command["name"] == "git-credential":
            parts.append("The options of `credential git`.\n")
            continue
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


def formats(commands):
    """The options that all formats have, in one table, and what each program adds."""
    named = [argument["name"] for command in commands for argument in own(command)]
    shared = [one for one in own(commands[0]) if named.count(one["name"]) == len(commands) or one["name"] == "username"]
    names = {one["name"] for one in shared}
    rows = ["| format | for | the program adds |", "| --- | --- | --- |"]
    for command in commands:
        added = [one["synopsis"] for one in own(command) if one["name"] not in names]
        programs = command["abstract"].removeprefix("For ").removesuffix(".")
        rows.append(f"| `{command['name']}` | {programs} | {', '.join(f'`{word}`' for word in added)} |")
    return table(shared) + "\n" + "\n".join(rows) + "\n"


def tools(commands):
    """The options of `enroll setup`, in one table, and its tools."""
    rows = ["| tool | what it does |", "| --- | --- |"]
    rows += [f"| `{command['name']}` | {command['abstract']} |" for command in commands]
    return table(max(map(own, commands), key=len)) + "\n" + "\n".join(rows) + "\n"


def token_formats():
    """The formats of `enroll token`, as rows."""
    token = next(command for command in commands() if command["name"] == "token")
    told = next(argument for argument in token["arguments"] if argument["name"] == "format")
    rows = [f"| `{name}` | {re.search(rf'[ ]{name} [(]([^)]*)[)]', told['help'])[1]} |" for name in told["allowed"]]
    return "\n".join(["| format | what is printed |", "| --- | --- |", *rows]) + "\n"


def programs():
    """A section for each format of `enroll credential`: its help."""
    credential = next(command for command in commands() if command["name"] == "credential")
    parts = []
    for command in credential["commands"]:
        parts.append(f"### {command['name']}\n\n{command['abstract']}\n")
        parts.append(re.sub(r"^  (?=\S| )", "    ", command["discussion"], flags=re.M) + "\n")
    return "\n".join(parts)


def statuses():
    source = STATUSES.read_text()
    numbers = dict(re.findall(r"case (\w+) = (\d+)", source))
    said = dict(re.findall(r'case \.(\w+):\s+"(.*)"', source.partition("var summary")[2].partition("init(")[0]))
    rows = [f"| {number} | {said[name]} |" for name, number in numbers.items()]
    return "\n".join(["| status | meaning |", "| --- | --- |", *rows]) + "\n"


def drawn(page):
    for mark, text in MARKS.items():
        if f"<!-- {mark} -->" not in page:
            continue
        text = text()
        # Replaces the text from the mark to the next heading.
        page = re.sub(rf"(<!-- {mark} -->\n)\n.*?(?=^## )", lambda found, text=text: f"{found[1]}\n{text}\n", page, flags=re.S | re.M)
    return page


#: For each mark in a page, the function that makes the text after it.
MARKS = {"options": options, "endings": statuses, "token formats": token_formats, "credential formats": programs}

if __name__ == "__main__":
    for path in (PAGE, OTHERS):
        path.write_text(drawn(path.read_text()))
