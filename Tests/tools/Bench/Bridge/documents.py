"""Random JSON texts with details that programs often change when they read JSON and write it again."""

import random

NUMBERS = (
    "1e400", "-0.0", "-0", "1.0", "12345678901234567890", "0.1e-7", "1E+2", "9007199254740993", "3.141592653589793238",
    "5e-324", "1e-400",
)  # fmt: skip
PIECES = (
    "\\ud800", "\\udfff\\ud800", "\\u0000", "\\/", "/", "\\u00e9", "é", "\\b\\f\\n\\r\\t", "\\\"", "\\\\", "漢字",
    "😀", "\\ud83d\\ude00", "\u2028", "\u2029", "\x7f", "<script>", "a", "id", "\\u0061", "data: x", "=?base64?x?=",
)  # fmt: skip


class Documents:
    """Random JSON texts."""

    def __init__(self, seed, deepest):
        self.random = random.Random(seed)
        self.deepest = deepest
        self.spaces = ("",)

    def text(self):
        return "".join(self.random.choices(PIECES, k=self.random.randrange(6)))

    def space(self):
        return self.random.choice(self.spaces)

    def value(self, depth):
        kind = self.random.randrange(8 if depth else 5)
        if kind == 0:
            return self.random.choice(NUMBERS)
        if kind == 1:
            return self.random.choice(("true", "false", "null", "{}", "[]", "{ }", "[ ]"))
        if kind < 5:
            return f'"{self.text()}"'
        if kind == 5:
            items = [self.value(depth - 1) for _ in range(self.random.randrange(5))]
            return "[" + f",{self.space()}".join(items) + "]"
        return self.object(depth)

    def object(self, depth):
        # Some objects have the same key twice.
        members = [f'"{self.text()}"{self.space()}:{self.space()}{self.value(depth - 1)}'
                   for _ in range(self.random.randrange(6))]  # fmt: skip
        if members and not self.random.randrange(4):
            members.append(self.random.choice(members))
        return "{" + self.space() + ",".join(members) + self.space() + "}"

    def document(self, has_line_ends=False):
        self.spaces = ("", "\n", "\n  ", " ") if has_line_ends else ("", "", "", " ", "\t", "  ")
        if not self.random.randrange(50):
            depth = self.random.randrange(50, self.deepest)
            return '{"a":' * depth + self.value(1) + "}" * depth
        return self.object(5)
