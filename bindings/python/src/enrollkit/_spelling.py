"""Makes errors about a configuration name its keys as Python spells them, even if the key is missing.

The library names a key in the spelling of the configuration that it got. If the configuration has no key that
shows its spelling, the library names `clientId`, but a Python program would look for `client_id`.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any, Iterator, Mapping

from ._generated.statuses import EnrollConfiguration
from ._generated.types import Configuration


@contextlib.contextmanager
def spelt(configuration: Mapping[str, Any]) -> Iterator[None]:
    """In this block, errors name keys in Python's spelling, unless the configuration uses JSON's.

    Raises:
        EnrollConfiguration: the configuration is invalid; `field` is the key.
    """
    try:
        yield
    except EnrollConfiguration as error:
        if any(re.search("[A-Z]", key) for key in configuration):
            raise
        field = None if error.field is None else _in_python(error.field)
        raise EnrollConfiguration(_in_python(error.message), field=field) from None


def _in_python(text: str) -> str:
    return _WORD.sub(lambda found: _NAMES.get(found[0], found[0]), text)


def _in_json(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join("HTTP" if word == "http" else word.capitalize() for word in others)


_WORD = re.compile(r"\w+")
_NAMES = {_in_json(name): name for name in Configuration.__annotations__ if "_" in name}
_NAMES["clientId"] = "client_id"
