"""Pushed authorization requests (flows.md §11, RFC 9126)."""

import time
from urllib.parse import parse_qs, urlsplit

from cases import on_each_face


@on_each_face
class PushedRequests:
    def provide(self):
        return self.own_sandbox("--pushed-requests", "required")

    def test_the_url_carries_a_name_and_the_sign_in_goes_on(self):
        client = self.open()
        begun = self.begin(client, options={"prompt": "login"})
        query = parse_qs(urlsplit(begun["action"]["url"]).query)
        self.assertEqual(sorted(query), ["client_id", "request_uri"])
        redirect = self.sandbox.play(begun["action"]["url"])
        self.assertState(self.resume(client, redirect), "awaitingConfirmation")
        self.confirm(client)
        self.assertValid(client)
        self.assertEqual(self.sandbox.control("counts")["counts"]["pushed"], 1)

    def test_until_when_the_url_can_be_opened(self):
        client = self.open()
        self.sandbox.control("fault", fault="setMember", endpoint="pushed", member="expires_in", value=40, times=1)
        before = time.time()
        begun = self.begin(client, options={"opensLater": True})
        # The provider requires pushing, so the request is pushed anyway.
        self.assertIn("request_uri=", begun["action"]["url"])
        self.assertGreaterEqual(begun["urlExpiresAt"], int(before) + 40)
        self.assertLess(begun["urlExpiresAt"], begun["expiresAt"])

    def test_a_url_that_is_opened_later_is_pushed_only_if_that_is_required(self):
        self.sandbox = self.own_sandbox("--pushed-requests", "offered")
        begun = self.begin(self.open(), options={"opensLater": True})
        self.assertNotIn("request_uri=", begun["action"]["url"])
        self.assertNotIn("urlExpiresAt", begun)

    def test_a_push_that_is_refused_leaves_nothing_behind(self):
        client = self.open()
        self.sandbox.control("fault", fault="oauthError", endpoint="pushed", value="invalid_request", times=1)
        refused = self.assertRefused("oauth", client, "registration.begin", kind="signIn")
        self.assertEqual(refused.oauth_error, "invalid_request")
        self.sandbox.control("fault", fault="omitMember", endpoint="pushed", member="request_uri", times=1)
        self.assertRefused("responseInvalid", client, "registration.begin", kind="signIn")
        self.sandbox.control("fault", fault="setMember", endpoint="pushed", member="expires_in", value=0, times=1)
        self.assertRefused("responseInvalid", client, "registration.begin", kind="signIn")
        self.assertState(client.call("registration.state")["state"], "unregistered")
        self.sign_in(client)

    def test_a_configuration_that_rules_it_out_is_told_so(self):
        client = self.open(pushedRequests="never")
        refused = self.assertRefused("unsupported", client, "registration.begin", kind="signIn")
        self.assertEqual(refused.data["field"], "pushedRequests")
