"""Broken messages, made by mutating good messages, and the answers that the daemon must send. One seed always gives the
same messages.

The expected answer is found without the daemon's code: by Python's JSON parser and the limits of R36 to R38.
"""

import json
import random
import re

LIMIT = 1 << 20
DEPTH = 64
BATCH = 1000
# The store is never a path, so no mutation leads to a file outside the daemon's home.
STORE = "memory"
# No server listens at this address.
CONFIGURATION = {"issuer": "http://127.0.0.1:9", "clientId": "app", "redirectUri": "com.example.app:/callback", "allowLoopbackHTTP": True}

LOUD = [b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\\u0000", b"\\ud800", b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf",
        b"null", b"true", b"-", b"1e999", b"18446744073709551616", b"0.5", b"\r", b"\n", b"\x7f", b"\xf4\x90\x80\x80", b"$/",
        b"[" * 80, b'"id":1', b'"jsonrpc":"2.0"', b"c1", b"%00"]  # fmt: skip


def good(manifest, number):
    """Good requests: each command, with a value for each of its parameters."""
    for command in manifest["commands"]:
        if command["name"] == "client.open":
            yield {"method": "client.open", "params": {"configuration": CONFIGURATION, "store": STORE}}
            continue
        properties = command["input"].get("properties", {})
        params = {name: _value(name, schema) for name, schema in properties.items() if name not in ("keys", "newKeys")}
        yield {"method": command["name"], "params": params}
        yield {"method": command["name"], "params": list(params.values())}
    yield {"method": "$/cancelRequest", "params": {"id": number}}
    yield {"method": "no.such"}
    yield {"result": 1}
    yield {"id": "h1", "error": {"code": -32603, "message": "no"}}


def _value(name, schema):
    known = {"client": "c1", "store": STORE, "configuration": CONFIGURATION, "configurations": [CONFIGURATION], "timeout": 0,
             "url": "com.example.app:/callback?code=a&state=b&iss=http%3A%2F%2F127.0.0.1%3A9"}  # fmt: skip
    if name in known:
        return known[name]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return _value(name, schema["anyOf"][0])
    return {"string": "x", "integer": 1, "boolean": True, "array": [], "object": {}}.get(schema.get("type"))


def messages(manifest, count, seed):
    """`count` messages; each has its own number as id, unless a mutation changed it."""
    dice = random.Random(seed)
    kinds = list(good(manifest, 1))
    last = b"{}"
    for number in range(1, count + 1):
        request = {"jsonrpc": "2.0", "id": number, **dice.choice(kinds)}
        if dice.random() < 0.05:
            request = [{"jsonrpc": "2.0", "id": f"{number}.{item}", **dice.choice(kinds)} for item in range(dice.randrange(4))]
        text = json.dumps(request, separators=(",", ":"), ensure_ascii=dice.random() < 0.9).encode()
        message = bytearray(text)
        for _ in range(dice.randrange(4)):
            _change(message, dice, last)
        last = text
        yield bytes(message)


def _change(message, dice, other):
    at = dice.randrange(len(message) + 1)
    to = min(len(message), at + dice.randrange(1, 12))
    match dice.randrange(6):
        case 0:
            message[at:at] = dice.choice(LOUD)
        case 1:
            del message[at:to]
        case 2 if at < len(message):
            message[at] ^= 1 << dice.randrange(8)
        case 3:
            message[at:] = other[dice.randrange(len(other) + 1) :]
        case 4:
            message[at:at] = message[at:to] * dice.randrange(1, 4)
        case _:
            message[at:to] = dice.choice(LOUD)


def lines(message):
    """Splits a message as the framing by lines does."""
    for line in message.split(b"\n"):
        line = line.removesuffix(b"\r")
        if line.strip(b" \t\r\n"):
            yield line


class Due:
    """The answers that the daemon must send to one message. `answers` has them as (id, code); code is None for a
    known request. If `is_batch`, the answers come in one array."""

    def __init__(self, message):
        self.is_batch = False
        self.answers = []
        if len(message) > LIMIT:
            self.answers = [(None, -32600)]
            return
        value, is_json = _parse(message)
        if not is_json:
            self.answers = [(None, -32700)]
        elif not isinstance(value, list):
            self._add(value)
        elif not 1 <= len(value) <= BATCH:
            self.answers = [(None, -32600)]
        else:
            self.is_batch = True
            for item in value:
                self._add(item)

    def _add(self, value):
        if not isinstance(value, dict):
            self.answers.append((None, -32600))
            return
        name = value.get("id")
        is_name = isinstance(name, str) or (isinstance(name, int) and not isinstance(name, bool) and -(1 << 63) <= name < 1 << 63)
        if "method" not in value and ("result" in value or "error" in value):
            pass  # A response, however wrong, gets no answer: else two sides would answer each other for ever.
        elif "id" in value and not is_name:
            self.answers.append((None, -32600))
        elif value.get("jsonrpc") != "2.0":
            self.answers.append((name, -32600))
        elif not isinstance(value.get("method"), str) or not isinstance(value.get("params", []), (list, dict)):
            self.answers.append((name, -32600))
        elif "id" in value:
            self.answers.append((name, None))


class _Refused(Exception):
    pass


def _parse(message):
    """- Returns: the value, and whether R37 accepts it."""
    try:
        text = message.decode()
        if _depth(text) > DEPTH:
            return None, False
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse, parse_int=int), not _has_odd_text(text)
    except (ValueError, RecursionError, _Refused):
        return None, False


def _depth(text):
    depth = deepest = 0
    for bracket in re.sub(r'"(?:[^"\\]|\\.)*"?', "", text, flags=re.S):
        if bracket in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif bracket in "]}":
            depth -= 1
    return deepest


def _object(pairs):
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Refused
    return value


def _refuse(_):
    raise _Refused


def _has_odd_text(text):
    """Whether a string contains NUL or a lone surrogate."""
    if "\\u" not in text:
        return False
    escapes = re.findall(r"\\(?:u([0-9a-fA-F]{4})|.)", text)
    if "0000" in escapes:
        return True
    return any("\ud800" <= character <= "\udfff" for string in _strings(json.loads(text)) for character in string)


def _strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
