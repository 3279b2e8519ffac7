"""Tests renewals at providers that rotate refresh tokens: renewals of a token that is due, in several processes at
once, with a refusal, and while the provider does not run (flows.md §8)."""

import shutil
import time

from cases import Refused, Timed, on_each
from glewlwyd_provider import Glewlwyd
from processes import wait_until, workspace


class ShortLived(Glewlwyd):
    """A Glewlwyd whose access tokens live for `whole_life` seconds. If a caller asks for this whole time as
    the minimum lifetime, a token is due after one second."""

    name = "Glewlwyd with short-lived tokens"
    whole_life = 6

    def __init__(self):
        super().__init__(token_seconds=self.whole_life)


@on_each()
class Rotation:
    def test_a_spent_refresh_token_gives_nothing_more(self):
        """Tests R34. At Glewlwyd, reuse of a spent refresh token also ends the session that has the newest
        token."""
        client = self.open()
        self.sign_in(client)
        client.close()
        copy = workspace("copy")
        shutil.copytree(self.store, copy, dirs_exist_ok=True)
        honest = self.open()
        self.assertValid(self.refresh(honest))

        thief = self.open(store=copy)
        self.assertSpent(self.refresh(thief))
        if self.provider.facts.reuse_kills_family:
            self.assertSpent(self.refresh(honest))
        else:
            self.assertValid(self.refresh(honest))

        self.sign_in(thief)
        self.assertValid(thief.call("token.access"))

    def assertSpent(self, answer):
        """`invalid_grant` ends the session. Glewlwyd's status 400 without a body may have another meaning, so
        the session stays for now."""
        self.assertIn(answer["outcome"], self.provider.facts.spent_refresh_token, answer)


@on_each([Glewlwyd])
class SharedSession:
    """At a provider where reuse ends the family, one extra request would be noticed."""

    def test_four_processes_that_renew_at_once_keep_the_session(self):
        first = self.open()
        self.sign_in(first)
        old = first.call("token.access")["accessToken"]
        clients = [first] + [self.open() for _ in range(3)]
        for answer in [client.start("token.refresh", {}) for client in clients]:
            self.assertValid(answer.result())
        tokens = {client.call("token.access")["accessToken"] for client in clients}
        self.assertEqual(len(tokens), 1)
        self.assertNotIn(old, tokens)
        self.assertTrue(first.call("identity.userinfo")["claims"]["sub"])
        self.assertValid(self.refresh(first))


@on_each([ShortLived])
class Due:
    def test_a_due_token_that_four_processes_ask_for_is_renewed_once(self):
        """Only one request is sent (reliability.md, Renewal across threads and processes)."""
        first = self.open()
        self.sign_in(first)
        clients = [first] + [self.open() for _ in range(3)]
        born = first.call("token.access")["expiresAt"] - self.provider.whole_life
        wait_until(lambda: time.time() > born + 2, "the token's first second is over")
        sent = self.provider.token_requests()
        whole_life = {"minimumLifetime": self.provider.whole_life}
        for answer in [client.start("token.access", whole_life) for client in clients]:
            self.assertValid(answer.result())
        # A process that asks after the renewal finds a token that is less than a second old.
        self.assertIn(self.provider.token_requests(), range(sent + 1, sent + 4))

    def test_the_state_tells_of_the_renewal(self):
        client = self.open()
        self.sign_in(client)
        client.close()
        client = self.open()
        wait_until(lambda: self.reason(client) == "renewed", "the token was due and was renewed")
        self.assertValid(client.call("token.access"))

    def reason(self, client):
        return client.call("registration.state", wait=True)["state"].get("reason")


@on_each([ShortLived])
class ReuseDetection(Timed):
    """Tests with Glewlwyd, which accepts a refresh token only once, without a grace period: a second use ends
    the session for all processes."""

    def access(self, client):
        return client.call("token.access")["outcome"]

    def test_a_holder_killed_before_it_stored_what_was_rotated_costs_the_session_and_no_other(self):
        """EnrollKit keeps the refused refresh token for a minute; then `token.access` says that the user must sign in
        again."""
        self.sign_in(self.open_within(self.clock.environment))
        other = self.open(account="other")
        self.sign_in(other)
        dying = self.open_within(self.clock.dying("before renameat .record 2"))
        self.clock.advance(2 * self.provider.whole_life)
        with self.assertRaises(Refused):
            dying.call("token.access")
        self.assertEqual(dying.end(), -9)

        heir = self.open_within(self.clock.environment)
        sent = self.provider.token_requests()
        # A 400 without a body does not always mean the end of the session: the tokens stay, and for a minute no request
        # is sent.
        self.assertEqual([self.access(heir) for _ in range(20)], ["rejected"] * 20)
        self.assertEqual(self.provider.token_requests(), sent + 1)
        self.clock.advance(61, date=True)
        self.assertEqual([self.access(heir) for _ in range(20)], ["reauthenticate"] * 20)
        self.assertEqual(self.provider.token_requests(), sent + 2)

        self.assertValid(self.refresh(other))
        self.sign_in(heir)
        self.assertValid(self.refresh(heir))

    def test_a_holder_killed_in_any_other_window_costs_nothing(self):
        folder = self.store.name
        windows = (
            "after flock .renew 1", "before renameat .record 1", f"after fsync {folder} 2", f"after fsync {folder} 3"
        )
        self.sign_in(self.open_within(self.clock.environment))
        for window in windows:
            with self.subTest(window=window):
                dying = self.open_within(self.clock.dying(window))
                self.clock.advance(2 * self.provider.whole_life)
                with self.assertRaises(Refused):
                    dying.call("token.access")
                self.assertEqual(dying.end(), -9)
                heir = self.open_within(self.clock.environment)
                self.assertEqual(self.access(heir), "valid")
                heir.close()

    def test_clients_that_race_never_send_a_token_twice(self):
        self.assertOneRequestEach(processes=4, rounds=10, seconds=2 * self.provider.whole_life)


class MayStop:
    """A mix-in for tests that stop the provider. The provider always runs again for the next test."""

    def setUp(self):
        super().setUp()
        self.addCleanup(self.bring_back)

    def bring_back(self):
        if not self.provider.child.is_running:
            self.provider.start()


@on_each([ShortLived])
class Outage(MayStop):
    def test_a_due_token_is_served_as_stale_until_it_expires_and_is_renewed_afterwards(self):
        client = self.open()
        self.sign_in(client)
        token = client.call("token.access")["accessToken"]
        self.provider.stop()
        due = wait_until(lambda: self.stale(client), "the token's first second is over")
        self.assertEqual(due["accessToken"], token)
        wait_until(lambda: self.outcome(client) == "expired", "the token expires")
        self.assertState(client.call("registration.state", wait=True)["state"], "failed", "renewal")

        self.provider.start()
        wait_until(lambda: self.outcome(client) == "valid", "renewed once the provider is back", timeout=30)
        self.assertNotEqual(client.call("token.access")["accessToken"], token)

    def outcome(self, client):
        return client.call("token.access")["outcome"]

    def stale(self, client):
        answer = client.call("token.access", minimumLifetime=self.provider.whole_life)
        return answer if answer["outcome"] == "stale" else None


@on_each([Glewlwyd])
class Unreachable(MayStop):
    def test_a_live_token_is_served_without_asking(self):
        client = self.open()
        self.sign_in(client)
        token = client.call("token.access")["accessToken"]
        self.provider.stop()
        for process in (client, self.open()):
            answer = process.call("token.access")
            self.assertValid(answer)
            self.assertEqual(answer["accessToken"], token)

    def test_a_redirect_that_arrives_meanwhile_is_not_lost(self):
        """EnrollKit first needs the provider's metadata (R17), so it does not send the code of the redirect, and
        the same redirect works later (R15)."""
        client = self.open()
        url = self.redirect(client)
        client.kill()
        heir = self.open()
        self.provider.stop()
        with self.assertRaises(Refused) as caught:
            heir.call("registration.resume", url=url)
        self.assertTrue(caught.exception.retryable, caught.exception)
        self.provider.start()
        self.confirm(heir, self.resume(heir, url))

    def test_a_sign_in_that_cannot_begin_says_that_the_provider_is_not_reached(self):
        self.provider.stop()
        client = self.open()
        with self.assertRaises(Refused) as caught:
            client.call("registration.begin", kind="signIn")
        self.assertEqual(caught.exception.blame, "network")
        self.assertTrue(caught.exception.retryable)

    def test_logging_out_without_the_provider_leaves_no_token_behind(self):
        client = self.open()
        self.sign_in(client)
        token = client.call("token.access")["accessToken"]
        self.provider.stop()
        client.call("logout.begin")
        self.assertSignInNeeded(client)
        client.close()
        self.assertSignInNeeded(self.open())
        for file in self.store.rglob("*"):
            if file.is_file():
                self.assertNotIn(token.encode(), file.read_bytes())
