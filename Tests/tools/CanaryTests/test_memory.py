"""Once a client is closed, its process holds no secret of the session. The C library overwrites freed memory here,
so only memory in use is found: freed copies inside jansson, libcurl and Swift's strings, which nobody wipes, are not
searched for (SECURITY.md names them).
"""

import sys
import unittest
from pathlib import Path

import faces
from canary import Canaries
from processes import wait_until, workspace
from provider import Provider

# Settings of glibc: no cache of freed blocks, and freed memory is filled with a byte that occurs in no token.
OVERWRITTEN = "glibc.malloc.tcache_count=0:glibc.malloc.perturb=165"
# Secrets that the host never gets. Otherwise the search would also find the host's copies.
NAMES = ("refresh", "id_token", "code_verifier as it was sent")


def writable_places(process_id):
    for line in Path(f"/proc/{process_id}/maps").read_text().splitlines():
        place, permissions, *_ = line.split()
        if permissions.startswith("rw"):
            yield tuple(int(number, 16) for number in place.split("-"))


def writable_memory(process_id):
    """The writable memory at one moment. If a thread ends meanwhile, its stack is unmapped, and the search starts
    again."""
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
        """The names of the secrets that are in memory."""
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
        # A thread of the client may still be freeing its memory.
        wait_until(lambda: not self.held(), "nothing of the session is in memory")


for _face in faces.selected():
    # The Swift driver keeps its client until the driver itself ends.
    if _face.name != "swift":
        _name = f"Memory of {_face.name}"
        setattr(sys.modules[__name__], _name, type(_name, (Memory,), {"face": _face, "__module__": __name__}))
del Memory, _face
