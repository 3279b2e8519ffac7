"""A back end of an app (flows.md §10) without users: it issues a session of any length for a code and its verifier.
The real back end is `enroll-gateway`; Tests/system/GatewayTests tests the whole flow with it."""

import base64
import hashlib
import json
import secrets
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from sandbox import CUSTOM


class BackEnd:
    def __init__(self, session_seconds=300, port=0):
        """With port 0 the system chooses a free port."""
        self.session_seconds = session_seconds
        self._challenges = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", port), type("Handler", (_Handler,), {"back_end": self}))
        self.base = f"http://127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def play(self, url):
        """The redirect to the app, as if the browser had opened `url` and the user had signed in."""
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
        code = secrets.token_urlsafe(32)
        self._challenges[code] = query["code_challenge"]
        answer = urllib.parse.urlencode({"code": code, "state": query["state"]})
        return f"{query.get('redirect_uri', CUSTOM)}?{answer}"

    def redeem(self, code, verifier):
        """Redeems a code, which works only once; returns the session, or None if code or verifier is wrong."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        if self._challenges.pop(code, None) != challenge:
            return None
        return {"session_token": secrets.token_urlsafe(32), "expires_in": self.session_seconds}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    back_end: BackEnd

    def do_POST(self):
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        session = self.path.endswith("/redeem") and self.back_end.redeem(given["code"], given["code_verifier"])
        body = json.dumps(session or {"error": "invalid_grant"}).encode()
        self.send_response(200 if session else 400)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
