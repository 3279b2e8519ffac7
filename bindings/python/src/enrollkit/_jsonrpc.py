"""JSON-RPC 2.0 with enrolld, without input and output: which bytes to write, and the meaning of a line that was read.

One message per line (docs/json-rpc.md). The caller transports the bytes to and from the daemon.
"""

from __future__ import annotations

import itertools
import json
import logging
import math
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Protocol, Tuple, Union

from ._error import EnrollDaemonEnded, EnrollError
from ._generated.statuses import EnrollHandle
from ._generated.types import TIMED
from ._given import encoded

Outcome = Union[Dict[str, Any], EnrollError]
Listener = Callable[[str, Dict[str, Any]], None]

NO_MORE = ""
"""The value that is passed to a listener instead of an event's name when no more events will arrive."""

LONGEST_LINE = 1 << 26
"""The limit for a line from the daemon, in bytes: more than the daemon ever queues for a host that reads slowly."""

# The number of seconds that this side waits longer than the daemon, so that the daemon's own timeout, in whole seconds,
# passes first if possible.
_GRACE = 1.0
_NO_LIMIT = 86_400


class Host(Protocol):
    """An object that serves the daemon's requests. The reading thread calls its methods, so they must not
    wait."""

    def asked(self, number: str, method: str, parameters: Mapping[str, Any]) -> None: ...

    def given_up(self, number: object) -> None:
        """Called when the daemon no longer waits for the answer to that request."""


class Conversation:
    """The requests in progress with one daemon, in both directions. Any thread may send; one thread passes in the
    lines that it reads."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._ids = itertools.count(1)
        self._waiting: Dict[int, Callable[[Outcome], None]] = {}
        self._listeners: Dict[str, Tuple[Listener, ...]] = {}
        self.ended: Optional[EnrollError] = None

    def request(self, method: str, parameters: Mapping[str, Any], done: Callable[[Outcome], None]) -> Tuple[int, bytes]:
        """Registers a new request, and returns its number and its message. `done` is called once with the outcome.

        Raises:
            EnrollDaemonEnded: the daemon has ended.
        """
        number = next(self._ids)
        content = encoded({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
        self._waiting[number] = done
        # This check must follow the registration above: if the daemon ends in between, either this check or `end`
        # finds the request.
        if self.ended is not None and self._waiting.pop(number, None) is not None:
            raise self._the_end()
        return number, content + b"\n"

    def forget(self, number: int) -> None:
        """Forgets a request, because its caller no longer waits for the answer."""
        self._waiting.pop(number, None)

    @staticmethod
    def cancellation(number: int) -> bytes:
        message = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}}
        return json.dumps(message).encode() + b"\n"

    def listen(self, client: str, listener: Listener) -> None:
        self._listeners[client] = (*self._listeners.get(client, ()), listener)

    def stop_listening(self, client: str, listener: Optional[Listener] = None) -> None:
        """Removes one listener of a client, or all its listeners."""
        kept = tuple(one for one in self._listeners.get(client, ()) if listener is not None and one is not listener)
        if kept:
            self._listeners[client] = kept
        else:
            self._listeners.pop(client, None)

    def receive(self, line: bytes) -> None:
        """Handles one message of the daemon."""
        try:
            message = json.loads(line)
            number, method = message.get("id"), message.get("method")
        except (ValueError, AttributeError, RecursionError):
            logging.getLogger("enrollkit").error("the daemon wrote a line that is not a JSON-RPC message")
            return
        if method is not None:
            parameters = message.get("params", {})
            if number is not None:
                self._host.asked(number, method, parameters)
                return
            if method == "$/cancelRequest":
                self._host.given_up(parameters.get("id"))
                return
            for listener in self._listeners.get(parameters.get("client"), ()):
                listener(method, {name: value for name, value in parameters.items() if name != "client"})
            return
        done = self._waiting.pop(number, None) if isinstance(number, int) else None
        if done is None:
            if number is None and "error" in message:
                self._refused(message["error"])
            return
        error = message.get("error")
        done(message.get("result") or {} if error is None else self._failure(error))

    def _refused(self, error: Mapping[str, Any]) -> None:
        """Ends every waiting call, because the daemon could not read a message and cannot say which."""
        failure = self._failure(error)
        logging.getLogger("enrollkit").error("the daemon could not read a message: %s", failure)
        for done in self._taken():
            done(self._failure(error))

    def _taken(self) -> Iterator[Callable[[Outcome], None]]:
        """Removes the waiting calls one by one, and yields their callbacks."""
        while self._waiting:
            try:
                yield self._waiting.popitem()[1]
            except KeyError:
                return

    @staticmethod
    def _failure(error: Mapping[str, Any]) -> EnrollError:
        data = error.get("data")
        if not isinstance(data, Mapping):
            data = {"message": f"the daemon answered {error.get('code')}: {error.get('message')}"}
        return EnrollError.from_json(data)

    def end(self, words: str) -> None:
        """Ends every waiting call, because the daemon has ended; `words` say why it has ended."""
        if self.ended is None:
            self.ended = EnrollDaemonEnded(words)
        self._end_listening()
        for done in self._taken():
            done(self._the_end())

    def close(self) -> None:
        """Records that the host closed the daemon: later requests fail as requests of a closed handle do."""
        self.ended = EnrollHandle("the daemon is closed")
        self._end_listening()

    def _end_listening(self) -> None:
        listeners, self._listeners = self._listeners, {}
        for listener in itertools.chain.from_iterable(listeners.values()):
            listener(NO_MORE, {})

    def _the_end(self) -> EnrollError:
        assert self.ended is not None
        return type(self.ended)(self.ended.message)


def with_timeout(
    command: str, parameters: Mapping[str, Any], limit: Optional[float]
) -> Tuple[Dict[str, Any], Optional[float]]:
    """The parameters with the daemon's timeout, and this side's own timeout in seconds."""
    if command not in TIMED:
        return dict(parameters), None
    if limit is None:
        return {**parameters, "timeout": _NO_LIMIT}, None
    whole = math.ceil(limit)
    return {**parameters, "timeout": whole}, limit if whole != limit else limit + _GRACE
