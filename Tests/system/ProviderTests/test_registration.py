"""Tests of registration with a real e-mail (flows.md §3): prompt=create, a form, an SMTP server, and the link
in the message."""

import itertools
import os

from browser import Step
from canaille_provider import RegisteringCanaille
from cases import on_each
from providers import CUSTOM, User

_names = (f"newcomer{os.getpid()}x{number}" for number in itertools.count())

_FORM = [
    Step("email", "input[name=email]", lambda page, user: page.fill("input[name=email]", user.email)),
    Step("send", "button[type=submit]", lambda page, user: page.click("button[type=submit]")),
]


@on_each([RegisteringCanaille])
class Registration:
    def setUp(self):
        super().setUp()
        name = next(_names)
        self.newcomer = User(name, "Str0ng-pass!x", f"{name}@example.com")

    def register(self, client):
        """Sends the form and waits for its e-mail; returns the transaction, the user and the link."""
        begun = client.call("registration.begin", kind="register")
        self.assertIn("prompt=create", begun["action"]["url"])
        person = self.somebody(self.newcomer)
        person.walk(begun["action"]["url"], _FORM)
        return begun, person, self.provider.mail.link_to(self.newcomer.email)

    def assertNewcomer(self, client, redirect):
        self.confirm(client, self.resume(client, redirect))
        self.assertValid(client.call("token.access"))
        self.assertEqual(client.call("identity.profile")["claims"]["email"], self.newcomer.email)

    def test_from_the_form_to_a_token_through_death_and_an_email(self):
        """This provider's link resumes the authorize request, so the late redirect succeeds (R12)."""
        beginner = self.open(registration="promptCreate")
        begun, person, link = self.register(beginner)
        state = beginner.call("registration.cancel", transaction=begun["transaction"])["state"]
        self.assertEqual(state["step"], "emailPending")
        beginner.kill()

        client = self.open(registration="promptCreate")
        state = client.call("registration.state")["state"]
        self.assertEqual((state["step"], state["transaction"]), ("emailPending", begun["transaction"]))
        self.assertNewcomer(client, person.open(link, until=CUSTOM).redirect)

    def test_a_link_opened_in_another_browser_makes_the_account_and_signing_in_works(self):
        """The link resumes nothing in the other browser, so the host offers a sign-in."""
        client = self.open(registration="promptCreate")
        begun, person, link = self.register(client)
        client.call("registration.cancel")
        elsewhere = self.somebody(self.newcomer)
        elsewhere.walk(link, self.provider.profile)
        state = client.call("registration.state")["state"]
        self.assertEqual((state["step"], state["transaction"]), ("emailPending", begun["transaction"]))
        self.assertNewcomer(client, self.redirect(client, person))

    def test_the_providers_own_link_is_none_of_ours(self):
        client = self.open(
            registration="promptCreate", appLinks=["https://app.example/welcome/{activationToken}"]
        )
        begun, _, link = self.register(client)
        client.call("registration.cancel")
        self.assertNoEffect(client, link, "registration.handleLink")
        self.assertEqual(client.call("url.handle", url=link)["kind"], "unsolicited")
        state = client.call("registration.state")["state"]
        self.assertEqual((state["step"], state["transaction"]), ("emailPending", begun["transaction"]))
