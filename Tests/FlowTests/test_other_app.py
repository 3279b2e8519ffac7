"""Registration with another app in two steps (flows.md §9)."""

from cases import CUSTOM, on_each_face


@on_each_face
class OtherApp:
    """Init, the other app's link, its way back, complete."""

    def provide(self):
        return self.own_sandbox()

    def test_the_whole_way_in_another_process(self):
        begun = self.begin_other(beginner := self.open_other())
        self.assertTrue(begun["survivesProcess"])
        state = beginner.call("registration.state")["state"]
        self.assertEqual(state["step"], "otherApp", state)
        beginner.kill()

        client = self.open_other()
        self.assertState(client.call("registration.state")["state"], "authenticating")
        url = self.sandbox.play_other_app(begun["action"]["url"])
        self.assertTrue(url.startswith(f"{CUSTOM}?artefactId="), url)
        state = self.resume(client, url)
        self.assertState(state, "awaitingConfirmation", "G")
        self.assertEqual(state["profile"]["sub"], "user-alice")
        self.confirm(client)
        token = self.assertValid(client)["accessToken"]
        self.assertNotEqual(client.call("token.refresh")["accessToken"], token)
        self.assertNotIn("registrationType", client.call("account.read"))
        self.assertRefused("unsolicited", client, "registration.resume", url=url)

    def test_a_refresh_token_alone_is_renewed_at_once_and_names_of_fields_are_the_gateways(self):
        self.sandbox.control(
            "otherApp", answer="refreshTokenOnly", fields={"sessionId": "sessionID", "link": "digidRequest"}
        )
        client = self.open_other(fields={"sessionId": "sessionID", "link": "digidRequest"})
        url = self.sandbox.play_other_app(self.begin_other(client)["action"]["url"])
        self.assertEqual(client.call("url.handle", url=url)["kind"], "registration")
        self.confirm(client)
        self.assertValid(client)

    def test_without_an_id_token_the_profile_is_what_userinfo_says_or_empty(self):
        self.sandbox.control("otherApp", answer="withoutIDToken")
        client = self.open_other()
        state = self.resume(client, self.sandbox.play_other_app(self.begin_other(client)["action"]["url"]))
        self.assertEqual(state["profile"]["email"], "alice@example.com")
        client.call("registration.retry")
        self.sandbox.control("fault", fault="serverError", endpoint="userinfo")
        state = self.resume(client, self.sandbox.play_other_app(self.begin_other(client)["action"]["url"]))
        self.assertState(state, "awaitingConfirmation", "G")
        self.assertEqual(state["profile"], {})

    def test_with_two_pending_only_the_one_that_the_host_names_is_settled(self):
        """R6; an artefact for another session is refused by the gateway, and ends in F."""
        client = self.open_other()
        first, second = self.begin_other(client), self.begin_other(client)
        url = self.sandbox.play_other_app(second["action"]["url"])
        self.assertRefused("unsolicited", client, "registration.resume", url=url)
        self.assertEqual(client.call("url.handle", url=url)["kind"], "unsolicited")
        self.assertRefused("notFound", client, "registration.resume", url=url, transaction="nobody")
        refused = self.assertRefused(
            "oauth", client, "registration.resume", url=url, transaction=first["transaction"]
        )
        self.assertEqual(refused.oauth_error, "invalid_grant")
        self.assertState(client.call("registration.state")["state"], "failed", "F")
        state = client.call("registration.resume", url=url, transaction=second["transaction"])["state"]
        self.assertState(state, "awaitingConfirmation", "G")

    def test_the_other_app_is_missing(self):
        client = self.open_other()
        begun = self.begin_other(client)
        state = client.call("registration.otherAppMissing", transaction=begun["transaction"])["state"]
        self.assertState(state, "failed", "F")
        self.assertEqual(state["error"]["status"], "otherAppMissing")
        self.assertRefused(
            "alreadySettled", client, "registration.otherAppMissing", transaction=begun["transaction"]
        )
        self.begin_other(client)

    def test_an_init_without_link_or_with_one_that_is_not_allowed_begins_nothing(self):
        client = self.open_other()
        self.sandbox.control("fault", fault="omitMember", endpoint="otherAppInit", member="link", times=1)
        self.assertRefused("responseInvalid", client, "registration.begin", kind="anotherApp")
        for link in ("javascript:alert(1)", "https://evil.example/other-app", f"{self.sandbox.issuer}/other-apple"):
            self.sandbox.control(
                "fault", fault="setMember", endpoint="otherAppInit", member="link", value=link, times=1
            )
            self.assertRefused("responseInvalid", client, "registration.begin", kind="anotherApp")
        self.assertState(client.call("registration.state")["state"], "unregistered", "D")

    def test_a_complete_that_is_refused_ends_in_f_and_is_never_sent_again(self):
        client = self.open_other()
        begun = self.begin_other(client)
        url = self.sandbox.play_other_app(begun["action"]["url"])
        self.sandbox.control("fault", fault="serverError", endpoint="otherAppComplete", times=1)
        self.assertRefused("server", client, "registration.resume", url=url)
        self.assertState(client.call("registration.state")["state"], "failed", "F")
        self.assertRefused(
            "alreadySettled", client, "registration.resume", url=url, transaction=begun["transaction"]
        )
        self.assertEqual(self.sandbox.control("counts")["counts"]["otherAppComplete"], 1)

    def open_other(self, **settings):
        base = f"{self.sandbox.issuer}/other-app"
        return self.open(
            anotherApp={
                "initUri": f"{base}/init", "completeUri": f"{base}/complete", "allowedLinks": [base], **settings
            }
        )

    def begin_other(self, client):
        begun = self.begin(client, kind="anotherApp")
        self.assertEqual(begun["action"]["type"], "openOtherApp")
        return begun
