"""Tests of sign-in, renewal and logout, step by step (flows.md §2, §5, §8)."""

from cases import CUSTOM, on_each_face
from sandbox import parameter


@on_each_face
class SignIn:
    def test_the_whole_way_and_again_in_another_process(self):
        client = self.open()
        self.sign_in(client)
        first = self.assertValid(client)
        client.close()

        client = self.open()
        self.assertState(client.call("registration.state")["state"], "active", "valid")
        self.assertEqual(client.call("token.access")["accessToken"], first["accessToken"])
        self.assertNotEqual(client.call("token.refresh")["accessToken"], first["accessToken"])
        client.call("logout.begin")
        self.assertState(client.call("registration.state")["state"], "unregistered")

    def test_one_store_shows_no_provider_or_client_what_is_anothers(self):
        mine = self.open()
        self.sign_in(mine)
        token = self.assertValid(mine)["accessToken"]

        elsewhere = self.own_sandbox()
        for changes in ({"issuer": elsewhere.issuer}, {"clientId": "another-app"}):
            other = self.open(**changes)
            self.assertState(other.call("registration.state")["state"], "unregistered")
            self.assertEqual(other.call("token.refresh")["outcome"], "reauthenticate")
            self.assertRefused("notFound", other, "identity.profile")
            other.call("logout.begin")
        self.assertEqual(elsewhere.control("counts")["counts"]["token"], 0)
        self.assertEqual(self.assertValid(mine)["accessToken"], token)
        self.assertEqual(mine.call("token.refresh")["outcome"], "valid")

    def test_the_process_that_receives_the_redirect_need_not_be_the_one_that_began(self):
        begun = self.begin(beginner := self.open())
        beginner.kill()
        client = self.open()
        self.assertState(client.call("registration.state")["state"], "authenticating")
        self.assertState(self.resume(client, self.sandbox.play(begun["action"]["url"])), "awaitingConfirmation")

    def test_a_loopback_redirect_comes_back_by_itself(self):
        client = self.open(redirectUri="http://127.0.0.1/callback")
        begun = self.begin(client)
        self.assertFalse(begun["survivesProcess"])
        waiting = client.start("registration.awaitOutcome", {"transaction": begun["transaction"], "timeout": 60})
        self.assertComesBack(begun, self.sandbox.play(begun["action"]["url"]))
        self.assertState(waiting.result()["state"], "awaitingConfirmation")
        self.confirm(client)

    def test_a_redirect_with_another_state_changes_nothing(self):
        client = self.open()
        url = self.sandbox.play(self.begin(client)["action"]["url"])
        forged = f"{CUSTOM}?code={parameter(url, 'code')}&state=somebody-elses"
        self.assertRefused("unsolicited", client, "registration.resume", url=forged)
        self.assertState(self.resume(client, url), "awaitingConfirmation")

    def test_once_the_code_is_sent_nothing_is_told_retryable_and_the_user_begins_again(self):
        self.sandbox = self.own_sandbox()
        client = self.open()
        url = self.sandbox.play(self.begin(client)["action"]["url"])
        self.sandbox.control("fault", fault="serverError", endpoint="token", times=1)
        refused = self.assertRefused("server", client, "registration.resume", url=url)
        self.assertFalse(refused.retryable)
        self.assertIn("Begin the sign-in again", refused.message)
        state = client.call("registration.state")["state"]
        self.assertState(state, "failed", "registration")
        self.assertFalse(state["error"]["retryable"])
        self.assertRefused("alreadySettled", client, "registration.resume", url=url)
        self.sign_in(client)

    def test_a_provider_that_is_away_before_the_code_is_sent_is_told_retryable_and_can_be_asked_again(self):
        self.sandbox = self.own_sandbox()
        url = self.sandbox.play(self.begin(beginner := self.open())["action"]["url"])
        beginner.kill()
        client = self.open()
        self.sandbox.control("fault", fault="serverError", endpoint="jwks", times=1)
        self.assertTrue(self.assertRefused("keysUnavailable", client, "registration.resume", url=url).retryable)
        self.assertState(self.resume(client, url), "awaitingConfirmation")

    def test_members_that_are_null_and_scopes_as_an_array_cost_nothing(self):
        self.sandbox = self.own_sandbox()
        for member, value in {"refresh_token": None, "expires_in": None, "scope": ["openid", "profile"]}.items():
            self.sandbox.control("fault", fault="setMember", endpoint="token", member=member, value=value, times=1)
        client = self.open()
        self.sign_in(client)
        self.assertValid(client)
        kept = client.call("diagnostics.export")["diagnostics"]["account"]["confirmed"]
        self.assertEqual(kept["scopes"], ["openid", "profile"])
        self.assertFalse(kept["hasRefreshToken"])

    def test_without_openid_a_userinfo_that_refuses_leaves_a_good_sign_in_with_an_empty_profile(self):
        self.sandbox = self.own_sandbox()
        self.sandbox.control("fault", fault="status", value=401, endpoint="userinfo")
        client = self.open(scopes=["profile"])
        state = self.resume(client, self.sandbox.play(self.begin(client)["action"]["url"]))
        self.assertState(state, "awaitingConfirmation")
        self.assertEqual(state["profile"], {})
        self.confirm(client)
        self.assertValid(client)
        told = client.call("diagnostics.export")["diagnostics"]["errors"]
        self.assertIn("without a profile", told[-1]["message"])

    def test_a_description_that_comes_once_a_character_is_not_shown(self):
        client = self.open()
        begun = self.begin(client)
        refusal = self.sandbox.control("settle", url=begun["action"]["url"], error="access_denied")["redirect"]
        url = refusal.replace("error_description=", "ignored=") + "&error_description=N&error_description=o"
        refused = self.assertRefused("accessDenied", client, "registration.resume", url=url)
        self.assertTrue(refused.message.endswith("the provider answered access_denied"), refused.message)

    def test_after_a_logout_the_prompt_of_the_host_is_merged_with_the_log_in_that_is_due(self):
        client = self.open()
        self.sign_in(client)
        client.call("logout.begin")
        url = self.begin(client, options={"prompt": "consent"})["action"]["url"]
        self.assertEqual(parameter(url, "prompt"), "login consent")
        refused = self.assertRefused(
            "loginRequired", client, "registration.begin", kind="signIn", options={"prompt": "none"}
        )
        self.assertEqual(refused.data["field"], "prompt")

    def test_a_provider_that_announces_no_prompt_for_a_log_in_can_be_signed_in_to_after_a_logout(self):
        self.sandbox = self.own_sandbox()
        self.sandbox.control(
            "fault", fault="setMember", endpoint="discovery", member="prompt_values_supported", value=["none", "create"]
        )
        client = self.open()
        self.sign_in(client)
        client.call("logout.begin")
        url = self.begin(client)["action"]["url"]
        self.assertNotIn("prompt=", url)
        self.assertEqual(client.call("diagnostics.export")["diagnostics"]["errors"][-1]["field"], "prompt")
        self.assertState(self.resume(client, self.sandbox.play(url)), "awaitingConfirmation")
