"""Tests of social sign-in (flows.md §6): EnrollKit sends the connection that the user chose in the provider's
own parameter."""

from cases import Refused, on_each_face
from sandbox import parameter


@on_each_face
class Social:
    def test_the_connection_by_each_name_and_the_type_is_kept(self):
        for name in ("connection", "kc_idp_hint"):
            client = self.open(account=name.replace("_", "-"), connectionParameter=name)
            begun = self.begin(client, options={"connection": "google-oauth2", "prompt": "login"})
            url = begun["action"]["url"]
            self.assertEqual(parameter(url, name), "google-oauth2")
            self.assertEqual(parameter(url, "prompt"), "login")
            self.assertState(self.resume(client, self.sandbox.play(url)), "awaitingConfirmation")
            self.confirm(client)
            self.assertEqual(client.call("account.read")["registrationType"], "SOCIAL")
            client.call("token.refresh")
            self.assertEqual(client.call("account.read")["registrationType"], "SOCIAL")
            client.call("logout.begin", localOnly=True)
            self.assertNotIn("registrationType", client.call("account.read"))

    def test_the_protocol_s_own_names_are_refused(self):
        for name in ("client_id", "state", "prompt", "redirect_uri", ""):
            with self.subTest(name):
                self.assertOpenRefused("connectionParameter", connectionParameter=name)

    def test_a_connection_twice_is_refused(self):
        refused = self.assertRefused(
            "invalidArgument",
            self.open(),
            "registration.begin",
            options={"connection": "google"},
            parameters={"connection": "facebook"},
        )
        self.assertEqual(refused.data["field"], "parameters")

    def assertOpenRefused(self, field, **configuration):
        with self.assertRaises(Refused) as caught:
            self.open(**configuration)
        self.assertEqual((caught.exception.status, caught.exception.data["field"]), ("configuration", field))
