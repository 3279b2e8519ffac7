"""Services that a program may provide itself: HTTP, and a store for the secret that wraps a store's key."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import socket
import ssl
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import (
    Any,
    Awaitable,
    Callable,
    ContextManager,
    Dict,
    Iterator,
    List,
    Literal,
    NamedTuple,
    Optional,
    Protocol,
    Sequence,
    Tuple,
    Union,
)

from ._error import EnrollError
from ._generated.statuses import EnrollInternal, EnrollReentrant, EnrollStoreIO, EnrollStoreLocked
from ._generated.types import AccessToken


@dataclass(frozen=True)
class HTTPRequest:
    """A request to send. `repr` shows neither headers nor body, which contain tokens."""

    method: str
    """GET, POST or DELETE."""

    url: str = field(repr=False)
    """An absolute URL."""

    headers: Sequence[Tuple[str, str]] = field(repr=False)

    body: bytes = field(repr=False)

    response_limit: int
    """The limit of the response's body in bytes: stop reading and fail if it is longer."""

    needs_fresh_connection: bool
    """Send the request on a new connection, and never repeat it automatically."""

    timeout: float
    """Seconds that the whole exchange may take."""

    is_cancelled: Callable[[], bool] = field(repr=False, compare=False)
    """Whether the caller has stopped waiting for the answer."""


@dataclass(frozen=True)
class HTTPResponse:
    """A whole response, of any status."""

    status: int
    """100 to 599."""

    headers: Sequence[Tuple[str, str]] = field(default=(), repr=False)

    body: bytes = field(default=b"", repr=False)


Transport = Callable[[HTTPRequest], HTTPResponse]
"""Sends one request. It must follow no redirects, resend nothing and check certificates. Several threads call it
at once, and it must not use a client (`EnrollReentrant`). If it raises, the call that needed the response fails:
`TimeoutError` becomes `EnrollTimeout`, `ssl.SSLError` becomes `EnrollTLS`, any other `OSError` becomes `EnrollNetwork`,
and every other exception becomes `EnrollInternal`, each with the exception as its cause. The library and a daemon
call it in the same way; a daemon waits for at most `HTTPRequest.timeout`, and the response with its headers may have
at most 1 MiB.
"""

AsyncTransport = Callable[[HTTPRequest], Union[HTTPResponse, Awaitable[HTTPResponse]]]
"""A `Transport` for `enrollkit.aio`. It may also be a coroutine function, which runs in the client's event loop and
is cancelled when the caller stops waiting for its answer.
"""


class SecretStore(Protocol):
    """Your program's own secret store: a keychain, a TPM. Several threads call it at once; it must not use a client.

    Each method may raise `EnrollStoreLocked` if the user has to unlock something. Any other exception becomes
    `EnrollStoreIO` in the call that needed the secret, with the exception as its cause. A daemon waits 30 seconds for
    an answer, and then treats the secret store as locked.
    """

    def load(self, name: str) -> Optional[bytes]:
        """The 32 bytes that were saved under this name; None if there are none."""

    def save(self, name: str, secret: bytes) -> None:
        """Saves 32 bytes. They must be durable before it returns."""

    def remove(self, name: str) -> None:
        """Removes a name; an unknown name is no error."""


SECRET_SIZE = 32

HEADER_LIMIT = 256
HEADER_BYTE_LIMIT = 16 << 10

_TRANSPORTS = ("network", "tls", "timeout", "responseInvalid", "cancelled")

LOG = logging.getLogger("enrollkit")

Part = Literal["transport", "secret store"]


def transport_status(failure: BaseException) -> str:
    """The status for an exception of a transport."""
    if isinstance(failure, EnrollError) and failure.status in _TRANSPORTS:
        return failure.status
    if isinstance(failure, ssl.SSLError):
        return "tls"
    if isinstance(failure, TimeoutError):
        return "timeout"
    return "network" if isinstance(failure, OSError) else "internal"


def was_not_sent(failure: BaseException) -> bool:
    """Whether nothing of a request left this machine: the server's name has no address, or the server
    refused the connection."""
    # urllib wraps the exception of its socket.
    return isinstance(getattr(failure, "reason", failure), (socket.gaierror, ConnectionRefusedError))


def secret_status(failure: BaseException) -> str:
    """The status for an exception of a secret store."""
    return (EnrollStoreLocked if isinstance(failure, EnrollStoreLocked) else EnrollStoreIO).status


def response_parts(answer: object) -> Tuple[int, List[Tuple[str, str]], bytes]:
    """Status, headers and body of what a transport returned.

    Raises:
        TypeError, ValueError: it is not a valid response.
    """
    if not isinstance(answer, HTTPResponse):
        raise TypeError(f"a transport must return an enrollkit.HTTPResponse, got {type(answer).__name__}")
    if not isinstance(answer.status, int) or not 100 <= answer.status <= 599:
        raise ValueError(f"a status code must be 100 to 599, got {answer.status!r}")
    headers = [(name, value) for name, value in answer.headers]
    if len(headers) > HEADER_LIMIT:
        raise ValueError(f"a transport returned {len(headers)} headers; expected at most {HEADER_LIMIT}")
    for name, value in headers:
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError("a header must be a name and a value, both str")
        sizes = len(name.encode()), len(value.encode())
        if not name or "\0" in name + value or max(sizes) > HEADER_BYTE_LIMIT:
            raise ValueError("a transport returned a header that is invalid or too long")
    return int(answer.status), headers, bytes(answer.body)


def secret_bytes(kept: Any) -> bytes:
    """The 32 bytes that a secret store returned.

    Raises:
        TypeError, ValueError: the secret store returned something else.
    """
    secret = bytes(memoryview(kept))
    if len(secret) != SECRET_SIZE:
        raise ValueError(f"a secret must have {SECRET_SIZE} bytes, got {len(secret)}")
    return secret


class _Failure(NamedTuple):
    exception: BaseException
    means: str
    """The status for the failure."""
    told: str
    """The status that was sent: a daemon accepts only a few."""


class Parts:
    """The program's own transport and secret store (its parts) for one client, or for one command about a store, with
    their last failures.

    The exceptions stay here: the library or the daemon gets a status, and the call that fails because of it gets the
    exception as its cause.
    """

    def __init__(self, transport: Optional[Callable[[HTTPRequest], Any]], secrets: Optional[SecretStore]) -> None:
        self.transport = transport
        self.secrets = secrets
        self._failures: Dict[str, _Failure] = {}

    def worked(self, part: Part) -> None:
        """Forgets the earlier failures of this part, because they are not the cause of later errors."""
        self._failures.pop(part, None)

    def failed(self, part: Part, failure: BaseException, means: str, told: Optional[str] = None) -> None:
        self._failures[part] = _Failure(failure, means, told or means)
        if not isinstance(failure, EnrollStoreLocked):
            LOG.error("the program's own %s failed", part, exc_info=failure)

    def explained(self, error: EnrollError) -> EnrollError:
        """Returns the error. If an exception of the program's own transport or secret store caused it, that exception
        becomes its `__cause__`."""
        for part, (exception, means, told) in list(self._failures.items()):
            # The failure is kept until the part works again, because one failure may make many calls fail.
            reason = error.__cause__.status if isinstance(error.__cause__, EnrollError) else None
            is_about_keys = part == "transport" and error.status == "keysUnavailable"
            if told in (error.status, reason) or is_about_keys:
                if error.status == told != means:
                    error = EnrollInternal(f"the program's own {part} failed: {type(exception).__name__}")
                error.__cause__ = exception
        return error

    def explained_token(self, token: AccessToken) -> AccessToken:
        """As `explained`, for the error of a stale token."""
        if token.error is None:
            return token
        error = self.explained(token.error)
        return token if error is token.error else dataclasses.replace(token, error=error, reason=error.status)

    @contextlib.contextmanager
    def explaining(self) -> Iterator[None]:
        """Adds the cause to errors that leave the block."""
        try:
            yield
        except EnrollError as error:
            explained = self.explained(error)
            if explained is error:
                raise
            raise explained from explained.__cause__


def explained_token(parts: Optional[Parts], token: AccessToken) -> AccessToken:
    return token if parts is None else parts.explained_token(token)


def explaining(parts: Optional[Parts]) -> ContextManager[None]:
    return contextlib.nullcontext() if parts is None else parts.explaining()


class _Mark:
    """A mark that says that the program's own code is running for a library or a daemon."""

    def __init__(self, owner: object) -> None:
        self.owner = owner
        self.is_over = False


_serving: ContextVar[Optional[_Mark]] = ContextVar("enrollkit_serving", default=None)


@contextlib.contextmanager
def serving(owner: object) -> Iterator[None]:
    """Marks, inside the block, that the program's own code runs for `owner`."""
    mark = _Mark(owner)
    token = _serving.set(mark)
    try:
        yield
    finally:
        # The mark must also be ended: a task that the program's code started has a copy of the context, and still sees
        # this mark.
        mark.is_over = True
        _serving.reset(token)


def check_not_serving(owner: object) -> None:
    """Checks that this code may call `owner` and wait for it.

    Raises:
        EnrollReentrant: this code runs for `owner`, which waits for it.
    """
    mark = _serving.get()
    if mark is not None and mark.owner is owner and not mark.is_over:
        raise EnrollReentrant("a transport or a secret store must not use a client of what it serves")
