#!/usr/bin/env python3
"""A provider over TLS that does as little as possible: it answers with fixed strings, on connections that stay open.

    tls_provider.py CERTIFICATE_CHAIN KEY      prints its port, and ends when standard input ends

The provider serves its metadata, answers every form with tokens without an id_token, and knows one user.
"""

import itertools
import json
import socket
import ssl
import sys
import threading

TOKEN = "a" * 900


class Provider:
    def __init__(self, chain, key):
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(chain, key)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._issuer = f"https://localhost:{self.port}"
        self._numbers = itertools.count(1)
        self._metadata = json.dumps({
            "issuer": self._issuer, "authorization_endpoint": f"{self._issuer}/authorize",
            "token_endpoint": f"{self._issuer}/token", "userinfo_endpoint": f"{self._issuer}/userinfo",
            "jwks_uri": f"{self._issuer}/keys", "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"], "code_challenge_methods_supported": ["S256"],
        })  # fmt: skip

    def accept(self):
        while True:
            connection, _ = self._listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            with self._context.wrap_socket(connection, server_side=True) as tls:
                stream = tls.makefile("rb")
                while line := stream.readline():
                    length = 0
                    while header := stream.readline().strip():
                        name, _, value = header.partition(b":")
                        if name.lower() == b"content-length":
                            length = int(value)
                    stream.read(length)
                    body = self._answer(line.split()[1].decode()).encode()
                    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                    tls.sendall(head % len(body) + body)
        except OSError:
            pass

    def _answer(self, path):
        if path == "/token":
            return json.dumps({
                "access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600,
                "refresh_token": f"refresh-{next(self._numbers):08}",
            })  # fmt: skip
        if path == "/userinfo":
            return json.dumps({"sub": "alice", "name": "Alice"})
        return self._metadata


if __name__ == "__main__":
    provider = Provider(*sys.argv[1:3])
    print(provider.port, flush=True)
    threading.Thread(target=provider.accept, daemon=True).start()
    sys.stdin.read()
