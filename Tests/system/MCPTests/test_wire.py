"""Tests of the bridge's requests and lines, byte by byte, and of its reactions to faults of a server."""

import json
import random
import threading
import time

from host import HELLO, META
from mcp_cases import WireCase
from processes import wait_until


class Bytes(WireCase):
    def test_the_bytes_of_both_directions_stay(self):
        host = self.session()
        values = ["12345678901234567890", "1.0", "1e400", "-0.0", r'"\u0041\/\u2028"']
        values += ['{"b":1,"a":2,"b":3}', " [ 1 ,2 ] "]

        @self.peer.on
        def echo(handler, message):
            if message.get("method") != "tools/call":
                return False
            body = self.peer.all("tools/call")[-1]["body"]
            value = body.partition(b'"v":')[2].rpartition(b"}}}")[0]
            identity = body.partition(b'"id":')[2].partition(b",")[0]
            answer = b'{"jsonrpc":"2.0","id":' + identity + b',"result":{"v":' + value + b"}}"
            if message["params"]["name"] == "stream":
                handler.stream()
                handler.event(answer.decode())
            else:
                handler.reply(200, answer, Content_Type="application/json; charset=utf-8")
            return True

        randomness = random.Random(1)
        values += [json.dumps("".join(chr(randomness.randrange(32, 0xD000)) for _ in range(40))) for _ in range(40)]
        for number, value in enumerate(values):
            for name in ("stream", "json"):
                identity = 9007199254740993 + 2 * number + (name == "json")
                line = (
                    f'{{"jsonrpc":"2.0",  "id":{identity},"method":"tools/call",'
                    f'"params":{{"name":"{name}","arguments":{{"v":{value}}}}}}}')
                host.write(line)
                answer = host.line(identity)
                self.assertEqual(answer.decode(), f'{{"jsonrpc":"2.0","id":{identity},"result":{{"v":{value}}}}}\n')
                self.assertEqual(self.peer.all("tools/call")[-1]["body"].decode(), line)

    def test_a_body_with_line_ends_becomes_one_line(self):
        host = self.session()
        self.peer.on(lambda handler, message: message.get("method") == "ping" and (
            handler.reply(200, json.dumps(self.peer.result(message, {"a": 1}), indent=2).encode(),
                          Content_Type="application/json") or True))
        self.assertEqual(host.ask("ping")["result"], {"a": 1})

    def test_lines_that_are_no_messages_get_an_error(self):
        host = self.session()
        for line in ("x", "[]", '["a"]', '"a"', '{"id":1', '[{"id":1,"method":"ping"}]'):
            before = len(host.others)
            host.write(line)
            wait_until(lambda: len(host.others) > before, line)
            self.assertIn(host.others[-1]["error"]["code"], (-32700, -32600))
        host.write("")
        # The bridge passes on any nesting up to a million levels.
        for depth, member in ((300, "result"), (1 << 20, "error")):
            host.write(f'{{"method":"x","id":"deep{depth}","params":' + "[" * depth + "]" * depth + "}")
            self.assertIn(member, host.answer(f"deep{depth}"))
        self.assertIn("result", host.ask("ping"))

    def test_the_first_version_has_batches(self):
        host = self.session(version="2025-03-26")

        @self.peer.on
        def answer(handler, message):
            if "batch" not in message:
                return False
            answers = [self.peer.result(request, {}) for request in message["batch"] if "id" in request]
            handler.reply(200, answers, Content_Type="application/json")
            return True

        host.write('[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"x"}]')
        self.assertEqual(host.other(lambda message: isinstance(message, list)), [
            {"jsonrpc": "2.0", "id": "a", "result": {}}])

    def test_a_line_above_the_limit_gets_an_error_and_the_bridge_lives_on(self):
        host = self.session()
        host.write(b'{"method":"tools/call","params":{"t":"' + b"x" * (64 << 20) + b'"},"jsonrpc":"2.0","id":"late"}')
        self.assertEqual(host.answer("late")["error"]["code"], -32014)
        self.assertIn("result", host.ask("ping"))


class Headers(WireCase):
    def test_a_session_has_its_headers(self):
        host = self.session(version="2025-06-18")
        host.ask("ping")
        first, ping = self.peer.all("initialize")[0]["headers"], self.peer.all("ping")[0]["headers"]
        self.assertNotIn("Mcp-Session-Id", first)
        self.assertEqual((ping["Mcp-Session-Id"], ping["MCP-Protocol-Version"]), ("session-1", "2025-06-18"))
        self.assertEqual(ping["Content-Type"], "application/json")
        for name in ("Mcp-Method", "Authorization", "Mcp-Name"):
            self.assertNotIn(name, ping)
        wait_until(lambda: self.peer.all("GET"), "the stream is asked for")
        host.end()
        self.assertEqual(self.peer.all("DELETE")[0]["headers"]["Mcp-Session-Id"], "session-1")

    def test_the_version_without_sessions_has_its_headers_and_nothing_else(self):
        host = self.host(self.peer.url)
        host.modern("tools/call", name="caf\u00e9\r\nX: y", arguments={})
        headers = self.peer.all("tools/call")[0]["headers"]
        self.assertEqual(headers["MCP-Protocol-Version"], "2026-07-28")
        self.assertEqual((headers["Mcp-Method"], headers["Mcp-Name"]), ("tools/call", "=?base64?Y2Fmw6kNClg6IHk=?="))
        self.assertNotIn("X", headers)
        self.assertEqual(host.modern("a\r\nX: y")["error"]["code"], -32600)
        host.end()
        self.assertEqual([row["http"] for row in self.peer.received], ["POST"])

    def test_the_users_own_headers_are_sent_and_the_bridges_cannot_be_replaced(self):
        (self.home / "headers").write_text("X-One: 1\nX-Two:  two words\n")
        host = self.host(
            self.peer.url, "--header-file", str(self.home / "headers"), "--header-env", "X-Key=NOTES_KEY",
            NOTES_KEY="k")
        host.initialize()
        headers = self.peer.all("initialize")[0]["headers"]
        self.assertEqual((headers["X-One"], headers["X-Two"], headers["X-Key"]), ("1", "two words", "k"))
        url = "https://notes.example/mcp"
        self.environment["NOTES_KEY"] = "k"
        for name in ("Authorization", "Mcp-Session-Id", "Host", "A B"):
            self.run_enroll("mcp", url, "--header-env", f"{name}=NOTES_KEY", status=2)
        for line, fault in (
            ("Cookie: secret", "the bridge's own"), ("secret", "has no colon"), ("X-Key secret", "has no colon"),
            ("X Key secret: y", "its name is not one of a header"),
        ):
            (self.home / "headers").write_text(f"X-One: 1\n\n{line}\n")
            _, words = self.run_enroll("mcp", url, "--header-file", str(self.home / "headers"), status=2)
            self.assertIn("line 3 ", words)
            self.assertIn(fault, words)
            self.assertNotIn("secret", words)

    def test_a_snippet_has_every_option(self):
        self.environment["NOTES_KEY"] = "k"
        options = [
            "--scope", "a", "--resource", "https://notes.example/", "--prompt", "consent",
            "--sign-in", "never", "--wait", "7", "--no-browser",
            "--header-file", f"{self.home}/headers", "--header-env", "X-Key=NOTES_KEY",
            "--transport", "http", "--hide-tool", "drop_all", "--max-message", "4096", "--profile", "notes",
            "--store", f"{self.home}/tokens", "--account", "work", "--keys", "file"]
        output, _ = self.run_enroll("mcp", "https://notes.example/mcp", "--snippet", "claude-code", *options)
        self.assertEqual(output.split()[-len(options):], options)

    def test_the_check_ends_at_an_answer_that_it_cannot_read(self):
        @self.peer.on
        def odd(handler, message):
            if message.get("method") != "initialize":
                return False
            handler.reply(200, b'{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}', Content_Type="application/json")
            return True

        self.run_enroll("mcp", self.peer.url, "--allow-loopback-http", "--check", status=5)

    def test_the_check_reads_every_page_of_tools_and_refuses_what_is_none(self):
        self.peer.capabilities = {"tools": {}}
        pages = [{"tools": [{"name": "one"}], "nextCursor": "2"}, {"tools": [{"name": "two"}]}]

        @self.peer.on
        def listed(handler, message):
            if message.get("method") != "tools/list":
                return False
            result = pages[1 if message["params"].get("cursor") == "2" else 0]
            handler.reply(
                200, {"jsonrpc": "2.0", "id": message["id"], "result": result}, Content_Type="application/json")
            return True

        check = ("mcp", self.peer.url, "--allow-loopback-http", "--check")
        self.assertEqual(self.json(*check)["tools"], ["one", "two"])
        for bad in ({}, {"tools": "one"}, {"tools": [{"title": "one"}]}):
            pages[0] = bad
            _, words = self.run_enroll(*check, status=5)
            self.assertIn("tools/list" if not bad.get("tools") or bad["tools"] == "one" else "a tool without", words)
        # The second page names its own cursor as the next one, so there is no last page. The bridge refuses
        # such a list.
        pages[0] = pages[1] = {"tools": [{"name": "one"}], "nextCursor": "2"}
        _, words = self.run_enroll(*check, status=5)
        self.assertIn("repeats a page of tools", words)

    def test_the_check_ends_at_a_server_that_does_not_answer(self):
        released = threading.Event()
        self.addCleanup(released.set)

        @self.peer.on
        def silent(handler, message):
            return message.get("method") == "initialize" and not released.wait(30)

        check = ("mcp", self.peer.url, "--allow-loopback-http", "--check", "--wait", "1")
        _, words = self.run_enroll(*check, status=4)
        self.assertIn("has not answered initialize within 1 seconds", words)

    def test_a_date_in_retry_after_is_waited_for(self):
        moments = ["Mon, 30 Nov 2026 12:00:00 GMT", "Mon, 30 Nov 2026 12:00:01 GMT"]

        @self.peer.on
        def later(handler, message):
            if message.get("method") != "ping" or len(self.peer.all("ping")) > 1:
                return False
            handler.date_time_string = lambda *_: moments[0]
            handler.reply(503, b"", Retry_After=moments[1])
            return True

        host = self.session()
        self.assertIn("result", host.ask("ping"))
        self.assertEqual(len(self.peer.all("ping")), 2)

    def test_options_that_the_sign_in_would_refuse_are_refused_at_once(self):
        for option, words in (
            (("--client-metadata", "http://notes.example/client.json"), "expected an https URL"),
            (("--prompt", "create"), "login, consent or select_account"),
            (("--authorize", "prompt=consent"), "prompt has an option of its own"),
        ):
            self.assertIn(words, self.run_enroll("mcp", "https://notes.example/mcp", *option, status=2)[1])

    def test_http_needs_this_machine_and_the_option(self):
        for url in ("http://notes.example/mcp", self.peer.url, "file:///etc/passwd", "https://u:p@notes.example/"):
            self.run_enroll("mcp", url, status=2)
        self.assertEqual(self.peer.received, [])


class Streams(WireCase):
    def test_the_servers_own_requests_reach_the_host_and_its_answers_the_server(self):
        done = threading.Event()

        @self.peer.on
        def listen(handler, message):
            if handler.command != "GET":
                return False
            handler.stream()
            handler.event({"jsonrpc": "2.0", "id": "s1", "method": "roots/list"})
            done.wait(20)
            return True

        host = self.session()
        host.other(lambda message: message.get("method") == "roots/list")
        host.write('{"jsonrpc":"2.0","id":"s1","result":{"roots":[]}}')
        wait_until(lambda: any(row["message"].get("result") for row in self.peer.received), "the answer arrives")
        done.set()

    def test_a_broken_stream_is_resumed_with_the_last_event_id(self):
        @self.peer.on
        def cut(handler, message):
            if message.get("method") == "tools/call":
                self.call = message
                handler.stream()
                handler.event("", identity="7", retry=20)
                return True
            if handler.command == "GET" and handler.headers.get("Last-Event-ID") == "7":
                handler.stream()
                handler.event(self.peer.result(self.call, {"late": True}), identity="8")
                return True
            return False

        host = self.session()
        self.assertEqual(host.call("x")["result"], {"late": True})
        self.assertEqual(len(self.peer.all("tools/call")), 1)

    def test_an_event_that_is_no_json_is_not_called_a_broken_connection(self):
        @self.peer.on
        def garble(handler, message):
            if message.get("method") != "tools/call":
                return False
            handler.stream()
            handler.event('{"jsonrpc":"2.0","id":')
            return True

        answer = self.session().call("x")
        self.assertEqual((answer["error"]["code"], self.reason(answer)), (-32013, "refused"))
        self.assertIn("no JSON-RPC", answer["error"]["message"])

    def test_a_call_whose_stream_broke_is_never_said_to_be_unsent(self):
        replies = {
            "absent": (405, b""), "refused": (401, b""), "lost": (404, {"error": {"code": -32001, "message": "m"}}),
            "page": (500, b"<html>"),
        }

        @self.peer.on
        def cut(handler, message):
            tool = message.get("params", {}).get("name")
            if tool in replies:
                handler.stream()
                handler.event("", identity=tool)
                return True
            last = handler.headers.get("Last-Event-ID")
            if last not in replies:
                return False
            handler.reply(replies[last][0], replies[last][1])
            return True

        host = self.session("--sign-in", "never")
        for tool, call in [(tool, host.begin("tools/call", {"name": tool})) for tool in replies]:
            with self.subTest(tool):
                answer = host.answer(call)
                self.assertEqual((answer["error"]["code"], self.reason(answer)), (-32012, "unreachable"))
                self.assertIn("may have been carried out", answer["error"]["message"])

    def test_a_call_that_rests_before_its_resumption_can_be_cancelled(self):
        @self.peer.on
        def cut(handler, message):
            if message.get("method") != "tools/call":
                return False
            handler.stream()
            handler.event("", identity="7", retry=20_000)
            return True

        host = self.session()
        call = host.begin("tools/call", {"name": "x"})
        wait_until(lambda: self.peer.all("tools/call"), "the call arrives")
        time.sleep(0.5)
        host.send("notifications/cancelled", {"requestId": call})
        wait_until(lambda: self.peer.all("notifications/cancelled"), "the cancellation arrives")

    def test_a_stream_that_breaks_after_its_answer_is_not_resumed(self):
        @self.peer.on
        def cut(handler, message):
            if message.get("method") != "tools/call":
                return False
            handler.stream(Content_Length="9999")
            handler.event(self.peer.result(message, {}), identity="7")
            return True

        host = self.session()
        self.assertEqual(host.call("x")["result"], {})
        time.sleep(1.5)
        self.assertNotIn("7", [row["headers"].get("Last-Event-ID") for row in self.peer.all("GET")])

    def test_a_server_that_ends_each_stream_at_once_gets_no_storm(self):
        @self.peer.on
        def listen(handler, message):
            if handler.command != "GET":
                return False
            handler.stream()
            handler.event({"jsonrpc": "2.0", "method": "notifications/x"}, retry=0)
            return True

        self.session()
        time.sleep(2.5)
        self.assertLessEqual(len(self.peer.all("GET")), 4)

    def test_the_listening_stream_is_opened_again(self):
        @self.peer.on
        def listen(handler, message):
            if handler.command != "GET":
                return False
            handler.stream()
            number = len(self.peer.all("GET"))
            if number < 3:
                handler.event({"jsonrpc": "2.0", "method": "notifications/x", "params": {"n": number}}, str(number), 10)
            else:
                time.sleep(5)
            return True

        host = self.session()
        host.other(lambda message: message.get("params") == {"n": 2})
        wait_until(lambda: len(self.peer.all("GET")) > 2, "a third stream")
        self.assertEqual([row["headers"].get("Last-Event-ID") for row in self.peer.all("GET")][:3], [None, "1", "2"])

    def test_a_stream_without_an_answer_is_an_error_and_no_call_is_sent_twice(self):
        @self.peer.on
        def cut(handler, message):
            tool = message.get("params", {}).get("name")
            if tool == "cut":
                handler.stream()
                handler.event({"jsonrpc": "2.0", "method": "notifications/x"})
            elif tool == "none":
                handler.close_connection = True
            elif tool == "accepted":
                handler.reply(202)
            elif tool == "empty":
                handler.reply(200, b"", Content_Type="application/json")
            elif tool == "words":
                handler.reply(200, b"<html>", Content_Type="text/html")
            else:
                return False
            return True

        host = self.session()
        codes = {"cut": -32012, "none": -32012, "accepted": -32013, "empty": -32013, "words": -32013}
        for tool, code in codes.items():
            with self.subTest(tool):
                self.assertEqual(host.call(tool)["error"]["code"], code)
        self.assertIn("may have been carried out", host.call("cut")["error"]["message"])
        self.assertEqual(len(self.peer.all("tools/call")), 6)

    def test_errors_of_the_server_are_passed_on_with_the_id_that_asked(self):
        bodies = {
            "own": (400, {"jsonrpc": "2.0", "id": 2, "error": {"code": -32020, "message": "m"}}),
            "null": (404, {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "m", "data": 1.0}}),
            "page": (500, b"<html>"),
            "moved": (307, b""),
        }

        @self.peer.on
        def refuse(handler, message):
            if message.get("method") not in bodies:
                return False
            status, body = bodies[message["method"]]
            handler.reply(status, body, Location=self.peer.origin + "/other?code=hidden")
            return True

        host = self.host(self.peer.url)
        errors = [host.modern(method)["error"] for method in ("page", "own", "null", "moved")]
        self.assertEqual([error["code"] for error in errors], [-32013, -32020, -32601, -32013])
        self.assertIn("/other)", errors[-1]["message"])
        self.assertEqual(len(self.peer.received), 4)

    def test_a_server_that_is_not_there_is_an_error_in_words(self):
        self.peer.stop()
        host = self.host(self.peer.url)
        answer = host.ask("initialize", HELLO)
        self.assertEqual((answer["error"]["code"], self.reason(answer)), (-32012, "unreachable"))
        self.assertIn("Nothing was sent", answer["error"]["message"])

    def test_a_server_that_asks_for_patience_gets_it(self):
        @self.peer.on
        def busy(handler, message):
            if message.get("method") != "tools/list" or len(self.peer.all("tools/list")) > 1:
                return False
            handler.reply(503, b"", Retry_After="1")
            return True

        self.assertIn("result", self.session().ask("tools/list"))

    def test_a_lost_session_is_begun_again_once_for_all_calls(self):
        host = self.session()
        self.peer.sessions.clear()
        calls = [host.begin("tools/call", {"name": "x", "n": number}) for number in range(8)]
        for number, call in enumerate(calls):
            self.assertEqual(host.answer(call)["result"]["echo"]["n"], number)
        self.assertEqual(len(self.peer.all("initialize")), 2)
        self.assertEqual(*[row["body"] for row in self.peer.all("initialize")])
        self.assertEqual(len(self.peer.all("notifications/initialized")), 2)

    def test_a_session_that_could_not_be_begun_again_is_begun_by_the_next_call(self):
        host = self.session()
        self.peer.sessions.clear()
        refuse = self.peer.on(lambda handler, message: message.get("method") == "initialize" and (
            handler.reply(500) or True))
        self.assertIn("error", host.call("x"))
        self.peer.acts.remove(refuse)
        self.assertIn("result", host.call("x"))

    def test_a_server_that_loses_each_session_is_an_error(self):
        host = self.session()

        @self.peer.on
        def lose(handler, message):
            return message.get("method") == "tools/call" and (handler.reply(404) or True)

        self.assertEqual(host.call("x")["error"]["code"], -32013)
        self.assertIn("result", host.ask("ping"))

    def test_messages_wait_for_the_beginning_of_the_session(self):
        @self.peer.on
        def slow(handler, message):
            if message.get("method") in ("initialize", "notifications/initialized"):
                time.sleep(0.3)
            return False

        host = self.host(self.peer.url)
        host.begin("initialize", HELLO)
        host.send("notifications/initialized")
        ping = host.begin("ping")
        self.assertIn("result", host.answer(ping))
        methods = [row["message"].get("method") for row in self.peer.received if row["http"] == "POST"]
        self.assertEqual(methods[:2] + methods[-1:], ["initialize", "notifications/initialized", "ping"])

    def test_a_host_that_does_not_read_stops_the_server_and_not_the_memory(self):
        release = threading.Event()

        @self.peer.on
        def flood(handler, message):
            if message.get("method") != "flood":
                return False
            handler.stream()
            notification = {"jsonrpc": "2.0", "method": "notifications/x", "params": {"t": "y" * 60_000}}
            for _ in range(300):
                handler.event(notification)
            handler.event(self.peer.result(message, {}))
            release.set()
            return True

        host = self.host(self.peer.url, "--wait", "5")
        host.initialize()
        before = host.resident
        with host._changed:
            host.begin("flood")
            time.sleep(1.5)
            self.assertFalse(release.is_set())
            self.assertLess(host.resident - before, 12 << 10)
        wait_until(release.is_set, "the flood ends")

    def test_many_requests_run_side_by_side(self):
        gate = threading.Barrier(100)
        self.peer.on(lambda handler, message: message.get("method") == "tools/call" and gate.wait(30) < 0)
        host = self.session()
        calls = [host.begin("tools/call", {"name": "x"}) for _ in range(100)]
        for call in calls:
            self.assertIn("result", host.answer(call))

    def test_a_cancelled_stream_is_closed_without_a_message_in_the_version_without_sessions(self):
        closed = threading.Event()

        @self.peer.on
        def wait(handler, message):
            if message.get("method") != "subscriptions/listen":
                return False
            handler.stream()
            handler.event({"jsonrpc": "2.0", "method": "notifications/x"})
            handler.connection.settimeout(20)
            if handler.connection.recv(1) == b"":
                closed.set()
            return True

        host = self.host(self.peer.url)
        stream = host.begin("subscriptions/listen", {"_meta": META})
        host.other(lambda message: message.get("method") == "notifications/x")
        host.send("notifications/cancelled", {"requestId": stream})
        self.assertTrue(closed.wait(20))
        self.assertEqual(len(self.peer.received), 1)

    def test_a_session_id_that_could_change_a_request_is_not_sent_back(self):
        @self.peer.on
        def odd(handler, message):
            if message.get("method") != "initialize":
                return False
            handler.reply(200, self.peer.result(message, {"protocolVersion": "2025-06-18"}),
                          Content_Type="application/json", Mcp_Session_Id="a b")
            return True

        self.peer.has_sessions = False
        host = self.session()
        host.ask("ping")
        self.assertNotIn("Mcp-Session-Id", self.peer.all("ping")[0]["headers"])
