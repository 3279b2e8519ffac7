"""Tests sign-in, renewal and logout, with both kinds of redirect (flows.md §2, §5, §8)."""

from allauth_provider import Allauth
from cases import on_each
from processes import is_listening
from providers import CUSTOM, CUSTOM_LOGOUT
from toolkit_provider import Toolkit


class Walk:
    """Two tests that run at every provider."""

    def test_custom_scheme_signs_in_renews_logs_out_and_asks_for_the_password_again(self):
        """With id_tokens in RS256 (R21)."""
        self.walk(CUSTOM, "RS256", self.sign_in_by_custom_scheme)

    def test_loopback_signs_in_renews_logs_out_and_asks_for_the_password_again(self):
        """Uses id_tokens that are signed with ES256 if the provider supports that (R21). The listener closes
        after one answer (R4)."""
        algorithm = "ES256" if "ES256" in self.provider.facts.clients else "RS256"
        self.walk(self.provider.loopback, algorithm, self.sign_in_by_loopback)

    def walk(self, redirect, algorithm, sign_in):
        person = self.somebody()
        client_id = self.provider.facts.clients[algorithm]
        client = self.open(redirect, clientId=client_id)

        visit = sign_in(client, person)
        self.assertTrue(visit.asked_for_password)

        profile = client.call("identity.profile")["claims"]
        self.assertTrue(profile["sub"])
        self.assertEqual(profile["email"], person.user.email)
        first = client.call("token.access")
        self.assertValid(first)
        self.assertEqual(client.call("identity.userinfo")["claims"]["sub"], profile["sub"])

        second = self.refresh(client)
        self.assertValid(second)
        self.assertNotEqual(second["accessToken"], first["accessToken"])
        self.assertEqual(client.call("identity.userinfo")["claims"]["sub"], profile["sub"])

        client.close()
        client = self.open(redirect, clientId=client_id)
        self.assertState(client.call("registration.state")["state"], "active", "valid")
        self.assertEqual(client.call("token.access")["accessToken"], second["accessToken"])
        self.assertEqual(client.call("identity.profile")["claims"]["sub"], profile["sub"])
        third = self.refresh(client)
        self.assertValid(third)
        self.assertNotEqual(third["accessToken"], second["accessToken"])

        leaving = client.call("logout.begin")["url"]
        self.assertSignInNeeded(client)
        farewell = person.log_out(leaving, until=CUSTOM_LOGOUT).redirect
        self.assertTrue(client.call("logout.resume", url=farewell)["done"])
        self.assertSignInNeeded(client)

        visit = sign_in(client, person)
        self.assertTrue(visit.asked_for_password)
        self.assertValid(client.call("token.access"))

    def sign_in_by_custom_scheme(self, client, person):
        visit = person.open(self.begin(client)["action"]["url"], until=CUSTOM)
        self.confirm(client, self.resume(client, visit.redirect))
        return visit

    def sign_in_by_loopback(self, client, person):
        redirect = self.provider.loopback
        begun = self.begin(client)
        waiting = client.start("registration.awaitOutcome", {"transaction": begun["transaction"], "timeout": 60})
        visit = person.open(begun["action"]["url"], until=redirect)
        state = waiting.result()["state"]
        self.confirm(client, state)
        self.assertTrue(visit.text.strip(), "the user is told that the tab may be closed")
        self.assertFalse(is_listening(self.provider.loopback_port))
        return visit


@on_each()
class SignIn(Walk):
    pass


@on_each([Toolkit, Allauth])
class SignInAtDjango(Walk):
    pass
