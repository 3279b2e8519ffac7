"""Signing in at a real provider with a one-time code (flows.md §6), which a real SMTP server receives and the
browser types."""

from browser import Step
from canaille_provider import EmailCodeCanaille, send_code
from cases import on_each
from providers import CUSTOM


@on_each([EmailCodeCanaille])
class EmailCode:
    def setUp(self):
        super().setUp()
        self.user = self.provider.newcomer()

    def assertSignedIn(self, client, state):
        self.confirm(client, state)
        token = client.call("token.access")
        self.assertValid(token)
        self.assertEqual(client.call("identity.profile")["claims"]["email"], self.user.email)
        self.assertValid(renewed := self.refresh(client))
        self.assertNotEqual(renewed["accessToken"], token["accessToken"])

    def test_a_code_from_the_inbox_signs_in_though_the_app_died_meanwhile(self):
        beginner = self.open()
        url = self.begin(beginner)["action"]["url"]
        beginner.kill()
        visit = self.somebody(self.user).open(url, until=CUSTOM)
        self.assertEqual(visit.asked, ["account", "code", "consent"])

        client = self.open()
        self.assertState(client.call("registration.state")["state"], "authenticating")
        self.assertSignedIn(client, self.resume(client, visit.redirect))

    def test_a_wrong_code_leads_nowhere_and_the_right_one_to_the_loopback_redirect(self):
        redirect = self.provider.loopback
        client = self.open(redirect)
        begun = self.begin(client)
        waiting = client.start("registration.awaitOutcome", {"transaction": begun["transaction"], "timeout": 60})
        pages = [
            Step("code", page.selector, self.type_wrong_code_first) if page.name == "code" else page
            for page in self.provider.pages
        ]
        visit = self.somebody(self.user).open(begun["action"]["url"], until=redirect, pages=pages)
        state = waiting.result()["state"]
        self.assertEqual(visit.asked, ["account", "code", "consent"])
        self.assertSignedIn(client, state)

    def type_wrong_code_first(self, page, user):
        code = self.provider.code_to(user.email)
        send_code(page, f"{(int(code) + 1) % 1_000_000:06}")
        page.locator("text=passcode you entered is invalid").first.wait_for()
        send_code(page, code)
