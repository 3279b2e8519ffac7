"""include/enroll.h as a table: its declarations, and what their comments say.

The header is regular enough to be read line by line; scripts/check-header compares the result with clang's.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PATH = TOP / "include/enroll.h"


@dataclass
class Comment:
    """The comment above a declaration: its words, and the lines at its end that have a form of their own."""

    words: str = ""
    #: The text after "Returns": "ENROLL_OK; ENROLL_E_NOT_FOUND (no such command); [call]." Empty if the comment has no
    #: such text.
    returns: str = ""
    command: str = ""
    source: str = ""
    since: str = ""

    def __bool__(self):
        return bool(self.words or self.returns)

    @property
    def summary(self):
        """The first sentence."""
        return re.split(r"(?<=[.:]) (?=[A-Z`])", self.words, maxsplit=1)[0].rstrip(":")

    @property
    def names(self):
        """The words between backquotes."""
        return set(re.findall(r"`(\w+)`", self.words))


@dataclass
class Parameter:
    type: str
    name: str

    @property
    def declaration(self):
        return self.type + ("" if self.type.endswith("*") else " ") + self.name


@dataclass
class Function:
    name: str
    type: str
    parameters: list
    comment: Comment
    section: str
    line: int

    @property
    def declaration(self):
        inside = ", ".join(parameter.declaration for parameter in self.parameters) or "void"
        return f"{self.type}{'' if self.type.endswith('*') else ' '}{self.name}({inside});"


@dataclass
class Record:
    name: str
    comment: Comment
    #: Pairs of a declaration (Parameter) and its Comment.
    members: list
    line: int
    #: The declaration as the header has it, without its comments.
    declaration: str = ""


@dataclass
class Constant:
    name: str
    value: int
    comment: Comment
    line: int


@dataclass
class Header:
    text: str
    #: Title and text of each paragraph of the opening comment: "HANDLES", "are numbers …".
    opening: list = field(default_factory=list)
    sections: list = field(default_factory=list)
    functions: list = field(default_factory=list)
    #: The types of callbacks, each as an object of the class Function.
    callbacks: list = field(default_factory=list)
    records: list = field(default_factory=list)
    constants: list = field(default_factory=list)

    @property
    def groups(self):
        """The statuses that "[call]" and similar groups contain, by the name of the group."""
        known = {constant.name for constant in self.constants}
        stores = {name for name in known if name.startswith("ENROLL_E_STORE_")}
        found = {}
        for name, meaning in re.findall(r'"\[(\w+)\]"(.*?)(?=; "\[|\. )', dict(self.opening)["STATUSES"]):
            found[name] = set(re.findall(r"ENROLL_E_\w+", meaning)) & known
            if "ENROLL_E_STORE_*" in meaning:
                found[name] |= stores
        return found

    @property
    def everywhere(self):
        """The statuses that any call may return."""
        return set(re.findall(r"ENROLL_E_\w+", dict(self.opening)["STATUSES"].partition("Any call may return")[2]))

    @property
    def first_version(self):
        """The version in which a declaration was added if its comment names no other version."""
        return re.search(r"since version ([\d.]*\d)", dict(self.opening)["SINCE"])[1]

    def says(self, function, name, words):
        """Whether the function's comment, or the comment of a function to which it refers, says this
        about a parameter."""
        comment = function.comment.words
        if re.search(rf"[^.]*`{name}`[^.]*{words}", comment):
            return True
        others = self.referred(comment) if re.match(r"Like enroll_\w+", comment) else []
        return any(self.says(other, name, words) for other in others if other is not function)

    def referred(self, text):
        """The functions that a text names."""
        names = set(re.findall(r"enroll_\w+", text))
        return [function for function in self.functions if function.name in names]

    def statuses(self, function):
        """All statuses that a function may return: the statuses that its comment names, the statuses of the groups
        in the comment, and the statuses of the functions to which the comment refers."""
        found = set(re.findall(r"ENROLL_OK|ENROLL_E_\w+", function.comment.returns))
        for group in re.findall(r"\[(\w+)\]", function.comment.returns):
            found |= self.groups.get(group, set())
        others = self.referred(function.comment.returns)
        if "the command's own function" in function.comment.returns:
            others += [other for other in self.functions if other.comment.command]
        for other in others:
            if other is not function:
                found |= self.statuses(other)
        return found


def words_of(block):
    """The words of a comment, without its stars."""
    lines = re.sub(r"^/\*+|\*/$", "", block.strip()).splitlines()
    return [re.sub(r"^ +\* ?", "", line).strip() for line in lines]


def comment_of(block):
    parts = {"words": [], "returns": [], "command": [], "source": [], "since": []}
    at = "words"
    for line in words_of(block):
        # A line may contain the beginnings of one or two of these parts: "Command: x. Source: y."
        for piece in re.split(r"(?<=\.) (?=(?:Source|Since):? )", line):
            opened = re.match(r"(Returns|Command:|Source:|Since) (?=\S)", piece)
            if opened and not (opened[1] == "Returns" and at != "words"):
                at = opened[1].rstrip(":").lower()
                piece = piece[opened.end() :]
            if piece:
                parts[at].append(piece)
    joined = {name: " ".join(pieces).strip() for name, pieces in parts.items()}
    for name in ("command", "since", "source"):
        joined[name] = joined[name].rstrip(".")
    return Comment(**joined)


def parameters_of(text):
    if text.strip() == "void":
        return []
    found = []
    for piece in text.split(","):
        match = re.fullmatch(r"\s*(.*?[\s*])(\w+)\s*", piece, re.S)
        found.append(Parameter(re.sub(r"\s+", " ", match[1]).strip(), match[2]))
    return found


def opening_of(text):
    """The paragraphs of the comment at the top, each of which begins with words in capitals."""
    lines = words_of(text[: text.index("*/") + 2])
    paragraphs = [" ".join(part.split("\n")) for part in "\n".join(lines).split("\n\n")]
    found = []
    for paragraph in paragraphs:
        title = re.match(r"([A-Z][A-Z ]+)(?:\. | (?=[a-z`(]))", paragraph)
        if title:
            found.append((title[1].strip(), paragraph[title.end() :]))
    return found


def read(path=PATH):
    text = path.read_text()
    header = Header(text, opening_of(text))
    section = ""
    body = re.finditer(
        r"^/\* ---- (?P<section>.*?) -+ \*/$"
        r"|(?P<comment>^/\*\*(?:(?!\*/).)*\*/\n)?"
        r"(?:^#define (?P<constant>ENROLL_\w+) (?P<value>[^\n\\]+)$"
        r"|^(?:typedef )?struct (?P<record>\w+) \{\n(?P<members>.*?)^\}"
        r"|^typedef (?P<ctype>[\w ]+)\(\*(?P<callback>\w+)\)\((?P<cparameters>[^)]*)\);"
        r"|^(?P<type>(?:const )?\w+ \*?)(?P<function>enroll_\w+)\((?P<parameters>[^)]*)\);)",
        text,
        re.M | re.S,
    )
    for found in body:
        line = text.count("\n", 0, found.start()) + 1
        comment = comment_of(found["comment"] or "")
        if found["section"]:
            section = found["section"]
            header.sections.append(section)
        elif found["constant"]:
            if not found["constant"].endswith("_INIT") and found["constant"] != "ENROLL_H":
                value = re.sub(r"^\(\(size_t\)(-\d+)\)$|^\((-?\d+)\)$", r"\1\2", found["value"])
                header.constants.append(Constant(found["constant"], int(value), comment, line))
        elif found["record"]:
            members = re.sub(r"^ *//.*\n|^ */\*.*?\*/\n", "", found["members"], flags=re.M | re.S)
            declaration = f"struct {found['record']} {{\n{members}}};"
            header.records.append(Record(found["record"], comment, members_of(found["members"]), line, declaration))
        elif found["callback"]:
            parameters = parameters_of(found["cparameters"])
            header.callbacks.append(
                Function(found["callback"], found["ctype"].strip(), parameters, comment, section, line)
            )
        elif found["function"]:
            parameters = parameters_of(found["parameters"])
            header.functions.append(
                Function(found["function"], found["type"].strip(), parameters, comment, section, line)
            )
    return header


def members_of(text):
    found = []
    for comment, pointer, declaration in re.findall(
        r"(/\*\*(?:(?!\*/).)*\*/\n)?^  (?:[\w ]+\(\*(\w+)\)\([^)]*\)|([^/(]*?));", text, re.M | re.S
    ):
        if pointer:
            found.append((Parameter("function", pointer), comment_of(comment)))
        else:
            match = re.fullmatch(r"(.*?[\s*])(\w+)(\[\w+\])?", declaration.strip(), re.S)
            found.append((Parameter(match[1].strip() + (match[3] or ""), match[2]), comment_of(comment)))
    return found
