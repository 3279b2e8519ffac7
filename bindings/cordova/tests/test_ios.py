"""The transport of the iOS plugin, with this machine's library and Foundation for Linux: a provider that answers in
several ways checks the requests, and the result shows what the library received."""

import http.server
import json
import os
import subprocess
import threading
import unittest

from desk import TOP
from processes import workspace

HERE = TOP / "bindings/cordova"
LIBRARY = TOP / "build/lib"


class Provider(http.server.BaseHTTPRequestHandler):
    """`server.seen` holds the requests; `server.way` selects the answer to discovery."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.see(b"")
        if self.server.way == "moved" and self.path.startswith("/.well-known"):
            return self.answer(302, {}, Location=f"{self.server.issuer}/elsewhere")
        issuer = self.server.issuer
        document = {
            "issuer": issuer, "authorization_endpoint": f"{issuer}/authorize", "token_endpoint": f"{issuer}/token",
            "device_authorization_endpoint": f"{issuer}/device", "jwks_uri": f"{issuer}/keys",
        }  # fmt: skip
        self.answer(200, document, is_endless=self.server.way == "long")

    def do_POST(self):
        self.see(self.rfile.read(int(self.headers["Content-Length"])))
        page = f"{self.server.issuer}/page"
        self.answer(200, {"device_code": "code", "user_code": "WXYZ", "verification_uri": page, "expires_in": 600})

    def see(self, body):
        self.server.seen.append((self.command, self.path, self.headers, body))

    def answer(self, status, content, is_endless=False, **headers):
        """With `is_endless`, the body is followed by 16 MiB of spaces; the rest of the announced length is never
        sent."""
        body, spaces = json.dumps(content).encode(), b" " * (16 << 20)
        self.send_response(status)
        length = 1 << 40 if is_endless else len(body)
        headers |= {"Content-Type": "application/json", "Content-Length": length}
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()
        if not is_endless:
            self.wfile.write(body)
            return
        # A client that does not close the connection itself would wait for twice this time.
        self.connection.settimeout(30)
        try:
            self.wfile.write(body + spaces)
            self.server.is_cut = self.connection.recv(1) == b""
        except TimeoutError:
            pass
        except OSError:
            self.server.is_cut = True


class Transport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = workspace("ios") / "main"
        sources = [HERE / f"src/ios/{name}.swift" for name in ("EnrollCalls", "URLSessionTransport")]
        sources += [HERE / "tests/stand-ins/Keychain.swift", HERE / "tests/ios/main.swift"]
        command = ["swiftc", "-swift-version", "5", "-I", TOP / "include", *sources, "-L", LIBRARY, "-lenroll"]
        subprocess.run([*map(str, command), "-o", cls.program], check=True)

    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
        self.server.issuer = f"http://127.0.0.1:{self.server.server_port}"
        self.server.seen, self.server.way, self.server.is_cut = [], "", False
        # Closing the server waits for its threads.
        self.server.daemon_threads = False
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def begin(self, **parameters):
        configuration = {
            "issuer": self.server.issuer, "clientId": "app", "redirectUri": "http://127.0.0.1/callback",
            "scopes": ["profile", "offline_access"], "allowLoopbackHTTP": True,
        }  # fmt: skip
        words = [self.program, json.dumps(configuration), "registration.begin", json.dumps(parameters)]
        own = {**os.environ, "LD_LIBRARY_PATH": str(LIBRARY)}
        told = subprocess.run(words, stdout=subprocess.PIPE, text=True, env=own, check=True).stdout
        status, _, result = told.partition(" ")
        return status, json.loads(result) if result.strip() else None

    def paths(self):
        return [path for _, path, _, _ in self.server.seen]

    def test_a_response_comes_back_whole(self):
        status, result = self.begin()
        self.assertEqual(status, "ok")
        self.assertTrue(result["action"]["url"].startswith(f"{self.server.issuer}/authorize?"))
        self.assertEqual(self.paths(), ["/.well-known/openid-configuration"])

    def test_method_headers_and_body_are_those_of_the_library(self):
        status, result = self.begin(kind="device")
        self.assertEqual((status, result["action"]["userCode"]), ("ok", "WXYZ"))
        method, path, headers, body = self.server.seen[-1]
        self.assertEqual((method, path), ("POST", "/device"))
        self.assertRegex(
            body,
            rb"^scope=profile\+offline_access&code_challenge=[\w-]{43}&code_challenge_method=S256&client_id=app$",
        )
        self.assertEqual(headers["Content-Type"], "application/x-www-form-urlencoded")
        self.assertIn("EnrollKit/", headers["User-Agent"])

    def test_a_redirect_is_not_followed(self):
        self.server.way = "moved"
        self.assertNotEqual(self.begin()[0], "ok")
        self.assertNotIn("/elsewhere", self.paths())

    def test_a_response_over_the_limit_is_cut_off(self):
        self.server.way = "long"
        self.assertEqual(self.begin()[0], "responseInvalid")
        self.server.shutdown()
        self.server.server_close()
        self.assertTrue(self.server.is_cut)

    def test_a_provider_that_is_away_is_a_fault_of_the_network(self):
        self.server.server_close()
        self.assertEqual(self.begin()[0], "network")


if __name__ == "__main__":
    unittest.main()
