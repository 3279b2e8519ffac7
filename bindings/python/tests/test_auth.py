"""The helpers for requests, httpx and aiohttp, each against a server of this process: a token on every request, one
renewal after a 401, and no token at any other server."""

import asyncio
import concurrent.futures
import contextlib
import copy
import http.server
import pickle
import socket
import threading

import aiohttp
import httpx
import pytest
import requests
from sandbox import Sandbox

import enrollkit
import enrollkit.aio
import enrollkit.aiohttp
import enrollkit.httpx
import enrollkit.requests
from conftest import CUSTOM, configuration
from enrollkit._authorizing import Place


class Picky:
    """An API that refuses the first token that it gets, and accepts any other token. At the path /never it refuses
    every token; at /go/… it redirects."""

    def __init__(self):
        picky = self
        self.tokens, self.bodies, self.targets, self._lock = [], [], {}, threading.Lock()
        self.proofs = []
        #: A barrier at which requests with the first token wait for each other, so that all of them get 401.
        self.crowd = None

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self._body()
                token = (self.headers["Authorization"] or "").partition(" ")[2]
                with picky._lock:
                    picky.tokens.append(token)
                    picky.proofs.append(self.headers["DPoP"])
                    picky.bodies.append(body)
                    is_first = token == picky.tokens[0]
                if is_first and picky.crowd:
                    picky.crowd.wait(60)
                target = picky.targets.get(self.path)
                self.send_response(307 if target else 401 if is_first or self.path == "/never" else 200)
                if target:
                    self.send_header("Location", target)
                # The body is larger than a socket buffer, so the connection can be used again only after the client has
                # read or closed the body.
                self.send_header("Content-Length", "1000000")
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(b"x" * 1_000_000)

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
    """An event loop on a separate thread."""

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
    """The common part of the blocking helpers. Subclasses define `send`, which returns the status of the response."""

    def __init__(self, sandbox, store, is_signed_in=True, **configured):
        self.client = enrollkit.Client(configuration(sandbox, CUSTOM, **configured), store=store)
        if is_signed_in:
            self.client.resume(sandbox.play(self.client.begin().url))
            self.client.confirm()

    def token(self, **audience):
        return self.client.access_token(**audience).value

    def close_client(self):
        self.client.close()

    close = close_client


# Every helper has only one connection: if it kept the connection of a refused request, the next request would block.
ONE = httpx.Limits(max_connections=1)


class WithRequests(Blocking):
    def auth(self, url, **audience):
        return enrollkit.requests.Auth(self.client, **audience)

    def send(self, method, url, body=None, timeout=60, **audience):
        body = iter(body) if isinstance(body, list) else body
        auth = self.auth(url, **audience)
        with requests.Session() as session:
            session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=1, pool_block=True))
            return session.request(method, url, data=body, auth=auth, timeout=timeout).status_code


class WithHTTPX(Blocking):
    def auth(self, url, **audience):
        return enrollkit.httpx.Auth(self.client, **audience)

    def send(self, method, url, body=None, timeout=60, **audience):
        body = iter(body) if isinstance(body, list) else body
        auth = self.auth(url, **audience)
        with httpx.Client(auth=auth, timeout=timeout, follow_redirects=True, limits=ONE) as session:
            return session.request(method, url, content=body).status_code


class Awaiting:
    """The tests of `Blocking`, for the asyncio helpers."""

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

    def send(self, method, url, body=None, timeout=None, **audience):
        body = streamed(body) if isinstance(body, list) else body
        return self._loop.run(self._send(method, url, body, timeout, self.auth(url, **audience)))

    def close_client(self):
        self._loop.run(self.client.close())

    def close(self):
        self.close_client()
        self._loop.close()


async def streamed(parts):
    for part in parts:
        yield part


class WithAsyncHTTPX(Awaiting):
    def auth(self, url, **audience):
        return enrollkit.httpx.AsyncAuth(self.client, **audience)

    async def _send(self, method, url, body, timeout, auth):
        async with httpx.AsyncClient(auth=auth, timeout=timeout, follow_redirects=True, limits=ONE) as session:
            return (await session.request(method, url, content=body)).status_code


class WithAiohttp(Awaiting):
    def auth(self, url, **audience):
        return enrollkit.aiohttp.Auth(self.client, str(aiohttp.client.URL(url).origin()), **audience)

    async def _send(self, method, url, body, timeout, auth):
        async with (
            aiohttp.ClientSession(
                middlewares=[auth], trust_env=True, connector=aiohttp.TCPConnector(limit=1)
            ) as session,
            session.request(method, url, data=body, timeout=timeout or aiohttp.ClientTimeout(60)) as answer,
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
    """A server at another origin."""
    elsewhere = Picky()
    yield elsewhere
    elsewhere.close()


@pytest.fixture(scope="module")
def bound():
    """A provider whose tokens are bound to a key."""
    sandbox = Sandbox("--dpop", "required")
    yield sandbox
    sandbox.stop()


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
    if not isinstance(api, WithAiohttp):  # aiohttp's helper knows only the named origins
        assert api.send("GET", f"{picky.origin}/away") == 401
        assert picky.tokens[1:] == [api.token(), ""]
    assert elsewhere.tokens == [""] * len(elsewhere.tokens)
    if not isinstance(api, WithAiohttp):
        assert sandbox.control("counts")["refreshes"] == 0


# `{here}` and `{there}` are the first and the other server, as host and port.
ODD_TARGETS = [
    "http://{there}\\@{here}/on",
    "http://{here}\\@{there}/on",
    "http://{here}@{there}/on",
    "http://{here}%5C@{there}/on",
    "http://{here}/@{there}/on",
    "http:\\\\{there}/on",
    "\\\\{there}/on",
    "/\\{there}/on",
    "//{there}/on",
    "/\t/{there}/on",
    "http://{there}\t/on",
    "HTTP://{there}/on",
    "http://%31%32%37.0.0.1:{port}/on",
    "http://user:word@{there}/on",
    "http://[::1",
    "http://{here}:x/",
    "https://{here}/on",
    "on",
]


@pytest.mark.parametrize("target", ODD_TARGETS)
def test_neither_token_nor_proof_follows_a_redirect_that_is_read_in_two_ways(opened, bound, picky, elsewhere, target):
    api = opened(bound)
    here, there = (server.origin.partition("//")[2] for server in (picky, elsewhere))
    port = there.partition(":")[2]
    picky.targets["/go"] = target.format(here=here, there=there, port=port)
    # For some of these URLs, the HTTP libraries raise their own errors.
    ours = {api.token()}
    with contextlib.suppress(
        requests.RequestException, httpx.HTTPError, httpx.InvalidURL, aiohttp.ClientError, ValueError
    ):
        api.send("GET", f"{picky.origin}/go")
    ours.add(api.token())
    # An HTTP library may read the URL as a URL of the first server, and send the request there. aiohttp sends the
    # part before the @ as credentials.
    assert picky.tokens[0] in ours and not ours & set(elsewhere.tokens) and set(elsewhere.proofs) <= {None}


class Traced(httpx.BaseTransport):
    """Answers each URL with its entry in `answers`, and reports to httpx's `trace` as httpx's own transport does."""

    def __init__(self, answers):
        self.answers, self.seen = answers, []

    def handle_request(self, request):
        self.seen.append(request.headers.get("Authorization"))
        if "trace" in request.extensions:
            request.extensions["trace"]("http11.send_request_headers.started", {})
        status, headers = self.answers[str(request.url)]
        return httpx.Response(status if self.seen[-1] else 401, headers=headers)


def test_httpx_sends_no_token_from_http_to_https(sandbox):
    api = WithHTTPX(sandbox, enrollkit.MEMORY)
    transport = Traced(
        {
            "http://localhost/up": (302, {"Location": "https://localhost/"}),
            "https://localhost/": (200, {}),
            "http://localhost/go": (302, {"Location": "/there"}),
            "http://localhost/there": (200, {}),
        }
    )
    told = []
    with httpx.Client(auth=api.auth(None), transport=transport, follow_redirects=True) as session:
        trace = {"trace": lambda event, info: told.append(event)}
        assert session.get("http://localhost/up", extensions=trace).status_code == 401
        assert transport.seen == [f"Bearer {api.token()}", None]
        assert len(told) == 2
        # Within the origin, the token is sent after the server has asked for it.
        assert session.get("http://localhost/go").status_code == 200
    api.close()


class Endless(http.server.BaseHTTPRequestHandler):
    """Refuses the first request with a body that ends only when the client closes the connection."""

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


ODD_URLS = [
    "https://evil\\@secret/",
    "https://secret:99999/",
    "https://secret:x/",
    "https://user:secret@",
    "https://[::1/secret",
    "https://[secret]/",
    "https://secr\tet/",
    "https://sec ret/",
    "https://secret\u2100/",
    "secret",
    "ftp://secret/",
    "secret:/x",
    "file:///secret",
    "//secret/",
    "",
    5,
    None,
    b"https://secret/",
]


@pytest.mark.parametrize("url", ODD_URLS)
def test_a_url_that_cannot_be_read_is_an_error_of_the_argument_without_its_text(sandbox, url):
    with pytest.raises(enrollkit.EnrollInvalidArgument, match="url: expected ") as raised:
        Place.read(url)
    assert raised.value.field == "url" and "secret" not in str(raised.value)
    client = enrollkit.aio.Client(configuration(sandbox), store=enrollkit.MEMORY)
    with pytest.raises(enrollkit.EnrollInvalidArgument, match="url: expected ") as raised:
        enrollkit.aiohttp.Auth(client, url)
    assert raised.value.field == "url" and "secret" not in str(raised.value)


@pytest.mark.parametrize("url", ["ftp://host/?secret", "com.example:/?secret", "unix:secret"])
def test_a_url_of_another_scheme_gets_no_token_and_is_not_shown(sandbox, url):
    with enrollkit.Client(configuration(sandbox), store=enrollkit.MEMORY) as client:
        for send in (
            lambda: requests.get(url, auth=enrollkit.requests.Auth(client)),
            lambda: httpx.get(url, auth=enrollkit.httpx.Auth(client)),
        ):
            with pytest.raises(enrollkit.EnrollInvalidArgument, match="url: expected https") as raised:
                send()
            assert "secret" not in str(raised.value)


def test_an_origin_is_what_the_libraries_connect_to(sandbox):
    assert Place.read("http://127.0.0.1:0/").origin == ("http", "127.0.0.1", 0)
    assert Place.read("HTTPS://API.example/").origin == ("https", "api.example", 443)
    assert Place.read("https://api.example:443?x").origin == ("https", "api.example", 443)
    assert Place.read("https://user:word@api.example/a@b").target == "https://api.example/a@b"
    assert Place.read("http://[::1]:8080//a?b#c").target == "http://[::1]:8080//a"
    assert Place.read("https://api.example/").redirected("https://api.example/a", "http://[::1") is None
    client = enrollkit.aio.Client(configuration(sandbox), store=enrollkit.MEMORY)
    auth = enrollkit.aiohttp.Auth(client, "https://b\xfccher.example", "HTTPS://API.example:443/path")
    for url in ("https://xn--bcher-kva.example/", "https://b\xfccher.example/", "https://api.example/other"):
        assert auth._place(aiohttp.client.URL(url)) is not None


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


RAW_PATHS = [
    "/a%2Fb",
    "/a%2fb",
    "//",
    "//a",
    "/x/../y",
    "/%2e%2e/y",
    "/a[b]|c",
    "/a\\b^`{}",
    "/%zz",
    "/a%00",
    "/\xe9",
    "/%7Euser",
    "?query",
    "/a?b=c/d#e/f",
]


def test_a_proof_is_for_the_path_that_is_sent(opened, bound):
    api = opened(bound)
    proofs = []
    with proof_reader(proofs) as origin:
        for path in RAW_PATHS:
            assert api.send("GET", f"{origin}{path}") == 200, path
    assert len(proofs) == len(RAW_PATHS)


def test_httpx_proves_the_target_that_a_program_sets(bound):
    api = WithHTTPX(bound, enrollkit.MEMORY)
    with proof_reader([]) as origin, httpx.Client(auth=enrollkit.httpx.Auth(api.client)) as session:
        assert session.get(origin, extensions={"target": b"/raw/../target"}).status_code == 200
    api.close()


def test_a_proxy_before_a_loopback_address_gets_no_token(opened, sandbox, picky, elsewhere, monkeypatch):
    api = opened(sandbox)
    monkeypatch.setenv("HTTP_PROXY", elsewhere.origin)
    with pytest.raises(enrollkit.EnrollInvalidArgument, match=r"add 127\.0\.0\.1 to the .* NO_PROXY") as raised:
        api.send("GET", picky.url)
    assert raised.value.field == "url" and elsewhere.tokens == picky.tokens == []
    monkeypatch.setenv("NO_PROXY", "example.com, 127.0.0.1")
    assert api.send("GET", picky.url) == 200


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


def test_a_closed_client_is_the_error_that_is_documented(opened, sandbox, picky):
    api = opened(sandbox)
    api.close_client()
    with pytest.raises(enrollkit.EnrollHandle, match="the client is closed"):
        api.send("GET", picky.url)
    assert picky.tokens == []


def test_the_timeout_of_a_request_covers_its_token(opened, sandbox, picky, monkeypatch):
    api = opened(sandbox)
    if isinstance(api, WithAiohttp):

        async def stuck(*_, **__):
            await asyncio.Event().wait()

        for method in ("rejected", "access_token"):
            monkeypatch.setattr(api.client, method, stuck)
            with pytest.raises(asyncio.TimeoutError):
                api.send("GET", picky.url, timeout=aiohttp.ClientTimeout(total=0.1))
        return
    limits = []
    for method in ("access_token", "rejected"):
        monkeypatch.setattr(api.client, method, noting(limits, method, getattr(api.client, method)))
    for timeout in (7, 80, None):
        api.send("GET", f"{picky.origin}/never", timeout=timeout)
    # requests does not reveal its timeout before the request is sent.
    first = 30 if isinstance(api, WithRequests) else 7
    assert limits[:2] == [("access_token", first), ("rejected", 7)]
    assert {limit for _, limit in limits[2:]} == {30}
    if isinstance(api, WithRequests):
        requests.get(f"{picky.origin}/never", auth=enrollkit.requests.Auth(api.client, timeout=5), timeout=(1, 3))
        assert limits[-2:] == [("access_token", 5), ("rejected", 3)]


def noting(limits, name, method):
    def call(*arguments, timeout=30, **named):
        limits.append((name, timeout))
        return method(*arguments, timeout=timeout, **named)

    return call


def test_aiohttp_closes_a_refusal_whose_renewal_is_given_up(sandbox, picky, monkeypatch):
    api = WithAiohttp(sandbox, enrollkit.MEMORY)
    refusals = []

    async def stuck(*_, **__):
        await asyncio.Event().wait()

    async def noted(request, handler):
        refusals.append(await handler(request))
        return refusals[-1]

    async def send():
        auth = enrollkit.aiohttp.Auth(api.client, picky.url)
        timeout = aiohttp.ClientTimeout(total=0.5)
        async with aiohttp.ClientSession(middlewares=[auth, noted], timeout=timeout) as session:
            with pytest.raises(asyncio.TimeoutError):
                await session.get(picky.url)
            return [one.closed for one in refusals]

    monkeypatch.setattr(api.client, "rejected", stuck)
    assert api._loop.run(send()) == [True]
    api.close()


def test_an_auth_is_copied_with_the_same_client_and_never_pickled(opened, sandbox, picky):
    api = opened(sandbox)
    auth = api.auth(picky.url)
    for double in (copy.copy(auth), copy.deepcopy(auth)):
        assert double._client is api.client
    for secret in (auth, api.client, api.client.events()):
        with pytest.raises(enrollkit.EnrollUnsupported, match="cannot be copied or pickled"):
            pickle.dumps(secret)
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(enrollkit.EnrollUnsupported, match="cannot be copied or pickled"):
            copied(api.client)
    assert api.send("GET", picky.url) == 200


def test_an_answer_of_requests_is_copied_and_never_pickled_with_its_token(sandbox, picky):
    api = WithRequests(sandbox, enrollkit.MEMORY)
    answer = requests.get(picky.url, auth=api.auth(picky.url))
    assert copy.deepcopy(answer).status_code == 200
    with pytest.raises(enrollkit.EnrollUnsupported, match="cannot be pickled"):
        pickle.dumps(answer)
    api.close()


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
    """A server that redirects /go to /there, and requires a proof whose `htu` is the URL at every other path (RFC
    9449 §4.3)."""

    def __init__(self, seen):
        import base64
        import json

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                proof = self.headers["DPoP"]
                part = proof.split(".")[1] if proof else ""
                target = json.loads(base64.urlsafe_b64decode(part + "==")) if proof else {}
                seen.append(target.get("htu"))
                # `self.path` begins with one slash, whatever was sent.
                path = self.requestline.split(" ")[1].partition("?")[0]
                is_right = target.get("htu") == f"http://{self.headers['Host']}{path}"
                self.send_response(302 if path == "/go" else 200 if is_right else 401)
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
