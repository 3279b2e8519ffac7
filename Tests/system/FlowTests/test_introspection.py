"""Tests of asking the provider about a token (flows.md §11, RFC 7662)."""

from cases import on_each_face


@on_each_face
class Introspection:
    def test_both_tokens_are_told_active_and_neither_is_handed_out(self):
        client = self.open()
        self.assertRefused("reauthenticate", client, "token.introspect")
        self.sign_in(client)
        told = client.call("token.introspect")
        self.assertTrue(told["active"], told)
        self.assertEqual(told["claims"]["client_id"], "sample-app")
        refresh = client.call("token.introspect", token="refreshToken")
        self.assertTrue(refresh["active"], refresh)
        self.assertNotIn(self.assertValid(client)["accessToken"], str(told) + str(refresh))

    def test_inactive_is_an_answer(self):
        self.sandbox = self.own_sandbox()
        client = self.open()
        self.sign_in(client)
        self.sandbox.control("fault", fault="setMember", endpoint="introspection", member="active", value=False)
        self.assertIs(client.call("token.introspect")["active"], False)

    def test_bound_to_a_key(self):
        self.sandbox = self.own_sandbox("--dpop", "required", "--demand-nonces")
        client = self.open()
        self.sign_in(client)
        told = client.call("token.introspect")
        self.assertTrue(told["active"], told)
        self.assertEqual(told["claims"]["token_type"], "DPoP")
        self.assertTrue(told["claims"]["cnf"]["jkt"])

    def test_an_answer_that_says_nothing_is_refused(self):
        self.sandbox = self.own_sandbox()
        client = self.open()
        self.sign_in(client)
        self.sandbox.control("fault", fault="omitMember", endpoint="introspection", member="active")
        self.assertRefused("responseInvalid", client, "token.introspect")
