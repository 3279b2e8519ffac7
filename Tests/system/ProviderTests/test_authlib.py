"""A provider that uses Authlib's server, with its public client; test_client_secrets.py has the clients with a
secret."""

from authlib_provider import Authlib
from cases import on_each
from providers import BOB, CUSTOM


@on_each([Authlib])
class PublicClient:
    def test_it_signs_in_renews_and_is_told_whose_the_tokens_are(self):
        """Each renewal returns an id_token whose `auth_time` is the time of the renewal."""
        client = self.open()
        self.sign_in(client, self.somebody(BOB))
        tokens = [client.call("token.access")["accessToken"]]
        for _ in range(2):
            answer = self.refresh(client)
            self.assertValid(answer)
            tokens.append(answer["accessToken"])
        self.assertEqual(len(set(tokens)), 3)
        self.assertEqual(client.call("identity.profile")["claims"]["email"], BOB.email)
        self.assertEqual(client.call("identity.userinfo")["claims"]["sub"], BOB.name)
        client.close()
        heir = self.open()
        self.assertEqual(heir.call("token.access")["accessToken"], tokens[-1])
        self.assertState(heir.call("registration.state")["state"], "active", "valid")

    def test_no_is_an_answer(self):
        client = self.open()
        visit = self.somebody().open(self.begin(client)["action"]["url"], until=CUSTOM, pages=self.provider.denying_pages)
        self.assertEqual(self.refusal(client, visit.redirect), "access_denied")

    def test_nobody_signs_in_silently_at_a_provider_without_sessions(self):
        client = self.open()
        url = self.begin(client, options={"prompt": "none"})["action"]["url"]
        visit = self.somebody().open(url, until=CUSTOM)
        self.assertEqual(self.refusal(client, visit.redirect), self.provider.facts.silent_refusal)
