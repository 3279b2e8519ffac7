"""Tools: arguments that requests repeat in headers (2026-07-28), and tools that the host does not see."""

import json
import threading

from host import META, text
from mcp_cases import BridgeCase, WireCase, open_server
from processes import wait_until

SCHEMA = {"type": "object", "properties": {
    "region": {"type": "string", "x-mcp-header": "Region"}, "limit": {"type": "integer", "x-mcp-header": "Limit"},
    "query": {"type": "string"}}}
MARKED = {"name": "sql", "inputSchema": SCHEMA}
WRONG = {"name": "wrong", "inputSchema": {"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}}
MISMATCH = {"code": -32020, "message": "Header mismatch: Mcp-Param-Region"}


class ToolCase(WireCase):
    #: The pages of the tool list.
    pages = [[MARKED]]

    def setUp(self):
        super().setUp()

        @self.peer.on
        def tools(handler, message):
            if message.get("method") != "tools/list":
                return False
            number = int(message["params"].get("cursor", 0)) if "params" in message else 0
            more = {"nextCursor": str(number + 1)} if number + 1 < len(self.pages) else {}
            handler.reply(200, self.peer.result(message, {"tools": self.pages[number], **more}),
                          Content_Type="application/json")
            return True

    def strict(self):
        """Makes the server require the headers of the marked arguments."""
        @self.peer.on
        def check(handler, message):
            if message.get("method") != "tools/call" or message["params"]["name"] != "sql":
                return False
            if handler.headers.get("Mcp-Param-Region") == message["params"]["arguments"].get("region"):
                return False
            handler.reply(400, {"jsonrpc": "2.0", "id": message["id"], "error": MISMATCH})
            return True

    def sent(self, method="tools/call"):
        return [{name: value for name, value in row["headers"].items() if name.startswith("Mcp-Param-")}
                for row in self.peer.all(method)]

    def call(self, host, **arguments):
        return host.modern("tools/call", name="sql", arguments=arguments)


class MirroredArguments(ToolCase):
    def test_marked_arguments_are_repeated_in_headers(self):
        host = self.host(self.peer.url)
        self.assertEqual(host.modern("tools/list")["result"]["tools"], [MARKED])
        self.call(host, region="Zürich", limit=42, query="x")
        self.call(host, region=None)
        self.call(host, region="us west")
        self.assertEqual(self.sent(), [
            {"Mcp-Param-Region": "=?base64?WsO8cmljaA==?=", "Mcp-Param-Limit": "42"}, {},
            {"Mcp-Param-Region": "us west"}])

    def test_earlier_versions_have_no_such_headers(self):
        self.pages = [[MARKED, WRONG]]
        host = self.session()
        self.assertEqual(host.ask("tools/list")["result"]["tools"], [MARKED, WRONG])
        host.call("sql", region="x")
        self.assertEqual(self.sent(), [{}])

    def test_a_tool_with_a_wrong_mark_is_left_out_and_every_other_byte_stays(self):
        body = b'{"jsonrpc":"2.0","id":1,"result":{"tools":[%s, %s],"x":1.0}}'
        rows = [b'{"name": "plain", "n": 1e400}', json.dumps(WRONG).encode()]
        self.peer.acts.clear()
        self.peer.on(lambda handler, message: message.get("method") == "tools/list" and (
            handler.reply(200, body % tuple(rows), Content_Type="application/json") or True))
        host = self.host(self.peer.url)
        line = host.line(host.begin("tools/list", {"_meta": META}))
        self.assertEqual(line, b'{"jsonrpc":"2.0","id":1,"result":{"tools":[%s],"x":1.0}}\n' % rows[0])
        self.assertIn(b"the tool wrong is left out", (self.home / "bridge.log").read_bytes())

    def test_a_call_that_was_refused_for_its_headers_is_sent_again_after_a_list(self):
        self.strict()
        self.pages = [[WRONG], [MARKED]]
        host = self.host(self.peer.url)
        calls = [host.begin("tools/call", {"name": "sql", "arguments": {"region": "a"}, "_meta": META})
                 for _ in range(3)]
        for call in calls:
            self.assertIn("result", host.answer(call))
        self.assertIn({"Mcp-Param-Region": "a"}, self.sent())
        self.assertEqual(len(self.sent()), 6)
        # The bridge requests the list once for all calls, with the protocol version of the calls. The host does not
        # receive the answers to these requests.
        lists = self.peer.all("tools/list")
        self.assertEqual([row["message"]["params"].get("cursor") for row in lists], [None, "1"])
        self.assertEqual(lists[0]["message"]["params"]["_meta"], META)
        self.assertEqual(lists[0]["headers"]["Mcp-Method"], "tools/list")
        self.assertEqual(host.others, [])
        self.assertIn("result", self.call(host, region="b"))
        self.assertEqual(len(self.sent()), 7)

    def test_a_changed_mark_is_found_and_no_call_is_sent_a_third_time(self):
        host = self.host(self.peer.url)
        renamed = json.loads(json.dumps(MARKED).replace("Region", "Area"))
        self.pages = [[renamed]]
        host.modern("tools/list")
        self.strict()
        self.pages = [[MARKED]]
        self.assertIn("result", self.call(host, region="a"))
        self.assertEqual(self.sent(), [{"Mcp-Param-Area": "a"}, {"Mcp-Param-Region": "a"}])
        # The list is unchanged, so the host gets the server's error.
        self.pages = [[renamed]]
        host.modern("tools/list")
        self.assertEqual(self.call(host, region="b")["error"], MISMATCH)
        self.assertEqual(len(self.sent()), 3)
        self.pages = [[MARKED]]
        self.peer.acts.insert(0, lambda handler, message: message.get("method") == "tools/call" and (
            handler.reply(400, {"jsonrpc": "2.0", "id": None, "error": MISMATCH}) or True))
        self.assertEqual(self.call(host, region="c")["error"], MISMATCH)
        self.assertEqual(len(self.sent()), 5)

    def test_a_list_that_fails_leaves_the_servers_error(self):
        self.strict()
        self.peer.acts.insert(0, lambda handler, message: message.get("method") == "tools/list" and (
            handler.reply(500, b"<html>") or True))
        host = self.host(self.peer.url)
        self.assertEqual(self.call(host, region="a")["error"], MISMATCH)
        self.assertIn("result", host.modern("ping"))
        # The server may choose another id for its error.
        self.peer.acts.insert(0, lambda handler, message: message.get("method") == "tools/call" and (
            handler.reply(400, {"jsonrpc": "2.0", "id": "server-error", "error": MISMATCH}) or True))
        self.assertEqual(self.call(host, region="a")["error"], MISMATCH)


class HiddenTools(ToolCase):
    pages = [[MARKED, {"name": "drop_all"}, {"name": "drop_one"}]]

    def test_hidden_tools_are_neither_listed_nor_called(self):
        for is_modern in (True, False):
            with self.subTest(modern=is_modern):
                host = self.host(self.peer.url, "--hide-tool", "drop_*", "--hide-tool", "s?l")
                more = {"_meta": META} if is_modern else {}
                if not is_modern:
                    host.initialize()
                self.assertEqual(host.ask("tools/list", more)["result"]["tools"], [])
                answer = host.ask("tools/call", {"name": "drop_all", "arguments": {}, **more})
                self.assertEqual(answer["error"]["code"], -32602)
                self.assertIn("--hide-tool", answer["error"]["message"])
                self.assertIn("result", host.ask("tools/call", {"name": "other", "arguments": {}, **more}))
        self.assertEqual({row["message"]["params"]["name"] for row in self.peer.all("tools/call")}, {"other"})

    def test_a_message_that_may_call_a_hidden_tool_is_refused(self):
        host = self.session("--hide-tool", "drop_*")
        for number, members in enumerate((
            '"method":"tools/call","params":{"name":"drop_all","name":"ok"}',
            '"method":"tools/call","params":{"name":"ok","n\\u0061me":"drop_all"}',
            '"method":"tools/call","params":{"name":"drop_all"},"params":{"name":"ok"}',
            '"method":"tools/call","method":"ping","params":{"name":"drop_all"}',
            '"method":"tools/call","params":{"Name":"drop_all"}',
        )):
            host.write(f'{{"jsonrpc":"2.0","id":"{number}",{members}}}')
            self.assertEqual(host.answer(str(number))["error"]["code"], -32600)
        host.write('{"jsonrpc":"2.0","method":"tools/call","params":{"name":"drop_all","name":"ok"}}')
        self.assertIn("result", host.call("ok", name="drop_all", Name="drop_all"))
        self.assertEqual(len(self.peer.all("tools/call")), 1)

    def test_a_list_on_another_stream_hides_them_too(self):
        @self.peer.on
        def elsewhere(handler, message):
            if message.get("method") != "elsewhere":
                return False
            handler.stream()
            handler.event(self.peer.result({"id": message["params"]["list"]}, {"tools": self.pages[0]}))
            handler.event(self.peer.result(message, {}))
            return True

        listed = threading.Event()
        self.addCleanup(listed.set)
        self.peer.acts.insert(0, lambda handler, message: message.get("method") == "tools/list" and not listed.wait(30))
        host = self.session("--hide-tool", "drop_*")
        list_ = host.begin("tools/list")
        wait_until(lambda: self.peer.all("tools/list"), "the request arrives")
        host.ask("elsewhere", {"list": list_})
        self.assertEqual(host.answer(list_)["result"]["tools"], [MARKED])

    def test_a_batch_hides_them_too(self):
        @self.peer.on
        def batch(handler, message):
            if "batch" not in message:
                return False
            handler.reply(200, [self.peer.result(request, {"tools": self.pages[0]}) for request in message["batch"]],
                          Content_Type="application/json")
            return True

        host = self.session("--hide-tool", "*", version="2025-03-26")
        host.write('[{"jsonrpc":"2.0","id":"a","method":"tools/list"},{"jsonrpc":"2.0","id":"b","method":"x"}]')
        answers = host.other(lambda message: isinstance(message, list))
        self.assertEqual([len(answer["result"]["tools"]) for answer in answers], [0, 3])
        host.write('[{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"sql"}}]')
        self.assertEqual(host.answer("c")["error"]["code"], -32602)


class RealServer(BridgeCase):
    def test_a_server_of_the_sdk_gets_the_headers_that_it_demands(self):
        host = self.host(open_server().url)
        # The server refuses the first call, because the bridge does not know the tool yet.
        for region in ("Zürich", "us-west1", " a"):
            self.assertEqual(text(host.modern("tools/call", name="where", arguments={"region": region})), region)

    def test_a_server_of_the_sdk_hides_a_tool_and_answers_the_others(self):
        host = self.host(open_server().url, "--hide-tool", "slow")
        names = [tool["name"] for tool in host.modern("tools/list")["result"]["tools"]]
        self.assertEqual(names, ["echo", "big", "where"])
        self.assertEqual(text(host.modern("tools/call", name="echo", arguments={"text": "x"})), "x")
