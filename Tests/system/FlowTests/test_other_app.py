"""Registration with another app in two steps (flows.md §9)."""

from cases import CUSTOM, on_each_face


class WithOtherApp:
    def provide(self):
        return self.own_sandbox()

    def settings(self, **more):
        base = f"{self.sandbox.issuer}/other-app"
        return {"initUri": f"{base}/init", "completeUri": f"{base}/complete", "allowedLinks": [base], **more}

    def open_other(self, **settings):
        return self.open(app2app=self.settings(**settings))

    def begin_other(self, client):
        begun = self.begin(client, kind="app2app")
        self.assertEqual(begun["action"]["type"], "openOtherApp")
        return begun


@on_each_face
class OtherApp(WithOtherApp):
    """The steps of the flow: init, the other app's link, the return link, complete."""

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
        self.assertState(state, "awaitingConfirmation")
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
        self.assertState(state, "awaitingConfirmation")
        self.assertEqual(state["profile"], {})

    def test_with_two_pending_only_the_one_that_the_host_names_is_settled(self):
        """R6. The gateway refuses an artefact of another session, and the transaction waits for the right artefact."""
        client = self.open_other()
        first, second = self.begin_other(client), self.begin_other(client)
        url = self.sandbox.play_other_app(second["action"]["url"])
        self.assertRefused("unsolicited", client, "registration.resume", url=url)
        self.assertEqual(client.call("url.handle", url=url)["kind"], "unsolicited")
        self.assertRefused("notFound", client, "registration.resume", url=url, transaction="nobody")
        refused = self.assertRefused(
            "codeRejected", client, "registration.resume", url=url, transaction=first["transaction"]
        )
        self.assertEqual(refused.oauth_error, "invalid_grant")
        self.assertState(client.call("registration.state")["state"], "authenticating")
        state = client.call("registration.resume", url=url, transaction=second["transaction"])["state"]
        self.assertState(state, "awaitingConfirmation")

    def test_the_other_app_is_missing(self):
        client = self.open_other()
        begun = self.begin_other(client)
        state = client.call("registration.otherAppMissing", transaction=begun["transaction"])["state"]
        self.assertState(state, "failed", "registration")
        self.assertEqual(state["error"]["status"], "otherAppMissing")
        self.assertRefused(
            "alreadySettled", client, "registration.otherAppMissing", transaction=begun["transaction"]
        )
        self.begin_other(client)

    def test_an_init_without_link_or_with_one_that_is_not_allowed_begins_nothing(self):
        client = self.open_other()
        self.sandbox.control("fault", fault="omitMember", endpoint="otherAppInit", member="link", times=1)
        self.assertRefused("responseInvalid", client, "registration.begin", kind="app2app")
        for link in ("javascript:alert(1)", "https://evil.example/other-app", f"{self.sandbox.issuer}/other-apple"):
            self.sandbox.control(
                "fault", fault="setMember", endpoint="otherAppInit", member="link", value=link, times=1
            )
            self.assertRefused("responseInvalid", client, "registration.begin", kind="app2app")
        self.assertState(client.call("registration.state")["state"], "unregistered")

    def test_a_complete_that_is_refused_ends_in_f_and_is_never_sent_again(self):
        client = self.open_other()
        begun = self.begin_other(client)
        url = self.sandbox.play_other_app(begun["action"]["url"])
        self.sandbox.control("fault", fault="serverError", endpoint="otherAppComplete", times=1)
        self.assertRefused("server", client, "registration.resume", url=url)
        self.assertState(client.call("registration.state")["state"], "failed", "registration")
        self.assertRefused(
            "alreadySettled", client, "registration.resume", url=url, transaction=begun["transaction"]
        )
        self.assertEqual(self.sandbox.control("counts")["counts"]["otherAppComplete"], 1)


@on_each_face
class PINStep(WithOtherApp):
    """The last step: the tokens are stored, but cannot be used before the user has set a PIN."""

    def open_other(self, **settings):
        return super().open_other(requirePin=True, **settings)

    def come_back(self, client):
        """Runs the flow up to the return from the other app; returns the state and the transaction."""
        begun = self.begin_other(client)
        state = self.resume(client, self.sandbox.play_other_app(begun["action"]["url"]))
        return state, begun["transaction"]

    def at_pin(self, client):
        state, transaction = self.come_back(client)
        self.assertAtPIN(state, transaction)
        return transaction

    def assertAtPIN(self, state, transaction):
        self.assertState(state, "authenticating")
        self.assertEqual((state["step"], state["transaction"]), ("pin", transaction))

    def test_the_profile_is_shown_and_confirmed_behind_the_pin(self):
        client = self.open_other()
        transaction = self.at_pin(client)
        self.assertRefused("illegalState", client, "registration.confirm")
        self.assertRefused("illegalState", client, "registration.begin", kind="signIn")
        self.assertRefused("illegalState", client, "token.access")
        self.assertRefused("invalidArgument", client, "pin.set", pin="123")
        self.assertAtPIN(client.call("registration.cancel")["state"], transaction)
        client.call("pin.set", pin="2468")
        state = client.call("registration.state", wait=True)["state"]
        self.assertState(state, "awaitingConfirmation")
        self.assertEqual(state["profile"]["sub"], "user-alice")
        self.confirm(client)
        self.assertValid(client)
        other = self.open_other()
        self.assertRefused("storeLocked", other, "registration.state")
        self.assertEqual(other.call("pin.unlock", pin="2468")["outcome"], "unlocked")
        self.assertState(other.call("registration.state")["state"], "active", "valid")
        self.assertValid(other)

    def test_death_before_the_pin_and_death_before_the_yes_lose_nothing(self):
        client = self.open_other()
        transaction = self.at_pin(client)
        client.kill()
        client = self.open_other()
        self.assertAtPIN(client.call("registration.state")["state"], transaction)
        client.kill()
        client = self.open_other()
        client.call("pin.set", pin="2468")
        self.assertState(client.call("registration.state")["state"], "awaitingConfirmation")
        client.kill()
        client = self.open_other()
        self.assertRefused("storeLocked", client, "registration.state")
        client.call("pin.unlock", pin="2468")
        self.assertState(client.call("registration.state")["state"], "awaitingConfirmation")
        self.confirm(client)
        self.assertValid(client)

    def test_retry_gives_the_tokens_back_and_begins_anew(self):
        client = self.open_other()
        self.at_pin(client)
        self.assertState(client.call("registration.retry")["state"], "unregistered")
        self.assertEqual([session["end"] for session in self.sandbox.control("sessions")["sessions"]], ["revoked"])
        self.assertEqual(client.call("account.read"), {})
        self.at_pin(client)

    def test_without_confirmation_the_pin_leads_to_the_session(self):
        client = self.open(confirmation=False, app2app=self.settings(requirePin=True))
        self.at_pin(client)
        client.call("pin.set", pin="2468")
        self.assertState(client.call("registration.state")["state"], "active", "confirmed")
        self.assertValid(client)

    def test_who_has_a_pin_is_not_asked_for_another(self):
        client = self.open_other()
        self.at_pin(client)
        client.call("pin.set", pin="2468")
        self.confirm(client)
        state, _ = self.come_back(client)
        self.assertState(state, "awaitingConfirmation")
        self.confirm(client)
        self.assertRefused("storeLocked", self.open_other(), "registration.state")

    def test_a_store_that_keeps_no_pins_begins_nothing(self):
        client = self.open(store="memory", app2app=self.settings(requirePin=True))
        self.assertRefused("unsupported", client, "registration.begin", kind="app2app")
        self.assertEqual(self.sandbox.control("counts")["counts"]["otherAppInit"], 0)
        self.assertState(client.call("registration.state")["state"], "unregistered")
