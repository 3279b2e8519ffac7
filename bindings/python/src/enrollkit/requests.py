"""For requests: `requests.get(url, auth=enrollkit.requests.Auth(client))`. The package does not install requests;
`pip install enrollkit[requests]` does.

Every request gets a valid token. A request that the server refuses with 401 is sent once more: with the nonce that the
server requires (RFC 9449 §9), or with a token that was renewed in the meantime. A request whose body cannot be sent
again (a generator, a pipe) is not repeated. After a redirect to another origin, that server gets no token.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union
from urllib.parse import urljoin

from requests import PreparedRequest, Response
from requests.auth import AuthBase
from requests.exceptions import UnrewindableBodyError
from requests.utils import rewind_body

from ._authorizing import Exchange, Step
from ._client import Client
from ._error import EnrollError
from ._given import invalid


class Auth(AuthBase):
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

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        token = self._client.access_token(resource=self._resource, scope=self._scope)
        exchange = Exchange(request.url or "", token)
        self._sign(request, exchange, None)

        def answered(response: Response, **options: Any) -> Response:
            return self._answered(exchange, response, options)

        request.register_hook("response", answered)  # type: ignore[no-untyped-call]
        return request

    def _sign(self, request: PreparedRequest, exchange: Exchange, nonce: Optional[str]) -> None:
        request.headers["Authorization"] = exchange.token.authorization
        target = exchange.proof_target(request.method or "GET", request.url or "")
        if target is not None:
            request.headers["DPoP"] = self._client.dpop_proof(*target, nonce=nonce, access_token=exchange.token.value)

    def _answered(self, exchange: Exchange, response: Response, options: Any) -> Response:
        request = response.request
        method, url = request.method or "GET", request.url or ""
        while (step := exchange.after(response.status_code, response.headers, method, url)) and _is_rewound(request):
            refused = request.copy()
            try:
                if step is Step.RENEWAL:
                    exchange.token = self._client.rejected(
                        exchange.token.value, resource=self._resource, scope=self._scope
                    )
                # The same object: requests makes the requests of later redirects from it.
                self._sign(request, exchange, response.headers.get("DPoP-Nonce") if step is Step.NONCE else None)
            except EnrollError:
                break
            # Its body is not read: it may have no end.
            response.close()
            response.request = refused
            again: Response = response.connection.send(request, **options)
            again.history = [*response.history, response]
            again.request = request
            response = again
        if response.is_redirect:
            self._follow(exchange, request, response)
        return response

    def _follow(self, exchange: Exchange, request: PreparedRequest, response: Response) -> None:
        """Takes out what the server behind a redirect must not get: the proof, which is for one URL, and at another
        origin the token."""
        request.headers.pop("DPoP", None)
        if not exchange.is_at(urljoin(request.url or "", response.headers["Location"])):
            request.headers.pop("Authorization", None)
            exchange.leave()


def _is_rewound(request: PreparedRequest) -> bool:
    """Whether the body can be sent again; a file is set back to where it was."""
    if request.body is None or isinstance(request.body, (str, bytes)):
        return True
    try:
        rewind_body(request)
    except UnrewindableBodyError:
        return False
    return True
