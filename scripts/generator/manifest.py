"""The command surface as `enrolld --manifest` prints it, with the functions that the generators of all languages use.

Types are recognized by their names in `$defs`, units by `format`, other spellings by `aliasOf`. No program reads the
text of a description.
"""

import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
#: The only manifest format that the generator knows.
FORMAT = 2


class Refused(Exception):
    """A part of the command surface cannot be generated. The message says what to do."""


def words(name):
    """The words of a name: `otherAppMissing`, `registration.state` and `handleURL` are split at the start of each
    word. `DPoP` is one word."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.replace("DPoP", "_Dpop_"))
    return [word.replace("Dpop", "DPoP") for word in re.split(r"[._\- ]", split) if word]


def pascal(name):
    """`registration.changed` becomes `RegistrationChanged`, `openURL` stays `OpenURL`."""
    return "".join(word[:1].upper() + word[1:] for word in words(name))


def capital_word(name):
    return name[:1].upper() + name[1:]


def upper(name):
    """`emailPending` becomes `EMAIL_PENDING`."""
    return "_".join(words(name)).upper()


def snake(name):
    """`handleURL` becomes `handle_url`."""
    return upper(name).lower()


@dataclass
class Member:
    """One member of an object, or one parameter of a command."""

    name: str
    schema: dict
    required: bool
    #: Other spellings of the same member.
    aliases: list = field(default_factory=list)

    @property
    def default(self):
        return self.schema.get("default")


class Manifest:
    def __init__(self, document):
        if document.get("manifest") != FORMAT:
            raise Refused(
                f"the manifest has format {document.get('manifest')}, the generator knows {FORMAT}. Build the daemon of "
                "this tree (swift build --product enrolld), or change scripts/generator."
            )
        self.document = document
        self.types = document["$defs"]
        self.commands = document["commands"]
        self.events = document["events"]
        self.errors = document["errors"]
        for name, schema in self.types.items():
            if schema.get("type") == "object" and not schema.get("description"):
                raise Refused(f"{name}: the object has no description. Give its Schema a sentence.")

    @classmethod
    def read(cls, enrolld):
        return cls(json.loads(subprocess.run([enrolld, "--manifest"], check=True, capture_output=True).stdout))

    def command(self, name):
        return next(command for command in self.commands if command["name"] == name)

    def name(self, schema):
        """The name of a schema's type; None for a type without a name."""
        return schema["$ref"].removeprefix("#/$defs/") if "$ref" in schema else None

    def whole(self, schema):
        """The schema itself, even if `schema` is only a reference to its name."""
        return self.types[self.name(schema)] if "$ref" in schema else schema

    def about(self, schema):
        """The description of a member. If the member has none, the result is the description of its type, or
        of its elements if it is a list."""
        if schema.get("description"):
            return schema["description"]
        whole = self.whole(schema)
        return whole.get("description") or (self.about(whole["items"]) if "items" in whole else "")

    def members(self, schema):
        """The members of an object; a member with several spellings appears once."""
        whole = self.whole(schema)
        required = set(whole.get("required", ()))
        for group in whole.get("allOf", ()):
            required |= {name for choice in group["oneOf"] for name in choice["required"]}
        found = {}
        for name, member in whole.get("properties", {}).items():
            if "aliasOf" in member:
                found[member["aliasOf"]].aliases.append(name)
            else:
                found[name] = Member(name, member, name in required)
        return list(found.values())

    def constants(self, variant):
        """The members with a constant value in one variant of a union: {member: its value}. The first of these members
        says which variant an object is."""
        return {
            name: member["const"]
            for name, member in self.whole(variant).get("properties", {}).items()
            if "const" in member
        }

    def is_union(self, schema):
        """Whether a value has one of several shapes, each marked by a member with a constant value."""
        options = self.whole(schema).get("anyOf", ())
        return bool(options) and all(self.constants(option) for option in options)

    def variants(self, schema):
        """(name, discriminators, members, description) of each shape of a union."""
        for option in self.whole(schema)["anyOf"]:
            constants = self.constants(option)
            members = [member for member in self.members(option) if member.name not in constants]
            name = self.name(option) or pascal(next(iter(constants.values())))
            yield name, constants, members, self.about(option)

    def carried(self, members):
        """The name of the type in `$defs` that has exactly these members; None if there is no such type. A
        variant of a union with these members consists of that type and the word that names the variant."""
        shape = [(member.name, member.schema, member.required) for member in members]
        for name, schema in self.types.items():
            known = [(member.name, member.schema, member.required) for member in self.members(schema)]
            if known and known == shape:
                return name
        return None

    def is_given(self, schema):
        """Whether hosts pass objects of this schema to the core: such an object accepts no other members."""
        return self.whole(schema).get("additionalProperties") is False

    def reachable(self, *schemas):
        """The names of the types that these schemas consist of, including the schemas' own names."""
        found, waiting = {}, list(schemas)
        while waiting:
            schema = waiting.pop()
            if isinstance(schema, dict):
                name = self.name(schema)
                if name and name not in found:
                    found[name] = True
                    waiting.append(self.types[name])
                waiting += [value for key, value in schema.items() if key != "default"]
            elif isinstance(schema, list):
                waiting += schema
        return list(found)
