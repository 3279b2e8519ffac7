"""One run of a scenario: `host_client.py URL`, as the conformance tests start it. It plays the host of
`enroll mcp URL`, which knows nothing about HTTP or tokens, and calls every tool in the list. A program that follows
redirects plays the browser.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path += [str(HERE.parents[1]), *(str(HERE.parents[3] / part) for part in ("faces/CommandTests", "faces/Support"))]

import host  # noqa: E402: in MCPTests
from detached import end_sign_ins  # noqa: E402

#: The client id that the tests expect of a client with a metadata document. No server exists at this address.
METADATA = "https://conformance-test.local/client-metadata.json"
#: The first version of the protocol without a handshake.
STATELESS = "2026-07-28"
#: The protocol's error for a version that the server does not support. Its data names the supported versions.
UNSUPPORTED_VERSION = -32022
#: How many seconds the bridge waits for a sign-in. A short time is enough, because the simulated browser answers at
#: once.
WAIT = "15"
CAPABILITIES = {"elicitation": {}}


class Refused(Exception):
    """A request got an error."""


def log(*words):
    print(*words, file=sys.stderr, flush=True)


def visit(url):
    try:
        with urllib.request.urlopen(url, timeout=20) as page:
            log("browser:", page.status)
    except (urllib.error.URLError, OSError) as error:
        log("browser:", error)


class Scenario:
    def __init__(self, url):
        self.home = Path(os.environ["MCP_CONFORMANCE_DIR"]).resolve()
        self.context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
        self.version = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "2025-11-25")
        browser = self.home / "browser"
        browser.write_text(f'#!/bin/sh\nexec {sys.executable} -B {HERE} --browser "$1"\n')
        browser.chmod(0o755)
        self.environment = {
            "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(self.home), "BROWSER": str(browser),
        }  # fmt: skip
        self.host = host.Host(self.environment, url, *self.options(), log=self.home / "bridge.log")
        threading.Thread(target=self.answer_server, daemon=True).start()

    def options(self):
        words = ["--wait", WAIT, "--sign-in", "auto"]
        if "client_id" not in self.context:
            return [*words, "--client-metadata", METADATA]
        words += ["--client-id", self.context["client_id"]]
        if "client_secret" in self.context:
            secret = self.home / "secret"
            secret.write_text(self.context["client_secret"])
            words += ["--client-secret-file", str(secret)]
        return words

    # Messages.

    def answer_server(self):
        """Answers each question of the server with the defaults of its form."""
        while True:
            message = self.host.other(lambda message: "method" in message and "id" in message, timeout=3600)
            fields = message["params"].get("requestedSchema", {}).get("properties", {})
            content = {name: field["default"] for name, field in fields.items() if "default" in field}
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"action": "accept", "content": content}}
            self.host.write(json.dumps(answer))

    def request(self, method, **params):
        for _ in range(3):
            if self.version >= STATELESS:
                params["_meta"] = {**host.META, "io.modelcontextprotocol/protocolVersion": self.version,
                                   "io.modelcontextprotocol/clientCapabilities": CAPABILITIES}  # fmt: skip
            answer = self.host.ask(method, params)
            log(method, json.dumps(answer)[:400])
            if "error" not in answer:
                return answer["result"]
            if not self.accepts(answer["error"]):
                break
        if "enrollkit" not in (answer["error"].get("data") or {}) and method == "tools/call":
            # The error is accepted, because it comes from the server, not from EnrollKit: some servers have tools that
            # cannot be called.
            return {}
        raise Refused(f"{method}: {answer['error']}")

    def accepts(self, error):
        """Does what a user or a host would do about an error.
        - Returns: whether the request is worth another attempt."""
        supported = (error.get("data") or {}).get("supported")
        if error["code"] == UNSUPPORTED_VERSION and supported:
            self.version = supported[-1]
            return True
        # The simulated user trusts any server that the resource names.
        moved = re.search(r"names the authorization server (\S+) now", error["message"])
        command = (error.get("data") or {}).get("enrollkit", {}).get("command")
        if not moved or not command:
            return False
        words = [os.environ["ENROLL"], *shlex.split(command)[1:], "--again", "--yes", "--issuer", moved[1]]
        done = subprocess.run(words, env=self.environment, stdin=subprocess.DEVNULL, timeout=40)
        return done.returncode == 0

    # The first requests of every host.

    def run(self):
        if self.version >= STATELESS:
            offers = self.request("server/discover").get("capabilities") or {}
        else:
            hello = {**host.HELLO, "protocolVersion": self.version, "capabilities": CAPABILITIES}
            offers = self.request("initialize", **hello).get("capabilities") or {}
            self.host.send("notifications/initialized")
        tools = self.request("tools/list").get("tools", [])
        if os.environ.get("MCP_CONFORMANCE_SCENARIO", "").startswith("elicitation"):
            # The server asks its questions only while the stream for its own messages is open. A host cannot see that
            # stream, so it waits.
            time.sleep(1)
        wanted = {call["name"]: call.get("arguments") or {} for call in self.context.get("toolCalls") or []}
        schemas = [tool["inputSchema"] for tool in tools if tool.get("inputSchema")]
        for tool in tools:
            if not wanted or tool["name"] in wanted:
                self.call(tool["name"], wanted.get(tool["name"]) or arguments_of(tool, schemas))
        for kind, key, read in (("resources", "uri", "resources/read"), ("prompts", "name", "prompts/get")):
            for item in (self.request(f"{kind}/list").get(kind) if kind in offers else [])[:1]:
                self.request(read, **{key: item[key]})

    def call(self, name, arguments):
        more = {}
        for _ in range(5):
            result = self.request("tools/call", name=name, arguments=arguments, **more)
            if result.get("resultType") != "input_required":
                return
            more = {"inputResponses": {
                key: {"action": "accept", "content": dict.fromkeys(
                    (question.get("params") or {}).get("requestedSchema", {}).get("properties", {}), True)}
                for key, question in (result.get("inputRequests") or {}).items()}}  # fmt: skip
            if "requestState" in result:
                more["requestState"] = result["requestState"]

    def end(self):
        try:
            status, _ = self.host.end()
            if status:
                raise Refused(f"the bridge ended with status {status}")
        finally:
            self.host.close()
            end_sign_ins(self.home)


def arguments_of(tool, schemas):
    """A value of the right type for each argument that the tool requires. An argument that is an object gets
    the schema of a tool, because one scenario expects its schema back unchanged."""
    schema = tool.get("inputSchema") or {}
    samples = {"number": 2, "integer": 2, "boolean": True, "object": schemas[0] if schemas else {}}
    return {
        name: samples.get((schema.get("properties", {}).get(name) or {}).get("type"), "x")
        for name in schema.get("required") or []
    }


def main():
    if sys.argv[1] == "--browser":
        return visit(sys.argv[2])
    scenario = Scenario(sys.argv[1])
    try:
        scenario.run()
    except Refused as refusal:
        return str(refusal)
    finally:
        scenario.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
