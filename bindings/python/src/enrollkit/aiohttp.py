"""For aiohttp 3.12 or newer: `aiohttp.ClientSession(middlewares=[enrollkit.aiohttp.Auth(client, "https://api.example")])`.
The package does not install aiohttp; `pip install enrollkit[aiohttp]` does.

Every request to the named origins gets a valid token. A request that the server rejects with 401 is sent once more:
with the nonce that the server requires (RFC 9449 §9), or with a token that was renewed in the meantime. A request whose
body cannot be sent again (an async generator) is not repeated. aiohttp also calls its middleware for each redirect, and
does not say where the first request went. You therefore name the origins, and no other server gets a token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Sequence, Union

from aiohttp import ClientRequest, ClientResponse
from yarl import URL

from . import aio
from ._authorizing import Exchange, Origin, Place, Shared, Step, check_characters, refusal
from ._error import EnrollError
from ._generated.statuses import EnrollInvalidArgument
from ._given import invalid

if TYPE_CHECKING:
    from aiohttp import ClientHandlerType


class Auth(Shared):
    """Puts a client's access token on each request to some origins, with a proof if the token is of type DPoP.

    The total timeout of a request covers the wait for its token. A copy uses the same client; pickling raises
    `EnrollUnsupported`, as pickling a client does.

    Args:
        client: A client of `enrollkit.aio` that is signed in.
        origins: The servers that may get the token, such as "https://api.example". A path does not count.
        resource, scope: As for `Client.access_token`: the API that the token is for, and what it may do there.

    Raises:
        EnrollInvalidArgument: no origin is given, or an origin is neither https nor a loopback address; or a request
            to a loopback address would go through a proxy.
        EnrollError: the error of `Client.access_token`, raised by the call that would have sent the request.
        EnrollHandle: the client is closed.
    """

    def __init__(
        self,
        client: aio.Client,
        *origins: str,
        resource: Optional[str] = None,
        scope: Optional[Union[str, Sequence[str]]] = None,
    ) -> None:
        if not isinstance(client, aio.Client):
            raise invalid("client", "an enrollkit.aio.Client", client)
        if not origins:
            raise EnrollInvalidArgument("origins: expected at least one, such as https://api.example", field="origins")
        self._client = client
        self._origins = {_origin(url) for url in origins}
        self._resource = resource
        self._scope = scope

    async def __call__(self, request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        place = self._place(request.url)
        if place is None:
            return await handler(request)
        place.refuse_proxy(request.proxy is not None)
        token = await self._client.access_token(resource=self._resource, scope=self._scope)
        exchange = Exchange(place, token)
        await self._sign(request, exchange, place, None)
        while True:
            response = await handler(request)
            step = exchange.after(response.status, response.headers, request.method, place)
            if step is None or not _is_repeatable(request):
                return response
            try:
                if step is Step.RENEWAL:
                    exchange.token = await self._client.rejected(
                        exchange.token.value, resource=self._resource, scope=self._scope
                    )
                nonce = response.headers.get("DPoP-Nonce") if step is Step.NONCE else None
                await self._sign(request, exchange, place, nonce)
            except EnrollError:
                return response
            except BaseException:
                response.close()
                raise
            response.release()

    def _place(self, url: URL) -> Optional[Place]:
        """The destination of the request; None if that server gets no token."""
        try:
            place = _place(url)
        except EnrollInvalidArgument:
            return None
        return place if place.origin in self._origins else None

    async def _sign(self, request: ClientRequest, exchange: Exchange, place: Place, nonce: Optional[str]) -> None:
        request.headers["Authorization"] = exchange.token.authorization
        target = exchange.proof_target(request.method, place)
        if target is not None:
            proof = await self._client.dpop_proof(*target, nonce=nonce, access_token=exchange.token.value)
            request.headers["DPoP"] = proof


def _place(url: URL) -> Place:
    """The scheme, host and port that aiohttp connects to, and the path that it sends.

    Raises:
        EnrollInvalidArgument: a token must not be sent there.
    """
    return Place.of(url.scheme, url.raw_host or "", url.port, url.raw_path)


def _origin(url: str) -> Origin:
    """An origin that the program names. Its host may contain letters of any alphabet.

    Raises:
        EnrollInvalidArgument: a token must not be sent there.
    """
    check_characters(url)
    try:
        named = URL(url)
    except (TypeError, ValueError):
        raise refusal("a URL that cannot be read") from None
    return _place(named).origin


def _is_repeatable(request: ClientRequest) -> bool:
    """Whether the body can be sent again: aiohttp's payload object says whether the body was consumed."""
    return not getattr(request.body, "consumed", False)
