"""A PIN for the account (flows.md §9, store.md, PIN)."""

from cases import on_each_face


@on_each_face
class PIN:
    def guarded(self):
        """A store whose account has the PIN 2468, and the process that set it."""
        client = self.open()
        self.sign_in(client)
        client.call("pin.set", pin="2468")
        return client

    def test_it_shuts_the_account_for_every_other_process_until_it_is_given(self):
        self.assertValid(self.guarded())
        other = self.open()
        self.assertEqual(self.assertRefused("storeLocked", other, "registration.state").data["field"], "pin")
        self.assertEqual(other.call("token.access")["outcome"], "storeLocked")
        self.assertEqual(other.call("pin.unlock", pin="1357"), {"outcome": "wrong", "triesLeft": 9, "retryAfter": 0})
        self.assertEqual(other.call("token.access")["outcome"], "storeLocked")
        self.assertEqual(other.call("pin.unlock", pin="2468"), {"outcome": "unlocked", "triesLeft": 10, "retryAfter": 0})
        self.assertValid(other)
        self.assertEqual(other.call("token.refresh")["outcome"], "valid")

    def test_it_is_changed_and_removed_by_whoever_knows_it(self):
        client = self.guarded()
        self.assertEqual(client.call("pin.change", pin="0000", newPin="1111")["outcome"], "wrong")
        self.assertEqual(client.call("pin.change", pin="2468", newPin="new pin")["outcome"], "unlocked")
        other = self.open()
        self.assertEqual(other.call("pin.unlock", pin="2468")["outcome"], "wrong")
        self.assertEqual(other.call("pin.remove", pin="new pin")["outcome"], "unlocked")
        self.assertValid(self.open())
        self.assertRefused("illegalState", client, "pin.unlock", pin="new pin")

    def test_after_three_wrong_ones_the_next_is_not_looked_at(self):
        self.guarded().close()
        client = self.open()
        for left in (9, 8):
            answer = client.call("pin.unlock", pin="0000")
            self.assertEqual((answer["outcome"], answer["triesLeft"], answer["retryAfter"]), ("wrong", left, 0))
        self.assertEqual(client.call("pin.unlock", pin="0000"), {"outcome": "wrong", "triesLeft": 7, "retryAfter": 30})
        client.kill()
        # Even the right PIN is refused, in another process: the pause is stored on disk.
        self.assertEqual(self.open().call("pin.unlock", pin="2468")["outcome"], "tooSoon")

    def test_what_is_no_pin_is_refused_and_costs_no_try(self):
        client = self.guarded()
        for pin in ("123", "1" * 65, "12\n4"):
            self.assertEqual(self.assertRefused("invalidArgument", client, "pin.unlock", pin=pin).data["field"], "pin")
        self.assertEqual(client.call("pin.unlock", pin="0000")["triesLeft"], 9)
        self.assertRefused("illegalState", client, "pin.set", pin="1234")
        self.assertRefused("illegalState", self.open(account="nobody"), "pin.set", pin="1234")
