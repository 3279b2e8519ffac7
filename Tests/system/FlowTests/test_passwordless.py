"""Passwordless sign-in in Auth0's dialect (flows.md §6): a code or a link to an address, and no password."""

import urllib.parse
import urllib.request
from urllib.error import HTTPError

from cases import CUSTOM, on_each_face

ALICE = "alice@example.com"
NUMBER = "+31612345678"


class _Stop(urllib.request.HTTPRedirectHandler):
    """Does not follow the redirect to the app: the test needs its URL."""

    def redirect_request(self, *_):
        return None


@on_each_face
class Passwordless:
    def provide(self):
        return self.own_sandbox()

    def open(self, **configuration):
        return super().open(passwordless="auth0", **configuration)

    def begun(self, client, action, **options):
        begun = self.begin(client, kind="passwordless", options=options)
        self.assertEqual(begun["action"]["type"], action)
        self.assertTrue(begun["survivesProcess"])
        return begun

    def message(self):
        """The last message that was sent."""
        return self.sandbox.control("messages")["messages"][-1]

    def submit(self, client, begun, code):
        return client.call("registration.submitCode", transaction=begun["transaction"], code=code)["state"]

    def click(self, link):
        """Opens the link, as any browser may, and presses the button; returns the redirect."""
        ticket = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)["ticket"][0]
        with urllib.request.urlopen(link, timeout=30) as page:
            self.assertIn("Sign in to", page.read().decode())
        form = urllib.parse.urlencode({"ticket": ticket, "action": "continue"}).encode()
        try:
            urllib.request.build_opener(_Stop).open(f"{self.sandbox.issuer}/passwordless/link", form, timeout=30)
        except HTTPError as redirect:
            self.assertEqual(redirect.code, 303)
            return redirect.headers["Location"]
        return self.fail("no redirect")

    def test_a_code_by_mail(self):
        client = self.open()
        begun = self.begun(client, "enterCode", email=ALICE)
        state = client.call("registration.state")["state"]
        self.assertEqual((state["state"], state["step"]), ("authenticating", "codePending"))
        self.assertState(self.submit(client, begun, self.message()["code"]), "awaitingConfirmation")
        self.confirm(client)
        self.assertValid(client)
        account = client.call("account.read")
        self.assertEqual(account["registrationType"], "PASSWORDLESS")
        self.assertEqual(account["profile"]["email"], ALICE)
        client.call("token.refresh")
        self.assertEqual(client.call("account.read")["registrationType"], "PASSWORDLESS")

    def test_a_code_by_sms(self):
        client = self.open()
        begun = self.begun(client, "enterCode", phoneNumber=NUMBER)
        self.assertEqual(self.message()["to"], NUMBER)
        self.assertState(self.submit(client, begun, self.message()["code"]), "awaitingConfirmation")

    def test_a_wrong_code_and_then_the_right_one_in_another_process(self):
        client = self.open()
        begun = self.begun(client, "enterCode", email=ALICE)
        refused = self.assertRefused(
            "codeRejected", client, "registration.submitCode", transaction=begun["transaction"], code="x"
        )
        self.assertEqual(refused.blame, "user")
        client.kill()
        client = self.open()
        state = client.call("registration.state")["state"]
        self.assertEqual((state["state"], state["step"]), ("authenticating", "codePending"))
        self.assertState(self.submit(client, begun, self.message()["code"]), "awaitingConfirmation")

    def test_tried_too_often_for_the_provider(self):
        client = self.open()
        begun = self.begun(client, "enterCode", email=ALICE)
        wrong = {"transaction": begun["transaction"], "code": "x"}
        for _ in range(2):
            self.assertRefused("codeRejected", client, "registration.submitCode", **wrong)
        refused = self.assertRefused("oauth", client, "registration.submitCode", **wrong)
        self.assertEqual(refused.oauth_error, "too_many_attempts")
        self.assertState(client.call("registration.state")["state"], "failed", "registration")
        self.assertRefused("alreadySettled", client, "registration.submitCode", **wrong)
        # Another code can be requested.
        begun = self.begun(client, "enterCode", email=ALICE)
        self.assertState(self.submit(client, begun, self.message()["code"]), "awaitingConfirmation")

    def test_tried_too_often_for_us_where_the_provider_never_tires(self):
        client = self.open()
        begun = self.begun(client, "enterCode", email=ALICE)
        self.sandbox.control("fault", fault="oauthError", value="invalid_grant", endpoint="token")
        wrong = {"transaction": begun["transaction"], "code": "x"}
        for _ in range(4):
            self.assertRefused("codeRejected", client, "registration.submitCode", **wrong)
        self.assertRefused("accessDenied", client, "registration.submitCode", **wrong)
        self.assertState(client.call("registration.state")["state"], "failed", "registration")
        self.assertEqual(self.sandbox.control("counts")["counts"]["token"], 5)

    def test_a_server_in_trouble_costs_no_try(self):
        client = self.open()
        begun = self.begun(client, "enterCode", email=ALICE)
        # There are more server failures than the number of wrong codes that is allowed.
        self.sandbox.control("fault", fault="serverError", endpoint="token", times=6)
        code = self.message()["code"]
        for _ in range(6):
            self.assertRefused("server", client, "registration.submitCode", transaction=begun["transaction"], code=code)
        self.assertState(self.submit(client, begun, code), "awaitingConfirmation")

    def test_a_link_by_mail_that_comes_back_to_another_process(self):
        beginner = self.open()
        begun = self.begun(beginner, "awaitLink", email=ALICE, message="link")
        self.assertEqual(begun["redirectUri"], CUSTOM)
        beginner.kill()
        client = self.open()
        state = client.call("registration.state")["state"]
        self.assertEqual((state["state"], state["step"]), ("authenticating", "emailPending"))
        redirect = self.click(self.message()["link"])
        self.assertState(self.resume(client, redirect), "awaitingConfirmation")
        self.confirm(client)
        self.assertEqual(client.call("account.read")["registrationType"], "PASSWORDLESS")
        self.assertRefused("alreadySettled", client, "registration.resume", url=redirect)

    def test_what_is_no_address_or_number_is_refused_before_anything_is_sent(self):
        client = self.open()
        for options, field in (
            ({"email": "alice"}, "email"),
            ({"email": "a b@example.org"}, "email"),
            ({"phoneNumber": "0612345678"}, "phoneNumber"),
            ({}, "email"),
            ({"phoneNumber": NUMBER, "message": "link"}, "message"),
            ({"email": ALICE, "phoneNumber": NUMBER}, "email"),
        ):
            refused = self.assertRefused(
                "invalidArgument", client, "registration.begin", kind="passwordless", options=options
            )
            self.assertEqual(refused.data["field"], field)
        self.assertEqual(self.sandbox.control("messages")["messages"], [])
        self.assertState(client.call("registration.state")["state"], "unregistered")

    def test_a_provider_that_sends_nothing_begins_nothing(self):
        client = self.open()
        self.sandbox.control("fault", fault="oauthError", value="bad.connection", endpoint="passwordless", times=1)
        refused = self.assertRefused(
            "oauth", client, "registration.begin", kind="passwordless", options={"email": ALICE}
        )
        self.assertEqual(refused.oauth_error, "bad.connection")
        self.assertState(client.call("registration.state")["state"], "unregistered")
