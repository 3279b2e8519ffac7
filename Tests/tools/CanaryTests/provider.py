"""A provider that makes all its secrets recognisable, and records the secrets that the client sends, so that
the tests know every secret. It can answer with the faults of real servers, with secrets in every part of the
answer."""

import base64
import http.server
import json
import secrets
import subprocess
import tempfile
import threading
import time
import urllib.parse


def _text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Provider:
    # The faults that the attribute `fault` can name. The attribute determines the next answer of the token endpoint;
    # None means a correct answer.
    FAULTS = ("echo", "echo500", "cut", "types", "html", "nonce", "header", "redirect")

    def __init__(self, canaries):
        self.canaries = canaries
        self.fault = None
        self.nonce = None
        self._key = tempfile.NamedTemporaryFile(suffix=".pem")
        subprocess.run(["openssl", "genrsa", "-out", self._key.name, "2048"], check=True, capture_output=True)
        modulus = subprocess.run(["openssl", "rsa", "-in", self._key.name, "-noout", "-modulus"], check=True, capture_output=True, text=True)
        self._modulus = bytes.fromhex(modulus.stdout.strip().partition("=")[2])
        handler = type("Handler", (_Handler,), {"provider": self})
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._key.close()

    def secret(self, name):
        """A new secret."""
        made = f"CANARY-{name}-{secrets.token_hex(16)}"
        self.canaries.add(name, made)
        return made

    def redirect(self, url, **more):
        """The URL to which the browser is redirected after the user has consented."""
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
        for name in ("state", "nonce"):
            self.canaries.add(name, query.get(name))
        self.nonce = query.get("nonce")
        answer = {"code": self.secret("code"), "state": query["state"], "iss": self.issuer, **more}
        return query["redirect_uri"] + "?" + urllib.parse.urlencode(answer)

    def id_token(self):
        now = int(time.time())
        nonce = "another" if self.fault == "nonce" else self.nonce
        claims = {"iss": self.issuer, "sub": "alice", "aud": "app", "exp": now + 300, "iat": now, "nonce": nonce, "jti": self.secret("jti")}
        signed = ".".join(_text(json.dumps(part).encode()) for part in ({"alg": "RS256", "kid": "k"}, claims))
        signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self._key.name], input=signed.encode(), check=True, capture_output=True)
        token = f"{signed}.{_text(signature.stdout)}"
        self.canaries.add("id_token", token)
        return token

    def metadata(self):
        names = ("authorization", "token", "userinfo", "revocation", "introspection", "end_session", "device_authorization")
        return {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys", "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": True, "dpop_signing_alg_values_supported": ["ES256"],
                **{f"{name}_endpoint": f"{self.issuer}/{name}" for name in names}}  # fmt: skip

    def tokens(self):
        return {"access_token": self.secret("access"), "refresh_token": self.secret("refresh"), "token_type": "DPoP",
                "expires_in": 300, "id_token": self.id_token(), "scope": "openid profile"}  # fmt: skip


class _Handler(http.server.BaseHTTPRequestHandler):
    provider: Provider

    def do_GET(self):
        answers = {"/.well-known/openid-configuration": self.provider.metadata, "/userinfo": lambda: {"sub": "alice", "name": "Alice"},
                   "/keys": lambda: {"keys": [{"kty": "RSA", "kid": "k", "n": _text(self.provider._modulus), "e": "AQAB"}]}}  # fmt: skip
        self._noted({})
        make = answers.get(self.path)
        self._answer(200 if make else 404, make() if make else {})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        form = dict(urllib.parse.parse_qsl(body))
        self._noted(form)
        if self.path == "/token":
            return self._token(form)
        if self.path == "/introspection":
            return self._answer(200, {"active": True})
        if self.path == "/device_authorization":
            return self._answer(200, {"device_code": self.provider.secret("device"), "user_code": "ABCD", "verification_uri": "https://id.example/d", "expires_in": 60, "interval": 1})  # fmt: skip
        self._answer(200, {})

    def _noted(self, form):
        """Records the secrets that the client sent."""
        for name in ("code_verifier", "refresh_token", "token", "device_code"):
            self.provider.canaries.add(f"{name} as it was sent", form.get(name))
        for name in ("Authorization", "DPoP"):
            self.provider.canaries.add(f"the header {name}", self.headers.get(name, "").rpartition(" ")[2])

    def _token(self, form):
        fault, sent = self.provider.fault, " ".join(form.values())
        if fault in ("echo", "echo500"):
            return self._answer(400 if fault == "echo" else 500, {"error": "invalid_request", "error_description": sent, "error_uri": sent})
        tokens = self.provider.tokens()
        if fault == "cut":
            return self._send(200, json.dumps(tokens).encode()[:-20], {"Content-Type": "application/json"})
        if fault == "types":
            return self._answer(200, {**tokens, "access_token": [tokens["access_token"]], "token_type": tokens["refresh_token"]})
        if fault == "html":
            return self._send(502, f"<html>{sent} {tokens['access_token']}".encode(), {"Content-Type": "text/html"})
        if fault == "header":
            return self._answer(401, {"error": sent}, {"WWW-Authenticate": f'DPoP error="{sent}"', "DPoP-Nonce": tokens["access_token"] + " x"})
        if fault == "redirect":
            return self._answer(302, {}, {"Location": f"{self.provider.issuer}/?token={tokens['access_token']}"})
        self._answer(200, tokens)

    def _answer(self, status, value, headers=None):
        self._send(status, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})})

    def _send(self, status, body, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
