"""Tests of JSON-RPC 2.0 according to its specification: errors, ids, batches, notifications, parameters by
position."""

import json
import unittest

from daemon import TOP, Daemon, Refused, manifest

VECTORS = TOP.parent / "shared" / "vectors"
MARK = {"jsonrpc": "2.0", "id": "mark", "method": "expiry.check", "params": {"expiresAt": 1, "now": 0}}


def error(code, message, request_id=None):
    return {"code": code, "message": message, "id": request_id}


def brief(answer):
    """Returns an answer without the parts that the specification does not define."""
    if isinstance(answer, list):
        return [brief(one) for one in answer]
    if "error" in answer:
        return error(answer["error"]["code"], answer["error"]["message"], answer["id"])
    return {"result": answer["result"], "id": answer["id"]}


class Conversation(unittest.TestCase):
    headers = False

    def setUp(self):
        self.daemon = Daemon(headers=self.headers)
        self.addCleanup(self.daemon.__exit__)

    def answer(self, text):
        """The answer to one message; None if there is no answer."""
        self.daemon.post(text if isinstance(text, bytes) else text.encode())
        mark = self.daemon.start("expiry.check", {"expiresAt": 1, "now": 0})
        first = None
        mark.message()
        while not self.daemon.unasked.empty():
            self.assertIsNone(first, "two answers to one message")
            first = self.daemon.raw()
        return first


class Specification(Conversation):
    """The examples of section 7 of the specification, with pure commands of the daemon in place of the
    example's methods."""

    # expiry.check replaces subtract. With parameters by position, the second parameter of expiry.check is `now`.
    METHODS = {"subtract": "expiry.check", "sum": "expiry.check", "get_data": "pkce.generate", "update": "expiry.check",
               "notify_hello": "expiry.check"}

    def test_every_published_example_is_answered_as_the_specification_says(self):
        path = VECTORS / "jsonrpc-spec" / "jsonrpc-spec.json"
        if not path.exists():
            self.skipTest("the published examples are not on this computer")
        for case in json.loads(path.read_text()):
            with self.subTest(case["id"]):
                request, wanted = self.mapped(case)
                answer = self.answer(request)
                if wanted is None:
                    self.assertIsNone(answer)
                else:
                    self.assertEqual(self.shape(brief(answer)), self.shape(wanted))

    def mapped(self, case):
        request = case["request"]
        wanted = json.loads(case["response"]) if case["response"] else None
        for theirs, ours in self.METHODS.items():
            request = request.replace(f'"{theirs}"', f'"{ours}"')
        # Replaces the parameters with values that these commands accept. The test checks which request gets which
        # answer.
        for theirs, ours in (("[23, 42]", "[42, 23]"), ('{"minuend": 42, "subtrahend": 23}', '{"expiresAt":42,"now":23}'),
                             ('{"subtrahend": 23, "minuend": 42}', '{"now":23,"expiresAt":42}'), ("[42,23]", "[42,23]"),
                             ("[7]", "[7]"), ("[1,2,3,4,5]", "[1,2,3,4,5]")):
            request = request.replace(theirs, ours)
        return request, brief(wanted) if wanted else None

    @staticmethod
    def shape(answer):
        """The parts of an answer that the test compares: whether there is a result, but not its value."""
        if isinstance(answer, list):
            return sorted((Specification.shape(one) for one in answer), key=repr)
        return {**answer, "result": True} if "result" in answer else answer


class Errors(Conversation):
    def assertError(self, text, code, message, request_id=None):
        answer = self.answer(text)
        self.assertIsNotNone(answer, text)
        self.assertEqual(brief(answer), error(code, message, request_id), text)

    def test_what_is_not_json_is_a_parse_error(self):
        for text in ("x", "{", '{"jsonrpc": "2.0", "method"', "[1,", "nul", '"', "\ufeff{}", "{}{}", "1 2", "'a'"):
            with self.subTest(text):
                self.assertError(text, -32700, "Parse error")

    def test_duplicate_keys_nul_bad_utf8_and_deep_nesting_are_refused_before_use_r37(self):
        begin = b'{"jsonrpc":"2.0","id":1,"method":"expiry.check","params":{"expiresAt":1,"now":0'
        for name, text in {
            "duplicate key": begin + b',"now":5}}',
            "duplicate method": b'{"jsonrpc":"2.0","id":1,"method":"x","method":"expiry.check","params":[1,0]}',
            "escaped duplicate key": begin + b',"n\\u006fw":5}}',
            "NUL": begin + b',"grace\\u0000":5}}',
            "bad UTF-8": begin + b',"\xff":5}}',
            "overlong UTF-8": begin + b',"\xc0\xaf":5}}',
            "lone surrogate": begin + b',"\\ud800":5}}',
            "65 levels": b"[" * 65 + b"]" * 65,
            "a hundred thousand levels": b"[" * 100_000,
        }.items():
            with self.subTest(name):
                self.assertError(text, -32700, "Parse error")

    def test_nesting_of_64_is_read(self):
        self.assertEqual(brief(self.answer(b"[" * 64 + b"]" * 64)), [error(-32600, "Invalid Request")])

    def test_a_sample_of_malformed_json_is_refused_and_harms_nothing(self):
        folder = VECTORS / "jsontestsuite"
        if not folder.exists():
            self.skipTest("the published texts are not on this computer")
        tried = 0
        for path in sorted(folder.glob("*.json")):
            body = path.read_bytes()
            if not self.headers and (b"\n" in body or not body.strip()):
                continue
            with self.subTest(path.name):
                answer = self.answer(body)
                self.assertIsNotNone(answer)
                first = answer[0] if isinstance(answer, list) else answer
                self.assertIn(first["error"]["code"], self.codes(path.name))
                self.assertIsNone(first["id"])
                tried += 1
        self.assertGreater(tried, 100)

    @staticmethod
    def codes(name):
        """The accepted error codes for a file of the published tests. A file `y_…` has valid JSON, which is
        still not a request. A file `i_…`, which a parser may accept or refuse, may get either code."""
        if name in ("y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json",
                    "y_object_escaped_null_in_key.json"):
            return (-32700,)  # R37 is stricter.
        return {"n": (-32700,), "y": (-32600,), "i": (-32700, -32600)}[name[0]]

    def test_what_is_no_request_is_an_invalid_request(self):
        for text in ("1", "null", "true", '"text"', "{}", '{"jsonrpc":"2.0"}', '{"method":"expiry.check"}',
                     '{"jsonrpc":"1.0","method":"expiry.check"}', '{"jsonrpc":2.0,"method":"expiry.check"}',
                     '{"jsonrpc":"2.0","method":1}', '{"jsonrpc":"2.0","method":null}',
                     '{"jsonrpc":"2.0","method":"expiry.check","params":null}',
                     '{"jsonrpc":"2.0","method":"expiry.check","params":"bar"}',
                     '{"jsonrpc":"2.0","method":"expiry.check","params":5}', "[]"):
            with self.subTest(text):
                self.assertError(text, -32600, "Invalid Request")

    def test_an_id_is_a_string_or_an_integer_r38(self):
        for bad in ("null", "1.5", "1e3", "true", "[]", "{}", "[1]", "9223372036854775808"):
            with self.subTest(bad):
                self.assertError('{"jsonrpc":"2.0","id":%s,"method":"expiry.check","params":[1,0]}' % bad, -32600,
                                 "Invalid Request")
        for good in (0, -1, 9223372036854775807, "", "a", "é", "1", "x" * 1000):
            with self.subTest(good):
                answer = self.answer(json.dumps({**MARK, "id": good}))
                self.assertEqual(answer["id"], good)
                self.assertIs(type(answer["id"]), type(good))

    def test_an_invalid_request_with_a_good_id_is_answered_to_it(self):
        self.assertError('{"jsonrpc":"2.0","id":"x","method":1}', -32600, "Invalid Request", "x")

    def test_an_unknown_method_is_told_by_its_code(self):
        for method in ("", "foobar", "token", "rpc.discover", "$/unknown", "system.describe "):
            with self.subTest(method):
                self.assertError(json.dumps({"jsonrpc": "2.0", "id": "x", "method": method}), -32601, "Method not found",
                                 "x")

    def test_parameters_that_the_schema_refuses_are_invalid_params(self):
        for params, field in (({}, "expiresAt"), ({"expiresAt": "1"}, "expiresAt"), ([1, 0, 60, 0, 1, 9], "params"),
                              ({"expiresAt": 1, "grace": -1}, "grace"), ({"expiresAt": 1, "x": 1}, "x"),
                              ([True], "expiresAt")):
            with self.subTest(params=params):
                with self.assertRaises(Refused) as caught:
                    self.daemon.start("expiry.check", params).result()
                self.assertEqual(caught.exception.code, -32602)
                self.assertEqual(caught.exception.data["field"], field)

    def test_errors_of_commands_carry_status_blame_and_what_helps(self):
        with self.assertRaises(Refused) as caught:
            self.daemon.call("token.access", client="c99")
        self.assertEqual(caught.exception.code, -32002)
        self.assertEqual(caught.exception.data | {"message": ""},
                         {"status": "handle", "code": -2, "blame": "caller", "retryable": False, "field": "client",
                          "message": ""})

    def test_a_refusal_repeats_no_value_of_the_host_r40(self):
        for params in ({"client": "canary-1"}, {"client": "c1", "kind": "canary-2"}, {"client": ["canary-3"]}):
            with self.assertRaises(Refused) as caught:
                self.daemon.start("registration.begin", params).result()
            self.assertNotIn("canary", str(caught.exception))
        self.assertNotIn("canary", self.daemon.log)


class Batches(Conversation):
    def test_answers_of_a_batch_come_together_in_the_order_of_its_requests(self):
        batch = [{**MARK, "id": index} for index in range(20)]
        answer = self.answer(json.dumps(batch))
        self.assertEqual([one["id"] for one in answer], list(range(20)))

    def test_a_batch_of_notifications_is_not_answered(self):
        batch = [{"jsonrpc": "2.0", "method": "expiry.check", "params": [1, 0]}, {"jsonrpc": "2.0", "method": "foobar"}]
        self.assertIsNone(self.answer(json.dumps(batch)))

    def test_a_batch_waits_for_its_slowest_request(self):
        batch = [{"jsonrpc": "2.0", "id": 1, "method": "client.open", "params": {"configurationName": "none"}},
                 {**MARK, "id": 2}]
        self.daemon.post(batch)
        answer = self.daemon.raw()
        self.assertEqual([one["id"] for one in answer], [1, 2])
        self.assertEqual(answer[0]["error"]["data"]["status"], "notFound")

    def test_a_batch_within_a_batch_is_an_invalid_request(self):
        self.assertEqual(brief(self.answer("[[]]")), [error(-32600, "Invalid Request")])

    def test_a_batch_over_the_limit_is_refused_as_a_whole(self):
        self.assertEqual(len(self.answer(json.dumps([1] * 1000))), 1000)
        self.assertEqual(brief(self.answer(json.dumps([1] * 1001))), error(-32600, "Invalid Request"))


class Notifications(Conversation):
    def test_a_notification_is_never_answered(self):
        for text in ('{"jsonrpc":"2.0","method":"expiry.check","params":[1,0]}',
                     '{"jsonrpc":"2.0","method":"expiry.check","params":{"x":1}}', '{"jsonrpc":"2.0","method":"foobar"}',
                     '{"jsonrpc":"2.0","method":"$/unknown"}', '{"jsonrpc":"2.0","method":"$/cancelRequest"}',
                     '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":77}}',
                     '{"jsonrpc":"2.0","method":"token.access","params":{"client":"c1"}}'):
            with self.subTest(text):
                self.assertIsNone(self.answer(text))

    def test_a_response_that_nobody_waits_for_is_not_answered(self):
        for text in ('{"jsonrpc":"2.0","id":1,"result":5}', '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}',
                     '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}', '{"id":[],"result":5}'):
            with self.subTest(text):
                self.assertIsNone(self.answer(text))


class SpecificationBehindHeaders(Specification):
    headers = True


class ErrorsBehindHeaders(Errors):
    headers = True


class Surface(unittest.TestCase):
    def test_every_command_of_the_manifest_can_be_called(self):
        with Daemon() as daemon:
            described = daemon.call("system.describe")
            self.assertEqual(described["commands"], [command["name"] for command in manifest()["commands"]])
            for command in manifest()["commands"]:
                with self.subTest(command["name"]):
                    with self.assertRaises(Refused) as caught:
                        daemon.start(command["name"], {"frobnicate": 1}).result()
                    self.assertEqual(caught.exception.code, -32602)
                    self.assertEqual(caught.exception.data["field"], "frobnicate")


if __name__ == "__main__":
    unittest.main()
