"""An MCP server from PyPI's `mcp` as a program: `server.py PORT ISSUER USERINFO [INTROSPECTION CLIENT_ID SECRET]`.

It has one tool, `whoami`, which needs a token of the issuer. The metadata of RFC 9728, the 401 with its
`WWW-Authenticate` and the check of the token come from the package. The provider's userinfo endpoint decides whether a
token is valid. With INTROSPECTION (RFC 7662) the provider also names the resource of a token, and the package refuses
tokens for other resources.
"""

import base64
import json
import sys
import urllib.error
import urllib.parse
import urllib.request

import anyio
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer

SCOPES = ["openid", "email"]


class Userinfo(TokenVerifier):
    def __init__(self, endpoint):
        self.endpoint = endpoint

    async def verify_token(self, token):
        return await anyio.to_thread.run_sync(self.verify, token)

    def verify(self, token):
        claims = ask(self.endpoint, f"Bearer {token}")
        if claims is None:
            return None
        scopes = SCOPES if "email" in claims else ["openid"]
        return AccessToken(token=token, client_id="unknown", scopes=scopes, subject=claims["sub"], claims=claims)


class Introspection(Userinfo):
    def __init__(self, userinfo, endpoint, client_id, secret):
        super().__init__(userinfo)
        self.introspection = endpoint
        pair = ":".join(urllib.parse.quote_plus(part) for part in (client_id, secret))
        self.credentials = f"Basic {base64.b64encode(pair.encode()).decode()}"

    def verify(self, token):
        found = super().verify(token)
        told = ask(self.introspection, self.credentials, token=token)
        if found is None or not told or not told["active"]:
            return None
        found.client_id, found.scopes = told["client_id"], told["scope"].split()
        found.expires_at = told["exp"]
        found.resource = next(iter(told.get("aud", [])), None)
        return found


def ask(endpoint, authorization, **form):
    """The provider's answer in JSON; None for a refusal."""
    body = urllib.parse.urlencode(form).encode() if form else None
    request = urllib.request.Request(endpoint, body, {"Authorization": authorization})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)
    except urllib.error.HTTPError:
        return None


def main(port, issuer, userinfo, *introspection):
    server = MCPServer(
        "Notes",
        token_verifier=Introspection(userinfo, *introspection) if introspection else Userinfo(userinfo),
        auth=AuthSettings(
            issuer_url=issuer,
            resource_server_url=f"http://127.0.0.1:{port}/mcp",
            required_scopes=SCOPES,
            # Without introspection, the resource of a token is unknown.
            validate_token_resource=bool(introspection),
        ),
    )

    @server.tool()
    def whoami() -> str:
        return get_access_token().claims["email"]

    server.run("streamable-http", host="127.0.0.1", port=int(port), json_response=True, stateless_http=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
