"""A provider behind TLS with a private CA (R19, R20)."""

import tls
from cases import Refused, on_each
from glewlwyd_provider import Glewlwyd
from processes import free_port, wait_until


class Behind(Glewlwyd):
    """Glewlwyd behind a TLS front, whose address browsers and clients use."""

    def __init__(self):
        self.certificates = tls.Certificates()
        port = free_port()
        self.front = tls.Front(self.certificates, port)
        super().__init__(external=self.front.base, port=port)

    def configuration(self, *arguments, **more):
        settings = {"caFile": str(self.certificates.ca_file), **more}
        configuration = super().configuration(*arguments, **settings)
        del configuration["allowLoopbackHTTP"]
        return {name: value for name, value in configuration.items() if value is not None}

    def stop(self):
        self.front.close()
        super().stop()


@on_each([Behind])
class PrivateCA:
    def setUp(self):
        super().setUp()
        self.provider.front.present(tls.GOOD)

    def test_a_certificate_of_the_configured_ca_is_trusted_for_the_whole_sign_in(self):
        """With an id_token in EdDSA (R21)."""
        client = self.open(clientId=self.provider.facts.clients["EdDSA"])
        self.sign_in(client, self.regular())
        first = client.call("token.access")
        self.assertValid(first)
        self.assertTrue(client.call("identity.userinfo")["claims"]["sub"])
        self.assertNotEqual(self.refresh(client)["accessToken"], first["accessToken"])

    def test_a_certificate_for_another_host_is_refused(self):
        self.assertDistrusted(tls.WRONG_HOST)

    def test_an_expired_certificate_is_refused(self):
        self.assertDistrusted(tls.EXPIRED)

    def test_a_certificate_of_an_unknown_ca_is_refused(self):
        self.assertDistrusted(tls.UNKNOWN_CA)

    def test_a_private_ca_is_not_trusted_unless_configured(self):
        self.assertDistrusted(tls.GOOD, caFile=None)

    def test_a_code_and_a_refresh_token_are_not_sent_to_a_host_that_lost_its_certificate(self):
        client = self.open()
        url = self.redirect(client)
        self.assertNothingSent(tls.EXPIRED, lambda: self.fails_to_resume(client, url))

        self.provider.front.present(tls.GOOD)
        client = self.open()
        self.sign_in(client)
        token = client.call("token.access")["accessToken"]
        self.assertNothingSent(tls.UNKNOWN_CA, lambda: self.fails_to_refresh(client))
        self.assertEqual(client.call("token.access")["accessToken"], token)

        self.provider.front.present(tls.GOOD)
        # The next renewal is sent only after the pause that follows a failure.
        wait_until(lambda: self.refresh(client)["accessToken"] != token, "another token")

    # The client refuses the connection: the call fails with an error that is not retryable, and sends no byte of a
    # request.

    def assertDistrusted(self, certificate, **configuration):
        client = self.open(**configuration)

        def begin():
            with self.assertRaises(Refused) as caught:
                client.call("registration.begin", kind="signIn")
            self.assertFalse(caught.exception.retryable, caught.exception)
            self.assertIn("tls", caught.exception.status.lower())

        self.assertNothingSent(certificate, begin)

    def assertNothingSent(self, certificate, action):
        self.provider.front.present(certificate)
        self.provider.front.drop_connections()
        before = self.provider.front.requests
        action()
        self.assertEqual(self.provider.front.requests, before)

    def fails_to_resume(self, client, url):
        try:
            self.assertState(client.call("registration.resume", url=url)["state"], "failed", "registration")
        except Refused as refused:
            self.assertFalse(refused.retryable, refused)

    def fails_to_refresh(self, client):
        try:
            self.assertNotEqual(client.call("token.refresh")["outcome"], "valid")
        except Refused as refused:
            self.assertFalse(refused.retryable, refused)
