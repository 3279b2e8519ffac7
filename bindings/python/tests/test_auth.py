"""The helpers for requests, httpx and aiohttp, each against a server of this process: a token on every request, one
renewal after a 401, and no token at any other server."""

import asyncio
import concurrent.futures
import contextlib
import http.server
import socket
import threading

import aiohttp
import httpx
import pytest
import requests

import enrollkit
import enrollkit.aio
import enrollkit.aiohttp
import enrollkit.httpx
import enrollkit.requests
from conftest import CUSTOM, configuration
from enrollkit._authorizing import origin_of


class Picky:
    """An API that refuses the token it saw first, and takes any other. /never refuses every token; /go/… redirects."""

    def __init__(self):
        picky = self
        self.tokens, self.bodies, self.targets, self._lock = [], [], {}, threading.Lock()
        #: As many requests with the first token as there are parties wait for each other, so that all of them get 401.
        self.crowd = None

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self._body()
                token = (self.headers["Authorization"] or "").partition(" ")[2]
                with picky._lock:
                    picky.tokens.append(token)
                    picky.bodies.append(body)
                    is_first = token == picky.tokens[0]
                if is_first and picky.crowd:
                    picky.crowd.wait(60)
                target = picky.targets.get(self.path)
                self.send_response(307 if target else 401 if is_first or self.path == "/never" else 200)
                if target:
                    self.send_header("Location", target)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_POST

            def _body(self):
                if self.headers.get("Transfer-Encoding") != "chunked":
                    return self.rfile.read(int(self.headers.get("Content-Length") or 0))
                body = b""
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return body

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 128
            daemon_threads = True

        self._server = Server(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self._server.server_port}"
        self.url = f"{self.origin}/"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class Loop:
    """An event loop on a thread of its own."""

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, awaitable):
        return asyncio.run_coroutine_threadsafe(awaitable, self._loop).result(60)

    def close(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Blocking:
    """What the blocking helpers have in common: `send` gives the status of the answer."""

    def __init__(self, sandbox, store, is_signed_in=True, **configured):
        self.client = enrollkit.Client(configuration(sandbox, CUSTOM, **configured), store=store)
        if is_signed_in:
            self.client.resume(sandbox.play(self.client.begin().url))
            self.client.confirm()

    def token(self, **audience):
        return self.client.access_token(**audience).value

    def close(self):
        self.client.close()


class WithRequests(Blocking):
    def send(self, method, url, body=None, **audience):
        body = iter(body) if isinstance(body, list) else body
        auth = enrollkit.requests.Auth(self.client, **audience)
        return requests.request(method, url, data=body, auth=auth, timeout=60).status_code


class WithHTTPX(Blocking):
    def send(self, method, url, body=None, **audience):
        body = iter(body) if isinstance(body, list) else body
        auth = enrollkit.httpx.Auth(self.client, **audience)
        with httpx.Client(auth=auth, timeout=60, follow_redirects=True) as session:
            return session.request(method, url, content=body).status_code


class Awaiting:
    """The same for the helpers of asyncio."""

    def __init__(self, sandbox, store, is_signed_in=True, **configured):
        self._loop = Loop()
        self.client = self._loop.run(self._open(configuration(sandbox, CUSTOM, **configured), store))
        if is_signed_in:
            self._loop.run(self.client.resume(sandbox.play(self._loop.run(self.client.begin()).url)))
            self._loop.run(self.client.confirm())

    async def _open(self, configured, store):
        return await enrollkit.aio.Client(configured, store=store)

    def token(self, **audience):
        return self._loop.run(self.client.access_token(**audience)).value

    def send(self, method, url, body=None, **audience):
        return self._loop.run(self._send(method, url, streamed(body) if isinstance(body, list) else body, audience))

    def close(self):
        self._loop.run(self.client.close())
        self._loop.close()


async def streamed(parts):
    for part in parts:
        yield part


class WithAsyncHTTPX(Awaiting):
    async def _send(self, method, url, body, audience):
        auth = enrollkit.httpx.AsyncAuth(self.client, **audience)
        async with httpx.AsyncClient(auth=auth, timeout=60, follow_redirects=True) as session:
            return (await session.request(method, url, content=body)).status_code


class WithAiohttp(Awaiting):
    async def _send(self, method, url, body, audience):
        auth = enrollkit.aiohttp.Auth(self.client, url, **audience)
        async with (
            aiohttp.ClientSession(middlewares=[auth]) as session,
            session.request(method, url, data=body) as answer,
        ):
            return answer.status


WITH = {
    "requests": WithRequests,
    "httpx": WithHTTPX,
    "httpx for asyncio": WithAsyncHTTPX,
    "aiohttp": WithAiohttp,
}


@pytest.fixture
def picky():
    picky = Picky()
    yield picky
    picky.close()


@pytest.fixture
def elsewhere():
    """Another origin."""
    elsewhere = Picky()
    yield elsewhere
    elsewhere.close()


@pytest.fixture(params=WITH)
def opened(request):
    """Opens a client with one of the helpers: `opened(sandbox)`."""
    made = []

    def make(sandbox, **options):
        made.append(WITH[request.param](sandbox, enrollkit.MEMORY, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_refused_token_is_renewed_once_and_the_body_is_sent_again(opened, own_sandbox, picky):
    sandbox = own_sandbox()
    api = opened(sandbox)
    first = api.token()
    assert api.send("POST", picky.url, b"body") == 200
    assert api.send("GET", picky.url) == 200
    assert picky.tokens == [first, api.token(), api.token()] and first != api.token()
    assert picky.bodies == [b"body", b"body", b""] and sandbox.control("counts")["refreshes"] == 1


def test_a_second_401_is_the_callers_after_one_renewal(opened, own_sandbox, picky):
    sandbox = own_sandbox()
    api = opened(sandbox)
    assert api.send("GET", picky.url + "never") == 401
    assert len(picky.tokens) == 2 and sandbox.control("counts")["refreshes"] == 1


def test_a_stream_is_not_sent_twice(opened, own_sandbox, picky):
    sandbox = own_sandbox()
    assert opened(sandbox).send("POST", picky.url, [b"a", b"b"]) == 401
    assert picky.bodies == [b"ab"] and sandbox.control("counts")["refreshes"] == 0


def test_requests_sends_a_file_again_from_where_it_was(own_sandbox, picky, tmp_path):
    (tmp_path / "file").write_bytes(b"head and body")
    api = WithRequests(own_sandbox(), enrollkit.MEMORY)
    with open(tmp_path / "file", "rb") as file:
        file.seek(len("head and "))
        assert api.send("POST", picky.url, file) == 200
    assert picky.bodies == [b"body", b"body"]
    api.close()


def test_no_token_follows_a_redirect_to_another_origin_or_back_from_it(opened, own_sandbox, picky, elsewhere):
    sandbox = own_sandbox()
    api = opened(sandbox)
    picky.targets["/go"] = f"{elsewhere.origin}/on"
    assert api.send("GET", f"{picky.origin}/go") == 401
    assert picky.tokens == [api.token()] and elsewhere.tokens == [""]
    elsewhere.targets["/back"] = f"{picky.origin}/never"
    picky.targets["/away"] = f"{elsewhere.origin}/back"
    if not isinstance(api, WithAiohttp):  # which is told the origins that get the token
        assert api.send("GET", f"{picky.origin}/away") == 401
        assert picky.tokens[1:] == [api.token(), ""]
    assert elsewhere.tokens == [""] * len(elsewhere.tokens)
    if not isinstance(api, WithAiohttp):
        assert sandbox.control("counts")["refreshes"] == 0


def test_no_token_follows_a_redirect_that_is_read_in_two_ways(opened, sandbox, picky, elsewhere):
    api = opened(sandbox)
    here, there = (server.origin.partition("//")[2] for server in (picky, elsewhere))
    picky.targets["/go"] = f"http://{there}\\@{here}/on"
    with contextlib.suppress(Exception):
        api.send("GET", f"{picky.origin}/go")
    # A library may read it as the first server; then the request goes there.
    assert picky.tokens[0] != "" and set(elsewhere.tokens) <= {""}


class Endless(http.server.BaseHTTPRequestHandler):
    """Refuses the first request with a body that ends when the client goes."""

    refused = threading.Event()

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.refused.is_set():
            self.send_response(200)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        self.refused.set()
        self.send_response(401)
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(b"no " * 1000)


def test_requests_does_not_read_the_body_of_a_refusal_which_may_have_no_end(own_sandbox):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    api = WithRequests(own_sandbox(), enrollkit.MEMORY)
    url = f"http://127.0.0.1:{server.server_port}/"
    with requests.get(url, auth=enrollkit.requests.Auth(api.client), stream=True, timeout=60) as answer:
        assert answer.status_code == 200
    api.close()
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    "url",
    [
        "https://evil\\@api/",
        "https://a:99999/",
        "https://[::1",
        "https://a\tb/",
        "https://a b/",
        "",
        5,
        None,
        b"https://a/",
    ],
)
def test_an_origin_that_cannot_be_read_is_an_error_of_the_argument(url):
    with pytest.raises(enrollkit.EnrollInvalidArgument, match="url: expected ") as raised:
        origin_of(url)
    assert raised.value.field == "url"


def test_port_0_is_no_default_port():
    assert origin_of("http://127.0.0.1:0/") == ("http", "127.0.0.1", 0)
    assert origin_of("https://API.example/") == ("https", "api.example", 443)


def test_a_redirect_within_the_origin_keeps_the_token(opened, sandbox, picky):
    api = opened(sandbox)
    picky.targets["/go"] = "/there"
    first = api.token()
    assert api.send("POST", f"{picky.origin}/go", b"body") == 200
    assert picky.tokens[0] == first and set(picky.tokens) == {first, api.token()}
    assert set(picky.bodies) == {b"body"}


def test_fifty_requests_at_once_share_one_renewal(opened, own_sandbox, picky):
    sandbox = own_sandbox()
    api = opened(sandbox)
    picky.crowd = threading.Barrier(50)
    with concurrent.futures.ThreadPoolExecutor(50) as threads:
        statuses = list(threads.map(lambda _: api.send("GET", picky.url), range(50)))
    assert statuses == [200] * 50 and len(picky.tokens) == 100
    assert sandbox.control("counts")["refreshes"] == 1


@pytest.mark.parametrize("url", ["http://api.example/things", "http://127.0.0.1.example/", "http://localhost.example/"])
def test_no_token_is_sent_unencrypted(opened, sandbox, monkeypatch, url):
    api = opened(sandbox)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("a request was about to be sent"))
    with pytest.raises(enrollkit.EnrollInvalidArgument, match="expected https, or http to a") as raised:
        api.send("GET", url)
    assert raised.value.field == "url"


def test_proofs_carry_the_nonce_that_the_server_demands(opened, own_sandbox):
    sandbox = own_sandbox("--dpop", "required", "--demand-nonces")
    api = opened(sandbox)
    for _ in range(2):
        assert api.send("GET", f"{sandbox.issuer}/userinfo") == 200
    assert sandbox.control("counts")["refreshes"] == 0


def test_a_redirected_request_gets_a_proof_for_its_new_url(opened, own_sandbox):
    sandbox = own_sandbox("--dpop", "required")
    api = opened(sandbox)
    proofs = []
    with proof_reader(proofs) as origin:
        assert api.send("GET", f"{origin}/go") == 200
    assert proofs[-1] == f"{origin}/there" and sandbox.control("counts")["refreshes"] == 0


def test_a_token_for_an_audience_is_asked_for_and_renewed_for_it(opened, own_sandbox, picky):
    sandbox = own_sandbox()
    api = opened(sandbox)
    own, narrow = api.token(), api.token(scope="profile")
    assert own != narrow
    assert api.send("GET", picky.url, scope="profile") == 200
    assert picky.tokens == [narrow, api.token(scope="profile")] and api.token() == own


def test_without_a_session_the_request_is_not_sent(opened, sandbox, picky):
    api = opened(sandbox, is_signed_in=False)
    with pytest.raises(enrollkit.EnrollReauthenticate):
        api.send("GET", picky.url)
    assert picky.tokens == []


def test_the_wrong_kind_of_client_is_refused_with_the_right_one(sandbox, store):
    with enrollkit.Client(configuration(sandbox), store=store) as client:
        for wrong in (enrollkit.httpx.AsyncAuth, enrollkit.aiohttp.Auth):
            with pytest.raises(enrollkit.EnrollInvalidArgument, match=r"expected an enrollkit\.aio\.Client, got"):
                wrong(client)
        with pytest.raises(TypeError, match="AsyncAuth"):
            asyncio.run(httpx.AsyncClient(auth=enrollkit.httpx.Auth(client)).get("https://api.example"))
    for right in (enrollkit.httpx.Auth, enrollkit.requests.Auth):
        with pytest.raises(enrollkit.EnrollInvalidArgument, match=r"expected an enrollkit\.Client, got str"):
            right("client")


class proof_reader:
    """A server that redirects /go to /there, and wants a proof there whose `htu` is the URL (RFC 9449 §4.3)."""

    def __init__(self, seen):
        import base64
        import json

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                proof = self.headers["DPoP"]
                part = proof.split(".")[1] if proof else ""
                target = json.loads(base64.urlsafe_b64decode(part + "==")) if proof else {}
                seen.append(target.get("htu"))
                is_right = target.get("htu") == f"http://{self.headers['Host']}/there"
                self.send_response(302 if self.path == "/go" else 200 if is_right else 401)
                self.send_header("Location", "/there")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}"

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
