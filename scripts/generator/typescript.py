"""Generates TypeScript: types and methods, as `bindings/cordova/www/enroll.d.ts` and others have them, and the list of
methods in `enroll.js`."""

import json
import re

from .manifest import Refused, capital_word
from .text import WIDTH, lines, replaced

PATH = "bindings/cordova/www/enroll.d.ts"
SCRIPT = "bindings/cordova/www/enroll.js"
#: Commands that the plugin implements in a different way, or does not have: see the table in its README.md.
OWN = ["client.open", "client.close", "events.subscribe", "events.unsubscribe", "store.rekey"]
#: Parameters that a page does not give: the native part knows where the app's data is and which provider guards its
#: key.
NOT_FOR_PAGES = ["client", "keys"]
STORE = "A name within the app's own data, not a path."
#: Units, which TypeScript's `number` does not express.
UNITS = {"seconds": "In seconds.", "unix-time": "In seconds since 1970-01-01T00:00:00Z."}
#: Types with another name, each with its reason.
RENAMED = {"EnrollError": "ErrorDetail"}  # in JavaScript EnrollError is the class that is thrown


def literal(value):
    return f"'{value}'"


def key(name):
    return name if re.fullmatch(r"[A-Za-z_$][\w$]*", name) else literal(name)


def comment(text, indent):
    if not text:
        return ""
    found = lines(text.replace("*/", "*\\/"), WIDTH - 6 - len(indent))
    if len(found) == 1:
        return f"{indent}/** {found[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {line}\n" for line in found) + f"{indent} */\n"


def wrapped(parts, indent):
    line = " | ".join(parts)
    return line if len(indent) + len(line) <= 90 else "\n" + "\n".join(f"{indent}  | {part}" for part in parts)


def spaced(text):
    return text if text.startswith("\n") else f" {text}"


class Types:
    """Types and methods of one binding.

    Args:
        omit: Parameters that no method has.
        given: {name of a type: the type that a parameter has instead}.
        about: {parameter: a description that replaces the manifest's}.
        needed: Parameters that no method may leave out.
    """

    def __init__(self, manifest, omit=(), given=None, about=None, needed=()):
        self.manifest = manifest
        self.omit = omit
        self.given = given or {}
        self.words = about or {}
        self.needed = needed

    def type(self, schema, indent="", whole=False):
        """A JSON Schema as a TypeScript type. `whole`: the type itself, not its name."""
        name = self.manifest.name(schema)
        if name and not whole:
            return RENAMED.get(name, name)
        schema = self.manifest.whole(schema)
        if "const" in schema:
            return literal(schema["const"])
        if "enum" in schema:
            return wrapped([literal(value) for value in schema["enum"]], indent)
        if "anyOf" in schema:
            return wrapped([self.type(one, indent + "  ") for one in schema["anyOf"]], indent)
        kind = schema.get("type")
        if kind in ("string", "boolean"):
            return kind
        if kind == "integer":
            return "number"
        if kind == "array":
            item = self.type(schema["items"], indent)
            return f"Array<{item}>" if re.search(r"[ |]", item) else f"{item}[]"
        if kind == "object":
            return self.object(schema, indent)
        raise Refused(f"TypeScript has no type for {json.dumps(schema)[:300]}. Teach scripts/generator/typescript.py.")

    def object(self, schema, indent, is_input=False):
        """The schema of an object as a TypeScript type. `is_input`: the object has the parameters of a method."""
        omit = self.omit if is_input else ()
        properties = {name: one for name, one in schema.get("properties", {}).items() if name not in omit}
        if not properties:
            rest = schema.get("additionalProperties")
            if rest is False or "properties" in schema:
                return "Record<string, never>"
            return f"Record<string, {self.type(rest, indent) if rest else 'unknown'}>"
        inner, text = indent + "  ", ""
        for name, member in properties.items():
            optional = "" if name in self.required(schema, is_input) else "?"
            about = is_input and self.words.get(name) or self.about(member)
            kind = is_input and self.given.get(self.manifest.name(member)) or self.type(member, inner)
            text += f"{comment(about, inner)}{inner}{key(name)}{optional}:{spaced(kind)};\n"
        return f"{{\n{text}{indent}}}"

    def required(self, schema, is_input):
        needed = [name for name in self.needed if is_input and name in schema.get("properties", ())]
        return [name for name in [*schema.get("required", ()), *needed] if not is_input or name not in self.omit]

    def about(self, member):
        if "aliasOf" in member:
            return f"Another spelling of {member['aliasOf']}, never beside it."
        # Only the member is described here, because the type has a comment of its own.
        return " ".join(part for part in (member.get("description", ""), UNITS.get(member.get("format"))) if part)

    def group(self, group, commands):
        methods = ""
        for command in commands:
            verb = command["name"].removeprefix(group + ".")
            required = self.required(command["input"], True)
            parameters = self.object(command["input"], "  ", True)
            methods += f"{comment(command['summary'], '  ')}  {key(verb)}(parameters{'' if required else '?'}: {parameters}"
            methods += f", options?: CallOptions): Promise<{self.type(command['output'], '  ')}>;\n"
        return f"export interface {capital_word(group)}Commands {{\n{methods}}}\n"


    def without(self, schema):
        """The parameters of a command, without those that this binding leaves out (`omit`)."""
        properties = {name: one for name, one in schema.get("properties", {}).items() if name not in self.omit}
        return {**schema, "properties": properties}

    def named(self, *shown):
        """The types that are part of these schemas, by their names."""
        reached = self.manifest.reachable(*shown)
        return "\n".join(
            f"{comment(whole.get('description', ''), '')}export type {RENAMED.get(name, name)} ="
            f"{spaced(self.type(whole, '', True))};\n"
            for name, whole in self.manifest.types.items()
            if name in reached
        )


def grouped(manifest, own):
    """{group: commands} without the commands in `own`, and the groups whose commands all belong to a client."""
    groups = {}
    for command in manifest.commands:
        if command["name"] not in own:
            groups.setdefault(command["name"].split(".")[0], []).append(command)
    return groups, [group for group, commands in groups.items() if all(one["client"] for one in commands)]


def member(group):
    return f"  readonly {group}: {capital_word(group)}Commands;\n"


def files(manifest, read):
    """The generated files: {path: text}. `read` returns the present text of a path."""
    types = Types(manifest, NOT_FOR_PAGES, about={"store": STORE})
    groups, of_clients = grouped(manifest, OWN)
    of_module = [group for group in groups if group not in of_clients]
    opening = manifest.command("client.open")["input"]["properties"]
    shown = [
        *(one for commands in groups.values() for command in commands
          for one in [types.without(command["input"]), command["output"]]),
        *(event["parameters"] for event in manifest.events), manifest.document["error"],
        *(opening[name] for name in ("configuration", "platform")),
    ]  # fmt: skip
    options = "".join(
        f"{comment(types.about(opening[name]), '  ')}  {name}?: {types.type(opening[name], '  ')};\n"
        for name in ("account", "platform", "renewInBackground", "waitForPlatform")
    )
    text = (TEMPLATE
        .replace("$VERSION", manifest.document["version"])
        .replace("$TYPES", types.named(*shown))
        .replace("$EVENTS", "".join(
            f"{comment(event['summary'], '  ')}  '{event['name']}': {types.type(event['parameters'], '  ')};\n"
            for event in manifest.events))
        .replace("$GROUPS", "\n".join(types.group(group, commands) for group, commands in groups.items()))
        .replace("$OF_CLIENTS", "".join(member(group) for group in of_clients))
        .replace("$OF_MODULE", "".join(member(group) for group in of_module))
        .replace("$STORE", STORE)
        .replace("$OPTIONS", options)
    )  # fmt: skip
    return {PATH: text, SCRIPT: script(manifest, read(SCRIPT), groups, of_clients)}


def script(manifest, text, groups, of_clients):
    """enroll.js with its tables of commands, events and secrets."""
    chosen = {group: commands for group, commands in groups.items() if group in of_clients}
    others = {group: commands for group, commands in groups.items() if group not in of_clients}
    tables = (
        "/** The commands of one client, by their group. */\n"
        f"const CLIENT_COMMANDS = {table(chosen)};\n\n"
        "/** The commands that need no client. */\n"
        f"const COMMANDS = {table(others)};\n\n"
        f"const EVENTS = {events(manifest)};"
    )
    return replaced(text, "generated by `make generate`", tables, "// <{}>", "// </{}>")


def table(groups):
    """{group: [verb, …]} in JavaScript."""
    rows = ""
    for group, commands in groups.items():
        verbs = [literal(one["name"].removeprefix(group + ".")) for one in commands]
        row = f"  {key(group)}: [{', '.join(verbs)}],"
        if len(row) > WIDTH:
            inner = "\n".join(lines(", ".join(verbs) + ",", WIDTH, "    ", "    "))
            row = f"  {key(group)}: [\n{inner}\n  ],"
        rows += row + "\n"
    return f"{{\n{rows}}}"


def events(manifest):
    """The names of the events in JavaScript."""
    names = ", ".join(literal(event["name"]) for event in manifest.events)
    return "[\n" + "\n".join(lines(names + ",", WIDTH, "  ", "  ")) + "\n]"


TEMPLATE = """// Generated from the manifest of EnrollKit $VERSION by `make generate`; do not edit.

$TYPES
/** How a call is made. */
export interface CallOptions {
  /** Aborting it cancels the call, which then fails with the status 'cancelled'. */
  signal?: AbortSignal;
}

/** Why a call failed. */
export interface EnrollError extends Error, ErrorDetail {
  readonly name: 'EnrollError';
  readonly message: string;
}

/** The members of each event in addition to its `name`. */
export interface EventParameters {
$EVENTS  /** Specific to the plugin: a URL that reached the app belonged to this client. */
  'url.handled': { client: string; outcome: HandledURL; error?: undefined } | { client: string; outcome?: undefined; error: EnrollError };
}

export type EventName = keyof EventParameters;

export type EnrollEvent = { [Name in EventName]: { name: Name } & EventParameters[Name] }[EventName];

$GROUPS
export type BeginParameters = Parameters<RegistrationCommands['begin']>[0];

/** One account at one provider. */
export interface EnrollClient {
  readonly id: string;
$OF_CLIENTS
  /**
   * Begins a transaction, opens the external browser or the other app, and waits for the outcome. `onBegun` receives the
   * transaction before anything is opened: with kind 'device' it contains the code to show. Abort the signal to report
   * that the user left. Fails as registration.begin and registration.resume do.
   */
  signIn(parameters?: BeginParameters, options?: CallOptions & { onBegun?: (begun: Transaction) => void }): Promise<State>;

  /** Logs out as logout.begin does, and opens the URL that ends the browser's session; `browser` says whether there was a URL. */
  logOut(parameters?: Parameters<LogoutCommands['begin']>[0], options?: CallOptions): Promise<{ browser: boolean }>;

  /** Calls the listener for every event, until you call the returned function. */
  subscribe(listener: (event: EnrollEvent) => void): () => void;
  /** Calls the listener for the events of that name, until you call the returned function. */
  subscribe<Name extends EventName>(
    name: Name, listener: (event: { name: Name } & EventParameters[Name]) => void,
  ): () => void;

  /** Cancels the calls that wait in this client; the tokens stay in the store. A second call does nothing. */
  close(): Promise<void>;
}

export interface OpenOptions {
  configuration: Configuration;
  /** $STORE By default "enroll". */
  store?: string;
$OPTIONS}

/** The plugin: the global `enroll`, available after the event `deviceready`. */
export interface Enroll {
$OF_MODULE
  /** For `error instanceof enroll.EnrollError`. */
  readonly EnrollError: abstract new (...unused: never[]) => EnrollError;

  /** Opens one account at one provider. Sends no request. Handles URLs that arrived earlier. */
  open(options: OpenOptions): Promise<EnrollClient>;

  /** Retries URLs that reached the app but could not be handled, for example without a network. */
  retryURLs(): Promise<void>;

  /** Calls the listener for URLs that no open client expects; the listener returns true for a URL that it handles itself. */
  onUnclaimedURL(listener: (url: string) => boolean | void): () => void;
}

declare global {
  const enroll: Enroll;
}
"""
