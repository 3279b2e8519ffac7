"""The client over the C library. Commands are called by name; tokens have C functions of their own.

The library calls back on its own threads. The only code of the program that runs there is a transport or a secret
store; its exceptions become statuses. `user_data` is a number, which is looked up: a late callback finds no entry, and
uses no freed memory. No callback may run after the end of the interpreter, so open clients are closed and the last
callbacks are awaited before it ends.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import dataclasses
import functools
import itertools
import json
import logging
import os
import threading
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

from . import _abi
from ._caller import is_own, token_of
from ._error import EnrollError
from ._generated.statuses import BY_CODE, BY_STATUS, EnrollForked, EnrollHandle, EnrollInternal, EnrollInvalidArgument
from ._generated.types import AccessToken
from ._given import MEMORY, GivenKeys, Keys, Opening, absolute, decoded, encoded, invalid, text_bytes
from ._host import (
    HTTPRequest,
    Parts,
    SecretStore,
    Transport,
    explaining,
    response_parts,
    secret_bytes,
    secret_status,
    transport_status,
    was_not_sent,
)

LOG = logging.getLogger("enrollkit")

Outcome = Union[Dict[str, Any], EnrollError]
Listener = Callable[[str, Dict[str, Any]], None]

_ACCESS_SIZE = ctypes.sizeof(_abi.Access)

_numbers = itertools.count(1)
_completions: Dict[int, Callable[[Outcome], None]] = {}
_sessions: Dict[int, NativeSession] = {}
_hosts: Dict[int, Host] = {}
# The callbacks that run Python code now.
_inside: Dict[int, int] = {}


class Host(Parts):
    """The program's own transport and secret store, kept until the library releases them."""

    def __init__(self, library: ctypes.CDLL, transport: Optional[Transport], secrets: Optional[SecretStore]) -> None:
        super().__init__(transport, secrets)
        self.library = library
        self.number = next(_numbers)
        # The library releases the transport and the secret store separately.
        self.uses = (transport is not None) + (secrets is not None)
        _hosts[self.number] = self


class NativeSession:
    """One client of the library. Any thread may use it at any time."""

    def __init__(self, library: ctypes.CDLL, opening: Opening, transport: Optional[Transport]) -> None:
        self._library = library
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._listeners: Tuple[Listener, ...] = ()
        self._subscription: Optional[int] = None
        self._number = next(_numbers)
        self.host: Optional[Host] = None
        self._last: Optional[Tuple[bytes, int, AccessToken]] = None
        self._handle: Optional[int] = self._open(opening, transport)
        _sessions[self._number] = self

    def _open(self, opening: Opening, transport: Optional[Transport]) -> Optional[int]:
        keep: List[Any] = []
        options = _abi.ClientOptions(struct_size=ctypes.sizeof(_abi.ClientOptions))

        def set_text(target: ctypes.Structure, name: str, value: Optional[str]) -> None:
            keep.append(_set_text(target, name, value))

        configuration = encoded(opening.configuration, "configuration")
        options.configuration, options.configuration_size = configuration, len(configuration)
        options.store = _abi.STORE_MEMORY if opening.store == MEMORY else _abi.STORE_DIRECTORY
        if opening.store != MEMORY:
            set_text(options, "store_directory", opening.store)
        set_text(options, "account", opening.account)
        options.waits_for_platform = opening.wait_for_platform
        options.renews_in_background = opening.renew_in_background
        self._read_platform(opening.platform, options, set_text)

        secrets = opening.keys.host if opening.keys else None
        if transport is not None or secrets is not None:
            self.host = Host(self._library, transport, secrets)
        if transport is not None:
            options.transport = ctypes.pointer(
                _abi.Transport(ctypes.sizeof(_abi.Transport), self.host and self.host.number, _SEND, _RELEASE)
            )
        if opening.keys is not None:
            if opening.store == MEMORY:
                raise EnrollInvalidArgument("keys: a store in memory has no key; leave `keys` out", field="keys")
            keys, texts = _keys(opening.keys, self.host)
            keep.append(texts)
            options.keys = ctypes.pointer(keys)

        handle, error = ctypes.c_void_p(), _abi.Error.empty()
        with explaining(self.host):
            status = self._library.enroll_client_new(ctypes.byref(options), ctypes.byref(handle), ctypes.byref(error))
            _abi.check(status, error)
        return handle.value

    @staticmethod
    def _read_platform(facts: Mapping[str, Any], options: Any, set_text: Callable[..., None]) -> None:
        for name, value in facts.items():
            if name == "native":
                if not isinstance(value, bool):
                    raise invalid("platform.native", "true or false", value)
                options.is_not_native = not value
            elif name in ("width", "height"):
                if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1_000_000:
                    raise EnrollInvalidArgument(
                        f"platform.{name}: expected 1 to 1000000 pixels", field=f"platform.{name}"
                    )
                setattr(options, f"platform_{name}", value)
            elif name in ("type", "appVersion", "deviceId"):
                member = {"type": "platform_type", "appVersion": "app_version", "deviceId": "device_id"}[name]
                set_text(options, member, value)
            else:
                raise EnrollInvalidArgument(f"platform has no member {name!r}", field="platform")

    def _usable(self) -> int:
        """The handle.

        Raises:
            EnrollForked: another process opened the client.
            EnrollHandle: the client is closed.
        """
        if self._process != os.getpid():
            raise EnrollForked("the client was opened before the process forked; open another in the child")
        if self._handle is None:
            raise EnrollHandle("the client is closed")
        return self._handle

    def prepare(
        self, command: str, parameters: Mapping[str, Any], limit: Optional[float], done: Callable[[Outcome], None]
    ) -> Pending:
        """A call that can be started. `done` is called once, on a thread of the library.

        Raises:
            EnrollError: the call cannot be started, and `done` is not called.
        """
        handle = self._usable()
        timeout = _abi.NO_TIMEOUT if limit is None else -int(-limit * 1000 // 1)
        done = done if self.host is None else self._with_cause(done)
        arguments: Tuple[Any, ...]
        # Tokens have separate C functions, which occupy no thread while they wait for a renewal.
        if command == "token.access" and is_own(parameters):
            lifetime = _lifetime(parameters.get("minimumLifetime", 0))
            function, arguments = self._library.enroll_token_access_start, (lifetime, timeout, _ACCESS)
        elif command == "token.refresh" and is_own(parameters):
            function, arguments = self._library.enroll_token_refresh_start, (timeout, _ACCESS)
        else:
            name, content = command.encode(), encoded(parameters)
            texts = (name, len(name), content, len(content))
            function, arguments = self._library.enroll_call_start, (*texts, timeout, _DONE)
        return Pending(self._library, functools.partial(function, handle, *arguments), done)

    def _with_cause(self, done: Callable[[Outcome], None]) -> Callable[[Outcome], None]:
        """If the program's own transport or secret store raised an exception, adds this exception to the
        failure as its cause."""

        host = self.host

        def explained(outcome: Outcome) -> None:
            done(host.explained(outcome) if host is not None and isinstance(outcome, EnrollError) else outcome)

        return explained

    def fresh_token(self, minimum_lifetime: int) -> Optional[AccessToken]:
        """A token that is available at once; None if the caller must run token.access."""
        access, buffer = _abi.Access(_ACCESS_SIZE), _abi.Buffer()
        status = self._library.enroll_token_access(
            self._usable(), _lifetime(minimum_lifetime), 0, ctypes.byref(access), ctypes.byref(buffer), None
        )
        if status != _abi.OK:
            return None
        try:
            if access.outcome != _abi.ACCESS_VALID:
                return None
            content = ctypes.string_at(buffer.data, buffer.size)
            last = self._last
            if last is None or last[0] != content or last[1] != access.expires_at:
                # The object is made only once for each token, because the program calls this before each of its
                # requests.
                token = self.with_scope(token_of(_token(access, content)))
                last = self._last = (content, access.expires_at, token)
            return last[2]
        finally:
            self._library.enroll_buf_free(ctypes.byref(buffer))

    def with_scope(self, token: AccessToken) -> AccessToken:
        """Returns the session's own token with its scopes, which the C functions for tokens do not return."""
        buffer = _abi.Buffer()
        if self._library.enroll_token_list(self._usable(), ctypes.byref(buffer), None) != _abi.OK:
            return token
        try:
            tokens = json.loads(ctypes.string_at(buffer.data, buffer.size))
        finally:
            self._library.enroll_buf_free(ctypes.byref(buffer))
        granted = [one["granted"] for one in tokens if "resource" not in one and "scope" not in one]
        return dataclasses.replace(token, scope=granted[0]) if granted else token

    def subscribe(self, listener: Listener) -> None:
        """From now on `listener` gets every event, on a thread of the library."""
        with self._lock:
            handle = self._usable()
            if self._subscription is None:
                ticket, error = ctypes.c_int64(), _abi.Error.empty()
                # When a late event arrives, no session has its number any more, so the end of the subscription needs no
                # callback.
                status = self._library.enroll_events_subscribe(
                    handle, _EVENT, self._number, _abi.ENDED(), ctypes.byref(ticket), ctypes.byref(error)
                )
                _abi.check(status, error)
                self._subscription = ticket.value
            self._listeners = (*self._listeners, listener)

    def unsubscribe(self, listener: Listener) -> None:
        with self._lock:
            self._listeners = tuple(one for one in self._listeners if one is not listener)

    def tell(self, name: str, parameters: Dict[str, Any]) -> None:
        for listener in self._listeners:
            listener(name, parameters)

    def close(self) -> None:
        """Cancels waiting calls, and returns once a renewal that was sent is stored. A second call does nothing."""
        if self._process != os.getpid():
            # In this forked process the lock may be held by a thread that does not exist here.
            return
        with self._lock:
            handle, self._handle = self._handle, None
        if handle is not None:
            self._library.enroll_client_free(handle)
            self._listeners, self._last = (), None
            _sessions.pop(self._number, None)

    @property
    def is_closed(self) -> bool:
        return self._handle is None

    def settle(self, done: Callable[[], None]) -> None:
        """Calls `done` after all events that were sent so far; at once if no events can be pending."""
        if self._handle is None or self._subscription is None:
            return done()
        try:
            self.prepare("system.describe", {}, None, lambda _: done()).start()
        except EnrollError:
            done()


class Pending:
    """A call, which may be cancelled at any time, even before it has started or while it starts."""

    # With this value, `__del__` frees no handle before `__init__` has set the process.
    _process = 0

    def __init__(self, library: ctypes.CDLL, function: Callable[..., int], done: Callable[[Outcome], None]) -> None:
        self._library = library
        self._function = function
        self._done = done
        self._number = next(_numbers)
        self._handle = ctypes.c_void_p()
        self._process = os.getpid()

    def start(self) -> None:
        """Starts the call.

        Raises:
            EnrollError: the call did not start; there is no callback.
        """
        error = _abi.Error.empty()
        _completions[self._number] = self._done
        status = self._function(self._number, ctypes.byref(self._handle), ctypes.byref(error))
        if status != _abi.OK:
            del _completions[self._number]
            raise error.exception()

    def cancel(self) -> None:
        if self._handle:
            self._library.enroll_pending_cancel(self._handle)
        else:
            _completions.pop(self._number, None)

    def __del__(self) -> None:
        # `enroll_pending_free` neither cancels the call nor waits for it.
        if self._process == os.getpid():
            self._library.enroll_pending_free(self._handle)


def call(library: ctypes.CDLL, command: str, parameters: Mapping[str, Any]) -> Dict[str, Any]:
    """Runs a command that needs no client."""
    if any(isinstance(one, GivenKeys) and one.given.host is not None for one in parameters.values()):
        return _call_with_host(library, command, parameters)
    name, content = command.encode(), encoded(parameters)
    buffer, error = _abi.Buffer(), _abi.Error.empty()
    status = library.enroll_call(
        None, name, len(name), content, len(content), _abi.NO_TIMEOUT, ctypes.byref(buffer), ctypes.byref(error)
    )
    _abi.check(status, error)
    return _taken(library, buffer)


def _call_with_host(library: ctypes.CDLL, command: str, parameters: Mapping[str, Any]) -> Dict[str, Any]:
    """Like `call`, but for a store with the program's own key provider: JSON cannot express that provider, so this
    calls the C functions."""
    store = text_bytes("store", parameters["store"])
    texts: List[Any] = []
    keys: List[Any] = []
    buffer, error = _abi.Buffer(), _abi.Error.empty()
    last = ctypes.byref(error)
    with contextlib.ExitStack() as stack:
        for name in ("keys", "newKeys"):
            given: Optional[Keys] = parameters[name].given if name in parameters else None
            host = None
            if given is not None and given.host is not None:
                host = Host(library, None, given.host)
                stack.callback(_hosts.pop, host.number, None)
                stack.enter_context(host.explaining())
            struct, kept = (None, None) if given is None else _keys(given, host)
            texts.append(kept)
            keys.append(struct and ctypes.byref(struct))
        if command == "accounts.remove":
            account = text_bytes("account", parameters["account"])
            status = library.enroll_accounts_remove(*store, keys[0], *account, last)
        elif command == "installation.reset":
            status = library.enroll_installation_reset(*store, keys[0], last)
        elif command == "store.rekey":
            new_data_key = int(bool(parameters.get("newDataKey")))
            status = library.enroll_store_rekey(*store, keys[0], keys[1], new_data_key, last)
        else:
            function = {"accounts.list": "enroll_accounts_list", "store.diagnose": "enroll_store_diagnose"}[command]
            status = getattr(library, function)(*store, keys[0], ctypes.byref(buffer), last)
        _abi.check(status, error)
    if command == "store.rekey":
        # C does not return the new key provider. The new provider is the provider that was passed, unless `auto` was
        # passed.
        chosen = parameters.get("newKeys") or parameters["keys"]
        if chosen["provider"] != "auto":
            return {"provider": chosen["provider"]}
        told = call(library, "store.diagnose", {"store": parameters["store"], "keys": chosen})
        return {"provider": told["keyProviders"][0]}
    return _taken(library, buffer) if buffer.data else {}


def _taken(library: ctypes.CDLL, buffer: _abi.Buffer) -> Dict[str, Any]:
    try:
        return decoded(ctypes.string_at(buffer.data, buffer.size))
    finally:
        library.enroll_buf_free(ctypes.byref(buffer))


def _set_text(target: ctypes.Structure, name: str, value: Optional[str]) -> Optional[bytes]:
    """Sets a text and its size. Returns the bytes, which must be kept while the struct is used."""
    content, size = text_bytes(name, value)
    setattr(target, name, content)
    setattr(target, f"{name}_size", size)
    return content


def _keys(given: Keys, host: Optional[Host]) -> Tuple[_abi.Keys, List[Optional[bytes]]]:
    """The provider of a store's key, for C, and the objects that must be kept while the provider is used."""
    keys = _abi.Keys(struct_size=ctypes.sizeof(_abi.Keys))
    if given.host is not None:
        keys.provider = _abi.KEYS_HOST
        keys.host = ctypes.pointer(
            _abi.Secrets(ctypes.sizeof(_abi.Secrets), host and host.number, _LOAD, _SAVE, _REMOVE, _RELEASE)
        )
        return keys, []
    if given.provider not in _abi.KEY_PROVIDERS:
        raise EnrollInvalidArgument(
            f"keys.provider: expected one of {', '.join(_abi.KEY_PROVIDERS)}", field="keys.provider"
        )
    keys.provider = _abi.KEY_PROVIDERS[given.provider]
    cache = given.session_cache_seconds
    if isinstance(cache, bool) or not isinstance(cache, int) or not 0 <= cache <= 604_800:
        raise EnrollInvalidArgument(
            "keys.session_cache_seconds: expected 0 to 604800 seconds", field="keys.session_cache_seconds"
        )
    keys.session_cache_seconds = cache
    file = None if given.file is None else absolute("keys.file", os.fspath(given.file))
    return keys, [_set_text(keys, "file", file), _set_text(keys, "passphrase", given.passphrase)]


def _lifetime(seconds: int) -> int:
    """Checks a lifetime against the limit of the manifest."""
    if seconds > 31_536_000:
        raise EnrollInvalidArgument("minimum_lifetime: expected at most 31536000 seconds", field="minimumLifetime")
    return seconds


def _token(access: Any, token: bytes) -> Dict[str, Any]:
    """The result of token.access."""
    result = {
        "outcome": "valid" if access.outcome == _abi.ACCESS_VALID else "stale",
        "accessToken": token.decode(),
        "tokenType": access.token_type.decode(),
    }
    if access.expires_at != _abi.NO_END:
        result["expiresAt"] = access.expires_at
    reason = BY_CODE.get(access.reason)
    if reason is not None:
        result["reason"] = reason.status
        result["error"] = {"status": reason.status, "message": (reason.__doc__ or "").strip()}
    return result


# The functions that the library calls.


class _Inside:
    """A context manager that marks that a callback runs Python code."""

    def __enter__(self) -> None:
        self._number = next(_numbers)
        _inside[self._number] = 1

    def __exit__(self, *_: object) -> None:
        del _inside[self._number]


def _done(number: int, status: int, result: Optional[int], size: int, error: Any) -> None:
    with _Inside():
        done = _completions.pop(number, None)
        if done is None:
            return
        try:
            outcome: Outcome
            if status == _abi.OK:
                outcome = decoded(ctypes.string_at(result, size) if result else b"{}")
            else:
                outcome = error.contents.exception()
        except Exception as fault:
            outcome = EnrollInternal(f"the result could not be read: {type(fault).__name__}")
        try:
            done(outcome)
        except Exception:
            LOG.exception("a completion failed")


def _accessed(number: int, status: int, access: Any, token: Optional[int], size: int, error: Any) -> None:
    with _Inside():
        done = _completions.pop(number, None)
        if done is None:
            return
        try:
            if status == _abi.OK and token is not None:
                done(_token(access.contents, ctypes.string_at(token, size)))
            else:
                done(error.contents.exception())
        except Exception:
            LOG.exception("a completion failed")


def _event(number: int, name: bytes, parameters: Optional[int], size: int) -> None:
    with _Inside():
        session = _sessions.get(number)
        if session is None:
            return
        try:
            session.tell(name.decode(), decoded(ctypes.string_at(parameters, size) if parameters else b"{}"))
        except Exception:
            LOG.exception("a listener of events failed")


def _send(number: int, request: Any, response: int) -> int:
    with _Inside():
        host = _hosts.get(number)
        if host is None or host.transport is None:
            return -99
        try:
            status = _exchange(host.library, host.transport, request.contents, response)
        except BaseException as failure:
            if host.library.enroll_http_response_is_cancelled(response):
                # The call that needed the response has already ended, with an error of its own.
                return BY_STATUS["cancelled"].code
            means = transport_status(failure)
            if was_not_sent(failure):
                host.library.enroll_http_response_set_unsent(response)
            host.failed("transport", failure, means)
            return BY_STATUS[means].code
        host.worked("transport")
        return status


def _exchange(library: ctypes.CDLL, transport: Transport, request: Any, response: int) -> int:
    asked = HTTPRequest(
        method=request.method.decode(),
        url=request.url.decode(),
        headers=tuple((one.name.decode(), one.value.decode()) for one in request.headers[: request.header_count]),
        body=ctypes.string_at(request.body, request.body_size) if request.body_size else b"",
        response_limit=request.response_limit,
        needs_fresh_connection=bool(request.needs_fresh_connection),
        timeout=request.timeout_ms / 1000,
        is_cancelled=lambda: bool(library.enroll_http_response_is_cancelled(response)),
    )
    number, headers, body = response_parts(transport(asked))
    library.enroll_http_response_set_status(response, number)
    for name, value in headers:
        n, v = name.encode(), value.encode()
        if library.enroll_http_response_add_header(response, n, len(n), v, len(v)) != _abi.OK:
            raise ValueError("a transport returned an invalid header")
    status: int = library.enroll_http_response_add_body(response, body, len(body))
    return status


def _keeping(number: int, work: Callable[[SecretStore], int]) -> int:
    with _Inside():
        host = _hosts.get(number)
        if host is None or host.secrets is None:
            return -73
        try:
            status = work(host.secrets)
        except BaseException as failure:
            means = secret_status(failure)
            host.failed("secret store", failure, means)
            return BY_STATUS[means].code
        host.worked("secret store")
        return status


def _load(number: int, name: bytes, secret: int) -> int:
    def work(secrets: SecretStore) -> int:
        kept = secrets.load(name.decode())
        if kept is None:
            return -11
        ctypes.memmove(secret, secret_bytes(kept), _abi.SECRET_SIZE)
        return _abi.OK

    return _keeping(number, work)


def _save(number: int, name: bytes, secret: int) -> int:
    def work(secrets: SecretStore) -> int:
        secrets.save(name.decode(), ctypes.string_at(secret, _abi.SECRET_SIZE))
        return _abi.OK

    return _keeping(number, work)


def _remove(number: int, name: bytes) -> int:
    def work(secrets: SecretStore) -> int:
        secrets.remove(name.decode())
        return _abi.OK

    return _keeping(number, work)


def _release(number: int) -> None:
    with _Inside():
        host = _hosts.get(number)
        if host is not None:
            host.uses -= 1
            if host.uses <= 0:
                _hosts.pop(number, None)


_DONE, _ACCESS, _EVENT = _abi.RESULT(_done), _abi.ACCESS(_accessed), _abi.EVENT(_event)
_SEND, _RELEASE = _abi.SEND(_send), _abi.RELEASE(_release)
_LOAD, _SAVE, _REMOVE = _abi.SECRET(_load), _abi.SECRET(_save), _abi.FORGET(_remove)


# The end of the process.


def _end() -> None:
    """Waits for callbacks: no thread of the library may call Python once the interpreter shuts down."""
    waiting = []
    for session in list(_sessions.values()):
        behind = threading.Event()
        session.settle(behind.set)
        waiting.append(behind)
    end = time.monotonic() + 5
    for behind in waiting:
        behind.wait(max(0.0, end - time.monotonic()))
    for session in list(_sessions.values()):
        session.close()
    end = time.monotonic() + 5
    while (_completions or _inside) and time.monotonic() < end:
        time.sleep(0.001)
    # The last callback may still be returning from Python.
    time.sleep(0.005)


def _forked() -> None:
    """Forgets the parent's objects in a forked child: no callback of the parent's calls arrives there, and the child
    must not close anything of the parent."""
    for registry in (_completions, _sessions, _hosts, _inside):
        registry.clear()


atexit.register(_end)
os.register_at_fork(after_in_child=_forked)
