"""The MCP server of `resource/server.py`, started together with a provider, and a client's call of its tool."""

from pathlib import Path

import httpx

from processes import TOP, Child, free_port

_PYTHON = TOP / ".build/providers/resource/bin/python"


class MCPServer:
    def __init__(self, provider, directory):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.metadata = f"http://127.0.0.1:{self.port}/.well-known/oauth-protected-resource/mcp"
        metadata = httpx.get(provider.discovery).json()
        asked = [metadata["userinfo_endpoint"]]
        if provider.resource_client:
            asked += [metadata["introspection_endpoint"], *provider.resource_client]
        server = Path(__file__).with_name("resource") / "server.py"
        self._child = Child([_PYTHON, "-B", server, self.port, provider.issuer, *asked], directory / "log")
        self._child.wait_for(self._answers, "the MCP server answers", timeout=60)

    def stop(self):
        self._child.stop()

    def call(self, token=None):
        """The result of the tool `whoami`, or the status of the refusal."""
        answer = httpx.post(
            self.url,
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "whoami", "arguments": {}}},
            headers={
                "Accept": "application/json, text/event-stream",
                **({"Authorization": f"Bearer {token}"} if token else {}),
            },
        )
        if answer.status_code != 200:
            return answer.status_code
        return answer.json()["result"]["content"][0]["text"]

    def _answers(self):
        try:
            return httpx.get(self.metadata).status_code == 200
        except httpx.TransportError:
            return False
