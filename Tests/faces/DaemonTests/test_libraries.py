"""JSON-RPC libraries that were not written for the daemon drive it, over both framings: python-lsp-jsonrpc, which
language servers use (Content-Length headers, a thread), and aiorpcX (a message per line, asyncio)."""

import asyncio
import concurrent.futures
import logging
import queue
import socket
import subprocess
import threading
import unittest

from aiorpcx import JSONRPC, Notification, RPCError, RPCSession, connect_rs
from pylsp_jsonrpc.endpoint import Endpoint
from pylsp_jsonrpc.exceptions import JsonRpcException
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter

from cases import SandboxCase
from daemon import ENROLLD, TIMEOUT, Declined, manifest
from host import HTTP, Secrets

EVENTS = ("registration.changed", "registration.settled", "token.renewed")
OPENING = {"transport": "host", "keys": {"provider": "host"}}


class LanguageServers(SandboxCase):
    """python-lsp-jsonrpc on the daemon's own pipes."""

    def setUp(self):
        super().setUp()
        self.http, self.secrets, self.events = HTTP(), Secrets(), queue.Queue()
        self.process = subprocess.Popen([ENROLLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        writer = JsonRpcStreamWriter(self.process.stdin)
        functions = {"host.http.send": self.http, **self.secrets.functions()}
        dispatcher = {name: self.served(function) for name, function in functions.items()}
        for event in EVENTS:
            dispatcher[event] = lambda params, event=event: self.events.put((event, params))
        self.endpoint = Endpoint(dispatcher, writer.write)
        self.reader = threading.Thread(
            target=JsonRpcStreamReader(self.process.stdout).listen, args=(self.endpoint.consume,), daemon=True)
        self.reader.start()
        self.addCleanup(self.end, writer)

    def end(self, writer):
        writer.close()
        self.assertEqual(self.process.wait(TIMEOUT), 0)
        self.reader.join(TIMEOUT)
        self.process.stdout.close()
        self.endpoint.shutdown()

    @staticmethod
    def served(function):
        """The library's convention for work that takes time: return a function, which the library calls on one of its
        threads."""
        def begin(params):
            def run():
                try:
                    return function(params)
                except Declined as declined:
                    raise JsonRpcException(**declined.error) from None
            return run
        return begin

    def call(self, method, **params):
        return self.endpoint.request(method, params).result(TIMEOUT)

    def next_event(self, wanted):
        while True:
            event, params = self.events.get(timeout=TIMEOUT)
            if event == wanted:
                return params

    def test_it_signs_in_renews_and_revokes_with_the_librarys_requests_notifications_and_answers(self):
        described = self.call("system.describe")
        self.assertEqual(described["commands"], [command["name"] for command in manifest()["commands"]])
        client = self.call("client.open", configuration=self.sandbox.configuration, store=self.store, **OPENING)["client"]
        self.call("events.subscribe", client=client)
        begun = self.call("registration.begin", client=client)
        state = self.call("registration.resume", client=client, url=self.sandbox.play(begun["action"]["url"]))
        self.assertEqual(state["state"]["state"], "awaitingConfirmation")
        self.call("registration.confirm", client=client)
        self.assertEqual(self.next_event("registration.settled")["client"], client)
        futures = [self.endpoint.request("token.refresh", {"client": client}) for _ in range(64)]
        done, late = concurrent.futures.wait(futures, TIMEOUT)
        self.assertEqual((late, {one.result()["outcome"] for one in done}), (set(), {"valid"}))
        self.assertEqual(self.next_event("token.renewed")["client"], client)
        self.call("token.revoke", client=client)
        self.assertEqual(self.call("token.access", client=client)["outcome"], "reauthenticate")
        self.assertTrue(self.secrets.kept)
        self.assertIn("/revoke", self.http.paths())

    def test_errors_reach_the_library_with_code_and_data(self):
        for method, params, code, status in (
                ("no.such", {}, -32601, "notFound"), ("token.access", {"client": "c9"}, -32002, "handle"),
                ("token.access", {"client": "c9", "frobnicate": 1}, -32602, "invalidArgument")):
            with self.assertRaises(JsonRpcException) as caught:
                self.call(method, **params)
            self.assertEqual((caught.exception.code, caught.exception.data["status"]), (code, status))

    def test_the_librarys_own_refusals_are_understood(self):
        logging.getLogger("pylsp_jsonrpc").setLevel(logging.CRITICAL)
        self.secrets.is_locked = True
        with self.assertRaises(JsonRpcException) as caught:
            self.call("client.open", configuration=self.sandbox.configuration, store=self.store, **OPENING)
            self.call("accounts.list", store=self.store, keys={"provider": "host"})
        self.assertEqual(caught.exception.data["status"], "storeLocked")
        client = self.call("client.open", configuration=self.sandbox.configuration, store="memory", transport="host")
        for function, status in ((lambda asked: {}["no such"], "network"), (None, "unsupported")):
            if function:
                self.endpoint._dispatcher["host.http.send"] = self.served(function)
            else:
                del self.endpoint._dispatcher["host.http.send"]
            with self.assertRaises(JsonRpcException) as caught:
                self.call("registration.begin", **client)
            self.assertEqual(caught.exception.data["status"], status)


class Lines(SandboxCase):
    """aiorpcX on a socket that is the daemon's standard input and output."""

    def setUp(self):
        super().setUp()
        self.http, self.secrets = HTTP(), Secrets()
        self.functions = {"host.http.send": self.http, **self.secrets.functions()}

    def conversation(self, play):
        """Runs `play` with a session of the library."""
        case = self

        class Session(RPCSession):
            # The library sets no limits on the daemon.
            cost_hard_limit = cost_soft_limit = 0

            def __init__(self, transport, **more):
                super().__init__(transport, **more)
                self.events = asyncio.Queue()

            async def handle_request(self, request):
                if isinstance(request, Notification):
                    return self.events.put_nowait((request.method, request.args))
                function = case.functions.get(request.method)
                if function is None:
                    raise RPCError(JSONRPC.METHOD_NOT_FOUND, "no such method")
                try:
                    return await asyncio.to_thread(function, request.args)
                except Declined as declined:
                    raise RPCError(declined.error["code"], "no") from None

        async def run():
            ours, theirs = socket.socketpair()
            with theirs:
                process = subprocess.Popen([ENROLLD], stdin=theirs, stdout=theirs)
            async with connect_rs(sock=ours, session_factory=Session) as session:
                await play(session)
            return process.wait(TIMEOUT)

        self.assertEqual(asyncio.run(run()), 0)

    def test_it_signs_in_renews_and_revokes_with_the_librarys_requests_notifications_and_answers(self):
        async def play(session):
            call = session.send_request
            client = (await call("client.open", {
                "configuration": self.sandbox.configuration, "store": self.store, **OPENING}))["client"]
            await call("events.subscribe", {"client": client})
            begun = await call("registration.begin", {"client": client})
            redirect = await asyncio.to_thread(self.sandbox.play, begun["action"]["url"])
            state = await call("registration.resume", {"client": client, "url": redirect})
            self.assertEqual(state["state"]["state"], "awaitingConfirmation")
            await call("registration.confirm", {"client": client})
            outcomes = await asyncio.gather(*(call("token.refresh", {"client": client}) for _ in range(64)))
            self.assertEqual({one["outcome"] for one in outcomes}, {"valid"})
            seen = set()
            while not seen.issuperset(EVENTS):
                event, params = await asyncio.wait_for(session.events.get(), TIMEOUT)
                self.assertEqual(params["client"], client)
                seen.add(event)
            await call("token.revoke", {"client": client})
            self.assertEqual((await call("token.access", {"client": client}))["outcome"], "reauthenticate")
            self.assertIn("/revoke", self.http.paths())

        self.conversation(play)

    def test_a_batch_of_the_librarys_is_answered_in_its_order(self):
        async def play(session):
            async with session.send_batch() as batch:
                batch.add_request("expiry.check", {"expiresAt": 100, "now": 10})
                batch.add_notification("expiry.check", {"expiresAt": 100, "now": 10})
                batch.add_request("no.such")
                batch.add_request("pkce.generate", ())
            first, second, third = batch.results
            self.assertEqual(first["secondsLeft"], 90)
            self.assertEqual((type(second), second.code), (RPCError, JSONRPC.METHOD_NOT_FOUND))
            self.assertIn("codeVerifier", third)

        self.conversation(play)

    def test_the_librarys_own_refusals_are_understood(self):
        async def play(session):
            client = await session.send_request("client.open", {
                "configuration": self.sandbox.configuration, "store": "memory", "transport": "host"})

            def broken(_):
                raise Declined(-32031)

            for function, code in ((broken, -32031), (None, -32009)):
                if function:
                    self.functions["host.http.send"] = function
                else:
                    del self.functions["host.http.send"]
                with self.assertRaises(RPCError) as caught:
                    await session.send_request("registration.begin", client)
                self.assertEqual(caught.exception.code, code)

        self.conversation(play)


if __name__ == "__main__":
    unittest.main()
