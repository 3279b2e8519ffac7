"""The host serves HTTP and secrets itself: the daemon sends it requests (json-rpc.md, What the daemon asks its
host)."""

import base64
import json
import pathlib
import queue
import shutil
import subprocess
import tempfile
import threading
import unittest
import urllib.parse

import silence
from cases import SandboxCase
from daemon import ENROLLD, TIMEOUT, Daemon, Declined, Refused, manifest
from host import HTTP, Secrets
from processes import wait_until

SEND = "host.http.send"
GET = "host.store.get"
NOBODY = {"issuer": "https://id.example", "clientId": "app", "redirectUri": "com.example.app:/callback"}
UNWANTED = "an answer to no pending request was ignored"


def setUpModule():
    silence.begin()


class Served(SandboxCase):
    """All requests and secrets of a client go through the host."""

    def setUp(self):
        super().setUp()
        self.http, self.secrets = HTTP(), Secrets()

    def served(self, http=None, **options):
        return self.daemon(host={SEND: http or self.http, **self.secrets.functions()}, **options)

    def open(self, daemon, configuration=None, **more):
        return super().open(daemon, configuration, **{"transport": "host", "keys": {"provider": "host"}, **more})

    def test_a_user_signs_in_renews_survives_a_new_process_and_revokes(self):
        for headers, binary in ((False, False), (True, True)):
            with self.subTest(headers=headers, binary=binary):
                self.store += str(headers)
                self.http = HTTP(binary=binary)
                daemon, client = self.signed_in(self.served(headers=headers))
                first = daemon.call("token.refresh", client=client)
                self.assertEqual(first["outcome"], "valid")
                self.assertEqual(daemon.close(), 0)
                self.assertFalse((pathlib.Path(self.store) / "key").exists())

                daemon = self.served(headers=headers)
                client = self.open(daemon)
                self.assertEqual(daemon.call("token.access", client=client)["accessToken"], first["accessToken"])
                self.assertEqual(daemon.call("identity.userinfo", client=client)["claims"]["email"],
                                 "alice@example.com")
                daemon.call("token.revoke", client=client)
                self.assertEqual(daemon.call("token.access", client=client)["outcome"], "reauthenticate")
                self.assertEqual(sorted(set(self.http.paths())),
                                 ["/.well-known/openid-configuration", "/jwks", "/revoke", "/token", "/userinfo"])
                self.assertEqual({asked["client"] for asked in self.http.seen}, {client})
                self.assertEqual(self.secrets.clients, {client})

    def test_a_code_is_sent_on_a_connection_of_its_own_and_a_document_on_any_r15(self):
        daemon, _ = self.signed_in(self.served())
        fresh = {urllib.parse.urlsplit(asked["url"]).path: asked["needsFreshConnection"] for asked in self.http.seen}
        self.assertEqual(fresh, {"/.well-known/openid-configuration": False, "/jwks": False, "/token": True})

    def test_a_code_that_the_host_did_not_send_is_not_spent_r15(self):
        def without_network(asked):
            if "/token" in asked["url"]:
                raise Declined(status="network", notSent=True)

        daemon = self.served()
        client = self.open(daemon)
        redirect = self.sandbox.play(daemon.call("registration.begin", client=client)["action"]["url"])
        self.http._before = without_network
        with self.assertRaises(Refused) as refused:
            daemon.call("url.handle", client=client, url=redirect)
        self.assertEqual((refused.exception.status, refused.exception.data["retryable"]), ("network", True))
        self.http._before = None
        state = daemon.call("url.handle", client=client, url=redirect)["state"]
        self.assertEqual(state["state"], "awaitingConfirmation")

    def test_a_response_of_any_status_is_a_response(self):
        before = lambda asked: {"status": 503, "headers": {"Retry-After": "7"}} if "/token" in asked["url"] else None
        daemon, client = self.signed_in(self.served())
        self.http._before = before
        late = daemon.call("token.refresh", client=client)
        self.assertEqual((late["outcome"], late["error"]["status"], late["error"]["httpStatus"]),
                         ("stale", "server", 503))

    def test_a_store_whose_key_the_host_has_locked_opens_once_it_is_unlocked(self):
        daemon, client = self.signed_in(self.served())
        token = daemon.call("token.access", client=client)["accessToken"]
        daemon.close()
        self.secrets.is_locked = True
        daemon = self.served()
        client = self.open(daemon)
        self.assertEqual(daemon.call("token.access", client=client)["outcome"], "storeLocked")
        with self.assertRaises(Refused) as caught:
            daemon.call("accounts.list", store=self.store, keys={"provider": "host"})
        self.assertEqual((caught.exception.status, caught.exception.data["field"]), ("storeLocked", "keys"))
        self.assertIn("unlock it", caught.exception.message)
        self.secrets.is_locked = False
        self.assertEqual(daemon.call("token.access", client=client)["accessToken"], token)

    def test_a_secret_that_is_gone_or_another_one_opens_nothing_and_loses_nothing(self):
        daemon, client = self.signed_in(self.served())
        daemon.close()
        kept = dict(self.secrets.kept)
        other = base64.urlsafe_b64encode(bytes(32)).decode().rstrip("=")
        for broken, declines, status, word in (
                ({}, False, "storeLocked", "has no item"), ({}, True, "storeLocked", "has no item"),
                (dict.fromkeys(kept, other), False, "storeKey", "key"),
                (dict.fromkeys(kept, "short"), False, "storeIO", "result.secret"),
                (dict.fromkeys(kept, 5), False, "storeIO", "result.secret"),
                (dict.fromkeys(kept, other + "="), False, "storeIO", "result.secret")):
            self.secrets.kept, self.secrets.declines = broken, declines
            with self.assertRaises(Refused) as caught:
                self.served().call("accounts.list", store=self.store, keys={"provider": "host"})
            self.assertEqual(caught.exception.status, status)
            self.assertIn(word, caught.exception.message)
        self.secrets.kept = kept
        daemon = self.served()
        self.assertEqual(daemon.call("token.access", client=self.open(daemon))["outcome"], "valid")

    def test_a_key_moves_to_the_host_and_away_again(self):
        daemon, client = self.signed_in(self.served(), keys={"provider": "file"})
        self.assertEqual(self.secrets.kept, {})
        file, host = {"provider": "file"}, {"provider": "host"}
        self.assertEqual(daemon.call("store.rekey", store=self.store, keys=file, newKeys=host), {"provider": "host"})
        self.assertEqual(len(self.secrets.kept), 1)
        diagnosis = daemon.call("store.diagnose", store=self.store, keys=host)
        self.assertEqual((diagnosis["keyProviders"], diagnosis["accounts"]), (["host"], 1))
        self.secrets.clients.clear()
        self.assertEqual(daemon.call("accounts.list", store=self.store, keys=host)["accounts"], ["default"])
        self.assertEqual(self.secrets.clients, {None})
        self.assertEqual(daemon.call("store.rekey", store=self.store, keys=host, newKeys=file), {"provider": "file"})
        self.assertEqual(self.secrets.kept, {})

    def test_the_host_may_use_the_client_that_it_is_serving(self):
        daemon, client = self.signed_in(self.served())
        daemon.close()
        told = []

        def before(asked):
            """Runs during the renewal's own request."""
            told.append(daemon.call("token.refresh", client=asked["client"], timeout=0))
            told.append(daemon.call("registration.state", client=asked["client"]))

        daemon = self.served(HTTP(before))
        client = self.open(daemon)
        self.assertEqual(daemon.call("token.refresh", client=client)["outcome"], "valid")
        self.assertEqual(told[0]["outcome"], "stale")
        self.assertEqual(told[1]["state"]["state"], "active")

    def test_the_host_may_use_the_client_whose_secret_it_is_giving(self):
        daemon, client = self.signed_in(self.served())
        daemon.close()
        began = threading.Event()
        inner = []

        def get(asked):
            """Sends calls to the daemon. Their answers come later, because the client waits until this host request is
            answered."""
            if not began.is_set():
                began.set()
                inner.append(daemon.start("token.access", {"client": client}))
                inner.append(daemon.start("registration.state", {"client": client}))
                self.assertIn("codeVerifier", daemon.call("pkce.generate"))
                daemon.call("events.subscribe", client=client)
            return self.secrets.functions()[GET](asked)

        daemon = self.daemon(host={SEND: self.http, **self.secrets.functions(), GET: get})
        client = self.open(daemon)
        self.assertEqual(daemon.call("token.access", client=client)["outcome"], "valid")
        self.assertEqual(inner[0].result()["outcome"], "valid")
        self.assertEqual(inner[1].result()["state"]["state"], "active")

    def test_a_secret_that_is_held_back_keeps_nobody_else_waiting(self):
        daemon, client = self.signed_in(self.served())
        daemon.close()
        daemon = self.daemon(host={SEND: self.http})
        client = self.open(daemon)
        held = [daemon.start(method, {"client": client}) for method in
                ("token.access", "token.refresh", "registration.state", "token.access")]
        question = daemon.question()
        self.assertEqual(question["method"], GET)
        other = self.daemon_client_in_memory(daemon)
        self.assertEqual(daemon.call("token.access", client=other)["outcome"], "reauthenticate")
        self.assertIn("codeVerifier", daemon.call("pkce.generate"))
        self.assertFalse(any(one.is_answered for one in held))
        answer = self.secrets.functions()[GET]
        while not all(one.is_answered for one in held):
            daemon.answer(question, answer(question["params"]))
            try:
                question = daemon.question(timeout=0.2)
            except queue.Empty:
                pass
        self.assertEqual({one.result().get("outcome", "valid") for one in held}, {"valid"})

    def daemon_client_in_memory(self, daemon):
        return daemon.call("client.open", configuration=self.sandbox.configuration, store="memory")["client"]

    def test_secrets_are_in_no_log_r40(self):
        daemon, client = self.signed_in(self.served())
        self.http._before = lambda asked: {"status": 200, "body": '{"access_token": 5, "refresh_token": "leaky-rt"}'}
        daemon.call("token.refresh", client=client)
        self.http._before = lambda asked: {"status": 200, "body": "leaky", "leaky-member": 1, "headers": {"leaky": "leaky"}}
        daemon.call("token.refresh", client=client)
        access = daemon.call("token.access", client=client)["accessToken"]
        self.secrets.kept = dict.fromkeys(self.secrets.kept, "leaky-secret")
        with self.assertRaises(Refused):
            daemon.call("accounts.list", store=self.store, keys={"provider": "host"})
        daemon.close()
        sent = [value for asked in self.http.seen
                for values in urllib.parse.parse_qs(asked.get("body", "")).values() for value in values if len(value) > 20]
        self.assertGreater(len(sent), 2)
        for secret in [access, *sent, *self.secrets.names, "leaky-rt", "leaky-secret", '"leaky"', "/token"]:
            self.assertNotIn(secret, daemon.log)
        self.assertIn(SEND, daemon.log)


class Endings(SandboxCase):
    """The host is sending a renewal when the client, the daemon or the host ends: no session is lost (R39)."""

    def setUp(self):
        super().setUp()
        self.http = HTTP()
        self.host_daemon, self.client = self.signed_in(self.daemon(host={SEND: self.http}), transport="host")
        self.sandbox.control("resetCounts")
        self.before = self.host_daemon.call("token.access", client=self.client)["accessToken"]
        del self.host_daemon.host[SEND]
        self.asked = self.host_daemon.start("token.refresh", {"client": self.client})
        self.question = self.host_daemon.question()

    def open_again(self):
        daemon = self.daemon()
        return daemon, self.open(daemon)

    def assertNothingLost(self):
        daemon, client = self.open_again()
        files = daemon.call("store.diagnose", store=self.store)["files"]
        [account] = [file["account"] for file in files if file["kind"] == "account"]
        self.assertIn("renewalBegan", json.dumps(account))
        # All processes share the pause after the last failure.
        wait_until(lambda: daemon.call("token.refresh", client=client)["outcome"] == "valid", "a renewal")

    def test_the_end_of_the_input_ends_the_wait(self):
        self.host_daemon.end_input()
        told = self.asked.result()
        self.assertEqual((told["outcome"], told["accessToken"], told["error"]["status"]),
                         ("stale", self.before, "network"))
        self.assertEqual(self.host_daemon.wait(), 0)
        self.assertNothingLost()

    def test_a_closed_output_ends_the_wait(self):
        self.host_daemon.end_input()
        self.host_daemon.wait()
        host = subprocess.Popen([ENROLLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with host:
            def ask(method, params):
                host.stdin.write(json.dumps(
                    {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
                host.stdin.flush()
                return host.stdout.readline()

            opened = ask("client.open", {"configuration": self.sandbox.configuration, "store": self.store,
                                         "transport": "host", "keys": {"provider": "file"}})
            self.assertIn(b'"c1"', opened)
            # After the pause that follows the last failure, the daemon sends a request to its host.
            wait_until(lambda: b"host.http.send" in ask("token.refresh", {"client": "c1"}), "a request")
            host.stdout.close()
            self.assertEqual(host.wait(TIMEOUT), 0)
        self.assertNothingLost()

    def test_messages_that_cannot_be_told_apart_end_the_wait(self):
        daemon = self.daemon(headers=True)
        client = daemon.call("client.open", configuration=NOBODY, store="memory", transport="host")["client"]
        begun = daemon.start("registration.begin", {"client": client})
        daemon.question()
        daemon.write(b"Content-Length: x\r\n\r\n")
        with self.assertRaises(Refused) as caught:
            begun.result()
        self.assertEqual((caught.exception.status, daemon.wait()), ("network", 1))

    def test_closing_a_client_ends_what_waits_for_the_host(self):
        daemon = self.daemon()
        client = daemon.call("client.open", configuration=NOBODY, store="memory", transport="host")["client"]
        begun = daemon.start("registration.begin", {"client": client})
        question = daemon.question()
        daemon.call("client.close", client=client)
        with self.assertRaises(Refused) as caught:
            begun.result()
        self.assertEqual(caught.exception.status, "cancelled")
        self.assertEqual(daemon.given_up.get(timeout=TIMEOUT), question["id"])

    def test_a_closed_client_still_gets_the_answer_to_a_renewal(self):
        self.host_daemon.call("client.close", client=self.client)
        with self.assertRaises(Refused) as caught:
            self.asked.result()
        self.assertEqual(caught.exception.status, "cancelled")
        answer = HTTP().send(self.question["params"])
        self.host_daemon.answer(self.question, answer)
        self.assertEqual(self.host_daemon.close(), 0)
        daemon, client = self.open_again()
        self.assertEqual(daemon.call("token.access", client=client)["accessToken"],
                         json.loads(answer["body"])["access_token"])
        self.assertEqual(self.sandbox.refreshes, 1)

    def test_after_a_signal_the_host_can_still_answer_and_what_it_says_is_stored(self):
        self.host_daemon.process.terminate()
        wait_until(lambda: "signal" in self.host_daemon.log, "the signal was seen")
        ignored = self.host_daemon.start("pkce.generate")
        answer = HTTP().send(self.question["params"])
        self.host_daemon.answer(self.question, answer)
        self.assertEqual(self.host_daemon.wait(), 0)
        self.assertFalse("result" in (ignored._answer.get() or {}))
        daemon, client = self.open_again()
        self.assertEqual(daemon.call("token.access", client=client)["accessToken"],
                         json.loads(answer["body"])["access_token"])
        self.assertEqual(self.sandbox.refreshes, 1)

    def test_after_a_signal_a_host_that_goes_ends_the_wait(self):
        self.host_daemon.process.terminate()
        wait_until(lambda: "signal" in self.host_daemon.log, "the signal was seen")
        self.host_daemon.end_input()
        self.assertEqual(self.host_daemon.wait(), 0)
        self.assertNothingLost()


class Answers(unittest.TestCase):
    """The host's answers are checked like the answers of a server."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.__exit__)

    def begin(self, **more):
        client = self.daemon.call("client.open", configuration=NOBODY, store="memory", transport="host")["client"]
        begun = self.daemon.start("registration.begin", {"client": client, **more})
        question = self.daemon.question()
        self.assertEqual((question["method"], question["params"]["client"]), (SEND, client))
        return begun, question

    def refusal(self, begun):
        with self.assertRaises(Refused) as caught:
            begun.result()
        return caught.exception

    def document(self, limit):
        """A valid document of `limit` bytes."""
        document = json.dumps({
            "issuer": NOBODY["issuer"], "authorization_endpoint": "https://id.example/a",
            "token_endpoint": "https://id.example/t", "jwks_uri": "https://id.example/k", "x": ""})
        return document.replace('"x": ""', '"x": "' + "y" * (limit - len(document)) + '"')

    def test_an_error_is_taken_by_its_status_or_by_its_code(self):
        known = manifest()["requestByName"][SEND]["errors"]
        self.assertEqual(known, ["network", "tls", "timeout", "responseInvalid", "cancelled"])
        for status in known:
            for code, word in ((-32603, status), (manifest()["errorByStatus"][status]["rpcCode"], None)):
                begun, question = self.begin()
                self.daemon.decline(question, code, word)
                self.assertEqual(self.refusal(begun).status, status)

    def test_any_other_error_is_one_of_the_network_and_its_words_are_not_repeated(self):
        for error in ({"code": -32603, "message": "leaky"}, {"code": 1, "message": "leaky", "data": "leaky"},
                      {"code": 0, "message": "", "data": {"status": "accessDenied"}},
                      {"code": -32060, "message": "", "data": {"status": 5}}, {"code": 7}):
            begun, question = self.begin()
            self.daemon.post({"jsonrpc": "2.0", "id": question["id"], "error": error})
            refused = self.refusal(begun)
            self.assertEqual(refused.status, "network")
            self.assertIn(f"the error {error['code']}", refused.message)
        self.assertNotIn("leaky", self.daemon.log)

    def test_a_host_that_does_not_know_the_request_is_told_so(self):
        begun, question = self.begin()
        self.daemon.decline(question, -32601)
        refused = self.refusal(begun)
        self.assertEqual((refused.status, "does not serve host.http.send" in refused.message), ("unsupported", True))

    def test_an_answer_that_is_none_is_refused_by_what_is_wrong_with_it(self):
        for result, word in (
                (None, "result: expected an object"), ([], "result: expected an object"), ("x", "result: expected an object"),
                ({}, "result.status: it is missing"), ({"status": "200"}, "result.status"),
                ({"status": 99}, "result.status"), ({"status": 600}, "result.status"), ({"status": 200.5}, "status"),
                ({"status": 200, "headers": []}, "result.headers"),
                ({"status": 200, "headers": {"A": 1}}, "result.headers.A"),
                ({"status": 200, "headers": {f"h{n}": "" for n in range(257)}}, "at most 256"),
                ({"status": 200, "headers": {"A": "b" * 16_385}}, "16384"),
                ({"status": 200, "headers": {"A" * 16_385: "b"}}, "16384"),
                ({"status": 200, "body": 5}, "result.body"), ({"status": 200, "body": None}, "result.body"),
                ({"status": 200, "body": "{}", "bodyBase64": "e30="}, "one of body and bodyBase64"),
                ({"status": 200, "bodyBase64": "e30"}, "Base64"), ({"status": 200, "bodyBase64": "e30=="}, "Base64"),
                ({"status": 200, "bodyBase64": "-_-_"}, "Base64"), ({"status": 200, "bodyBase64": "e 3="}, "Base64"),
                ({"status": 200, "url": "x"}, "result.url: unknown")):
            with self.subTest(str(result)[:60]):
                begun, question = self.begin()
                self.daemon.answer(question, result)
                refused = self.refusal(begun)
                self.assertEqual(refused.status, "responseInvalid")
                self.assertIn(word, refused.message)

    def test_a_message_that_is_no_answer_is_refused_and_not_answered(self):
        for message, word in (({"result": {}}, "jsonrpc"), ({"jsonrpc": "1.0", "result": {}}, "jsonrpc"),
                              ({"jsonrpc": "2.0", "result": {}, "error": {"code": 1}}, "got both"),
                              ({"jsonrpc": "2.0", "error": "no"}, "error.code"),
                              ({"jsonrpc": "2.0", "error": {"code": "1"}}, "error.code")):
            begun, question = self.begin()
            self.daemon.post({**message, "id": question["id"]})
            refused = self.refusal(begun)
            self.assertEqual(refused.status, "responseInvalid")
            self.assertIn(word, refused.message)
        self.daemon.call("system.describe")
        self.assertTrue(self.daemon.unasked.empty())

    def test_members_that_do_not_apply_may_be_null(self):
        begun, question = self.begin()
        self.daemon.post({"jsonrpc": "2.0", "id": question["id"], "error": None,
                          "result": {"status": 200, "body": self.document(600)}})
        self.assertIn("transaction", begun.result())
        begun, question = self.begin()
        self.daemon.post({"jsonrpc": "2.0", "id": question["id"], "result": None, "error": {"code": -32031}})
        self.assertEqual(self.refusal(begun).status, "tls")

    def test_a_body_is_as_long_as_was_said_and_no_longer_r20(self):
        for form in ("body", "bodyBase64"):
            for more in (0, 1):
                begun, question = self.begin()
                body = self.document(question["params"]["responseLimit"] + more)
                self.daemon.answer(question, {
                    "status": 200, form: body if form == "body" else base64.b64encode(body.encode()).decode()})
                if more:
                    self.assertEqual(self.refusal(begun).status, "responseInvalid")
                else:
                    self.assertIn("transaction", begun.result())

    def test_an_answer_counts_once_and_only_for_its_own_request(self):
        begun, question = self.begin()
        number = int(question["id"][1:])
        for wrong in (f"h{number + 1}", f"h0{number}", f"H{number}", f"h{number} ", f"h+{number}", number, "h", "", None,
                      f"h{2**64 + number}", 1.5, [question["id"]]):
            self.daemon.post({"jsonrpc": "2.0", "id": wrong, "result": {"status": 404}})
        self.daemon.post({"jsonrpc": "2.0", "result": {"status": 404}})
        self.daemon.call("system.describe")
        self.assertFalse(begun.is_answered)
        self.daemon.answer(question, {"status": 200, "body": self.document(600)})
        self.assertIn("transaction", begun.result())
        seen = self.daemon.log.count(UNWANTED)
        self.daemon.answer(question, {"status": 404})
        self.daemon.call("system.describe")
        self.assertEqual(self.daemon.log.count(UNWANTED), seen + 1)
        self.assertTrue(self.daemon.unasked.empty())

    def test_answers_may_come_in_a_batch_with_requests(self):
        begun, question = self.begin()
        self.daemon.post([{"jsonrpc": "2.0", "id": question["id"], "result": {"status": 200, "body": self.document(600)}},
                          {"jsonrpc": "2.0", "id": question["id"], "method": "pkce.generate"}])
        self.assertIn("transaction", begun.result())
        self.assertEqual([one["id"] for one in self.daemon.raw()], [question["id"]])

    def test_the_ids_of_both_sides_are_apart(self):
        begun, question = self.begin()
        self.daemon.start("pkce.generate", request_id=question["id"]).result()
        self.assertIsNone(self.daemon.call("$/cancelRequest", id=question["id"]))
        self.daemon.call("system.describe")
        self.assertFalse(begun.is_answered)
        self.daemon.decline(question, status="tls")
        self.assertEqual(self.refusal(begun).status, "tls")

    def test_a_call_whose_deadline_passes_tells_the_host_and_its_late_answer_is_dropped(self):
        begun, question = self.begin(timeout=1)
        self.assertEqual(self.refusal(begun).status, "deadlineExceeded")
        self.assertEqual(self.daemon.given_up.get(timeout=TIMEOUT), question["id"])
        seen = self.daemon.log.count(UNWANTED)
        self.daemon.answer(question, {"status": 200, "body": self.document(600)})
        self.daemon.call("system.describe")
        self.assertEqual(self.daemon.log.count(UNWANTED), seen + 1)

    def test_a_call_that_is_cancelled_tells_the_host(self):
        begun, question = self.begin()
        self.daemon.cancel(begun)
        self.assertEqual(self.refusal(begun).status, "cancelled")
        self.assertEqual(self.daemon.given_up.get(timeout=TIMEOUT), question["id"])

    def test_answers_that_break_the_framing_of_json_cost_nobody_else_anything(self):
        begun, question = self.begin()
        other, second = self.begin()
        identity = json.dumps(question["id"]).encode()
        for text in (b'{"jsonrpc":"2.0","id":%s,"result":{"status":200,"status":200}}', b'{"jsonrpc":"2.0","id":%s,',
                     b'{"jsonrpc":"2.0","id":%s,"result":{"status":200,"body":"\\u0000"}}'):
            self.daemon.write(text % identity + b"\n")
            self.assertEqual(self.daemon.raw()["error"]["code"], -32700)
        self.daemon.write(b'{"jsonrpc":"2.0","id":%s,"result":{"body":"' % identity + b"x" * (1 << 20) + b'"}}\n')
        self.assertEqual(self.daemon.raw()["error"]["code"], -32600)
        self.daemon.answer(second, {"status": 200, "body": self.document(600)})
        self.assertIn("transaction", other.result())
        self.daemon.cancel(begun)
        self.assertEqual(self.refusal(begun).status, "cancelled")


class Openings(unittest.TestCase):
    def test_what_contradicts_itself_opens_nothing(self):
        with Daemon() as daemon:
            for more, field in (({"transport": "hosts"}, "transport"), ({"transport": True}, "transport"),
                                ({"transport": "host", "configuration": {**NOBODY, "caFile": "/x.pem"}}, "transport"),
                                ({"keys": {"provider": "host"}}, "keys"),
                                ({"store": "/nowhere", "keys": {"provider": "host", "file": "/k"}}, "keys"),
                                ({"store": "/nowhere", "keys": {"provider": "host", "passphrase": "p"}}, "keys")):
                with self.subTest(more), self.assertRaises(Refused) as caught:
                    daemon.call("client.open", **{"configuration": NOBODY, "store": "memory", **more})
                self.assertEqual((caught.exception.code, caught.exception.data["field"]), (-32602, field))


class Many(SandboxCase):
    def test_a_thousand_requests_are_under_way_and_each_gets_its_own_answer(self):
        daemon, _ = self.signed_in(keys={"provider": "file"})
        daemon.close()
        folder = pathlib.Path(tempfile.mkdtemp(prefix="enrolld-many-"))
        self.addCleanup(shutil.rmtree, folder)
        for number in range(1000):
            shutil.copytree(self.store, folder / str(number))
        daemon = self.daemon(host={}, log="warning")
        direct = self.sandbox.configuration_with_token_endpoint(self.sandbox.metadata()["token_endpoint"])
        clients = [daemon.call("client.open", configuration=direct, store=str(folder / str(number)), transport="host",
                               keys={"provider": "file"})["client"] for number in range(1000)]
        asked = {client: daemon.start("token.refresh", {"client": client, "timeout": 60}) for client in clients}
        questions = [daemon.question() for _ in clients]
        self.assertEqual(len({question["id"] for question in questions}), 1000)
        self.assertIn("codeVerifier", daemon.call("pkce.generate"))
        self.assertFalse(any(one.is_answered for one in asked.values()))
        for question in reversed(questions):
            self.assertTrue(question["params"]["url"].endswith("/token"))
            daemon.answer(question, {"status": 200, "headers": {"Content-Type": "application/json"}, "body": json.dumps({
                "access_token": "for-" + question["params"]["client"], "token_type": "Bearer", "expires_in": 3600,
                "refresh_token": "next"})})
        for client, one in asked.items():
            self.assertEqual(one.result()["accessToken"], "for-" + client)


if __name__ == "__main__":
    unittest.main()
