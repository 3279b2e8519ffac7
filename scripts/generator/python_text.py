"""Formats Python code: docstrings, and lines that fit into the width."""

from .text import WIDTH


def escaped(text):
    return text.replace("\\", "\\\\").replace('"""', r"\"\"\"")


def docstring(text, indent):
    """A docstring of paragraphs; `Args:` and the other sections keep their lines."""
    blank = " " * indent
    lines = text.strip("\n").split("\n")
    if len(lines) == 1 and len(blank) + len(lines[0]) + 6 <= WIDTH:
        return f'{blank}"""{lines[0]}"""\n'
    body = "\n".join(blank + line if line and number else line for number, line in enumerate(lines))
    return f'{blank}"""{body}\n{blank}"""\n'


def fitted(line, opening="(", closing=")"):
    """Splits a long line: the text between its outermost brackets gets a separate line, or each word of that
    text gets a separate line."""
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
    """A sort key that puts constants first, as ruff does."""
    return not name.isupper(), name


def imported(name):
    """A sort key for the names of an import, as ruff sorts them."""
    return not name.isupper(), name.lower()


def exports(names):
    return "\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted(names, key=ordered)) + "]\n"
