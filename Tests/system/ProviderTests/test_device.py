"""Tests the device grant (RFC 8628) at a real provider: a user types the code in a real browser."""

from cases import on_each
from faces import Refused
from glewlwyd_provider import Glewlwyd


@on_each((Glewlwyd,))
class DeviceGrant:
    def begin_device(self, client):
        begun = client.call("registration.begin", kind="device")
        self.assertEqual(begun["action"]["type"], "showDeviceCode")
        self.assertNotIn("redirectUri", begun)
        self.assertIn(begun["action"]["userCode"], begun["action"]["verificationUriComplete"])
        return begun

    def connect(self, begun):
        """The user's actions on another device."""
        self.provider.connect(self.somebody(), begun["action"])

    def test_the_user_is_done_elsewhere_and_the_one_that_waits_gets_a_token(self):
        client = self.open()
        begun = self.begin_device(client)
        waiting = client.start("registration.awaitOutcome", {"transaction": begun["transaction"], "timeout": 60})
        self.connect(begun)
        self.confirm(client, waiting.result()["state"])
        self.assertValid(client.call("token.access"))
        self.assertValid(self.refresh(client))

    def test_another_process_awaits_what_a_killed_one_began(self):
        beginner = self.open()
        begun = self.begin_device(beginner)
        beginner.kill()
        client = self.open()
        self.assertState(client.call("registration.state")["state"], "authenticating")
        self.connect(begun)
        answer = client.call("registration.awaitOutcome", transaction=begun["transaction"], timeout=60)
        self.confirm(client, answer["state"])

    def test_nobody_comes_and_the_wait_ends_with_its_deadline(self):
        client = self.open()
        begun = self.begin_device(client)
        with self.assertRaises(Refused) as caught:
            client.call("registration.awaitOutcome", transaction=begun["transaction"], timeout=3)
        self.assertEqual(caught.exception.status, "deadlineExceeded")
        self.assertState(client.call("registration.state")["state"], "authenticating")
