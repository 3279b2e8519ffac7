"""Special behaviour of django-oauth-toolkit: for a spent refresh token it returns the same tokens again, with an
id_token whose at_hash does not match; a device grant has no id_token; some endpoints are not announced."""

from cases import CUSTOM, Refused, Timed, on_each
from processes import wait_until
from providers import BOB
from toolkit_provider import Toolkit


class Graceless(Toolkit):
    """The toolkit accepts each refresh token once."""

    name = "django-oauth-toolkit without grace"

    def __init__(self):
        super().__init__(grace_seconds=0)


@on_each([Toolkit])
class GracePeriod(Timed):
    """The toolkit accepts a used refresh token for some seconds, for a client that did not receive the answer."""

    def test_the_same_tokens_again_with_a_wrong_at_hash_keep_the_session(self):
        client = self.open()
        self.sign_in(client)
        first = client.call("token.access")["accessToken"]
        profile = client.call("identity.profile")["claims"]
        client.close()
        self.lose_rotated_tokens()
        heir = self.open()
        repeated = self.refresh(heir)
        self.assertValid(repeated)
        self.assertNotEqual(repeated["accessToken"], first)
        self.assertState(heir.call("registration.state")["state"], "active")
        # The verified profile is kept, and the tokens work.
        self.assertEqual(heir.call("identity.profile")["claims"]["sub"], profile["sub"])
        self.assertEqual(heir.call("identity.userinfo")["claims"]["sub"], profile["sub"])
        heir.close()

        client = self.open()
        self.assertEqual(client.call("token.access")["accessToken"], repeated["accessToken"])
        renewed = self.refresh(client)
        self.assertValid(renewed)
        self.assertNotEqual(renewed["accessToken"], repeated["accessToken"])
        self.assertEqual(client.call("identity.profile")["claims"]["email"], profile["email"])

    def test_eight_processes_that_ask_at_once_make_one_request(self):
        self.assertOneRequestEach(processes=8, rounds=3, seconds=7200)


@on_each([Toolkit])
class DeviceGrant:
    """In the device grant the toolkit grants `openid` but returns no id_token. RFC 8628 does not promise an
    id_token."""

    def open(self, **more):
        return super().open(clientId="device", endpoints=self.provider.endpoints, **more)

    def begin_device(self, client):
        begun = client.call("registration.begin", kind="device")
        self.assertEqual(begun["action"]["type"], "showDeviceCode")
        return begun

    def answer(self, begun, pages=None):
        """The user's actions on another device."""
        self.provider.connect(self.somebody(BOB), begun["action"], pages)

    def test_userinfo_names_the_user(self):
        client = self.open()
        begun = self.begin_device(client)
        waiting = client.start("registration.awaitOutcome", {"transaction": begun["transaction"], "timeout": 60})
        self.answer(begun)
        state = waiting.result()["state"]
        self.assertEqual(state["profile"]["email"], BOB.email)
        self.confirm(client, state)
        first = client.call("token.access")
        self.assertValid(first)
        self.assertNotIn("idToken", client.call("account.read"))
        second = self.refresh(client)
        self.assertValid(second)
        self.assertNotEqual(second["accessToken"], first["accessToken"])
        client.close()
        client = self.open()
        self.assertState(client.call("registration.state")["state"], "active", "valid")
        self.assertEqual(client.call("identity.profile")["claims"]["sub"], state["profile"]["sub"])
        self.assertEqual(client.call("identity.userinfo")["claims"]["sub"], state["profile"]["sub"])

    def test_no_is_an_answer(self):
        client = self.open()
        begun = self.begin_device(client)
        self.answer(begun, self.provider.denying_pages)
        with self.assertRaises(Refused) as caught:
            client.call("registration.awaitOutcome", transaction=begun["transaction"], timeout=60)
        self.assertEqual(caught.exception.status, "accessDenied", caught.exception)


@on_each([Toolkit])
class Endpoints:
    """Endpoints that the toolkit does not announce work if they are configured."""

    def open(self, **more):
        return super().open(endpoints=self.provider.endpoints, **more)

    def test_a_revoked_refresh_token_is_of_no_more_use_there(self):
        client = self.open()
        self.sign_in(client)
        revoked = self.provider.revocations()
        client.call("logout.begin")
        # The user does not open the provider's logout page.
        client.call("token.revoke")
        wait_until(lambda: self.provider.revocations() > revoked, "the refresh token is revoked", timeout=30)
        self.assertSignInNeeded(client)

    def test_without_openid_the_sign_in_stands_though_userinfo_refuses(self):
        client = self.open(scopes=["api"])
        state = self.resume(client, self.redirect(client))
        self.assertEqual(state["profile"], {})
        self.confirm(client, state)
        self.assertValid(self.refresh(client))

    def test_after_a_logout_a_consent_that_the_host_asks_for_does_not_bring_the_user_back(self):
        client = self.open()
        person = self.somebody()
        self.sign_in(client, person)
        client.call("logout.begin", localOnly=True)
        url = self.begin(client, options={"prompt": "consent"})["action"]["url"]
        self.assertTrue(person.open(url, until=CUSTOM).asked_for_password)


@on_each([Graceless])
class Reuse(Timed):
    def test_a_spent_refresh_token_ends_the_session_of_who_sends_it(self):
        """R34: `invalid_grant` is final."""
        client = self.open()
        self.sign_in(client)
        client.close()
        self.lose_rotated_tokens()
        self.assertEqual(self.refresh(self.open())["outcome"], "reauthenticate")
