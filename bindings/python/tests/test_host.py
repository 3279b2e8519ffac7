"""The program's own parts: HTTP and secrets, and what their exceptions become. Only the library takes them."""

import asyncio
import ssl
import threading
import urllib.error
import urllib.request

import pytest

import enrollkit
from conftest import CUSTOM, configuration, playing, signed_in


class _Stop(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def send(request):
    """A transport, with the standard library."""
    asked = urllib.request.Request(request.url, request.body or None, dict(request.headers), method=request.method)
    try:
        answer = urllib.request.build_opener(_Stop).open(asked, timeout=request.timeout)
    except urllib.error.HTTPError as refused:
        answer = refused
    with answer:
        body = answer.read(request.response_limit + 1)
        return enrollkit.HTTPResponse(answer.status, list(answer.headers.items()), body)


class Counted:
    """The same, and what passed through it."""

    def __init__(self):
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        return send(request)


async def test_http_goes_through_the_program(library_face, sandbox, store):
    transport = Counted()
    client = await signed_in(library_face, sandbox, store, transport=transport)
    first = await client.access_token()
    assert (await client.refresh()).value != first.value
    paths = [request.url.removeprefix(sandbox.issuer) for request in transport.requests]
    assert "/.well-known/openid-configuration" in paths and paths.count("/token") == 2
    token_request = next(request for request in transport.requests if request.url.endswith("/token"))
    assert (token_request.method, token_request.needs_fresh_connection) == ("POST", True)
    assert b"code_verifier=" in token_request.body and 0 < token_request.timeout <= 60
    # Whoever waited has his answer.
    assert token_request.is_cancelled()
    assert "code_verifier" not in repr(token_request) and token_request.url not in repr(token_request)


async def test_a_coroutine_function_sends_in_the_event_loop(sandbox, store):
    loop = asyncio.get_running_loop()
    seen = []

    async def sending(request):
        seen.append((asyncio.get_running_loop() is loop, threading.current_thread() is threading.main_thread()))
        return await asyncio.to_thread(send, request)

    client = await enrollkit.aio.Client(configuration(sandbox), store=store, transport=sending)
    async with client:
        await client.sign_in(present=playing(sandbox), confirm=lambda profile: True)
    assert seen and set(seen) == {(True, True)}


FAILURES = [
    (ConnectionRefusedError("refused"), enrollkit.EnrollNetwork),
    (TimeoutError("late"), enrollkit.EnrollTimeout),
    (ssl.SSLCertVerificationError("self-signed"), enrollkit.EnrollTLS),
    (enrollkit.EnrollResponseInvalid("too long"), enrollkit.EnrollResponseInvalid),
    (ZeroDivisionError("a defect of the program's"), enrollkit.EnrollInternal),
    (KeyboardInterrupt(), enrollkit.EnrollInternal),
    (SystemExit(3), enrollkit.EnrollInternal),
]

ANSWERS = [
    None,
    "text",
    enrollkit.HTTPResponse(99),
    enrollkit.HTTPResponse("200"),
    enrollkit.HTTPResponse(200, [("\n", "x")] * 300),
    enrollkit.HTTPResponse(200, [("x", "y")], "no bytes"),
    enrollkit.HTTPResponse(200, 7),
]


async def test_what_a_transport_raises_fails_the_call_that_needed_it(library_face, sandbox, store):
    raising = []

    def transport(request):
        raise raising[0]

    client = await library_face.client(configuration(sandbox, CUSTOM), store=store, transport=transport)
    for failure, kind in FAILURES:
        raising[:] = [failure]
        with pytest.raises(kind) as told:
            await client.begin()
        assert told.value.__cause__ is failure
    assert await client.state() == enrollkit.Unregistered()


async def test_what_a_transport_answers_is_not_believed(library_face, sandbox, store):
    answers = []
    client = await library_face.client(
        configuration(sandbox, CUSTOM), store=store, transport=lambda request: answers[0]
    )
    for answer in ANSWERS:
        answers[:] = [answer]
        with pytest.raises(enrollkit.EnrollInternal) as told:
            await client.begin()
        assert isinstance(told.value.__cause__, (TypeError, ValueError)), (answer, told.value)
    answers[:] = [enrollkit.HTTPResponse(200, [], b"x" * (64 << 20))]
    with pytest.raises(enrollkit.EnrollResponseInvalid):
        await client.begin()


def test_a_transport_may_not_use_a_client(sandbox, store):
    told = []

    def transport(request):
        with pytest.raises(enrollkit.EnrollReentrant) as reentrant:
            client.state()
        told.append(reentrant.value)
        return send(request)

    with enrollkit.Client(configuration(sandbox, CUSTOM), store=store, transport=transport) as client:
        client.begin()
    assert told


def test_the_interpreter_ends_while_a_transport_is_slow(sandbox, store):
    from test_bad_input import run

    script = f"""
        import enrollkit, threading, time
        reached = threading.Event()
        def transport(request):
            reached.set()
            while not request.is_cancelled(): time.sleep(0.01)
            raise ConnectionError("given up")
        client = enrollkit.Client({configuration(sandbox)!r}, store={str(store)!r}, transport=transport)
        threading.Thread(target=client.begin, daemon=True).start()
        assert reached.wait(30)
    """
    log = run(script)[1]
    assert "Fatal" not in log and "Segmentation" not in log, log


async def test_a_daemon_has_no_transport_of_the_programs(daemon_face, sandbox, store):
    with pytest.raises(enrollkit.EnrollUnsupported) as unsupported:
        await daemon_face.client(configuration(sandbox), store=store, transport=send)
    assert unsupported.value.field == "transport"


class Drawer:
    """Secrets in memory."""

    def __init__(self):
        self.kept = {}
        self.failure = None

    def _open(self):
        if self.failure:
            raise self.failure

    def load(self, name):
        self._open()
        return self.kept.get(name)

    def save(self, name, secret):
        self._open()
        self.kept[name] = secret

    def remove(self, name):
        self._open()
        self.kept.pop(name, None)


async def test_the_program_keeps_the_stores_secret(library_face, sandbox, store):
    drawer = Drawer()
    keys = enrollkit.Keys(host=drawer)
    client = await signed_in(library_face, sandbox, store, keys=keys)
    token = await client.access_token()
    await client.close()
    assert [len(secret) for secret in drawer.kept.values()] == [32]
    assert not (store / "key").exists()

    client = await library_face.client(configuration(sandbox), store=store, keys=keys)
    assert await client.access_token() == token
    await client.close()

    for failure, kind in (
        (enrollkit.EnrollStoreLocked("touch the token"), enrollkit.EnrollStoreLocked),
        (ZeroDivisionError("a defect"), enrollkit.EnrollStoreIO),
    ):
        drawer.failure = failure
        with pytest.raises(kind) as told:
            client = await library_face.client(configuration(sandbox), store=store, keys=keys)
            await client.refresh()
        assert told.value.__cause__ is failure
    drawer.failure = None
    drawer.kept = dict.fromkeys(drawer.kept, b"short")
    with pytest.raises(enrollkit.EnrollStoreError):
        await (await library_face.client(configuration(sandbox), store=store, keys=keys)).refresh()


async def test_a_daemon_has_no_secrets_of_the_programs(daemon_face, sandbox, store):
    with pytest.raises(enrollkit.EnrollInvalidArgument) as wrong:
        await daemon_face.client(configuration(sandbox), store=store, keys=enrollkit.Keys(host=Drawer()))
    assert wrong.value.field == "keys"
