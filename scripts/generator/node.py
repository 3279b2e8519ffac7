"""Generates two files of `bindings/node`: `src/generated/types.d.ts` and `src/generated/surface.js`."""

from .text import WIDTH, lines
from .typescript import Types, comment, events, grouped, key, literal, member, table

FOLDER = "bindings/node/src/generated"
#: Commands that are written by hand: they open and close the client itself, and subscribe to its events.
OWN = ["client.open", "client.close", "events.subscribe", "events.unsubscribe"]
#: Parameters that have JavaScript's own types (src/index.d.ts): {name of the type: TypeScript}.
GIVEN = {
    "Keys": "Keys | HostKeys",
    "TransportChoice": "Transport",
    "StoreFolder": "string | URL",
}
#: Descriptions of parameters that differ from the manifest's, because they use the terms of JavaScript.
WORDS = {
    "store": "The directory of the store, whose parent must exist, or 'memory'.",
    "keys": "Where the store's key is kept. By default { provider: 'auto' }.",
    "newKeys": "Where the store's key is kept from now on. By default in the same place, wrapped anew.",
    "transport": "The program's own HTTP. By default the daemon sends requests itself.",
    "timeout": "Seconds that the call may take; a fraction is allowed.",
}
#: Parameters that are required: only the daemon has a default folder, which it shares with every program that names
#: no folder.
NEEDED = ["store"]


def files(manifest):
    """{path: text}."""
    types = Types(manifest, omit=["client"], given=GIVEN, about=WORDS, needed=NEEDED)
    groups, of_clients = grouped(manifest, OWN)
    clients = {group: commands for group, commands in groups.items() if group in of_clients}
    others = {group: commands for group, commands in groups.items() if group not in of_clients}
    opening = types.without(manifest.command("client.open")["input"])
    shown = [
        *(one for commands in groups.values() for command in commands
          for one in [types.without(command["input"]), command["output"]]),
        *(event["parameters"] for event in manifest.events), manifest.document["error"], opening,
    ]  # fmt: skip
    text = (TYPES
        .replace("$VERSION", manifest.document["version"])
        .replace("$TYPES", types.named(*shown))
        .replace("$EVENTS", "".join(
            f"{comment(event['summary'], '  ')}  '{event['name']}': {types.type(event['parameters'], '  ')};\n"
            for event in manifest.events))
        .replace("$GROUPS", "\n".join(types.group(group, commands) for group, commands in groups.items()))
        .replace("$OF_CLIENTS", "".join(member(group) for group in clients))
        .replace("$OTHERS", "".join(member(group) for group in others))
        .replace("$OPENING", types.object(opening, "", True))
    )  # fmt: skip
    return {f"{FOLDER}/types.d.ts": text, f"{FOLDER}/surface.js": surface(manifest, clients, others)}


def surface(manifest, clients, others):
    timed = {
        command["name"]: command["input"]["properties"]["timeout"]["default"]
        for command in manifest.commands
        if "timeout" in command["input"]["properties"]
    }
    stores = ", ".join(literal(command["name"]) for command in manifest.commands if "store" in command["input"]["properties"])
    errors = "".join(
        f"  {key(error['status'])}: "
        f"{{ code: {error['code']}, blame: {literal(error['blame'])}, retryable: {str(error['retryable']).lower()} }},\n"
        for error in manifest.errors
    )
    limits = "\n".join(
        lines(", ".join(f"{literal(name)}: {default}" for name, default in timed.items()) + ",", WIDTH, "  ", "  ")
    )
    return (SURFACE
        .replace("$VERSION", manifest.document["version"])
        .replace("$ABI", str(manifest.document["abi"]))
        .replace("$CLIENTS", table(clients))
        .replace("$OTHERS", table(others))
        .replace("$EVENTS", events(manifest))
        .replace("$TIMED", f"{{\n{limits}\n}}")
        .replace("$STORES", "[\n" + "\n".join(lines(stores + ",", WIDTH, "  ", "  ")) + "\n]")
        .replace("$ERRORS", f"{{\n{errors}}}")
    )  # fmt: skip


TYPES = """// Generated from the manifest of EnrollKit $VERSION by `make generate`; do not edit.

import type { HostKeys, Transport } from '../index.js';

$TYPES
/** How a call is made. */
export interface CallOptions {
  /** Aborting it ends the wait: the call fails with the status 'cancelled'. A request that was sent to a provider continues. */
  signal?: AbortSignal;
}

/** The members of each event in addition to its `name`. */
export interface EventParameters {
$EVENTS}

export type EventName = keyof EventParameters;

export type EnrollEvent = { [Name in EventName]: { name: Name } & EventParameters[Name] }[EventName];

$GROUPS
/** The commands of a client, by their group. */
export interface ClientCommands {
$OF_CLIENTS}

/** The commands that need no client, by their group. */
export interface Commands {
$OTHERS}

export interface OpenOptions $OPENING
"""

SURFACE = """// Generated from the manifest of EnrollKit $VERSION by `make generate`; do not edit.

/** The version of the package, and of the enrolld in it. */
export const VERSION = '$VERSION';

/** The oldest interface that an enrolld may have: major × 65536 + minor. */
export const ABI = $ABI;

/** The commands of a client, by their group. */
export const CLIENT_COMMANDS = $CLIENTS;

/** The commands that need no client, by their group. */
export const COMMANDS = $OTHERS;

export const EVENTS = $EVENTS;

/** The commands that take a timeout, with its default in seconds. */
export const TIMED = $TIMED;

/** The commands that take a store. */
export const STORES = $STORES;

/** The properties of each status. */
export const ERRORS = $ERRORS;
"""
