"""Tests with a provider whose clock is wrong (R25): its Date header shows the error, and its tokens are
checked against that clock."""

from cases import on_each
from glewlwyd_provider import Glewlwyd


class Ahead(Glewlwyd):
    name = "Glewlwyd an hour ahead"

    def __init__(self):
        super().__init__(clock="+1h")


class Behind(Glewlwyd):
    name = "Glewlwyd an hour behind"

    def __init__(self):
        super().__init__(clock="-1h")


@on_each([Ahead, Behind])
class WrongClock:
    def test_signing_in_and_renewing_work_and_a_token_lives_as_long_as_it_was_given(self):
        client = self.open()
        self.sign_in(client)
        first = client.call("token.access")
        self.assertValid(first)
        self.assertEqual(
            client.call("token.access", minimumLifetime=3000)["accessToken"], first["accessToken"]
        )
        second = self.refresh(client)
        self.assertValid(second)
        self.assertTrue(client.call("identity.userinfo")["claims"]["sub"])
