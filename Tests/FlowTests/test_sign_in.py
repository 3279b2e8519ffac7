"""Sign-in, renewal, logout, step by step (flows.md §2, §5, §8)."""

from cases import CUSTOM, on_each_face
from sandbox import hop, parameter


@on_each_face
class SignIn:
    def test_the_whole_way_and_again_in_another_process(self):
        client = self.open()
        self.sign_in(client)
        first = self.assertValid(client)
        client.close()

        client = self.open()
        self.assertState(client.call("registration.state")["state"], "active", "B")
        self.assertEqual(client.call("token.access")["accessToken"], first["accessToken"])
        self.assertNotEqual(client.call("token.refresh")["accessToken"], first["accessToken"])
        client.call("logout.begin")
        self.assertState(client.call("registration.state")["state"], "unregistered", "D")

    def test_one_store_shows_no_provider_or_client_what_is_anothers(self):
        mine = self.open()
        self.sign_in(mine)
        token = self.assertValid(mine)["accessToken"]

        elsewhere = self.own_sandbox()
        for changes in ({"issuer": elsewhere.issuer}, {"clientId": "another-app"}):
            other = self.open(**changes)
            self.assertState(other.call("registration.state")["state"], "unregistered", "D")
            self.assertEqual(other.call("token.refresh")["outcome"], "reauthenticate")
            self.assertRefused("notFound", other, "identity.profile")
            other.call("logout.begin")
        self.assertEqual(elsewhere.control("counts")["counts"]["token"], 0)
        self.assertEqual(self.assertValid(mine)["accessToken"], token)
        self.assertEqual(mine.call("token.refresh")["outcome"], "valid")

    def test_the_process_that_receives_the_redirect_need_not_be_the_one_that_began(self):
        begun = self.begin(beginner := self.open())
        beginner.kill()
        client = self.open()
        self.assertState(client.call("registration.state")["state"], "authenticating")
        self.assertState(self.resume(client, self.sandbox.play(begun["action"]["url"])), "awaitingConfirmation", "G")

    def test_a_loopback_redirect_comes_back_by_itself(self):
        client = self.open(redirectUri="http://127.0.0.1/callback")
        begun = self.begin(client)
        self.assertFalse(begun["survivesProcess"])
        waiting = client.start("registration.await", {"transaction": begun["transaction"], "deadline": 60})
        self.assertIn("tab", hop(self.sandbox.play(begun["action"]["url"])).read().decode())
        self.assertState(waiting.result()["state"], "awaitingConfirmation", "G")
        self.confirm(client)

    def test_a_redirect_with_another_state_changes_nothing(self):
        client = self.open()
        url = self.sandbox.play(self.begin(client)["action"]["url"])
        forged = f"{CUSTOM}?code={parameter(url, 'code')}&state=somebody-elses"
        self.assertRefused("unsolicited", client, "registration.resume", url=forged)
        self.assertState(self.resume(client, url), "awaitingConfirmation", "G")
