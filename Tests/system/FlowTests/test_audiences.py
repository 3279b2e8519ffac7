"""Tests of access tokens for several audiences from one session (flows.md §8, RFC 8707)."""

from cases import on_each_face

API, FILES = "https://api.example.com/", "https://files.example.com/"


@on_each_face
class Audiences:
    def provide(self):
        return self.own_sandbox()

    def token(self, client, **audience):
        answer = client.call("token.access", **audience)
        self.assertEqual(answer["outcome"], "valid", answer)
        return answer["accessToken"]

    def test_each_audience_has_a_token_of_its_own_beside_the_first(self):
        client = self.open()
        self.sign_in(client)
        first = self.assertValid(client)["accessToken"]
        api, files = self.token(client, resource=API), self.token(client, resource=FILES, scope="profile openid")
        narrow = self.token(client, scope="openid")
        self.assertEqual(len({first, api, files, narrow}), 4)
        # The order of the scopes must not matter, and no further request may be sent.
        self.assertEqual(self.token(client, resource=FILES, scope="openid profile"), files)
        self.assertEqual(self.assertValid(client)["accessToken"], first)
        kept = client.call("token.list")["tokens"]
        self.assertEqual(
            [(one.get("resource"), one.get("scope")) for one in kept],
            [(None, None), (API, None), (FILES, "openid profile"), (None, "openid")],
        )
        self.assertEqual(kept[2]["granted"].split(), ["openid", "profile"])
        for token in (first, api, files, narrow):
            self.assertNotIn(token, str(kept))
        # Another process must find both tokens, and renew with the last refresh token.
        again = self.open()
        self.assertEqual(self.token(again, resource=API), api)
        renewed = again.call("token.refresh", resource=API)
        self.assertEqual(renewed["outcome"], "valid", renewed)
        self.assertNotEqual(renewed["accessToken"], api)
        self.assertEqual(self.assertValid(again)["accessToken"], first)

    def test_an_audience_that_the_provider_refuses_leaves_the_session_alone(self):
        client = self.open()
        self.sign_in(client)
        first = self.assertValid(client)["accessToken"]
        for audience in ({"resource": "https://unknown.example.com/"}, {"scope": "admin"}):
            self.assertEqual(client.call("token.access", **audience)["outcome"], "rejected")
        self.assertEqual(self.assertValid(client)["accessToken"], first)
        self.assertNotEqual(self.token(client, resource=API), first)

    def test_what_cannot_be_sent_is_refused(self):
        client = self.open()
        self.sign_in(client)
        for bad in (API + "#part", "/relative", "http://api.example.com/", API + "a" * 2048):
            refused = self.assertRefused("invalidArgument", client, "token.access", resource=bad)
            self.assertIn("resource", refused.message + str(refused.data))
        for bad in ("", "openid  profile", "openid openid"):
            self.assertRefused("invalidArgument", client, "token.access", scope=bad)
        self.assertEqual(len(client.call("token.list")["tokens"]), 1)

    def test_a_sign_out_drops_them(self):
        client = self.open()
        self.sign_in(client)
        self.token(client, resource=API)
        client.call("logout.begin")
        self.assertEqual(client.call("token.list")["tokens"], [])
        self.assertEqual(client.call("token.access", resource=API)["outcome"], "reauthenticate")
