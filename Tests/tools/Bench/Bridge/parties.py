"""The participants in a measurement of bridges: the authorization server, the MCP server, the person with a browser,
and the bridges that are compared."""

import base64
import http.cookiejar
import json
import os
import random
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

TOP = Path(__file__).resolve().parents[4]
sys.path += [str(TOP / "Tests/faces/Support"), str(TOP / "Tests/system/MCPTests")]

from detached import end_sign_ins  # noqa: E402: in MCPTests
from peer import Peer  # noqa: E402: in MCPTests
from processes import Child, free_port, is_listening, wait_until, workspace  # noqa: E402: in Support

REAL = Path(os.environ.get("ENROLLKIT_REAL") or TOP.parent / "shared/real")
ENROLL = os.environ.get("ENROLL") or str(TOP / "build/lib/enroll")
STDIO = os.environ.get("MCP_STDIO") or str(TOP / ".build/bench-mcp/stdio/bin/mcp-stdio")
PROXY = os.environ.get("MCP_PROXY") or str(TOP / ".build/bench-mcp/proxy/bin/mcp-proxy")
READ, WRITE = "mcp:read", "mcp:write"
#: Each client gets a refresh token, which may be used once; a second use ends the grant. The provider's pages need no
#: input, so the person only waits.
PROVIDER = {
    "registration": "open", "scopes": ["openid", "offline_access", "profile", "email", READ, WRITE],
    "anyResource": {"scope": f"{READ} {WRITE}", "format": "jwt"}, "refresh": "always", "auto": "alice",
}  # fmt: skip


class Provider:
    """node-oidc-provider, behind the recorder of the real servers, which delays answers."""

    def __init__(self):
        port, self._upstream = free_port(), free_port()
        self.origin = f"http://127.0.0.1:{port}"
        folder, self._log = REAL / "oidc-provider", workspace("provider") / "log"
        self._words = {
            "provider": ["node", "--no-warnings", folder / "server.mjs", self._upstream, "--issuer", self.origin,
                         "--set", json.dumps(PROVIDER)],
            "recorder": [sys.executable, "-B", REAL / "rec.py", port, self._upstream, self._log.with_name("exchanges")],
        }  # fmt: skip
        self._start()

    def _start(self):
        self._children = [Child(words, self._log.with_name(name)) for name, words in self._words.items()]
        self._children[0].wait_for(self._answers, "the provider answers")
        self._children[1].wait_for(lambda: is_listening(int(self.origin.rpartition(":")[2])), "the recorder listens")

    def restart(self):
        """Restarts the provider: it forgets all users and clients, and the faults that did not occur yet."""
        for child in self._children:
            child.stop()
        self._start()

    def _answers(self):
        try:
            return self.control("health")
        except OSError:
            return None

    def control(self, name, body=None, **query):
        url = f"http://127.0.0.1:{self._upstream}/__op/{name}?{urllib.parse.urlencode(query)}"
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(url, data), timeout=20) as answer:
            return json.loads(answer.read())

    def begin(self, lifetime):
        """Forgets all users and clients. From now on access tokens live `lifetime` seconds."""
        self.control("reset")
        self.control("config", {"ttl": {"AccessToken": lifetime}})
        self.counts = dict.fromkeys(("registrations", "renewals", "reuses", "token requests"), 0)
        self.control("events")
        self.control("requests")

    def count(self):
        """Counts the requests since `begin`. It must be called often enough: the server keeps only the last 2,000
        events."""
        for event in self.control("events"):
            self.counts["renewals"] += event["event"] == "refresh_token.consumed"
            self.counts["reuses"] += "already used" in f"{event.get('detail')}"
        for row in self.control("requests"):
            self.counts["registrations"] += (row["method"], row["path"]) == ("POST", "/reg")
            self.counts["token requests"] += (row["method"], row["path"]) == ("POST", "/token")
        return self.counts

    def fault(self, kind, times, **more):
        """Sets a fault for the next requests for a token. `status`: they fail with this status. `drop`: they succeed,
        but their answers are lost."""
        self.control("fault", kind=kind, path="/token", n=times, **more)

    def slow(self, times, seconds):
        """The server processes the next requests for a token at once, but sends the answers after this many seconds."""
        urllib.request.urlopen(f"{self.origin}/__rec/slow?path=/token&n={times}&s={seconds}", timeout=10).close()

    def sign_out(self):
        self.control("end-sessions")
        self.control("revoke-grants")


class Notes(Peer):
    """An MCP server that requires the provider's access tokens or, without a provider, requires no token."""

    TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("read", "write", "slow", "big")]

    def __init__(self, provider=None):
        super().__init__()
        self.capabilities = {"tools": {}, "logging": {}}
        self.refused, self.tokens = set(), set()
        self.answers_raw = None
        #: The method and path of every request, including requests for metadata.
        self.asked = []
        # With Nagle's algorithm, the second piece of an answer would wait 40 ms for an acknowledgement.
        self._server.RequestHandlerClass.disable_nagle_algorithm = True
        if provider:
            self.metadata = {"resource": self.url, "authorization_servers": [provider.origin],
                             "scopes_supported": [READ, WRITE], "bearer_methods_supported": ["header"]}  # fmt: skip
        self.is_open = provider is None
        self.on(self.metadata_act)
        self.on(self.token_act)
        self.on(self.tool_act)

    def use(self, context):
        """Speaks TLS from now on."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = self.url.replace("http:", "https:", 1)

    def metadata_act(self, handler, message):
        self.asked.append((handler.command, handler.path, message.get("method")))
        if not handler.path.startswith("/.well-known/"):
            return False
        self.received.pop()
        if self.is_open or "oauth-protected-resource" not in handler.path:
            handler.reply(404)
        else:
            handler.reply(200, self.metadata, Content_Type="application/json")
        return True

    def token_act(self, handler, message):
        if self.is_open:
            return False
        where = f'resource_metadata="{self.origin}/.well-known/oauth-protected-resource/mcp"'
        token = (handler.headers.get("Authorization") or "").removeprefix("Bearer ")
        claims = self.claims(token)
        if not claims or token in self.refused or claims["exp"] < time.time() or self.url not in claims["aud"]:
            error = 'error="invalid_token", ' if token else ""
            handler.reply(401, WWW_Authenticate=f'Bearer {error}{where}, scope="{READ}"')
            return True
        self.tokens.add(token)
        wants = message.get("params", {}).get("name") if message.get("method") == "tools/call" else None
        if wants == "write" and WRITE not in claims.get("scope", "").split():
            handler.reply(403, WWW_Authenticate=f'Bearer error="insufficient_scope", {where}, scope="{WRITE}"')
            return True
        return False

    @staticmethod
    def claims(token):
        """The claims of a token. The signature is not checked, because the provider is a part of this bench."""
        try:
            body = token.split(".")[1]
            return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        except (IndexError, ValueError):
            return None

    def refuse_all(self):
        """From now on refuses every token that was used so far."""
        self.refused |= self.tokens

    def tool_act(self, handler, message):
        method, params = message.get("method"), message.get("params") or {}
        if "id" not in message or not self.is_known(handler, method):
            return False
        if method == "tools/list":
            handler.reply(200, self.result(message, {"tools": self.TOOLS}), Content_Type="application/json")
            return True
        if method != "tools/call":
            return False
        tool, arguments = params.get("name"), params.get("arguments") or {}
        act = getattr(self, f"do_{tool}", None)
        return bool(act) and act(handler, message, arguments) is not False

    def is_known(self, handler, method):
        return method != "initialize" and handler.headers.get("Mcp-Session-Id") in self.sessions

    def content(self, message, text):
        return self.result(message, {"content": [{"type": "text", "text": text}]})

    def do_slow(self, handler, message, arguments):
        handler.stream()
        handler.wfile.write(b": begins\n\n")
        time.sleep(arguments["seconds"])
        handler.event(self.content(message, "done"))

    def do_big(self, handler, message, arguments):
        handler.stream()
        handler.event(self.content(message, "x" * arguments["size"]))

    def do_flood(self, handler, message, arguments):
        """Sends many large notifications, which the host may stop reading, and then the result."""
        handler.stream()
        line = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 65536}}
        for _ in range(arguments["count"]):
            handler.event(line)
        handler.event(self.content(message, "done"))

    def do_cut(self, handler, message, arguments):
        handler.stream()
        handler.wfile.write(b"data: {")
        handler.wfile.flush()

    def do_empty(self, handler, message, arguments):
        handler.stream()

    def do_accepted(self, handler, message, arguments):
        handler.reply(202)

    def do_raw(self, handler, message, arguments):
        """Answers with the text for this request, unchanged: as JSON, or as an event in any framing that SSE allows."""
        chance = random.Random(message["id"])
        body = b'{"jsonrpc":"2.0","id":%d,"result":%s}' % (message["id"], self.answers_raw[message["id"]])
        if chance.randrange(2):
            return handler.reply(200, body, Content_Type="application/json")
        handler.stream()
        self.send_in_pieces(handler, framed(body, chance), chance)

    @staticmethod
    def send_in_pieces(handler, data, chance):
        while data:
            size = chance.choice((1, 2, 7, 100, 4096))
            handler.wfile.write(data[:size])
            data = data[size:]


def framed(body, chance):
    """A server-sent event with this data, in a random framing."""
    end = chance.choice((b"\n", b"\r\n", b"\r"))
    space = chance.choice((b" ", b""))
    # One space after the colon is not part of the data.
    lines = [b"data:" + (b" " if line[:1] == b" " else space) + line for line in body.split(b"\n")]
    for line in (b": a comment", b"event: message", b"id: %d" % chance.randrange(99), b"unknown: x", b"retry: 1000"):
        if not chance.randrange(3):
            lines.insert(chance.randrange(len(lines) + 1), line)
    return chance.choice((b"", b"\xef\xbb\xbf", b": begins" + end + end)) + end.join(lines) + end + end


class Staying(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Person:
    """A person with a browser that keeps cookies. Each address that a bridge opens becomes a tab, and loads at once.
    When `may_go` is set, the person goes from tab to tab, and needs `delay` seconds for each page."""

    def __init__(self, delay=0.0):
        self.delay = delay
        self.may_go = threading.Event()
        self.may_go.set()
        self._hands = threading.Lock()
        self.tabs, self.dead, self.done_at, self.words = [], 0, [], []
        folder = workspace("person")
        self._pipe = folder / "tabs"
        os.mkfifo(self._pipe)
        self.program = folder / "xdg-open"
        self.program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$1\" >'{self._pipe}'\n")
        self.program.chmod(0o755)
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._browser = urllib.request.build_opener(jar)
        self._loader = urllib.request.build_opener(jar, Staying)
        # The pipe is also open for writing here, so reading does not end when a bridge closes its end.
        self._tabs = os.fdopen(os.open(self._pipe, os.O_RDWR), "r")
        threading.Thread(target=self._sit, daemon=True).start()

    def _sit(self):
        for line in self._tabs:
            self.tabs.append(line.strip())
            threading.Thread(target=self._sign_in, args=[line.strip()], daemon=True).start()

    def _sign_in(self, url):
        page = self._load(url)
        self.may_go.wait()
        with self._hands:
            time.sleep(self.delay)
            self._go_on(page)

    def _load(self, url):
        """Returns the address of the page on which the person signs in."""
        try:
            self._loader.open(url, timeout=30).close()
        except urllib.error.HTTPError as answer:
            with answer:
                return urllib.parse.urljoin(url, answer.headers.get("Location") or url)
        except OSError:
            pass
        return url

    def _go_on(self, url):
        try:
            with self._browser.open(url, timeout=30) as page:
                self.words.append(f"{page.status} {page.url[:60]}")
        except (OSError, urllib.error.URLError) as error:
            # The bridge does not listen any more, so this sign-in had no effect.
            self.dead += 1
            self.words.append(str(error))
        self.done_at.append(time.monotonic())

    def wait_for_tabs(self, count, timeout=60):
        wait_until(lambda: len(self.tabs) >= count, f"{count} tabs", timeout=timeout)


class Contender:
    """A bridge that is compared, and how a host starts it."""

    def __init__(self, name, words, open_words=None):
        self.name, self.words, self.open_words = name, words, open_words or words

    def command(self, url, is_open=False):
        return [word.format(url=url) for word in (self.open_words if is_open else self.words)]

    @property
    def is_there(self):
        return Path(self.words[0]).exists()


CONTENDERS = {
    "enroll": Contender("enroll", [ENROLL, "mcp", "{url}", "--allow-loopback-http", "--sign-in", "auto"]),
    "mcp-remote": Contender("mcp-remote", [str(REAL / "mcp-remote/run"), "{url}", "--silent"]),
    # mcp-stdio does not request the scopes that the server names, so they are options here.
    "mcp-stdio": Contender(
        "mcp-stdio", [STDIO, "--oauth", "--oauth-scope", f"{READ} offline_access", "{url}"], [STDIO, "{url}"]),
    # mcp-proxy cannot sign a user in.
    "mcp-proxy": Contender("mcp-proxy", [PROXY, "--transport", "streamablehttp", "{url}"]),
}

__all__ = ["CONTENDERS", "ENROLL", "REAL", "TOP", "WRITE", "Contender", "Notes", "Person", "Provider", "end_sign_ins"]
