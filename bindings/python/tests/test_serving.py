"""The requests of a daemon and their answers, without a daemon."""

import json
import socket
import threading
import urllib.error

import pytest
from processes import wait_until

import enrollkit
from conftest import CUSTOM, configuration
from enrollkit import _client
from enrollkit._host import Parts
from enrollkit._serving import Questions, Threads

REQUEST = {
    "client": "c1",
    "method": "POST",
    "url": "https://id.example/token",
    "headers": {"Accept": "*/*"},
    "responseLimit": 10,
    "timeout": 30,
    "needsFreshConnection": True,
}


class Empty:
    """A secret store with nothing in it."""

    def load(self, name):
        return None

    def save(self, name, secret):
        assert len(secret) == 32

    def remove(self, name):
        pass


def answered(parts, question, **parameters):
    """The answer to one request of the daemon."""
    found = []

    def answer(question):
        found.append(json.loads(question.settled(question.ask)))

    questions = Questions(answer)
    if parts is not None:
        questions.opened(parts, "c1", parts)
    questions.asked("h1", question, parameters)
    return found[0]


def sending(answer):
    return Parts(lambda request: answer, None)


def test_what_a_secret_store_says():
    parts = Parts(None, Empty())
    for method in ("host.store.get", "host.store.set", "host.store.remove"):
        answer = answered(parts, method, client="c1", name="n", secret="x" * 43)
        assert answer == {"jsonrpc": "2.0", "id": "h1", "result": {}}


def test_a_question_for_nobody_is_refused():
    refused = {"code": -32030, "message": "network", "data": {"status": "network"}}
    assert answered(None, "host.http.send", **REQUEST)["error"] == refused
    assert answered(Parts(None, Empty()), "host.http.send", **REQUEST)["error"] == refused
    for method in ("host.store.get", "host.store.set", "host.store.remove"):
        answer = answered(sending(None), method, client="c1", name="n", secret="x" * 43)
        assert answer["error"]["data"] == {"status": "storeIO"}
    assert answered(sending(None), "host.dream", client="c1")["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("failure", "left_nothing"),
    [
        (ConnectionRefusedError(), True),
        (urllib.error.URLError(socket.gaierror()), True),
        (ConnectionResetError(), False),
        (TimeoutError(), False),
    ],
)
def test_a_request_of_which_nothing_was_sent_is_refused_as_such(failure, left_nothing):
    def send(request):
        raise failure

    data = answered(Parts(send, None), "host.http.send", **REQUEST)["error"]["data"]
    assert data.get("notSent", False) is left_nothing


def test_bodies_are_bytes_in_both_directions():
    seen = []

    def transport(request):
        seen.append(request)
        return enrollkit.HTTPResponse(200, [("A", "b"), ("a", "c")], bytes(range(10)))

    for body, given in (({}, b""), ({"body": "ü"}, "ü".encode()), ({"bodyBase64": "AP8="}, b"\0\xff")):
        result = answered(Parts(transport, None), "host.http.send", **REQUEST, **body)["result"]
        assert result == {"status": 200, "headers": {"A": "b"}, "bodyBase64": "AAECAwQFBgcICQ=="}
        assert seen[-1].body == given and 0 < seen[-1].timeout <= 30
        assert (seen[-1].response_limit, seen[-1].needs_fresh_connection) == (10, True)
        assert seen[-1].headers == (("Accept", "*/*"),)
    longer = {**REQUEST, "responseLimit": 9}
    assert answered(Parts(transport, None), "host.http.send", **longer)["error"]["data"]["status"] == "responseInvalid"


WRONG_HEADERS = {
    "no name": [("", "x")],
    "NUL in a name": [("a\0", "x")],
    "NUL in a value": [("a", "\0")],
    "a long value": [("a", "x" * (16 << 10) + "x")],
    "a lone surrogate": [("a", "\ud800")],
    "a number": [("a", 1)],
    "bytes": [("a", b"x")],
    "no value": [("a",)],
    "too many": [(str(number), "") for number in range(257)],
}


@pytest.mark.parametrize("case", WRONG_HEADERS)
def test_a_header_that_is_none_is_the_programs_fault(case):
    parts = sending(enrollkit.HTTPResponse(200, WRONG_HEADERS[case]))
    assert answered(parts, "host.http.send", **REQUEST)["error"]["data"] == {"status": "network"}
    error = parts.explained(enrollkit.EnrollNetwork("away"))
    assert isinstance(error, enrollkit.EnrollInternal) and isinstance(error.__cause__, (TypeError, ValueError))


def test_an_answer_that_fits_into_no_message_is_refused():
    headers = [(str(number), "x" * (16 << 10)) for number in range(256)]
    answer = answered(sending(enrollkit.HTTPResponse(200, headers)), "host.http.send", **REQUEST)
    assert answer["error"]["data"] == {"status": "responseInvalid"}


def test_a_question_may_come_before_its_client():
    begun = []
    questions, parts, opening = Questions(begun.append), sending(None), Empty()
    questions.opening(opening)
    for number in ("h1", "h2"):
        questions.asked(number, "host.http.send", REQUEST)
    assert not begun
    questions.given_up("h2")
    questions.opened(opening, "c1", parts)
    assert [question.number for question in begun] == ["h1"] and begun[0].parts is parts
    # A request for a client that is not opened in the end must be refused.
    questions.opening(opening)
    questions.asked("h3", "host.http.send", {**REQUEST, "client": "c2"})
    assert len(begun) == 1
    questions.opened(opening, None, parts)
    assert begun[1].number == "h3" and begun[1].parts is None
    # A request for a client whose opening was interrupted must be refused, too.
    questions.opening(opening)
    del opening
    questions.asked("h4", "host.http.send", {**REQUEST, "client": "c3"})
    assert begun[2].number == "h4" and begun[2].parts is None
    questions.end()
    assert all(question.is_over for question in begun)


def test_threads_are_made_when_they_are_needed_and_no_more_than_allowed():
    threads = Threads("enrolld test", 3)
    gate, at_work, done = threading.Event(), threading.Semaphore(0), threading.Semaphore(0)

    def alive():
        return [one for one in threading.enumerate() if one.name == "enrolld test"]

    def work():
        at_work.release()
        gate.wait(30)
        done.release()

    for number in range(1, 11):
        threads.run(work)
        assert len(alive()) == min(number, 3)
    for _ in range(3):
        assert at_work.acquire(timeout=30)
    assert all(one.daemon for one in alive())
    gate.set()
    for _ in range(10):
        assert done.acquire(timeout=30)
    # Idle threads are used again, even after a job has raised.
    threads.run(lambda: 1 / 0)
    threads.run(done.release)
    assert done.acquire(timeout=30) and len(alive()) == 3
    threads.close()
    wait_until(lambda: not alive(), "the threads have ended")
    with pytest.raises(RuntimeError):
        threads.run(work)


@pytest.mark.parametrize("comes_first", ["the answer", "the end of the wait"])
def test_a_client_that_nobody_waits_for_is_not_left_open(comes_first, sandbox):
    with enrollkit.Daemon() as over:
        opened = over._ask("client.open", {"configuration": configuration(sandbox, CUSTOM), "store": "memory"}, None)
        taker = _client._Opened(over, None, lambda outcome: None)
        if comes_first == "the answer":
            taker(opened)
            taker.give_up()
        else:
            taker.give_up()
            taker(opened)

        def is_closed():
            try:
                over._ask("registration.state", opened, None)
            except enrollkit.EnrollHandle:
                return True
            return False

        wait_until(is_closed, "the client is closed")
