"""Many accounts, one of them damaged: every other account works, the listing says which file it is, and nothing is lost."""

from cases import FACES, ProcessCase
from faces import Refused

COUNT = 6


class OneDamagedAccount(ProcessCase):
    def with_account(self, face, account, use):
        """What `use` gives of a client of the account, in a process of its own."""
        client = face.within(self.clock.environment).open(self.configuration(), self.store, account)
        try:
            return use(client)
        finally:
            client.close()

    def token(self, face, account):
        return self.with_account(face, account, lambda client: client.call("token.access")["accessToken"])

    def about_store(self, face, command):
        """The Swift driver has no commands about a store: for it the first other face speaks."""
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

                # The listing fails once, and says which file it is; then it has all others.
                with self.assertRaises(Refused) as caught:
                    self.about_store(face, "accounts.list")
                self.assertEqual(caught.exception.status, "storeCorrupt")
                self.assertIn(damaged.name, str(caught.exception))
                left = self.about_store(face, "accounts.list")["accounts"]
                (lost,) = set(names) - set(left)
                self.assertEqual(left, [name for name in names if name != lost])
                self.assertEqual({name: self.token(face, name) for name in left}, {name: tokens[name] for name in left})

                # It is not deleted, but set aside, where a diagnosis finds it.
                found = self.about_store(face, "store.diagnose")
                self.assertEqual((found["accounts"], found["setAside"]), (COUNT - 1, 1))
                (aside,) = [file for file in found["files"] if "setAsideFrom" in file]
                self.assertEqual((aside["setAsideFrom"], aside["problem"]["status"]), (damaged.name, "storeCorrupt"))
                kept = self.store / aside["name"]
                self.assertEqual(kept.read_bytes(), whole[:-1])

                # Mended and put back, it is the account that it was.
                kept.write_bytes(whole)
                kept.rename(damaged)
                self.assertEqual(self.about_store(face, "accounts.list")["accounts"], names)
                self.assertEqual(self.token(face, lost), tokens[lost])
