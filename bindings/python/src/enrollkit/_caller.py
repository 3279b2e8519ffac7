"""The base classes of the generated methods."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, Iterator, Mapping, Tuple

from ._error import EnrollError
from ._generated.statuses import BY_STATUS, EnrollCancelled, EnrollHandle, EnrollInternal, EnrollUnsupported
from ._generated.types import AccessToken
from ._given import Timeout
from ._values import told


class Single:
    """An object that cannot be copied or pickled: it holds secrets, and two copies would close one native object."""

    def __reduce_ex__(self, protocol: Any) -> Tuple[Any, ...]:
        kind = f"{type(self).__module__}.{type(self).__name__}"
        raise EnrollUnsupported(f"{kind} cannot be copied or pickled; open another one, which may use the same store")


class Caller(Single):
    """Calls a command and waits for its result."""

    def _call(self, command: str, parameters: Mapping[str, Any], timeout: Timeout) -> Dict[str, Any]:
        raise NotImplementedError

    def _token(self, command: str, parameters: Mapping[str, Any], timeout: Timeout) -> AccessToken:
        raise NotImplementedError


class AsyncCaller(Single):
    """Calls a command and awaits its result."""

    async def _call(self, command: str, parameters: Mapping[str, Any], timeout: Timeout) -> Dict[str, Any]:
        raise NotImplementedError

    async def _token(self, command: str, parameters: Mapping[str, Any], timeout: Timeout) -> AccessToken:
        raise NotImplementedError


@contextlib.contextmanager
def given_up_with(is_closed: Callable[[], bool]) -> Iterator[None]:
    """Turns the error of a closed handle into `EnrollCancelled`, if the client was closed during the call."""
    try:
        yield
    except EnrollHandle:
        if is_closed():
            raise EnrollCancelled("the client was closed during the call") from None
        raise


_WORDS = {
    "expired": "the token expired, and renewing it failed",
    "rejected": "the provider refused to renew",
    "reauthenticate": "sign in again",
    "storeLocked": "the store is locked: its key is unavailable",
    "busy": "a renewal is in progress and did not end before the timeout",
}


def is_own(parameters: Mapping[str, Any]) -> bool:
    """Whether the call is for the session's own token, which has separate C functions; else the token is for another
    audience."""
    return "resource" not in parameters and "scope" not in parameters


def token_of(result: Dict[str, Any]) -> AccessToken:
    """The token in a command's result.

    Raises:
        EnrollError: there is no token; the error says why.
    """
    outcome = result.get("outcome")
    if outcome in ("valid", "stale"):
        return told(AccessToken.from_json, result)
    kind = BY_STATUS.get(str(outcome))
    if kind is None:
        raise EnrollInternal(f"this version of enrollkit does not know the outcome {outcome!r}")
    words, reason = _WORDS.get(str(outcome), str(outcome)), result.get("reason")
    cause = EnrollError.from_json(result["error"]) if "error" in result else None
    retry_after = result.get("retryAfter")
    description = cause.oauth_error_description if cause else result.get("oauthErrorDescription")
    # The reason is a sentence, or the provider's error code, which has no space (RFC 6749 §11.4).
    ended = reason if outcome == "reauthenticate" and " " not in str(reason) else None
    told_reason = f"{reason}: {description}" if description else reason
    raise kind(
        f"{words}: {cause.message if cause else told_reason}" if cause or reason else words,
        http_status=cause.http_status if cause else None,
        oauth_error=cause.oauth_error if cause else ended,
        oauth_error_description=description,
        retry_after=cause.retry_after if retry_after is None and cause else retry_after,
    ) from cause
