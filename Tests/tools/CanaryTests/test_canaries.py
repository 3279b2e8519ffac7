"""Tests that no secret is in a wrong place (R40): in logs at the debug level, error texts, arguments, the environment,
temporary files or, in clear, the store's files. The tests also search for other spellings of the secrets. They run
every flow, with a provider that answers with every fault that it knows.
"""

import sys
import unittest
from pathlib import Path

import faces
from canary import Canaries
from faces import Refused
from processes import workspace
from provider import Provider

REDIRECT = "com.example.app:/callback"
# The first bytes of every P-256 key in PKCS #8, such as a DPoP key; the secret number of the key follows them.
DPOP_KEY = bytes.fromhex("308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420")


class Canary(unittest.TestCase):
    face: faces.Face

    def setUp(self):
        if not self.face.is_built:
            self.fail(f"{self.face.program.name} is not built")
        self.canaries = Canaries()
        self.provider = Provider(self.canaries)
        self.addCleanup(self.provider.close)
        self.folder = workspace("canary")
        self.canaries.add("a DPoP key", DPOP_KEY)
        self.sightings = []
        self.refusals = 0
        self.passphrase = self.provider.secret("passphrase")

    def open(self):
        configuration = {
            "issuer": self.provider.issuer, "clientId": "app", "redirectUri": REDIRECT, "allowLoopbackHTTP": True,
            "postLogoutRedirectUri": "com.example.app:/goodbye", "scopes": "openid profile offline_access",
            "dpop": "auto", "appLinks": ["https://app.example/welcome/{activationToken}"]}  # fmt: skip
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        keys = {"provider": "passphrase", "passphrase": self.passphrase}
        client = self.face.within({"TMPDIR": str(temporary)}).open(configuration, self.folder / "store", keys=keys)
        self.addCleanup(client.close)
        return client

    def call(self, client, command, **parameters):
        """Returns the command's result. If the command is refused, searches the error's text for secrets, and returns
        None."""
        try:
            return client.call(command, **parameters)
        except Refused as refusal:
            self.refusals += 1
            self.sightings += self.canaries.sightings(f"the error of {command}", str(refusal))
            return None

    def sign_in(self, client, **more):
        begun = client.call("registration.begin", kind="signIn")
        return self.call(client, "registration.resume", url=self.provider.redirect(begun["action"]["url"], **more))

    def look(self, client):
        """Searches the places of the client's process that other processes can read, and the files that the process
        leaves."""
        for place in ("cmdline", "environ"):
            content = Path(f"/proc/{client.process_id}/{place}").read_bytes()
            self.sightings += self.canaries.sightings(f"/proc/{client.process_id}/{place}", content)
        client.close()
        self.sightings += self.canaries.sightings("stderr", client.log)
        self.sightings += self.canaries.sightings_in_files(client.home)
        self.sightings += self.canaries.sightings_in_files(self.folder)

    def test_no_secret_is_where_it_does_not_belong_r40(self):
        client = self.open()
        # The token endpoint fails in every way that the provider knows.
        for fault in Provider.FAULTS:
            self.provider.fault = fault
            self.sign_in(client)
        self.provider.fault = None
        self.sign_in(client, error="access_denied", error_description=self.provider.secret("description"))
        begun = client.call("registration.begin", kind="signIn")
        good = self.provider.redirect(begun["action"]["url"])
        for url in (good.replace("callback", "other"), good + "&state=x", good.replace("state=", "state=x"), good.replace(":/", "://u:p@"),
                    "https://app.example/welcome/" + self.provider.secret("activation"),
                    "https://app.example/welcome/" + self.provider.secret("activation") + "%2F"):  # fmt: skip
            self.call(client, "url.handle", url=url)
            self.call(client, "registration.resume", url=url)

        self.assertIsNotNone(self.sign_in(client))
        client.call("registration.confirm")
        self.assertEqual(client.call("token.access")["outcome"], "valid")
        self.assertEqual(client.call("token.refresh")["outcome"], "valid")
        self.call(client, "identity.userinfo")
        self.call(client, "token.introspect", token="refreshToken")
        self.call(client, "dpop.proof", method="GET", url=f"{self.provider.issuer}/userinfo")
        for fault in ("echo500", "cut", "types", "html", "header", "redirect"):
            self.provider.fault = fault
            answer = self.call(client, "token.refresh")
            # Although the renewal failed, the result may contain the access token, which is still valid. The reason
            # must contain no secret.
            self.sightings += self.canaries.sightings(f"the reason of {fault}", str({**(answer or {}), "accessToken": ""}))
        self.provider.fault = None
        pin, other = self.provider.secret("pin"), self.provider.secret("pin")
        self.call(client, "pin.set", pin=pin)
        self.call(client, "pin.unlock", pin=other)
        self.call(client, "pin.change", pin=other, newPin=pin)
        self.call(client, "pin.change", pin=pin, newPin=other)
        exported = self.call(client, "diagnostics.export")
        self.sightings += self.canaries.sightings("the diagnostics", str(exported))
        self.look(client)

        client = self.open()
        self.call(client, "pin.unlock", pin=pin)
        self.call(client, "pin.unlock", pin=other)
        self.assertEqual(client.call("token.access")["outcome"], "valid")
        self.call(client, "registration.begin", kind="device")
        farewell = self.call(client, "logout.begin")
        self.call(client, "logout.resume", url="com.example.app:/goodbye?state=" + self.provider.secret("state"))
        self.assertIsNotNone(farewell)
        self.look(client)

        kinds = {name.partition(" ")[0] for name in self.canaries.known.values()}
        self.assertLessEqual({"access", "refresh", "id_token", "code", "state", "nonce", "code_verifier", "pin", "passphrase", "device"}, kinds)
        self.assertGreater(self.refusals, 10)
        self.assertEqual(self.sightings, [])
        print(f"{self.face.name}: {len(self.canaries.known)} secrets, {self.refusals} errors, found nowhere", flush=True)


for _face in faces.selected():
    _name = f"Canary from {_face.name}"
    setattr(sys.modules[__name__], _name, type(_name, (Canary,), {"face": _face, "__module__": __name__}))
del Canary, _face, _name
