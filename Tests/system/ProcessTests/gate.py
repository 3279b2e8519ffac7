"""A token endpoint in front of the sandbox's own. It passes requests on to that endpoint, but can hold one
request at a chosen point."""

import http.client
import http.server
import json
import threading
import urllib.parse
import urllib.request

WHERE = ("request", "answer", "half")


class Gate:
    """`stop(point)` holds the next request at this point: `request`, `answer` or `half`. `reached()` waits until a
    request is held there; `release()` lets it end.

    request: the request has arrived, and the provider never gets it
    answer: the provider has answered, and the client gets nothing before the release
    half: the client gets half of the answer, and never the rest
    """

    def __init__(self, sandbox):
        with urllib.request.urlopen(f"{sandbox.issuer}/.well-known/openid-configuration", timeout=30) as answer:
            self._metadata = json.load(answer)
        self._stop = None
        self._lock = threading.Lock()
        gate = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # This makes the server send head and body in one piece.
            wbufsize = -1

            def do_POST(self):
                gate._serve(self)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def endpoints(self):
        """The endpoints for a configuration, which replace discovery."""
        names = {
            "authorizationEndpoint": "authorization_endpoint",
            "jwksUri": "jwks_uri",
            "revocationEndpoint": "revocation_endpoint",
        }
        port = self._server.server_address[1]
        found = {name: self._metadata[key] for name, key in names.items()}
        return {**found, "tokenEndpoint": f"http://127.0.0.1:{port}/token"}

    def stop(self, where):
        assert where in WHERE
        with self._lock:
            self._stop = where
            self._arrived, self._released = threading.Event(), threading.Event()

    def reached(self, timeout=30):
        if not self._arrived.wait(timeout):
            raise AssertionError("no request came to the gate")

    def release(self):
        self._released.set()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, request):
        body = request.rfile.read(int(request.headers["Content-Length"]))
        with self._lock:
            where, self._stop = self._stop, None
            arrived, released = (self._arrived, self._released) if where else (None, None)
        if where == "request":
            arrived.set()
            released.wait()
            request.close_connection = True
            return
        status, headers, content = self._forward(request, body)
        if where == "answer":
            arrived.set()
            released.wait()
        request.send_response(status)
        request.send_header("Content-Type", headers["Content-Type"])
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content[: len(content) // 2] if where == "half" else content)
        try:
            request.wfile.flush()
        except OSError:
            request.close_connection = True
        if where == "half":
            arrived.set()
            released.wait()
            request.close_connection = True

    def _forward(self, request, body):
        target = urllib.parse.urlsplit(self._metadata["token_endpoint"])
        connection = http.client.HTTPConnection(target.netloc, timeout=60)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in ("host", "expect")}
        connection.request("POST", target.path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.headers, content
