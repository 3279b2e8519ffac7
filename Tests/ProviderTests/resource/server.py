"""An MCP server from PyPI's `mcp` as a program: `server.py PORT ISSUER USERINFO`.

It has one tool, `whoami`, for those who bring a token of the issuer. The metadata of RFC 9728, the 401 with its `WWW-Authenticate`
and the check of the token are the package's own; whether a token is good, the provider says at its userinfo endpoint.
"""

import json
import sys
import urllib.error
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
        claims = await anyio.to_thread.run_sync(self._ask, token)
        if claims is None:
            return None
        scopes = SCOPES if "email" in claims else ["openid"]
        return AccessToken(token=token, client_id="unknown", scopes=scopes, subject=claims["sub"], claims=claims)

    def _ask(self, token):
        request = urllib.request.Request(self.endpoint, headers={"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError:
            return None


def main(port, issuer, userinfo):
    server = MCPServer(
        "Notes",
        token_verifier=Userinfo(userinfo),
        auth=AuthSettings(
            issuer_url=issuer,
            resource_server_url=f"http://127.0.0.1:{port}/mcp",
            required_scopes=SCOPES,
            # The provider binds no token to a resource.
            validate_token_resource=False,
        ),
    )

    @server.tool()
    def whoami() -> str:
        return get_access_token().claims["email"]

    server.run("streamable-http", host="127.0.0.1", port=int(port), json_response=True, stateless_http=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
