"""What a program may do itself: HTTP, and keeping the secret that wraps a store's key."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
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
`EnrollInternal`, each with the exception as its cause. The same over the library and over a daemon; a daemon waits no
longer than `HTTPRequest.timeout`, for an answer of at most 1 MiB with its headers.
"""

AsyncTransport = Callable[[HTTPRequest], Union[HTTPResponse, Awaitable[HTTPResponse]]]
"""The same for `enrollkit.aio`: also a coroutine function, which runs in the client's event loop, and is cancelled when
nobody waits for its answer any more.
"""


class SecretStore(Protocol):
    """Secrets as the program keeps them: a keychain, a TPM. Called by several threads at once, never with a client.

    Each method may raise `EnrollStoreLocked` while the user has to unlock something; whatever else it raises is
    `EnrollStoreIO` to the call that needed it, with the exception as its cause. A daemon waits for it 30 seconds, and
    then takes it for locked.
    """

    def load(self, name: str) -> Optional[bytes]:
        """The 32 bytes that were saved under this name; None: there are none."""

    def save(self, name: str, secret: bytes) -> None:
        """Keeps 32 bytes, durably before it returns."""

    def remove(self, name: str) -> None:
        """Forgets a name; one that is not known is no error."""


SECRET_SIZE = 32

HEADER_LIMIT = 256
HEADER_BYTE_LIMIT = 16 << 10

_TRANSPORTS = ("network", "tls", "timeout", "responseInvalid", "cancelled")

LOG = logging.getLogger("enrollkit")

Part = Literal["transport", "secret store"]


def transport_status(failure: BaseException) -> str:
    """What an exception of a transport means."""
    if isinstance(failure, EnrollError) and failure.status in _TRANSPORTS:
        return failure.status
    if isinstance(failure, ssl.SSLError):
        return "tls"
    if isinstance(failure, TimeoutError):
        return "timeout"
    return "network" if isinstance(failure, OSError) else "internal"


def secret_status(failure: BaseException) -> str:
    """What an exception of a secret store means."""
    return (EnrollStoreLocked if isinstance(failure, EnrollStoreLocked) else EnrollStoreIO).status


def response_parts(answer: object) -> Tuple[int, List[Tuple[str, str]], bytes]:
    """Status, headers and body of what a transport returned.

    Raises:
        TypeError, ValueError: it is no response.
    """
    if not isinstance(answer, HTTPResponse):
        raise TypeError(f"a transport returns an enrollkit.HTTPResponse, {type(answer).__name__} came")
    if not isinstance(answer.status, int) or not 100 <= answer.status <= 599:
        raise ValueError(f"a status code is 100 to 599, {answer.status!r} came")
    headers = [(name, value) for name, value in answer.headers]
    if len(headers) > HEADER_LIMIT:
        raise ValueError(f"a transport told {len(headers)} headers, at most {HEADER_LIMIT} were expected")
    for name, value in headers:
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError("a header is two texts")
        sizes = len(name.encode()), len(value.encode())
        if not name or "\0" in name + value or max(sizes) > HEADER_BYTE_LIMIT:
            raise ValueError("a transport told a header that is no header, or is too long")
    return int(answer.status), headers, bytes(answer.body)


def secret_bytes(kept: Any) -> bytes:
    """
    Raises:
        TypeError, ValueError: a secret store returned something else.
    """
    secret = bytes(memoryview(kept))
    if len(secret) != SECRET_SIZE:
        raise ValueError(f"a secret is {SECRET_SIZE} bytes, {len(secret)} came")
    return secret


class _Failure(NamedTuple):
    exception: BaseException
    means: str
    """The status that fits it."""
    told: str
    """The one that was told: a daemon takes a few only."""


class Parts:
    """What the program does itself for one client, or for one command about a store, and how that failed last.

    The exceptions stay here: library and daemon are told a status, and the call that fails with it gets the exception
    back as its cause.
    """

    def __init__(self, transport: Optional[Callable[[HTTPRequest], Any]], secrets: Optional[SecretStore]) -> None:
        self.transport = transport
        self.secrets = secrets
        self._failures: Dict[str, _Failure] = {}

    def worked(self, part: Part) -> None:
        """Nothing that fails from now on fails for what was before."""
        self._failures.pop(part, None)

    def failed(self, part: Part, failure: BaseException, means: str, told: Optional[str] = None) -> None:
        self._failures[part] = _Failure(failure, means, told or means)
        if not isinstance(failure, EnrollStoreLocked):
            LOG.error("the program's own %s failed", part, exc_info=failure)

    def explained(self, error: EnrollError) -> EnrollError:
        """The error, with what the program's own part raised as its cause if that is what it came of."""
        for part, (exception, means, told) in list(self._failures.items()):
            # Kept until the part works again: one failure may fail many calls.
            reason = error.__cause__.status if isinstance(error.__cause__, EnrollError) else None
            is_about_keys = part == "transport" and error.status == "keysUnavailable"
            if told in (error.status, reason) or is_about_keys:
                if error.status == told != means:
                    error = EnrollInternal(f"the program's own {part} failed: {type(exception).__name__}")
                error.__cause__ = exception
        return error

    def explained_token(self, token: AccessToken) -> AccessToken:
        """The same for a token that is stale."""
        if token.error is None:
            return token
        error = self.explained(token.error)
        return token if error is token.error else dataclasses.replace(token, error=error, reason=error.status)

    @contextlib.contextmanager
    def explaining(self) -> Iterator[None]:
        """Errors that leave the block leave it explained."""
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
    """A piece of the program's own code that serves the library or a daemon."""

    def __init__(self, owner: object) -> None:
        self.owner = owner
        self.is_over = False


_serving: ContextVar[Optional[_Mark]] = ContextVar("enrollkit_serving", default=None)


@contextlib.contextmanager
def serving(owner: object) -> Iterator[None]:
    """The program's own code runs for `owner`."""
    mark = _Mark(owner)
    token = _serving.set(mark)
    try:
        yield
    finally:
        # A task that was started meanwhile has a copy of the context.
        mark.is_over = True
        _serving.reset(token)


def check_not_serving(owner: object) -> None:
    """
    Raises:
        EnrollReentrant: this code runs for `owner`, which waits for it.
    """
    mark = _serving.get()
    if mark is not None and mark.owner is owner and not mark.is_over:
        raise EnrollReentrant("a transport or a secret store used a client of what it serves")
