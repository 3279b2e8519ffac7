"""Python: the commands as methods, in a blocking and an awaitable form."""

from .manifest import Refused, pascal, snake
from .python_text import docstring, escaped, fitted
from .python_types import TOKENS, Given
from .text import WIDTH, lines, sentence

#: Commands that are written by hand: they open and close the client itself, and subscribe to its events.
BY_HAND = {"client.open", "client.close", "events.subscribe", "events.unsubscribe"}
#: The parameter that says how long the caller waits.
TIMEOUT = "timeout"
#: Parameters that have types of Python's own (`_given.py`): (annotation, expression with the name of the parameter).
OWN_TYPES = {
    "TransactionID": ("Union[Transaction, str]", "transaction_id({})"),
    "StoreFolder": ("StorePath", "store_path({})"),
}
#: Descriptions of parameters in Python's words.
OWN_WORDS = {
    TIMEOUT: "Seconds (or a timedelta) that the call may take; None: as long as it takes.",
    "transaction": "The result of `begin`, or its `id`.",
    "minimumLifetime": "Seconds (or a timedelta) that the token must still live, of which at most nine tenths of its whole "
    "life count; None: the configured grace.",
    "maxAge": "The user must have signed in at most so many seconds (or a timedelta) ago.",
    "keys": "Where the store's key is kept; None: a key file in the store.",
    "newKeys": "Where the store's key is kept from now on; None: in the same place, wrapped anew.",
    "store": "The directory of the store.",
    "expiresAt": "A datetime with a time zone, or seconds since 1970.",
    "now": "A datetime with a time zone, or seconds since 1970; None: now.",
}


def method_name(command):
    return snake(command["method"])


def exception(status):
    """`storeLocked` is raised as EnrollStoreLocked; abbreviations keep their capitals."""
    return "Enroll" + {"tls": "TLS", "oauth": "OAuth", "json": "JSON"}.get(status, pascal(status))


class Methods:
    def __init__(self, manifest, types):
        self.manifest = manifest
        self.types = types
        self.given = Given(manifest)

    def mixin(self, name, about, usesClient, is_async):
        kind = "AsyncCaller" if is_async else "Caller"
        text = f"class {name}({kind}):\n{docstring(about, 4)}"
        for command in self.manifest.commands:
            if command["client"] == usesClient and command["name"] not in BY_HAND:
                text += "\n" + self.method(command, is_async)
        return text

    def method(self, command, is_async):
        parameters = self.parameters(command)
        needed = [one for one in parameters if one["default"] is None]
        optional = [one for one in parameters if one["default"] is not None]
        pieces = ["self"] + [f"{one['name']}: {one['annotation']}" for one in needed]
        pieces += ["*"] if optional else []
        pieces += [f"{one['name']}: {one['annotation']} = {one['default']}" for one in optional]
        returns, body = self.result(command)
        head = "    async def" if is_async else "    def"
        name = method_name(command)
        line = f"{head} {name}({', '.join(pieces)}) -> {returns}:"
        if len(line) > WIDTH:
            inner = ", ".join(pieces)
            line = f"{head} {name}(\n        {inner}\n    ) -> {returns}:"
            if len(inner) + 8 > WIDTH:
                line = f"{head} {name}(\n" + "".join(fitted(f"        {piece},", "[", "]") + "\n" for piece in pieces)
                line += f"    ) -> {returns}:"
        return line + "\n" + self.docstring(command, parameters) + self.body(command, parameters, body, is_async)

    def parameters(self, command):
        """The parameters of a method, in the order of the schema; the members of `options` become parameters
        themselves."""
        found = []
        for member in self.manifest.members(command["input"]):
            if member.name == "client":
                continue
            if member.name == "options":
                found += [self.parameter(command, inner, "options") for inner in self.manifest.members(member.schema)]
                continue
            # The store is required, because only the daemon has a default folder.
            member.required = member.required or (member.name == "store" and not command["client"])
            found.append(self.parameter(command, member, ""))
        found.sort(key=lambda one: one["key"] == TIMEOUT)
        return found

    def parameter(self, command, member, group):
        annotation, encoded = self.parameter_type(member)
        whole = self.manifest.whole(member.schema)
        default = None if member.required else "None"
        if member.name == TIMEOUT:
            # The call waits for the user as long as the transaction lives.
            default = "None" if self.waits_for_user(command) else str(member.default)
            annotation = "Timeout"
        elif not member.required and whole.get("type") == "boolean":
            default = str(member.default)
        elif not member.required:
            annotation = f"Optional[{annotation}]"
        words = OWN_WORDS.get(member.name) or sentence(self.manifest.about(member.schema))
        if member.name == TIMEOUT and self.waits_for_user(command):
            words = "Seconds (or a timedelta) to wait; None: until the transaction ends by itself."
        return {
            "key": member.name, "name": snake(member.name), "annotation": annotation, "default": default,
            "encoded": encoded, "group": group, "words": words,
        }  # fmt: skip

    def waits_for_user(self, command):
        """Whether the command waits until a transaction that the caller names has ended."""
        return command["kind"] == "waiting" and "transaction" in command["input"]["properties"]

    def parameter_type(self, member):
        name, key = snake(member.name), member.name
        type_name, whole = self.manifest.name(member.schema), self.manifest.whole(member.schema)
        if type_name in OWN_TYPES:
            annotation, expression = OWN_TYPES[type_name]
            return annotation, expression.format(name)
        if type_name == "Keys":
            return "Keys", f"given_{name}({name})"
        if key == "configurations":
            return "Sequence[Union[Configuration, Mapping[str, Any]]]", name
        if whole.get("format") == "seconds":
            return "Seconds", f'whole_seconds("{name}", {name})'
        if whole.get("format") == "unix-time":
            return "Union[datetime, int]", f'seconds_since_1970("{name}", {name})'
        if "enum" in whole:
            return f"Union[{self.types.word(type_name)}, {self.given.type(member.schema)}]", name
        return self.given.type(member.schema), name

    def result(self, command):
        """The annotation of a method's return value, and the expression that makes it from `result`."""
        output = command["output"]
        name = self.manifest.name(output)
        if name in TOKENS:
            self.types.token(name)
            return TOKENS[name][0], "token"
        if name:
            annotation, expression = self.types.read(output)
            return annotation, f"told({expression.partition('(')[0]}, result)"
        members = self.manifest.members(output)
        if not members:
            return "None", None
        if len(members) > 1:
            raise Refused(f"{command['name']}: its result has several members and no name. Name its Schema.")
        (member,) = members
        annotation, expression = self.types.read(member.schema)
        if annotation == "Tuple[str, ...]":
            return annotation, f'told(texts, result, "{member.name}")'
        if annotation.startswith("Tuple["):
            read = expression.replace("items(value)", "items(values)")
            return annotation, f'told(lambda values: {read}, result, "{member.name}")'
        function = expression.partition("(")[0]
        if member.required:
            return annotation, f'told({function}, result, "{member.name}")'
        return f"Optional[{annotation}]", f'told_maybe({function}, result, "{member.name}")'

    def body(self, command, parameters, body, is_async):
        wait = "await " if is_async else ""
        timeout = TIMEOUT if any(one["key"] == TIMEOUT for one in parameters) else "None"
        members = [one for one in parameters if one["key"] != TIMEOUT]
        grouped = [one for one in members if one["group"]]
        entries = [f'"{one["key"]}": {one["encoded"]}' for one in members if not one["group"]]
        if grouped:
            inner = "".join(f'{" " * 24}"{one["key"]}": {one["encoded"]},\n' for one in grouped)
            entries.append(f'"options": given(\n{" " * 20}{{\n{inner}{" " * 20}}}\n{" " * 16})\n{" " * 16}or None')
        line = "{" + ", ".join(entries) + "}"
        if not entries:
            argument = "{}"
        elif len(line) < 80 and not grouped:
            argument = f"given({line})"
        else:
            rows = "".join(f"                {entry},\n" for entry in entries)
            argument = f"given(\n            {{\n{rows}            }}\n        )"
        text = ""
        if "\n" in argument:
            text += f"        parameters = {argument}\n"
            argument = "parameters"
        arguments = f'"{command["name"]}", {argument}, {timeout}'
        if body == "token":
            return text + fitted(f"        return {wait}self._token({arguments})") + "\n"
        call = f"{wait}self._call({arguments})"
        if body is None:
            return text + fitted(f"        {call}") + "\n"
        return text + fitted(f"        result = {call}") + f"\n        return {body}\n"

    def docstring(self, command, parameters):
        text = "\n".join(lines(sentence(command["summary"]), WIDTH - 11))
        described = [one for one in parameters if one["words"]]
        if described:
            text += "\n\nArgs:"
            for one in described:
                text += "\n" + "\n".join(lines(f"{one['name']}: {one['words']}", WIDTH - 8, " " * 4, " " * 8))
        stores = [error["status"] for error in self.manifest.errors if error["status"].startswith("store")]
        raised = [exception(status) for status in command["errors"] if status not in stores]
        if set(stores) <= set(command["errors"]):
            raised.append("EnrollStoreError")
        else:
            raised += [exception(status) for status in command["errors"] if status in stores]
        if raised:
            text += "\n\nRaises:\n" + "\n".join(lines(", ".join(raised) + ".", WIDTH - 8, " " * 4, " " * 4))
        origin = f"Command: {command['name']}."
        if "source" in command:
            origin += f" Source: {command['source']}."
        return docstring(escaped(text + "\n\n" + "\n".join(lines(origin, WIDTH - 8))), 8)
