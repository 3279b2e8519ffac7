"""The daemon with a gnome-keyring that is present, locked, unlocked with a wrong password, or absent; and stores
whose keys move into the keyring and out of it."""

import os
import pathlib
import shutil
import unittest

from cases import SandboxCase
from daemon import Refused
from keyring import Session


class KeyringCase(SandboxCase):
    def session(self, password="right"):
        session = Session(password)
        self.addCleanup(session.__exit__)
        return session

    def daemon(self, session=None, **options):
        own = session.environment if session else {"DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": ""}
        return super().daemon(env={**own, **options.pop("env", {})}, **options)

    def content(self):
        return {path.name: path.read_bytes() for path in pathlib.Path(self.store).iterdir()}

    def token(self, daemon, client):
        return daemon.call("token.access", client=client)["outcome"]

    def diagnosis(self, daemon, **more):
        return daemon.call("store.diagnose", store=self.store, **more)

    def refusal(self, daemon, command, **parameters):
        with self.assertRaises(Refused) as refused:
            daemon.call(command, **parameters)
        return refused.exception


class Present(KeyringCase):
    def test_the_daemon_keeps_the_key_in_the_keyring_and_says_why(self):
        session = self.session()
        daemon, client = self.signed_in(self.daemon(session))
        self.assertEqual(session.items(), 1)
        self.assertNotIn("key", os.listdir(self.store))
        diagnosis = self.diagnosis(daemon)
        self.assertEqual(diagnosis["keyProviders"], ["secret-service"])
        self.assertEqual(diagnosis["keyChoice"]["provider"], "secret-service")
        self.assertEqual(diagnosis["keyChoice"]["reason"],
                         "the best that is available (no passphrase: no passphrase was given)")
        self.assertEqual([each["presence"] for each in diagnosis["keyChoice"]["candidates"]],
                         ["absent", "present", "present"])
        self.assertNotIn("problem", diagnosis)
        told = daemon.call("diagnostics.export", client=client)["diagnostics"]["store"]
        self.assertEqual((told["keyProviders"], told.get("problem")), (["secret-service"], None))

    def test_another_process_opens_it_also_after_the_keyring_was_restarted(self):
        session = self.session()
        first, client = self.signed_in(self.daemon(session))
        second = self.daemon(session)
        self.assertEqual(self.token(second, self.open(second)), "valid")
        session.stop()
        session.start("right")
        third = self.daemon(session)
        self.assertEqual(self.token(third, self.open(third)), "valid")
        # The first process, whose connection was to the old keyring, opens another store.
        self.store += "-other"
        self.signed_in(first)
        self.assertEqual(session.items(), 2)

    def test_a_program_that_wants_a_key_file_has_one(self):
        session = self.session()
        daemon = self.daemon(session)
        self.signed_in(daemon, keys={"provider": "file"})
        self.assertEqual(session.items(), 0)
        self.assertEqual(self.diagnosis(daemon)["keyProviders"], ["file"])
        self.assertNotIn("problem", self.diagnosis(daemon))


class Locked(KeyringCase):
    def test_a_locked_keyring_signs_nobody_out_and_the_same_process_goes_on(self):
        session = self.session()
        running, running_client = self.signed_in(self.daemon(session))
        before = self.content()
        session.lock()
        daemon = self.daemon(session)
        client = self.open(daemon)
        for _ in range(2):
            self.assertEqual(self.token(daemon, client), "storeLocked")
            refusal = self.refusal(daemon, "registration.state", client=client)
            self.assertEqual(refusal.status, "storeLocked")
            self.assertIn("is locked: unlock it", refusal.message + str(refusal.data))
        diagnosis = self.diagnosis(daemon)
        self.assertEqual((diagnosis["problem"]["status"], diagnosis["accounts"]), ("storeLocked", 1))
        self.assertNotIn("provider", diagnosis["keyChoice"])
        self.assertIn("secret-service is locked", diagnosis["keyChoice"]["reason"])
        self.assertEqual(self.refusal(daemon, "accounts.list", store=self.store).status, "storeLocked")
        self.assertEqual(self.content(), before)
        self.assertEqual(self.token(running, running_client), "valid", "who has the key goes on")
        self.assertEqual(running.call("token.refresh", client=running_client)["outcome"], "valid")

        self.assertTrue(session.unlock())
        self.assertEqual(self.token(daemon, client), "valid")
        self.assertEqual(daemon.call("registration.state", client=client)["state"], {"state": "active", "reason": "valid"})

    def test_a_wrong_password_leaves_it_locked_and_the_right_one_opens_it(self):
        session = self.session()
        self.signed_in(self.daemon(session))
        before = self.content()
        session.stop()
        session.start("wrong")
        daemon = self.daemon(session)
        client = self.open(daemon)
        self.assertEqual(self.token(daemon, client), "storeLocked")
        self.assertFalse(session.unlock("wrong"))
        self.assertEqual(self.token(daemon, client), "storeLocked")
        self.assertEqual(self.content(), before)
        self.assertTrue(session.unlock())
        self.assertEqual(self.token(daemon, client), "valid")

    def test_a_new_store_waits_for_a_locked_keyring_unless_told_otherwise(self):
        session = self.session()
        session.lock()
        daemon = self.daemon(session)
        client = self.open(daemon)
        refusal = self.refusal(daemon, "registration.begin", client=client)
        self.assertEqual(refusal.status, "storeLocked")
        self.assertIn("or choose another key provider", refusal.message + str(refusal.data))
        self.assertNotIn("keys", os.listdir(self.store))
        self.assertNotIn("key", os.listdir(self.store))
        self.signed_in(daemon, keys={"provider": "file"})

    def test_a_keyring_that_does_not_answer_is_never_passed_over_and_holds_nobody_who_cancels(self):
        session = self.session()
        self.signed_in(self.daemon(session))
        signed_in, self.store = self.store, self.store + "-new"
        self.addCleanup(shutil.rmtree, self.store, ignore_errors=True)
        session.pause()
        self.addCleanup(session.go_on)
        daemon = self.daemon(session)
        client = self.open(daemon)
        new = daemon.start("registration.begin", {"client": client})
        old = daemon.start("accounts.list", {"store": signed_in})
        daemon.cancel(old)
        with self.assertRaises(Refused) as caught:
            old.result()
        self.assertEqual(caught.exception.status, "cancelled")
        with self.assertRaises(Refused) as caught:
            new.result()
        self.assertIn(caught.exception.status, ("storeLocked", "deadlineExceeded"))
        self.assertNotIn("key", os.listdir(self.store))

    def test_a_cancelled_call_does_not_have_another_one_pass_the_keyring_over(self):
        """Both calls wait for the process's only connection to the bus. If the call that opens the connection is
        cancelled, GLib returns the error "cancelled" to every waiting call."""
        session = self.session()
        daemon = self.daemon(session)
        first, second = self.store, self.store + "-new"
        for store in (first, second):
            os.mkdir(store, 0o700)
            self.addCleanup(shutil.rmtree, store, ignore_errors=True)
        session.pause_bus()
        self.addCleanup(session.resume_bus)
        before = daemon.sockets()
        cancelled = daemon.start("accounts.list", {"store": first})
        session.until(lambda: daemon.sockets() > before)
        waiting = daemon.start("accounts.list", {"store": second})
        session.until(lambda: "store.lock" in os.listdir(second))
        daemon.cancel(cancelled)
        with self.assertRaises(Refused) as caught:
            cancelled.result()
        self.assertEqual(caught.exception.status, "cancelled")
        session.resume_bus()
        self.assertEqual(waiting.result(), {"accounts": []})
        self.assertNotIn("key", os.listdir(second))
        self.assertEqual(session.items(), 1)

    def test_a_keyring_that_was_never_made_is_locked_too(self):
        session = self.session(password=None)
        session.start("")
        daemon = self.daemon(session)
        found = self.diagnosis_of_new(daemon)
        self.assertIn(found[1]["presence"], ("locked", "present"))

    def diagnosis_of_new(self, daemon):
        os.mkdir(self.store, 0o700)
        return self.diagnosis(daemon)["keyChoice"]["candidates"]


class Absent(KeyringCase):
    def test_without_a_keyring_the_daemon_takes_a_key_file_and_says_why(self):
        for session, reason in ((self.session(password=None), "the Secret Service is not there"),
                                (None, "there is no session bus")):
            with self.subTest(reason):
                daemon = self.daemon(session)
                self.signed_in(daemon)
                diagnosis = self.diagnosis(daemon)
                self.assertEqual(diagnosis["keyProviders"], ["file"])
                self.assertEqual(diagnosis["keyChoice"]["provider"], "file")
                self.assertIn(reason, diagnosis["keyChoice"]["reason"])
                self.store += "-other"

    def test_a_store_whose_key_is_in_a_keyring_stays_as_it_is_without_one(self):
        present = self.session()
        self.signed_in(self.daemon(present))
        before = self.content()
        for session, reason in ((self.session(password=None), "the Secret Service is not there"),
                                (None, "there is no session bus")):
            with self.subTest(reason):
                daemon = self.daemon(session)
                client = self.open(daemon)
                self.assertEqual(self.token(daemon, client), "storeLocked")
                refusal = self.refusal(daemon, "registration.begin", client=client)
                self.assertEqual(refusal.status, "storeLocked")
                self.assertIn(reason, refusal.message + str(refusal.data))
                self.assertEqual(self.content(), before)
        # A keyring that never had the item.
        other = self.session()
        daemon = self.daemon(other)
        refusal = self.refusal(daemon, "registration.begin", client=self.open(daemon))
        self.assertEqual(refusal.status, "storeLocked")
        self.assertIn("has no item enrollkit.", refusal.message + str(refusal.data))
        self.assertEqual((self.content(), other.items()), (before, 0))

    def test_a_keyring_that_comes_later_is_found_by_the_same_process(self):
        session = self.session()
        self.signed_in(self.daemon(session))
        session.stop()
        daemon = self.daemon(session)
        client = self.open(daemon)
        self.assertEqual(self.token(daemon, client), "storeLocked")
        session.start("right")
        self.assertEqual(self.token(daemon, client), "valid")


class PutBack(KeyringCase):
    def test_a_store_put_back_from_a_copy_undoes_no_sign_out(self):
        session = self.session()
        daemon, client = self.signed_in(self.daemon(session))
        shutil.copytree(self.store, self.store + "-copy")
        daemon.call("logout.begin", client=client, localOnly=True)
        self.assertEqual(session.items(), 2, "the mark is beside the key")
        daemon.close()
        shutil.rmtree(self.store)
        os.rename(self.store + "-copy", self.store)
        later = self.daemon(session)
        refusal = self.refusal(later, "token.access", client=self.open(later))
        self.assertEqual(refusal.status, "storeCorrupt")
        self.assertIn("replaced by a copy", str(refusal))
        self.assertEqual(self.token(later, self.open(later)), "reauthenticate")
        self.assertEqual(self.diagnosis(later)["setAside"], 1)


class Moving(KeyringCase):
    def rekey(self, daemon, **more):
        return daemon.call("store.rekey", store=self.store, **more)["provider"]

    def test_a_signed_in_store_moves_in_and_out_of_the_keyring(self):
        session = self.session()
        daemon = self.daemon(session)
        file, ring, typed = {"provider": "file"}, {"provider": "secret-service"}, {
            "provider": "passphrase", "passphrase": "correct horse"}
        self.signed_in(daemon, keys=file)
        at = file
        for keys, items in ((ring, 1), (typed, 0), (ring, 1), (ring, 1), (file, 0), (typed, 0), (file, 0)):
            with self.subTest(keys["provider"]):
                self.assertEqual(self.rekey(daemon, keys=at, newKeys=keys), keys["provider"])
                self.assertEqual(session.items(), items)
                self.assertEqual("key" in os.listdir(self.store), keys is file)
                other = self.daemon(session)
                self.assertEqual(self.token(other, self.open(other, keys=keys)), "valid")
                at = keys
        self.assertEqual(self.diagnosis(daemon)["keyProviders"], ["file"])

    def test_rotation_of_either_key_loses_nothing_and_a_running_process_goes_on(self):
        session = self.session()
        running, client = self.signed_in(self.daemon(session))
        mover = self.daemon(session)
        for more in ({}, {"newDataKey": True}):
            before = self.content()
            self.assertEqual(self.rekey(mover, **more), "secret-service")
            self.assertEqual(session.items(), 1, "the old item is gone")
            self.assertNotEqual(self.content()["keys"], before["keys"])
            self.assertEqual(running.call("token.refresh", client=client)["outcome"], "valid")
            other = self.daemon(session)
            self.assertEqual(self.token(other, self.open(other)), "valid")

    def test_into_a_locked_keyring_nothing_moves(self):
        session = self.session()
        daemon = self.daemon(session)
        self.signed_in(daemon, keys={"provider": "file"})
        before = self.content()
        session.lock()
        refusal = self.refusal(daemon, "store.rekey", store=self.store, newKeys={"provider": "secret-service"})
        self.assertEqual(refusal.status, "storeLocked")
        after = self.content()
        after.pop("keys.lock")
        self.assertEqual(after, before)


if __name__ == "__main__":
    unittest.main()
