"""An MCP server for the tests: `server.py PORT`, with PyPI's `mcp`, which speaks the protocol up to 2025-11-25 and that
of 2026-07-28. It needs no token."""

import sys

import anyio
from mcp.server.mcpserver import Context, MCPServer


def main(port):
    server = MCPServer("Notes")

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
