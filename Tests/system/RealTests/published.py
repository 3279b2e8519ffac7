"""Serves documents of the tests to the servers and to EnrollKit, until this process ends."""

import functools
import http.server
import json
import threading

_documents = {}


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        document = _documents.get(self.path)
        body = json.dumps(document).encode()
        self.send_response(404 if document is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@functools.cache
def origin():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def publish(path, document):
    """- Returns: the document's URL."""
    _documents[path] = document
    return origin() + path
