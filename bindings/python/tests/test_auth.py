"""The helpers for requests and httpx: a token on every request, a proof beside it, and one more try after a 401."""

import asyncio
import http.server
import threading

import httpx
import pytest
import requests

import enrollkit
import enrollkit.aio
import enrollkit.httpx
import enrollkit.requests
from conftest import configuration, playing


class Picky:
    """A server that refuses the token it saw first, and takes any other."""

    def __init__(self):
        picky = self
        self.tokens, self.bodies = [], []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                token = self.headers["Authorization"].partition(" ")[2]
                picky.bodies.append(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
                picky.tokens.append(token)
                self.send_response(401 if token == picky.tokens[0] else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def picky():
    picky = Picky()
    yield picky
    picky.close()


@pytest.fixture
def client(sandbox, store):
    with enrollkit.Client(configuration(sandbox), store=store) as client:
        client.sign_in(present=playing(sandbox), confirm=lambda profile: True)
        yield client


def test_requests_sends_a_token_and_renews_it_after_a_401(client, picky):
    first = client.access_token()
    with requests.Session() as session:
        session.auth = enrollkit.requests.Auth(client)
        answer = session.post(picky.url, data=b"body")
        assert answer.status_code == 200 and [one.status_code for one in answer.history] == [401]
        assert session.get(picky.url).status_code == 200
    second = client.access_token()
    assert picky.tokens == [first.value, second.value, second.value] and picky.bodies == [b"body", b"body", b""]


def test_requests_does_not_send_a_stream_twice(client, picky):
    answer = requests.post(picky.url, data=iter([b"a"]), auth=enrollkit.requests.Auth(client), timeout=30)
    assert answer.status_code == 401 and len(picky.tokens) == 1


def test_httpx_sends_a_token_and_renews_it_after_a_401(client, picky):
    first = client.access_token()
    with httpx.Client(auth=enrollkit.httpx.Auth(client)) as session:
        assert session.post(picky.url, content=b"body").status_code == 200
        assert session.get(picky.url).status_code == 200
    second = client.access_token()
    assert picky.tokens == [first.value, second.value, second.value] and picky.bodies == [b"body", b"body", b""]


def test_httpx_does_the_same_for_asyncio(sandbox, store, picky):
    async def walk():
        async with enrollkit.aio.Client(configuration(sandbox), store=store) as client:
            await client.sign_in(present=playing(sandbox), confirm=lambda profile: True)
            first = await client.access_token()
            async with httpx.AsyncClient(auth=enrollkit.httpx.AsyncAuth(client)) as session:
                assert (await session.post(picky.url, content=b"body")).status_code == 200
            assert picky.tokens == [first.value, (await client.access_token()).value]
            return client

    client = asyncio.run(walk())
    with pytest.raises(TypeError, match="Auth"), httpx.Client(auth=enrollkit.httpx.AsyncAuth(client)) as wrong:
        wrong.get(picky.url)


def test_proofs_carry_the_nonce_that_the_server_demands(own_sandbox, store):
    sandbox = own_sandbox("--dpop", "required", "--demand-nonces")
    url = f"{sandbox.issuer}/userinfo"
    with enrollkit.Client(configuration(sandbox), store=store) as client:
        client.sign_in(present=playing(sandbox), confirm=lambda profile: True)
        for _ in range(2):
            assert requests.get(url, auth=enrollkit.requests.Auth(client), timeout=30).json()["sub"]
            with httpx.Client(auth=enrollkit.httpx.Auth(client)) as session:
                assert session.get(url).json()["sub"]
    assert sandbox.control("counts")["refreshes"] == 0


def test_without_a_session_the_request_is_not_sent(sandbox, store, picky):
    with enrollkit.Client(configuration(sandbox), store=store) as client:
        with pytest.raises(enrollkit.EnrollReauthenticate):
            requests.get(picky.url, auth=enrollkit.requests.Auth(client), timeout=30)
        with pytest.raises(enrollkit.EnrollReauthenticate), httpx.Client(auth=enrollkit.httpx.Auth(client)) as session:
            session.get(picky.url)
    assert picky.tokens == []
