"""Tests of pushed authorization requests (flows.md §11, RFC 9126)."""

from urllib.parse import parse_qs, urlsplit

from cases import on_each
from faces import Refused
from glewlwyd_provider import Glewlwyd, PushingGlewlwyd
from providers import CUSTOM


@on_each([PushingGlewlwyd])
class PushedRequests:
    def test_the_browser_carries_a_name_only_and_the_sign_in_goes_on(self):
        client = self.open()
        url = self.begin(client, options={"prompt": "login"})["action"]["url"]
        query = parse_qs(urlsplit(url).query)
        self.assertEqual(sorted(query), ["client_id", "request_uri"])
        self.assertTrue(query["request_uri"][0].startswith("urn:ietf:params:oauth:request_uri:"), query)
        visit = self.somebody().open(url, until=CUSTOM)
        self.confirm(client, self.resume(client, visit.redirect))
        self.assertValid(client.call("token.access"))
        self.assertValid(self.refresh(client))

    def test_what_the_provider_refuses_to_take_is_told_at_once(self):
        """The provider refuses a redirect that is not registered for this client. The app gets the error before a
        browser opens."""
        client = self.open(redirect="com.example.app:/not-registered")
        with self.assertRaises(Refused) as caught:
            client.call("registration.begin", kind="signIn")
        self.assertEqual(caught.exception.status, "oauth", caught.exception)
        self.assertState(client.call("registration.state")["state"], "unregistered")

    def test_a_configuration_that_rules_it_out_is_told_so(self):
        client = self.open(pushedRequests="never")
        with self.assertRaises(Refused) as caught:
            client.call("registration.begin", kind="signIn")
        self.assertEqual(caught.exception.status, "unsupported", caught.exception)


@on_each([Glewlwyd])
class WithoutPushedRequests:
    def test_a_configuration_that_insists_is_told_that_there_is_no_endpoint(self):
        client = self.open(pushedRequests="always")
        with self.assertRaises(Refused) as caught:
            client.call("registration.begin", kind="signIn")
        self.assertEqual(caught.exception.status, "unsupported", caught.exception)
