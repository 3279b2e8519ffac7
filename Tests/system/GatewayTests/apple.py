"""A strict double of Apple at its own address: a TLS server that the gateway reaches by a proxy, and the page from
which Apple's form comes. The double follows Apple's documents; it was never compared with the service
itself."""

import base64
import hashlib
import html
import json
import os
import socket
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

ISSUER = "https://appleid.apple.com"
CLIENT, TEAM, KEY_ID = "com.example.service", "TEAM123456", "KEY1234567"
SIX_MONTHS = 15_777_000


class Refused(Exception):
    pass


class Apple:
    """The provider, with one client."""

    def __init__(self, certificates, redirect_uri):
        certificates._issue("apple", "ca", "appleid.apple.com")
        self.redirect_uri = redirect_uri
        self.client_key = ECKey.generate_key("P-256")
        self.key = RSAKey.generate_key(2048, {"kid": "apple-1", "alg": "RS256", "use": "sig"})
        self.codes, self.known, self.refusals, self.revoked = {}, set(), [], []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"apple": self}))
        self._server.socket = certificates.context("apple").wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.proxy = _Proxy({"appleid.apple.com:443": self._server.server_port})

    def close(self):
        self.proxy.close()
        self._server.shutdown()
        self._server.server_close()

    @property
    def pem(self):
        return self.client_key.as_pem(private=True).decode()

    def notification(self, kind, **changes):
        now = int(time.time())
        events = json.dumps({"type": kind, "sub": "001.alice", "event_time": now * 1000})
        claims = {"iss": ISSUER, "aud": CLIENT, "iat": now, "jti": os.urandom(8).hex(), "events": events, **changes}
        return {"payload": jwt.encode({"alg": "RS256", "kid": "apple-1"}, claims, self.key)}

    # The endpoints.

    def document(self):
        return {
            "issuer": ISSUER, "authorization_endpoint": f"{ISSUER}/auth/authorize",
            "token_endpoint": f"{ISSUER}/auth/token", "revocation_endpoint": f"{ISSUER}/auth/revoke",
            "jwks_uri": f"{ISSUER}/auth/keys", "response_types_supported": ["code"],
            "response_modes_supported": ["query", "fragment", "form_post"], "subject_types_supported": ["pairwise"],
            "id_token_signing_alg_values_supported": ["RS256"], "scopes_supported": ["openid", "email", "name"],
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }  # fmt: skip

    def page(self, url):
        """The page of the authorize URL. Its button sends a form to the client."""
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query, strict_parsing=True))
        if asked.get("client_id") != CLIENT or asked.get("redirect_uri") != self.redirect_uri:
            return "<!doctype html><title>Apple</title><h1>invalid_client</h1>"
        if asked.get("response_mode") != "form_post":
            return "<!doctype html><title>Apple</title><h1>response_mode must be form_post</h1>"
        code = os.urandom(16).hex()
        self.codes[code] = asked
        fields = {"code": code, "state": asked["state"]}
        if "alice" not in self.known:
            self.known.add("alice")
            fields["user"] = json.dumps({"name": {"firstName": "Alice", "lastName": "Example"},
                                         "email": "x7f3@privaterelay.appleid.com"})  # fmt: skip
        inputs = "".join(f'<input type="hidden" name="{name}" value="{html.escape(value)}">'
                         for name, value in fields.items())  # fmt: skip
        return (f'<!doctype html><title>Apple</title><form method="post" action="{html.escape(self.redirect_uri)}">'
                f"{inputs}<button>Continue at Apple</button></form>")  # fmt: skip

    def token(self, form):
        self._check_client(form)
        asked = self.codes.pop(form.get("code"), None)
        if asked is None or form.get("redirect_uri") != self.redirect_uri:
            raise Refused("invalid_grant")
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != asked["code_challenge"]:
            raise Refused("invalid_grant")
        now = int(time.time())
        claims = {
            "iss": ISSUER, "aud": CLIENT, "sub": "001.alice", "iat": now, "exp": now + 86_400,
            "nonce": asked["nonce"], "nonce_supported": True, "email": "x7f3@privaterelay.appleid.com",
            "email_verified": "true", "is_private_email": "true", "auth_time": now,
        }  # fmt: skip
        return {
            "access_token": os.urandom(16).hex(), "token_type": "Bearer", "expires_in": 3600,
            "refresh_token": "r." + os.urandom(16).hex(),
            "id_token": jwt.encode({"alg": "RS256", "kid": "apple-1"}, claims, self.key),
        }  # fmt: skip

    def revoke(self, form):
        self._check_client(form)
        self.revoked.append(form["token"])
        return {}

    def _check_client(self, form):
        """See Apple, "Creating a client secret"."""
        if form.get("client_id") != CLIENT:
            raise Refused("client_id")
        try:
            secret = jwt.decode(form["client_secret"], self.client_key, algorithms=["ES256"])
        except Exception as error:
            raise Refused(f"client_secret: {error}") from error
        now, claims = time.time(), secret.claims
        if secret.header.get("kid") != KEY_ID or claims.get("iss") != TEAM or claims.get("sub") != CLIENT:
            raise Refused("kid, iss or sub of the client secret")
        if claims.get("aud") != ISSUER or claims["iat"] > now or not now < claims["exp"] <= now + SIX_MONTHS:
            raise Refused("aud, iat or exp of the client secret")


class _Handler(BaseHTTPRequestHandler):
    apple = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        answers = {
            "/.well-known/openid-configuration": self.apple.document,
            "/auth/keys": lambda: {"keys": [self.apple.key.as_dict(private=False)]},
        }
        make = answers.get(self.path)
        self._answer(200 if make else 404, make() if make else {})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = dict(urllib.parse.parse_qsl(body, keep_blank_values=True, strict_parsing=True))
        make = {"/auth/token": self.apple.token, "/auth/revoke": self.apple.revoke}.get(self.path)
        try:
            self._answer(200 if make else 404, make(form) if make else {})
        except Refused as refused:
            self.apple.refusals.append(str(refused))
            self._answer(400, {"error": "invalid_client"})

    def _answer(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class _Proxy:
    """A proxy that connects a known name to a local port (CONNECT, RFC 9110 §9.3.6), and refuses every other name."""

    def __init__(self, ports):
        self._ports = ports
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            more = client.recv(4096)
            if not more:
                return client.close()
            head += more
        words = head.split(b" ")
        port = self._ports.get(words[1].decode()) if words[0] == b"CONNECT" else None
        if port is None:
            client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            return client.close()
        server = socket.create_connection(("127.0.0.1", port))
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        threading.Thread(target=_copy, args=(client, server), daemon=True).start()
        _copy(server, client)


def _copy(source, sink):
    try:
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        source.close()
        sink.close()
