"""Tests of sign-in, renewal, a new process and logout (flows.md §2, §5, §7, §8)."""

import json
import os
import time
import unittest
import urllib.parse

from cases import SandboxCase
from daemon import Refused
from processes import is_listening, wait_until
from provider import REDIRECT, User


class SignIn(SandboxCase):
    def test_a_user_signs_in_renews_survives_a_new_process_and_logs_out(self):
        daemon = self.daemon()
        client = self.open(daemon)
        self.assertEqual(daemon.call("registration.state", client=client)["state"],
                         {"state": "unregistered"})

        begun = daemon.call("registration.begin", client=client, kind="signIn")
        self.assertTrue(begun["survivesProcess"])
        self.assertGreater(begun["expiresAt"], time.time())
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(begun["action"]["url"]).query)
        self.assertEqual(asked["code_challenge_method"], ["S256"])
        self.assertEqual(daemon.call("registration.state", client=client)["state"],
                         {"state": "authenticating", "transaction": begun["transaction"], "step": "browser"})

        before = {one["id"] for one in self.sandbox.control("sessions")["sessions"]}
        user = User()
        redirect = user.visit(begun["action"]["url"])
        self.assertTrue(redirect.startswith(REDIRECT))
        state = daemon.call("registration.resume", client=client, url=redirect)["state"]
        self.assertEqual(state["state"], "awaitingConfirmation")
        profile = state["profile"]
        self.assertEqual(profile["email"], "alice@example.com")
        with self.assertRaises(Refused) as early:
            daemon.call("token.access", client=client)
        self.assertEqual(early.exception.status, "illegalState")
        self.assertEqual(daemon.call("registration.confirm", client=client)["state"],
                         {"state": "active", "reason": "confirmed"})

        first = daemon.call("token.access", client=client)
        self.assertEqual((first["outcome"], first["tokenType"].lower()), ("valid", "bearer"))
        self.assertEqual(daemon.call("identity.profile", client=client)["claims"]["sub"], profile["sub"])
        self.assertEqual(daemon.call("identity.userinfo", client=client)["claims"]["sub"], profile["sub"])
        second = daemon.call("token.refresh", client=client)
        self.assertEqual(second["outcome"], "valid")
        self.assertNotEqual(second["accessToken"], first["accessToken"])
        self.assertEqual(daemon.call("token.access", client=client)["accessToken"], second["accessToken"])

        self.assertEqual(daemon.close(), 0)
        daemon = self.daemon()
        client = self.open(daemon)
        self.assertEqual(daemon.call("registration.state", client=client)["state"],
                         {"state": "active", "reason": "valid"})
        self.assertEqual(daemon.call("token.access", client=client)["accessToken"], second["accessToken"])
        kept = daemon.call("account.read", client=client)
        self.assertEqual(kept["profile"]["sub"], profile["sub"])
        self.assertEqual(kept["expiresAt"], second["expiresAt"])
        self.assertIn("idToken", kept)

        leaving = daemon.call("logout.begin", client=client)["url"]
        self.assertEqual(daemon.call("token.access", client=client)["outcome"], "reauthenticate")
        farewell = user.visit(leaving)
        self.assertEqual(daemon.call("logout.resume", client=client, url=farewell), {"done": True})
        with self.assertRaises(Refused) as again:
            daemon.call("logout.resume", client=client, url=farewell)
        self.assertEqual(again.exception.status, "unsolicited")
        ours = [one for one in self.sandbox.control("sessions")["sessions"] if one["id"] not in before]
        self.assertEqual([one.get("end") for one in ours], ["signedOut"])

        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(
            daemon.call("registration.begin", client=client)["action"]["url"]).query)
        self.assertEqual(asked["prompt"], ["login"])

    def test_a_process_that_was_killed_after_begin_is_no_loss(self):
        daemon = self.daemon()
        begun = daemon.call("registration.begin", client=self.open(daemon))
        daemon.kill()
        redirect = self.sandbox.play(begun["action"]["url"])

        daemon = self.daemon()
        client = self.open(daemon)
        self.assertEqual(daemon.call("registration.state", client=client)["state"]["state"], "authenticating")
        handled = daemon.call("url.handle", client=client, url=redirect)
        self.assertEqual((handled["kind"], handled["state"]["state"]), ("registration", "awaitingConfirmation"))
        self.assertEqual(daemon.call("url.handle", client=client, url=REDIRECT + "?code=x&state=y"),
                         {"kind": "unsolicited"})

    def test_a_loopback_redirect_reaches_a_listener_that_is_gone_afterwards_r4(self):
        daemon = self.daemon()
        client = self.open(daemon, {**self.sandbox.configuration, "redirectUri": "http://127.0.0.1/callback"})
        begun = daemon.call("registration.begin", client=client)
        self.assertFalse(begun["survivesProcess"])
        waiting = daemon.start("registration.awaitOutcome", {"client": client, "transaction": begun["transaction"],
                                                      "timeout": 60})
        self.assertTrue(is_listening(urllib.parse.urlsplit(begun["redirectUri"]).port))
        self.assertIsNone(User().visit(begun["action"]["url"]))
        self.assertEqual(waiting.result()["state"]["state"], "awaitingConfirmation")
        wait_until(lambda: not is_listening(urllib.parse.urlsplit(begun["redirectUri"]).port), "the listener is gone")

    def test_a_failure_is_told_with_a_key_for_words_and_what_helps(self):
        daemon = self.daemon()
        client = self.open(daemon)
        daemon.call("events.subscribe", client=client)
        begun = daemon.call("registration.begin", client=client)
        redirect = self.sandbox.play(begun["action"]["url"])
        state = urllib.parse.parse_qs(urllib.parse.urlsplit(redirect).query)["state"][0]
        with self.assertRaises(Refused):
            daemon.call("registration.resume", client=client,
                        url=f"{redirect.split('?')[0]}?error=access_denied&state={state}")
        event = daemon.notification("error.reported")
        self.assertEqual((event["error"]["status"], event["messageKey"], event["helps"]),
                         ("accessDenied", "error.accessDenied", "retry"))

    def test_events_come_to_who_subscribed_and_to_nobody_else(self):
        daemon = self.daemon()
        client = self.open(daemon)
        silent = self.open(daemon, account="other")
        self.assertIn("token.renewed", daemon.call("events.subscribe", client=client)["events"])
        daemon.call("events.subscribe", client=client)
        self.sign_in(daemon, client)
        states = []
        while states[-1:] != ["active confirmed"]:
            event = daemon.notification("registration.changed")
            self.assertEqual(event["client"], client)
            states.append(" ".join(event["state"][key] for key in ("state", "step", "reason") if key in event["state"]))
        self.assertEqual(states, ["unregistered", "authenticating browser", "authenticating exchanging",
                                  "awaitingConfirmation", "active confirmed"])
        renewed = daemon.call("token.refresh", client=client)
        self.assertEqual(daemon.notification("token.renewed"),
                         {"client": client, "expiresAt": renewed["expiresAt"]})
        daemon.call("events.unsubscribe", client=client)
        self.sign_in(daemon, silent)
        daemon.call("token.refresh", client=client)
        daemon.call("system.describe")
        self.assertTrue(daemon.notifications.empty())

    def test_failures_of_the_registration_are_errors_with_their_reasons(self):
        daemon = self.daemon()
        client = self.open(daemon)
        begun = daemon.call("registration.begin", client=client)
        denied = self.sandbox.control("settle", url=begun["action"]["url"], error="access_denied")["redirect"]
        for url, status in ((REDIRECT + "?code=x&state=nobody", "unsolicited"), ("nonsense", "redirectMalformed"),
                            (denied.replace("callback", "other"), "redirectMismatch"), (denied, "accessDenied"),
                            (denied, "alreadySettled")):
            with self.assertRaises(Refused) as caught:
                daemon.call("registration.resume", client=client, url=url)
            self.assertEqual(caught.exception.status, status)
        state = daemon.call("registration.state", client=client)["state"]
        self.assertEqual((state["state"], state["reason"]), ("failed", "registration"))
        self.assertEqual(state["error"]["status"], "accessDenied")
        self.assertEqual(daemon.call("registration.retry", client=client)["state"]["state"], "unregistered")
        with self.assertRaises(Refused) as caught:
            daemon.call("registration.confirm", client=client)
        self.assertEqual(caught.exception.status, "illegalState")

    def test_cancel_is_a_hint_and_a_late_redirect_still_wins(self):
        daemon = self.daemon()
        client = self.open(daemon)
        begun = daemon.call("registration.begin", client=client)
        cancelled = daemon.call("registration.cancel", client=client, transaction=begun["transaction"])
        self.assertEqual(cancelled["state"]["state"], "unregistered")
        redirect = self.sandbox.play(begun["action"]["url"])
        self.assertEqual(daemon.call("registration.resume", client=client, url=redirect)["state"]["state"], "awaitingConfirmation")
        self.assertEqual(daemon.call("registration.clear", client=client)["state"]["state"], "unregistered")
        self.assertEqual(daemon.call("token.access", client=client)["outcome"], "reauthenticate")

    def test_options_scopes_and_parameters_reach_the_provider(self):
        daemon = self.daemon()
        client = self.open(daemon)
        url = daemon.call("registration.begin", client=client, scopes=["openid", "email"],
                          options={"loginHint": "alice", "maxAge": 60, "uiLocales": ["nl", "en"]},
                          parameters={"connection": "google"})["action"]["url"]
        asked = {name: values[0] for name, values in urllib.parse.parse_qs(urllib.parse.urlsplit(url).query).items()}
        self.assertEqual((asked["scope"], asked["login_hint"], asked["max_age"], asked["ui_locales"],
                          asked["connection"]), ("openid email", "alice", "60", "nl en", "google"))
        for parameters, field in (({"parameters": {"state": "mine"}}, "parameters"),
                                  ({"options": {"prompt": "none login"}}, "prompt"), ({"scopes": ["a b"]}, "scopes")):
            with self.assertRaises(Refused) as caught:
                daemon.call("registration.begin", client=client, **parameters)
            self.assertEqual((caught.exception.code, caught.exception.data["field"]), (-32602, field))

    def test_a_client_that_was_closed_is_no_client_any_more(self):
        daemon, client = self.signed_in()
        self.assertEqual(daemon.call("client.close", client=client), {})
        for method in ("client.close", "token.access", "registration.state"):
            with self.assertRaises(Refused) as caught:
                daemon.call(method, client=client)
            self.assertEqual(caught.exception.status, "handle")
        self.assertNotEqual(self.open(daemon), client)

    def test_a_platform_that_is_not_ready_keeps_the_state_waiting(self):
        daemon = self.daemon()
        client = self.open(daemon, waitForPlatform=True)
        waiting = daemon.start("registration.state", {"client": client, "wait": True})
        daemon.call("system.describe")
        self.assertFalse(waiting.is_answered)
        daemon.call("platform.ready", client=client)
        self.assertEqual(waiting.result()["state"]["state"], "unregistered")

    def test_a_stand_in_token_serves_a_platform_that_is_not_native(self):
        daemon = self.daemon()
        client = self.open(daemon, {**self.sandbox.configuration, "native": False, "standInToken": "stand-in"})
        self.assertEqual(daemon.call("registration.state", client=client)["state"], {"state": "active", "reason": "notNative"})
        self.assertEqual(daemon.call("token.access", client=client),
                         {"outcome": "valid", "accessToken": "stand-in", "tokenType": "Bearer"})

    def test_accounts_live_side_by_side_in_one_store(self):
        daemon, _ = self.signed_in()
        self.signed_in(daemon, account="bob@work")
        self.assertEqual(daemon.call("accounts.list", store=self.store)["accounts"], ["bob@work", "default"])
        self.assertEqual(daemon.call("accounts.remove", store=self.store, account="bob@work"), {})
        self.assertEqual(daemon.call("accounts.list", store=self.store)["accounts"], ["default"])
        diagnosis = daemon.call("store.diagnose", store=self.store)
        self.assertEqual((diagnosis["permissions"], diagnosis["keyProviders"], diagnosis["accounts"]),
                         ("0700", ["file"], 1))
        self.assertNotIn("problem", diagnosis)
        [file] = [each for each in diagnosis["files"] if each["kind"] == "account"]
        self.assertGreater(int(file["generation"]), 1)
        self.assertEqual(file["account"]["confirmed"]["tokenType"], "Bearer")
        self.assertNotIn("problem", file)

    def test_secrets_are_in_no_log_and_in_no_event_r40(self):
        daemon = self.daemon(log="debug")
        client = self.open(daemon)
        daemon.call("events.subscribe", client=client)
        begun = daemon.call("registration.begin", client=client)
        redirect = self.sandbox.play(begun["action"]["url"])
        with self.assertRaises(Refused):
            daemon.call("registration.resume", client=client, url=redirect.replace("state=", "state=x"))
        daemon.call("registration.resume", client=client, url=redirect)
        daemon.call("registration.confirm", client=client)
        access = daemon.call("token.access", client=client)["accessToken"]
        id_token = daemon.call("account.read", client=client)["idToken"]
        daemon.call("token.refresh", client=client)
        leaving = daemon.call("logout.begin", client=client)["url"]
        daemon.close()
        said = daemon.log + json.dumps(list(daemon.notifications.queue))
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(redirect).query)
        end = urllib.parse.parse_qs(urllib.parse.urlsplit(leaving).query)
        for secret in (access, id_token, id_token.split(".")[2], query["code"][0], query["state"][0],
                       end["state"][0], "alice@example.com"):
            self.assertNotIn(secret, daemon.log)
        for secret in (access, id_token, query["code"][0], query["state"][0]):
            self.assertNotIn(secret, said)
        self.assertIn("registration.resume", daemon.log)

    def test_the_log_has_each_clients_steps_and_requests(self):
        daemon, first = self.signed_in()
        second = self.open(daemon, account="other")
        self.assertEqual(daemon.call("registration.state", client=second)["state"]["state"], "unregistered")
        daemon.call("token.refresh", client=first)
        lines = daemon.log.splitlines()
        request = f"enrolld: debug: {first}: POST {self.sandbox.issuer}: 200 after "
        self.assertGreaterEqual(len([line for line in lines if line.startswith(request)]), 2, lines)
        self.assertIn(f"enrolld: info: {first}: registration: confirmed", lines)
        self.assertIn(f"enrolld: info: {second}: registration: unregistered", lines)
        self.assertTrue(any(line.startswith(f"enrolld: info: {first}: tokens renewed") for line in lines), lines)

    def test_no_command_gives_out_a_refresh_token(self):
        daemon, client = self.signed_in()
        log = self.sandbox.control("log")["log"]
        self.assertTrue(log)
        for command in ("account.read", "token.access", "identity.profile", "registration.state"):
            self.assertNotIn("refresh", json.dumps(daemon.call(command, client=client)).lower())


class Configurations(SandboxCase):
    def test_a_configuration_is_found_by_its_name_and_the_store_has_a_default(self):
        daemon = self.daemon()
        folder = daemon.home / ".config" / "enrollkit"
        folder.mkdir(parents=True)
        (folder / "dev.json").write_text(json.dumps(self.sandbox.configuration))
        (folder / "broken.json").write_text("{")
        (daemon.home / ".local" / "share").mkdir(parents=True)
        client = daemon.call("client.open", configurationName="dev")["client"]
        self.sign_in(daemon, client)
        self.assertEqual(daemon.call("accounts.list")["accounts"], ["default"])
        self.assertEqual((daemon.home / ".local/share/enrollkit").stat().st_mode & 0o777, 0o700)
        for name, status in (("prod", "notFound"), ("broken", "configuration"), ("../dev", "invalidArgument"),
                             (".dev", "invalidArgument"), ("", "invalidArgument"), ("a/b", "invalidArgument")):
            with self.assertRaises(Refused) as caught:
                daemon.call("client.open", configurationName=name)
            self.assertEqual((caught.exception.status, caught.exception.data["field"]), (status, "configurationName"))

    def test_a_configuration_that_everybody_may_write_is_refused(self):
        home = self.daemon().home
        place = home / "conf" / "enrollkit" / "dev.json"
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps(self.sandbox.configuration))
        daemon = self.daemon(env={"XDG_CONFIG_HOME": str(home / "conf"), "XDG_DATA_HOME": str(home / "data")})
        place.chmod(0o666)
        with self.assertRaises(Refused) as caught:
            daemon.call("client.open", configurationName="dev")
        self.assertEqual(caught.exception.status, "configuration")
        self.assertIn("every user of this machine may write to it (mode 666); take that away with chmod o-w", str(caught.exception))
        place.chmod(0o664)
        daemon.call("client.open", configurationName="dev")

    def test_a_ca_file_that_nobody_writes_into_holds_nothing_up(self):
        daemon = self.daemon()
        fifo = daemon.home / "ca.pem"
        os.mkfifo(fifo)
        client = daemon.call(
            "client.open", configuration={**self.sandbox.configuration, "caFile": str(fifo)}, store=self.store)["client"]
        with self.assertRaises(Refused) as caught:
            daemon.call("registration.begin", client=client)
        self.assertEqual((caught.exception.status, caught.exception.data["field"]), ("configuration", "caFile"))

    def test_xdg_variables_name_other_places_and_relative_ones_are_ignored(self):
        home = self.daemon().home
        (home / "conf" / "enrollkit").mkdir(parents=True)
        (home / "conf" / "enrollkit" / "dev.json").write_text(json.dumps(self.sandbox.configuration))
        daemon = self.daemon(env={"XDG_CONFIG_HOME": str(home / "conf"), "XDG_DATA_HOME": str(home / "new" / "data")})
        daemon.call("client.open", configurationName="dev")
        for path in (home / "new", home / "new" / "data", home / "new" / "data" / "enrollkit"):
            self.assertEqual(path.stat().st_mode & 0o777, 0o700, path)
        daemon = self.daemon(env={"XDG_CONFIG_HOME": "conf"})
        with self.assertRaises(Refused) as caught:
            daemon.call("client.open", configurationName="dev")
        self.assertEqual(caught.exception.status, "notFound")


class StoreDiagnosis(SandboxCase):
    def test_a_store_that_is_not_there_is_told_and_not_made(self):
        daemon = self.daemon()
        self.assertEqual(daemon.call("store.diagnose", store=self.store), {"store": self.store, "exists": False})
        self.assertEqual(daemon.call("accounts.list", store=self.store), {"accounts": []})
        self.assertFalse(os.path.exists(self.store))

    def test_a_store_without_its_keys_is_told_as_locked(self):
        daemon, client = self.signed_in()
        daemon.call("client.close", client=client)
        os.rename(self.store + "/keys", self.store + "/../keys")
        before = sorted(os.listdir(self.store))
        diagnosis = daemon.call("store.diagnose", store=self.store)
        self.assertEqual((diagnosis["problem"]["status"], diagnosis["accounts"]), ("storeLocked", 1))
        self.assertEqual(sorted(os.listdir(self.store)), before)

    def test_a_store_that_others_may_enter_is_told_as_refused(self):
        daemon, _ = self.signed_in()
        os.chmod(self.store, 0o755)
        diagnosis = daemon.call("store.diagnose", store=self.store)
        self.assertEqual((diagnosis["permissions"], diagnosis["problem"]["status"]), ("0755", "storeRefused"))


if __name__ == "__main__":
    unittest.main()
