"""Registration by e-mail link, the fallback link, and tabs that were closed (flows.md §3, §4, R9-R12)."""

import os

from cases import CUSTOM, on_each_face
from person import Person
from processes import wait_until
from sandbox import parameter

LINK = "https://app.example/welcome/{activationToken}"
FALLBACK = "com.example.app://identity/fallback"


@on_each_face
class EmailLinks:
    """A gateway that sends e-mails whose links lead to the app."""

    def provide(self):
        return self.own_sandbox("--gateway", "--activation-link", LINK)

    def open(self, **configuration):
        return super().open(**{"appLinks": [LINK], "fallbackUri": FALLBACK, **configuration})

    # Steps of the tests.

    def register(self, client, person, email="carol@example.com"):
        """Begins a registration in the browser; ends at the page that says that an e-mail was sent."""
        begun = self.begin(client, kind="register")
        person.open(begun["action"]["url"])
        if person.heading == "Sign in":
            person.follow("Register with your e-mail address")
        person.press(email=email)
        self.assertEqual(person.heading, "Check your e-mail")
        return begun

    def waiting(self, client, person, email="carol@example.com"):
        """Begins a registration, and the user closes the browser: the registration waits for its link."""
        begun = self.register(client, person, email)
        state = client.call("registration.cancel", transaction=begun["transaction"])["state"]
        self.assertWaits(state, begun)
        return begun

    def mailed_link(self):
        return self.sandbox.control("mails")["mails"][-1]["link"]

    def follow(self, client, link, command="url.handle"):
        begun = client.call(command, url=link)
        self.assertEqual(begun["kind"], "begun", begun)
        self.assertEqual(begun["action"]["type"], "openURL")
        return begun

    def set_password(self, person, url):
        """Sets a password on the welcome page; returns the person after the last page."""
        person.open(url)
        self.assertEqual(person.heading, "Welcome")
        return person.press(password="carol-password")

    def allow(self, person):
        if person.left is None and "Allow" in person.heading:
            person.press()
        return person.left

    def assertWaits(self, state, begun):
        self.assertState(state, "authenticating")
        self.assertEqual((state["step"], state["transaction"]), ("emailPending", begun["transaction"]))

    def assertLedNowhere(self, client, link, kind, offers):
        before = client.call("registration.state")["state"]
        for command in ("url.handle", "registration.handleLink"):
            answer = client.call(command, url=link)
            self.assertEqual((answer["kind"], answer.get("offers")), (kind, offers))
        self.assertEqual(client.call("registration.state")["state"], before)

    def assertHistory(self, email, *history):
        self.assertEqual(tuple(self.sandbox.control("accounts")["accounts"][email]), history)

    # The whole flow.

    def test_from_the_form_to_a_token_through_death_and_a_link(self):
        person = Person(self.sandbox)
        beginner = self.open()
        begun = self.register(beginner, person)
        self.assertHistory("carol@example.com", "STAGED", "PROVISIONED")
        beginner.kill()

        client = self.open()
        self.assertWaits(client.call("registration.state")["state"], begun)
        next_step = self.follow(client, self.mailed_link())
        url = next_step["action"]["url"]
        self.assertTrue(parameter(url, "activation_token"))
        self.assertNotEqual(next_step["transaction"], begun["transaction"])
        self.set_password(person, url)
        self.assertHistory("carol@example.com", "STAGED", "PROVISIONED", "ACTIVE")
        # The browser visited the hosted page, the callback of the gateway's own sign-in at the provider, and
        # the authorize request that had waited.
        for path in ("/login/login.htm", "/oauth/authorization-code/callback", "/authorize"):
            self.assertIn(path, person.seen)
        state = client.call("url.handle", url=self.allow(person))
        self.assertEqual(state["kind"], "registration")
        self.assertState(state["state"], "awaitingConfirmation")
        self.confirm(client)
        self.assertValid(client)
        self.assertEqual(client.call("identity.profile")["claims"]["email"], "carol@example.com")

    def test_registration_may_begin_with_prompt_create(self):
        client, person = self.open(registration="promptCreate"), Person(self.sandbox)
        begun = self.register(client, person)
        self.assertEqual(parameter(begun["action"]["url"], "prompt"), "create")
        self.assertEqual(person.seen[:3], ["/authorize", "/login/login.htm", "/register"])
        url = self.follow(client, self.mailed_link(), "registration.handleLink")["action"]["url"]
        self.assertNotIn("prompt=", url)
        self.set_password(person, url)
        self.assertState(self.resume(client, self.allow(person)), "awaitingConfirmation")

    def test_registration_may_begin_at_the_gateways_own_page(self):
        page = f"{self.sandbox.issuer}/register"
        client, person = self.open(registration={"registrationUri": page}), Person(self.sandbox)
        begun = self.begin(client, kind="register")
        self.assertEqual(begun["action"]["url"], page)
        self.assertFalse(begun.get("redirectUri"))
        self.assertWaits(client.call("registration.state")["state"], begun)
        person.open(page).press(email="carol@example.com")
        url = self.follow(client, self.mailed_link())["action"]["url"]
        self.set_password(person, url)
        self.assertState(self.resume(client, self.allow(person)), "awaitingConfirmation")

    def test_the_welcome_page_may_be_opened_itself_and_returns_by_the_fallback(self):
        page = self.sandbox.issuer + "/welcome/{activationToken}"
        client, person = self.open(activation="openPage", welcomePage=page), Person(self.sandbox)
        begun = self.waiting(client, person)
        link = self.mailed_link()
        opened = self.follow(client, link)
        token = link.rsplit("/", 1)[1]
        self.assertEqual(opened["action"]["url"], f"{self.sandbox.issuer}/welcome/{token}")
        self.assertEqual(opened["transaction"], begun["transaction"])
        self.assertEqual(self.set_password(person, opened["action"]["url"]).left, FALLBACK)
        silent = self.follow(client, person.left)["action"]["url"]
        self.assertEqual(parameter(silent, "prompt"), "none")
        # The user is signed in, but has not consented yet: an ordinary sign-in follows, without a password.
        refused = person.open(silent).left
        self.assertEqual(parameter(refused, "error"), "consent_required")
        ordinary = self.follow(client, refused)["action"]["url"]
        self.assertNotIn("prompt=", ordinary)
        person.open(ordinary)
        self.assertState(self.resume(client, self.allow(person)), "awaitingConfirmation")

    def test_a_loopback_redirect_waits_for_a_link_too(self):
        client, person = self.open(redirectUri="http://127.0.0.1/callback"), Person(self.sandbox)
        self.register(client, person)
        begun = self.follow(client, self.mailed_link())
        waiting = client.start("registration.awaitOutcome", {"transaction": begun["transaction"], "timeout": 30})
        self.set_password(person, begun["action"]["url"])
        # The core's loopback listener serves the next page, so the simulated user opens the redirect at that
        # listener.
        Person(type("App", (), {"issuer": "http://127.0.0.1"})).open(self.allow(person))
        self.assertState(waiting.result()["state"], "awaitingConfirmation")

    # Links without effect.

    def test_a_link_that_nobody_asked_for_does_nothing(self):
        client = self.open()
        self.sandbox.control("register", email="carol@example.com")
        link = self.mailed_link()
        self.assertLedNowhere(client, link, "unsolicited", ["signIn", "register"])
        self.begin(client)
        self.assertLedNowhere(client, link, "unsolicited", ["signIn", "register"])
        # The link has an effect only after the host itself has begun a registration.
        self.begin(client, kind="register")
        self.follow(client, link)

    def test_a_link_opened_twice_works_once(self):
        client, person = self.open(), Person(self.sandbox)
        self.waiting(client, person)
        link = self.mailed_link()
        begun = self.follow(client, link)
        self.assertLedNowhere(client, link, "linkUsed", ["signIn", "register"])
        self.assertLedNowhere(self.open(), link, "linkUsed", ["signIn", "register"])
        self.set_password(person, begun["action"]["url"])
        self.assertState(self.resume(client, self.allow(person)), "awaitingConfirmation")
        self.confirm(client)
        self.assertLedNowhere(client, link, "linkUsed", ["signIn", "register"])

    def test_a_link_opened_in_another_browser_leaves_the_choice_to_sign_in(self):
        client, person = self.open(), Person(self.sandbox)
        begun = self.waiting(client, person)
        token = self.mailed_link().rsplit("/", 1)[1]
        elsewhere = Person(self.sandbox)
        self.assertEqual(self.set_password(elsewhere, f"{self.sandbox.issuer}/welcome/{token}").left, FALLBACK)
        self.assertWaits(client.call("registration.state")["state"], begun)
        # The link was used in the other browser. It now leads to a page that says so, and from that page the
        # user can sign in.
        person.open(self.follow(client, self.mailed_link())["action"]["url"])
        self.assertEqual(person.heading, "This link works no more")
        person.follow("sign in").press(username="carol@example.com", password="carol-password")
        self.assertState(self.resume(client, self.allow(person)), "awaitingConfirmation")

    def test_a_link_burnt_by_a_mail_scanner_says_so_and_another_one_works(self):
        client, person = self.open(), Person(self.sandbox)
        self.waiting(client, person)
        burnt = self.mailed_link()
        self.sandbox.control("scanMails")
        person.open(self.follow(client, burnt)["action"]["url"])
        self.assertEqual(person.heading, "This link works no more")
        failure = self.assertRefused("activationFailed", client, "url.handle", url=person.press("cancel").left)
        self.assertEqual(failure.oauth_error, "access_denied")
        self.assertEqual(failure.blame, "user")
        self.assertState(client.call("registration.state")["state"], "failed", "registration")
        # The page offers to send another e-mail.
        self.waiting(client, person)
        self.assertNotEqual(self.mailed_link(), burnt)
        self.set_password(person, self.follow(client, self.mailed_link())["action"]["url"])
        self.assertState(self.resume(client, self.allow(person)), "awaitingConfirmation")

    def test_a_link_that_is_too_old_at_the_gateway(self):
        client, person = self.open(), Person(self.sandbox)
        self.waiting(client, person)
        self.sandbox.control("advanceClock", seconds=86_401)
        person.open(self.follow(client, self.mailed_link())["action"]["url"])
        self.assertIn("too old", person.page)

    def test_look_alikes_and_bad_tokens_are_refused_and_change_nothing(self):
        client, person = self.open(), Person(self.sandbox)
        begun = self.waiting(client, person)
        for link in (
            "https://app.example/welcome/",
            "https://app.example/welcome/" + "a" * 1025,
            "https://app.example/welcome/a%20b",
            "https://app.example/welcome/a%00",
            "https://app.example@evil.example/welcome/a",
            "https://app.example\\@evil.example/welcome/a",
        ):
            self.assertRefused("redirectMalformed", client, "registration.handleLink", url=link)
            self.assertRefused("redirectMalformed", client, "url.handle", url=link)
        for link in (
            "https://app.example.evil.example/welcome/a",
            "https://evil.example/welcome/a",
            "https://app.example/welcome/a?fromURI=https://evil.example",
            "https://APP.example/welcome/a",
            "com.example.app://identity/fallback/",
        ):
            self.assertRefused("redirectMismatch", client, "registration.handleLink", url=link)
            self.assertEqual(client.call("url.handle", url=link)["kind"], "unsolicited")
        self.assertWaits(client.call("registration.state")["state"], begun)
        self.follow(client, self.mailed_link())

    def test_the_token_is_in_no_log_and_no_file(self):
        client, person = self.open(), Person(self.sandbox)
        self.waiting(client, person)
        token = self.mailed_link().rsplit("/", 1)[1]
        url = self.follow(client, self.mailed_link())["action"]["url"]
        self.assertIn(token, url)
        with self.assertRaises(Exception) as refused:
            client.call("registration.resume", url=f"{CUSTOM}?code={token}&state={token}")
        self.assertNotIn(token, str(refused.exception))
        self.assertNotIn(token, client.log)
        self.assertNotIn(token, str(client.call("registration.state")))
        self.assertNotIn(token, str(self.sandbox.control("log")))
        for folder, _, names in os.walk(self.store):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    self.assertNotIn(token.encode(), file.read())

    # The fallback link.

    def test_a_fallback_without_a_transaction_is_unsolicited(self):
        client = self.open()
        self.assertLedNowhere(client, FALLBACK, "unsolicited", ["signIn"])

    def test_a_gateway_that_lost_its_way_falls_back_to_a_silent_sign_in(self):
        person = Person(self.sandbox)
        # The user has consented before, so no page asks the user.
        first = self.open(account="first")
        person.open(self.begin(first)["action"]["url"]).press(username="alice", password="alice-password")
        self.assertTrue(self.allow(person).startswith(CUSTOM))

        self.sandbox.control("gateway", readsFromURI=False)
        stranger = Person(self.sandbox)
        client = self.open()
        stranger.open(self.begin(client)["action"]["url"])
        self.assertEqual(stranger.press(username="alice", password="alice-password").left, FALLBACK)
        silent = self.follow(client, FALLBACK)
        self.assertEqual(parameter(silent["action"]["url"], "prompt"), "none")
        self.assertState(
            self.resume(client, stranger.open(silent["action"]["url"]).left), "awaitingConfirmation"
        )
        self.confirm(client)
        self.assertLedNowhere(client, FALLBACK, "unsolicited", ["signIn"])

    def test_login_required_leads_back_to_sign_in_and_never_round_in_a_circle(self):
        self.sandbox.control("gateway", readsFromURI=False)
        client, stranger = self.open(), Person(self.sandbox)
        first = self.begin(client)
        silent = self.follow(client, FALLBACK)
        refused = stranger.open(silent["action"]["url"]).left
        self.assertEqual(parameter(refused, "error"), "login_required")
        ordinary = self.follow(client, refused)
        self.assertNotIn("prompt=", ordinary["action"]["url"])
        self.assertLedNowhere(client, FALLBACK, "linkUsed", ["signIn"])
        self.assertRefused("alreadySettled", client, "url.handle", url=refused)
        # Each redirect still finds its own transaction, and so does the redirect of the first transaction.
        self.assertState(
            self.resume(client, self.sandbox.play(first["action"]["url"])), "awaitingConfirmation"
        )

    def test_a_silent_sign_in_that_needs_the_user_is_no_failure_to_report(self):
        client = self.open(errorReportUri=f"{self.sandbox.issuer}/app/error-report")
        self.begin(client)
        refused = Person(self.sandbox).open(self.follow(client, FALLBACK)["action"]["url"]).left
        self.assertEqual(parameter(refused, "error"), "login_required")
        ordinary = self.follow(client, refused)["action"]["url"]
        # Only this failure is reported. The outbox keeps the order of its messages, so a report about the
        # silent sign-in would come first.
        denied = self.sandbox.control("settle", url=ordinary, error="access_denied")["redirect"]
        self.assertRefused("accessDenied", client, "url.handle", url=denied)
        wait_until(lambda: self.sandbox.control("received")["messages"], "the report")
        codes = [report["body"]["code"] for report in self.sandbox.control("received")["messages"]]
        self.assertEqual(codes, ["accessDenied"])

    def test_the_outcome_of_a_silent_sign_in_is_typed(self):
        client, stranger = self.open(), Person(self.sandbox)
        self.begin(client)
        silent = self.follow(client, FALLBACK)
        refused = stranger.open(silent["action"]["url"]).left
        self.assertRefused("loginRequired", client, "registration.resume", url=refused)
        self.assertState(client.call("registration.state")["state"], "failed", "registration")

    # Closed tabs.

    def test_a_closed_tab_is_a_hint_and_the_newest_is_not_the_only_one(self):
        client = self.open()
        begun = [self.begin(client, kind=kind) for kind in ("signIn", "register", "signIn", "register")]
        state = client.call("registration.cancel", transaction=begun[0]["transaction"])["state"]
        self.assertState(state, "authenticating")
        state = client.call("registration.cancel")["state"]
        self.assertWaits(state, begun[3])
        for transaction in (begun[1], begun[0]):
            url = self.sandbox.play(transaction["action"]["url"])
            self.assertState(self.resume(client, url), "awaitingConfirmation")
            self.assertRefused("alreadySettled", client, "registration.resume", url=url)
            self.confirm(client)
        self.assertValid(client)

    def test_retry_gives_the_wait_up(self):
        client, person = self.open(), Person(self.sandbox)
        self.waiting(client, person)
        self.assertState(client.call("registration.retry")["state"], "unregistered")
        self.assertState(self.open().call("registration.state")["state"], "unregistered")
