"""Tests with a provider that issued a secret to its native client (RFC 6749 §2.3.1, RFC 8252 §8.5)."""

from cases import Refused, on_each_face

SECRET = "GOCSPX-a secret+with/signs%"


@on_each_face
class ClientSecrets:
    def provide(self):
        return self.own_sandbox("--client-secret", SECRET, "--pushed-requests", "offered", "--device-interval", "1")

    def whole_session(self, **configuration):
        client = self.open(**configuration)
        self.sign_in(client)
        first = self.assertValid(client)["accessToken"]
        renewed = client.call("token.refresh")
        self.assertNotEqual(renewed["accessToken"], first)
        self.assertTrue(client.call("token.introspect")["active"])
        self.assertNotIn("GOCSPX", str(client.call("diagnostics.export")))
        client.call("token.revoke")
        self.assertEqual([session.get("end") for session in self.sandbox.control("sessions")["sessions"]], ["revoked"])

    def test_as_the_provider_announces(self):
        self.whole_session()

    def test_in_the_header(self):
        self.whole_session(tokenEndpointAuthMethod="client_secret_basic")

    def test_a_wrong_one_ends_no_session(self):
        self.sign_in(self.open())
        wrong = self.open(clientSecret="another")
        answer = wrong.call("token.refresh")
        self.assertEqual(answer["outcome"], "stale", answer)
        wrong.close()
        self.assertState(self.open().call("registration.state")["state"], "active")
        self.assertEqual([session.get("end") for session in self.sandbox.control("sessions")["sessions"]], [None])

    def test_a_value_that_no_secret_has_is_refused(self):
        for bad in ("", "a\nb", "x" * 513):
            with self.assertRaises(Refused) as caught:
                self.open(clientSecret=bad)
            self.assertEqual((caught.exception.status, caught.exception.data["field"]), ("configuration", "clientSecret"))
