"""Tests that standard error gets the errors that no answer reports, and no other errors (json-rpc.md, The
end)."""

import unittest

from cases import SandboxCase
from daemon import Refused
from processes import wait_until
from provider import Gate


class Log(SandboxCase):
    def break_provider(self, endpoint="token"):
        self.sandbox.control("fault", fault="serverError", endpoint=endpoint, times=1000)

    def test_an_error_that_is_in_an_answer_is_not_repeated(self):
        daemon, client = self.signed_in(self.daemon(log="warning"))
        self.break_provider()
        answer = daemon.call("token.refresh", client=client)
        self.assertEqual((answer["outcome"], answer["error"]["status"]), ("stale", "server"))
        begun = daemon.call("registration.begin", client=client)
        redirect = self.sandbox.play(begun["action"]["url"])
        with self.assertRaises(Refused) as refused:
            daemon.call("registration.resume", client=client, url=redirect)
        self.assertEqual(refused.exception.status, "server")
        self.assertEqual(daemon.close(), 0)
        self.assertEqual(daemon.log, "")

    def test_with_the_level_info_it_is_in_the_log_as_a_step(self):
        daemon, client = self.signed_in(self.daemon(log="info"))
        self.break_provider()
        daemon.call("token.refresh", client=client)
        self.assertEqual(daemon.close(), 0)
        self.assertIn(f"enrolld: info: {client}: renewal failed: server: ", daemon.log)

    def test_a_failure_that_outlives_its_answer_is_told(self):
        gate = Gate(self.sandbox.metadata()["token_endpoint"])
        self.addCleanup(gate.close)
        daemon, client = self.signed_in(self.daemon(log="warning"), self.sandbox.configuration_with_token_endpoint(gate.url))
        self.addCleanup(gate.open_it)
        gate.close_it()
        self.break_provider()
        self.assertEqual(daemon.call("token.refresh", client=client, timeout=0)["outcome"], "stale")
        self.assertEqual(daemon.log, "")
        gate.open_it()
        wait_until(lambda: f"enrolld: warning: {client}: renewal failed: server: " in daemon.log, "the line is there")

    def test_a_notification_that_fails_is_told(self):
        daemon = self.daemon(log="warning")
        daemon.notify("token.access", client="c9")
        wait_until(lambda: "enrolld: warning: token.access: handle: " in daemon.log, "the line is there")


if __name__ == "__main__":
    unittest.main()
