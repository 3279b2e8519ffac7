"""The asyncio client: `Client`, and the `Library` or `Daemon` that it uses. Names and types are those of `enrollkit`.

    async with enrollkit.aio.Client(configuration, store=store) as client:
        token = await client.access_token()

Cancelling a task cancels its call in the library or the daemon. A renewal that was sent to the provider continues,
and its tokens are stored.
"""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import contextlib
import functools
import inspect
import logging
import os
import signal
import time
import weakref
from types import TracebackType
from typing import (
    Any,
    AsyncIterator,
    Awaitable,
    Callable,
    Deque,
    Dict,
    Generator,
    List,
    Literal,
    Mapping,
    Optional,
    Protocol,
    Sequence,
    Set,
    Type,
    Union,
)

from . import _abi, _flow, _library, _programs
from ._caller import Single, given_up_with, is_own, token_of
from ._error import EnrollError, EnrollLibraryError
from ._flow import Logger, check_confirmed, check_redirect, event_of, log_event, not_confirmed, open_browser
from ._generated.commands import AsyncClientCommands, AsyncCoreCommands
from ._generated.statuses import EnrollDeadlineExceeded, EnrollForked, EnrollHandle, EnrollIllegalState
from ._generated.types import (
    AccessToken,
    Action,
    Authenticating,
    AwaitingConfirmation,
    Configuration,
    Event,
    Platform,
    State,
    Transaction,
    TransactionKind,
)
from ._given import Keys, Opening, Seconds, StorePath, Timeout, invalid, seconds, time_limit
from ._host import (
    AsyncTransport,
    HTTPRequest,
    HTTPResponse,
    Parts,
    Transport,
    check_not_serving,
    explained_token,
    explaining,
    serving,
)
from ._jsonrpc import LONGEST_LINE, NO_MORE, Conversation, with_timeout
from ._library import Listener, NativeSession, Outcome, Pending
from ._serving import Question, Questions, Threads, store_parts
from ._spelling import spelt
from ._values import number as an_integer
from ._values import text, told

__all__ = ["Client", "Daemon", "EventStream", "Library"]


class _Session(Protocol):
    """An open client, of a library or of a daemon."""

    async def call(self, command: str, parameters: Mapping[str, Any], limit: Optional[float]) -> Dict[str, Any]: ...

    async def token(self, command: str, parameters: Mapping[str, Any], limit: Optional[float]) -> AccessToken: ...

    def fresh_token(self, minimum_lifetime: int) -> Optional[AccessToken]: ...

    async def subscribe(self, listener: Listener) -> None: ...

    def unsubscribe(self, listener: Listener) -> None: ...

    async def close(self) -> None: ...

    def abandon(self) -> None: ...


class _Answer:
    """An awaitable outcome, which any thread may set."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[Any] = self._loop.create_future()

    def settle(self, outcome: Outcome) -> None:
        """Sets the outcome. May be called on another thread."""
        # The loop may have been closed in the meantime: then nobody waits for the outcome any more.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.settle_here, outcome)

    @property
    def is_over(self) -> bool:
        return self._future.done()

    def settle_here(self, outcome: Outcome) -> None:
        if not self._future.done():
            self._future.set_result(outcome)

    async def take(self, give_up: Callable[[], None], timeout: Optional[float] = None) -> Dict[str, Any]:
        """The result.

        Raises:
            EnrollError: the command failed.
            EnrollDeadlineExceeded: the command did not end within `timeout` seconds.
        """
        try:
            outcome = await (self._future if timeout is None else asyncio.wait_for(self._future, timeout))
        except asyncio.TimeoutError:
            give_up()
            raise EnrollDeadlineExceeded("the call did not end before its timeout") from None
        except BaseException:
            give_up()
            raise
        if isinstance(outcome, EnrollError):
            raise outcome
        result: Dict[str, Any] = outcome
        return result


async def _in_a_thread(work: Callable[..., Any], *arguments: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, functools.partial(work, *arguments))


class Library(AsyncCoreCommands):
    """The C library inside this process. Clients use it by default.

    Args:
        path: The file of libenroll. None: $ENROLL_LIBRARY, else the library in the wheel, else the system's.

    Raises:
        EnrollLibraryError: it was not found, or its version does not match this package.
    """

    def __init__(self, path: Optional[StorePath] = None) -> None:
        self._native = _abi.load(None if path is None else os.fspath(path))

    def __repr__(self) -> str:
        return f"<enrollkit.aio.Library {self._native._name}>"

    async def _call(self, command: str, parameters: Mapping[str, Any], timeout: Timeout) -> Dict[str, Any]:
        # Some commands read a store, or spend a second on deriving a key from a passphrase.
        result: Dict[str, Any] = await _in_a_thread(_library.call, self._native, command, parameters)
        return result

    async def _open(self, opening: Opening, transport: Optional[AsyncTransport]) -> _Session:
        check_not_serving(self._native)
        plain = None if transport is None else _threaded(transport, self._native)
        native = await _in_a_thread(NativeSession, self._native, opening, plain)
        return _LibrarySession(native, self._native)


def _threaded(transport: AsyncTransport, owner: object) -> Transport:
    """A transport that the library can call on its threads. It runs coroutines in the client's event loop, for
    `owner`."""
    loop = asyncio.get_running_loop()

    def send(request: HTTPRequest) -> HTTPResponse:
        answer = transport(request)
        if not inspect.isawaitable(answer):
            return answer
        if not loop.is_running():
            if inspect.iscoroutine(answer):
                answer.close()
            raise ConnectionError("the event loop of the client's transport is not running")
        future = asyncio.run_coroutine_threadsafe(_awaited(answer, owner), loop)
        end = time.monotonic() + request.timeout
        try:
            while not concurrent.futures.wait([future], _LOOK).done:
                if request.is_cancelled() or time.monotonic() > end:
                    raise TimeoutError("the caller stopped waiting for the transport")
            returned = future.result()
            if isinstance(returned, _Raised):
                raise returned.failure
            return returned
        except BaseException:
            future.cancel()
            raise

    return send


# The seconds between two checks whether the call still needs the response. The checks are needed, because the library
# does not report when the call stops waiting.
_LOOK = 0.1


async def _awaited(answer: Awaitable[HTTPResponse], owner: object) -> Union[HTTPResponse, _Raised]:
    with serving(owner):
        try:
            return await answer
        except Exception as failure:
            # The exception is wrapped, because a future replaces some exceptions by other exceptions.
            return _Raised(failure)


class _Raised:
    """An exception of the program's own code, on its way between a thread and the loop.

    It is passed on as a value: a task that raised the SystemExit or KeyboardInterrupt of a thread would end
    the event loop.
    """

    def __init__(self, failure: BaseException) -> None:
        self.failure = failure


def _give_up(pending: Pending, started: asyncio.Future[Any]) -> None:
    if not started.cancelled() and started.exception() is None:
        pending.cancel()


class _LibrarySession:
    def __init__(self, native: NativeSession, library: object) -> None:
        self._native = native
        self._library = library
        self.unsubscribe = native.unsubscribe
        self.abandon = native.close
        self._is_store_open = False

    async def call(self, command: str, parameters: Mapping[str, Any], limit: Optional[float]) -> Dict[str, Any]:
        check_not_serving(self._library)
        answer = _Answer()
        pending = self._native.prepare(command, parameters, limit, answer.settle)
        await self._start(pending, command)
        with given_up_with(lambda: self._native.is_closed):
            return await answer.take(pending.cancel)

    async def _start(self, pending: Pending, command: str) -> None:
        if self._is_store_open or command not in ("token.access", "token.refresh"):
            pending.start()
            return
        # The first call for a token opens the store, whose key provider may be slow. So no such call runs in the loop.
        starting = asyncio.ensure_future(_in_a_thread(pending.start))
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            starting.add_done_callback(functools.partial(_give_up, pending))
            raise

    def fresh_token(self, minimum_lifetime: int) -> Optional[AccessToken]:
        return self._native.fresh_token(minimum_lifetime) if self._is_store_open else None

    async def token(self, command: str, parameters: Mapping[str, Any], limit: Optional[float]) -> AccessToken:
        token = token_of(await self.call(command, parameters, limit))
        self._is_store_open = True
        if is_own(parameters):
            token = self._native.with_scope(token)
        return explained_token(self._native.host, token)

    async def subscribe(self, listener: Listener) -> None:
        self._native.subscribe(listener)

    async def close(self) -> None:
        # Closing runs in a thread, because it waits for a renewal that was sent.
        await _in_a_thread(self._native.close)


class Daemon(AsyncCoreCommands):
    """A process of `enrolld` for the clients that are opened with it: a crash of the daemon does not affect this
    process, or vice versa.

    It starts with the `async with` block or the first call, and belongs to the event loop that runs then. It sends
    this process requests for the HTTP and the secrets that the program serves itself. Coroutine functions answer in
    the loop. Functions and secret stores answer on threads that start when they are needed: at most 64 for functions,
    and 16 for secret stores.

    Args:
        path: The program. None: $ENROLLD, else the program in the wheel, else the one in $PATH.
        log_level: The daemon's log level: error, warning, info or debug. It never logs parameters, results or URLs.
        logger: The logger for the daemon's log; None: the logger `enrollkit.daemon`.

    Raises:
        EnrollLibraryError: it was not found, or its version does not match this package.
    """

    def __init__(
        self,
        path: Optional[StorePath] = None,
        *,
        log_level: Literal["error", "warning", "info", "debug"] = "warning",
        logger: Optional[Logger] = None,
    ) -> None:
        _programs.check_logger(logger)
        self._arguments = _programs.arguments(path, log_level)
        self._logger = logger or logging.getLogger("enrollkit.daemon")
        self._owner = os.getpid()
        self._questions = Questions(self._begin)
        self._conversation = Conversation(self._questions)
        self._transports = Threads("enrolld transport", 64)
        self._vaults = Threads("enrolld secrets", 16)
        self._answering: Set[asyncio.Task[None]] = set()
        self._stores: Optional[asyncio.Lock] = None
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._process: Optional[asyncio.subprocess.Process] = None
        self._starting: Optional[asyncio.Task[None]] = None
        self._readers: List[asyncio.Task[None]] = []
        self._last_words = ""
        self._is_closed = False

    def __repr__(self) -> str:
        process = f", process {self._process.pid}" if self._process else ""
        return f"<enrollkit.aio.Daemon {self._arguments[0]}{process}>"

    async def __aenter__(self) -> Daemon:
        await self._started()
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], fault: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends the daemon: waiting calls are cancelled, renewals that were sent are stored. A second call does nothing.

        Raises:
            EnrollReentrant: called by a transport or a secret store of this daemon.
        """
        check_not_serving(self)
        self._is_closed = True
        if self._owner != os.getpid() or self._process is None:
            return
        self._conversation.close()
        if self._questions.is_serving:
            # A daemon that still has clients must be able to send requests for their renewals: its input stays open.
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)
        elif self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), 40)
        except asyncio.TimeoutError:
            self._process.kill()
            await self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        await asyncio.gather(*self._readers, return_exceptions=True)

    @property
    def process_id(self) -> Optional[int]:
        """The id of the daemon's process; None before it has started."""
        return self._process.pid if self._process else None

    async def _started(self) -> None:
        if self._owner != os.getpid():
            raise EnrollForked("the daemon was made before the process forked; make another in the child")
        if self._is_closed:
            raise EnrollHandle("the daemon is closed")
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        # If one task is cancelled, the start continues for the others.
        await asyncio.shield(self._starting)

    async def _start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stores = asyncio.Lock()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=LONGEST_LINE,
                # The daemon gets a separate session (setsid): this process decides what Ctrl-C in the terminal does.
                start_new_session=True,
            )
        except OSError as fault:
            raise EnrollLibraryError(f"enrolld could not be started: {fault}") from None
        logs = asyncio.create_task(self._read_log(self._process))
        self._readers = [logs, asyncio.create_task(self._read(self._process, logs))]
        try:
            described = await self._send("system.describe", {}, 30)
            abi, version = told(an_integer, described, "abi"), told(text, described, "version")
            _programs.check_description(abi, version, self._arguments[0])
        except EnrollLibraryError:
            await self.close()
            raise
        except EnrollError as fault:
            await self.close()
            raise EnrollLibraryError(
                f"{self._arguments[0]} does not answer as enrolld does: {fault.message}"
            ) from fault

    async def _call(self, command: str, parameters: Mapping[str, Any], timeout: Timeout) -> Dict[str, Any]:
        parts = store_parts(parameters)
        if parts is not None:
            return await self._ask_with(parts, command, parameters)
        return await self._ask(command, parameters, time_limit(timeout))

    async def _ask(self, command: str, parameters: Mapping[str, Any], limit: Optional[float]) -> Dict[str, Any]:
        await self._started()
        return await self._send(command, parameters, limit)

    async def _send(self, command: str, parameters: Mapping[str, Any], limit: Optional[float]) -> Dict[str, Any]:
        parameters, timeout = with_timeout(command, parameters, limit)
        answer = _Answer()
        number, message = self._conversation.request(command, parameters, answer.settle_here)
        self._write(message)

        def give_up() -> None:
            self._conversation.forget(number)
            self._write(self._conversation.cancellation(number))

        return await answer.take(give_up, timeout)

    def _write(self, message: bytes) -> None:
        pipe = self._process.stdin if self._process else None
        if pipe is not None and not pipe.is_closing():
            # The daemon never stops reading, so this buffer does not grow.
            pipe.write(message)

    async def _ask_with(self, parts: Parts, command: str, parameters: Mapping[str, Any]) -> Dict[str, Any]:
        """Runs a command about a store whose key the program guards.

        The daemon's requests for such a command name no client, so only one such command runs at a time.
        """
        check_not_serving(self)
        await self._started()
        answer = _Answer()
        number: Optional[int] = None

        async def run() -> None:
            nonlocal number
            assert self._stores is not None
            async with self._stores:
                if answer.is_over:
                    return
                ended = _Answer()
                self._questions.store = parts
                try:
                    number, message = self._conversation.request(command, parameters, ended.settle_here)
                    self._write(message)
                    answer.settle_here(await ended.take(lambda: None))
                except EnrollError as error:
                    answer.settle_here(error)
                finally:
                    self._questions.store = None

        def give_up() -> None:
            if number is not None:
                self._write(self._conversation.cancellation(number))

        self._keep(asyncio.create_task(run()))
        with parts.explaining():
            return await answer.take(give_up)

    async def _open(self, opening: Opening, transport: Optional[AsyncTransport]) -> _Session:
        check_not_serving(self)
        await self._started()
        secrets = opening.keys.host if opening.keys else None
        parts = None if transport is None and secrets is None else Parts(transport, secrets)
        parameters = opening.parameters(hosts_transport=transport is not None)
        answer = _Answer()

        def opened(outcome: Outcome) -> None:
            client = outcome.get("client") if isinstance(outcome, dict) else None
            if parts is not None:
                self._questions.opened(answer, client, parts)
            if answer.is_over and client is not None:
                # The caller that opened the client no longer waits.
                self._close_client(client)
            answer.settle_here(outcome)

        if parts is not None:
            self._questions.opening(answer)
        try:
            number, message = self._conversation.request("client.open", parameters, opened)
        except EnrollError as error:
            opened(error)
            raise
        self._write(message)
        result = await answer.take(lambda: self._write(self._conversation.cancellation(number)))
        return _DaemonSession(self, self._conversation, told(text, result, "client"), parts)

    def _close_client(self, client: str) -> None:
        """Closes the client in the daemon, and does not wait for the answer."""
        with contextlib.suppress(EnrollError):
            self._write(self._conversation.request("client.close", {"client": client}, lambda _: None)[1])

    def _keep(self, task: asyncio.Task[None]) -> None:
        """Keeps a reference to the task. Without it, the task could be garbage-collected, because the event
        loop keeps no strong reference."""
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    def _begin(self, question: Question) -> None:
        task = asyncio.create_task(self._answer(question))
        question.give_up = task.cancel
        self._keep(task)

    async def _answer(self, question: Question) -> None:
        work = asyncio.ensure_future(self._asked(question))
        try:
            # The program's code runs in a separate task, so that a cancellation of this task can be told from a
            # cancellation by the program's own code.
            await asyncio.wait({work})
        except asyncio.CancelledError:
            work.cancel()
            raise

        def ask() -> Any:
            returned = work.result()
            if isinstance(returned, _Raised):
                raise returned.failure
            return returned

        message = question.settled(ask)
        self._questions.answered(question)
        self._write(message)

    async def _asked(self, question: Question) -> Any:
        """The result of the program's own code, awaited here if it is an awaitable."""
        with serving(self):
            runs_here = question.is_http and question.parts is not None and _is_coroutine(question.parts.transport)
            answer = question.ask() if runs_here else await self._on_a_thread(question)
            return await answer if inspect.isawaitable(answer) else answer

    async def _on_a_thread(self, question: Question) -> Any:
        loop = asyncio.get_running_loop()
        returned: asyncio.Future[Any] = loop.create_future()

        def settle(value: object) -> None:
            if not returned.done():
                returned.set_result(value)
            elif inspect.iscoroutine(value):
                value.close()

        def work() -> None:
            if question.is_over:
                return
            with serving(self):
                try:
                    value = question.ask()
                except BaseException as failure:
                    value = _Raised(failure)
            # The loop may have been closed in the meantime: then nobody waits for the result any more.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, value)

        (self._transports if question.is_http else self._vaults).run(work)
        return await returned

    async def _read(self, process: asyncio.subprocess.Process, logs: asyncio.Task[None]) -> None:
        assert process.stdout is not None
        try:
            async for line in process.stdout:
                try:
                    self._conversation.receive(line)
                except Exception:
                    logging.getLogger("enrollkit").exception("a message of the daemon could not be read")
        except ValueError:
            # No daemon writes such a long line; the rest of the line would be read as another line.
            process.kill()
        status = await process.wait()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(logs), 1)
        self._questions.end()
        self._conversation.end(_programs.ending(self._arguments[0], status, self._last_words))
        for threads in (self._transports, self._vaults):
            threads.close()

    async def _read_log(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        async for line in process.stderr:
            self._last_words = line.decode("utf-8", "replace").strip()[:500]
            _programs.log_line(self._logger, line)


def _is_coroutine(transport: object) -> bool:
    # The transport is a function, a method, or an object. For an object, `__call__` decides whether it is a coroutine
    # function.
    called = transport if inspect.isroutine(transport) else type(transport).__call__
    return inspect.iscoroutinefunction(transport) or inspect.iscoroutinefunction(called)


class _DaemonSession:
    def __init__(self, daemon: Daemon, conversation: Conversation, client: str, parts: Optional[Parts]) -> None:
        self._daemon = daemon
        self._conversation = conversation
        self._client = client
        # The daemon's requests for this client are answered while this session exists.
        self._parts = parts
        self._is_subscribed = False
        self._is_closed = False

    async def call(self, command: str, parameters: Mapping[str, Any], limit: Optional[float]) -> Dict[str, Any]:
        if self._is_closed:
            raise EnrollHandle("the client is closed")
        check_not_serving(self._daemon)
        with given_up_with(lambda: self._is_closed), explaining(self._parts):
            return await self._daemon._ask(command, {"client": self._client, **parameters}, limit)

    async def token(self, command: str, parameters: Mapping[str, Any], limit: Optional[float]) -> AccessToken:
        with explaining(self._parts):
            return explained_token(self._parts, token_of(await self.call(command, parameters, limit)))

    def fresh_token(self, minimum_lifetime: int) -> Optional[AccessToken]:
        return None

    async def subscribe(self, listener: Listener) -> None:
        if self._is_closed:
            raise EnrollHandle("the client is closed")
        # Listening begins before the request is sent: an event may arrive with the answer.
        self._conversation.listen(self._client, listener)
        try:
            if not self._is_subscribed:
                await self.call("events.subscribe", {}, None)
                self._is_subscribed = True
        except BaseException:
            self.unsubscribe(listener)
            raise

    def unsubscribe(self, listener: Listener) -> None:
        self._conversation.stop_listening(self._client, listener)

    async def close(self) -> None:
        was_closed, self._is_closed = self._is_closed, True
        if was_closed or self._daemon._owner != os.getpid():
            return
        self._conversation.stop_listening(self._client)
        # An error is ignored: the daemon has ended or was closed, and then the client has ended, too.
        with contextlib.suppress(EnrollError):
            await self._daemon._ask("client.close", {"client": self._client}, None)

    def abandon(self) -> None:
        self._conversation.stop_listening(self._client)
        # An error is ignored: the loop may have been closed in the meantime, and then the daemon's input is closed,
        # too.
        if not self._is_closed and self._daemon._owner == os.getpid() and self._daemon._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._daemon._loop.call_soon_threadsafe(self._daemon._close_client, self._client)


class EventStream(Single):
    """The events of a client, in order, since the `async with` block (or the first `anext`).

    The stream ends when the client or its daemon ends, or when its own `close` is called. It keeps the last 1024
    events that were not read.
    """

    KEPT = 1024

    def __init__(self, client: Client) -> None:
        self._client = client
        self._session: Optional[_Session] = None
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._events: Deque[Event] = collections.deque(maxlen=self.KEPT)
        self._changed = asyncio.Event()
        self._is_closed = False

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        event = await self.get()
        if event is None:
            raise StopAsyncIteration
        return event

    async def get(self, timeout: Optional[Seconds] = None) -> Optional[Event]:
        """The next event; None if none arrives within `timeout` (seconds or a timedelta), or the stream has ended."""
        await self._subscribe()
        timeout = None if timeout is None else seconds("timeout", timeout)
        try:
            return await (self._next() if timeout is None else asyncio.wait_for(self._next(), timeout))
        except asyncio.TimeoutError:
            return None

    def close(self) -> None:
        """Ends the stream; events that arrived before can still be read."""
        if self._session is not None:
            self._session.unsubscribe(self._listen)
        self._client._streams.discard(self)
        self._is_closed = True
        self._changed.set()

    async def __aenter__(self) -> EventStream:
        await self._subscribe()
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], fault: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    async def _subscribe(self) -> None:
        if self._session is None and not self._is_closed:
            session = await self._client._opened()
            self._loop = asyncio.get_running_loop()
            self._session = session
            await session.subscribe(self._listen)

    async def _next(self) -> Optional[Event]:
        while not self._events:
            if self._is_closed:
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._events.popleft()

    def _listen(self, name: str, parameters: Dict[str, Any]) -> None:
        event = event_of(name, parameters)
        if self._loop is not None:
            # The loop may have been closed in the meantime: then nobody waits for events any more.
            with contextlib.suppress(RuntimeError):
                if name == NO_MORE:
                    self._loop.call_soon_threadsafe(self.close)
                elif event is not None:
                    self._loop.call_soon_threadsafe(self._append, event)

    def _append(self, event: Event) -> None:
        self._events.append(event)
        self._changed.set()


class Client(AsyncClientCommands):
    """One account at one provider: signs its user in and gives your program a valid access token.

    It opens with the `async with` block, with `await Client(…)`, or with the first call; opening sends no request. Any
    task may use it at any time. A client cannot be copied or pickled (`EnrollUnsupported`).

    Args:
        configuration: The provider and the client, as a `Configuration` or as JSON in the provider's names.
        store: The directory of the sealed token store; its parent must exist. `enrollkit.MEMORY`: no files.
        account: A name for one set of tokens; None: "default".
        keys: The provider of the store's key; None: a key file of mode 0600 in the store.
        platform: Facts about the device.
        wait_for_platform: Calls about the registration wait for `platform_ready`.
        renew_in_background: Renew tokens shortly before they are due, even without a call.
        transport: The program's own HTTP transport, a function or a coroutine function; None: libcurl.
        logger: Receives the client's log, without secrets; the daemon's own log has a separate logger. None: a warning
            of `sign_in` goes to the logger `enrollkit`, which writes to stderr by default.
        over: A `Library`, or a `Daemon`, which the caller closes; None: the library that the package finds.

    Raises:
        EnrollConfiguration: a key of the configuration is invalid; `field` names it.
        EnrollStoreError: the store could not be used.
        EnrollLibraryError: the library was not found, or its version does not match.
        EnrollInvalidArgument, EnrollUnsupported, EnrollDaemonEnded.
    """

    def __init__(
        self,
        configuration: Union[Configuration, Mapping[str, Any]],
        *,
        store: StorePath,
        account: Optional[str] = None,
        keys: Optional[Keys] = None,
        platform: Optional[Platform] = None,
        wait_for_platform: bool = False,
        renew_in_background: bool = False,
        transport: Optional[AsyncTransport] = None,
        logger: Optional[Logger] = None,
        over: Union[Library, Daemon, None] = None,
    ) -> None:
        self._opening = Opening.of(
            configuration, store, account, keys, platform, wait_for_platform, renew_in_background
        )
        if transport is not None and not callable(transport):
            raise invalid("transport", "a callable", transport)
        if over is not None and not isinstance(over, (Library, Daemon)):
            raise invalid("over", "a Library or a Daemon of enrollkit.aio", over)
        _programs.check_logger(logger)
        self._transport = transport
        self._logger = logger
        self._over = over or Library()
        self._session: Optional[_Session] = None
        self._task: Optional[asyncio.Task[_Session]] = None
        self._is_closed = False
        self._streams: weakref.WeakSet[EventStream] = weakref.WeakSet()
        self._finalizer: Optional[weakref.finalize[Any, Any]] = None

    def __repr__(self) -> str:
        state = ", closed" if self._is_closed else "" if self._session else ", not opened"
        account = self._opening.account or "default"
        return f"<enrollkit.aio.Client account {account!r} over {type(self._over).__name__}{state}>"

    def __await__(self) -> Generator[Any, None, Client]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Client:
        await self._opened()
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], fault: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the client: calls that wait fail with `EnrollCancelled`, and a renewal that was sent is stored first.
        Tokens stay in the store. A second call does nothing.
        """
        self._is_closed = True
        if self._task is not None and self._session is None:
            with contextlib.suppress(EnrollError):
                await asyncio.shield(self._task)
        if self._session is not None:
            if self._finalizer is not None:
                self._finalizer.detach()
            await self._session.close()
        for stream in list(self._streams):
            stream.close()

    def events(self) -> EventStream:
        """The events of the client, as an asynchronous iterator: `async with client.events() as events:`.

        Command: events.subscribe, events.unsubscribe.
        """
        stream = EventStream(self)
        self._streams.add(stream)
        return stream

    async def sign_in(
        self,
        *,
        kind: Optional[Union[TransactionKind, Literal["signIn", "register", "app2app", "bff", "device"]]] = None,
        scopes: Optional[Union[str, Sequence[str]]] = None,
        prompt: Optional[str] = None,
        login_hint: Optional[str] = None,
        connection: Optional[str] = None,
        present: Callable[[Action], Union[object, Awaitable[object]]] = open_browser,
        confirm: Optional[Callable[[Dict[str, Any]], Union[bool, Awaitable[bool]]]] = None,
        timeout: Timeout = None,
    ) -> State:
        """Signs the user in: begins a transaction, opens the browser, and waits for the redirect.

        If the tokens of an earlier sign-in still wait for the user's confirmation, no browser opens: `confirm` is
        called with their profile, or without `confirm` the state is returned. Tokens wait in this way if `confirm`
        raised, or if the program ended before the user's answer.

        Requires a loopback redirect, which arrives by itself. With any other redirect, call `begin`, and pass the
        redirect to `resume` or `handle_url` in the process that receives it. For options that `sign_in` does not have,
        use `begin` and `await_outcome`.

        Args:
            kind, scopes, prompt, login_hint, connection: As for `begin`.
            present: Shows the user what to do: a function or a coroutine function that receives the `Action` and need
                not wait. By default it opens the system's browser.
            confirm: Shows the profile and returns the user's decision: True confirms it, False revokes the tokens. None
                leaves the decision to `Client.confirm` and `Client.retry`: a sign-in ends with `AwaitingConfirmation`.
            timeout: Seconds (or a timedelta) to wait for the user; None: until the transaction expires. If the
                browser does not return within 30 seconds, a warning in the log says what may be wrong.

        Returns:
            The state of the registration.

        Raises:
            EnrollAccessDenied: the provider or the user refused, or `confirm` returned False. An existing session
            continues.
            EnrollInvalidArgument: `confirm` returned a value that is not a bool. The tokens still wait.
            EnrollIllegalState: another sign-in arrived while `confirm` asked the user. The other sign-in waits;
            nothing has changed. EnrollTransactionExpired, EnrollDeadlineExceeded: the user took too long.
            EnrollUnsupported: no browser could be opened, or the redirect is not a loopback redirect.
            The errors of `begin`, `await_outcome` and `confirm`.
        """
        limit = time_limit(timeout)
        try:
            transaction = await self.begin(
                kind=kind, scopes=scopes, prompt=prompt, login_hint=login_hint, connection=connection
            )
        except EnrollIllegalState:
            state = await self.state()
            if not isinstance(state, AwaitingConfirmation):
                raise
        else:
            try:
                check_redirect(transaction)
                opened = None
                if present is open_browser:
                    opened = asyncio.wrap_future(_flow.opening(transaction.action))
                else:
                    shown = present(transaction.action)
                    if inspect.isawaitable(shown):
                        await shown
                loop = asyncio.get_running_loop()
                hint = loop.call_later(_flow.REDIRECT_HINT_DELAY, _flow.log_redirect_hint, self._logger, transaction)
                try:
                    state = await self._outcome(transaction, opened, limit)
                finally:
                    hint.cancel()
            except EnrollDeadlineExceeded:
                # The transaction is still pending, and the error says so.
                raise
            except BaseException:
                # An error is ignored: the cancellation only tells the core that nobody waits any more.
                with contextlib.suppress(EnrollError):
                    await self.cancel(transaction=transaction)
                raise
        if confirm is None or not isinstance(state, AwaitingConfirmation):
            return state
        answer = confirm(state.profile)
        # The confirmation names the transaction whose profile was shown, because another sign-in may have arrived in
        # the meantime.
        if check_confirmed(await answer if inspect.isawaitable(answer) else answer):
            return await self.confirm(transaction=state.transaction)
        await self.retry(transaction=state.transaction)
        raise not_confirmed()

    async def _outcome(
        self, transaction: Transaction, opened: Optional[asyncio.Future[None]], limit: Optional[float]
    ) -> State:
        """Waits as `await_outcome` does. Raises the exception of `opened`, unless the user signs in first."""
        if opened is None:
            return await self.await_outcome(transaction, timeout=limit)
        outcome = asyncio.ensure_future(self.await_outcome(transaction, timeout=limit))
        waited: Sequence[asyncio.Future[Any]] = (outcome, opened)
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            failure = opened.exception() if opened.done() else None
            if failure is not None and not outcome.done() and isinstance(await self.state(), Authenticating):
                raise failure
            return await outcome
        finally:
            outcome.cancel()
            opened.cancel()

    async def _opened(self) -> _Session:
        if self._session is not None:
            return self._session
        if self._is_closed:
            raise EnrollHandle("the client is closed")
        if self._task is None:
            self._task = asyncio.create_task(self._open())
        try:
            # If one task is cancelled, the opening continues for the others.
            return await asyncio.shield(self._task)
        except EnrollError:
            self._task = None
            raise

    async def _open(self) -> _Session:
        with spelt(self._opening.configuration):
            session = await self._over._open(self._opening, self._transport)
        if self._logger is not None:
            await session.subscribe(log_event(self._logger))
        self._session = session
        self._finalizer = weakref.finalize(self, session.abandon)
        self._finalizer.atexit = False
        return session

    async def _call(self, command: str, parameters: Mapping[str, Any], timeout: Timeout) -> Dict[str, Any]:
        limit = time_limit(timeout)
        return await (await self._opened()).call(command, parameters, limit)

    async def _token(self, command: str, parameters: Mapping[str, Any], timeout: Timeout) -> AccessToken:
        limit = time_limit(timeout)
        session = await self._opened()
        if command == "token.access" and is_own(parameters):
            token = session.fresh_token(parameters.get("minimumLifetime", 0))
            if token is not None:
                return token
        return await session.token(command, parameters, limit)
