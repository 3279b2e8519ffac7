"""For httpx: `httpx.Client(auth=enrollkit.httpx.Auth(client))`. For `httpx.AsyncClient` use `AsyncAuth` with a
client of `enrollkit.aio`. The package does not install httpx; `pip install enrollkit[httpx]` does.

Every request gets a valid token. A request that the server refuses with 401 is sent once more: with the nonce that the
server requires (RFC 9449 §9), or with a token that was renewed in the meantime. Only a request without a body, or with
one that httpx has whole in memory, is repeated. After a redirect to another origin, that server gets no token.
"""

from __future__ import annotations

from typing import AsyncGenerator, Generator, Optional, Sequence, Union

import httpx

from . import aio
from ._authorizing import Exchange, Step
from ._client import Client
from ._error import EnrollError
from ._given import invalid


class Auth(httpx.Auth):
    """Puts a client's access token on each request, with a proof if the token is of type DPoP.

    Args:
        client: A client that is signed in.
        resource, scope: As for `Client.access_token`: the API for which the token is to be, and what it may do there.

    Raises:
        EnrollError: the error of `Client.access_token`, raised by the call that would have sent the request.
        EnrollInvalidArgument: the URL is neither https nor a loopback address. The request was not sent.
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
        token = self._client.access_token(resource=self._resource, scope=self._scope)
        exchange = Exchange(str(request.url), token)
        self._sign(request, exchange, None)
        while True:
            response = yield request
            request = _answered(response, exchange)
            step = exchange.after(response.status_code, response.headers, request.method, str(request.url))
            if step is None or not _is_repeatable(request):
                return
            try:
                if step is Step.RENEWAL:
                    exchange.token = self._client.rejected(
                        exchange.token.value, resource=self._resource, scope=self._scope
                    )
                self._sign(request, exchange, response.headers.get("DPoP-Nonce") if step is Step.NONCE else None)
            except EnrollError:
                return
            response.read()

    def _sign(self, request: httpx.Request, exchange: Exchange, nonce: Optional[str]) -> None:
        request.headers["Authorization"] = exchange.token.authorization
        target = exchange.proof_target(request.method, str(request.url))
        if target is not None:
            proof = self._client.dpop_proof(*target, nonce=nonce, access_token=exchange.token.value)
            request.headers["DPoP"] = proof

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        raise TypeError("an httpx.AsyncClient needs enrollkit.httpx.AsyncAuth, with a client of enrollkit.aio")
        yield request


class AsyncAuth(httpx.Auth):
    """The same for asyncio, with a client of `enrollkit.aio`."""

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
        token = await self._client.access_token(resource=self._resource, scope=self._scope)
        exchange = Exchange(str(request.url), token)
        await self._sign(request, exchange, None)
        while True:
            response = yield request
            request = _answered(response, exchange)
            step = exchange.after(response.status_code, response.headers, request.method, str(request.url))
            if step is None or not _is_repeatable(request):
                return
            try:
                if step is Step.RENEWAL:
                    exchange.token = await self._client.rejected(
                        exchange.token.value, resource=self._resource, scope=self._scope
                    )
                nonce = response.headers.get("DPoP-Nonce") if step is Step.NONCE else None
                await self._sign(request, exchange, nonce)
            except EnrollError:
                return
            await response.aread()

    async def _sign(self, request: httpx.Request, exchange: Exchange, nonce: Optional[str]) -> None:
        request.headers["Authorization"] = exchange.token.authorization
        target = exchange.proof_target(request.method, str(request.url))
        if target is not None:
            proof = await self._client.dpop_proof(*target, nonce=nonce, access_token=exchange.token.value)
            request.headers["DPoP"] = proof

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        raise TypeError("an httpx.Client needs enrollkit.httpx.Auth, with an enrollkit.Client")
        yield request


def _answered(response: httpx.Response, exchange: Exchange) -> httpx.Request:
    """The request that got the answer: after redirects, another one."""
    if not all(exchange.is_at(str(one.url)) for one in response.history):
        exchange.leave()
    return response.request


def _is_repeatable(request: httpx.Request) -> bool:
    """Streams are read as they are sent, and some of them only once."""
    return isinstance(request.stream, httpx.ByteStream)
