"""docs/enroll.md and the program: the tables of options and of exit statuses are drawn from what the program is.

`run --write` draws them anew. The page becomes enroll(1) when it is installed.
"""

import json
import os
import re
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "docs/enroll.md"
STATUSES = TOP / "Sources/enroll/Process/CommandStatus.swift"
PLACE = ("config", "profile", "store", "account", "keys", "passphrase-fd", "pin-fd", "json")
ALWAYS = ("help", "version")


def program():
    """What the parser knows of itself."""
    enroll = os.environ.get("ENROLL") or TOP / "build/bin/enroll"
    told = subprocess.run([enroll, "--experimental-dump-help"], capture_output=True, check=True).stdout
    return json.loads(told)["command"]


def commands():
    return [command for command in program()["subcommands"] if command["commandName"] != "help"]


def name(argument):
    return argument["preferredName"]["name"]


def is_own(argument):
    """Whether it is this command's, and no option that all have, nor one that tests alone use."""
    if not argument["shouldDisplay"]:
        return False
    return argument["kind"] == "positional" or name(argument) not in (*PLACE, *ALWAYS)


def row(argument):
    if argument["kind"] == "positional":
        return f"| `{argument['valueName'].upper()}` | {argument['abstract']} |"
    words = [("--" if one["kind"] == "long" else "-") + one["name"] for one in argument["names"]]
    value = f" {argument['valueName'].upper()}" if argument["kind"] == "option" else ""
    return f"| `{', '.join(words)}{value}` | {argument['abstract']} |"


def table(rows):
    return "\n".join(["| option | meaning |", "| --- | --- |", *rows]) + "\n"


def options():
    parts, login = [], []
    for command in commands():
        parts.append(f"**{command['commandName']}**: {command['abstract']}\n")
        own = [row(argument) for argument in command["arguments"] if is_own(argument)]
        login = login or own
        if command["commandName"] == "register" and own == [row for row in login if "--device" not in row]:
            parts.append("The options of login, without `--device`.\n")
        elif own:
            parts.append(table(own))
    common = next(command for command in commands() if command["commandName"] == "token")
    parts.append("All of them but `completions`:\n")
    parts.append(table(row(argument) for argument in common["arguments"] if not is_own(argument) and name(argument) in PLACE))
    return "\n".join(parts)


def statuses():
    source = STATUSES.read_text()
    numbers = dict(re.findall(r"case (\w+) = (\d+)", source))
    said = dict(re.findall(r'case \.(\w+):\s+"(.*)"', source.partition("var summary")[2].partition("init(")[0]))
    rows = [f"| {number} | {said[name]} |" for name, number in numbers.items()]
    return "\n".join(["| status | meaning |", "| --- | --- |", *rows]) + "\n"


def drawn(page):
    for mark, text in (("options", options()), ("endings", statuses())):
        # From the mark to the next heading.
        page = re.sub(rf"(<!-- {mark} -->\n)\n.*?(?=## )", lambda found, text=text: f"{found[1]}\n{text}\n", page, flags=re.S)
    return page


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text()))
