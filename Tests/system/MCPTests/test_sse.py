"""The transport HTTP+SSE of 2024-11-05: detected by the bridge or chosen by an option, with a real server and with a
scripted server."""

import threading

from host import HELLO, text
from mcp_cases import BridgeCase, WireCase
from processes import wait_until


class RealServer(BridgeCase):
    def test_the_transport_is_found_and_a_restarted_server_gets_a_new_session(self):
        server = self.server("sse")
        host = self.host(server.url, "--hide-tool", "big")
        self.assertEqual(host.initialize()["result"]["serverInfo"]["name"], "Notes")
        names = [tool["name"] for tool in host.ask("tools/list")["result"]["tools"]]
        self.assertEqual(names, ["echo", "slow", "where"])
        slow = host.begin("tools/call", {"name": "slow", "arguments": {"seconds": 1}, "_meta": {"progressToken": "p"}})
        self.assertEqual(text(host.call("echo", text="\u2028é😀")), "\u2028é😀")
        host.other(lambda message: message["method"] == "notifications/progress")
        self.assertEqual(text(host.answer(slow)), "done")
        call = host.begin("tools/call", {"name": "slow", "arguments": {"seconds": 30}, "_meta": {"progressToken": "q"}})
        host.other(lambda message: message.get("params", {}).get("progressToken") == "q")
        server.restart()
        self.assertIn("may have been carried out", host.answer(call)["error"]["message"])
        self.assertEqual(text(host.call("echo", text="after")), "after")
        self.assertEqual(host.end()[0], 0)
        self.run_enroll("mcp", server.url, "--allow-loopback-http", "--check", "--transport", "sse")
        # If only Streamable HTTP is allowed, the check fails: this server does not support it.
        self.run_enroll("mcp", server.url, "--allow-loopback-http", "--check", "--transport", "http", status=5)


class ScriptedServer(WireCase):
    #: The path that the `endpoint` event of the stream names.
    endpoint = "/messages?session=1"

    def setUp(self):
        super().setUp()
        self.peer.has_sessions = False
        self.gate = threading.Event()
        self.addCleanup(self.gate.set)

        @self.peer.on
        def old(handler, message):
            if handler.command == "GET":
                self.stream = handler
                handler.stream()
                handler.wfile.write(f"event: endpoint\r\ndata: {self.endpoint}\r\n\r\n".encode())
                handler.wfile.flush()
                self.gate.wait(60)
            elif handler.path != "/messages?session=1":
                handler.reply(405)
            elif message.get("method") == "initialize":
                self.stream.event(self.peer.result(message, {"protocolVersion": "2024-11-05", "capabilities": {}}))
                handler.reply(202, b"Accepted")
            elif message.get("method") == "ping":
                handler.reply(202, b"Accepted")
                self.stream.event(self.peer.result(message, {}))
            else:
                handler.reply(202, b"Accepted")
            return True

    def test_the_answer_may_come_before_the_message_is_accepted(self):
        host = self.host(self.peer.url, "--transport", "sse")
        self.assertIn("result", host.initialize("2024-11-05"))
        self.assertEqual(host.ask("ping")["result"], {})
        self.assertEqual([row["http"] for row in self.peer.received], ["GET", "POST", "POST", "POST"])

    def test_a_refusal_whose_error_is_none_of_json_rpc_leads_to_the_other_transport(self):
        refusals = [(405, {"error": "Method Not Allowed"}), (404, {"detail": "Not Found", "error": {"message": "no"}})]

        @self.peer.on
        def refuse(handler, message):
            if handler.command != "POST" or handler.path == "/messages?session=1":
                return False
            status, body = refusals[0]
            handler.reply(status, body, Content_Type="application/json")
            return True

        self.peer.acts.insert(0, self.peer.acts.pop())
        while refusals:
            host = self.host(self.peer.url)
            self.assertIn("result", host.initialize("2024-11-05"))
            host.end()
            refusals.pop(0)

    def test_a_running_call_is_cancelled_and_fails_with_the_stream(self):
        host = self.session()
        calls = [host.begin("tools/call", {"name": "x"}) for _ in range(2)]
        wait_until(lambda: len(self.peer.all("tools/call")) == 2, "the calls arrive")
        host.send("notifications/cancelled", {"requestId": calls[0]})
        wait_until(lambda: self.peer.all("notifications/cancelled"), "the cancellation arrives")
        self.gate.set()
        self.assertEqual(host.answer(calls[1])["error"]["code"], -32012)

    def test_no_message_goes_to_another_server(self):
        for endpoint in ("http://127.0.0.1:1/messages", "https://notes.example/x", "//notes.example/x"):
            self.endpoint = endpoint
            host = self.host(self.peer.url)
            answer = host.ask("initialize", HELLO)
            self.assertEqual((answer["error"]["code"], self.reason(answer)), (-32013, "refused"))
            self.assertIn("not its own", answer["error"]["message"])
        self.assertEqual([row["http"] for row in self.peer.received], ["POST", "GET"] * 3)

    def test_a_stream_that_names_no_address_is_not_waited_for_longer_than_for_a_sign_in(self):
        def silent(handler, message):
            if handler.command == "GET":
                handler.stream()
                handler.wfile.write(b": nothing\n\n")
                handler.wfile.flush()
                self.gate.wait(60)
                return True
            return False

        self.peer.acts.insert(0, silent)
        for transport, words in (("sse", "no address for the messages"), ("auto", "status 405")):
            host = self.host(self.peer.url, "--transport", transport, "--wait", "1")
            self.assertIn(words, host.ask("initialize", HELLO)["error"]["message"])

    def test_an_answer_comes_once_if_the_message_broke_and_the_stream_lives(self):
        host = self.session()

        def cut(handler, message):
            if message.get("method") != "tools/call":
                return False
            self.stream.event(self.peer.result(message, {"done": True}))
            handler.connection.close()
            return True

        self.peer.acts.insert(0, cut)
        self.assertEqual(host.call("x")["result"], {"done": True})
        self.assertIn("result", host.ask("ping"))
        self.assertEqual(len(self.peer.all("tools/call")), 1)

    def test_an_answer_on_the_stream_and_in_the_response_comes_once(self):
        def both(handler, message):
            if message.get("method") != "tools/call":
                return False
            result = self.peer.result(message, {})
            if message["params"]["name"] == "stream":
                self.stream.event(result)
                handler.reply(200, result, Content_Type="application/json")
            else:
                handler.reply(200, result, Content_Type="application/json")
                self.stream.event(result)
            self.stream.event({"jsonrpc": "2.0", "method": "notifications/done"})
            return True

        self.peer.acts.insert(0, both)
        host = self.session()
        calls = []
        for name in ("stream", "response"):
            calls.append(host.begin("tools/call", {"name": name}))
            host.answer(calls[-1])
            host.other(lambda message: message.get("method") == "notifications/done")
            self.assertIn("result", host.ask("ping"))
        self.assertEqual([answer["id"] for answer in host.answers if answer["id"] in calls], calls)

    def test_a_stream_that_needs_a_sign_in_says_so(self):
        self.peer.acts.insert(0, lambda handler, message: handler.command == "GET" and (
            handler.reply(401, WWW_Authenticate="Bearer") or True))
        host = self.host(self.peer.url, "--sign-in", "never")
        self.assertEqual(self.reason(host.ask("initialize", HELLO)), "signInRequired")

    def test_a_server_with_neither_transport_is_an_error_with_its_first_status(self):
        self.peer.acts.insert(0, lambda handler, message: handler.reply(
            404 if handler.command == "POST" else 500) or True)
        host = self.host(self.peer.url)
        for _ in range(2):
            self.assertIn("status 404", host.ask("initialize", HELLO)["error"]["message"])
        self.assertEqual([row["http"] for row in self.peer.received], ["POST", "GET"] * 2)
