"""The provider's information about a token (flows.md §11, RFC 7662): Glewlwyd gives a public client
information about the client's own token."""

from cases import on_each
from glewlwyd_provider import BindingGlewlwyd, Glewlwyd


@on_each([Glewlwyd, BindingGlewlwyd])
class Introspection:
    def test_both_tokens_are_told_active(self):
        client = self.open()
        self.sign_in(client)
        told = client.call("token.introspect")
        self.assertTrue(told["active"], told)
        self.assertEqual(told["claims"]["client_id"], self.provider.client_id)
        refresh = client.call("token.introspect", token="refreshToken")
        self.assertTrue(refresh["active"], refresh)
        self.assertNotIn(client.call("token.access")["accessToken"], str(told) + str(refresh))
