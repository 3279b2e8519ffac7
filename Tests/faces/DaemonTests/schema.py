"""Checks values against the part of JSON Schema (draft 2020-12) that the manifest uses. An unknown keyword is
an error."""


def resolved(document):
    """The manifest, with every reference to a type replaced by the type."""

    def whole(part):
        if isinstance(part, list):
            return [whole(item) for item in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            part = {**types[part["$ref"].removeprefix("#/$defs/")], **{key: part[key] for key in part if key != "$ref"}}
        return {key: whole(value) for key, value in part.items()}

    types = document["$defs"]
    return whole({key: value for key, value in document.items() if key != "$defs"})


def check(value, schema, path="$"):
    """Raises AssertionError if `value` does not match."""
    for keyword, wanted in schema.items():
        KEYWORDS[keyword](value, wanted, schema, path)


def _type(value, wanted, _schema, path):
    kinds = {
        "object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
    }
    assert isinstance(value, kinds[wanted]), f"{path}: {wanted} was expected, {value!r} came"
    assert wanted != "integer" or not isinstance(value, bool), f"{path}: integer was expected, {value!r} came"


def _properties(value, wanted, schema, path):
    for name, member in value.items():
        if name in wanted:
            check(member, wanted[name], f"{path}.{name}")
        elif "additionalProperties" not in schema:
            raise AssertionError(f"{path}: {name} is not in the manifest")


def _additional(value, wanted, schema, path):
    extra = set(value) - set(schema.get("properties", ()))
    if wanted is False:
        assert not extra, f"{path}: unknown {extra}"
    elif wanted is not True:
        for name in extra:
            check(value[name], wanted, f"{path}.{name}")


def _required(value, wanted, _schema, path):
    missing = set(wanted) - set(value) if isinstance(value, dict) else wanted
    assert not missing, f"{path}: {missing} missing"


def _fits(value, schema, path):
    try:
        check(value, schema, path)
    except AssertionError:
        return False
    return True


def _any_of(value, wanted, _schema, path):
    assert any(_fits(value, one, path) for one in wanted), f"{path}: {value!r} fits none of the shapes"


def _one_of(value, wanted, _schema, path):
    assert sum(_fits(value, one, path) for one in wanted) == 1, f"{path}: not exactly one shape fits"


def _all_of(value, wanted, _schema, path):
    for one in wanted:
        check(value, one, path)


def _items(value, wanted, _schema, path):
    for index, item in enumerate(value):
        check(item, wanted, f"{path}[{index}]")


def _bound(holds, words):
    def bound(value, wanted, _schema, path):
        assert holds(value, wanted), f"{path}: {value!r} is not {words} {wanted!r}"
    return bound


def _remark(*_):
    pass


KEYWORDS = {
    "type": _type, "properties": _properties, "additionalProperties": _additional, "required": _required,
    "anyOf": _any_of, "oneOf": _one_of, "allOf": _all_of, "items": _items,
    "const": _bound(lambda value, wanted: value == wanted, "always"),
    "enum": _bound(lambda value, wanted: value in wanted, "one of"),
    "minimum": _bound(lambda value, wanted: value >= wanted, "at least"),
    "maximum": _bound(lambda value, wanted: value <= wanted, "at most"),
    "maxLength": _bound(lambda value, wanted: len(value) <= wanted, "no longer than"),
    "maxItems": _bound(lambda value, wanted: len(value) <= wanted, "no longer than"),
    "maxProperties": _bound(lambda value, wanted: len(value) <= wanted, "no more than"),
    "description": _remark, "default": _remark, "format": _remark, "writeOnly": _remark, "sensitive": _remark,
    "aliasOf": _remark,
}
