"""Many accounts, one of them damaged: every other account works, the listing names the damaged file, and nothing is
lost."""

from cases import FACES, ProcessCase
from faces import Refused

COUNT = 6


class OneDamagedAccount(ProcessCase):
    def with_account(self, face, account, use):
        """Runs `use` with a client of the account, in a separate process; returns its result."""
        client = face.within(self.clock.environment).open(self.configuration(), self.store, account)
        try:
            return use(client)
        finally:
            client.close()

    def token(self, face, account):
        return self.with_account(face, account, lambda client: client.call("token.access")["accessToken"])

    def about_store(self, face, command):
        """Runs a command about a store. The Swift driver has no such command, so another face runs it."""
        speaker = next((other for other in [face, *FACES] if other.name != "swift"), None)
        if speaker is None:
            self.skipTest("the commands about stores need another face beside swift")
        return self.with_account(speaker, "speaker", lambda client: client.call(command, store=str(self.store)))

    def test_the_others_work_the_listing_names_it_and_its_file_can_be_put_back(self):
        for face in FACES:
            with self.subTest(face=face.name):
                self.begin(30)
                names = [f"account-{number}" for number in range(COUNT)]
                tokens = {name: self.with_account(face, name, self.sign_in) for name in names}
                records = {path: path.read_bytes() for path in self.store.glob("*.record")}
                self.assertEqual(len(records), COUNT)
                damaged, whole = sorted(records.items())[COUNT // 2]
                damaged.write_bytes(whole[:-1])

                # The listing fails once, and names the file; after that it lists all other accounts.
                with self.assertRaises(Refused) as caught:
                    self.about_store(face, "accounts.list")
                self.assertEqual(caught.exception.status, "storeCorrupt")
                self.assertIn(damaged.name, str(caught.exception))
                left = self.about_store(face, "accounts.list")["accounts"]
                (lost,) = set(names) - set(left)
                self.assertEqual(left, [name for name in names if name != lost])
                self.assertEqual({name: self.token(face, name) for name in left}, {name: tokens[name] for name in left})

                # The damaged file is not deleted, but moved aside, where a diagnosis finds it.
                found = self.about_store(face, "store.diagnose")
                self.assertEqual((found["accounts"], found["setAside"]), (COUNT - 1, 1))
                (aside,) = [file for file in found["files"] if "setAsideFrom" in file]
                self.assertEqual((aside["setAsideFrom"], aside["problem"]["status"]), (damaged.name, "storeCorrupt"))
                kept = self.store / aside["name"]
                self.assertEqual(kept.read_bytes(), whole[:-1])

                # If the file is repaired and moved back, the account is as before.
                kept.write_bytes(whole)
                kept.rename(damaged)
                self.assertEqual(self.about_store(face, "accounts.list")["accounts"], names)
                self.assertEqual(self.token(face, lost), tokens[lost])
