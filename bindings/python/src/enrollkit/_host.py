"""What a program may do itself: HTTP, and keeping the secret that wraps a store's key."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from typing import Awaitable, Callable, Optional, Protocol, Sequence, Tuple, Union

from ._error import EnrollError


@dataclass(frozen=True)
class HTTPRequest:
    """What is to be sent. `repr` shows neither headers nor body, which hold tokens."""

    method: str
    """GET, POST or DELETE."""

    url: str = field(repr=False)
    """Absolute."""

    headers: Sequence[Tuple[str, str]] = field(repr=False)

    body: bytes = field(repr=False)

    response_limit: int
    """Refuse more bytes of body than this while they arrive."""

    needs_fresh_connection: bool
    """To be sent on a connection that was never used before, and never repeated by itself."""

    timeout: float
    """Seconds that the whole exchange may take."""

    is_cancelled: Callable[[], bool] = field(repr=False, compare=False)
    """Whether nobody waits for the answer any more."""


@dataclass(frozen=True)
class HTTPResponse:
    """A whole answer, of any status."""

    status: int
    """100 to 599."""

    headers: Sequence[Tuple[str, str]] = field(default=(), repr=False)

    body: bytes = field(default=b"", repr=False)


Transport = Callable[[HTTPRequest], HTTPResponse]
"""Sends one request: follows no redirect, repeats nothing, checks certificates. Called by several threads at once, and
may not use a client meanwhile (`EnrollReentrant`). What it raises fails the call that needed it: `TimeoutError` as
`EnrollTimeout`, `ssl.SSLError` as `EnrollTLS`, any other `OSError` as `EnrollNetwork`, and everything else as
`EnrollInternal`, each with the exception as its cause.
"""

AsyncTransport = Callable[[HTTPRequest], Union[HTTPResponse, Awaitable[HTTPResponse]]]
"""The same for `enrollkit.aio`: also a coroutine function, which runs in the client's event loop."""


class SecretStore(Protocol):
    """Secrets as the program keeps them: a keychain, a TPM. Called by several threads at once, never with a client.

    Each method may raise `EnrollStoreLocked` while the user has to unlock something; whatever else it raises is
    `EnrollStoreIO` to the call that needed it.
    """

    def load(self, name: str) -> Optional[bytes]:
        """The 32 bytes that were saved under this name; None: there are none."""

    def save(self, name: str, secret: bytes) -> None:
        """Keeps 32 bytes, durably before it returns."""

    def remove(self, name: str) -> None:
        """Forgets a name; one that is not known is no error."""


def transport_status(failure: BaseException) -> int:
    """What the library is told of an exception of a transport."""
    if isinstance(failure, EnrollError) and failure.status in (
        "network",
        "tls",
        "timeout",
        "responseInvalid",
        "cancelled",
    ):
        return failure.code
    if isinstance(failure, ssl.SSLError):
        return -31
    if isinstance(failure, TimeoutError):
        return -32
    if isinstance(failure, OSError):
        return -30
    return -99
