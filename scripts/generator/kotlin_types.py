"""Kotlin: data classes, enums and sealed interfaces, with the code that reads them from JSON and writes them."""

from .manifest import Refused, pascal, upper
from .text import WIDTH, capital, lines, sentence

#: Names of members that Kotlin spells differently, each with its reason.
RENAMED = {
    ("Transaction", "transaction"): "id",  # transaction.transaction says nothing
    ("PKCE", "codeChallengeMethod"): "method",  # the class says the rest
    ("Expiry", "secondsLeft"): "timeLeft",  # a Duration has its own unit
}
#: The members and the words that Kotlin's own type Keys knows. Keys says which provider guards a store's key, even if
#: that is a host's own secret store.
KEYS = ["provider", "file", "passphrase", "sessionCacheSeconds"]
KEY_PROVIDERS = ["auto", "file", "secret-service", "passphrase", "host"]


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$") + '"'


def constant(word):
    """`signIn` becomes SIGN_IN; the name of an algorithm stays one word."""
    return word.upper() if word == "EdDSA" else upper(word)


def kdoc(text, indent="", tags=()):
    """A KDoc comment, on one line if it fits."""
    escaped = lambda words: sentence(words).replace("*/", "* /").replace("[", "\\[").replace("]", "\\]")  # noqa: E731
    if not tags and len(indent) + len(escaped(text)) + 7 <= WIDTH:
        return f"{indent}/** {escaped(text)} */\n"
    width = WIDTH - len(indent) - 3
    found = lines(escaped(text), width)
    found += [""] if tags else []
    for name, about in tags:
        found += lines(f"@{name} {escaped(about)}", width, rest="  ")
    return f"{indent}/**\n" + "".join(f"{indent} * {line}".rstrip() + "\n" for line in found) + f"{indent} */\n"


def same(text):
    return text


class Field:
    """One property of a class, or one parameter of a function."""

    def __init__(self, owner, member, types):
        self.wire = member.name
        self.schema = member.schema
        self.required = member.required
        self.about = sentence(types.manifest.about(member.schema))
        self.name = RENAMED.get((owner, member.name), member.name)
        self.type, self.read, self.write = types.of(member)
        if self.type == "Duration" and self.name.endswith("Seconds"):
            self.name = self.name.removesuffix("Seconds")
        if not self.about:
            raise Refused(f"{owner}.{member.name}: nothing says what it is. Give its Schema a documentation.")
        whole = types.manifest.whole(member.schema)
        self.hidden = ""
        if self.type == "String" and (whole.get("sensitive") or member.schema.get("sensitive")):
            self.hidden = "hiddenUrl" if whole.get("format") == "uri" else "hidden"

    @property
    def is_list(self):
        return self.type.startswith("List<")

    def declared(self, is_input):
        return self.type if self.required or (self.is_list and not is_input) else f"{self.type}?"

    def decoding(self):
        found = f"json.{'need' if self.required else 'find'}({quoted(self.wire)})"
        if self.required:
            return self.read(found)
        return f"{found}?.let {{ {self.read('it')} }}" + (" ?: emptyList()" if self.is_list else "")

    def encoding(self):
        if self.required:
            return f"put({quoted(self.wire)}, {self.write(self.name)})"
        return f"{self.name}?.let {{ put({quoted(self.wire)}, {self.write('it')}) }}"

    def shown(self):
        return f"{self.name}=${{{self.hidden}({self.name})}}" if self.hidden else f"{self.name}=${self.name}"


class Types:
    def __init__(self, manifest):
        self.manifest = manifest
        self.known = {}
        self.inputs = set()

    def of(self, member):
        """The Kotlin type of a member, and templates that read it from JSON and write it to JSON."""
        name, whole = self.manifest.name(member.schema), self.manifest.whole(member.schema)
        if name == "Keys":
            return self.keys(whole)
        if name == "StoreFolder":
            return "Store", same, same
        return self.type(member.schema)

    def type(self, schema):
        name, whole = self.manifest.name(schema), self.manifest.whole(schema)
        kind = whole.get("type")
        if "const" in whole or kind == "string" or ("enum" in whole and not name):
            return "String", "{}.text()".format, "JsonPrimitive({})".format
        if "enum" in whole:
            self.enum(name)
            return name, f"{name}.decode({{}})".format, "JsonPrimitive({}.wire)".format
        if "anyOf" in whole:
            return self.choice(name, whole)
        if kind == "boolean":
            return "Boolean", "{}.flag()".format, "JsonPrimitive({})".format
        if kind == "integer":
            return self.integer(whole)
        if kind == "array":
            item, read, write = self.type(whole["items"])
            return (
                f"List<{item}>",
                lambda text: f"{text}.list {{ {read('it')} }}",
                lambda text: f"JsonArray({text}.map {{ item -> {write('item')} }})",
            )
        if whole.get("properties"):
            if not name:
                raise Refused(f"an object has no name: {sorted(whole['properties'])}. Name its Schema.")
            self.data_class(name)
            # A class for parameters has only `encode`, and a class for results only `decode`. The caller uses the
            # function that exists.
            return name, f"{name}.decode({{}}.members())".format, "{}.encode()".format
        if whole.get("additionalProperties") == {"type": "string"}:
            return (
                "Map<String, String>",
                "{}.members().mapValues {{ (_, value) -> value.text() }}".format,
                "JsonObject({}.mapValues {{ (_, value) -> JsonPrimitive(value) }})".format,
            )
        if name == "Claims":
            return "Claims", "Claims({}.members())".format, same
        return "JsonObject", "{}.members()".format, same

    @staticmethod
    def keys(whole):
        words = whole["properties"]["provider"]
        if list(whole["properties"]) != KEYS or "$ref" not in words:
            raise Refused(f"Keys.kt knows {KEYS}, the manifest has {list(whole['properties'])}. Change both.")
        return "Keys", same, same

    @staticmethod
    def integer(whole):
        if whole.get("format") == "unix-time":
            return "Instant", "{}.date()".format, "JsonPrimitive({}.epochSeconds)".format
        if whole.get("format") == "seconds":
            return "Duration", "{}.duration()".format, "JsonPrimitive({}.toWholeSeconds())".format
        if whole.get("maximum", 0) > 2**31 - 1:
            return "Long", "{}.long()".format, "JsonPrimitive({})".format
        return "Int", "{}.int()".format, "JsonPrimitive({})".format

    def enum(self, name):
        if name in self.known or name in ("Status", "Blame"):
            return
        whole = self.manifest.types[name]
        rows = "".join(f"  {constant(word)}({quoted(word)}),\n" for word in whole["enum"])
        self.known[name] = kdoc(whole["description"]) + (
            f"public enum class {name}(\n  /** The word in JSON. */\n  public val wire: String,\n) {{\n{rows}  ;\n\n"
            f"  internal companion object {{\n"
            f"    fun decode(json: JsonElement): {name} = json.word({quoted(name)}, entries) {{ it.wire }}\n  }}\n}}\n"
        )

    def choice(self, name, whole):
        options = whole["anyOf"]
        if {self.manifest.whole(option).get("type") for option in options} == {"string", "array"}:
            # The manifest allows a text with spaces or a list here: in Kotlin it is always a list.
            return self.type(next(option for option in options if option.get("type") == "array"))
        if not name:
            raise Refused(f"a choice has no name: {whole}. Name its Schema.")
        if "enum" in self.manifest.whole(options[0]):
            self.words_or_object(name, whole)
            return name, same, "{}.encode()".format
        if not self.manifest.is_union({"$ref": f"#/$defs/{name}"}):
            self.merged_class(name)
            return name, f"{name}.decode({{}}.members())".format, same
        self.sealed(name)
        return name, f"decode{name}({{}}.members())".format, same

    def words_or_object(self, name, whole):
        """Writes the type of a value that is a word, or else a number or an object with more details."""
        if name in self.known:
            return
        words, thing = (self.manifest.whole(option) for option in whole["anyOf"])
        fields = [Field(name, member, self) for member in self.manifest.members(thing)]
        text, cases = kdoc(whole["description"]) + f"public sealed interface {name} {{\n", ""
        for word in words["enum"]:
            text += kdoc(f"The word {word}", "  ") + f"  public data object {pascal(word)} : {name}\n\n"
            cases += f"  {name}.{pascal(word)} -> JsonPrimitive({quoted(word)})\n"
        if thing.get("type") == "integer":
            text += kdoc("A number.", "  ") + f"  public data class Value(val value: Long) : {name}\n}}\n\n"
            cases += f"  is {name}.Value -> JsonPrimitive(value)\n"
            text += f"internal fun {name}.encode(): JsonElement = when (this) {{\n{cases}}}\n"
            self.inputs.add(name)
            self.known[name] = text
            return
        text += self.class_text("Page", "A page of the provider's own.", fields, True, False, name, "  ") + "}\n\n"
        text += f"internal fun {name}.encode(): JsonElement = when (this) {{\n{cases}  is {name}.Page -> encode()\n}}\n"
        self.inputs.add(name)
        self.known[name] = text

    def class_text(self, name, about, fields, encodes, decodes, parent="", indent=""):
        fields = sorted(fields, key=lambda field: not field.required) if encodes else fields
        text = kdoc(about, indent) + f"{indent}public data class {name}(\n"
        for field in fields:
            absent = " = null" if encodes and not field.required else ""
            text += kdoc(field.about, indent + "  ")
            text += f"{indent}  public val {field.name}: {field.declared(encodes)}{absent},\n"
        text += f"{indent})" + (f" : {parent}" if parent else "")
        body = []
        if any(field.hidden for field in fields):
            parts = ", ".join(field.shown() for field in fields)
            body.append(
                f"{indent}  /** Without what is secret or personal. */\n"
                f'{indent}  override fun toString(): String =\n{indent}    "{name}({parts})"\n'
            )
        if encodes:
            puts = "".join(f"{indent}    {field.encoding()}\n" for field in fields)
            body.append(f"{indent}  internal fun encode(): JsonObject = buildJsonObject {{\n{puts}{indent}  }}\n")
        if decodes:
            reads = "".join(f"{indent}      {field.name} = {field.decoding()},\n" for field in fields)
            body.append(
                f"{indent}  internal companion object {{\n{indent}    fun decode(json: JsonObject): {name} = {name}(\n"
                f"{reads}{indent}    )\n{indent}  }}\n"
            )
        return text + (" {\n" + "\n".join(body) + f"{indent}}}\n" if body else "\n")

    def data_class(self, name):
        if name in self.known:
            return
        self.known[name] = ""  # a type may contain itself
        whole = self.manifest.types[name]
        is_given = self.manifest.is_given(whole)
        if is_given:
            self.inputs.add(name)
        fields = [Field(name, member, self) for member in self.manifest.members(whole)]
        self.known[name] = self.class_text(name, whole["description"], fields, is_given, not is_given)

    def merged_class(self, name):
        """Writes one class for a union that has no member to say which variant an object is. A member that only
        some variants have is optional in this class."""
        if name in self.known:
            return
        self.known[name] = ""
        whole = self.manifest.types[name]
        found = {}
        for option in whole["anyOf"]:
            for member in self.manifest.members(option):
                found.setdefault(member.name, []).append(member)
        for group in found.values():
            group[0].required = len(group) == len(whole["anyOf"]) and all(one.required for one in group)
        fields = [Field(name, group[0], self) for group in found.values()]
        self.known[name] = self.class_text(name, whole["description"], fields, False, True)

    def sealed(self, name):
        if name in self.known:
            return
        self.known[name] = ""
        classes, cases = "", ""
        for title, constants, members, about in self.manifest.variants({"$ref": f"#/$defs/{name}"}):
            test = " && ".join(f"json.textOrNull({quoted(key)}) == {quoted(value)}" for key, value in constants.items())
            carried = self.manifest.carried(members)
            if carried:
                self.data_class(carried)
                classes += kdoc(about, "  ") + (
                    f"  public data class {title}(\n    /** {sentence(self.manifest.types[carried]['description'])} */\n"
                    f"    public val {carried[0].lower()}{carried[1:]}: {carried},\n  ) : {name}\n\n"
                )
                cases += f"  {test} -> {name}.{title}({carried}.decode(json))\n"
                continue
            fields = [Field(title, member, self) for member in members]
            if not fields:
                classes += kdoc(about, "  ") + f"  public data object {title} : {name}\n\n"
                cases += f"  {test} -> {name}.{title}\n"
            else:
                classes += self.class_text(title, about, fields, False, True, name, "  ") + "\n"
                cases += f"  {test} -> {name}.{title}.decode(json)\n"
        text = kdoc(capital(self.manifest.types[name]["description"])) + f"public sealed interface {name} {{\n"
        self.known[name] = text + classes + (
            f"}}\n\ninternal fun decode{name}(json: JsonObject): {name} = when {{\n{cases}"
            f"  else -> throw unknownVariant({quoted(name)}, json)\n}}\n"
        )
