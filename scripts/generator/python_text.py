"""Python: docstrings and lines that fit."""

from .text import WIDTH


def escaped(text):
    return text.replace("\\", "\\\\").replace('"""', r"\"\"\"")


def docstring(text, indent):
    """A docstring of paragraphs; `Args:` and the like keep their lines."""
    blank = " " * indent
    lines = text.strip("\n").split("\n")
    if len(lines) == 1 and len(blank) + len(lines[0]) + 6 <= WIDTH:
        return f'{blank}"""{lines[0]}"""\n'
    body = "\n".join(blank + line if line and number else line for number, line in enumerate(lines))
    return f'{blank}"""{body}\n{blank}"""\n'


def fitted(line, opening="(", closing=")"):
    """A line that is too long, with what is between its outermost brackets on a line of its own, or on one for each word."""
    if len(line) <= WIDTH:
        return line
    indent = " " * (len(line) - len(line.lstrip()))
    first, last = line.index(opening), line.rindex(closing)
    inner = line[first + 1 : last]
    if len(indent) + 4 + len(inner) > WIDTH and '"' in inner:
        each = "".join(f"{indent}    {word},\n" for word in inner.split(", "))
        return f"{line[: first + 1]}\n{each}{indent}{line[last:]}"
    return f"{line[: first + 1]}\n{indent}    {line[first + 1 : last]}\n{indent}{line[last:]}"


def imports(module, names):
    line = f"from {module} import {', '.join(names)}\n"
    if len(line) > WIDTH:
        return f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")\n"
    return line


def ordered(name):
    """As ruff sorts names: constants first."""
    return not name.isupper(), name


def imported(name):
    """As ruff sorts the names of an import."""
    return not name.isupper(), name.lower()


def exports(names):
    return "\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted(names, key=ordered)) + "]\n"
