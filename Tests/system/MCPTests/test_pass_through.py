"""Messages between a host and a real server, in the protocol versions with sessions and in the version without
sessions."""

import json
import time

from host import META, text
from mcp_cases import LONG, BridgeCase, open_server
from peer import Peer


class PassThrough(BridgeCase):
    def test_every_version_with_sessions_is_spoken(self):
        for version in ("2025-03-26", "2025-06-18", "2025-11-25"):
            with self.subTest(version):
                host = self.host(open_server().url)
                self.assertEqual(host.initialize(version)["result"]["protocolVersion"], version)
                names = [tool["name"] for tool in host.ask("tools/list")["result"]["tools"]]
                self.assertEqual(names, ["echo", "slow", "big", "where"])
                self.assertEqual(text(host.call("echo", text="\u2028é😀")), "\u2028é😀")
                self.assertEqual(host.end()[0], 0)

    def test_the_version_without_sessions_is_spoken(self):
        host = self.host(open_server().url)
        found = host.modern("server/discover")
        self.assertIn("2026-07-28", json.dumps(found["result"]))
        self.assertEqual(len(host.modern("tools/list")["result"]["tools"]), 4)
        called = host.modern("tools/call", name="echo", arguments={"text": "hello"})
        self.assertEqual(text(called), "hello")
        self.assertIn("error", host.modern("no/such"))

    def test_a_slow_call_delays_no_other_and_its_progress_arrives_meanwhile(self):
        host = self.host(open_server().url)
        host.initialize()
        slow = host.begin("tools/call", {"name": "slow", "arguments": {"seconds": 1}, "_meta": {"progressToken": "p"}})
        begun = time.monotonic()
        self.assertEqual(host.ask("ping")["result"], {})
        self.assertLess(time.monotonic() - begun, 0.8)
        host.other(lambda message: message["method"] == "notifications/progress")
        self.assertEqual(text(host.answer(slow)), "done")

    def test_a_cancelled_call_gets_no_answer(self):
        for is_modern in (False, True):
            with self.subTest(modern=is_modern):
                host = self.host(open_server().url)
                more = {"_meta": META} if is_modern else {}
                if not is_modern:
                    host.initialize()
                slow = host.begin("tools/call", {"name": "slow", "arguments": {"seconds": 1}, **more})
                time.sleep(0.2)
                host.send("notifications/cancelled", {"requestId": slow})
                ping = host.ask("tools/list", more) if is_modern else host.ask("ping")
                self.assertIn("result", ping)
                with self.assertRaises(AssertionError):
                    host.line(slow, timeout=1.5)

    def test_large_answers_arrive(self):
        host = self.host(open_server().url)
        host.initialize()
        size = 12_000_000 if LONG else 2_000_000
        self.assertEqual(len(text(host.call("big", size=size))), size)

    def test_a_restarted_server_gets_a_new_session(self):
        server = self.server()
        host = self.host(server.url)
        host.initialize()
        self.assertEqual(text(host.call("echo", text="before")), "before")
        server.restart()
        self.assertEqual(text(host.call("echo", text="after")), "after")

    def test_the_end_of_the_input_in_a_call_ends_the_bridge(self):
        host = self.host(open_server().url)
        host.initialize()
        host.begin("tools/call", {"name": "slow", "arguments": {"seconds": 20}})
        status, seconds = host.end()
        self.assertEqual(status, 0)
        self.assertLess(seconds, 2)

    def test_the_check_says_what_the_server_offers(self):
        output, _ = self.run_enroll("mcp", open_server().url, "--allow-loopback-http", "--check")
        self.assertRegex(output, r"(?m)^tools +echo, slow, big, where$")
        answer = self.json("mcp", open_server().url, "--allow-loopback-http", "--check")
        self.assertEqual((answer["tools"], answer["signedIn"]), (["echo", "slow", "big", "where"], False))

    def test_input_without_a_host_is_answered_before_the_end(self):
        peer = Peer()
        self.addCleanup(peer.stop)
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        lines = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        ]
        given = "\n".join(json.dumps(line) for line in lines).encode()
        output, _ = self.run_enroll("mcp", peer.url, "--allow-loopback-http", given=given)
        self.assertEqual([json.loads(line)["id"] for line in output.splitlines()], [1, 2])
