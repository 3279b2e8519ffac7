"""Tests of the bridge with many requests, long messages and stopped processes, and tests of how it ends."""

import signal
import stat
import threading
import time
import unittest

from host import META
from mcp_cases import LONG, WireCase
from processes import wait_until

MOST = 128


class ManyRequests(WireCase):
    def full(self, more):
        """A host that has as many parallel requests as the bridge allows, and one more request, which
        waits."""
        self.gate = threading.Event()
        self.addCleanup(self.gate.set)

        @self.peer.on
        def wait(handler, message):
            if message.get("method") == "tools/call":
                handler.stream()
                handler.event({"jsonrpc": "2.0", "method": "notifications/x"})
                self.gate.wait(60)
                handler.event(self.peer.result(message, {}))
                return True
            return False

        host = self.host(self.peer.url)
        if not more:
            host.initialize()
        calls = [host.begin("tools/call", {"name": "x", **more}) for _ in range(MOST + 1)]
        wait_until(lambda: len(self.peer.all("tools/call")) == MOST, "the calls arrive")
        return host, calls

    def test_a_cancellation_and_an_answer_pass_and_make_room(self):
        host, calls = self.full({})
        host.write('{"jsonrpc":"2.0","id":"s1","result":{"roots":[]}}')
        host.send("notifications/cancelled", {"requestId": calls[0]})
        wait_until(lambda: any(row["message"].get("result") for row in self.peer.received), "the answer arrives")
        wait_until(lambda: self.peer.all("notifications/cancelled"), "the cancellation arrives")
        wait_until(lambda: len(self.peer.all("tools/call")) == MOST + 1, "the last call arrives")
        self.gate.set()
        for call in calls[1:]:
            self.assertIn("result", host.answer(call))

    def test_a_waiting_call_can_be_cancelled_and_is_never_sent(self):
        host, calls = self.full({"_meta": META})
        host.send("notifications/cancelled", {"requestId": calls[-1]})
        host.send("notifications/cancelled", {"requestId": calls[0]})
        later = host.begin("later", {"_meta": META})
        self.assertIn("result", host.answer(later))
        self.assertEqual(len(self.peer.all("tools/call")), MOST)

    def test_the_end_of_the_input_ends_the_bridge_and_its_session(self):
        host, _ = self.full({})
        self.assertEqual(host.end()[0], 0)
        self.assertEqual(len(self.peer.all("DELETE")), 1)


class TheEnd(WireCase):
    def test_a_server_that_answers_nothing_any_more_does_not_keep_the_bridge(self):
        host = self.session()
        gate = threading.Event()
        self.addCleanup(gate.set)
        self.peer.acts.insert(0, lambda handler, message: gate.wait(60) or True)
        host.begin("tools/call", {"name": "x"})
        wait_until(lambda: self.peer.all("tools/call"), "the call arrives")
        self.assertEqual(host.end()[0], 0)
        self.assertEqual(len(self.peer.all("DELETE")), 1)

    def test_a_signal_ends_the_session(self):
        host = self.session()
        host.process.send_signal(signal.SIGTERM)
        self.assertEqual(host.process.wait(10), 130)
        self.assertEqual(len(self.peer.all("DELETE")), 1)


class Limits(WireCase):
    @unittest.skipUnless(LONG, "TORTURE=1")
    def test_a_stopped_process_loses_no_time_of_a_request(self):
        @self.peer.on
        def busy(handler, message):
            if message.get("method") != "tools/list" or len(self.peer.all("tools/list")) > 2:
                return False
            handler.reply(503, b"", Retry_After="1")
            return True

        host = self.host(self.peer.url, "--wait", "4")
        host.initialize()
        listing = host.begin("tools/list")
        wait_until(lambda: self.peer.all("tools/list"), "the request arrives")
        host.process.send_signal(signal.SIGSTOP)
        time.sleep(3.5)
        host.process.send_signal(signal.SIGCONT)
        self.assertIn("result", host.answer(listing))

    def test_the_longest_message_can_be_set(self):
        self.peer.on(lambda handler, message: message.get("method") == "long" and (
            handler.reply(200, self.peer.result(message, "x" * 5000), Content_Type="application/json") or True))
        host = self.session("--max-message", "4096")
        for answer in (host.ask("long"), host.ask("short", {"t": "x" * 5000})):
            self.assertEqual(answer["error"]["code"], -32014)
            self.assertIn("4096 bytes", answer["error"]["message"])
        self.assertIn("result", host.ask("short", {"t": "x" * 3000}))
        self.assertEqual(len(self.peer.all("short")), 1)

    def test_a_file_of_headers_is_read_to_its_end_or_refused(self):
        path = self.home / "headers"
        path.write_text("".join(f"X-{number}: {'x' * 1000}\n" for number in range(40)) + "X-Last: 1\n")
        host = self.host(self.peer.url, "--header-file", str(path))
        host.initialize()
        self.assertEqual(self.peer.all("initialize")[0]["headers"]["X-Last"], "1")
        path.write_text("X-A: 1\n" * 10_000)
        _, errors = self.run_enroll("mcp", "https://notes.example/mcp", "--header-file", str(path), status=2)
        self.assertIn("more than 64 KiB", errors)

    def test_a_404_that_answers_the_request_is_an_answer(self):
        error = {"code": -32601, "message": "Method not found", "data": {"method": "none/such"}}

        @self.peer.on
        def unknown(handler, message):
            if message.get("method") != "none/such":
                return False
            handler.reply(404, {"jsonrpc": "2.0", "id": message["id"], "error": error})
            return True

        host = self.session()
        self.assertEqual(host.ask("none/such")["error"], error)
        self.assertIn("result", host.ask("ping"))
        self.assertEqual(len(self.peer.all("initialize")), 1)

    def test_what_a_server_sends_on_an_idle_connection_is_no_answer(self):
        timeout = b"HTTP/1.1 408 Request Time-out\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        released, done = threading.Event(), threading.Event()
        self.addCleanup(released.set)

        @self.peer.on
        def talkative(handler, message):
            if message.get("method") != "first":
                return False
            handler.reply(200, self.peer.result(message, {}), Content_Type="application/json")
            released.wait(30)
            handler.wfile.write(timeout)
            handler.close_connection = True
            done.set()
            return True

        host = self.session()
        self.assertEqual(host.ask("first")["result"], {})
        released.set()
        self.assertTrue(done.wait(30))
        self.assertIn("echo", host.ask("second").get("result", {}))

    def test_a_refusal_whose_body_does_not_end_is_a_refusal(self):
        released = threading.Event()
        self.addCleanup(released.set)

        @self.peer.on
        def endless(handler, message):
            if message.get("method") != "initialize":
                return False
            handler.wfile.write(b"HTTP/1.1 500 Broken\r\nContent-Type: text/html\r\n\r\n<h1>")
            return not released.wait(30)

        check = ("mcp", self.peer.url, "--allow-loopback-http", "--check")
        _, words = self.run_enroll(*check, status=5)
        self.assertIn("refused the request with status 500", words)

    def test_the_log_says_what_was_done_and_no_secret(self):
        path = self.home / "log"
        (self.home / "headers").write_text("X-Key: hidden-header\n")
        host = self.host(self.peer.url + "?key=hidden-query", "--header-file", str(self.home / "headers"),
                         ENROLL_LOG=str(path))
        host.initialize()
        host.call("hidden-tool", argument="hidden-argument")
        host.send("notifications/x", {"t": "hidden-body"})
        self.peer.stop()
        host.end()
        text = path.read_text()
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertRegex(text, r"(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \d+ #\d+ tools/call: status 200 after \d+ ms$")
        self.assertIn("the input is over", text)
        self.assertNotIn("hidden", text)
        self.run_enroll("mcp", self.peer.url, "--allow-loopback-http", status=2,
                        environment={**self.environment, "ENROLL_LOG": str(self.home)})
