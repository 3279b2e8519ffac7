"""The blocking client: `Client`, and the `Library` or `Daemon` that it uses."""

from __future__ import annotations

import atexit
import collections
import concurrent.futures
import contextlib
import functools
import logging
import os
import queue
import signal
import subprocess
import threading
import time
import weakref
from types import TracebackType
from typing import (
    Any,
    Callable,
    Deque,
    Dict,
    Iterator,
    Literal,
    Mapping,
    Optional,
    Protocol,
    Sequence,
    Tuple,
    Type,
    Union,
)

from . import _abi, _flow, _library, _programs
from ._caller import Single, given_up_with, is_own, token_of
from ._error import EnrollError, EnrollLibraryError
from ._flow import Logger, check_confirmed, check_redirect, event_of, log_event, not_confirmed, open_browser
from ._generated.commands import ClientCommands, CoreCommands
from ._generated.statuses import (
    EnrollBusy,
    EnrollDeadlineExceeded,
    EnrollForked,
    EnrollHandle,
    EnrollIllegalState,
    EnrollUnsupported,
)
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
    read_state,
)
from ._given import Keys, Opening, Seconds, StorePath, Timeout, invalid, seconds, time_limit
from ._host import Parts, Transport, check_not_serving, explained_token, explaining, serving
from ._jsonrpc import NO_MORE, Conversation, Outcome, with_timeout
from ._library import Listener, NativeSession
from ._serving import Question, Questions, Threads, store_parts
from ._spelling import spelt
from ._values import number as an_integer
from ._values import text, told


def _nothing() -> None: ...


class Session(Protocol):
    """An open client, of a library or of a daemon."""

    def call(
        self,
        command: str,
        parameters: Mapping[str, Any],
        limit: Optional[float],
        meanwhile: Callable[[], object] = _nothing,
    ) -> Dict[str, Any]:
        """Runs a command. `meanwhile` is called about once a second; if it raises, the call ends
        with that exception."""

    def token(self, command: str, parameters: Mapping[str, Any], limit: Optional[float]) -> AccessToken: ...

    def fresh_token(self, minimum_lifetime: int) -> Optional[AccessToken]: ...

    def subscribe(self, listener: Listener) -> None: ...

    def unsubscribe(self, listener: Listener) -> None: ...

    def close(self) -> None: ...

    def abandon(self) -> None:
        """Closes the client; may be called on any thread."""


_TURN = 1.0
"""A call waits in pieces of this many seconds, because Ctrl-C does not end a wait that begins a moment after Ctrl-C."""

_AT_ONCE = 0.2
"""The seconds within which the opening of a browser usually fails, if it fails."""


class _Answer:
    """Waits for an outcome. Ctrl-C always interrupts the wait.

    It uses a bare lock, not a condition: Ctrl-C at the moment when a condition is entered leaves the condition locked
    for ever, and the library's callback thread would then block.
    """

    def __init__(self) -> None:
        self._outcome: Any = None
        self._pending = threading.Lock()
        self._pending.acquire()

    def settle(self, outcome: Any) -> None:
        self._outcome = outcome
        self._pending.release()

    def take(
        self,
        start: Callable[[], None],
        give_up: Callable[[], None],
        timeout: Optional[float] = None,
        meanwhile: Callable[[], object] = _nothing,
    ) -> Dict[str, Any]:
        """Starts the command and returns its result. If the wait ends without an outcome, `give_up` is called, even if
        the command did not start.

        Raises:
            EnrollError: the command failed.
            EnrollDeadlineExceeded: the command did not end within `timeout` seconds.
        """
        try:
            start()
            came = self._comes(timeout, meanwhile)
        except BaseException:
            give_up()
            raise
        if not came:
            give_up()
            raise EnrollDeadlineExceeded("the call did not end before its timeout")
        outcome = self._outcome
        if isinstance(outcome, EnrollError):
            raise outcome
        result: Dict[str, Any] = outcome
        return result

    def _comes(self, timeout: Optional[float], meanwhile: Callable[[], object]) -> bool:
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _TURN if end is None else end - time.monotonic()
            if self._pending.acquire(timeout=min(max(left, 0), _TURN)):
                return True
            if left < _TURN:
                return False
            meanwhile()


class Library(CoreCommands):
    """The C library inside this process. Clients use it by default.

    Args:
        path: The file of libenroll. None: $ENROLL_LIBRARY, else the library in the wheel, else the system's.

    Raises:
        EnrollLibraryError: the library was not found, or its version does not match this package.
    """

    def __init__(self, path: Optional[StorePath] = None) -> None:
        self._native = _abi.load(None if path is None else os.fspath(path))

    def __repr__(self) -> str:
        return f"<enrollkit.Library {self._native._name}>"

    def _call(self, command: str, parameters: Mapping[str, Any], timeout: Timeout) -> Dict[str, Any]:
        return _library.call(self._native, command, parameters)

    def _open(self, opening: Opening, transport: Optional[Transport]) -> Session:
        return _LibrarySession(NativeSession(self._native, opening, transport))


class _LibrarySession:
    def __init__(self, native: NativeSession) -> None:
        self._native = native
        self.fresh_token = native.fresh_token
        self.subscribe = native.subscribe
        self.unsubscribe = native.unsubscribe
        self.close = self.abandon = native.close

    def call(
        self,
        command: str,
        parameters: Mapping[str, Any],
        limit: Optional[float],
        meanwhile: Callable[[], object] = _nothing,
    ) -> Dict[str, Any]:
        answer = _Answer()
        pending = self._native.prepare(command, parameters, limit, answer.settle)
        with given_up_with(lambda: self._native.is_closed):
            return answer.take(pending.start, pending.cancel, meanwhile=meanwhile)

    def token(self, command: str, parameters: Mapping[str, Any], limit: Optional[float]) -> AccessToken:
        token = token_of(self.call(command, parameters, limit))
        if is_own(parameters):
            token = self._native.with_scope(token)
        return explained_token(self._native.host, token)


class Daemon(CoreCommands):
    """A process of `enrolld` for the clients that are opened with it: a crash of the daemon does not affect this
    process, or vice versa.

    It starts at once and ends with `close`, with the `with` block, or with this process. It sends this process
    requests for the HTTP and the secrets that the program serves itself. This process answers them on threads that
    start when they are needed: at most 64 for transports, and 16 for secret stores.

    Args:
        path: The program. None: $ENROLLD, else the program in the wheel, else the one in $PATH.
        log_level: The daemon's log level: error, warning, info or debug. It never logs parameters, results or URLs.
        logger: The logger for the daemon's log; None: the logger `enrollkit.daemon`.

    Raises:
        EnrollLibraryError: the program was not found, or its version does not match this package.
    """

    def __init__(
        self,
        path: Optional[StorePath] = None,
        *,
        log_level: Literal["error", "warning", "info", "debug"] = "warning",
        logger: Optional[Logger] = None,
    ) -> None:
        _programs.check_logger(logger)
        arguments = _programs.arguments(path, log_level)
        self._logger = logger or logging.getLogger("enrollkit.daemon")
        self._program = arguments[0]
        self._owner = os.getpid()
        self._questions = Questions(self._begin)
        self._conversation = Conversation(self._questions)
        self._transports = Threads("enrolld transport", 64)
        self._vaults = Threads("enrolld secrets", 16)
        # Serializes commands about a store, and the threads that answer the daemon's requests for such a command.
        # Ctrl-C does not interrupt those threads.
        self._turn = threading.Lock()
        # A separate thread writes: Ctrl-C would cut a line in two, and a full pipe would block a caller for longer than
        # its timeout. None ends the thread.
        self._outbox: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
        self._last_words = ""
        try:
            # The daemon gets a separate session (setsid): this process decides what Ctrl-C in the terminal does.
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as fault:
            raise EnrollLibraryError(f"enrolld could not be started: {fault}") from None
        _daemons.add(self)
        self._log_reader = threading.Thread(target=self._read_log, name="enrolld log", daemon=True)
        self._log_reader.start()
        self._reader = threading.Thread(target=self._read, name="enrolld", daemon=True)
        self._reader.start()
        self._writer = threading.Thread(target=self._write_on, name="enrolld writer", daemon=True)
        self._writer.start()
        try:
            described = self._ask("system.describe", {}, 30)
            abi, version = told(an_integer, described, "abi"), told(text, described, "version")
            _programs.check_description(abi, version, self._program)
        except EnrollLibraryError:
            self.close()
            raise
        except EnrollError as fault:
            self.close()
            raise EnrollLibraryError(f"{self._program} does not answer as enrolld does: {fault.message}") from fault

    def __repr__(self) -> str:
        return f"<enrollkit.Daemon {self._program}, process {self._process.pid}>"

    def __enter__(self) -> Daemon:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], fault: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the daemon: waiting calls are cancelled, renewals that were sent are stored. A second call does nothing.

        Raises:
            EnrollReentrant: called by a transport or a secret store of this daemon.
        """
        if self._owner != os.getpid():
            return
        check_not_serving(self)
        self._conversation.close()
        _daemons.discard(self)
        if self._questions.is_serving:
            # A daemon that still has clients must be able to send requests for their renewals: its input stays open.
            self._process.send_signal(signal.SIGTERM)
        else:
            self._outbox.put(None)
        try:
            self._process.wait(40)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._outbox.put(None)
        for thread in (self._writer, self._reader, self._log_reader):
            if thread is not threading.current_thread():
                thread.join(5)

    @property
    def process_id(self) -> int:
        """The id of the daemon's process."""
        return self._process.pid

    def _call(self, command: str, parameters: Mapping[str, Any], timeout: Timeout) -> Dict[str, Any]:
        parts = store_parts(parameters)
        if parts is not None:
            return self._ask_with(parts, command, parameters)
        return self._ask(command, parameters, time_limit(timeout))

    def _check(self) -> None:
        if self._owner != os.getpid():
            raise EnrollForked("the daemon was started before the process forked; start another in the child")

    def _ask(
        self,
        command: str,
        parameters: Mapping[str, Any],
        limit: Optional[float],
        meanwhile: Callable[[], object] = _nothing,
    ) -> Dict[str, Any]:
        self._check()
        parameters, timeout = with_timeout(command, parameters, limit)
        answer = _Answer()
        number, message = self._conversation.request(command, parameters, answer.settle)

        def give_up() -> None:
            self._conversation.forget(number)
            self._write(self._conversation.cancellation(number))

        return answer.take(lambda: self._write(message), give_up, timeout, meanwhile)

    def _ask_with(self, parts: Parts, command: str, parameters: Mapping[str, Any]) -> Dict[str, Any]:
        """Runs a command about a store whose key the program guards.

        The daemon's requests for such a command name no client, so only one such command runs at a time.
        """
        self._check()
        check_not_serving(self)
        answer = _Answer()
        is_given_up = False
        number: Optional[int] = None

        def run() -> None:
            nonlocal number
            with self._turn:
                if is_given_up:
                    return
                ended = _Answer()
                self._questions.store = parts
                try:
                    number, message = self._conversation.request(command, parameters, ended.settle)
                    self._write(message)
                    answer.settle(ended.take(cancel, lambda: None))
                except EnrollError as error:
                    answer.settle(error)
                finally:
                    self._questions.store = None

        def cancel() -> None:
            if is_given_up and number is not None:
                self._write(self._conversation.cancellation(number))

        def give_up() -> None:
            nonlocal is_given_up
            is_given_up = True
            cancel()

        def start() -> None:
            try:
                threading.Thread(target=run, name="enrolld store", daemon=True).start()
            except RuntimeError as fault:
                raise EnrollBusy(f"{command}: {fault}") from None

        with parts.explaining():
            return answer.take(start, give_up)

    def _open(self, opening: Opening, transport: Optional[Transport]) -> Session:
        self._check()
        check_not_serving(self)
        secrets = opening.keys.host if opening.keys else None
        parts = None if transport is None and secrets is None else Parts(transport, secrets)
        parameters = opening.parameters(hosts_transport=transport is not None)
        answer = _Answer()
        opened = _Opened(self, parts, answer.settle)
        if parts is not None:
            self._questions.opening(opened)
        try:
            number, message = self._conversation.request("client.open", parameters, opened)
        except EnrollError:
            opened.failed()
            raise

        def give_up() -> None:
            self._write(self._conversation.cancellation(number))
            opened.give_up()

        result = answer.take(lambda: self._write(message), give_up)
        return _DaemonSession(self, self._conversation, told(text, result, "client"), parts)

    def _close_client(self, client: str) -> None:
        """Closes the client in the daemon, and does not wait for the answer: the caller may be the reading thread."""
        with contextlib.suppress(EnrollError):
            self._write(self._conversation.request("client.close", {"client": client}, lambda _: None)[1])

    def _begin(self, question: Question) -> None:
        """Starts to answer a request of the daemon. Called on the reading thread, which must not wait."""
        threads = self._transports if question.is_http else self._vaults
        try:
            threads.run(functools.partial(self._answer, question))
        except RuntimeError:
            # The daemon waits for the answer until its own timeout.
            logging.getLogger("enrollkit").exception("no thread could be started for a request of the daemon")

    def _answer(self, question: Question) -> None:
        if question.is_over:
            return
        with serving(self):
            message = question.settled(question.ask)
        if not question.is_over:
            self._write(message)
        self._questions.answered(question)

    def _write(self, message: bytes) -> None:
        self._outbox.put(message)

    def _write_on(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        # If the daemon has ended, the reading thread ends every waiting call.
        with contextlib.suppress(OSError), pipe:
            for message in iter(self._outbox.get, None):
                view = memoryview(message)
                while view:
                    view = view[pipe.write(view) :]

    def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        rest = b""
        while True:
            # `os.read` returns all bytes that are there, with few system calls.
            try:
                content = os.read(pipe.fileno(), 1 << 16)
            except OSError:
                content = b""
            if not content:
                break
            *lines, rest = (rest + content).split(b"\n")
            for line in lines:
                if line:
                    try:
                        self._conversation.receive(line)
                    except Exception:
                        logging.getLogger("enrollkit").exception("a message of the daemon could not be read")
        pipe.close()
        try:
            status: Optional[int] = self._process.wait(5)
        except subprocess.TimeoutExpired:
            status = None
        self._log_reader.join(1)
        self._questions.end()
        self._conversation.end(_programs.ending(self._program, status, self._last_words))
        for threads in (self._transports, self._vaults):
            threads.close()

    def _read_log(self) -> None:
        pipe = self._process.stderr
        assert pipe is not None
        for line in iter(pipe.readline, b""):
            self._last_words = line.decode("utf-8", "replace").strip()[:500]
            _programs.log_line(self._logger, line)
        pipe.close()


class _Opened:
    """Receives the answer to client.open, on the reading thread. If the caller has stopped waiting for it, the client
    is closed again.
    """

    def __init__(self, daemon: Daemon, parts: Optional[Parts], done: Callable[[Any], None]) -> None:
        self._daemon = daemon
        self._parts = parts
        self._done = done
        self._client: Optional[str] = None
        self._is_given_up = False

    def __call__(self, outcome: Outcome) -> None:
        client = outcome.get("client") if isinstance(outcome, dict) else None
        if self._parts is not None:
            self._daemon._questions.opened(self, client, self._parts)
        self._client = client
        if self._is_given_up:
            self._close()
        self._done(outcome)

    def failed(self) -> None:
        """Ends the opening: the request was not sent."""
        if self._parts is not None:
            self._daemon._questions.opened(self, None, self._parts)

    def give_up(self) -> None:
        self._is_given_up = True
        self._close()

    def _close(self) -> None:
        if self._client is not None:
            self._daemon._close_client(self._client)


class _DaemonSession:
    def __init__(self, daemon: Daemon, conversation: Conversation, client: str, parts: Optional[Parts]) -> None:
        self._daemon = daemon
        self._conversation = conversation
        self._client = client
        # The daemon's requests for this client are answered while this object exists.
        self._parts = parts
        self._lock = threading.Lock()
        self._is_subscribed = False
        self._is_closed = False

    def call(
        self,
        command: str,
        parameters: Mapping[str, Any],
        limit: Optional[float],
        meanwhile: Callable[[], object] = _nothing,
    ) -> Dict[str, Any]:
        if self._is_closed:
            raise EnrollHandle("the client is closed")
        check_not_serving(self._daemon)
        with given_up_with(lambda: self._is_closed), explaining(self._parts):
            return self._daemon._ask(command, {"client": self._client, **parameters}, limit, meanwhile)

    def token(self, command: str, parameters: Mapping[str, Any], limit: Optional[float]) -> AccessToken:
        with explaining(self._parts):
            return explained_token(self._parts, token_of(self.call(command, parameters, limit)))

    def fresh_token(self, minimum_lifetime: int) -> Optional[AccessToken]:
        return None

    def subscribe(self, listener: Listener) -> None:
        self._daemon._check()
        if self._is_closed:
            raise EnrollHandle("the client is closed")
        # Listening begins before the request is sent: an event may arrive with the answer.
        self._conversation.listen(self._client, listener)
        with self._lock:
            try:
                if not self._is_subscribed:
                    self.call("events.subscribe", {}, None)
                    self._is_subscribed = True
            except BaseException:
                self.unsubscribe(listener)
                raise

    def unsubscribe(self, listener: Listener) -> None:
        self._conversation.stop_listening(self._client, listener)

    def close(self) -> None:
        if self._daemon._owner != os.getpid():
            return
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
        if was_closed:
            return
        self._conversation.stop_listening(self._client)
        # If the daemon has ended or was closed, the client has ended, too.
        with contextlib.suppress(EnrollError):
            self._daemon._ask("client.close", {"client": self._client}, None)

    def abandon(self) -> None:
        # The garbage collector runs on any thread, even on the reading thread.
        if self._daemon._owner == os.getpid() and not self._is_closed:
            self._is_closed = True
            self._conversation.stop_listening(self._client)
            self._daemon._close_client(self._client)


class EventStream(Single):
    """The events of a client, in order, since the call of `Client.events`: an iterator that waits.

    The stream ends when the client or its daemon ends, or when its own `close` is called. It keeps the last 1024
    events that were not read.
    """

    KEPT = 1024

    def __init__(self, session: Session, ended: Callable[[EventStream], None]) -> None:
        self._session = session
        self._ended = ended
        self._events: Deque[Event] = collections.deque(maxlen=self.KEPT)
        # A queue that gets an entry for each change. It is used instead of a condition variable:
        # see `_Answer`.
        self._changes: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._is_closed = False
        session.subscribe(self._listen)

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        event = self.get()
        if event is None:
            raise StopIteration
        return event

    def get(self, timeout: Optional[Seconds] = None) -> Optional[Event]:
        """The next event; None if none arrives within `timeout` (seconds or a timedelta), or the stream has ended."""
        timeout = None if timeout is None else seconds("timeout", timeout)
        end = None if timeout is None else time.monotonic() + min(timeout, threading.TIMEOUT_MAX)
        while True:
            # The flag is read before the events, because no event arrives once the flag is set.
            is_closed = self._is_closed
            with contextlib.suppress(IndexError):
                return self._events.popleft()
            left = None if end is None else end - time.monotonic()
            if is_closed or (left is not None and left <= 0):
                if is_closed:
                    self._changes.put(None)  # Wakes the other waiting threads.
                return None
            with contextlib.suppress(queue.Empty):
                self._changes.get(timeout=_TURN if left is None else min(left, _TURN))

    def close(self) -> None:
        """Ends the stream; events that arrived before can still be read."""
        self._session.unsubscribe(self._listen)
        self._ended(self)
        self._is_closed = True
        self._changes.put(None)

    def __enter__(self) -> EventStream:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], fault: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def _listen(self, name: str, parameters: Dict[str, Any]) -> None:
        if name == NO_MORE:
            self.close()
            return
        event = event_of(name, parameters)
        if event is not None:
            self._events.append(event)
            if self._changes.qsize() < self.KEPT:
                self._changes.put(None)


class Client(ClientCommands):
    """One account at one provider: signs its user in and gives your program a valid access token.

    Any thread may use it at any time. Several clients may use one account in one store, in one process or in many.
    Opening sends no request. A client cannot be copied or pickled (`EnrollUnsupported`).

    Args:
        configuration: The provider and the client, as a `Configuration` or as JSON in the provider's names.
        store: The directory of the sealed token store; its parent must exist. `enrollkit.MEMORY`: no files.
        account: A name for one set of tokens; None: "default".
        keys: The provider of the store's key; None: a key file of mode 0600 in the store.
        platform: Facts about the device.
        wait_for_platform: Calls about the registration wait for `platform_ready`.
        renew_in_background: Renew tokens shortly before they are due, even without a call.
        transport: The program's own HTTP transport; None: libcurl.
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
        transport: Optional[Transport] = None,
        logger: Optional[Logger] = None,
        over: Union[Library, Daemon, None] = None,
    ) -> None:
        opening = Opening.of(configuration, store, account, keys, platform, wait_for_platform, renew_in_background)
        if transport is not None and not callable(transport):
            raise invalid("transport", "a callable", transport)
        if over is not None and not isinstance(over, (Library, Daemon)):
            raise invalid("over", "a Library or a Daemon", over)
        _programs.check_logger(logger)
        self._logger = logger
        self._account = account or "default"
        self._streams: weakref.WeakSet[EventStream] = weakref.WeakSet()
        self._over = over or Library()
        self._recent: Optional[_Recent] = None
        self._calls = 0
        with spelt(opening.configuration):
            self._session = self._over._open(opening, transport)
        self._finalizer = weakref.finalize(self, _abandoned, self._session)
        self._finalizer.atexit = False
        if logger is not None:
            self._session.subscribe(log_event(logger))

    def __repr__(self) -> str:
        state = "" if self._finalizer.alive else ", closed"
        return f"<enrollkit.Client account {self._account!r} over {type(self._over).__name__}{state}>"

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], fault: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the client: calls that wait fail with `EnrollCancelled`, and a renewal that was sent is stored
        first. Tokens stay in the store. A second call does nothing.
        """
        self._finalizer.detach()
        self._calls += 1
        self._session.close()
        for stream in list(self._streams):
            stream.close()

    def events(self) -> EventStream:
        """The events of the client from now on, as an iterator that waits.

        Command: events.subscribe, events.unsubscribe.
        """
        stream = EventStream(self._session, self._streams.discard)
        self._streams.add(stream)
        return stream

    def sign_in(
        self,
        *,
        kind: Optional[Union[TransactionKind, Literal["signIn", "register", "app2app", "bff", "device"]]] = None,
        scopes: Optional[Union[str, Sequence[str]]] = None,
        prompt: Optional[str] = None,
        login_hint: Optional[str] = None,
        connection: Optional[str] = None,
        present: Callable[[Action], object] = open_browser,
        confirm: Optional[Callable[[Dict[str, Any]], bool]] = None,
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
            present: Shows the user what to do: a function that receives the `Action` and need not wait. By default it
                opens the system's browser.
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
            transaction = self.begin(
                kind=kind, scopes=scopes, prompt=prompt, login_hint=login_hint, connection=connection
            )
        except EnrollIllegalState:
            state = self.state()
            if not isinstance(state, AwaitingConfirmation):
                raise
        else:
            try:
                check_redirect(transaction)
                opened = None
                if present is open_browser:
                    opened = _flow.opening(transaction.action)
                else:
                    present(transaction.action)
                with self._hinting(transaction):
                    state = self._outcome(transaction, opened, limit)
            except EnrollDeadlineExceeded:
                # The transaction is still pending, and the error says so.
                raise
            except BaseException:
                # Cancelling only reports to the core that nobody waits any more: if it fails, nothing is lost.
                with contextlib.suppress(EnrollError):
                    self.cancel(transaction=transaction)
                raise
        if confirm is None or not isinstance(state, AwaitingConfirmation):
            return state
        # The answer names the transaction whose profile was shown: another sign-in may have arrived meanwhile.
        if check_confirmed(confirm(state.profile)):
            return self.confirm(transaction=state.transaction)
        self.retry(transaction=state.transaction)
        raise not_confirmed()

    def _outcome(
        self, transaction: Transaction, opened: Optional[concurrent.futures.Future[None]], limit: Optional[float]
    ) -> State:
        """Waits as `await_outcome` does. Raises the exception of `opened`, unless the user signs in first."""
        if opened is None:
            return self.await_outcome(transaction, timeout=limit)

        def meanwhile() -> None:
            if opened.done():
                opened.result()

        try:
            concurrent.futures.wait([opened], _AT_ONCE if limit is None else min(limit, _AT_ONCE))
            meanwhile()
            with self._changing():
                result = self._session.call(
                    "registration.awaitOutcome", {"transaction": transaction.id}, limit, meanwhile=meanwhile
                )
            return told(read_state, result, "state")
        except EnrollUnsupported:
            if isinstance(self.state(), Authenticating):
                raise
            return self.await_outcome(transaction, timeout=limit)

    @contextlib.contextmanager
    def _hinting(self, transaction: Transaction) -> Iterator[None]:
        """Logs a hint if the `with` block takes long."""
        timer = threading.Timer(_flow.REDIRECT_HINT_DELAY, _flow.log_redirect_hint, (self._logger, transaction))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def access_token(
        self,
        *,
        resource: Optional[str] = None,
        scope: Optional[Union[str, Sequence[str]]] = None,
        minimum_lifetime: Optional[Seconds] = None,
        timeout: Timeout = 30,
    ) -> AccessToken:
        recent = self._recent
        if (
            recent is not None
            and recent[1] > _now()
            and recent[2] == self._calls
            and recent[3] == _forks
            and resource is None
            and scope is None
            and minimum_lifetime is None
            and timeout == 30
        ):
            return recent[0]
        return super().access_token(resource=resource, scope=scope, minimum_lifetime=minimum_lifetime, timeout=timeout)

    access_token.__doc__ = ClientCommands.access_token.__doc__

    def _call(self, command: str, parameters: Mapping[str, Any], timeout: Timeout) -> Dict[str, Any]:
        with self._changing():
            return self._session.call(command, parameters, time_limit(timeout))

    def _token(self, command: str, parameters: Mapping[str, Any], timeout: Timeout) -> AccessToken:
        limit = time_limit(timeout)
        if command == "token.access" and is_own(parameters):
            end, calls = _now() + _RECENT, self._calls
            token = self._session.fresh_token(parameters.get("minimumLifetime", 0))
            if token is not None:
                self._recent = (token, end, calls, _forks)
                return token
        with self._changing():
            return self._session.token(command, parameters, limit)

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """Counts a command, because any command of this client may change the token. A token from before the command,
        or from the time while the command runs, is not returned again."""
        self._calls += 1
        try:
            yield
        finally:
            self._calls += 1


# For this many seconds the client returns a token again without asking the library, which trusts its own memory for one
# second. If the system has a clock that counts while the machine sleeps, that clock measures this time.
_RECENT = 0.1
_now: Callable[[], float] = (
    functools.partial(time.clock_gettime, time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic
)

# A token, the time until which it is returned again, and the counts of calls and forks when it was returned first.
_Recent = Tuple[AccessToken, float, int, int]
_forks = 0


def _abandoned(session: Session) -> None:
    """Closes a client that is no longer referenced."""
    with contextlib.suppress(EnrollError):
        session.abandon()


_daemons: weakref.WeakSet[Daemon] = weakref.WeakSet()


def _end() -> None:
    for daemon in list(_daemons):
        daemon.close()


def _forked() -> None:
    """Closes the daemon's pipes in a forked child: while a child has them, the daemon cannot notice the end
    of its host."""
    global _forks
    _forks += 1
    if not _daemons:
        return
    null = os.open(os.devnull, os.O_RDWR)
    for daemon in list(_daemons):
        for pipe in (daemon._process.stdin, daemon._process.stdout, daemon._process.stderr):
            if pipe is not None and not pipe.closed:
                # The descriptor is not closed: another file would get its number, and the pipe object would later close
                # that file.
                os.dup2(null, pipe.fileno(), inheritable=False)
    os.close(null)
    _daemons.clear()


atexit.register(_end)
os.register_at_fork(after_in_child=_forked)
