"""An MCP server for the tests: `server.py PORT [sse]`, with PyPI's `mcp`. It speaks 2026-07-28 and the versions up to
2025-11-25; with `sse` it speaks HTTP+SSE of 2024-11-05. It needs no token."""

import sys
from typing import Annotated

import anyio
from mcp.server.mcpserver import Context, MCPServer
from pydantic import Field


def main(port, transport="streamable-http"):
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

    @server.tool()
    def where(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
        return region

    if transport == "sse":
        server.run("sse", host="127.0.0.1", port=int(port))
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(port), json_response=False, stateless_http=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
