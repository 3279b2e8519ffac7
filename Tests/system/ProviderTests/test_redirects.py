"""Tests of redirects that are late, repeated, simultaneous or forged (R4-R8, R15, R17)."""

import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import quote

from canaille_provider import Canaille
from cases import Refused, on_each, parameter, with_query
from processes import is_listening, wait_until
from providers import BOB, CUSTOM

A_STATE = "A" * 43


@on_each()
class CustomScheme:
    def test_a_process_killed_before_the_redirect_is_followed_by_one_that_finishes(self):
        client = self.open()
        url = self.redirect(client, self.regular())
        client.kill()
        heir = self.open()
        self.confirm(heir, self.resume(heir, url))
        self.assertValid(heir.call("token.access"))

    def test_a_redirect_with_another_state_has_no_effect_and_the_right_one_still_works(self):
        """R6, R7: an error redirect with another state must have no effect, either."""
        client = self.open()
        right = self.redirect(client, self.regular())
        self.assertNoEffect(client, with_query(right, state=A_STATE))
        self.assertNoEffect(client, with_query(right, state=None))
        self.assertNoEffect(client, f"{CUSTOM}?error=access_denied&state={A_STATE}")
        self.assertNoEffect(client, f"{CUSTOM}?error=access_denied")
        self.confirm(client, self.resume(client, right))

    def test_the_same_redirect_a_second_time_is_refused_and_changes_nothing(self):
        """R12, R15: the code must not be sent again, because Glewlwyd would then revoke the tokens."""
        client = self.open()
        url = self.redirect(client, self.regular())
        self.confirm(client, self.resume(client, url))
        token = client.call("token.access")["accessToken"]
        sent = self.provider.token_requests()
        self.assertNoEffect(client, url)
        self.assertEqual(self.provider.token_requests(), sent)
        self.assertEqual(client.call("token.access")["accessToken"], token)
        self.assertTrue(client.call("identity.userinfo")["claims"]["sub"])

    def test_one_redirect_given_to_two_processes_at_once_is_used_once(self):
        """R7, R15: the state must be used up before the code is exchanged."""
        first, second = self.open(), self.open()
        url = self.redirect(first, self.regular())
        sent = self.provider.token_requests()
        answers = [client.start("registration.resume", {"url": url}) for client in (first, second)]
        outcomes = [self.outcome(answer) for answer in answers]
        self.assertIn("awaitingConfirmation", outcomes)
        # The provider writes a request to its log only after it has answered the request.
        wait_until(lambda: self.provider.token_requests() > sent, "a request for tokens")
        self.assertEqual(self.provider.token_requests(), sent + 1)
        self.confirm(first, first.call("registration.state")["state"])
        self.assertTrue(first.call("identity.userinfo")["claims"]["sub"])

    def test_without_a_session_prompt_none_gives_the_providers_own_error(self):
        """R17: Canaille's error redirect has no `iss`, but the transaction must end as failed anyway."""
        client = self.open()
        url = self.redirect(client, self.somebody(), options={"prompt": "none"})
        self.assertEqual("iss=" in url, self.provider.facts.iss_on_errors)
        self.assertEqual(self.refusal(client, url), self.provider.facts.silent_refusal)
        with self.assertRaises(Refused):
            client.call("registration.resume", url=url)
        self.assertNotIn("accessToken", self.answer(client))

    def outcome(self, answer):
        try:
            return answer.result()["state"]["state"]
        except Refused as refused:
            return refused

    def answer(self, client):
        try:
            return client.call("token.access")
        except Refused as refused:
            return refused.data


@on_each([Canaille])
class ForgedRedirect:
    """Tests of rules that do not depend on the provider, so one provider is enough."""

    def test_repeated_or_contradicting_parameters_have_no_effect(self):
        """R8."""
        client = self.open()
        right = self.redirect(client)
        for name in ("code", "state", "iss"):
            self.assertNoEffect(client, f"{right}&{name}={quote(parameter(right, name), safe='')}")
        self.assertNoEffect(client, f"{right}&error=access_denied")
        self.confirm(client, self.resume(client, right))

    def test_a_fragment_and_unknown_parameters_change_nothing(self):
        """R8: a redirect with a fragment must work, because browsers keep a fragment when they follow
        redirects."""
        client = self.open()
        right = self.redirect(client)
        self.confirm(client, self.resume(client, f"{right}&session_state=x#code=other&state=other"))

    def test_a_redirect_that_only_begins_like_ours_has_no_effect(self):
        """R5."""
        client = self.open()
        right = self.redirect(client)
        query = right.partition("?")[2]
        for base in (
            f"{CUSTOM}x",
            f"{CUSTOM}/",
            "com.example.app:/CB",
            "com.example.app://cb",
            "com.example.apple:/cb",
        ):
            self.assertNoEffect(client, f"{base}?{query}")
        self.confirm(client, self.resume(client, right))

    def test_an_answer_from_another_issuer_gives_no_tokens(self):
        """R17: a mix-up attack."""
        self.assertNoTokens(lambda url: with_query(url, iss=quote("http://localhost:1", safe="")))

    def test_a_success_without_the_announced_iss_gives_no_tokens(self):
        """R17."""
        self.assertNoTokens(lambda url: with_query(url, iss=None))

    def assertNoTokens(self, forge):
        """The forged redirect must fail before its code is sent."""
        client = self.open()
        url = forge(self.redirect(client))
        sent = self.provider.token_requests()
        try:
            self.assertState(client.call("registration.resume", url=url)["state"], "failed", "registration")
        except Refused as refused:
            self.assertFalse(refused.retryable)
        self.assertEqual(self.provider.token_requests(), sent)

    def test_two_accounts_in_one_store_sign_in_side_by_side(self):
        """Each redirect belongs to the account that began its sign-in; neither account sees the other's
        tokens."""
        alice, bob = self.open(account="alice"), self.open(account="bob")
        of_alice = self.redirect(alice)
        of_bob = self.redirect(bob, self.somebody(BOB))
        self.confirm(bob, self.resume(bob, of_bob))
        self.confirm(alice, self.resume(alice, of_alice))
        profiles = [client.call("identity.profile")["claims"]["email"] for client in (alice, bob)]
        self.assertEqual(profiles, ["alice@example.com", "bob@example.com"])
        self.assertNotEqual(
            alice.call("token.access")["accessToken"], bob.call("token.access")["accessToken"]
        )


@on_each([Canaille])
class Loopback:
    """R4: tests of the listener that the core opens for a loopback redirect."""

    def test_strangers_are_turned_away_and_the_right_redirect_still_works(self):
        """R6, over http."""
        client, begun, waiting = self.wait()
        redirect = self.provider.loopback
        self.knock(f"{redirect}?code=x&state={A_STATE}")
        self.knock(f"{redirect}?error=access_denied")
        self.knock(f"{redirect}x")
        self.knock(redirect.replace("/cb", "/favicon.ico"))
        self.finish(client, begun, waiting)

    def test_nobody_outside_this_machine_can_reach_it(self):
        client, begun, waiting = self.wait()
        loopback = {"0100007F", "00000000000000000000000001000000"}
        self.assertLessEqual(self.addresses(), loopback, "127.0.0.1, ::1 and nothing else")
        self.finish(client, begun, waiting)

    def test_a_wait_that_ends_too_early_leaves_the_sign_in_pending(self):
        client, begun, waiting = self.wait(timeout=1)
        with self.assertRaises(Refused) as caught:
            waiting.result(timeout=10)
        self.assertTrue(caught.exception.retryable, caught.exception)
        again = client.start("registration.awaitOutcome", {"transaction": begun["transaction"], "timeout": 60})
        self.finish(client, begun, again)

    def test_the_port_is_free_again_when_the_client_is_gone(self):
        client, _, _ = self.wait()
        client.close()
        wait_until(lambda: not is_listening(self.provider.loopback_port), "the port is free")

    def wait(self, timeout=60):
        client = self.open(self.provider.loopback)
        begun = self.begin(client)
        waiting = client.start(
            "registration.awaitOutcome", {"transaction": begun["transaction"], "timeout": timeout}
        )
        wait_until(lambda: is_listening(self.provider.loopback_port), "the listener is open")
        return client, begun, waiting

    def finish(self, client, begun, waiting):
        self.regular().open(begun["action"]["url"], until=self.provider.loopback)
        state = waiting.result()["state"]
        self.confirm(client, state)

    def knock(self, url):
        try:
            urllib.request.urlopen(url, timeout=5).read()
        except (urllib.error.URLError, ConnectionError):
            pass

    def addresses(self):
        """The addresses at which a program listens on this port, in the kernel's own format."""
        listening = set()
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            for line in Path(table).read_text().splitlines()[1:]:
                _, local, _, state, *_ = line.split()
                address, _, port = local.partition(":")
                if state == "0A" and int(port, 16) == self.provider.loopback_port:
                    listening.add(address)
        return listening
