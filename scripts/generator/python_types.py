"""Generates Python types: frozen dataclasses for results and events, enums for words, and TypedDicts for
objects that callers pass."""

import keyword

from .manifest import Refused, snake, upper
from .python_text import docstring, escaped, fitted
from .text import lines, sentence

#: Names of members that Python spells differently, each with its reason.
RENAMED = {
    ("Transaction", "transaction"): "id",  # transaction.transaction says nothing
    ("AccessToken", "accessToken"): "value",  # for the same reason
    ("AccessToken", "tokenType"): "type",  # for the same reason
}
#: Unions that contain a token: {union: (class, its words)}. The method returns the token itself, and raises an
#: exception for an outcome without a token.
TOKENS = {"AccessOutcome": ("AccessToken", ("valid", "stale"))}
#: Types that are written by hand.
BY_HAND = {"EnrollError": "EnrollError.from_json(value)"}
#: Classes that inherit properties that are written by hand (`_values.py`).
BASES = {"AccessToken": "Authorizing", "Transaction": "Leading"}


def attribute(owner, name):
    renamed = RENAMED.get((owner, name)) or snake(name)
    return renamed + "_" if keyword.iskeyword(renamed) else renamed


class Types:
    def __init__(self, manifest):
        self.manifest = manifest
        self.code = {}
        self.unions = {}

    def read(self, schema):
        """(annotation, expression that reads `value`) of a result."""
        name, whole = self.manifest.name(schema), self.manifest.whole(schema)
        if name in BY_HAND:
            return name, BY_HAND[name]
        if "const" in whole:
            return "str", "text(value)"
        if "enum" in whole:
            return (name, f"{self.word(name)}(value)") if name else ("str", "text(value)")
        if name in TOKENS:
            name = TOKENS[name][0]
            return name, f"{name}.from_json(value)"
        if self.manifest.is_union(schema):
            self.union(name)
            return name, f"read_{snake(name)}(value)"
        kind = whole.get("type")
        if kind == "string":
            return "str", "text(value)"
        if kind == "boolean":
            return "bool", "truth(value)"
        if kind == "integer":
            return ("datetime", "moment(value)") if whole.get("format") == "unix-time" else ("int", "number(value)")
        if kind == "array":
            annotation, expression = self.read(whole["items"])
            return f"Tuple[{annotation}, ...]", f"tuple({expression} for value in items(value))"
        if "anyOf" not in whole and not whole.get("properties"):
            return "Dict[str, Any]", "mapping(value)"
        if not name:
            raise Refused(f"an object of a result has no name: {sorted(whole.get('properties', ()))}. Name its Schema.")
        self.object(name)
        return name, f"{name}.from_json(value)"

    def word(self, name):
        whole = self.manifest.types[name]
        if name not in self.code:
            members = "".join(f'    {upper(value)} = "{value}"\n' for value in whole["enum"])
            about = "\n".join(lines(sentence(whole["description"]), 112))
            self.code[name] = f"class {name}(Word):\n{docstring(escaped(about), 4)}\n{members}"
        return name

    def object(self, name):
        if name in self.code:
            return
        self.code[name] = ""  # a type may contain itself
        whole = self.manifest.types[name]
        options = whole.get("anyOf")
        self.write_class(name, whole["description"], self.merged(options) if options else self.manifest.members(whole))

    def merged(self, options):
        """The members of several shapes; a member that some shapes do not have is optional."""
        found = {}
        for option in options:
            for member in self.manifest.members(option):
                found.setdefault(member.name, []).append(member)
        members = []
        for group in found.values():
            first = group[0]
            first.required = len(group) == len(options) and all(one.required for one in group)
            members.append(first)
        return members

    def union(self, name):
        if name in self.unions:
            return
        self.unions[name] = []
        for title, constants, members, about in self.manifest.variants({"$ref": f"#/$defs/{name}"}):
            carried = self.manifest.carried(members)
            if carried:
                self.object(carried)
            elif title not in self.code:
                self.code[title] = ""
                self.write_class(title, about, members, constants)
            self.unions[name].append((carried or title, constants))

    def token(self, name):
        """The class of the token that a call returns."""
        title, words = TOKENS[name]
        if title in self.code:
            return
        self.code[title] = ""
        options = [
            option
            for option in self.manifest.types[name]["anyOf"]
            if next(iter(self.manifest.constants(option).values())) in words
        ]
        members = self.merged(options)
        word = next(iter(self.manifest.constants(options[0])))
        values = "".join(f'    {upper(value)} = "{value}"\n' for value in words)
        about = "Whether the token is fresh, or due and could not be renewed just now."
        self.code["Outcome"] = f'class Outcome(Word):\n    """{about}"""\n\n{values}'
        fields = {word: ("Outcome", "Outcome(value)", "`stale`: it is due and could not be renewed, and still works.")}
        about = "An access token that works; `str()` and `repr()` do not show it."
        self.write_class(title, about, members, own=fields)

    def event(self, title, event):
        members = [member for member in self.manifest.members(event["parameters"]) if member.name != "client"]
        self.code[title] = ""
        self.write_class(title, event["summary"], members)

    def write_class(self, name, about, members, constants=None, own=None):
        """A frozen dataclass. `own`: (annotation, expression, words) of members that no schema describes."""
        fields = []
        for member in members:
            if own and member.name in own:
                annotation, expression, words = own[member.name]
            else:
                annotation, expression = self.read(member.schema)
                words = sentence(self.manifest.about(member.schema))
                if annotation == "int" and self.manifest.whole(member.schema).get("format") == "seconds":
                    words += " In seconds."
            hidden = self.manifest.whole(member.schema).get("sensitive", False) or member.schema.get("sensitive", False)
            fields.append((attribute(name, member.name), member, annotation, expression, hidden, words))
        fields.sort(key=lambda one: not one[1].required)
        base = f"({BASES[name]})" if name in BASES else ""
        summary = "\n".join(lines(sentence(about), 112))
        text = f"@dataclass(frozen=True)\nclass {name}{base}:\n{docstring(escaped(summary), 4)}"
        for title, member, annotation, _, hidden, words in fields:
            text += f"\n    {title}: {self.declared(annotation, member.required, hidden)}\n"
            if words:
                text += docstring(escaped("\n".join(lines(words, 112))), 4)
        for key, value in (constants or {}).items():
            text += f'\n    {snake(key)}: ClassVar[str] = "{value}"\n'
        text += f"\n    @classmethod\n    def from_json(cls, value: Any) -> {name}:\n"
        text += docstring("Reads a result; members that this version does not know are left out.", 8)
        if not fields:
            text += "        mapping(value)\n        return cls()\n"
        else:
            text += "        members = mapping(value)\n        return cls(\n"
            for title, member, annotation, expression, _, _ in fields:
                text += f"            {title}={self.reading(member, annotation, expression)},\n"
            text += "        )\n"
        self.code[name] = text

    @staticmethod
    def declared(annotation, required, hidden):
        if required:
            return annotation + (" = field(repr=False)" if hidden else "")
        if annotation.startswith("Tuple["):
            return f"{annotation} = ()"
        return f"Optional[{annotation}]" + (" = field(default=None, repr=False)" if hidden else " = None")

    @staticmethod
    def reading(member, annotation, expression):
        source = f'members["{member.name}"]' if member.required else f'members.get("{member.name}")'
        if annotation.startswith("Tuple["):
            source = source if member.required else f"{source} or ()"
            return expression.replace("items(value)", f"items({source})")
        function = expression.partition("(")[0]
        return f"{function}({source})" if member.required else f"maybe({function}, {source})"

    def union_code(self, name):
        variants = self.unions[name]
        titles = list(dict.fromkeys(title for title, _ in variants))
        about = "\n".join(lines(sentence(self.manifest.types[name]["description"]), 116))
        text = fitted(f"{name} = Union[{', '.join(titles)}]", "[", "]") + "\n" + docstring(escaped(about), 0)
        text += f"\n\ndef read_{snake(name)}(value: Any) -> {name}:\n"
        text += docstring("Reads the variant that a result names.", 4)
        text += "    members = mapping(value)\n"
        first = next(iter(variants[0][1]))
        text += f'    word = members["{first}"]\n'
        for title, constants in variants:
            more = list(constants.items())[1:]
            also = "".join(f' and members["{key}"] == "{value}"' for key, value in more)
            text += f'    if word == "{constants[first]}"{also}:\n        return {title}.from_json(members)\n'
        return text + f'    raise unknown("{name}", word)\n'


class Given:
    """Objects that callers pass: TypedDicts with keys in snake_case, which the library accepts, too."""

    def __init__(self, manifest):
        self.manifest = manifest
        self.code = {}
        self.configuration = manifest.reachable({"$ref": "#/$defs/Configuration"})

    def type(self, schema):
        name, whole = self.manifest.name(schema), self.manifest.whole(schema)
        if "enum" in whole:
            return "Literal[{}]".format(", ".join(f'"{value}"' for value in whole["enum"]))
        if "anyOf" in whole:
            return f"Union[{', '.join(self.type(one) for one in whole['anyOf'])}]"
        kind = whole.get("type")
        if kind == "array":
            return f"Sequence[{self.type(whole['items'])}]"
        if kind == "object" and whole.get("properties"):
            if not name:
                raise Refused(f"an object that is handed in has no name: {sorted(whole['properties'])}. Name its Schema.")
            self.typed_dict(name)
            return name
        if kind == "object":
            return "Mapping[str, str]"
        return {"string": "str", "integer": "int", "boolean": "bool"}[kind]

    def typed_dict(self, name):
        if name in self.code:
            return
        self.code[name] = ""
        needed, optional = [], []
        for member in self.manifest.members({"$ref": f"#/$defs/{name}"}):
            spelling = snake(member.name)
            if name in self.configuration and spelling not in [member.name, *member.aliases]:
                raise Refused(f"the configuration key {member.name} has no spelling {spelling}. Add it to ConfigurationKey.")
            (needed if member.required else optional).append((spelling, self.type(member.schema), member))
        about = "\n".join(lines(sentence(self.manifest.types[name]["description"]), 112))
        head = docstring(escaped(about), 4)

        def members(listed):
            text = ""
            for spelling, annotation, member in listed:
                text += "\n" + fitted(f"    {spelling}: {annotation}", "[", "]") + "\n"
                words = self.manifest.about(member.schema)
                if words:
                    text += docstring(escaped("\n".join(lines(sentence(words), 112))), 4)
            return text

        del self.code[name]
        if needed and optional:
            self.code[f"_{name}"] = f"class _{name}(TypedDict):{members(needed)}".replace(":\n\n", ":\n", 1)
            self.code[name] = f"class {name}(_{name}, total=False):\n{head}{members(optional)}"
        else:
            total = "" if needed else ", total=False"
            self.code[name] = f"class {name}(TypedDict{total}):\n{head}{members(needed or optional)}"
