"""For requests: `requests.get(url, auth=enrollkit.requests.Auth(client))`. The package does not install requests;
`pip install enrollkit[requests]` does.

Every request gets a valid token. A request that the server rejects with 401 is sent once more: with the nonce that the
server requires (RFC 9449 §9), or with a token that was renewed in the meantime. A request whose body cannot be sent
again (a generator, a pipe) is not repeated. After a redirect to another origin, that server gets no token.
"""

from __future__ import annotations

import re
from typing import Any, Optional, Sequence, Tuple, Union
from urllib.parse import quote

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase
from requests.exceptions import UnrewindableBodyError
from requests.utils import get_environ_proxies, rewind_body, select_proxy

from ._authorizing import LONGEST, Exchange, Place, Shared, Step, limit
from ._client import Client
from ._error import EnrollError
from ._generated.statuses import EnrollInvalidArgument, EnrollUnsupported
from ._given import Seconds, invalid, seconds


class Auth(Shared, AuthBase):
    """Puts a client's access token on each request, with a proof if the token is of type DPoP.

    A copy uses the same client; pickling raises `EnrollUnsupported`, as pickling a client does.

    Args:
        client: A client that is signed in.
        resource, scope: As for `Client.access_token`: the API that the token is for, and what it may do there.
        timeout: Seconds (or a timedelta) that a request waits for its token, at most 30. The timeout of the request
            itself also counts, but only for the renewal after a 401: requests does not reveal it earlier.

    Raises:
        EnrollError: the error of `Client.access_token`, raised by the call that would have sent the request.
        EnrollHandle: the client is closed.
        EnrollInvalidArgument: the URL is neither https nor a loopback address, or an environment proxy would handle a
        loopback address. The request was not sent.
    """

    def __init__(
        self,
        client: Client,
        *,
        resource: Optional[str] = None,
        scope: Optional[Union[str, Sequence[str]]] = None,
        timeout: Seconds = LONGEST,
    ) -> None:
        if not isinstance(client, Client):
            raise invalid("client", "an enrollkit.Client", client)
        self._client = client
        self._resource = resource
        self._scope = scope
        self._timeout = limit(seconds("timeout", timeout))

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        place = _place(request)
        url = request.url or ""
        place.refuse_proxy(bool(select_proxy(url, get_environ_proxies(url, no_proxy=None))))
        token = self._client.access_token(resource=self._resource, scope=self._scope, timeout=self._timeout)
        exchange = Exchange(place, token)
        self._sign(request, exchange, place, None)
        request.register_hook("response", _Hook(self, exchange))  # type: ignore[no-untyped-call]
        return request

    def _sign(self, request: PreparedRequest, exchange: Exchange, place: Place, nonce: Optional[str]) -> None:
        request.headers["Authorization"] = exchange.token.authorization
        target = exchange.proof_target(request.method or "GET", place)
        if target is not None:
            request.headers["DPoP"] = self._client.dpop_proof(*target, nonce=nonce, access_token=exchange.token.value)

    def _renew(self, exchange: Exchange, timeout: float) -> None:
        exchange.token = self._client.rejected(
            exchange.token.value, resource=self._resource, scope=self._scope, timeout=min(timeout, self._timeout)
        )


class _Hook(Shared):
    """Reads the answers to one request and to the redirects that follow it."""

    def __init__(self, auth: Auth, exchange: Exchange) -> None:
        self._auth = auth
        self._exchange = exchange

    def __reduce_ex__(self, protocol: Any) -> Tuple[Any, ...]:
        raise EnrollUnsupported("a request or response that carries an access token cannot be pickled")

    def __call__(self, response: Response, **options: Any) -> Response:
        request, exchange = response.request, self._exchange
        place = _place_or_none(request)
        while (
            place is not None
            and (step := exchange.after(response.status_code, response.headers, request.method or "GET", place))
            and _is_rewound(request)
        ):
            refused = request.copy()
            try:
                if step is Step.RENEWAL:
                    self._auth._renew(exchange, limit(_read_timeout(options.get("timeout"))))
                # This changes the original request object, because the library requests builds the requests of later
                # redirects from it.
                nonce = response.headers.get("DPoP-Nonce") if step is Step.NONCE else None
                self._auth._sign(request, exchange, place, nonce)
            except EnrollError:
                break
            # The body of the refused response is not read, because it may have no end.
            response.close()
            response.request = refused
            again: Response = response.connection.send(request, **options)
            again.history = [*response.history, response]
            again.request = request
            response = again
        if response.is_redirect:
            self._follow(request, place, response.headers["Location"])
        return response

    def _follow(self, request: PreparedRequest, place: Optional[Place], location: str) -> None:
        """Removes the headers that the target of a redirect must not get: the proof, which is for one URL, and the
        token if the target is at another origin."""
        request.headers.pop("DPoP", None)
        if place is None or not self._exchange.is_at(place.redirected(request.url or "", location)):
            request.headers.pop("Authorization", None)
            self._exchange.leave()


_ADAPTER = HTTPAdapter()


def _place(request: PreparedRequest) -> Place:
    """The destination to which requests sends the request, with the path as urllib3 sends it.

    Raises:
        EnrollInvalidArgument: a token must not be sent there.
    """
    place = Place.read(request.url or "")
    path = _ADAPTER.request_url(request, {}).partition("?")[0]
    return Place(*place.origin, re.sub("%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~!$&'()*+,;=:@/-]", _escaped, path))


def _escaped(part: re.Match[str]) -> str:
    return part[0].upper() if len(part[0]) == 3 else quote(part[0])


def _place_or_none(request: PreparedRequest) -> Optional[Place]:
    try:
        return _place(request)
    except EnrollInvalidArgument:
        return None


def _read_timeout(timeout: Any) -> object:
    """The read timeout. requests accepts seconds, a pair (connect, read), and urllib3's own object."""
    return timeout[1] if isinstance(timeout, tuple) else getattr(timeout, "read_timeout", timeout)


def _is_rewound(request: PreparedRequest) -> bool:
    """Whether the body can be sent again; a file is set back to its start position."""
    if request.body is None or isinstance(request.body, (str, bytes)):
        return True
    try:
        rewind_body(request)
    except UnrewindableBodyError:
        return False
    return True
