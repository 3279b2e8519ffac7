"""An MCP server whose behaviour the test sets: it can lose sessions, break off streams and refuse tokens. It keeps the
requests that it receives."""

import http.server
import json
import threading


class Peer:
    def __init__(self):
        #: The received requests: method, headers, body.
        self.received = []
        self.has_sessions = True
        self.capabilities = {}
        self.sessions = set()
        #: Functions that get each request (handler, message), and return True if they answered it.
        self.acts = []
        self.numbers = 0
        self.listeners = []
        self._lock = threading.Lock()
        peer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def setup(self):
                super().setup()
                self.is_streaming = False

            def handle(self):
                try:
                    super().handle()
                except OSError:
                    pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                peer.serve(self, body)

            def do_GET(self):
                peer.serve(self, b"")

            def do_DELETE(self):
                peer.serve(self, b"")

            def reply(self, status, body=b"", **headers):
                body = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def stream(self, **headers):
                """Begins a stream of events, which ends with the connection."""
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.close_connection = True

            def event(self, data, identity=None, retry=None):
                text = "" if identity is None else f"id: {identity}\n"
                text += "" if retry is None else f"retry: {retry}\n"
                text += "data: " + (data if isinstance(data, str) else json.dumps(data)) + "\n\n"
                self.wfile.write(text.encode())
                self.wfile.flush()

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, *_):
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self._server.server_port}"
        self.url = self.origin + "/mcp"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        self._server.shutdown()
        self._server.server_close()

    def on(self, act):
        self.acts.append(act)
        return act

    def all(self, method):
        """The received requests with this JSON-RPC method or HTTP method."""
        return [row for row in list(self.received) if method in (row["http"], row["message"].get("method"))]

    def serve(self, handler, body):
        message = json.loads(body) if body else {}
        if isinstance(message, list):
            message = {"batch": message}
        row = {"http": handler.command, "headers": dict(handler.headers), "body": body, "message": message}
        self.received.append(row)
        for act in list(self.acts):
            if act(handler, message):
                return
        session = handler.headers.get("Mcp-Session-Id")
        method = message.get("method")
        if method == "initialize":
            with self._lock:
                self.numbers += 1
                session = f"session-{self.numbers}"
            self.sessions.add(session)
            more = {"Mcp_Session_Id": session} if self.has_sessions else {}
            result = {
                "protocolVersion": message["params"]["protocolVersion"], "capabilities": self.capabilities,
                "serverInfo": {"name": "peer", "version": "1"},
            }  # fmt: skip
            return handler.reply(200, self.result(message, result), Content_Type="application/json", **more)
        if self.has_sessions and session not in self.sessions and "_meta" not in message.get("params", {}):
            error = {"code": -32001, "message": "Session not found"}
            return handler.reply(404, {"jsonrpc": "2.0", "error": error, "id": None})
        if handler.command == "GET":
            return handler.reply(405)
        if handler.command == "DELETE":
            self.sessions.discard(session)
            return handler.reply(200)
        if "id" not in message or method is None:
            return handler.reply(202)
        answer = self.result(message, {"echo": message.get("params")})
        return handler.reply(200, answer, Content_Type="application/json")

    # Tokens.

    def protect(self, issuer, scope="openid email offline_access"):
        """From now on, every request needs a token, except a request for the metadata."""
        #: Tokens that are refused with 401.
        self.refused = set()
        #: Tokens that were accepted, in their order.
        self.accepted = []
        self.tokens_seen = []
        self.metadata = {
            "resource": self.url, "authorization_servers": [issuer],
            "scopes_supported": ["openid", "profile", "email", "offline_access"],
        }
        where = f'resource_metadata="{self.origin}/.well-known/oauth-protected-resource/mcp"'
        self.challenge = f'Bearer {where}, scope="{scope}"'
        self.step_up = f'Bearer error="insufficient_scope", {where}, scope="profile"'

        def act(handler, message):
            if handler.path.startswith("/.well-known/oauth-protected-resource"):
                handler.reply(200, self.metadata, Content_Type="application/json")
                self.received.pop()
                return True
            token = (handler.headers.get("Authorization") or "").removeprefix("Bearer ")
            if token and token not in self.tokens_seen:
                self.tokens_seen.append(token)
            if not token or token in self.refused:
                handler.reply(401, b"", WWW_Authenticate=self.challenge)
                return True
            return False

        self.acts.insert(0, act)

    @staticmethod
    def result(message, result):
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}
