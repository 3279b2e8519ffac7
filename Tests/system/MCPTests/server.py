"""MCP servers for the tests: `server.py KIND PORT …`, with PyPI's `mcp`, which speaks the protocol up to 2025-11-25 and
that of 2026-07-28.

`open` needs no token. `stateful` has sessions, and also asks its client (sampling). `protected ISSUER` needs tokens of
the issuer: its userinfo endpoint is asked, and the scope `email` is required. It counts nothing: the tests ask the
issuer.
"""

import json
import sys
import urllib.error
import urllib.request

import anyio
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer


class Userinfo(TokenVerifier):
    def __init__(self, issuer):
        with urllib.request.urlopen(f"{issuer}/.well-known/openid-configuration", timeout=30) as answer:
            self.endpoint = json.load(answer)["userinfo_endpoint"]

    async def verify_token(self, token):
        return await anyio.to_thread.run_sync(self.verify, token)

    def verify(self, token):
        request = urllib.request.Request(self.endpoint, headers={"Authorization": f"Bearer {token}"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                claims = json.load(answer)
        except urllib.error.HTTPError:
            return None
        scopes = ["openid", "email"] if "email" in claims else ["openid"]
        return AccessToken(token=token, client_id="unknown", scopes=scopes, subject=claims["sub"], claims=claims)


def make(kind, port, *more):
    if kind != "protected":
        return MCPServer("Notes")
    return MCPServer(
        "Notes",
        token_verifier=Userinfo(*more),
        auth=AuthSettings(
            issuer_url=more[0],
            resource_server_url=f"http://127.0.0.1:{port}/mcp",
            required_scopes=["openid", "email"],
            validate_token_resource=False,
        ),
    )


def main(kind, port, *more):
    server = make(kind, port, *more)

    @server.tool()
    def echo(text: str) -> str:
        return text

    @server.tool()
    async def slow(seconds: float, ctx: Context) -> str:
        for step in range(int(seconds * 10)):
            await anyio.sleep(0.1)
            await ctx.report_progress(step, seconds * 10)
        return "done"

    @server.tool()
    def big(size: int) -> str:
        return "x" * size

    server.run("streamable-http", host="127.0.0.1", port=int(port), json_response=False, stateless_http=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
