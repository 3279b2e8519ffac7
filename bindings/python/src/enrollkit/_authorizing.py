"""Rules that the helpers for requests, httpx and aiohttp share. They say which servers get a token, and when a request
that a server refused with 401 is sent once more (RFC 6750 §3.1, RFC 9449 §9).

A token is sent only to https or to a loopback address. It is sent only to the origin of the first URL, whatever the
targets of redirects are. Each helper reads a URL as its HTTP library does; a URL that libraries read in different
ways gets no token.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from enum import Enum
from typing import Any, Dict, Mapping, Optional, Tuple, TypeVar
from urllib.parse import urljoin

from ._generated.statuses import EnrollInvalidArgument
from ._generated.types import AccessToken

Origin = Tuple[str, str, int]

_PORTS = {"http": 80, "https": 443}

# Every URL library splits a URL of this form in the same way.
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?:[^/?#@\x80-\U0010ffff]*@)?"
    r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(?:/[^?#]*)?)(?:[?#].*)?"
)
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")


@dataclass(frozen=True)
class Place:
    """The destination of a request: the origin that its HTTP library connects to, and the path that it sends."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def of(cls, scheme: str, host: str, port: Optional[int], path: str = "") -> Place:
        """The destination with these parts.

        Raises:
            EnrollInvalidArgument: a token must not be sent there.
        """
        scheme, host = scheme.lower(), host.lower().strip("[]")
        if scheme not in _PORTS:
            raise refusal("another scheme" if scheme else "a relative URL")
        port = _PORTS[scheme] if port is None else port
        if not _HOST.fullmatch(host) or port > 65535:
            raise refusal("a URL whose host or port cannot be read")
        if scheme == "http" and not _is_loopback(host):
            raise refusal(f"http://{host}")
        return cls(scheme, host, port, path or "/")

    @classmethod
    def read(cls, url: object) -> Place:
        """The destination of a URL that is given as text.

        Raises:
            EnrollInvalidArgument: a token must not be sent there.
        """
        parts = _URL.fullmatch(check_characters(url))
        if parts is None:
            raise refusal("a URL that cannot be read")
        port = parts["port"]
        return cls.of(parts["scheme"], parts["host"], int(port) if port else None, parts["path"])

    @property
    def origin(self) -> Origin:
        """The origin: scheme, host and port (RFC 6454 §4)."""
        return self.scheme, self.host, self.port

    @property
    def target(self) -> str:
        """The URL that a proof is for (RFC 9449 §4.2): as it is sent, but without its query."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"

    def redirected(self, url: str, location: str) -> Optional[Place]:
        """The destination of a redirect of the request for `url`; None if a token must not be sent there."""
        try:
            # The check comes first, because `urljoin` removes some of the forbidden characters.
            return Place.read(urljoin(url, check_characters(location)))
        except ValueError:
            return None

    def refuse_proxy(self, has_proxy: bool) -> None:
        """Checks that no proxy can read the token.

        Raises:
            EnrollInvalidArgument: a proxy would see the token.
        """
        if has_proxy and self.scheme == "http":
            raise EnrollInvalidArgument(
                "url: expected a direct connection, got a proxy before a loopback address, which would see the token; "
                f"add {self.host} to the environment variable NO_PROXY",
                field="url",
            )


def check_characters(url: object) -> str:
    """The URL, if it has none of the characters that libraries read in different ways.

    Raises:
        EnrollInvalidArgument: the URL has such a character, or is not a text.
    """
    if not isinstance(url, str):
        raise refusal(type(url).__name__)
    if re.search(r"[\\\x00-\x20\x7f]", url):
        raise refusal("a URL with a backslash, a blank or a control character")
    return url


def refusal(came: str) -> EnrollInvalidArgument:
    """The error for a URL that gets no token. It shows no more of the URL than its origin (R40)."""
    return EnrollInvalidArgument(
        f"url: expected https, or http to a loopback address, got {came}; a token is not sent there", field="url"
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_dpop(token: AccessToken) -> bool:
    return token.type.lower() == "dpop"


LONGEST = 30.0
"""How many seconds a request waits for its token if the request has no timeout, or a longer timeout."""


def limit(timeout: object) -> float:
    """How long a request with this timeout waits for a token."""
    return min(timeout, LONGEST) if isinstance(timeout, (int, float)) and timeout >= 0 else LONGEST


Self = TypeVar("Self", bound="Shared")


class Shared:
    """The base class of objects whose copies use the same client."""

    def __deepcopy__(self: Self, memo: Dict[int, Any]) -> Self:
        return self


class Step(Enum):
    """The reason to send a request again after a 401."""

    PROOF = "a token and a proof for the URL to which the server redirected"
    NONCE = "a proof with the nonce that the server requires"
    RENEWAL = "another token"


class Exchange:
    """One request, from its first sending to its last answer. Each step is taken at most once, and only at
    the first origin.

    `signs_each`: the HTTP library sends no token after a redirect, not even to the first origin.
    """

    def __init__(self, place: Place, token: AccessToken, *, signs_each: bool = False) -> None:
        self._origin: Optional[Origin] = place.origin
        self.token = token
        self.signs_each = signs_each
        self._signed: Optional[Tuple[str, str]] = None
        self._has_nonce = False
        self._has_renewed = False

    def is_at(self, place: Optional[Place]) -> bool:
        """Whether `place` is at the origin that gets the token."""
        return place is not None and place.origin == self._origin

    def leave(self) -> None:
        """Records that a redirect went to another origin: no later request gets a token, not even a request
        to the first origin."""
        self._origin = None

    def proof_target(self, method: str, place: Place) -> Optional[Tuple[str, str]]:
        """The method and URL of the next proof; None for a token that needs no proof."""
        self._signed = method, place.target
        return self._signed if is_dpop(self.token) else None

    def after(self, status: int, headers: Mapping[str, str], method: str, place: Optional[Place]) -> Optional[Step]:
        """The step that an answer requires; None if the answer goes to the caller as it is."""
        if status != 401 or place is None or not self.is_at(place):
            return None
        if (self.signs_each or is_dpop(self.token)) and self._signed != (method, place.target):
            return Step.PROOF
        if is_dpop(self.token):
            challenge = headers.get("WWW-Authenticate") or ""
            if not self._has_nonce and headers.get("DPoP-Nonce") and "use_dpop_nonce" in challenge:
                self._has_nonce = True
                return Step.NONCE
        if self._has_renewed:
            return None
        self._has_renewed = True
        return Step.RENEWAL
