"""Checks that each concept has the same name in every language, in the spelling of that language.

Generated code has its names from the manifest. This file checks what people write: the header, the Swift types and
methods, and the surface itself. Each exception is in one of the tables below, with its reason.
"""

import json
import re

from . import c
from .manifest import TOP, snake, upper

#: Commands whose Swift method has another name, each with its reason; None: Swift has no method.
SWIFT_METHODS = {
    # Swift has these commands in EnrollClient itself: init, close(), and the streams of events.
    "client.open": None, "client.close": "close", "events.subscribe": None, "events.unsubscribe": None,
    # In Swift, a type or a function of the rules replaces each of these commands.
    "system.describe": None, "pkce.generate": None, "redirect.parse": None, "redirect.route": None, "link.parse": None,
    "expiry.check": None,
    # Only tools need commands about a store without a client.
    "accounts.list": None, "accounts.remove": None, "store.diagnose": None,
    "store.rekey": "replaceKeys",  # in Swift it does one thing only: it replaces the keys
    "url.handle": "handle",  # handle(_ url:): the argument says it
}  # fmt: skip
#: Types that only JSON has: in Swift, their values are separate, or have another type.
JSON_ONLY = {
    "Deregistration", "Route", "Link", "LinkKind", "Revocation", "Introspection", "SystemDescription", "BeginOptions",
    "Claims", "Keys", "KeyProvider", "TransportChoice", "StoreFolder", "RegistrationType", "StoredFileKind", "KeyPresence",
    "RegistrationGateway", "ConfiguredChoice", "App2AppFields", "ReturnPageLanguage",
    "WithoutExpiry", "ProviderSubject", "ProviderVerdict",
}  # fmt: skip
#: Types that Swift's API has under another name, each with its reason.
SWIFT_TYPES = {
    "State": "RegistrationState",  # SwiftUI has a `State`, too
    "Action": "HostAction",  # for the same reason
    "TransactionKind": "Kind",  # Transaction.Kind
    "PINOutcome": "Outcome",  # PINAnswer.Outcome
    "TokenKind": "Subject",  # Introspection.Subject
    "ActiveReason": "Activation",  # RegistrationState.Activation
    "Status": "Code",  # EnrollError.Code
    "Account": "AccountSnapshot",  # the account as it is now
    "App2App": "App2AppSettings", "BFF": "BFFSettings",  # as the configuration has them
    "RegistrationStart": "Registration",  # the value of `registration`
}  # fmt: skip
#: Variants that have another name in Swift: {type: case}.
SWIFT_CASES = {"Redirected": "registration", "LoggedOut": "logoutFinished", "LinkUsed": "used", "LinkExpired": "expired"}
#: Enums and unions that have constants in C: {type: prefix of the constants}. In C, values of all other types
#: are text.
C_PREFIXES = {
    "Blame": "ENROLL_BLAME", "State": "ENROLL_STATE", "Step": "ENROLL_STEP", "Remedy": "ENROLL_REMEDY",
    "ActiveReason": "ENROLL_ACTIVE_REASON",
    "TransactionKind": "ENROLL_KIND", "PasswordlessMessage": "ENROLL_MESSAGE", "Action": "ENROLL_ACTION",
    "HandledURL": "ENROLL_URL", "LinkOffer": "ENROLL_OFFER", "AccessOutcome": "ENROLL_ACCESS", "TokenKind": "ENROLL_TOKEN",
    "PINOutcome": "ENROLL_PIN", "ProviderTold": "ENROLL_TOLD", "Band": "ENROLL_BAND", "KeyProvider": "ENROLL_KEYS",
}  # fmt: skip
#: Words whose C constants are spelled differently, each with its reason; None: C has no constant.
C_CONSTANTS = {
    ("ProviderTold", "told"): "ENROLL_TOLD",  # ENROLL_TOLD_TOLD says it twice
    ("TokenKind", "accessToken"): "ENROLL_TOKEN_ACCESS", ("TokenKind", "refreshToken"): "ENROLL_TOKEN_REFRESH",  # the same
    # In C, an outcome without a token is a status.
    ("AccessOutcome", "expired"): None, ("AccessOutcome", "rejected"): None, ("AccessOutcome", "reauthenticate"): None,
    ("AccessOutcome", "storeLocked"): None, ("AccessOutcome", "busy"): None,
}  # fmt: skip
#: Constants of the groups in C_PREFIXES that correspond to no word: "none", and sizes.
C_NONE = {"ENROLL_BLAME_NONE", "ENROLL_STEP_NONE", "ENROLL_REMEDY_NONE", "ENROLL_ACTIVE_REASON_NONE", "ENROLL_TOLD_NOTHING",
          "ENROLL_TOKEN_TYPE_CAPACITY"}  # fmt: skip
#: Errors that no command returns: {error: where the error occurs}.
ELSEWHERE = {
    "bufferTooSmall": "enroll_token_copy, into the caller's memory",
    "otherAppMissing": "the state after registration.otherAppMissing has it",
}


def faults(manifest):
    """Yields a sentence for each difference, which says what to do about it."""
    header = c.declared((TOP / c.HEADER).read_text())
    swift = swift_sources()
    yield from commands(manifest, header, swift)
    yield from types(manifest, header, swift)
    yield from sources(manifest)
    yield from homes(manifest)
    yield from twice(manifest)


def swift_sources():
    folders = ["EnrollKit", "EnrollCrypto", "EnrollRules", "EnrollSteps", "EnrollStore", "EnrollHost", "EnrollCommands"]
    files = [file for folder in folders for file in sorted((TOP / "Sources" / folder).rglob("*.swift"))]
    return {str(file.relative_to(TOP / "Sources")): file.read_text() for file in files}


def commands(manifest, header, swift):
    names = {command["name"] for command in manifest.commands}
    own, others = c.exceptions()
    expected = set(others)
    for name in sorted(names):
        function = own.get(name) or "enroll_" + snake(name)
        expected.add(function)
        if function not in header["functions"]:
            yield (
                f"{name}: include/enroll.h declares no {function}. Declare it, or add "
                f"`command {name} FUNCTION` to Tests/faces/CTests/functions.txt."
            )
        if own.get(name) == "enroll_" + snake(name):
            yield f"functions.txt: {name} has the name of the rule. Remove the line."
    for name in sorted(set(own) - names):
        yield f"functions.txt: there is no command {name}. Remove the line."
    for function, name in others.items():
        if name is not None and name not in names:
            yield f"functions.txt: {function} runs {name}, which is no command. Correct the line."
    for function in sorted(header["functions"] - expected):
        yield (
            f"include/enroll.h: {function} runs no command by the rule enroll_noun_verb. Rename it, or add "
            f"`function {function}` to Tests/faces/CTests/functions.txt."
        )
    for function in sorted(expected - header["functions"] - {own.get(name) or "enroll_" + snake(name) for name in names}):
        yield f"functions.txt: include/enroll.h declares no {function}. Remove the line."
    kit = "\n".join(text for path, text in swift.items() if path.startswith("EnrollKit/"))
    methods = set(re.findall(r"public (?:static )?func (\w+)", kit))
    for command in manifest.commands:
        wanted = SWIFT_METHODS.get(command["name"], command["method"])
        if wanted is not None and wanted not in methods:
            yield (
                f"{command['name']}: EnrollKit has no method {wanted}. Add it, name it in the command "
                "(`method:`), or list the exception in scripts/generator/names.py."
            )
    for name in sorted(set(SWIFT_METHODS) - names):
        yield f"names.py: SWIFT_METHODS has {name}, which is no command. Remove it."
    seen = {}
    for command in manifest.commands:
        other = seen.setdefault((command["method"], command["client"]), command["name"])
        if other != command["name"]:
            yield f"{command['name']} and {other} have one method, {command['method']}. Give one of them another name."


def sources(manifest):
    """Checks that the header names the specifications that the command names, without section signs."""
    text = re.sub(r"\s*\n \*\s*", " ", (TOP / c.HEADER).read_text())
    named = {}
    for name, source in re.findall(r"Command: (\w+\.\w+)\.(?: Source: ([^*]*?)\.)? \*/", text):
        named.setdefault(name, source)  # the first function names it; other functions run the same command
    for command in manifest.commands:
        source = command.get("source", "").replace("§", "")
        if command["name"] in named and named[command["name"]] != source:
            yield (
                f"{command['name']}: include/enroll.h names the source \"{named[command['name']]}\", the command \"{source}\". "
                "Give both the same (`source:` of the command)."
            )


def types(manifest, header, swift):
    code = "\n".join(swift.values())
    declared = set(re.findall(r"\b(?:struct|enum|class|typealias)\s+(\w+)", code))
    cases = {one for line in re.findall(r"\bcase ([^:\n]+)$", code, re.M) for one in re.findall(r"\b(\w+)", line)}
    variants = {
        title
        for schema in manifest.types.values()
        if manifest.is_union(schema)
        for title, _, _, _ in manifest.variants(schema)
    }
    for name in manifest.types:
        if name in variants:
            case = SWIFT_CASES.get(name, name[0].lower() + name[1:])
            if case not in cases:
                yield (
                    f"{name}: no Swift enum has the case {case}. Name both alike, or list the exception in "
                    "scripts/generator/names.py."
                )
        elif name not in JSON_ONLY and SWIFT_TYPES.get(name, name) not in declared:
            yield (
                f"{name}: no Swift type has this name. Name both alike (`.named(…)` in EnrollCommands), or list the "
                "exception in scripts/generator/names.py."
            )
    for name in sorted((JSON_ONLY | set(SWIFT_TYPES) | set(C_PREFIXES)) - set(manifest.types)):
        yield f"names.py: there is no type {name}. Remove it there, or rename it as the manifest does."
    for name, prefix in C_PREFIXES.items():
        if name in manifest.types:
            yield from constants(manifest, header, name, prefix)


def constants(manifest, header, name, prefix):
    """A type's words that have no constant, and constants of the type's group that correspond to no word."""
    wanted = {C_CONSTANTS.get((name, word), f"{prefix}_{upper(word)}") for word in words(manifest, name)} - {None}
    there = {one for one in header["constants"] if re.match(rf"{prefix}(_|$)", one)} - C_NONE
    there = {one for one in there if not one.endswith(("_CAPACITY", "_INIT"))}
    missing, unknown = sorted(wanted - there), sorted(there - wanted)
    if missing:
        yield (
            f"{name}: include/enroll.h has no {', '.join(missing)}. Declare them, or list the exception in "
            "scripts/generator/names.py."
        )
    if unknown:
        yield (
            f"{name}: the manifest has no word for {', '.join(unknown)} of include/enroll.h. Name both alike, or list "
            "the exception in scripts/generator/names.py."
        )


def words(manifest, name):
    """The words of an enum, or one word for each variant of a union. If several variants share a word, the
    variants' titles are used instead of the word."""
    schema = manifest.types[name]
    if "enum" in schema:
        return schema["enum"]
    variants = [(title, next(iter(constants.values()))) for title, constants, _, _ in manifest.variants(schema)]
    shared = [word for _, word in variants]
    return [word if shared.count(word) == 1 else title for title, word in variants]


def homes(manifest):
    """Errors that no command returns, and returned statuses that are not errors."""
    common = manifest.document["commonErrors"]
    answered = {*common["every"], *common["client"]}
    for one in [*manifest.commands, *manifest.document["requests"]]:
        answered |= set(one["errors"])
    known = {error["status"] for error in manifest.errors}
    for status in sorted(known - answered - set(ELSEWHERE)):
        yield (
            f"{status}: no command answers this error. Name it in the `fails:` of the commands that do "
            "(EnrollCommands/Commands), or remove it from EnrollErrorTable.swift."
        )
    for status in sorted(set(ELSEWHERE) - known):
        yield f"names.py: ELSEWHERE has {status}, which is no error. Remove it."
    for status in sorted(set(ELSEWHERE) & answered):
        yield f"names.py: ELSEWHERE has {status}, which commands answer. Remove it."
    for command in manifest.commands:
        general = {*common["every"], *(common["client"] if command["client"] else ())}
        for status in sorted(general & set(command["errors"])):
            yield f"{command['name']}: every command answers {status}. Remove it from its `fails:`."


def twice(manifest):
    """Concepts with two names, and names with two spellings."""
    seen, spelled = {}, {}
    for name, schema in manifest.types.items():
        # Enums of one word are not compared: two settings may have the same single word by chance.
        other = name if len(schema.get("enum", "..")) == 1 else seen.setdefault(shape(schema), name)
        if other != name:
            yield f"{name} and {other} are one type under two names. Give both Schemas the same name."
        other = spelled.setdefault(name.lower(), name)
        if other != name:
            yield f"{name} and {other} are one name in two spellings. Choose one."


def shape(schema):
    """A schema without its descriptions."""
    if isinstance(schema, dict):
        return json.dumps({key: shape(value) for key, value in sorted(schema.items()) if key != "description"})
    return json.dumps([shape(item) for item in schema]) if isinstance(schema, list) else json.dumps(schema)
