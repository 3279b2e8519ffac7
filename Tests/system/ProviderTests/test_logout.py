"""Tests the state of the provider and of the store after a logout (flows.md §5)."""

from cases import on_each
from glewlwyd_provider import Glewlwyd
from processes import wait_until
from providers import BOB, CUSTOM_LOGOUT


@on_each([Glewlwyd])
class Logout:
    def test_the_provider_is_told_to_forget_the_refresh_token(self):
        """The tokens are revoked (RFC 7009). Glewlwyd accepts a revocation from a public client if the client
        authenticates itself with its access token."""
        client = self.open()
        self.sign_in(client)
        revoked = self.provider.revocations()
        client.call("logout.begin")
        # The user does not open the provider's logout page, so `token.revoke` sends the revocation.
        client.call("token.revoke")
        wait_until(lambda: self.provider.revocations() > revoked, "the refresh token is revoked", timeout=30)

    def test_a_callback_that_no_logout_asked_for_changes_nothing(self):
        client = self.open()
        self.sign_in(client)
        self.assertNoEffect(client, f"{CUSTOM_LOGOUT}?state={'A' * 43}", "logout.resume")
        self.assertNoEffect(client, CUSTOM_LOGOUT, "logout.resume")
        self.assertValid(client.call("token.access"))

    def test_another_user_can_sign_in_where_the_first_one_logged_out(self):
        client = self.open()
        person = self.somebody()
        self.sign_in(client, person)
        farewell = person.log_out(client.call("logout.begin")["url"], until=CUSTOM_LOGOUT).redirect
        client.call("logout.resume", url=farewell)
        self.sign_in(client, self.somebody(BOB))
        self.assertEqual(client.call("identity.profile")["claims"]["email"], BOB.email)
