"""Tests with a provider that gave its native client a secret (flows.md §11, RFC 6749 §2.3.1): each method of
sending the secret, at every endpoint."""

from allauth_provider import Allauth
from authlib_provider import Authlib
from canaille_provider import Canaille
from cases import Refused, on_each
from glewlwyd_provider import PushingGlewlwyd
from processes import wait_until
from providers import BASIC, POST
from toolkit_provider import Toolkit


class Confidential:
    def open(self, method, **more):
        more = {**self.provider.confidential(method), **more}
        # The configuration names the endpoints that the provider has, but does not announce.
        if hasattr(self.provider, "endpoints"):
            more["endpoints"] = self.provider.endpoints
        return super().open(**{name: value for name, value in more.items() if value is not None})

    def whole_session(self, client):
        self.sign_in(client)
        self.assertValid(self.refresh(client))
        self.assertTrue(client.call("token.introspect")["active"])
        revoked = self.provider.revocations()
        self.assertEqual(client.call("token.revoke")["providerTold"], "told")
        wait_until(lambda: self.provider.revocations() > revoked, "the token is revoked")


@on_each([PushingGlewlwyd, Canaille, Toolkit, Authlib])
class ClientSecrets(Confidential):
    def test_nothing_configured(self):
        """EnrollKit uses the first method that the provider announces: the secret in the body. The Glewlwyd of this
        test accepts only pushed requests."""
        self.whole_session(self.open(POST))

    def test_in_the_header(self):
        self.whole_session(self.open(BASIC, tokenEndpointAuthMethod=BASIC))

    def test_without_it_nobody_signs_in_and_a_wrong_one_ends_no_session(self):
        self.assertNoSignIn(self.open(POST, clientSecret=None))
        self.assertNoSignIn(self.open(POST, clientSecret="another", tokenEndpointAuthMethod=POST))
        client = self.open(POST, tokenEndpointAuthMethod=POST)
        self.sign_in(client)
        wrong = self.open(POST, clientSecret="another")
        answer = wrong.call("token.refresh")
        self.assertEqual(answer["outcome"], "stale", answer)
        # Some faces return only a token, without the error.
        if "error" in answer:
            self.assertClientIsRefused(answer["error"])
        wrong.close()
        self.assertState(client.call("registration.state")["state"], "active")
        self.assertValid(client.call("token.access"))

    def assertNoSignIn(self, client):
        try:
            state = client.call("registration.resume", url=self.redirect(client))["state"]
        except Refused as refused:
            error = {**refused.data, "message": refused.message}
        else:
            self.assertState(state, "failed", "registration")
            error = state["error"]
        client.close()
        self.assertClientIsRefused(error)

    def assertClientIsRefused(self, error):
        self.assertEqual(error["status"], "oauth", error)
        if error.get("oauthError") == "invalid_client":
            self.assertIn("clientSecret", error["message"])


@on_each([Allauth])
class SecretInTheBody(Confidential):
    """Tests with the toolkit, which accepts both methods. If the secret is in the header, the body does not
    name the client; the toolkit then finds no scopes for the code, and returns no id_token."""

    def test_nothing_configured(self):
        self.whole_session(self.open(POST))

    def test_in_the_header_there_is_no_id_token_and_so_no_sign_in(self):
        client = self.open(BASIC, tokenEndpointAuthMethod=BASIC)
        with self.assertRaises(Refused) as caught:
            self.resume(client, self.redirect(client))
        self.assertEqual(caught.exception.status, "idTokenInvalid")
        self.assertState(client.call("registration.state")["state"], "failed", "registration")


@on_each([PushingGlewlwyd, Toolkit])
class DeviceGrant(Confidential):
    def test_each_method(self):
        device = "device" if hasattr(self.provider, "device_pages") else "native"
        for method in (POST, BASIC):
            with self.subTest(method):
                client = self.open(
                    method,
                    account=method,
                    tokenEndpointAuthMethod=method,
                    **self.provider.confidential(method, device),
                )
                begun = client.call("registration.begin", kind="device")
                self.provider.connect(self.regular(), begun["action"])
                answer = client.call("registration.awaitOutcome", transaction=begun["transaction"], timeout=60)
                self.confirm(client, answer["state"])
                self.assertValid(self.refresh(client))
