"""What a process still holds of a session's secrets once its client is closed: nothing. Memory that was given back is
overwritten here by the C library, so that what is found is what somebody keeps: freed copies inside jansson, libcurl and
Swift's texts, which nobody wipes, are not looked for (SECURITY.md names them).
"""

import sys
import unittest
from pathlib import Path

import faces
from canary import Canaries
from processes import wait_until, workspace
from provider import Provider

# glibc's: no cache of freed pieces, and a byte of no token in place of what was in them.
OVERWRITTEN = "glibc.malloc.tcache_count=0:glibc.malloc.perturb=165"
# What no host is ever handed: its own copies would be found as well.
NAMES = ("refresh", "id_token", "code_verifier as it was sent")


def writable_places(process_id):
    for line in Path(f"/proc/{process_id}/maps").read_text().splitlines():
        place, permissions, *_ = line.split()
        if permissions.startswith("rw"):
            yield tuple(int(number, 16) for number in place.split("-"))


def writable_memory(process_id):
    """What is there at one time: a thread that ends gives its stack back, and then the look begins anew."""
    while True:
        places = list(writable_places(process_id))
        try:
            with open(f"/proc/{process_id}/mem", "rb", 0) as memory:
                return [read(memory, *place) for place in places]
        except OSError:
            if places == list(writable_places(process_id)):
                raise


def read(memory, start, end):
    memory.seek(start)
    return memory.read(end - start)


class Memory(unittest.TestCase):
    face: faces.Face

    def held(self):
        """The names of the secrets that are there."""
        secrets = {secret: name for secret, name in self.canaries.known.items() if name in NAMES}
        self.assertEqual(set(secrets.values()), set(NAMES))
        return {name for piece in writable_memory(self.client.process_id) for secret, name in secrets.items() if secret in piece}

    def test_a_closed_client_holds_no_secret_r40(self):
        self.canaries = Canaries()
        provider = Provider(self.canaries)
        self.addCleanup(provider.close)
        configuration = {"issuer": provider.issuer, "clientId": "app", "dpop": "auto", "redirectUri": "com.example.app:/callback",
                         "scopes": "openid offline_access", "allowLoopbackHTTP": True}  # fmt: skip
        face = self.face.within({"GLIBC_TUNABLES": OVERWRITTEN})
        self.client = face.open(configuration, workspace("memory") / "store")
        self.addCleanup(self.client.close)
        begun = self.client.call("registration.begin", kind="signIn")
        self.client.call("registration.resume", url=provider.redirect(begun["action"]["url"]))
        self.client.call("registration.confirm")
        for _ in range(3):
            self.assertEqual(self.client.call("token.refresh")["outcome"], "valid")
        self.assertIn("refresh", self.held(), "an open client holds its token: else nothing is seen here")
        self.client.call("client.close")
        # A thread of the client's may still be letting go.
        wait_until(lambda: not self.held(), "nothing of the session is in memory")


for _face in faces.selected():
    # The Swift driver keeps its client until it ends.
    if _face.name != "swift":
        _name = f"Memory of {_face.name}"
        setattr(sys.modules[__name__], _name, type(_name, (Memory,), {"face": _face, "__module__": __name__}))
del Memory, _face
