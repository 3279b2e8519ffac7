"""For requests: `requests.get(url, auth=enrollkit.requests.Auth(client))`. The package does not install requests.

Every request gets a valid token. A request that the server refuses with 401 is sent once more: with the nonce that the
server requires (RFC 9449 §9), or with a token that was renewed in the meantime. A request whose body cannot be sent
again (a stream) is not repeated.
"""

from __future__ import annotations

from typing import Any, Optional

from requests import PreparedRequest, Response
from requests.auth import AuthBase

from ._client import Client
from ._error import EnrollError


class Auth(AuthBase):
    """Puts a client's access token on each request, with a proof if the token is of type DPoP.

    Raises:
        EnrollError: the error of `Client.access_token`, raised by the call that would have sent the request.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        self._put(request, renew=False, nonce=None)
        request.register_hook("response", self._again)  # type: ignore[no-untyped-call]
        return request

    def _put(self, request: PreparedRequest, *, renew: bool, nonce: Optional[str]) -> None:
        token = self._client.refresh() if renew else self._client.access_token()
        request.headers["Authorization"] = token.authorization
        if token.type.lower() == "dpop":
            request.headers["DPoP"] = self._client.dpop_proof(
                request.method or "GET", (request.url or "").partition("#")[0], nonce=nonce, access_token=token.value
            )

    def _again(self, response: Response, **options: Any) -> Response:
        request = response.request
        body = request.body
        if response.status_code != 401 or "Authorization" not in request.headers:
            return response
        if body is not None and not isinstance(body, (str, bytes)):
            return response
        # Frees the connection.
        response.content  # noqa: B018
        again = request.copy()
        again.hooks = {"response": []}
        nonce = response.headers.get("DPoP-Nonce")
        try:
            self._put(again, renew=nonce is None, nonce=nonce)
        except EnrollError:
            return response
        answer: Response = response.connection.send(again, **options)
        answer.history.append(response)
        answer.request = again
        return answer
