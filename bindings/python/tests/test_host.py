"""The program's own transport and secret store, and the statuses of their exceptions, on each face."""

import asyncio
import base64
import gc
import logging
import os
import re
import signal
import ssl
import textwrap
import threading
import time
import urllib.error
import urllib.request
import weakref

import pytest

import enrollkit
from conftest import CUSTOM, FACES, Face, Spoken, configuration, signed_in
from enrollkit import _given, _library
from enrollkit._generated.commands import CoreCommands
from test_bad_input import run, running, under_way
from test_bad_input import told as told_by


class _Stop(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def send(request):
    """A transport that uses the standard library."""
    asked = urllib.request.Request(request.url, request.body or None, dict(request.headers), method=request.method)
    try:
        answer = urllib.request.build_opener(_Stop).open(asked, timeout=request.timeout)
    except urllib.error.HTTPError as refused:
        answer = refused
    with answer:
        body = answer.read(request.response_limit + 1)
        return enrollkit.HTTPResponse(answer.status, list(answer.headers.items()), body)


class Counted:
    """A transport that keeps the requests that passed through it."""

    def __init__(self):
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        return send(request)


class Hanging:
    """A transport that never answers. As a function it returns when no caller waits any more; as a coroutine function
    it never returns."""

    def __init__(self):
        self.reached, self.ended = threading.Event(), threading.Event()

    def in_a_thread(self, request):
        self.reached.set()
        while not request.is_cancelled():
            time.sleep(0.01)
        self.ended.set()
        raise ConnectionError("given up")

    async def in_the_loop(self, request):
        self.reached.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()


async def came(event):
    assert await asyncio.to_thread(event.wait, 30)


@pytest.fixture(params=[*((name, False) for name in FACES), ("aio library", True), ("aio daemon", True)], ids=str)
def kind(request):
    """The face, and whether its transports are coroutine functions."""
    name, in_the_loop = request.param
    return Face(name), in_the_loop


@pytest.fixture
def kinds_face(kind):
    """The face, as a separate fixture, so that it ends with the test."""
    return kind[0]


def transport_of(answer, in_the_loop):
    """A transport that returns `answer(request)`, or raises the exception of that call."""

    async def sending(request):
        await asyncio.sleep(0)
        return answer(request)

    return sending if in_the_loop else answer


async def test_http_goes_through_the_program(face, sandbox, store):
    transport = Counted()
    client = await signed_in(face, sandbox, store, transport=transport)
    first = await client.access_token()
    assert (await client.refresh()).value != first.value
    paths = [request.url.removeprefix(sandbox.issuer) for request in transport.requests]
    assert "/.well-known/openid-configuration" in paths and paths.count("/token") == 2
    token_request = next(request for request in transport.requests if request.url.endswith("/token"))
    assert (token_request.method, token_request.needs_fresh_connection) == ("POST", True)
    assert b"code_verifier=" in token_request.body and 0 < token_request.timeout <= 60
    # The caller that waited has its answer, and needs no response any more.
    assert token_request.is_cancelled()
    assert "code_verifier" not in repr(token_request) and token_request.url not in repr(token_request)


async def test_a_coroutine_function_sends_in_the_event_loop(aio_face, sandbox, store):
    loop = asyncio.get_running_loop()
    seen = []

    async def sending(request):
        seen.append((asyncio.get_running_loop() is loop, threading.current_thread() is threading.main_thread()))
        return await asyncio.to_thread(send, request)

    class Sender:
        async def __call__(self, request):
            return await sending(request)

    client = await signed_in(aio_face, sandbox, store, transport=sending)
    await client.close()
    # A function that returns an awaitable is accepted, too.
    for transport in (Sender(), Sender().__call__, lambda request: sending(request)):
        client = await aio_face.client(configuration(sandbox), store=store, transport=transport)
        assert (await client.refresh()).outcome == "valid"
    assert set(seen) == {(True, True)}


FAILURES = [
    (ConnectionRefusedError("refused"), enrollkit.EnrollNetwork),
    (TimeoutError("late"), enrollkit.EnrollTimeout),
    (ssl.SSLCertVerificationError("self-signed"), enrollkit.EnrollTLS),
    (enrollkit.EnrollResponseInvalid("too long"), enrollkit.EnrollResponseInvalid),
    (enrollkit.EnrollCancelled("enough"), enrollkit.EnrollCancelled),
    (enrollkit.EnrollStoreFull("none of its statuses"), enrollkit.EnrollInternal),
    (ZeroDivisionError("a defect of the program's"), enrollkit.EnrollInternal),
    (StopIteration("what no future takes"), enrollkit.EnrollInternal),
]
# If any code in an event loop raises one of these exceptions, the loop ends.
ENDS = [(KeyboardInterrupt(), enrollkit.EnrollInternal), (SystemExit(3), enrollkit.EnrollInternal)]

ANSWERS = [
    None,
    "text",
    enrollkit.HTTPResponse(99),
    enrollkit.HTTPResponse("200"),
    enrollkit.HTTPResponse(200, [("\n", "x")] * 300),
    enrollkit.HTTPResponse(200, [("x", "y")], "no bytes"),
    enrollkit.HTTPResponse(200, 7),
]


async def test_what_a_transport_raises_fails_the_call_that_needed_it(kind, kinds_face, sandbox, store):
    face, in_the_loop = kind
    raising = []

    def answer(request):
        raise raising[0]

    client = await face.client(configuration(sandbox, CUSTOM), store=store, transport=transport_of(answer, in_the_loop))
    for failure, becomes in FAILURES[: -1 if in_the_loop else None] + ([] if in_the_loop else ENDS):
        raising[:] = [failure]
        with pytest.raises(becomes) as told:
            await client.begin()
        assert told.value.__cause__ is failure
    if in_the_loop:
        raising[:] = [asyncio.CancelledError()]
        with pytest.raises(enrollkit.EnrollInternal) as told:
            await client.begin()
        assert "Cancelled" in type(told.value.__cause__).__name__
    assert await client.state() == enrollkit.Unregistered()


async def test_what_a_transport_answers_is_not_believed(kind, kinds_face, sandbox, store):
    face, in_the_loop = kind
    answers = []
    transport = transport_of(lambda request: answers[0], in_the_loop)
    client = await face.client(configuration(sandbox, CUSTOM), store=store, transport=transport)
    for answer in ANSWERS:
        answers[:] = [answer]
        with pytest.raises(enrollkit.EnrollInternal) as told:
            await client.begin()
        assert isinstance(told.value.__cause__, (TypeError, ValueError)), (answer, told.value)
    # A response that is too long or is not JSON is the server's fault.
    for body in (b"x" * (64 << 20), b"\0\xff", b""):
        answers[:] = [enrollkit.HTTPResponse(200, [("Content-Type", "application/json")], body)]
        with pytest.raises(enrollkit.EnrollResponseInvalid) as told:
            await client.begin()
        assert told.value.__cause__ is None


async def test_a_failure_is_the_cause_of_every_call_that_it_failed_and_of_no_other(face, sandbox, store):
    failure = ZeroDivisionError("a defect of the program's")
    failing, opened = [], threading.Event()

    def transport(request):
        if failing and request.url.endswith(failing[0]):
            assert opened.wait(30)
            raise failure
        return send(request)

    client = await signed_in(face, sandbox, store, transport=transport)
    failing[:] = ["/token"]
    asked = [asyncio.ensure_future(client.refresh()) for _ in range(4)]
    await under_way(face, client, len(asked))
    opened.set()
    for token in await asyncio.gather(*asked):
        # One renewal served all callers, and the existing token still works.
        assert token.is_stale and token.reason == "internal" and token.error.__cause__ is failure
    with pytest.raises(enrollkit.EnrollInvalidArgument) as wrong:
        await client.begin(kind="teleport")
    assert wrong.value.__cause__ is None
    failing[:] = ["/userinfo"]
    with pytest.raises(enrollkit.EnrollInternal) as told:
        await client.userinfo()
    assert told.value.__cause__ is failure


async def test_a_failure_that_is_over_is_no_cause(daemon_face, sandbox, store):
    failing = []

    def transport(request):
        if failing and request.url.endswith("/userinfo"):
            raise failing[0]
        return send(request)

    client = await signed_in(daemon_face, sandbox, store, transport=transport)
    failing[:] = [ConnectionError("away")]
    with pytest.raises(enrollkit.EnrollNetwork) as told:
        await client.userinfo()
    assert told.value.__cause__ is failing[0]
    await client.refresh()
    real = client if daemon_face.is_async else client.real
    error = enrollkit.EnrollNetwork("another one")
    assert real._session._parts.explained(error) is error and error.__cause__ is None


async def test_who_waits_no_longer_is_told_to_the_transport(kind, kinds_face, sandbox, store):
    face, in_the_loop = kind
    first, second = Hanging(), Hanging()
    client = await face.client(
        configuration(sandbox, CUSTOM),
        store=store,
        transport=first.in_the_loop if in_the_loop else first.in_a_thread,
    )
    with pytest.raises(enrollkit.EnrollDeadlineExceeded) as late:
        await client.begin(timeout=1)
    assert late.value.__cause__ is None
    await came(first.ended)

    # Closing the client cancels the request, too, and affects no other client.
    client = await face.client(
        configuration(sandbox, CUSTOM),
        store=store,
        transport=second.in_the_loop if in_the_loop else second.in_a_thread,
    )
    begun = asyncio.ensure_future(client.begin())
    await came(second.reached)
    await client.close()
    with pytest.raises(enrollkit.EnrollCancelled):
        await begun
    await came(second.ended)
    other = await face.client(configuration(sandbox, CUSTOM), store=store)
    assert (await other.begin()).url


async def test_a_slow_transport_keeps_nobody_else_waiting(kind, kinds_face, sandbox, store):
    face, in_the_loop = kind
    reached, opened = threading.Event(), threading.Event()

    def slow(request):
        reached.set()
        assert opened.wait(60)
        return send(request)

    async def slow_in_the_loop(request):
        return await asyncio.to_thread(slow, request)

    transport = slow_in_the_loop if in_the_loop else slow
    client = await face.client(configuration(sandbox, CUSTOM), store=store, transport=transport)
    begun = asyncio.ensure_future(client.begin())
    try:
        await came(reached)
        other = await face.client(configuration(sandbox, CUSTOM), store=enrollkit.MEMORY, transport=Counted())
        core = await face.core()
        for _ in range(10):
            assert (await other.begin()).url and (await core.pkce()).code_verifier
        assert not begun.done()
    finally:
        opened.set()
    assert (await begun).url


async def test_two_clients_have_two_transports(face, sandbox, store):
    clients, transports = [], []
    for name in ("one", "other"):
        transports.append(Counted())
        clients.append(await signed_in(face, sandbox, store.with_name(name), transport=transports[-1]))
    assert all(transport.requests for transport in transports)
    for client, transport in zip(clients, transports):
        counts = [len(one.requests) for one in transports]
        await asyncio.gather(*(client.userinfo() for _ in range(4)))
        for one, count in zip(transports, counts):
            assert len(one.requests) == count + (4 if one is transport else 0)


async def test_the_first_header_of_a_name_counts(face, sandbox, store):
    def transport(request):
        if request.url.endswith("/token"):
            headers = [("retry-after", "7"), ("Retry-After", "9"), ("X-Mark", "\u2713"), ("Empty", "")]
            return enrollkit.HTTPResponse(503, headers)
        return send(request)

    client = await face.client(configuration(sandbox, CUSTOM), store=store, transport=transport)
    begun = await client.begin()
    with pytest.raises(enrollkit.EnrollServer) as told:
        await client.resume(sandbox.play(begun.url), transaction=begun)
    assert (told.value.http_status, told.value.retry_after) == (503, 7)


async def test_a_transport_may_not_use_a_client(kind, kinds_face, sandbox, store):
    face, in_the_loop = kind
    told, left = [], []

    def transport(request):
        if face.is_async:
            return send(request)
        for use in (client.real.state, client.real.refresh, client.real.events, open_another):
            with pytest.raises(enrollkit.EnrollReentrant) as reentrant:
                use()
            told.append(reentrant.value)
        if face.is_daemon:
            with pytest.raises(enrollkit.EnrollReentrant):
                over.close()
        return send(request)

    def open_another():
        enrollkit.Client(configuration(sandbox), store=store, over=over)

    async def transport_in_the_loop(request):
        for use in (client.state, client.refresh, lambda: face.client(configuration(sandbox), store=store)):
            with pytest.raises(enrollkit.EnrollReentrant) as reentrant:
                await use()
            told.append(reentrant.value)

        async def later():
            # A task that the transport leaves behind may use the client, once the call has ended.
            await answered.wait()
            return await client.state()

        left.append(asyncio.ensure_future(later()))
        return await asyncio.to_thread(send, request)

    over, answered = await face.over(), asyncio.Event()
    client = await face.client(
        configuration(sandbox, CUSTOM), store=store, transport=transport_in_the_loop if in_the_loop else transport
    )
    assert (await client.begin()).url
    answered.set()
    assert bool(told) == (in_the_loop or not face.is_async)
    for task in left:
        assert isinstance(await task, enrollkit.Authenticating)


@pytest.mark.parametrize("over", ["Library", "Daemon"])
def test_the_interpreter_ends_while_a_transport_is_slow(over, sandbox, store):
    script = f"""
        import enrollkit, threading, time
        reached = threading.Event()
        def transport(request):
            reached.set()
            while not request.is_cancelled(): time.sleep(0.01)
            raise ConnectionError("given up")
        over = enrollkit.{over}()
        client = enrollkit.Client({configuration(sandbox)!r}, store={str(store)!r}, transport=transport, over=over)
        threading.Thread(target=client.begin, daemon=True).start()
        assert reached.wait(30)
    """
    log = run(script)[1]
    assert "Fatal" not in log and "Segmentation" not in log, log


def test_a_part_that_recurses_without_end_raises_as_on_pythons_own_threads(tmp_path):
    # Each step is a call from C, so that it uses the C stack in every version of Python.
    script = f"""
        import enrollkit, threading
        def deep(depth=0):
            return next(iter(map(deep, [depth + 1])))
        def recurse(part):
            try:
                deep()
            except RecursionError:
                raised.add(part)
        def transport(request):
            recurse("transport")
            raise ConnectionError("enough")
        class Secrets(dict):
            def load(self, name):
                recurse("secrets")
                return self.get(name)
            def save(self, name, secret):
                self[name] = secret
            def remove(self, name):
                self.pop(name, None)
        raised = set()
        thread = threading.Thread(target=recurse, args=["thread"])
        thread.start()
        thread.join()
        configuration = {{"issuer": "https://provider.example", "clientId": "n", "redirectUri": "com.example.app:/c"}}
        client = enrollkit.Client(
            configuration, store={str(tmp_path / "store")!r}, keys=enrollkit.Keys(host=Secrets()), transport=transport,
            over=enrollkit.Library())
        try:
            client.begin()
        except enrollkit.EnrollNetwork:
            print(*sorted(raised))
    """
    assert run(script)[0] == "secrets thread transport\n"


HANGING = {
    "called": """
        over = enrollkit.Daemon()
        client = enrollkit.Client(configuration, store=store, transport=transport, over=over)
        threading.Thread(target=client.begin, daemon=True).start()
        assert reached.wait(30)
    """,
    "awaited": """
        async def main():
            over = enrollkit.aio.Daemon()
            client = await enrollkit.aio.Client(configuration, store=store, transport=transport, over=over)
            begun = asyncio.ensure_future(client.begin())
            while not reached.is_set(): await asyncio.sleep(0.01)
        asyncio.run(main())
    """,
    "awaited and closed": """
        async def main():
            async with enrollkit.aio.Daemon() as over:
                client = await enrollkit.aio.Client(configuration, store=store, transport=transport, over=over)
                begun = asyncio.ensure_future(client.begin())
                while not reached.is_set(): await asyncio.sleep(0.01)
            try:
                await begun
            except enrollkit.EnrollError as error:
                print("ended")
        asyncio.run(main())
    """,
}


@pytest.mark.parametrize("ending", HANGING)
def test_a_transport_that_hangs_for_ever_keeps_no_program_from_ending(ending, sandbox, store):
    script = f"""
        import asyncio, enrollkit, enrollkit.aio, threading
        configuration, store = {configuration(sandbox)!r}, {str(store)!r}
        reached = threading.Event()
        def transport(request):
            reached.set()
            threading.Event().wait()
    """
    output, log = run(textwrap.dedent(script) + textwrap.dedent(HANGING[ending]))
    assert "Fatal" not in log and "Segmentation" not in log, log
    assert output == ("ended\n" if "closed" in ending else "")


@pytest.mark.parametrize("over", ["Library", "Daemon"])
def test_ctrl_c_ends_a_wait_for_a_transport(over, sandbox, store):
    script = f"""
        import enrollkit, signal, time
        signal.signal(signal.SIGINT, signal.default_int_handler)
        def transport(request):
            print("ready", flush=True)
            while not request.is_cancelled(): time.sleep(0.01)
            raise ConnectionError("given up")
        over = enrollkit.{over}()
        client = enrollkit.Client({configuration(sandbox)!r}, store={str(store)!r}, transport=transport, over=over)
        try:
            client.begin()
        except KeyboardInterrupt:
            print("interrupted", client.state().state, flush=True)
    """
    with running(script) as program:
        assert program.stdout.readline() == "ready\n"
        program.send_signal(signal.SIGINT)
        output, log = told_by(program)
        assert "interrupted unregistered" in output, (output, log)


async def test_a_daemon_that_ends_takes_its_questions_back(daemon_face, sandbox, store):
    hanging = Hanging()
    client = await daemon_face.client(configuration(sandbox, CUSTOM), store=store, transport=hanging.in_a_thread)
    begun = asyncio.ensure_future(client.begin())
    await came(hanging.reached)
    os.kill((await daemon_face.over()).process_id, signal.SIGKILL)
    with pytest.raises(enrollkit.EnrollDaemonEnded):
        await begun
    await came(hanging.ended)


async def test_closing_a_daemon_stores_a_renewal_that_the_transport_has_in_hand(daemon_face, sandbox, store):
    is_holding, reached, opened = threading.Event(), threading.Event(), threading.Event()

    def transport(request):
        if is_holding.is_set():
            reached.set()
            assert opened.wait(30)
        return send(request)

    client = await signed_in(daemon_face, sandbox, store, transport=transport)
    first = await client.access_token()
    over = await daemon_face.over()
    is_holding.set()
    renewal = asyncio.ensure_future(client.refresh())
    await came(reached)
    closing = asyncio.ensure_future((over if daemon_face.is_async else Spoken(over)).close())
    # The caller's wait for the renewal ends at once; the renewal goes on.
    with pytest.raises(enrollkit.EnrollError):
        await renewal
    assert not closing.done()
    opened.set()
    await closing
    with enrollkit.Client(configuration(sandbox), store=store) as later:
        second = later.access_token()
        assert second.value != first.value and second.outcome == "valid"
        # The refresh token was not spent by the client that was closed.
        assert later.refresh().outcome == "valid"


async def test_nothing_keeps_a_transport_whose_client_is_closed(face, sandbox, store):
    transport, drawer = Counted(), Drawer()
    kept = weakref.ref(transport), weakref.ref(drawer)
    client = await signed_in(face, sandbox, store, transport=transport, keys=enrollkit.Keys(host=drawer))
    await client.close()
    face.forget(client)
    transport.requests.clear()
    del client, transport, drawer
    while any(one() is not None for one in kept):
        gc.collect()
        await asyncio.sleep(0.01)
    assert not _library._hosts


async def test_a_daemon_that_is_closed_leaves_no_thread(daemon_face, sandbox, store):
    def threads():
        return {one.name for one in threading.enumerate() if one.name.startswith("enrolld")}

    while threads():
        await asyncio.sleep(0.01)
    keys = enrollkit.Keys(host=Drawer())
    client = await signed_in(daemon_face, sandbox, store, transport=send, keys=keys)
    await (await daemon_face.core()).accounts(store, keys=keys)
    assert threads() >= {"enrolld transport", "enrolld secrets"}
    await client.close()
    over = await daemon_face.over()
    await (over if daemon_face.is_async else Spoken(over)).close()
    while threads():
        await asyncio.sleep(0.01)


class Drawer:
    """A secret store in memory."""

    def __init__(self):
        self.kept = {}
        self.failure = None
        self.gate = None
        self.reached = threading.Event()

    def _open(self):
        if self.gate is not None:
            self.reached.set()
            assert self.gate.wait(30)
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


async def test_the_program_keeps_the_stores_secret(face, sandbox, store):
    drawer = Drawer()
    keys = enrollkit.Keys(host=drawer)
    client = await signed_in(face, sandbox, store, keys=keys)
    token = await client.access_token()
    await client.close()
    assert [len(secret) for secret in drawer.kept.values()] == [32]
    assert not (store / "key").exists()

    client = await face.client(configuration(sandbox), store=store, keys=keys)
    assert await client.access_token() == token
    await client.close()
    # Every face finds the same secret.
    for name in FACES:
        other = Face(name)
        try:
            client = await other.client(configuration(sandbox), store=store, keys=keys)
            assert await client.access_token() == token
        finally:
            await other.end()


async def test_a_secret_store_that_fails_signs_nobody_out(face, sandbox, store):
    drawer = Drawer()
    keys = enrollkit.Keys(host=drawer)
    client = await signed_in(face, sandbox, store, keys=keys)
    token = await client.access_token()
    await client.close()
    core, kept = await face.core(), drawer.kept
    locked = enrollkit.EnrollStoreLocked("touch the token")
    defect, end = ZeroDivisionError("a defect"), SystemExit("no concern of a secret store's")
    for failure, now, becomes, cause in (
        (locked, kept, enrollkit.EnrollStoreLocked, locked),
        (defect, kept, enrollkit.EnrollStoreIO, defect),
        (end, kept, enrollkit.EnrollStoreIO, end),
        (None, {}, enrollkit.EnrollStoreLocked, None),
        (None, dict.fromkeys(kept, bytes(32)), enrollkit.EnrollStoreKey, None),
        (None, dict.fromkeys(kept, b"short"), enrollkit.EnrollStoreIO, ValueError),
        (None, dict.fromkeys(kept, "text" * 8), enrollkit.EnrollStoreIO, TypeError),
    ):
        client = await face.client(configuration(sandbox), store=store, keys=keys)
        drawer.failure, drawer.kept = failure, now
        for ask in (client.access_token, client.refresh, lambda: core.accounts(store, keys=keys)):
            with pytest.raises(becomes) as told:
                await ask()
            raised = told.value.__cause__
            if becomes in (enrollkit.EnrollStoreLocked, enrollkit.EnrollStoreIO):
                fits = isinstance(raised, cause) if isinstance(cause, type) else raised is cause
                assert fits, (told.value, raised, cause)
        # The open client works again once the secret store works again.
        drawer.failure, drawer.kept = None, kept
        if becomes is not enrollkit.EnrollStoreKey:
            assert await client.access_token() == token
        await client.close()


async def test_a_secret_that_is_held_back_keeps_nobody_else_waiting(face, sandbox, store):
    drawer = Drawer()
    keys = enrollkit.Keys(host=drawer)
    await (await signed_in(face, sandbox, store, keys=keys)).close()
    drawer.gate = threading.Event()
    client = await face.client(configuration(sandbox), store=store, keys=keys)
    held = asyncio.ensure_future(client.access_token())
    try:
        await came(drawer.reached)
        core = await face.core()
        other = await face.client(configuration(sandbox, CUSTOM), store=enrollkit.MEMORY, transport=send)
        for _ in range(10):
            assert (await other.begin()).url and (await core.pkce()).code_verifier
        assert not held.done()
    finally:
        drawer.gate.set()
    assert (await held).outcome == "valid"


async def test_commands_about_a_store_take_the_programs_secrets(face, sandbox, store):
    drawer = Drawer()
    host, file = enrollkit.Keys(host=drawer), enrollkit.Keys()
    await (await signed_in(face, sandbox, store, account="zoë")).close()
    core = await face.core()
    assert await core.rekey(store, keys=file, new_keys=host) == "host"
    assert len(drawer.kept) == 1 and not (store / "key").exists()
    assert await core.accounts(store, keys=host) == ("zoë",)
    diagnosis = await core.diagnose(store, keys=host)
    assert diagnosis.key_providers == ("host",) and diagnosis.accounts == 1 and diagnosis.problem is None
    (before,) = drawer.kept.values()
    # Without new keys, the store's key stays with its provider, and is wrapped again.
    assert await core.rekey(store, keys=host, new_data_key=True) == "host"
    assert len(drawer.kept) == 1 and before not in drawer.kept.values()
    client = await face.client(configuration(sandbox), store=store, account="zoë", keys=host)
    assert (await client.access_token()).outcome == "valid"
    await client.close()
    await core.reset_installation(store, keys=host)
    assert await core.rekey(store, keys=host, new_keys=enrollkit.Keys("auto")) == "file"
    assert drawer.kept == {}
    assert await core.rekey(store, keys=file, new_keys=host) == "host"
    await core.remove_account(store, "zoë", keys=host)
    assert await core.accounts(store, keys=host) == ()
    with pytest.raises(enrollkit.EnrollNotFound):
        await core.rekey(store.with_name("none"), keys=host)
    with pytest.raises(enrollkit.EnrollInvalidArgument):
        await core.remove_account(store, 7, keys=host)


def test_a_key_stays_where_it_is_without_new_keys():
    asked = []

    class Core(CoreCommands):
        def _call(self, command, parameters, timeout):
            asked.append(parameters)
            return {"provider": "passphrase"}

    guarded = enrollkit.Keys("passphrase", passphrase="correct horse")
    Core().rekey("/store", keys=guarded, new_data_key=True)
    Core().rekey("/store", keys=guarded, new_keys=enrollkit.Keys())
    assert [one.get("newKeys") for one in asked] == [None, {"provider": "file"}]


async def test_a_key_moves_from_one_secret_store_to_another(face, sandbox, store):
    one, other = Drawer(), Drawer()
    keys, new_keys = enrollkit.Keys(host=one), enrollkit.Keys(host=other)
    await (await signed_in(face, sandbox, store, keys=keys)).close()
    core = await face.core()
    if face.is_daemon:
        with pytest.raises(enrollkit.EnrollUnsupported) as unsupported:
            await core.rekey(store, keys=keys, new_keys=new_keys)
        assert unsupported.value.field == "newKeys" and other.kept == {}
        assert await core.accounts(store, keys=keys) == ("default",)
    else:
        assert await core.rekey(store, keys=keys, new_keys=new_keys) == "host"
        assert one.kept == {} and len(other.kept) == 1
        assert await core.accounts(store, keys=new_keys) == ("default",)


async def two_stores(face, sandbox, store):
    """Two secret stores, each with the secret of a store."""
    drawers = [Drawer(), Drawer()]
    stores = [store.with_name(name) for name in ("one", "other")]
    keys = [enrollkit.Keys(host=drawer) for drawer in drawers]
    for path, one in zip(stores, keys):
        await (await signed_in(face, sandbox, path, keys=one)).close()
    return drawers, stores, keys


async def test_commands_about_two_stores_do_not_take_each_others_secrets(face, sandbox, store):
    drawers, stores, keys = await two_stores(face, sandbox, store)
    core = await face.core()
    drawers[0].gate = threading.Event()
    asked = [asyncio.ensure_future(core.accounts(stores[0], keys=keys[0]))]
    await came(drawers[0].reached)
    asked += [asyncio.ensure_future(core.accounts(stores[n % 2], keys=keys[n % 2])) for n in range(1, 6)]
    # This answer arrives after the requests above were sent.
    assert (await core.pkce()).code_verifier
    drawers[0].gate.set()
    for names in await asyncio.gather(*asked):
        assert names == ("default",)
    for path, drawer, one in zip(stores, drawers, keys):
        await core.rekey(path, keys=one, new_data_key=True)
        assert len(drawer.kept) == 1


async def test_a_command_about_a_store_that_is_given_up_ends_before_the_next(sandbox, store):
    """The next command's secret store must not serve the requests of the command before it."""
    face = Face("aio daemon")
    try:
        drawers, stores, keys = await two_stores(face, sandbox, store)
        core = await face.core()
        drawers[0].gate = threading.Event()
        given_up = asyncio.ensure_future(core.rekey(stores[0], keys=keys[0], new_data_key=True))
        await came(drawers[0].reached)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        following = asyncio.ensure_future(core.accounts(stores[1], keys=keys[1]))
        assert (await core.pkce()).code_verifier
        drawers[0].gate.set()
        assert await following == ("default",)
        assert await core.accounts(stores[0], keys=keys[0]) == ("default",)
        assert [len(drawer.kept) for drawer in drawers] == [1, 1]
    finally:
        await face.end()


def test_ctrl_c_gives_up_a_command_about_a_store_and_the_next_waits_for_its_end(sandbox, store):
    script = f"""
        import enrollkit, signal, threading, time
        signal.signal(signal.SIGINT, signal.default_int_handler)
        class Drawer:
            gate = None
            def __init__(self): self.kept = {{}}
            def load(self, name):
                if self.gate:
                    print("ready", flush=True)
                    self.gate.wait(30)
                return self.kept.get(name)
            def save(self, name, secret): self.kept[name] = secret
            def remove(self, name): self.kept.pop(name, None)
        drawers = Drawer(), Drawer()
        over = enrollkit.Daemon()
        for drawer, name in zip(drawers, "ab"):
            with enrollkit.Client({configuration(sandbox, CUSTOM)!r}, store={str(store)!r} + name, over=over,
                                  keys=enrollkit.Keys(host=drawer)) as client:
                client.begin()
        drawers[0].gate = threading.Event()
        try:
            over.rekey({str(store)!r} + "a", keys=enrollkit.Keys(host=drawers[0]), new_data_key=True)
        except KeyboardInterrupt:
            def open_once_the_next_is_there():
                while sum(one.name == "enrolld store" for one in threading.enumerate()) < 2: time.sleep(0.01)
                drawers[0].gate.set()
            threading.Thread(target=open_once_the_next_is_there, daemon=True).start()
            over.rekey({str(store)!r} + "b", keys=enrollkit.Keys(host=drawers[1]), new_data_key=True)
            print("interrupted", [len(drawer.kept) for drawer in drawers], flush=True)
    """
    with running(script) as program:
        assert program.stdout.readline() == "ready\n"
        program.send_signal(signal.SIGINT)
        output, log = told_by(program)
        assert "interrupted [1, 1]" in output, (output, log)


async def test_the_programs_secrets_are_in_no_log(face, sandbox, store, caplog):
    caplog.set_level(logging.DEBUG)
    drawer, transport = Drawer(), Counted()
    keys = enrollkit.Keys(host=drawer)
    client = await signed_in(face, sandbox, store, transport=transport, keys=keys)
    token = await client.refresh()
    core = await face.core()
    await core.accounts(store, keys=keys)
    (secret,) = drawer.kept.values()
    drawer.failure = enrollkit.EnrollStoreLocked("touch the token")
    with pytest.raises(enrollkit.EnrollStoreLocked) as locked:
        await core.accounts(store, keys=keys)
    shown = [client, keys, locked.value, _given.given_keys(keys), *transport.requests]
    text = caplog.text + repr(shown) + " ".join(map(str, shown))
    bodies = b"&".join(request.body for request in transport.requests).decode()
    sent = re.findall(r"(?:code|code_verifier|refresh_token)=([^&]{8,})", bodies)
    assert len(sent) >= 3
    plain = base64.urlsafe_b64encode(secret).decode().rstrip("=")
    for word in (token.value, plain, secret.hex(), repr(secret), *drawer.kept, *sent):
        assert word not in text, word
