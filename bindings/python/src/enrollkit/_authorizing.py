"""Rules that the helpers for requests, httpx and aiohttp share. They say which servers get a token, and when a request
that a server refused with 401 is sent once more (RFC 6750 §3.1, RFC 9449 §9).

A token goes to https and to a loopback address alone. It stays at the origin of the first URL, wherever redirects lead.
"""

from __future__ import annotations

import ipaddress
from enum import Enum
from typing import Mapping, Optional, Tuple
from urllib.parse import urldefrag, urlsplit

from ._generated.statuses import EnrollInvalidArgument
from ._generated.types import AccessToken

Origin = Tuple[str, str, Optional[int]]

_PORTS = {"http": 80, "https": 443}


def origin_of(url: str) -> Origin:
    """Scheme, host and port (RFC 6454 §4).

    Raises:
        EnrollInvalidArgument: a token must not be sent there.
    """
    try:
        # None of them belongs to a URL, and libraries read a URL with one in different ways.
        if any(character == "\\" or character <= " " or character == "\x7f" for character in url):
            raise ValueError("it has a backslash, a blank or a control character")
        parts = urlsplit(url)
        host, scheme, port = parts.hostname or "", parts.scheme.lower(), parts.port
    except (ValueError, TypeError, AttributeError) as fault:
        raise EnrollInvalidArgument(f"url: expected a URL, got one that cannot be read: {fault}", field="url") from None
    if not host or (scheme != "https" and not (scheme == "http" and _is_loopback(host))):
        shown = f"{scheme}://{host}" if scheme else "a relative URL"
        raise EnrollInvalidArgument(
            f"url: expected https, or http to a loopback address, got {shown}; a token is not sent there", field="url"
        )
    return scheme, host, _PORTS[scheme] if port is None else port


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_dpop(token: AccessToken) -> bool:
    return token.type.lower() == "dpop"


class Step(Enum):
    """The reason to send a request again after a 401."""

    PROOF = "a proof for the URL to which the server redirected"
    NONCE = "a proof with the nonce that the server requires"
    RENEWAL = "another token"


class Exchange:
    """One request from its first sending to its last answer: each step happens once, and at the first origin alone.

    Raises:
        EnrollInvalidArgument: the URL is one to which a token must not be sent.
    """

    def __init__(self, url: str, token: AccessToken) -> None:
        self._origin: Optional[Origin] = origin_of(url)
        self.token = token
        self._proved: Optional[Tuple[str, str]] = None
        self._has_nonce = False
        self._has_renewed = False

    def is_at(self, url: str) -> bool:
        """Whether the URL belongs to the origin that gets the token."""
        try:
            return origin_of(url) == self._origin
        except EnrollInvalidArgument:
            return False

    def leave(self) -> None:
        """A redirect led to another origin: what comes after it gets no token, at the first origin neither."""
        self._origin = None

    def proof_target(self, method: str, url: str) -> Optional[Tuple[str, str]]:
        """What the next proof is about: method and URL; None for a token that needs no proof."""
        if not is_dpop(self.token):
            return None
        self._proved = method, urldefrag(url).url
        return self._proved

    def after(self, status: int, headers: Mapping[str, str], method: str, url: str) -> Optional[Step]:
        """The step after an answer; None: the answer is the caller's."""
        if status != 401 or not self.is_at(url):
            return None
        if is_dpop(self.token):
            if self._proved != (method, urldefrag(url).url):
                return Step.PROOF
            challenge = headers.get("WWW-Authenticate") or ""
            if not self._has_nonce and headers.get("DPoP-Nonce") and "use_dpop_nonce" in challenge:
                self._has_nonce = True
                return Step.NONCE
        if self._has_renewed:
            return None
        self._has_renewed = True
        return Step.RENEWAL
