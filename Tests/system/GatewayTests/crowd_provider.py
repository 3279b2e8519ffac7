"""An OpenID provider for many users: it shows no page, and answers after a chosen time.

    crowd_provider.py PORT [MILLISECONDS]

Its authorization endpoint has no page: the test that plays the browser makes the code itself (`code_for`), which
says who signs in. Everything that a client checks is real: metadata, keys, PKCE, the client's secret, an id_token
signed by ES256.
"""

import asyncio
import base64
import hashlib
import json
import sys
import time
import urllib.parse

CLIENT = "gateway"
SECRET = "secret-of-the-crowd"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def code_for(subject, parameters):
    """The provider's code for the parameters of an authorization request."""
    return base64url(json.dumps([subject, parameters.get("nonce"), parameters["code_challenge"]]).encode())


class Provider:
    def __init__(self, port, milliseconds):
        from cryptography.hazmat.primitives.asymmetric import ec

        self.issuer = f"http://127.0.0.1:{port}"
        self.delay = milliseconds / 1000
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.basic = "basic " + base64.b64encode(
            f"{urllib.parse.quote_plus(CLIENT)}:{urllib.parse.quote_plus(SECRET)}".encode()).decode()  # fmt: skip
        self.start = base64url(json.dumps({"alg": "ES256", "kid": "1"}).encode()) + "."

    def documents(self):
        numbers = self.key.public_key().public_numbers()
        metadata = {
            "issuer": self.issuer, "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token", "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"], "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }  # fmt: skip
        key = {"kty": "EC", "crv": "P-256", "kid": "1", "alg": "ES256", "use": "sig",
               "x": base64url(numbers.x.to_bytes(32, "big")),
               "y": base64url(numbers.y.to_bytes(32, "big"))}  # fmt: skip
        return {"/.well-known/openid-configuration": metadata, "/keys": {"keys": [key]}}

    def signed(self, claims):
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

        text = self.start + base64url(json.dumps(claims).encode())
        r, s = decode_dss_signature(self.key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{text}.{base64url(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"

    def token(self, authorization, body):
        """The status and the answer of the token endpoint."""
        form = dict(urllib.parse.parse_qsl(body.decode()))
        if authorization[:6].lower() + authorization[6:] != self.basic:
            return 401, {"error": "invalid_client"}
        text = form.get("code", "")
        subject, nonce, challenge = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        if base64url(hashlib.sha256(form.get("code_verifier", "").encode()).digest()) != challenge:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {
            "iss": self.issuer, "aud": CLIENT, "sub": subject, "iat": now, "exp": now + 600, "name": "A person",
            "email": f"{subject}@example.com", "email_verified": True, **({"nonce": nonce} if nonce else {}),
        }  # fmt: skip
        return 200, {"access_token": "a", "token_type": "Bearer", "expires_in": 600, "id_token": self.signed(claims)}


class Connection(asyncio.Protocol):
    def __init__(self, provider):
        self.provider = provider
        self.held = b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.held += data
        while (end := self.held.find(b"\r\n\r\n")) >= 0:
            line, *lines = self.held[:end].decode().split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (one.partition(":") for one in lines)}
            whole = end + 4 + int(headers.get("content-length", 0))
            if len(self.held) < whole:
                return
            body, self.held = self.held[end + 4 : whole], self.held[whole:]
            self.answer(line.split(" ")[1], headers, body)

    def answer(self, path, headers, body):
        delay = 0
        if path == "/token":
            delay = self.provider.delay
            status, answer = self.provider.token(headers.get("authorization", ""), body)
        else:
            document = self.provider.documents().get(path)
            status, answer = (200, document) if document else (404, {})
        text = json.dumps(answer).encode()
        said = (f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nCache-Control: max-age=3600\r\n"
                f"Content-Length: {len(text)}\r\n\r\n").encode() + text  # fmt: skip
        if delay:
            asyncio.get_running_loop().call_later(delay, self.transport.write, said)
        else:
            self.transport.write(said)


async def serve(port, milliseconds):
    provider = Provider(port, milliseconds)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(provider), "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 0))
