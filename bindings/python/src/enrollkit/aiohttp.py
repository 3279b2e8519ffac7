"""For aiohttp 3.12 or newer: `aiohttp.ClientSession(middlewares=[enrollkit.aiohttp.Auth(client, "https://api.example")])`.
The package does not install aiohttp; `pip install enrollkit[aiohttp]` does.

Every request to the named origins gets a valid token. A request that the server refuses with 401 is sent once more:
with the nonce that the server requires (RFC 9449 §9), or with a token that was renewed in the meantime. A request whose
body cannot be sent again (an async generator) is not repeated. aiohttp calls its middleware for each redirect too, and
does not say where the first request went. Therefore the origins are named, and no other server gets a token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Sequence, Union

from aiohttp import ClientRequest, ClientResponse

from . import aio
from ._authorizing import Exchange, Step, origin_of
from ._error import EnrollError
from ._generated.statuses import EnrollInvalidArgument
from ._given import invalid

if TYPE_CHECKING:
    from aiohttp import ClientHandlerType


class Auth:
    """Puts a client's access token on each request to some origins, with a proof if the token is of type DPoP.

    Args:
        client: A client of `enrollkit.aio` that is signed in.
        origins: The servers that may get the token, such as "https://api.example". A path does not count.
        resource, scope: As for `Client.access_token`: the API for which the token is to be, and what it may do there.

    Raises:
        EnrollInvalidArgument: no origin is given, or one is neither https nor a loopback address.
        EnrollError: the error of `Client.access_token`, raised by the call that would have sent the request.
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
        self._origins = {origin_of(url) for url in origins}
        self._resource = resource
        self._scope = scope

    async def __call__(self, request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        url = str(request.url)
        if not self._has(url):
            return await handler(request)
        token = await self._client.access_token(resource=self._resource, scope=self._scope)
        exchange = Exchange(url, token)
        await self._sign(request, exchange, None)
        while True:
            response = await handler(request)
            step = exchange.after(response.status, response.headers, request.method, url)
            if step is None or not _is_repeatable(request):
                return response
            try:
                if step is Step.RENEWAL:
                    exchange.token = await self._client.rejected(
                        exchange.token.value, resource=self._resource, scope=self._scope
                    )
                await self._sign(request, exchange, response.headers.get("DPoP-Nonce") if step is Step.NONCE else None)
            except EnrollError:
                return response
            response.release()

    def _has(self, url: str) -> bool:
        try:
            return origin_of(url) in self._origins
        except EnrollInvalidArgument:
            return False

    async def _sign(self, request: ClientRequest, exchange: Exchange, nonce: Optional[str]) -> None:
        request.headers["Authorization"] = exchange.token.authorization
        target = exchange.proof_target(request.method, str(request.url))
        if target is not None:
            proof = await self._client.dpop_proof(*target, nonce=nonce, access_token=exchange.token.value)
            request.headers["DPoP"] = proof


def _is_repeatable(request: ClientRequest) -> bool:
    """A payload says whether it was used up."""
    return not getattr(request.body, "consumed", False)
