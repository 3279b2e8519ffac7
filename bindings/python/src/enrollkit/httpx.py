"""For httpx: `httpx.Client(auth=enrollkit.httpx.Auth(client))`. For `httpx.AsyncClient` use `AsyncAuth` with a
client of `enrollkit.aio`. The package does not install httpx; `pip install enrollkit[httpx]` does.

Every request gets a valid token. A request that the server rejects with 401 is sent once more: with the nonce that the
server requires (RFC 9449 §9), or with a token that was renewed in the meantime. Only a request without a body, or with
a body that httpx has in memory as a whole, is repeated. After a redirect to another origin, that server gets no token.
"""

from __future__ import annotations

import contextlib
from typing import Any, AsyncGenerator, Generator, Optional, Sequence, Union
from urllib.request import getproxies

import httpx

from . import aio
from ._authorizing import Exchange, Place, Shared, Step, limit
from ._client import Client
from ._error import EnrollError
from ._generated.statuses import EnrollInvalidArgument
from ._given import invalid


class Auth(Shared, httpx.Auth):
    """Puts a client's access token on each request, with a proof if the token is of type DPoP.

    A request waits for its token for at most the read timeout of httpx, and never longer than 30 seconds. A copy uses
    the same client; pickling raises `EnrollUnsupported`, as pickling a client does.

    Args:
        client: A client that is signed in.
        resource, scope: As for `Client.access_token`: the API that the token is for, and what it may do there.

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
    ) -> None:
        if not isinstance(client, Client):
            raise invalid("client", "an enrollkit.Client", client)
        self._client = client
        self._resource = resource
        self._scope = scope

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        place = _first_place(request)
        timeout = _timeout(request)
        token = self._client.access_token(resource=self._resource, scope=self._scope, timeout=timeout)
        exchange = Exchange(place, token, signs_each=place.origin[::2] == ("http", 80))
        self._sign(request, exchange, place, None)
        while True:
            response = yield request
            request = response.request
            place_now = _place_of_answer(response, exchange)
            step = exchange.after(response.status_code, response.headers, request.method, place_now)
            if step is None or place_now is None or not _is_repeatable(request):
                return
            try:
                if step is Step.RENEWAL:
                    exchange.token = self._client.rejected(
                        exchange.token.value, resource=self._resource, scope=self._scope, timeout=timeout
                    )
                nonce = response.headers.get("DPoP-Nonce") if step is Step.NONCE else None
                self._sign(request, exchange, place_now, nonce)
            except EnrollError:
                return
            response.read()

    def _sign(self, request: httpx.Request, exchange: Exchange, place: Place, nonce: Optional[str]) -> None:
        target = exchange.proof_target(request.method, place)
        proof = target and self._client.dpop_proof(*target, nonce=nonce, access_token=exchange.token.value)
        names = _put(request, exchange, proof)
        trace = request.extensions.get("trace")

        def sent(event: str, info: Any) -> None:
            _forget(request, names)
            if trace is not None:
                trace(event, info)

        if names:
            request.extensions = {**request.extensions, "trace": sent}

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        raise TypeError("an httpx.AsyncClient needs enrollkit.httpx.AsyncAuth, with a client of enrollkit.aio")
        yield request


class AsyncAuth(Shared, httpx.Auth):
    """Like `Auth`, but for asyncio and a client of `enrollkit.aio`."""

    def __init__(
        self,
        client: aio.Client,
        *,
        resource: Optional[str] = None,
        scope: Optional[Union[str, Sequence[str]]] = None,
    ) -> None:
        if not isinstance(client, aio.Client):
            raise invalid("client", "an enrollkit.aio.Client", client)
        self._client = client
        self._resource = resource
        self._scope = scope

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        place = _first_place(request)
        timeout = _timeout(request)
        token = await self._client.access_token(resource=self._resource, scope=self._scope, timeout=timeout)
        exchange = Exchange(place, token, signs_each=place.origin[::2] == ("http", 80))
        await self._sign(request, exchange, place, None)
        while True:
            response = yield request
            request = response.request
            place_now = _place_of_answer(response, exchange)
            step = exchange.after(response.status_code, response.headers, request.method, place_now)
            if step is None or place_now is None or not _is_repeatable(request):
                return
            try:
                if step is Step.RENEWAL:
                    exchange.token = await self._client.rejected(
                        exchange.token.value, resource=self._resource, scope=self._scope, timeout=timeout
                    )
                nonce = response.headers.get("DPoP-Nonce") if step is Step.NONCE else None
                await self._sign(request, exchange, place_now, nonce)
            except EnrollError:
                return
            await response.aread()

    async def _sign(self, request: httpx.Request, exchange: Exchange, place: Place, nonce: Optional[str]) -> None:
        target = exchange.proof_target(request.method, place)
        proof = target and await self._client.dpop_proof(*target, nonce=nonce, access_token=exchange.token.value)
        names = _put(request, exchange, proof)
        trace = request.extensions.get("trace")

        async def sent(event: str, info: Any) -> None:
            _forget(request, names)
            if trace is not None:
                await trace(event, info)

        if names:
            request.extensions = {**request.extensions, "trace": sent}

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        raise TypeError("an httpx.Client needs enrollkit.httpx.Auth, with an enrollkit.Client")
        yield request


def _put(request: httpx.Request, exchange: Exchange, proof: Optional[str]) -> Sequence[str]:
    """Writes the token and the proof into the request. Returns the names of the headers that are for this request only:
    on a redirect, httpx would send the proof to the target, and after a redirect from http to https the token, too."""
    request.headers["Authorization"] = exchange.token.authorization
    if proof is not None:
        request.headers["DPoP"] = proof
    return [*(["DPoP"] if proof else []), *(["Authorization"] if exchange.signs_each else [])]


def _forget(request: httpx.Request, names: Sequence[str]) -> None:
    """Removes these headers when httpx begins to send the request: by then it has copied the request's headers."""
    for name in names:
        request.headers.pop(name, None)


def _place(request: httpx.Request) -> Place:
    """The scheme, host and port that httpx connects to, and the path that it sends.

    Raises:
        EnrollInvalidArgument: a token must not be sent there.
    """
    url = request.url
    path = bytes(request.extensions.get("target", url.raw_path)).partition(b"?")[0]
    return Place.of(url.scheme, url.raw_host.decode("ascii"), url.port, path.decode("latin-1"))


def _first_place(request: httpx.Request) -> Place:
    """The destination of the first request, after a check of the proxies.

    Raises:
        EnrollInvalidArgument: a token must not be sent there.
    """
    place = _place(request)
    proxies = getproxies()
    direct = {host.strip().lower() for host in proxies.get("no", "").split(",")}
    place.refuse_proxy(("http" in proxies or "all" in proxies) and not direct & {place.host, "*"})
    return place


def _place_of_answer(response: httpx.Response, exchange: Exchange) -> Optional[Place]:
    """The destination of the request that got this answer; after redirects it is not the first destination."""
    places = [_place_or_none(one.request) for one in (*response.history, response)]
    if not all(exchange.is_at(place) for place in places):
        exchange.leave()
    return places[-1]


def _place_or_none(request: httpx.Request) -> Optional[Place]:
    with contextlib.suppress(EnrollInvalidArgument):
        return _place(request)
    return None


def _timeout(request: httpx.Request) -> float:
    timeouts: Any = request.extensions.get("timeout") or {}
    return limit(timeouts.get("read"))


def _is_repeatable(request: httpx.Request) -> bool:
    """Whether the body can be sent again: a stream is read while it is sent, and some streams can be read only once."""
    return isinstance(request.stream, httpx.ByteStream)
