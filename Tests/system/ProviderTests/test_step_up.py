"""Tests a step-up of an existing session at real providers (flows.md §6): EnrollKit checks the requested
values when the user returns (R26)."""

from dataclasses import replace

from canaille_provider import Canaille
from cases import on_each
from faces import Refused
from glewlwyd_provider import Glewlwyd
from providers import CUSTOM


class StepUp:
    def signed_in(self):
        """Signs a user in. Returns the client with its session, the access token, and the user in the
        browser."""
        client, person = self.open(), self.somebody()
        self.sign_in(client, person)
        return client, client.call("token.access")["accessToken"], person

    def assertRefused(self, client, redirect, before):
        """Checks that EnrollKit refuses the new tokens, because their id_token does not prove the requested values.
        The existing session is unchanged, and still valid at the provider."""
        with self.assertRaises(Refused) as caught:
            client.call("registration.resume", url=redirect)
        self.assertEqual(caught.exception.status, "idTokenInvalid", caught.exception)
        self.assertRegex(caught.exception.message, "id_token refused: (acr|auth_time)")
        self.assertState(client.call("registration.state")["state"], "active", "confirmed")
        answer = client.call("token.access")
        self.assertValid(answer)
        self.assertEqual(answer["accessToken"], before)
        self.assertValid(self.refresh(client))
        return caught.exception


@on_each([Glewlwyd, Canaille])
class AuthenticationClass(StepUp):
    def test_a_class_that_the_provider_leaves_out_is_refused(self):
        """Neither provider supports `acr`. Both sign the user in as usual, and only EnrollKit's check of the id_token
        detects that `acr` is missing."""
        client, before, person = self.signed_in()
        redirect = self.redirect(client, person, options={"acrValues": ["urn:example:two-factors"]})
        self.assertIn("code=", redirect)
        refused = self.assertRefused(client, redirect, before)
        self.assertIn("acr", refused.message)


@on_each([Canaille])
class AuthenticationTime(StepUp):
    def test_a_log_in_that_just_happened_is_proven_and_replaces_the_session(self):
        """`auth_time` is a floating-point number here."""
        client, before, person = self.signed_in()
        url = self.begin(client, options={"maxAge": 60, "prompt": "login"})["action"]["url"]
        self.assertIn("max_age=60", url)
        visit = person.open(url, until=CUSTOM)
        self.assertTrue(visit.asked_for_password)
        state = self.resume(client, visit.redirect)
        self.assertTrue(state["profile"]["auth_time"])
        self.assertEqual(client.call("token.access")["accessToken"], before)
        self.confirm(client, state)
        after = client.call("token.access")
        self.assertValid(after)
        self.assertNotEqual(after["accessToken"], before)


@on_each([Glewlwyd])
class AuthenticationTimeUnknown(StepUp):
    def test_a_password_that_was_asked_for_again_proves_nothing_when_no_time_is_told(self):
        """Glewlwyd 2.7.5 respects `max_age` in the browser. But it reads `auth_time` from the session of the client
        that requests the tokens. An app has no such session, so `auth_time` is 0, a time in 1970."""
        client, before, person = self.signed_in()
        self.provider.backdate_log_ins(3600)
        url = self.begin(client, options={"maxAge": 60})["action"]["url"]
        # Glewlwyd shows its "continue" page both before and after the page for the password.
        pages = {page.name: page for page in self.provider.pages}

        def log_in_and_go_on(page, user):
            pages["password"].act(page, user)
            page.locator("#password").wait_for(state="hidden")
            page.click(pages["continue"].selector)

        again = [replace(pages["password"], act=log_in_and_go_on), pages["continue"]]
        visit = person.open(url, until=CUSTOM, pages=again)
        self.assertTrue(visit.asked_for_password)
        refused = self.assertRefused(client, visit.redirect, before)
        self.assertIn("auth_time 0 ", refused.message)
