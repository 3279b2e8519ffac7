"""Turns arguments into parameters of the manifest. A wrong type raises `EnrollInvalidArgument`."""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Tuple, Union

from ._generated.statuses import EnrollInvalidArgument

if TYPE_CHECKING:
    from ._generated.types import Platform, Transaction
    from ._host import SecretStore

Seconds = Union[int, float, timedelta]
"""Seconds as a number, or a timedelta."""

Timeout = Union[int, float, timedelta, None]
"""How long a call may take, in seconds or as a timedelta; None for no limit."""

StorePath = Union[str, "os.PathLike[str]"]
"""The directory of a store; its parent must exist. `~` is not expanded; use `os.path.expanduser`."""

MEMORY = "memory"
"""The value of `store` for tokens that are kept in memory only, until the client is closed. For tests."""

MESSAGE_LIMIT = 1 << 20
"""The limit of the library and the daemon for one call, in bytes."""

DEPTH_LIMIT = 64
"""The limit of the library and the daemon for the depth of nested objects and arrays."""

_LONGEST = 86_400.0

# Parts of JSON text: a NUL, which is always escaped; a string; the brackets of objects and arrays.
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_BRACKET = re.compile(r"[][{}]")


@dataclass(frozen=True)
class Keys:
    """The provider of a store's key. The default is a key file of mode 0600 in the store itself."""

    provider: str = "file"
    """`file`, `secret-service` (the desktop's keyring), `passphrase`, or `auto`: for a new store the best available
    provider, for an existing store the provider that has its key. Ignored if `host` is given.
    """

    file: Optional[StorePath] = None
    """With `file`: the path of the key file; None for `key` in the store."""

    passphrase: Optional[str] = field(default=None, repr=False)
    """With `passphrase` and `auto`: the user's passphrase. Opening the store takes up to a second, and 128
    MiB of memory."""

    session_cache_seconds: int = 0
    """How long the kernel's keyring keeps the opened key for the user's other processes; 0 if the keyring
    does not keep it."""

    host: Optional[SecretStore] = field(default=None, repr=False)
    """Your own secret store, instead of one of these providers. It works for clients and for commands about a
    store, with the library and with a daemon. Only the library can move a key directly from one secret store
    to another (`rekey`).
    """


def invalid(name: str, expected: str, came: object) -> EnrollInvalidArgument:
    """An error that names the expected type and the actual type. It does not show the value, which may be a secret."""
    return EnrollInvalidArgument(f"{name}: expected {expected}, got {type(came).__name__}", field=name)


def given(members: Mapping[str, Any]) -> Dict[str, Any]:
    """The parameters that are not None."""
    return {name: value for name, value in members.items() if value is not None}


def seconds(name: str, value: object) -> float:
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise invalid(name, "seconds or a timedelta", value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isnan(number) or number < 0:
        raise EnrollInvalidArgument(f"{name}: expected 0 or more seconds, got {number:g}", field=name)
    return number


def whole_seconds(name: str, value: Optional[Seconds]) -> Optional[int]:
    """Seconds as an integer, rounded up."""
    if value is None:
        return None
    number = seconds(name, value)
    return 1 << 53 if number > 1 << 53 else math.ceil(number)


def time_limit(value: Timeout) -> Optional[float]:
    """A timeout in seconds, at most a day; None for no timeout."""
    return None if value is None else min(seconds("timeout", value), _LONGEST)


def seconds_since_1970(name: str, value: Union[datetime, int, None]) -> Optional[int]:
    if value is None:
        return None
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise EnrollInvalidArgument(f"{name}: expected a datetime with a time zone, got one without", field=name)
        return math.floor(value.timestamp())
    if isinstance(value, bool) or not isinstance(value, int):
        raise invalid(name, "a datetime or seconds since 1970", value)
    return value


def store_path(value: StorePath) -> str:
    """An absolute path, or `MEMORY`."""
    try:
        path = os.fspath(value)
    except TypeError:
        raise invalid("store", "a path or enrollkit.MEMORY", value) from None
    if not isinstance(path, str):
        raise invalid("store", "a path as text", value)
    return path if path == MEMORY else absolute("store", path)


def absolute(name: str, path: str) -> str:
    """An absolute path, as every other binding requires. `~` is refused, because a user who writes it rarely
    means a directory with that name."""
    if path.startswith("~"):
        raise EnrollInvalidArgument(
            f"{name}: expected a path without ~, got {path!r}; expand it with os.path.expanduser", field=name
        )
    if not os.path.isabs(path):
        raise EnrollInvalidArgument(
            f"{name}: expected an absolute path, got {path!r}; os.path.abspath makes it one", field=name
        )
    return path


def transaction_id(value: Union[Transaction, str, None]) -> Optional[str]:
    if value is None or isinstance(value, str):
        return value
    identifier = getattr(value, "id", None)
    if not isinstance(identifier, str):
        raise invalid("transaction", "a Transaction or its id", value)
    return identifier


class GivenKeys(Dict[str, Any]):
    """The manifest's parameter `keys`, without the program's own secret store, which JSON cannot express."""

    def __init__(self, keys: Keys) -> None:
        self.given = keys
        super().__init__(
            {"provider": "host"}
            if keys.host is not None
            else given(
                {
                    "provider": keys.provider,
                    "file": None if keys.file is None else absolute("keys.file", os.fspath(keys.file)),
                    "passphrase": keys.passphrase,
                    "sessionCacheSeconds": keys.session_cache_seconds or None,
                }
            )
        )


def given_keys(value: Optional[Keys]) -> GivenKeys:
    """The manifest's parameter `keys`. It is always present, because library and daemon have different
    defaults."""
    if value is None:
        value = Keys()
    if not isinstance(value, Keys):
        raise invalid("keys", "enrollkit.Keys", value)
    return GivenKeys(value)


def given_new_keys(value: Optional[Keys]) -> Optional[GivenKeys]:
    """The manifest's parameter `newKeys`; None if it is the same as `keys`."""
    return None if value is None else given_keys(value)


_PLATFORM = {"app_version": "appVersion", "device_id": "deviceId"}


@dataclass(frozen=True)
class Opening:
    """The options that a client is opened with."""

    configuration: Mapping[str, Any]
    store: str
    account: Optional[str]
    keys: Optional[Keys]
    platform: Mapping[str, Any]
    wait_for_platform: bool
    renew_in_background: bool

    @classmethod
    def of(
        cls,
        configuration: Mapping[str, Any],
        store: StorePath,
        account: Optional[str],
        keys: Optional[Keys],
        platform: Optional[Platform],
        wait_for_platform: bool,
        renew_in_background: bool,
    ) -> Opening:
        if not isinstance(configuration, Mapping):
            raise invalid("configuration", "a mapping", configuration)
        configuration = dict(configuration)
        if platform is not None and not isinstance(platform, Mapping):
            raise invalid("platform", "a mapping", platform)
        if account is not None and not isinstance(account, str):
            raise invalid("account", "text", account)
        if keys is not None and not isinstance(keys, Keys):
            raise invalid("keys", "enrollkit.Keys", keys)
        encoded(configuration, "configuration")
        facts = {_PLATFORM.get(name, name): value for name, value in (platform or {}).items()}
        return cls(
            configuration,
            store_path(store),
            account,
            keys,
            facts,
            bool(wait_for_platform),
            bool(renew_in_background),
        )

    def parameters(self, *, hosts_transport: bool) -> Dict[str, Any]:
        """The parameters of client.open."""
        members = given(
            {
                "configuration": self.configuration,
                "store": self.store,
                "account": self.account,
                "platform": self.platform or None,
                "waitForPlatform": self.wait_for_platform or None,
                "renewInBackground": self.renew_in_background or None,
                "transport": "host" if hosts_transport else None,
            }
        )
        if self.store != MEMORY:
            members["keys"] = given_keys(self.keys)
        elif self.keys is not None:
            raise EnrollInvalidArgument("keys: a store in memory has no key; leave `keys` out", field="keys")
        return members


def encoded(value: Any, name: str = "parameters") -> bytes:
    """JSON in UTF-8.

    Raises:
        EnrollInvalidArgument: a value cannot be written as JSON, the text is longer than 1 MiB, or it contains
        something that the core does not read. Such a value is refused here, because a daemon could not say which
        message it could not read.
    """
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        content = written.encode()
    except UnicodeEncodeError:
        raise EnrollInvalidArgument(f"{name}: expected Unicode text, got a lone surrogate", field=name) from None
    except (TypeError, ValueError, RecursionError) as fault:
        raise EnrollInvalidArgument(
            f"{name}: expected a value that can be written as JSON: {fault}", field=name
        ) from None
    if len(content) > MESSAGE_LIMIT:
        raise EnrollInvalidArgument(
            f"{name}: expected at most {MESSAGE_LIMIT} bytes of JSON, got {len(content)}", field=name
        )
    if _NUL.search(written):
        raise EnrollInvalidArgument(f"{name}: expected text without NUL, got one with NUL", field=name)
    if _depth(written) > DEPTH_LIMIT:
        raise EnrollInvalidArgument(
            f"{name}: expected at most {DEPTH_LIMIT} objects and arrays inside one another, got more", field=name
        )
    return content


def _depth(written: str) -> int:
    """How deeply the objects and arrays of a JSON text are nested."""
    if written.count("{") + written.count("[") <= DEPTH_LIMIT:
        return 0
    depth = most = 0
    for bracket in _BRACKET.findall(_STRING.sub("", written)):
        depth += 1 if bracket in "{[" else -1
        most = max(most, depth)
    return most


def decoded(content: bytes) -> Dict[str, Any]:
    """A result."""
    result: Dict[str, Any] = json.loads(content)
    return result


def text_bytes(name: str, value: Optional[str]) -> Tuple[Optional[bytes], int]:
    """Text for C: its bytes and their count."""
    if value is None:
        return None, 0
    if not isinstance(value, str):
        raise invalid(name, "text", value)
    try:
        content = value.encode()
    except UnicodeEncodeError:
        raise EnrollInvalidArgument(f"{name}: expected Unicode text, got a lone surrogate", field=name) from None
    return content, len(content)
