"""A small client of the Model Context Protocol over Streamable HTTP, with only what tests of tokens need: it
initializes, lists the server's tools, and calls each of them. An object of type `Credentials` provides the
headers, and is asked for new ones when a server refuses a request.
"""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Protocol

#: The first version without a handshake. In it, every request contains the data that only `initialize` contains in
#: earlier versions.
STATELESS = "2026-07-28"
MEMBERS = "io.modelcontextprotocol/"
SELF = {"name": "enrollkit-conformance", "version": "1"}
#: How many times new credentials are requested for one request, for any reason.
TRIES = 2


class Refused(Exception):
    """Raised if the server refuses a request and new credentials cannot help."""


class Credentials(Protocol):
    def headers(self, method: str, url: str) -> dict:
        """The headers of a request; empty before the first sign-in."""

    def obtain(self, status: int, challenge: str) -> None:
        """Gets new credentials after a 401 or 403; `challenge` is its WWW-Authenticate."""

    def take_nonce(self, nonce: str) -> bool:
        """Keeps a nonce for the next proof; returns False if these credentials make no proofs, or if this
        nonce was already used."""


@dataclass
class Answer:
    status: int
    headers: dict
    messages: list

    @property
    def result(self):
        return next((message["result"] for message in self.messages if "result" in message), {})


class Client:
    def __init__(self, url: str, version: str, credentials: Credentials):
        self.url, self.version, self.credentials = url, version, credentials
        self._session, self._number = None, 0

    def run(self):
        """The first requests of every host."""
        if self.version >= STATELESS:
            self.request("server/discover")
        else:
            self.request("initialize", protocolVersion=self.version, capabilities={}, clientInfo=SELF)
            self.notify("notifications/initialized")
        for tool in self.request("tools/list").get("tools", []):
            self.request("tools/call", name=tool["name"], arguments=arguments_of(tool))

    def request(self, method, **parameters):
        self._number += 1
        return self._exchange({"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}).result

    def notify(self, method):
        self._exchange({"jsonrpc": "2.0", "method": method, "params": {}})

    def _exchange(self, message):
        headers = self._describe(message)
        tries = 0
        while True:
            answer = self._send(message, {**headers, **self.credentials.headers("POST", self.url)})
            if answer.status < 400:
                self._session = answer.headers.get("mcp-session-id", self._session)
                return answer
            challenge = answer.headers.get("www-authenticate", "")
            if answer.status == 401 and "use_dpop_nonce" in challenge:
                if self.credentials.take_nonce(answer.headers.get("dpop-nonce", "")):
                    continue
            if answer.status not in (401, 403) or tries == TRIES:
                raise Refused(f"{message['method']}: status {answer.status}")
            tries += 1
            self.credentials.obtain(answer.status, challenge)

    def _describe(self, message):
        headers = {"MCP-Protocol-Version": self.version}
        if self._session:
            headers["Mcp-Session-Id"] = self._session
        if self.version >= STATELESS:
            message["params"]["_meta"] = {
                f"{MEMBERS}protocolVersion": self.version,
                f"{MEMBERS}clientInfo": SELF,
                f"{MEMBERS}clientCapabilities": {},
            }
            headers["Mcp-Method"] = message["method"]
            if "name" in message["params"]:
                headers["Mcp-Name"] = message["params"]["name"]
        return headers

    def _send(self, message, headers):
        request = urllib.request.Request(
            self.url,
            json.dumps(message).encode(),
            {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return read(response, message.get("id"))
        except urllib.error.HTTPError as refusal:
            with refusal:
                return read(refusal, None)


def read(response, number):
    """Reads the answer, until the message that has this request id."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    if not headers.get("content-type", "").startswith("text/event-stream"):
        try:
            return Answer(response.status, headers, [json.loads(response.read())])
        except ValueError:
            return Answer(response.status, headers, [])
    messages = []
    for line in response:
        name, _, value = line.decode().strip().partition(":")
        if name == "data" and value.strip():
            messages.append(json.loads(value))
            if messages[-1].get("id") == number:
                break
    return Answer(response.status, headers, messages)


def arguments_of(tool):
    """A value of the right type for each argument that the tool requires."""
    schema = tool.get("inputSchema", {})
    samples = {"number": 2, "integer": 2, "boolean": True}
    return {
        name: samples.get(schema.get("properties", {}).get(name, {}).get("type"), "x")
        for name in schema.get("required", [])
    }
