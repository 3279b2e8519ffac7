"""For httpx: `httpx.Client(auth=enrollkit.httpx.Auth(client))`. For `httpx.AsyncClient` use `AsyncAuth` with a
client of `enrollkit.aio`. This module needs httpx, which the package does not install.

Every request gets a valid token. A request that the server refuses with 401 is sent once more: with the nonce that the
server requires (RFC 9449 §9), or with a token that was renewed in the meantime.
"""

from __future__ import annotations

from typing import AsyncGenerator, Generator, Optional

import httpx

from . import aio
from ._client import Client
from ._error import EnrollError
from ._generated.types import AccessToken


class Auth(httpx.Auth):
    """Puts a client's access token on each request, with a proof if the token is of type DPoP.

    Raises:
        EnrollError: the error of `Client.access_token`, raised by the call that would have sent the request.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        self._put(request, self._client.access_token(), None)
        response = yield request
        if response.status_code == 401:
            response.read()
            nonce = response.headers.get("DPoP-Nonce")
            try:
                token = self._client.access_token() if nonce else self._client.refresh()
                self._put(request, token, nonce)
            except EnrollError:
                return
            yield request

    def _put(self, request: httpx.Request, token: AccessToken, nonce: Optional[str]) -> None:
        request.headers["Authorization"] = token.authorization
        if token.type.lower() == "dpop":
            url = str(request.url.copy_with(fragment=None))
            request.headers["DPoP"] = self._client.dpop_proof(
                request.method, url, nonce=nonce, access_token=token.value
            )

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        raise TypeError("an httpx.AsyncClient needs enrollkit.httpx.AsyncAuth, with a client of enrollkit.aio")
        yield request


class AsyncAuth(httpx.Auth):
    """The same for asyncio."""

    def __init__(self, client: aio.Client) -> None:
        self._client = client

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        await self._put(request, await self._client.access_token(), None)
        response = yield request
        if response.status_code == 401:
            await response.aread()
            nonce = response.headers.get("DPoP-Nonce")
            try:
                token = await (self._client.access_token() if nonce else self._client.refresh())
                await self._put(request, token, nonce)
            except EnrollError:
                return
            yield request

    async def _put(self, request: httpx.Request, token: AccessToken, nonce: Optional[str]) -> None:
        request.headers["Authorization"] = token.authorization
        if token.type.lower() == "dpop":
            url = str(request.url.copy_with(fragment=None))
            request.headers["DPoP"] = await self._client.dpop_proof(
                request.method, url, nonce=nonce, access_token=token.value
            )

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        raise TypeError("an httpx.Client needs enrollkit.httpx.Auth, with an enrollkit.Client")
        yield request
