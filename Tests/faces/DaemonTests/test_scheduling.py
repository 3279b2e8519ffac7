"""Tests which calls wait for other calls, and that a call that hangs delays no other answer (json-rpc.md,
Time and load)."""

import pathlib
import unittest

from cases import SandboxCase
from daemon import TIMEOUT, Daemon, Refused
from processes import wait_until
from provider import Gate, Silence


def memory(daemon):
    """Kilobytes of resident memory."""
    status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


class Renewals(SandboxCase):
    """Tests with a gate in front of the token endpoint, which delays its answers."""

    def setUp(self):
        super().setUp()
        self.gate = Gate(self.sandbox.metadata()["token_endpoint"])
        self.addCleanup(self.gate.close)
        self.gated = self.sandbox.configuration_with_token_endpoint(self.gate.url)

    def due(self, daemon=None, **more):
        """A signed-in client whose next token.access renews; the gate is closed."""
        daemon, client = self.signed_in(daemon, {**self.gated, **more.pop("configuration", {})}, **more)
        # The gate is opened at the end of the test, because the daemon ends only after its renewal.
        self.addCleanup(self.gate.open_it)
        self.gate.close_it()
        self.sandbox.control("resetCounts")
        return daemon, client

    def wait_until_all_wait(self, daemon, client):
        """Returns when all earlier calls of the client wait for the renewal: calls of one client start in their
        order, so they have started when the last call is answered."""
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        self.assertEqual(daemon.call("token.refresh", client=client, timeout=0)["outcome"], "stale")

    def test_64_who_ask_for_a_renewal_share_one_request(self):
        daemon, client = self.due()
        asked = [daemon.start("token.refresh", {"client": client}) for _ in range(64)]
        self.wait_until_all_wait(daemon, client)
        self.assertFalse(any(one.is_answered for one in asked))
        self.gate.open_it()
        outcomes = [one.result() for one in asked]
        self.assertEqual({one["outcome"] for one in outcomes}, {"valid"})
        self.assertEqual(len({one["accessToken"] for one in outcomes}), 1)
        self.assertEqual(self.sandbox.refreshes, 1)

    def test_those_who_wait_for_a_renewal_hold_no_thread(self):
        daemon, client = self.due()
        asked = [daemon.start("token.refresh", {"client": client}) for _ in range(500)]
        self.wait_until_all_wait(daemon, client)
        threads = len(list(pathlib.Path(f"/proc/{daemon.process.pid}/task").iterdir()))
        self.assertLess(threads, 16)
        self.gate.open_it()
        self.assertEqual({one.result()["outcome"] for one in asked}, {"valid"})

    def test_10_000_who_wait_for_a_renewal_are_all_answered_and_take_little_memory(self):
        daemon, client = self.due()
        before = memory(daemon)
        asked = [daemon.start("token.refresh", {"client": client}) for _ in range(10_000)]
        self.wait_until_all_wait(daemon, client)
        self.assertLess(memory(daemon) - before, 64 << 10)
        self.assertFalse(any(one.is_answered for one in asked))
        self.gate.open_it()
        self.assertEqual(len({one.result()["accessToken"] for one in asked}), 1)
        self.assertEqual(self.sandbox.refreshes, 1)

    def test_another_account_is_served_while_a_renewal_hangs(self):
        daemon, client = self.due()
        fresh = self.open(daemon, account="other")
        self.sign_in(daemon, fresh)
        hanging = [daemon.start("token.refresh", {"client": client}) for _ in range(64)]
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        for _ in range(200):
            self.assertEqual(daemon.call("token.access", client=fresh)["outcome"], "valid")
        self.assertEqual(daemon.call("identity.userinfo", client=fresh)["claims"]["email"], "alice@example.com")
        self.assertEqual(daemon.call("token.refresh", client=fresh)["outcome"], "valid")
        self.assertFalse(any(one.is_answered for one in hanging))

    def test_a_deadline_ends_the_wait_and_not_the_renewal(self):
        daemon, client = self.due()
        before = daemon.call("token.access", client=client)["accessToken"]
        late = daemon.call("token.refresh", client=client, timeout=0)
        self.assertEqual((late["outcome"], late["accessToken"]), ("stale", before))
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        daemon.call("events.subscribe", client=client)
        self.gate.open_it()
        daemon.notification("token.renewed")
        self.assertNotEqual(daemon.call("token.access", client=client)["accessToken"], before)
        self.assertEqual(self.sandbox.refreshes, 1)

    def test_a_cancelled_request_is_answered_at_once_and_its_renewal_goes_on(self):
        daemon, client = self.due()
        asked = [daemon.start("token.refresh", {"client": client}) for _ in range(8)]
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        daemon.cancel(asked[3])
        with self.assertRaises(Refused) as caught:
            asked[3].result()
        self.assertEqual((caught.exception.code, caught.exception.status), (-32006, "cancelled"))
        self.gate.open_it()
        for one in asked[:3] + asked[4:]:
            self.assertEqual(one.result()["outcome"], "valid")

    def test_a_request_may_be_cancelled_by_an_id_of_text_and_is_unharmed_by_the_number(self):
        daemon, client = self.due()
        text = daemon.start("token.refresh", {"client": client}, request_id="70000")
        number = daemon.start("token.refresh", {"client": client}, request_id=70000)
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        self.assertIsNone(daemon.call("$/cancelRequest", id="70000"))
        with self.assertRaises(Refused):
            text.result()
        self.gate.open_it()
        self.assertEqual(number.result()["outcome"], "valid")

    def test_end_of_input_while_a_renewal_is_under_way_stores_it_first_r39(self):
        daemon, client = self.due()
        waiting = daemon.start("token.refresh", {"client": client})
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        daemon.end_input()
        self.assertIsNone(daemon.process.poll())
        self.gate.open_it()
        renewed = waiting.result()["accessToken"]
        self.assertEqual(daemon.wait(), 0)
        self.assertStored(renewed)

    def test_end_of_input_when_nobody_waits_for_the_renewal_any_more_stores_it_first_r39(self):
        daemon, client = self.due()
        old = daemon.call("token.access", client=client)["accessToken"]
        self.assertEqual(daemon.call("token.refresh", client=client, timeout=0)["outcome"], "stale")
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        daemon.end_input()
        self.gate.open_it()
        self.assertEqual(daemon.wait(), 0)
        self.assertRenewed(old)

    def test_a_client_that_was_closed_meanwhile_keeps_its_renewal_r39(self):
        daemon, client = self.due()
        old = daemon.call("token.access", client=client)["accessToken"]
        daemon.call("token.refresh", client=client, timeout=0)
        self.assertTrue(self.gate.reached.wait(TIMEOUT))
        daemon.call("client.close", client=client)
        daemon.end_input()
        self.gate.open_it()
        self.assertEqual(daemon.wait(), 0)
        self.assertRenewed(old)

    def test_a_signal_and_a_host_that_goes_away_store_the_renewal_first_r39(self):
        for end in ("signal", "stdout"):
            with self.subTest(end):
                self.gate.open_it()
                self.store += end
                daemon, client = self.due()
                old = daemon.call("token.access", client=client)["accessToken"]
                daemon.start("token.refresh", {"client": client})
                self.assertTrue(self.gate.reached.wait(TIMEOUT))
                if end == "signal":
                    daemon.process.terminate()
                    wait_until(lambda: "signal" in daemon.log, "the signal was seen")
                else:
                    daemon.process.terminate()
                    daemon.process.stdin.close()
                self.assertIsNone(daemon.process.poll())
                self.gate.open_it()
                self.assertEqual(daemon.wait(), 0)
                self.assertRenewed(old)

    def assertRenewed(self, old):
        self.assertEqual(self.sandbox.refreshes, 1)
        daemon = self.daemon()
        self.gate.open_it()
        now = daemon.call("token.access", client=self.open(daemon, self.gated))
        self.assertEqual(now["outcome"], "valid")
        self.assertNotEqual(now["accessToken"], old)
        self.assertEqual(daemon.call("token.refresh", client=self.open(daemon, self.gated))["outcome"], "valid")

    def assertStored(self, token):
        daemon = self.daemon()
        client = self.open(daemon, self.gated)
        self.assertEqual(daemon.call("token.access", client=client)["accessToken"], token)
        self.assertEqual(daemon.call("token.refresh", client=client)["outcome"], "valid")


class SilentProvider(unittest.TestCase):
    """Tests with a provider that accepts connections and never answers."""

    def setUp(self):
        self.silence = Silence()
        self.addCleanup(self.silence.close)
        self.daemon = Daemon()
        self.addCleanup(self.daemon.__exit__)

    def open(self):
        return self.daemon.call("client.open", configuration=self.silence.configuration(), store="memory")["client"]

    def begin(self, client, **more):
        return self.daemon.start("registration.begin", {"client": client, **more})

    def assertBusy(self, pending):
        with self.assertRaises(Refused) as caught:
            pending.result()
        self.assertEqual((caught.exception.code, caught.exception.status, caught.exception.data["retryable"]),
                         (-32008, "busy", True))

    def give_up(self, *pending):
        for one in pending:
            self.daemon.cancel(one)
        for one in pending:
            with self.assertRaises(Refused) as caught:
                one.result()
            self.assertEqual(caught.exception.status, "cancelled")

    def test_a_call_ends_at_its_deadline(self):
        with self.assertRaises(Refused) as caught:
            self.begin(self.open(), timeout=1).result()
        self.assertEqual(caught.exception.status, "deadlineExceeded")

    def test_what_is_too_much_for_one_client_is_busy_and_others_are_served(self):
        client, other = self.open(), self.open()
        hanging = [self.begin(client) for _ in range(16)]
        self.assertTrue(self.silence.reached.wait(TIMEOUT))
        self.assertBusy(self.begin(client))
        self.assertEqual(self.daemon.call("token.access", client=client)["outcome"], "reauthenticate")
        self.assertEqual(self.daemon.call("registration.state", client=other)["state"]["state"], "unregistered")
        self.give_up(*hanging)
        self.assertEqual(self.daemon.call("registration.state", client=client)["state"]["state"], "unregistered")

    def test_what_is_too_much_for_the_daemon_is_busy_and_memory_is_served(self):
        clients = [self.open() for _ in range(5)]
        hanging = [self.begin(client) for client in clients[:4] for _ in range(16)]
        self.assertTrue(self.silence.reached.wait(TIMEOUT))
        self.assertBusy(self.begin(clients[4]))
        self.assertEqual(self.daemon.call("token.access", client=clients[4])["outcome"], "reauthenticate")
        self.daemon.call("pkce.generate")
        self.give_up(*hanging)
        self.assertEqual(self.daemon.call("registration.state", client=clients[4])["state"]["state"], "unregistered")

    def test_a_request_of_a_batch_can_be_cancelled_and_the_batch_is_answered(self):
        client = self.open()
        self.daemon.post([{"jsonrpc": "2.0", "id": "slow", "method": "registration.begin", "params": {"client": client}},
                          {"jsonrpc": "2.0", "id": "quick", "method": "system.describe"}])
        self.assertTrue(self.silence.reached.wait(TIMEOUT))
        self.daemon.notify("$/cancelRequest", id="slow")
        answer = self.daemon.raw()
        self.assertEqual([one["id"] for one in answer], ["slow", "quick"])
        self.assertEqual(answer[0]["error"]["data"]["status"], "cancelled")

    def test_end_of_input_gives_up_what_waits_for_a_user(self):
        client = self.daemon.call("client.open", configuration=self.silence.configuration(), store="memory",
                                  waitForPlatform=True)["client"]
        waiting = self.daemon.start("registration.state", {"client": client, "wait": True, "timeout": 86_400})
        self.daemon.call("system.describe")
        self.daemon.end_input()
        with self.assertRaises(Refused) as caught:
            waiting.result()
        self.assertEqual(caught.exception.status, "cancelled")
        self.assertEqual(self.daemon.wait(), 0)

    def test_a_signal_gives_up_what_waits_for_a_provider(self):
        hanging = self.begin(self.open())
        self.assertTrue(self.silence.reached.wait(TIMEOUT))
        self.daemon.process.terminate()
        with self.assertRaises(Refused) as caught:
            hanging.result()
        self.assertEqual(caught.exception.status, "cancelled")
        self.assertEqual(self.daemon.wait(), 0)


if __name__ == "__main__":
    unittest.main()
