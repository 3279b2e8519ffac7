"""Stores, configurations and sessions of an earlier build still open, renew and end (docs/store.md)."""

import earlier
from back_end import BackEnd
from cases import on_each_face, on_json_rpc
from person import Person
from processes import wait_until
from sandbox import parameter


class OfAnEarlierBuild:
    """Shared by the tests. A store is opened soon after it was made, or a month later, when its tokens have expired."""

    def setUp(self):
        super().setUp()
        self.assertTrue(earlier.ARCHIVES, "no archive of stores")

    def provide(self):
        return None

    def unpacked(self, name):
        """The store of that name from each archive, one after the other."""
        for archive in earlier.ARCHIVES:
            self.made = made = earlier.EarlierStore(archive, name)
            self.sandbox = made.sandbox
            try:
                yield made
            finally:
                made.close()

    def opened(self, made, after=earlier.MONTH, account=None, **more):
        face = self.face.within(made.after(after))
        client = face.open(made.configuration, made.store, account, **more)
        self.addCleanup(client.close)
        return client

    def assertConfirmed(self, client, state):
        self.assertState(state, "awaitingConfirmation")
        self.confirm(client)
        self.assertValid(client)

    def assertRenews(self, client, subject="user-alice"):
        self.assertState(client.call("registration.state")["state"], "active")
        answer = self.assertValid(client)
        self.assertNotIn(answer["accessToken"], self.made.facts["tokens"])
        # The next renewal needs the refresh token that the first renewal stored.
        self.assertNotEqual(client.call("token.refresh")["accessToken"], answer["accessToken"])
        self.assertEqual(client.call("identity.profile")["claims"]["sub"], subject)
        return answer


@on_each_face
class SessionsOfAnEarlierBuild(OfAnEarlierBuild):
    def test_a_token_that_still_works_is_handed_out_without_a_request(self):
        for made in self.unpacked("session"):
            client = self.opened(made, after=earlier.SOON)
            self.assertEqual(self.assertValid(client)["accessToken"], made.facts["tokens"][0])
            self.assertEqual(self.sandbox.control("counts")["refreshes"], 0)

    def test_a_session_is_renewed_and_its_settled_transactions_stay_settled(self):
        for made in self.unpacked("session"):
            client = self.opened(made)
            self.assertRenews(client)
        for made in self.unpacked("session"):
            client = self.opened(made, after=earlier.SOON)
            self.assertRefused("alreadySettled", client, "registration.resume", url=made.facts["redirect"])
            self.assertRefused("notFound", client, "registration.cancel", transaction="nobody")

    def test_a_session_that_the_c_library_made(self):
        for made in self.unpacked("session-from-c"):
            self.assertRenews(self.opened(made))

    def test_tokens_bound_to_a_key_are_renewed_with_it(self):
        for made in self.unpacked("session-dpop"):
            self.assertEqual(self.assertRenews(self.opened(made))["tokenType"], "DPoP")

    def test_a_pin_still_opens_the_account(self):
        for made in self.unpacked("session-pin"):
            client = self.opened(made)
            self.assertEqual(client.call("token.access")["outcome"], "storeLocked")
            self.assertEqual(client.call("pin.unlock", pin="0000")["outcome"], "wrong")
            self.assertEqual(client.call("pin.unlock", pin=earlier.PIN)["outcome"], "unlocked")
            self.assertRenews(client)

    def test_two_accounts_in_one_store_stay_two(self):
        for made in self.unpacked("session-two-accounts"):
            for user in ("alice", "bob"):
                self.assertRenews(self.opened(made, account=user), f"user-{user}")

    def test_a_revocation_that_was_not_delivered_is_delivered(self):
        for made in self.unpacked("outbox"):
            self.assertNotIn("end", self.sandbox.control("sessions")["sessions"][0])
            client = self.opened(made, after=earlier.SOON)
            self.assertState(client.call("registration.state")["state"], "unregistered")
            wait_until(
                lambda: self.sandbox.control("sessions")["sessions"][0].get("end") == "revoked", "the session is revoked"
            )


@on_json_rpc
class KeysOfAnEarlierBuild(OfAnEarlierBuild):
    def test_a_passphrase_still_opens_the_store(self):
        keys = {"provider": "passphrase", "passphrase": earlier.PASSPHRASE}
        for made in self.unpacked("session-passphrase"):
            other = self.opened(made, keys={**keys, "passphrase": "another"})
            self.assertRefused("storeKey", other, "registration.state")
            self.assertRenews(self.opened(made, keys=keys))

    def test_the_accounts_are_listed(self):
        for made in self.unpacked("session-two-accounts"):
            listed = self.opened(made, account="alice").call("accounts.list", store=str(made.store))["accounts"]
            self.assertEqual(sorted(listed), ["alice", "bob"], listed)


@on_each_face
class SignInsOfAnEarlierBuild(OfAnEarlierBuild):
    """A pending sign-in can be finished after the update, unless it has waited too long and has expired."""

    def waiting(self, name):
        """Each store, its client, and the facts about the earlier build's calls."""
        for made in self.unpacked(name):
            client = self.opened(made, after=earlier.SOON)
            self.assertState(client.call("registration.state")["state"], "authenticating")
            yield made, client, made.facts["begun"]

    def test_the_browser_comes_back(self):
        for _, client, begun in self.waiting("pending-browser"):
            self.assertConfirmed(client, self.resume(client, self.sandbox.play(begun["action"]["url"])))

    def test_it_is_cancelled(self):
        for _, client, begun in self.waiting("pending-browser"):
            state = client.call("registration.cancel", transaction=begun["transaction"])["state"]
            self.assertState(state, "unregistered")

    def test_a_month_later_it_is_over_and_a_new_one_works(self):
        for made in self.unpacked("pending-browser"):
            client = self.opened(made)
            self.assertState(client.call("registration.state")["state"], "unregistered")
            self.sign_in(client)
            self.assertValid(client)

    def test_the_link_of_the_email_arrives(self):
        for made, client, _ in self.waiting("pending-email"):
            followed = client.call("url.handle", url=made.facts["link"])
            self.assertEqual(followed["kind"], "begun", followed)
            person = Person(self.sandbox)
            person.open(followed["action"]["url"])
            person.press(password="carol-password")
            if person.left is None and "Allow" in person.heading:
                person.press()
            self.assertConfirmed(client, self.resume(client, person.left))

    def test_the_code_is_typed(self):
        for made, client, begun in self.waiting("pending-code"):
            answer = client.call("registration.submitCode", transaction=begun["transaction"], code=made.facts["code"])
            self.assertConfirmed(client, answer["state"])

    def test_the_other_app_returns_though_its_key_of_the_configuration_was_renamed(self):
        for _, client, begun in self.waiting("pending-other-app"):
            self.assertConfirmed(client, self.resume(client, self.sandbox.play_other_app(begun["action"]["url"])))

    def test_the_back_end_returns_though_its_key_of_the_configuration_was_renamed(self):
        for _, client, begun in self.waiting("pending-back-end"):
            self.assertEqual(parameter(begun["action"]["url"], "platform"), "mobile")
            # In the store, the back end has the sandbox's address, so the back end replaces the sandbox at
            # that address.
            self.sandbox.stop()
            with BackEnd(port=earlier.PORT) as back_end:
                self.assertConfirmed(client, self.resume(client, back_end.play(begun["action"]["url"])))

    def test_the_user_of_a_device_is_done(self):
        for _, client, begun in self.waiting("pending-device"):
            self.sandbox.control("device", userCode=begun["action"]["userCode"])
            answer = client.call("registration.awaitOutcome", transaction=begun["transaction"])
            self.assertConfirmed(client, answer["state"])
