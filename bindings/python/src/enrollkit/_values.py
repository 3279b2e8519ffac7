"""Reads results of commands; the base classes of the generated types."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from enum import Enum
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple, TypeVar

Value = TypeVar("Value")

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Word(str, Enum):
    """An enum whose members are the words of the manifest: `Step.EMAIL_PENDING == "emailPending"`.

    A newer library's word that this package does not know becomes a member without a name of its own.
    """

    __str__ = str.__str__

    def __format__(self, form: str) -> str:
        return str.__format__(self.value, form)

    @classmethod
    def _missing_(cls, value: object) -> Optional[Word]:
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = value
        member._value_ = value
        return member


class Authorizing:
    """What an access token can do."""

    value: str
    type: str
    outcome: str

    @property
    def authorization(self) -> str:
        """The value of the header `Authorization`. A token of type DPoP also needs `Client.dpop_proof`."""
        scheme = "Bearer" if self.type.lower() == "bearer" else self.type
        return f"{scheme} {self.value}"

    @property
    def is_stale(self) -> bool:
        """Whether the token is due and could not be renewed; it works until it expires."""
        return self.outcome == "stale"


class Leading:
    """The base of the results that begin a transaction."""

    action: object

    @property
    def url(self) -> Optional[str]:
        """The URL that the user has to open, in a browser or in another app; None if there is nothing to open."""
        url = getattr(self.action, "url", None) or getattr(self.action, "verification_uri_complete", None)
        return url if isinstance(url, str) else None


class Unreadable(Exception):
    """A result does not match the manifest."""


def text(value: object) -> str:
    if not isinstance(value, str):
        raise Unreadable(f"expected text, got {type(value).__name__}")
    return value


def truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise Unreadable(f"expected true or false, got {type(value).__name__}")
    return value


def number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unreadable(f"expected an integer, got {type(value).__name__}")
    return value


def moment(value: object) -> datetime:
    """A point in time. A time outside Python's calendar becomes the calendar's first or last date."""
    seconds = number(value)
    try:
        return _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return (datetime.max if seconds > 0 else datetime.min).replace(tzinfo=timezone.utc)


def mapping(value: object) -> Dict[str, Any]:
    if not isinstance(value, dict):
        raise Unreadable(f"expected an object, got {type(value).__name__}")
    return value


def items(value: object) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)):
        raise Unreadable(f"expected an array, got {type(value).__name__}")
    return value


def texts(value: object) -> Tuple[str, ...]:
    return tuple(text(item) for item in items(value))


def maybe(read: Callable[[Any], Value], value: object) -> Optional[Value]:
    return None if value is None else read(value)


def unknown(kind: str, word: object) -> Unreadable:
    return Unreadable(f"this version of enrollkit does not know the {kind} {word!r}")


def told(read: Callable[[Any], Value], result: Mapping[str, Any], member: Optional[str] = None) -> Value:
    """Reads a result, or a member of it.

    Raises:
        EnrollInternal: the result does not match the manifest.
    """
    try:
        return read(result if member is None else result[member])
    except (Unreadable, KeyError, ValueError) as fault:
        from ._generated.statuses import EnrollInternal

        what = f"no {fault.args[0]!r}" if isinstance(fault, KeyError) else str(fault)
        raise EnrollInternal(f"the result does not match the manifest: {what}") from None


def told_maybe(read: Callable[[Any], Value], result: Mapping[str, Any], member: str) -> Optional[Value]:
    """Reads an optional member."""
    return told(read, result, member) if result.get(member) is not None else None
