"""Tests of the device grant (flows.md §11, RFC 8628): a code to show, and polling until the user has finished
on another device."""

from cases import on_each_face


@on_each_face
class Device:
    def provide(self):
        return self.own_sandbox("--device-interval", "1")

    def begun(self, client):
        begun = self.begin(client, kind="device")
        self.assertEqual(begun["action"]["type"], "showDeviceCode")
        self.assertTrue(begun["survivesProcess"])
        self.assertNotIn("redirectUri", begun)
        self.assertEqual(begun["action"]["verificationUri"], f"{self.sandbox.issuer}/device")
        self.assertEqual(
            begun["action"]["verificationUriComplete"],
            f"{self.sandbox.issuer}/device?user_code={begun['action']['userCode']}",
        )
        return begun

    def waiting(self, client, begun, timeout=30):
        return client.start("registration.awaitOutcome", {"transaction": begun["transaction"], "timeout": timeout})

    def settle(self, begun, **wish):
        self.sandbox.control("device", userCode=begun["action"]["userCode"], **wish)

    def test_the_whole_way(self):
        client = self.open()
        begun = self.begun(client)
        self.assertState(client.call("registration.state")["state"], "authenticating")
        waiting = self.waiting(client, begun)
        self.settle(begun)
        self.assertState(waiting.result()["state"], "awaitingConfirmation")
        self.confirm(client)
        self.assertValid(client)
        self.assertNotIn("registrationType", client.call("account.read"))

    def test_a_new_process_awaits_what_a_killed_one_began(self):
        begun = self.begun(beginner := self.open())
        beginner.kill()
        client = self.open()
        self.assertState(client.call("registration.state")["state"], "authenticating")
        self.settle(begun)
        state = client.call("registration.awaitOutcome", transaction=begun["transaction"])["state"]
        self.assertState(state, "awaitingConfirmation")

    def test_a_server_in_trouble_and_slow_down_do_not_end_it(self):
        client = self.open()
        begun = self.begun(client)
        self.sandbox.control("fault", fault="serverError", endpoint="token", times=1)
        self.sandbox.control("fault", fault="dropBefore", endpoint="token", after=1, times=1)
        self.sandbox.control("fault", fault="oauthError", value="slow_down", endpoint="token", after=2, times=1)
        waiting = self.waiting(client, begun)
        self.settle(begun)
        self.assertState(waiting.result()["state"], "awaitingConfirmation")
        self.assertEqual(self.sandbox.control("counts")["counts"]["token"], 4)

    def test_who_stands_between_does_not_end_it(self):
        client = self.open()
        begun = self.begun(client)
        for turn, fault in enumerate([("status", 403), ("status", 404), ("garbage", None), ("oauthError", "Not Found")]):
            name, value = fault
            self.sandbox.control("fault", fault=name, value=value, endpoint="token", after=turn, times=1)
        waiting = self.waiting(client, begun)
        self.settle(begun)
        self.assertState(waiting.result()["state"], "awaitingConfirmation")
        self.assertEqual(self.sandbox.control("counts")["counts"]["token"], 5)

    def test_openid_is_granted_and_userinfo_names_the_user_where_no_id_token_comes(self):
        client = self.open()
        begun = self.begun(client)
        self.sandbox.control("fault", fault="omitMember", member="id_token", endpoint="token")
        waiting = self.waiting(client, begun)
        self.settle(begun)
        state = waiting.result()["state"]
        self.assertState(state, "awaitingConfirmation")
        self.assertEqual(state["profile"]["email"], "alice@example.com")
        self.confirm(client)
        first = self.assertValid(client)["accessToken"]
        self.assertNotEqual(client.call("token.refresh")["accessToken"], first)
        self.assertEqual(client.call("account.read")["profile"]["sub"], state["profile"]["sub"])

    def test_no_is_an_answer(self):
        client = self.open()
        begun = self.begun(client)
        self.settle(begun, deny=True)
        refused = self.assertRefused("accessDenied", client, "registration.awaitOutcome", transaction=begun["transaction"])
        self.assertEqual((refused.oauth_error, refused.blame), ("access_denied", "user"))
        self.assertState(client.call("registration.state")["state"], "failed", "registration")
        # A second attempt to sign in must be possible at once.
        client.call("registration.retry")
        self.begun(client)

    def test_a_code_that_expired(self):
        client = self.open()
        begun = self.begun(client)
        self.sandbox.control("advanceClock", seconds=601)
        refused = self.assertRefused("transactionExpired", client, "registration.awaitOutcome", transaction=begun["transaction"])
        self.assertEqual(refused.oauth_error, "expired_token")

    def test_the_deadline_ends_the_wait_and_not_the_transaction(self):
        client = self.open()
        begun = self.begun(client)
        self.assertRefused(
            "deadlineExceeded", client, "registration.awaitOutcome", transaction=begun["transaction"], timeout=1
        )
        self.settle(begun)
        self.assertState(self.waiting(client, begun).result()["state"], "awaitingConfirmation")

    def test_what_belongs_to_a_browser_is_refused_by_name(self):
        refused = self.assertRefused(
            "invalidArgument", self.open(), "registration.begin", kind="device", options={"prompt": "login"}
        )
        self.assertEqual(refused.data["field"], "prompt")

    def test_an_answer_that_cannot_be_used_begins_nothing(self):
        client = self.open()
        self.sandbox.control("fault", fault="setMember", endpoint="deviceAuthorization", member="verification_uri", value="app:/x", times=1)
        self.assertRefused("responseInvalid", client, "registration.begin", kind="device")
        self.assertState(client.call("registration.state")["state"], "unregistered")
