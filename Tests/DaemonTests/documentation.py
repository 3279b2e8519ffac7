"""Draws the tables of docs/json-rpc.md from the manifest: `python3 documentation.py` writes them."""

import re

from daemon import TOP, manifest

PAGE = TOP / "docs" / "json-rpc.md"


def drawn(text):
    """The page with its tables as the manifest has them."""
    for name, rows in TABLES.items():
        table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows())
        text = re.sub(f"<!-- {name} -->\n.*?<!-- end -->", lambda _: f"<!-- {name} -->\n{table}\n<!-- end -->", text,
                      flags=re.S)
    return text


def errors():
    yield from (("status", "code", "blame", "retry", "meaning"), ("---",) * 5)
    for error in manifest()["errors"]:
        code = f"−{-error['rpcCode']}"
        yield f"`{error['status']}`", code, error["blame"], "yes" if error["retryable"] else "", error["summary"]


def commands():
    yield from (("command", "kind", "takes", "gives", "what it does"), ("---",) * 5)
    for command in manifest()["commands"]:
        yield (f"`{command['name']}`", command["kind"], members(command["input"], marked=True),
               members(command["output"]), command["summary"])


def events():
    yield from (("event", "carries", "when"), ("---",) * 3)
    for event in manifest()["events"]:
        yield f"`{event['name']}`", members(event["parameters"]), event["summary"]


def requests():
    yield from (("request", "tells", "wants", "errors", "what the host does"), ("---",) * 5)
    for request in manifest()["requests"]:
        yield (f"`{request['name']}`", members(request["input"], marked=True), members(request["output"], marked=True),
               ", ".join(f"`{status}`" for status in request["errors"]), request["summary"])


def members(schema, marked=False):
    """Names of an object's members, of whatever shape it is."""
    names = {}
    for shape in schema.get("anyOf", [schema]):
        for name in shape.get("properties", ()):
            names[name] = name in shape.get("required", ())
    return ", ".join(f"`{name}`" + ("?" if marked and not needed else "") for name, needed in names.items())


TABLES = {"errors": errors, "commands": commands, "events": events, "requests": requests}

if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text()))
