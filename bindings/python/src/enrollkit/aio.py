"""The same for asyncio: `Client`, and what it speaks through, `Library` or `Daemon`. Same names, same types.

    async with enrollkit.aio.Client(configuration, store=store) as client:
        token = await client.access_token()

Cancelling a task cancels its call in the library or the daemon; what was sent to a provider is not unsent: a renewal
goes on and is stored.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import functools
import inspect
import logging
import os
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
    Type,
    Union,
)

from . import _abi, _library, _programs
from ._caller import given_up_with, token_of
from ._commands import AsyncClientCommands, AsyncCoreCommands
from ._error import EnrollError, EnrollLibraryError
from ._flow import Logger, event_of, log_event, open_browser
from ._given import Deadline, Keys, Opening, Seconds, StorePath, invalid, seconds, time_limit
from ._host import AsyncTransport, HTTPRequest, HTTPResponse, Transport
from ._jsonrpc import LONGEST_LINE, NO_MORE, Conversation, with_deadline
from ._library import Listener, NativeSession, Outcome
from ._statuses import EnrollDeadlineExceeded, EnrollForked, EnrollHandle, EnrollUnsupported
from ._types import AccessToken, Action, AwaitingConfirmation, Configuration, Event, Kind, Platform, State
from ._values import number as an_integer
from ._values import text, told

__all__ = ["Client", "Daemon", "EventStream", "Library"]


class _Session(Protocol):
    """An opened client, whatever is behind it."""

    async def call(self, command: str, parameters: Mapping[str, Any], limit: Optional[float]) -> Dict[str, Any]: ...

    def fresh_token(self, minimum_lifetime: int) -> Optional[AccessToken]: ...

    async def subscribe(self, listener: Listener) -> None: ...

    def unsubscribe(self, listener: Listener) -> None: ...

    async def close(self) -> None: ...

    def abandon(self) -> None: ...


class _Answer:
    """An outcome that may come from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[Any] = self._loop.create_future()

    def settle(self, outcome: Outcome) -> None:
        """From another thread."""
        # The loop may have been closed meanwhile: then nobody waits any more.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.settle_here, outcome)

    def settle_here(self, outcome: Outcome) -> None:
        if not self._future.done():
            self._future.set_result(outcome)

    async def take(self, give_up: Callable[[], None], patience: Optional[float] = None) -> Dict[str, Any]:
        """The result.

        Raises:
            EnrollError: the command failed.
            EnrollDeadlineExceeded: nothing came within `patience` seconds.
        """
        try:
            outcome = await (self._future if patience is None else asyncio.wait_for(self._future, patience))
        except asyncio.TimeoutError:
            give_up()
            raise EnrollDeadlineExceeded("no answer came in time") from None
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
    """The C library inside this process: what clients use unless they are told otherwise.

    Args:
        path: The file of libenroll. None: $ENROLL_LIBRARY, else the one that the wheel carries, else the system's.

    Raises:
        EnrollLibraryError: it is not there, or its version and this package's do not fit.
    """

    def __init__(self, path: Optional[StorePath] = None) -> None:
        self._native = _abi.load(None if path is None else os.fspath(path))

    def __repr__(self) -> str:
        return f"<enrollkit.aio.Library {self._native._name}>"

    async def _call(self, command: str, parameters: Mapping[str, Any], deadline: Deadline) -> Dict[str, Any]:
        # Some read a store, or think a second about a passphrase.
        result: Dict[str, Any] = await _in_a_thread(_library.call, self._native, command, parameters)
        return result

    async def _open(self, opening: Opening, transport: Optional[AsyncTransport]) -> _Session:
        plain = None if transport is None else _threaded(transport)
        native = await _in_a_thread(NativeSession, self._native, opening, plain)
        return _LibrarySession(native)


def _threaded(transport: AsyncTransport) -> Transport:
    """A transport for the library's threads that runs a coroutine in the loop of the client."""
    loop = asyncio.get_running_loop()

    def send(request: HTTPRequest) -> HTTPResponse:
        answer = transport(request)
        if not inspect.isawaitable(answer):
            return answer
        if not loop.is_running():
            if inspect.iscoroutine(answer):
                answer.close()
            raise ConnectionError("the event loop of the client's transport is not running")
        future = asyncio.run_coroutine_threadsafe(_awaited(answer), loop)
        try:
            return future.result(request.timeout)
        except BaseException:
            future.cancel()
            raise

    return send


async def _awaited(answer: Awaitable[HTTPResponse]) -> HTTPResponse:
    return await answer


class _LibrarySession:
    def __init__(self, native: NativeSession) -> None:
        self._native = native
        self.fresh_token = native.fresh_token
        self.unsubscribe = native.unsubscribe
        self.abandon = native.close

    async def call(self, command: str, parameters: Mapping[str, Any], limit: Optional[float]) -> Dict[str, Any]:
        answer = _Answer()
        pending = self._native.prepare(command, parameters, limit, answer.settle)
        pending.start()
        with given_up_with(lambda: self._native.is_closed):
            return await answer.take(pending.cancel)

    async def subscribe(self, listener: Listener) -> None:
        self._native.subscribe(listener)

    async def close(self) -> None:
        # It waits for a renewal that was sent.
        await _in_a_thread(self._native.close)


class Daemon(AsyncCoreCommands):
    """A process of `enrolld` for the clients that are handed it: what they do cannot harm this process, nor the other
    way.

    It starts with the `async with` block or the first call, and belongs to that event loop.

    Args:
        path: The program. None: $ENROLLD, else the one that the wheel carries, else the one in $PATH.
        log_level: What it logs: error, warning, info or debug; never parameters, results or URLs.
        logger: Where its log goes; None: the logger `enrollkit.daemon`.

    Raises:
        EnrollLibraryError: it is not there, or its version and this package's do not fit.
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
        self._conversation = Conversation()
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
        """Ends the daemon: what waits is given up, renewals that were sent are stored. Twice is no error."""
        self._is_closed = True
        if self._owner != os.getpid() or self._process is None:
            return
        self._conversation.close()
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), 40)
        except asyncio.TimeoutError:
            self._process.kill()
            await self._process.wait()
        await asyncio.gather(*self._readers, return_exceptions=True)

    @property
    def process_id(self) -> Optional[int]:
        """Of the daemon, once it was started."""
        return self._process.pid if self._process else None

    async def _started(self) -> None:
        if self._owner != os.getpid():
            raise EnrollForked("the daemon was made before the process forked; make another in the child")
        if self._is_closed:
            raise EnrollHandle("the daemon is closed")
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        # Who is cancelled meanwhile does not take the others with it.
        await asyncio.shield(self._starting)

    async def _start(self) -> None:
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=LONGEST_LINE,
                # A session of its own: Ctrl-C in the terminal is this process's to judge.
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

    async def _call(self, command: str, parameters: Mapping[str, Any], deadline: Deadline) -> Dict[str, Any]:
        return await self._ask(command, parameters, time_limit(deadline))

    async def _ask(self, command: str, parameters: Mapping[str, Any], limit: Optional[float]) -> Dict[str, Any]:
        await self._started()
        return await self._send(command, parameters, limit)

    async def _send(self, command: str, parameters: Mapping[str, Any], limit: Optional[float]) -> Dict[str, Any]:
        parameters, patience = with_deadline(command, parameters, limit)
        answer = _Answer()
        number, message = self._conversation.request(command, parameters, answer.settle_here)
        self._write(message)

        def give_up() -> None:
            self._conversation.forget(number)
            self._write(self._conversation.cancellation(number))

        return await answer.take(give_up, patience)

    def _write(self, message: bytes) -> None:
        pipe = self._process.stdin if self._process else None
        if pipe is not None and not pipe.is_closing():
            # The daemon never stops reading: what waits here does not grow.
            pipe.write(message)

    async def _open(self, opening: Opening, transport: Optional[AsyncTransport]) -> _Session:
        if transport is not None:
            raise EnrollUnsupported(
                "a transport of the program's own is for clients over the library", field="transport"
            )
        opened = await self._ask("client.open", opening.parameters(), None)
        return _DaemonSession(self, self._conversation, told(text, opened, "client"))

    async def _read(self, process: asyncio.subprocess.Process, logs: asyncio.Task[None]) -> None:
        assert process.stdout is not None
        try:
            async for line in process.stdout:
                try:
                    self._conversation.receive(line)
                except Exception:
                    logging.getLogger("enrollkit").exception("a message of the daemon's was not understood")
        except ValueError:
            # A line that no daemon writes; its rest would be read as another one.
            process.kill()
        status = await process.wait()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(logs), 1)
        self._conversation.end(_programs.ending(self._arguments[0], status, self._last_words))

    async def _read_log(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        async for line in process.stderr:
            self._last_words = line.decode("utf-8", "replace").strip()[:500]
            _programs.log_line(self._logger, line)


class _DaemonSession:
    def __init__(self, daemon: Daemon, conversation: Conversation, client: str) -> None:
        self._daemon = daemon
        self._conversation = conversation
        self._client = client
        self._is_subscribed = False
        self._is_closed = False

    async def call(self, command: str, parameters: Mapping[str, Any], limit: Optional[float]) -> Dict[str, Any]:
        if self._is_closed:
            raise EnrollHandle("the client is closed")
        with given_up_with(lambda: self._is_closed):
            return await self._daemon._ask(command, {"client": self._client, **parameters}, limit)

    def fresh_token(self, minimum_lifetime: int) -> Optional[AccessToken]:
        return None

    async def subscribe(self, listener: Listener) -> None:
        if self._is_closed:
            raise EnrollHandle("the client is closed")
        # Before it is asked for: an event may come with the answer.
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
        # It has ended, or was closed: then the client went with it.
        with contextlib.suppress(EnrollError):
            await self._daemon._ask("client.close", {"client": self._client}, None)

    def abandon(self) -> None:
        # Its client ends with the daemon.
        self._conversation.stop_listening(self._client)


class EventStream:
    """What happens to a client, in its order, from the `async with` block (or the first `anext`) on.

    It ends with the client, with its daemon, or with its own `close`. Of what nobody takes the last 1024 are kept.
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
        """The next event; None when none came within `timeout` seconds (or a timedelta), or none will come any more."""
        await self._subscribe()
        patience = None if timeout is None else seconds("timeout", timeout)
        try:
            return await (self._next() if patience is None else asyncio.wait_for(self._next(), patience))
        except asyncio.TimeoutError:
            return None

    def close(self) -> None:
        """Ends the stream; what was told before can still be taken."""
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
            # The loop may have been closed meanwhile: then nobody waits any more.
            with contextlib.suppress(RuntimeError):
                if name == NO_MORE:
                    self._loop.call_soon_threadsafe(self.close)
                elif event is not None:
                    self._loop.call_soon_threadsafe(self._append, event)

    def _append(self, event: Event) -> None:
        self._events.append(event)
        self._changed.set()


class Client(AsyncClientCommands):
    """One account at one provider: signs its user in, and hands out an access token that works.

    It opens with the `async with` block, with `await Client(…)`, or with the first call; opening reads no network. Any
    task may use it at any time.

    Args:
        configuration: The provider and the client, as `Configuration` or as the provider hands it out in JSON.
        store: The directory where tokens are kept, sealed; its parent has to exist. `enrollkit.MEMORY`: nowhere.
        account: A name for one set of tokens; None: "default".
        keys: Who guards the store's key; None: a key file of mode 0600 in the store.
        platform: What the host says about the device.
        wait_for_platform: Calls that ask for the registration wait until `platform_ready`.
        renew_in_background: Tokens are renewed a little before they are due, whether anybody asks or not.
        transport: The program's own HTTP, a function or a coroutine function; None: libcurl. Over the library only.
        logger: Is told what happens, without secrets; the daemon's own log has a logger of its own.
        over: A `Library`, or a `Daemon` that is the caller's to close; None: the library that the package finds.

    Raises:
        EnrollConfiguration: a key of the configuration is not acceptable; `field` names it.
        EnrollStoreError: the store could not be used.
        EnrollLibraryError: the library is not there, or its version does not fit.
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
        """Closes the client: whoever awaits it gets `EnrollCancelled`, a renewal that was sent is stored first. Tokens
        stay in the store. Twice is no error.
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
        """What happens to the client, as an asynchronous iterator: `async with client.events() as events:`.

        Command: events.subscribe, events.unsubscribe.
        """
        stream = EventStream(self)
        self._streams.add(stream)
        return stream

    async def sign_in(
        self,
        *,
        kind: Optional[Union[Kind, Literal["signIn", "register", "anotherApp", "backend", "device"]]] = None,
        scopes: Optional[Union[str, Sequence[str]]] = None,
        prompt: Optional[str] = None,
        login_hint: Optional[str] = None,
        connection: Optional[str] = None,
        present: Callable[[Action], Union[object, Awaitable[object]]] = open_browser,
        confirm: Optional[Callable[[Dict[str, Any]], Union[bool, Awaitable[bool]]]] = None,
        deadline: Deadline = None,
    ) -> State:
        """Signs the user in: begins a transaction, opens the browser, and waits until it comes back.

        With a loopback redirect it comes back by itself; any other is brought by `resume` or `handle_url`, from
        whatever process receives it. What `begin` can do beyond this is done with `begin` and `wait`.

        Args:
            kind, scopes, prompt, login_hint, connection: As for `begin`.
            present: Shows the user what to do: is handed the `Action`, and need not wait; a function or a coroutine
                function. By default the system's browser.
            confirm: Shows the profile and returns the user's word: True confirms it, False gives the tokens back. None:
                leaves that to `Client.confirm`, and a first sign-in ends with `AwaitingConfirmation`.
            deadline: Seconds (or a timedelta) to wait for the user; None: until the transaction ends by itself.

        Returns:
            Where the registration stands.

        Raises:
            EnrollAccessDenied: the user, or the provider, said no.
            EnrollTransactionExpired, EnrollDeadlineExceeded: the user took too long.
            EnrollUnsupported: no browser could be opened.
            What `begin`, `wait` and `confirm` raise.
        """
        transaction = await self.begin(
            kind=kind, scopes=scopes, prompt=prompt, login_hint=login_hint, connection=connection
        )
        try:
            if present is open_browser:
                # Some browsers do not return before they are left.
                await _in_a_thread(open_browser, transaction.action)
            else:
                shown = present(transaction.action)
                if inspect.isawaitable(shown):
                    await shown
        except BaseException:
            await self.cancel(transaction=transaction)
            raise
        state = await self.wait(transaction, deadline=deadline)
        if confirm is None or not isinstance(state, AwaitingConfirmation):
            return state
        word = confirm(state.profile)
        said_yes = await word if inspect.isawaitable(word) else word
        return await self.confirm() if said_yes else await self.retry()

    async def _opened(self) -> _Session:
        if self._session is not None:
            return self._session
        if self._is_closed:
            raise EnrollHandle("the client is closed")
        if self._task is None:
            self._task = asyncio.create_task(self._open())
        try:
            # Who is cancelled meanwhile does not take the others with it.
            return await asyncio.shield(self._task)
        except EnrollError:
            self._task = None
            raise

    async def _open(self) -> _Session:
        session = await self._over._open(self._opening, self._transport)
        if self._logger is not None:
            await session.subscribe(log_event(self._logger))
        self._session = session
        self._finalizer = weakref.finalize(self, session.abandon)
        self._finalizer.atexit = False
        return session

    async def _call(self, command: str, parameters: Mapping[str, Any], deadline: Deadline) -> Dict[str, Any]:
        limit = time_limit(deadline)
        return await (await self._opened()).call(command, parameters, limit)

    async def _token(self, command: str, parameters: Mapping[str, Any], deadline: Deadline) -> AccessToken:
        limit = time_limit(deadline)
        session = await self._opened()
        if command == "token.access":
            token = session.fresh_token(parameters.get("minimumLifetime", 0))
            if token is not None:
                return token
        return token_of(await session.call(command, parameters, limit))
