"""The daemon's requests to the program that started it: HTTP and secrets.

docs/json-rpc.md, "What the daemon asks its host".
This module does no input and output: its caller runs each request on a thread or in an event loop, and writes the
answer. An exception of the program's own parts stays in this process, as the cause of the error of the call that
fails because of it.
"""

from __future__ import annotations

import base64
import json
import logging
import queue
import threading
import time
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional

from ._generated.statuses import BY_STATUS, EnrollResponseInvalid, EnrollUnsupported
from ._given import MESSAGE_LIMIT, GivenKeys
from ._host import (
    HTTPRequest,
    Part,
    Parts,
    SecretStore,
    response_parts,
    secret_bytes,
    secret_status,
    transport_status,
    was_not_sent,
)

LOG = logging.getLogger("enrollkit")

SEND, GET, SET, REMOVE = "host.http.send", "host.store.get", "host.store.set", "host.store.remove"

_METHOD_NOT_FOUND = -32601


class _TooLong(Exception):
    """Raised if a response is longer than the limit. The program's own code has not failed, so no cause is
    recorded."""


class Question:
    """One request of the daemon's."""

    def __init__(self, number: str, method: str, parameters: Mapping[str, Any]) -> None:
        self.number = number
        self.method = method
        self.parameters = parameters
        self.parts: Optional[Parts] = None
        """The program's parts that answer; None if the program has no such parts."""
        self.is_over = False
        """The daemon no longer waits for the answer."""
        self.give_up: Callable[[], object] = lambda: None
        """The function to call when the daemon no longer waits."""
        self._came = time.monotonic()

    @property
    def is_http(self) -> bool:
        return self.method == SEND

    @property
    def _part(self) -> Part:
        return "transport" if self.is_http else "secret store"

    def ask(self) -> Any:
        """Calls the program's own code, on this thread. A transport of asyncio may return an awaitable."""
        parts, asked = self.parts, self.parameters
        if self.is_http:
            if parts is None or parts.transport is None:
                raise ConnectionError("the client of this transport is closed")
            return parts.transport(self._request())
        if parts is None or parts.secrets is None:
            raise LookupError("the client of this secret store is closed")
        return self._keep(parts.secrets, asked["name"])

    def _request(self) -> HTTPRequest:
        asked = self.parameters
        body = base64.b64decode(asked["bodyBase64"]) if "bodyBase64" in asked else asked.get("body", "").encode()
        return HTTPRequest(
            method=asked["method"],
            url=asked["url"],
            headers=tuple(asked["headers"].items()),
            body=body,
            response_limit=asked["responseLimit"],
            needs_fresh_connection=asked["needsFreshConnection"],
            # The time that the request has waited for a free thread is subtracted.
            timeout=max(0.001, asked["timeout"] - (time.monotonic() - self._came)),
            is_cancelled=lambda: self.is_over,
        )

    def _keep(self, secrets: SecretStore, name: str) -> Dict[str, Any]:
        if self.method == GET:
            kept = secrets.load(name)
            if kept is None:
                return {}
            return {"secret": base64.urlsafe_b64encode(secret_bytes(kept)).decode().rstrip("=")}
        if self.method == SET:
            secrets.save(name, base64.urlsafe_b64decode(self.parameters["secret"] + "="))
        else:
            secrets.remove(name)
        return {}

    def settled(self, ask: Callable[[], Any]) -> bytes:
        """The message that answers the daemon: the result of `ask`, or an error for its exception."""
        if self.method not in (SEND, GET, SET, REMOVE):
            return self._refusal(_METHOD_NOT_FOUND)
        try:
            answer = ask()
            message = self._message(result=self._response(answer) if self.is_http else answer)
        except _TooLong:
            return self._refusal(EnrollResponseInvalid.code - 32_000, EnrollResponseInvalid.status)
        except BaseException as failure:
            return self._failed(failure)
        if self.parts is not None:
            self.parts.worked(self._part)
        return message

    def _failed(self, failure: BaseException) -> bytes:
        means = transport_status(failure) if self.is_http else secret_status(failure)
        # A daemon does not accept `internal` here: the call ends with `network`, and `failed` records the real status
        # for that call.
        told = "network" if means == "internal" else means
        if self.parts is not None and not self.is_over:
            self.parts.failed(self._part, failure, means, told)
        return self._refusal(BY_STATUS[told].code - 32_000, told, not_sent=self.is_http and was_not_sent(failure))

    def _response(self, answer: object) -> Dict[str, Any]:
        status, headers, body = response_parts(answer)
        if len(body) > self.parameters["responseLimit"]:
            raise _TooLong
        # If several headers have the same name, the first header counts, as in the library.
        first = {name.lower(): (name, value) for name, value in reversed(headers)}
        told = dict(first.values())
        result: Dict[str, Any] = {"status": status, "headers": told}
        if body:
            result["bodyBase64"] = base64.b64encode(body).decode()
        return result

    def _message(self, **more: Any) -> bytes:
        content = json.dumps({"jsonrpc": "2.0", "id": self.number, **more}, separators=(",", ":")).encode()
        if len(content) > MESSAGE_LIMIT:
            raise _TooLong
        return content + b"\n"

    def _refusal(self, code: int, status: Optional[str] = None, not_sent: bool = False) -> bytes:
        data: Dict[str, Any] = {"notSent": True} if not_sent else {}
        if status is not None:
            data["status"] = status
        more = {"data": data} if data else {}
        return self._message(error={"code": code, "message": status or "method not found", **more})


class Questions:
    """The requests of one daemon. The reading thread adds requests; any thread may answer them.

    Args:
        begin: Starts to answer a request; must not wait.
    """

    def __init__(self, begin: Callable[[Question], None]) -> None:
        self._begin = begin
        # Weak references: the requests that came before a client was closed are still answered, and after that the
        # client's parts are released.
        self._parts: weakref.WeakValueDictionary[str, Parts] = weakref.WeakValueDictionary()
        self._open: Dict[str, Question] = {}
        self._early: List[Question] = []
        # Weak references: if Ctrl-C interrupts the opening of a client, the object of that opening is collected, and no
        # request waits for that client any more.
        self._opening: weakref.WeakSet[Any] = weakref.WeakSet()
        self.store: Optional[Parts] = None
        """The parts that serve the command about a store that is in progress; only one such command runs at a time."""

    @property
    def is_serving(self) -> bool:
        return bool(self._parts or self._open or self.store)

    def opening(self, one: object) -> None:
        """Registers that a client is being opened, for as long as the object `one` exists."""
        self._opening.add(one)

    def opened(self, one: object, client: object, parts: Parts) -> None:
        """Registers that the client was opened or, with None, that it was not opened. Called on the reading thread."""
        self._opening.discard(one)
        if isinstance(client, str):
            self._parts[client] = parts
        # The daemon may have sent a request before it answered client.open.
        early, self._early = self._early, []
        for question in early:
            self._find(question)

    def asked(self, number: str, method: str, parameters: Mapping[str, Any]) -> None:
        question = self._open[number] = Question(number, method, parameters)
        self._find(question)

    def _find(self, question: Question) -> None:
        if question.is_over:
            return
        client = question.parameters.get("client")
        question.parts = self.store if client is None else self._parts.get(client)
        if question.parts is None and client is not None and self._opening:
            self._early.append(question)
        else:
            self._begin(question)

    def given_up(self, number: object) -> None:
        question = self._open.pop(number, None) if isinstance(number, str) else None
        if question is not None:
            question.is_over = True
            question.give_up()

    def answered(self, question: Question) -> None:
        self._open.pop(question.number, None)
        question.is_over = True

    def end(self) -> None:
        """The daemon has ended."""
        for number in list(self._open):
            self.given_up(number)


def store_parts(parameters: Mapping[str, Any]) -> Optional[Parts]:
    """The secret store that serves a command about a store; None if the command needs no secret store of the program.

    Raises:
        EnrollUnsupported: there are two secret stores, which a daemon cannot tell apart.
    """
    given = [one.given.host for one in parameters.values() if isinstance(one, GivenKeys)]
    hosts = [host for host in given if host is not None]
    if not hosts:
        return None
    if any(host is not hosts[0] for host in hosts):
        raise EnrollUnsupported(
            "new_keys: a daemon cannot move a key from one of your secret stores to another;"
            " use the library, or move it through another provider",
            field="newKeys",
        )
    return Parts(None, hosts[0])


class Threads:
    """Runs jobs on at most `limit` threads, which start when they are needed and do not keep the program from ending.

    The standard library's executors do not fit: a job that hangs in an executor keeps the interpreter from ending.
    """

    def __init__(self, name: str, limit: int) -> None:
        self._name = name
        self._limit = limit
        self._work: queue.SimpleQueue[Optional[Callable[[], None]]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._count = 0
        # The number of idle threads, minus the number of jobs that have no thread.
        self._idle = 0
        self._is_closed = False

    def run(self, work: Callable[[], None]) -> None:
        """Runs the job soon, on one of the threads.

        Raises:
            RuntimeError: no thread could be started, or the threads are ending.
        """
        with self._lock:
            if self._is_closed:
                raise RuntimeError(f"the threads called {self._name} have ended")
            if self._idle <= 0 and self._count < self._limit:
                try:
                    threading.Thread(target=self._run, name=self._name, daemon=True).start()
                    self._count += 1
                    self._idle += 1
                except RuntimeError:
                    if self._count == 0:
                        raise
            self._idle -= 1
            self._work.put(work)

    def _run(self) -> None:
        while True:
            work = self._work.get()
            if work is None:
                return
            try:
                work()
            except Exception:
                LOG.exception("an answer for the daemon failed")
            # While the thread waits for its next job, it must hold no reference to the last job.
            del work
            with self._lock:
                self._idle += 1

    def close(self) -> None:
        """Ends the threads after their current jobs."""
        with self._lock:
            count, self._count, self._is_closed = self._count, 0, True
        for _ in range(count):
            self._work.put(None)
