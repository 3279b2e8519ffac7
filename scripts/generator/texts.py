"""Generates Swift code: the keys of the gateway's texts with their placeholders, from the English texts."""

import json
import re

from .manifest import Refused

ENGLISH = "Sources/EnrollGatewayPages/Texts/en.json"
KEYS = "Sources/EnrollGatewayPages/Language/PageText.swift"
ABOUT = """// Written by `make generate` from Texts/en.json. Do not edit it.

/// The texts of pages: `texts` in a catalogue.
enum PageText: String, Sendable, CaseIterable {
"""
PLACEHOLDERS = """
  /// The placeholders that the text must contain, each in braces. `{product}` is allowed in any text.
  var placeholders: Set<Placeholder> {
    switch self {
"""


def case(key):
    """`signIn.title` is `signInTitle`."""
    if not re.fullmatch(r"[a-z][A-Za-z]*\.[a-z][A-Za-z]*", key):
        raise Refused(f"{ENGLISH}: the key texts.{key} is not two words with a dot, such as signIn.title.")
    first, second = key.split(".")
    return first + second[:1].upper() + second[1:]


def files(read):
    """The generated files: {path: text}. `read` returns the present text of a path."""
    texts = json.loads(read(ENGLISH))["texts"]
    swift, group = ABOUT, None
    for key in texts:
        if group not in (None, key.split(".")[0]):
            swift += "\n"
        group = key.split(".")[0]
        swift += f'  case {case(key)} = "{key}"\n'
    swift += PLACEHOLDERS
    for key, text in texts.items():
        names = dict.fromkeys(name for name in re.findall(r"\{(\w+)\}", text) if name != "product")
        if names:
            swift += f"    case .{case(key)}: [{', '.join('.' + name for name in names)}]\n"
    return {KEYS: swift + "    default: []\n    }\n  }\n}\n"}
