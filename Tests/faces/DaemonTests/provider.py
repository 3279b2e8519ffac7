"""The provider: the sandbox as a child process, a user who fills in pages by HTTP, and servers that do not answer."""

import contextlib
import http.cookiejar
import http.server
import json
import socketserver
import threading
import urllib.error
import urllib.parse
import urllib.request
from html.parser import HTMLParser

import sandbox
from daemon import TIMEOUT

REDIRECT = "com.example.app:/callback"
GOODBYE = "com.example.app:/goodbye"


class Sandbox(sandbox.Sandbox):
    """The provider of a test class. `configuration` is the configuration for the clients of this provider."""

    def __init__(self, *arguments):
        super().__init__(
            "--redirect-uri", REDIRECT, "--redirect-uri", "http://127.0.0.1/callback", "--post-logout-redirect-uri", GOODBYE,
            *arguments)
        self.configuration = super().configuration(redirectUri=REDIRECT, postLogoutRedirectUri=GOODBYE)

    @property
    def refreshes(self):
        return self.control("counts")["refreshes"]

    def metadata(self):
        with urllib.request.urlopen(f"{self.issuer}/.well-known/openid-configuration", timeout=TIMEOUT) as answer:
            return json.load(answer)

    def configuration_with_token_endpoint(self, url):
        """The sandbox's endpoints, with another URL as the token endpoint."""
        metadata = self.metadata()
        return {**self.configuration, "endpoints": {
            "authorizationEndpoint": metadata["authorization_endpoint"], "tokenEndpoint": url,
            "jwksUri": metadata["jwks_uri"], "userinfoEndpoint": metadata["userinfo_endpoint"],
            "endSessionEndpoint": metadata["end_session_endpoint"],
            "authorizationResponseIssParameterSupported": True}}


class Gate:
    """A proxy that passes POST requests on to one URL after the test has opened the proxy. The proxy reports
    when a request waits."""

    def __init__(self, target):
        self.opened = threading.Event()
        self.opened.set()
        self.reached = threading.Event()
        self.passed = 0
        gate = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                gate.reached.set()
                gate.opened.wait(TIMEOUT)
                gate.passed += 1
                request = urllib.request.Request(
                    target, body, {"Content-Type": self.headers["Content-Type"]})
                try:
                    answer = urllib.request.urlopen(request, timeout=TIMEOUT)
                except urllib.error.HTTPError as refused:
                    answer = refused
                with answer:
                    content = answer.read()
                    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                        self.send_response(answer.status)
                        self.send_header("Content-Type", answer.headers["Content-Type"])
                        self.send_header("Content-Length", str(len(content)))
                        self.end_headers()
                        self.wfile.write(content)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/token"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close_it(self):
        self.reached.clear()
        self.opened.clear()

    def open_it(self):
        self.opened.set()

    def close(self):
        self.open_it()
        self._server.shutdown()
        self._server.server_close()


class Silence:
    """Accepts connections and never answers."""

    def __init__(self):
        self._held = []
        self.reached = threading.Event()
        silence = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                silence.reached.set()
                with contextlib.suppress(OSError):
                    while self.request.recv(65_536):
                        pass

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            request_queue_size = 256
            allow_reuse_address = True

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def configuration(self):
        return {"issuer": self.url, "clientId": "app", "redirectUri": REDIRECT, "allowLoopbackHTTP": True}

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class User:
    """A user who fills in every form of the sandbox, with a browser's cookies but without a browser."""

    VALUES = {"username": "alice", "password": "alice-password"}
    WANTED = ("sign-out", "continue")

    def __init__(self):
        class Stop(urllib.request.HTTPRedirectHandler):
            """Does not follow a redirect to a custom scheme; a browser would pass such a URL to the system."""

            def http_error_302(self, request, body, code, message, headers):
                if not headers["Location"].startswith(("http:", "https:", "/")):
                    raise Arrived(headers["Location"])
                return super().http_error_302(request, body, code, message, headers)

            http_error_303 = http_error_302

        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()), Stop())

    def visit(self, url):
        """Follows redirects and forms until the browser leaves for the app; returns the URL that the app gets, or
        None."""
        form = None
        try:
            for _ in range(10):
                with self._opener.open(url, form and urllib.parse.urlencode(form).encode(), timeout=TIMEOUT) as answer:
                    page, url = Page(answer.read().decode()), answer.url
                if not page.buttons:
                    return None
                form = {name: self.VALUES.get(name, value) for name, value in page.fields.items()}
                form["action"] = next(button for button in self.WANTED if button in page.buttons)
                url = urllib.parse.urljoin(url, page.target)
        except Arrived as arrived:
            return arrived.url
        raise AssertionError("the pages lead nowhere")


class Arrived(Exception):
    def __init__(self, url):
        super().__init__("the browser left for the app")
        self.url = url


class Page(HTMLParser):
    def __init__(self, markup):
        super().__init__()
        self.target, self.fields, self.buttons = "", {}, []
        self.feed(markup)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag == "form":
            self.target = found["action"]
        elif tag == "input":
            self.fields[found["name"]] = found.get("value", "")
        elif tag == "button":
            self.buttons.append(found.get("value"))
