"""Exactly one answer for each request, whatever the server sends: answers that come again, answers on another stream,
and messages that hosts cannot read."""

import gzip
import json
import threading

from mcp_cases import WireCase
from processes import wait_until

DONE = {"jsonrpc": "2.0", "method": "notifications/done"}


class AnswerCase(WireCase):
    def on_call(self, act):
        """Sets what the server does with a tool call: `act(handler, message, result)`."""
        @self.peer.on
        def answer(handler, message):
            if message.get("method") != "tools/call":
                return False
            act(handler, message, self.peer.result(message, {"own": True}))
            return True

    def done(self, host):
        """Waits until the bridge has passed on what the server sent before `DONE`."""
        host.other(lambda message: message == DONE)

    def check_once(self, host, *calls):
        self.assertEqual([answer["id"] for answer in host.answers if answer["id"] in calls], list(calls))


class Again(AnswerCase):
    def test_an_answer_that_a_stream_repeats_comes_once(self):
        def act(handler, message, result):
            handler.stream()
            for _ in range(3):
                handler.event(result)
            handler.event(DONE)

        self.on_call(act)
        host = self.session()
        call = host.begin("tools/call", {"name": "x"})
        self.done(host)
        self.check_once(host, call)

    def test_an_answer_in_the_stream_of_another_request_comes_once(self):
        first = threading.Event()
        self.addCleanup(first.set)

        def act(handler, message, result):
            if message["params"]["name"] == "two":
                first.wait(30)
                handler.stream()
                handler.event(result)
            else:
                handler.stream()
                wait_until(lambda: len(self.peer.all("tools/call")) == 2, "the second call arrives")
                handler.event({"jsonrpc": "2.0", "id": message["id"] + 1, "result": {"own": False}})
                handler.event(result)
            handler.event(DONE)

        self.on_call(act)
        host = self.session()
        calls = [host.begin("tools/call", {"name": name}) for name in ("one", "two")]
        self.done(host)
        first.set()
        self.done(host)
        self.check_once(host, *reversed(calls))
        self.assertEqual(host.answer(calls[1])["result"], {"own": False})

    def test_an_answer_on_the_servers_own_stream_comes_once(self):
        go = threading.Event()
        self.addCleanup(go.set)

        @self.peer.on
        def listen(handler, message):
            if handler.command != "GET":
                return False
            handler.stream()
            self.stream = handler
            go.wait(60)
            return True

        passed = threading.Semaphore(0)

        def act(handler, message, result):
            handler.stream()
            for stream in (self.stream, handler) if message["params"]["name"] == "own" else (handler, self.stream):
                stream.event(result)
                stream.event(DONE)
                passed.acquire(timeout=30)

        self.on_call(act)
        host = self.session()
        wait_until(lambda: hasattr(self, "stream"), "the stream is open")
        calls = []
        for name in ("own", "call"):
            calls.append(host.begin("tools/call", {"name": name}))
            for _ in range(2):
                self.done(host)
                passed.release()
        self.check_once(host, *calls)

    def test_an_answer_in_a_resumed_stream_comes_once(self):
        def act(handler, message, result):
            self.result = result
            handler.stream()
            handler.event("", identity="7", retry=20)

        @self.peer.on
        def resume(handler, message):
            if handler.headers.get("Last-Event-ID") != "7":
                return False
            handler.stream()
            for identity in ("8", "9"):
                handler.event(self.result, identity=identity)
            handler.event(DONE)
            return True

        self.on_call(act)
        host = self.session()
        call = host.begin("tools/call", {"name": "x"})
        self.done(host)
        self.check_once(host, call)

    def test_a_call_that_another_stream_has_answered_is_not_resumed(self):
        def act(handler, message, result):
            handler.stream()
            if message["params"]["name"] == "broken":
                handler.event("", identity="7", retry=60_000)
            else:
                handler.event({**result, "id": message["id"] - 1})
                handler.event(result)

        self.on_call(act)
        host = self.session()
        broken = host.begin("tools/call", {"name": "broken"})
        wait_until(lambda: self.peer.all("tools/call"), "the call arrives")
        call = host.begin("tools/call", {"name": "x"})
        host.answer(call)
        self.check_once(host, broken, call)
        # A request with this id may be made again: nothing waits for the earlier one.
        host.write(json.dumps({"jsonrpc": "2.0", "id": broken, "method": "ping"}))
        wait_until(lambda: len(host.answers) > 3, "the answer")
        self.assertIn("result", host.answers[-1])

    def test_an_answer_to_a_finished_request_is_dropped(self):
        @self.peer.on
        def late(handler, message):
            if message.get("method") != "notifications/x":
                return False
            handler.stream()
            handler.event(self.peer.result({"id": call}, {"late": True}))
            handler.event({"jsonrpc": "2.0", "id": "none", "error": {"code": 1, "message": "m"}})
            handler.event(DONE)
            return True

        host = self.session(version="2025-06-18")
        call = host.begin("tools/call", {"name": "x"})
        host.answer(call)
        host.send("notifications/x")
        self.done(host)
        self.check_once(host, call)
        self.assertNotIn("none", [answer["id"] for answer in host.answers])

    def test_an_id_that_the_server_writes_otherwise_is_the_same_id(self):
        written = {"float": "%d.0", "exponent": "%de0", "text": "%d"}

        def act(handler, message, result):
            identity = message["id"]
            form = written[message["params"]["name"]]
            identity = form % identity if isinstance(identity, int) else '"\\u0061"'
            handler.reply(200, b'{"jsonrpc":"2.0","id":' + identity.encode() + b',"result":{}}',
                          Content_Type="application/json")

        self.on_call(act)
        host = self.session()
        calls = [host.begin("tools/call", {"name": name}) for name in ("float", "exponent")]
        calls.append(host.send("tools/call", {"name": "text"}, id="a"))
        for _ in range(2):
            host.ask("ping")
        wait_until(lambda: sum(answer["id"] in calls for answer in host.answers) >= 3, "the answers")
        host.ask("ping")
        answers = [answer for answer in host.answers if answer["id"] in calls]
        self.assertEqual(len(answers), 3)
        for answer in answers:
            self.assertIn("result", answer)

    def test_a_request_of_the_server_with_the_same_id_is_no_answer(self):
        def act(handler, message, result):
            handler.stream()
            handler.event({"jsonrpc": "2.0", "id": message["id"], "method": "roots/list"})
            handler.event(result)

        self.on_call(act)
        host = self.session()
        self.assertEqual(host.call("x")["result"], {"own": True})
        self.assertEqual([message["method"] for message in host.others], ["roots/list"])

    def test_a_batch_loses_what_is_not_awaited_and_keeps_its_bytes(self):
        @self.peer.on
        def answer(handler, message):
            if "batch" not in message:
                return False
            handler.reply(
                200, b'[{"id":"a", "result":{ "n":1.0 },"jsonrpc":"2.0"},'
                b'{"jsonrpc":"2.0","id":"a","result":{}}, {"jsonrpc":"2.0","id":9,"result":{}} ]',
                Content_Type="application/json")
            return True

        host = self.session(version="2025-03-26")
        host.write('[{"jsonrpc":"2.0","id":"a","method":"ping"}]')
        self.assertEqual(host.other(lambda message: isinstance(message, list)), [
            {"jsonrpc": "2.0", "id": "a", "result": {"n": 1.0}}])


class NoAnswers(AnswerCase):
    #: Each unusable answer of the server (`ID` stands for the id), with words of the error that the host gets.
    bodies = {
        '{"jsonrpc":"2.0","id":ID}': "neither a result nor an error",
        '{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"m"}}': "both a result and an error",
        '{"id":ID,"result":{}}': 'without "jsonrpc"',
        '{"jsonrpc":"2.0","id":ID,"error":"not found"}': "an error without a code",
        '{"jsonrpc":"2.0","id":ID,"method":"ping","result":{}}': "has a method",
        '[{"jsonrpc":"2.0","id":ID,"result":{}}]': "an array of messages",
        "[]": "an array of messages",
        '{"jsonrpc":"2.0","id":99999,"result":{}}': "an answer to another request",
        '{"jsonrpc":"2.0","id":"ID","result":{}}': "an answer to another request",
        '{"jsonrpc":"2.0","result":{}}': "an answer without an id",
        '{"jsonrpc":"2.0","id":ID,"result":{"a":"x\ny"}}': "no JSON-RPC",
    }

    def test_what_no_host_reads_is_refused_with_words_about_it(self):
        def act(handler, message, _):
            body = list(self.bodies)[message["params"]["number"]].replace("ID", str(message["id"]))
            if message["params"]["name"] == "stream":
                handler.stream()
                handler.event(body.replace("\n", "\ndata: "))
                handler.event(DONE)
            else:
                handler.reply(200, body.encode(), Content_Type="application/json")

        self.on_call(act)
        host = self.session()
        calls = []
        for name in ("body", "stream"):
            for number, words in enumerate(self.bodies.values()):
                with self.subTest(name, words=words):
                    calls.append(host.begin("tools/call", {"name": name, "number": number}))
                    answer = host.answer(calls[-1])
                    self.assertEqual((answer["error"]["code"], self.reason(answer)), (-32013, "refused"))
                    self.assertIn(words, answer["error"]["message"])
                    if name == "stream":
                        self.done(host)
        self.check_once(host, *calls)
        self.assertEqual(host.others, [])

    def test_what_some_hosts_read_is_passed_on(self):
        members = ['"result":{"a":1},"error":null', '"error":{"code":1,"message":"m"},"result":null']

        def act(handler, message, _):
            body = f'{{"jsonrpc":"2.0","id":{message["id"]},{members[message["params"]["number"]]}}}'
            handler.reply(200, body.encode(), Content_Type="application/json")

        self.on_call(act)
        host = self.session()
        for number, text in enumerate(members):
            call = host.begin("tools/call", {"name": "x", "number": number})
            self.assertEqual(host.line(call).decode(), f'{{"jsonrpc":"2.0","id":{call},{text}}}\n')

    def test_an_error_without_an_id_is_the_answer_to_the_only_request(self):
        error = {"code": -32000, "message": "m"}
        self.on_call(lambda handler, message, _: handler.reply(
            200, {"jsonrpc": "2.0", "id": None, "error": error}, Content_Type="application/json"))
        host = self.session()
        self.assertEqual(host.call("x")["error"], error)
        self.assertEqual(host.others, [])

    def test_an_error_of_another_status_gets_what_it_lacks(self):
        error = {"code": -32000, "message": "m"}
        self.on_call(lambda handler, message, _: handler.reply(
            400, {"id": message["id"], "error": error}, Content_Type="application/json"))
        host = self.session()
        self.assertEqual(host.call("x"), {"jsonrpc": "2.0", "id": 2, "error": error})


class Words(AnswerCase):
    def test_an_answer_that_came_is_not_called_no_answer(self):
        def act(handler, message, result):
            body = json.dumps(result).encode()
            if message["params"]["name"] == "packed":
                handler.reply(200, gzip.compress(body), Content_Type="application/json", Content_Encoding="gzip")
            elif message["params"]["name"] == "head":
                handler.reply(200, body, Content_Type="application/json", X_Big="x" * 300_000)
            else:
                handler.send_response(200)
                handler.send_header("Content-Type", "application/json")
                handler.send_header("Content-Length", str(len(body) + 9))
                handler.end_headers()
                handler.wfile.write(body)
                handler.close_connection = True

        self.on_call(act)
        host = self.session()
        for name, words in (("packed", "cannot be used"), ("head", "cannot be used"), ("cut", "broke off")):
            with self.subTest(name):
                answer = host.call(name)
                self.assertEqual(answer["error"]["code"], -32012)
                self.assertIn(words, answer["error"]["message"])
                self.assertNotIn("does not answer", answer["error"]["message"])
                self.assertIn("may have been carried out", answer["error"]["message"])

    def test_a_session_that_was_initialized_again_is_not_denied(self):
        host = self.session()
        self.peer.sessions.clear()
        self.peer.on(lambda handler, message: message.get("method") == "notifications/initialized" and (
            handler.reply(500) or True))
        message = host.call("x")["error"]["message"]
        self.assertIn("was initialized again", message)
        self.assertIn("status 500", message)
