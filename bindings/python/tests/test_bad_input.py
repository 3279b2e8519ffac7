"""Mistakes of callers. Each causes an error with its own type, which says what was expected and what was passed."""

import asyncio
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import urllib.request
from datetime import datetime, timedelta

import pytest
from processes import wait_until
from provider import Gate, Silence

import enrollkit
import enrollkit.aio
from conftest import CUSTOM, LOOPBACK, Spoken, configuration, playing, signed_in
from enrollkit import _jsonrpc, _library


@pytest.fixture
def silence():
    """A provider that accepts every connection and never answers."""
    silence = Silence()
    yield silence
    silence.close()


def unheard(silence):
    return {**silence.configuration(), "redirectUri": CUSTOM}


WRONG = [
    ("resume", (7,), {}, "url"),
    ("resume", (b"com.example.app:/callback",), {}, "parameters"),
    ("resume", ("com.example.app:/callback",), {"timeout": "soon"}, "timeout"),
    ("resume", ("com.example.app:/callback",), {"timeout": -1}, "timeout"),
    ("resume", ("com.example.app:/callback",), {"timeout": float("nan")}, "timeout"),
    ("resume", ("com.example.app:/callback",), {"timeout": True}, "timeout"),
    ("resume", ("com.example.app:/callback",), {"transaction": 7}, "transaction"),
    ("begin", (), {"kind": "teleport"}, "kind"),
    ("begin", (), {"parameters": {"a": 1}}, "parameters.a"),
    ("begin", (), {"parameters": {"a": object()}}, "parameters"),
    ("begin", (), {"login_hint": "\ud800"}, "parameters"),
    ("begin", (), {"login_hint": "x" * 600}, "options.loginHint"),
    ("begin", (), {"login_hint": "x" * (2 << 20)}, "parameters"),
    ("begin", (), {"max_age": timedelta(seconds=-1)}, "max_age"),
    ("await_outcome", (object(),), {}, "transaction"),
    ("access_token", (), {"minimum_lifetime": "1"}, "minimum_lifetime"),
    ("access_token", (), {"minimum_lifetime": -1}, "minimum_lifetime"),
    ("introspect", (), {"token": "idToken"}, "token"),
    ("set_pin", (None,), {}, "pin"),
    ("set_pin", (2468,), {}, "pin"),
]


async def test_a_wrong_argument_is_named(face, sandbox, store):
    client = await face.client(configuration(sandbox, CUSTOM), store=store)
    for method, arguments, named, field in WRONG:
        with pytest.raises(enrollkit.EnrollInvalidArgument) as wrong:
            await getattr(client, method)(*arguments, **named)
        assert wrong.value.field == field, (method, arguments, named, str(wrong.value))
        assert wrong.value.blame == "caller" and isinstance(wrong.value, ValueError)
    assert await client.state() == enrollkit.Unregistered()


async def test_a_huge_number_is_a_number(face, sandbox, store):
    client = await signed_in(face, sandbox, store)
    for huge in (1 << 400, float("inf")):
        # A timeout is at most one day.
        assert await client.access_token(timeout=huge)
    with pytest.raises(enrollkit.EnrollError):
        await client.access_token(minimum_lifetime=1 << 400, timeout=1)
    core = await face.core()
    with pytest.raises(enrollkit.EnrollInvalidArgument):
        await core.check_expiry(datetime(2030, 1, 1))
    assert (await core.check_expiry(1 << 40)).band == "fresh"


OPENINGS = [
    ({"configuration": "issuer"}, "configuration"),
    ({"configuration": {"issuer": {1, 2}}}, "configuration"),
    ({"store": 7}, "store"),
    ({"store": b"/tmp"}, "store"),
    ({"store": "~/store"}, "store"),
    ({"store": "store"}, "store"),
    ({"store": "./store"}, "store"),
    ({"keys": enrollkit.Keys(file="~/key")}, "keys"),
    ({"account": 7}, "account"),
    ({"keys": "file"}, "keys"),
    ({"keys": enrollkit.Keys("nobody")}, "keys.provider"),
    ({"keys": enrollkit.Keys(session_cache_seconds=-1)}, "keys"),
    ({"platform": 7}, "platform"),
    ({"platform": {"width": 0}}, "platform"),
    ({"platform": {"colour": "red"}}, "platform"),
    ({"store": enrollkit.MEMORY, "keys": enrollkit.Keys()}, "keys"),
    ({"transport": 7}, "transport"),
    ({"over": 7}, "over"),
    ({"logger": "app"}, "logger"),
]


async def test_a_client_is_not_opened_with_what_it_cannot_be(face, sandbox, store):
    for changes, field in OPENINGS:
        arguments = {"configuration": configuration(sandbox), "store": store, **changes}
        with pytest.raises(enrollkit.EnrollInvalidArgument) as wrong:
            await face.client(arguments.pop("configuration"), **arguments)
        # A daemon and a library name the parts of an object in the same way, except for their spelling.
        assert (wrong.value.field or "").partition(".")[0] == field.partition(".")[0], (changes, str(wrong.value))
    for key, value in (("issuer", "ftp://id.example"), ("grace", -1), ("colour", "red"), ("redirect_uri", None)):
        with pytest.raises(enrollkit.EnrollError) as refused:
            await face.client({**configuration(sandbox), key: value}, store=store)
        assert refused.value.status in ("configuration", "invalidArgument"), refused.value
        assert key.split("_")[0] in f"{refused.value.field} {refused.value}", refused.value
    with pytest.raises(enrollkit.EnrollStoreError):
        await face.client(configuration(sandbox), store=store / "no" / "parent")


async def test_a_closed_client_is_closed(face, sandbox, store):
    client = await signed_in(face, sandbox, store)
    events = await face.events(client)
    await client.close()
    await client.close()
    assert "closed" in repr(client)
    for method in ("access_token", "state", "refresh", "logout"):
        with pytest.raises(enrollkit.EnrollHandle):
            await getattr(client, method)()
    with pytest.raises(enrollkit.EnrollHandle):
        await face.events(client)
    events.close() if face.is_async else await events.close()


async def test_a_closed_daemon_is_closed(daemon_face, sandbox, store):
    client = await daemon_face.client(configuration(sandbox), store=store)
    over = await daemon_face.over()
    spoken = over if daemon_face.is_async else Spoken(over)
    await spoken.close()
    await spoken.close()
    for call in (client.state, spoken.describe):
        with pytest.raises(enrollkit.EnrollHandle):
            await call()
    await client.close()


async def test_closing_gives_up_whoever_waits(face, sandbox, store):
    client = await face.client(configuration(sandbox), store=store)
    begun = await client.begin()
    waiting = asyncio.ensure_future(client.await_outcome(begun))
    await under_way(face, client)
    await client.close()
    with pytest.raises(enrollkit.EnrollCancelled):
        await waiting


async def under_way(face, client, calls=1):
    """Waits until this many calls were handed to the core."""
    over = await face.over()
    pending = over._conversation._waiting if face.is_daemon else _library._completions
    while len(pending) < calls:
        await asyncio.sleep(0.005)


async def test_a_deadline_ends_the_wait_alone(face, silence, store):
    client = await face.client(unheard(silence), store=store)
    for timeout in (0.2, timedelta(milliseconds=200), 1):
        with pytest.raises(enrollkit.EnrollDeadlineExceeded) as late:
            await client.begin(timeout=timeout)
        assert isinstance(late.value, TimeoutError) and late.value.retryable
    assert await client.state() == enrollkit.Unregistered()


@pytest.mark.parametrize("name", ["aio library", "aio daemon"])
async def test_cancelling_a_task_cancels_its_call(name, sandbox, store):
    from conftest import Face

    face = Face(name)
    try:
        client = await face.client(configuration(sandbox), store=store)
        begun = await client.begin()
        # More calls than a client has threads: another call would wait behind them, or fail as busy.
        tasks = [asyncio.create_task(client.await_outcome(begun)) for _ in range(16 if face.is_daemon else 64)]
        await under_way(face, client, len(tasks))
        for task in tasks:
            task.cancel()
        for task in tasks:
            with pytest.raises(asyncio.CancelledError):
                await task
        await once_not_busy(client.state)
        await asyncio.to_thread(follow, sandbox, begun)
        assert isinstance(await once_not_busy(client.await_outcome, begun), enrollkit.AwaitingConfirmation)
    finally:
        await face.end()


async def test_a_misspelt_word_is_told_the_accepted_ones(face, sandbox, store):
    client = await face.client(configuration(sandbox), store=store)
    with pytest.raises(enrollkit.EnrollInvalidArgument) as wrong:
        await client.sign_in(kind="sigin", present=lambda action: pytest.fail("a page was shown"))
    assert wrong.value.message.startswith("kind: expected one of signIn, register, ")
    assert wrong.value.message.endswith(", got another string; perhaps signIn was meant")


async def once_not_busy(call, *arguments):
    """Repeats the call until the daemon is no longer busy: it receives a cancellation a little later."""
    while True:
        try:
            return await call(*arguments)
        except enrollkit.EnrollBusy:
            await asyncio.sleep(0.01)


def follow(sandbox, begun):
    from sandbox import come_back

    come_back(sandbox.play(begun.action.url)).read()


@pytest.mark.parametrize("kind", ["Library", "Daemon"])
def test_ctrl_c_ends_a_wait(kind, sandbox, store):
    script = f"""
        import enrollkit, signal
        # If the tests run in the background, the signal is ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        over = enrollkit.{kind}()
        client = enrollkit.Client({configuration(sandbox)!r}, store={str(store)!r}, over=over)
        begun = client.begin()
        try:
            print("ready", flush=True)
            client.await_outcome(begun)
        except KeyboardInterrupt:
            print("interrupted", client.state().state, flush=True)
    """
    with running(script) as program:
        assert program.stdout.readline() == "ready\n"
        program.send_signal(signal.SIGINT)
        output, log = told(program)
        assert "interrupted authenticating" in output, (output, log)


@pytest.mark.parametrize("kind", ["Library", "Daemon"])
def test_ctrl_c_ends_a_sign_in_and_its_transaction(kind, sandbox, store):
    script = f"""
        import enrollkit, signal
        signal.signal(signal.SIGINT, signal.default_int_handler)
        client = enrollkit.Client({configuration(sandbox)!r}, store={str(store)!r}, over=enrollkit.{kind}())
        try:
            client.sign_in(present=lambda action: print("ready", flush=True))
        except KeyboardInterrupt:
            print("interrupted", client.state().state, flush=True)
    """
    with running(script) as program:
        assert program.stdout.readline() == "ready\n"
        program.send_signal(signal.SIGINT)
        output, log = told(program)
        assert "interrupted unregistered" in output, (output, log)


@pytest.mark.parametrize("kind, turns", [("Library", 4000), ("Daemon", 400)])
def test_ctrl_c_in_any_moment_of_a_call_gives_it_up(kind, turns, sandbox, store):
    script = f"""
        import contextlib, enrollkit, random, signal, time
        is_under_way = False
        def interrupt(*_):
            if is_under_way:
                raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, interrupt)
        client = enrollkit.Client({configuration(sandbox)!r}, store={str(store)!r}, over=enrollkit.{kind}())
        begun = client.begin()
        for _ in range({turns}):
            with contextlib.suppress(KeyboardInterrupt):
                try:
                    # Again until it is heard: one that falls into an object's end is swallowed by Python.
                    signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 4e-4), 0.1)
                    is_under_way = True
                    client.await_outcome(begun)
                except enrollkit.EnrollBusy:
                    # A cancelled call ends in a moment.
                    is_under_way = False
                    time.sleep(0.1)
                finally:
                    is_under_way = False
        is_under_way = False
        for _ in range(50):
            try:
                print("still there", client.state().state)
                break
            except enrollkit.EnrollBusy:
                time.sleep(0.1)
    """
    with running(script) as program:
        output, log = told(program)
        assert "still there authenticating" in output, (output, log)


def told(program, timeout=60):
    """The output of a program that has ended. A program that hangs is killed, and the stacks of its threads are
    printed."""
    try:
        return program.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        program.send_signal(signal.SIGABRT)
        return program.communicate()


def running(script, **more):
    return subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def run(script, timeout=60):
    """Runs a script to its successful end, and returns its output."""
    program = running(script)
    try:
        output, log = program.communicate(timeout=timeout)
    finally:
        program.kill()
    assert program.returncode == 0, (program.returncode, output, log)
    return output, log


ENDINGS = {
    "an open client": "client.state()",
    "a wait in a thread": """
        begun = client.begin()
        threading.Thread(target=lambda: client.await_outcome(begun), daemon=True).start()
        import time
        while not pending(): time.sleep(0.01)
    """,
    "a stream of events": """
        events = client.events()
        threading.Thread(target=lambda: list(events), daemon=True).start()
        client.state()
    """,
    "a renewal in the background": "client.state(); client.close(); open_one(renew_in_background=True).state()",
    "many threads": """
        def ask():
            while True:
                try: client.access_token()
                except enrollkit.EnrollError: pass
        for _ in range(8): threading.Thread(target=ask, daemon=True).start()
        client.state()
    """,
    "callbacks that are still to come": """
        events = client.events()
        if hasattr(client._session, "_native"):
            for _ in range(3000):
                client._session._native.prepare("diagnostics.export", {}, None, lambda outcome: dict(outcome)).start()
        client.state()
    """,
    "an exception": "client.state(); raise SystemExit(0)",
    "no reference": "client.state(); del client; import gc; gc.collect()",
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("kind", ["Library", "Daemon"])
def test_the_interpreter_ends_with(ending, kind, sandbox, store):
    script = f"""
        import enrollkit, threading
        over = enrollkit.{kind}()
        def open_one(**more):
            return enrollkit.Client({configuration(sandbox)!r}, store={str(store)!r}, over=over, **more)
        client = open_one()
        def pending():
            waiting = over._conversation._waiting if hasattr(over, "_conversation") else {{}}
            return enrollkit._library._completions or waiting
    """
    log = run(textwrap.dedent(script) + textwrap.dedent(ENDINGS[ending]))[1]
    assert "Fatal" not in log and "Segmentation" not in log, log


@pytest.mark.parametrize("kind", ["Library", "Daemon"])
def test_a_renewal_that_was_sent_is_stored_before_the_interpreter_ends(kind, sandbox, store):
    with urllib.request.urlopen(f"{sandbox.issuer}/.well-known/openid-configuration", timeout=30) as answer:
        metadata = json.load(answer)
    gate = Gate(metadata["token_endpoint"])
    names = ("authorization_endpoint", "jwks_uri", "userinfo_endpoint", "end_session_endpoint")
    endpoints = {**{name: metadata[name] for name in names}, "token_endpoint": gate.url}
    through_gate = configuration(sandbox, endpoints=endpoints)
    try:
        with enrollkit.Client(through_gate, store=store) as client:
            client.sign_in(present=playing(sandbox), confirm=lambda profile: True)
            first = client.access_token()
        gate.close_it()
        script = f"""
            import enrollkit, threading
            client = enrollkit.Client({through_gate!r}, store={str(store)!r}, over=enrollkit.{kind}())
            threading.Thread(target=client.refresh, daemon=True).start()
            input()
        """
        program = running(script, stdin=subprocess.PIPE)
        assert gate.reached.wait(60)
        program.stdin.write("the end\n")
        program.stdin.flush()
        with pytest.raises(subprocess.TimeoutExpired):
            program.wait(1)
        gate.open_it()
        log = program.communicate(timeout=60)[1]
        assert program.returncode == 0, log
        with enrollkit.Client(through_gate, store=store) as client:
            second = client.access_token()
            assert second.value != first.value
            # The process that was killed did not spend the refresh token.
            assert client.refresh().value != second.value
    finally:
        gate.open_it()
        gate.close()


AIO_ENDINGS = {
    "a task that waits": "begun = await client.begin(); task = asyncio.ensure_future(client.await_outcome(begun)); "
    "await asyncio.sleep(0)",
    "an open client": "await client.state()",
    "a stream of events": "events = client.events(); await events.__aenter__(); await client.state()",
}


@pytest.mark.parametrize("ending", AIO_ENDINGS)
@pytest.mark.parametrize("kind", ["Library", "Daemon"])
def test_the_event_loop_ends_with(ending, kind, sandbox, store):
    script = f"""
        import asyncio, enrollkit.aio
        async def main():
            over = enrollkit.aio.{kind}()
            client = await enrollkit.aio.Client({configuration(sandbox)!r}, store={str(store)!r}, over=over)
            {AIO_ENDINGS[ending]}
        asyncio.run(main())
    """
    log = run(script)[1]
    assert "Fatal" not in log and "Segmentation" not in log, log


@pytest.mark.parametrize("kind", ["Library", "Daemon"])
def test_a_forked_child_is_told(kind, sandbox, store):
    script = f"""
        import enrollkit, os, sys, gc
        configuration, store = {configuration(sandbox)!r}, {str(store)!r}
        over = enrollkit.{kind}()
        client = enrollkit.Client(configuration, store=store, over=over)
        events = client.events()
        client.state()
        child = os.fork()
        if child == 0:
            for call in (client.state, client.access_token, client.begin, client.events):
                try:
                    call()
                except enrollkit.EnrollForked as told:
                    assert told.status == "forked" and told.blame == "caller"
                else:
                    os._exit(7)
            client.close()
            client = None
            gc.collect()
            # The object that it makes itself belongs to it.
            with enrollkit.Client(configuration, store=store, over=enrollkit.{kind}()) as own:
                assert own.state() == enrollkit.Unregistered()
            sys.exit(0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0, status
        assert client.state() == enrollkit.Unregistered()
        over.close() if {kind == "Daemon"} else None
        print("well")
    """
    assert run(script)[0].endswith("well\n")


async def test_a_daemon_that_is_killed_says_so_to_everybody(daemon_face, sandbox, store):
    client = await daemon_face.client(configuration(sandbox), store=store)
    events = await daemon_face.events(client)
    begun = await client.begin()
    waiting = asyncio.ensure_future(client.await_outcome(begun))
    await under_way(daemon_face, client)
    os.kill((await daemon_face.over()).process_id, signal.SIGKILL)
    with pytest.raises(enrollkit.EnrollDaemonEnded) as ended:
        await waiting
    assert "signal 9" in str(ended.value) and ended.value.blame == "host"
    assert isinstance(ended.value, ConnectionError)
    with pytest.raises(enrollkit.EnrollDaemonEnded):
        await client.access_token()
    # Events that arrived before can still be read; then the stream has ended.
    while await events.get() is not None:
        pass
    await client.close()


async def test_a_daemon_that_stands_still_keeps_nobody_beyond_the_deadline(daemon_face, sandbox, store):
    client = await daemon_face.client(configuration(sandbox), store=store)
    daemon = (await daemon_face.over()).process_id
    os.kill(daemon, signal.SIGSTOP)
    try:
        for timeout in (0.1, 1):
            with pytest.raises(enrollkit.EnrollDeadlineExceeded):
                await client.state(timeout=timeout)
    finally:
        os.kill(daemon, signal.SIGCONT)
    # The late answers reach nobody.
    assert await client.state() == enrollkit.Unregistered()


PROGRAMS = {
    "missing": ("/nowhere/enrolld", "is not an executable file"),
    "a directory": ("/tmp", "is not an executable file"),
    "deaf": ("/bin/true", "does not answer as enrolld does"),
    "an echo": ("/bin/cat", "does not answer as enrolld does"),
}


@pytest.mark.parametrize("case", PROGRAMS)
async def test_what_is_no_daemon_is_not_taken_for_one(case):
    path, words = PROGRAMS[case]
    with pytest.raises(enrollkit.EnrollLibraryError) as wrong:
        enrollkit.Daemon(path)
    assert words in str(wrong.value) and isinstance(wrong.value, ImportError)
    with pytest.raises(enrollkit.EnrollLibraryError) as wrong:
        async with enrollkit.aio.Daemon(path):
            pass
    assert words in str(wrong.value)


def script_daemon(tmp_path, abi):
    """A program that answers system.describe as a daemon of another version does."""
    program = tmp_path / "enrolld"
    described = f'{{"version": "9.9.9", "abi": {abi}}}'
    program.write_text(
        f"#!{sys.executable}\nimport json, sys\nfor line in sys.stdin:\n"
        f"    answer = {{'jsonrpc': '2.0', 'id': json.loads(line)['id'], 'result': json.loads({described!r})}}\n"
        "    print(json.dumps(answer), flush=True)\n"
    )
    program.chmod(0o755)
    return program


async def test_a_daemon_of_another_version_is_refused(tmp_path):
    for abi in (65536, 0):
        program = script_daemon(tmp_path, abi)
        with pytest.raises(enrollkit.EnrollLibraryError, match=r"needs an enrolld with interface 0\.1 or a later"):
            enrollkit.Daemon(program)
        with pytest.raises(enrollkit.EnrollLibraryError, match=r"9\.9\.9 has [01]\.0"):
            async with enrollkit.aio.Daemon(program):
                pass
    # A later minor version is accepted.
    with enrollkit.Daemon(script_daemon(tmp_path, 7)):
        pass


def library_of(tmp_path, code, name="libenroll.so.0"):
    source = tmp_path / "library.c"
    source.write_text(code)
    library = tmp_path / name
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def test_a_library_that_does_not_fit_is_refused(tmp_path):
    with pytest.raises(enrollkit.EnrollLibraryError, match="could not be opened"):
        enrollkit.Library(tmp_path / "libenroll.so.0")
    text = tmp_path / "text.so"
    text.write_text("no library")
    with pytest.raises(enrollkit.EnrollLibraryError, match="could not be opened"):
        enrollkit.Library(text)
    stranger = library_of(tmp_path, "int other(void) { return 0; }", "stranger.so")
    with pytest.raises(enrollkit.EnrollLibraryError, match="is not libenroll"):
        enrollkit.Library(stranger)
    for number, (abi, words) in enumerate(((65536, r"has 1\.0"), (0, r"has 0\.0"), (1, "has no enroll_"))):
        other = library_of(tmp_path, f"unsigned enroll_abi_version(void) {{ return {abi}; }}", f"other{number}.so")
        with pytest.raises(enrollkit.EnrollLibraryError, match=words) as wrong:
            enrollkit.Library(other)
        assert "0.1 or a later minor one" in str(wrong.value)


def test_a_library_is_looked_for_where_it_is_named(tmp_path):
    script = """
        import enrollkit
        try:
            enrollkit.Library()
        except enrollkit.EnrollLibraryError as missing:
            print(missing)
    """
    program = running(script, env={**os.environ, "ENROLL_LIBRARY": "/nowhere/libenroll.so.0"})
    assert "/nowhere/libenroll.so.0" in program.communicate()[0]
    # Without a path: if neither the wheel nor the loader has a library, the one that pkg-config names is used.
    (tmp_path / "enroll.pc").write_text(f"libdir={tmp_path}\nName: enroll\nDescription: a test\nVersion: 0.1.0\n")
    nameless = {name: value for name, value in os.environ.items() if name != "ENROLL_LIBRARY"}
    nameless["PKG_CONFIG_PATH"] = str(tmp_path)
    program = running(script, env=nameless)
    assert f"{tmp_path}/libenroll.so.0" in program.communicate()[0]
    (tmp_path / "libenroll.so.0").symlink_to(os.environ["ENROLL_LIBRARY"])
    program = running("import enrollkit; print(enrollkit.Library())", env=nameless)
    assert f"<enrollkit.Library {tmp_path}/libenroll.so.0>" in program.communicate()[0]


@pytest.mark.parametrize("kind", ["Library", "Daemon"])
def test_64_threads_share_a_client(kind, sandbox, store):
    over = getattr(enrollkit, kind)()
    faults, tokens = [], set()
    try:
        with enrollkit.Client(configuration(sandbox, LOOPBACK), store=store, over=over) as client:
            client.sign_in(present=playing(sandbox), confirm=lambda profile: True)
            gate = threading.Barrier(64)

            def work(number):
                gate.wait(60)
                try:
                    for step in range(10):
                        # One renewal serves all callers.
                        token = client.refresh() if step == 5 else client.access_token()
                        tokens.add(token.value)
                        if number % 16 == 0:
                            client.state()
                except BaseException as fault:
                    faults.append(fault)

            threads = [threading.Thread(target=work, args=(number,)) for number in range(64)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(120)
            assert not any(thread.is_alive() for thread in threads)
    finally:
        if kind == "Daemon":
            over.close()
    assert not faults, faults[:3]
    assert 2 <= len(tokens) <= 66


def test_errors_are_pickled_and_printed():
    error = enrollkit.EnrollServer("no", http_status=503, retry_after=7, oauth_error="slow")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is enrollkit.EnrollServer
    assert (again.message, again.http_status, again.retry_after) == ("no", 503, 7)
    assert str(error) == "server: no"
    assert repr(error) == "EnrollServer('no', http_status=503, oauth_error='slow', retry_after=7)"
    unknown = enrollkit.EnrollError.from_json({"status": "brandNew", "code": -97, "blame": "host", "message": "m"})
    assert type(unknown) is enrollkit.EnrollError and (unknown.status, unknown.code) == ("brandNew", -97)
    assert isinstance(enrollkit.EnrollStoreLocked("x"), enrollkit.EnrollStoreError)
    network = pickle.loads(pickle.dumps(enrollkit.EnrollNetwork("away")))
    assert isinstance(network, ConnectionError) and network.message == "away"


def test_words_of_a_newer_library_are_words():
    step = enrollkit.Step("teleporting")
    assert step == "teleporting" and str(step) == "teleporting" and f"{step}" == "teleporting"
    assert enrollkit.Step.BROWSER == "browser" and f"{enrollkit.Step.BROWSER:>9}" == "  browser"


def test_nothing_listens_after_the_client(sandbox, store):
    """The loopback listener of a transaction ends with its client."""
    with enrollkit.Client(configuration(sandbox), store=store) as client:
        begun = client.begin()
        port = int(begun.redirect_uri.split(":")[2].split("/")[0])
        with socket.create_connection(("127.0.0.1", port)):
            pass

    def closed():
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) != 0

    wait_until(closed, "the listener is gone")


def nested(levels):
    value = []
    for _ in range(levels - 1):
        value = [value]
    return value


async def test_what_the_core_cannot_read_is_refused_and_no_call_waits(face, sandbox, store):
    """Such text is refused before it is sent: a daemon could not say which message it could not read."""
    client = await face.client(configuration(sandbox), store=store)
    for call in (
        lambda: client.begin(login_hint="a\0b"),
        lambda: client.begin(login_hint="\\\0"),
        lambda: client.handle_url("com.example.app:/callback?\0"),
        lambda: face.client(configuration(sandbox), store=store, account="a\0b"),
        lambda: face.client({**configuration(sandbox), "client_id": "\0"}, store=store),
        lambda: face.client({**configuration(sandbox), "scopes": nested(600)}, store=store),
        lambda: face.client({**configuration(sandbox), "scopes": nested(70)}, store=store),
    ):
        with pytest.raises(enrollkit.EnrollError) as refused:
            await call()
        assert refused.value.status in ("invalidArgument", "configuration", "json"), refused.value
    # These strings are ordinary text: a backslash followed by a word, and brackets.
    transaction = await client.begin(login_hint="\\u0000" + "[{" * 50)
    await client.cancel(transaction=transaction)


def test_a_message_that_the_daemon_cannot_read_ends_the_calls_that_wait():
    outcomes = []
    conversation = _jsonrpc.Conversation(host=None)
    conversation.request("client.open", {}, outcomes.append)
    data = {
        "status": "json",
        "code": -80,
        "blame": "caller",
        "retryable": False,
        "message": "duplicate object key (byte 70)",
    }
    error = {"code": -32700, "message": "Parse error", "data": data}
    conversation.receive(json.dumps({"jsonrpc": "2.0", "error": error, "id": None}).encode())
    assert [str(outcome) for outcome in outcomes] == ["json: duplicate object key (byte 70)"]
