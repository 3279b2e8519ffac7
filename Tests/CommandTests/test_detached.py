"""A renewal or a code's exchange that outlives the command that wanted it (reliability.md, Renewals that outlive their caller)."""

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

from cases import ENROLL, CommandCase
from processes import wait_until
from provider import Gate
from terminal import TIMEOUT


class Detached(CommandCase):
    """At a provider that rotates refresh tokens and takes no old one again."""

    def provide(self):
        return self.own_sandbox("--grace", "0", "--device-interval", "1")

    def gate(self):
        """Somebody at the token endpoint who can hold requests back."""
        with urllib.request.urlopen(f"{self.sandbox.issuer}/.well-known/openid-configuration") as answer:
            metadata = json.load(answer)
        gate = Gate(f"{self.sandbox.issuer}/token")
        self.addCleanup(gate.close)
        self.configure(endpoints={
            "authorizationEndpoint": metadata["authorization_endpoint"], "jwksUri": metadata["jwks_uri"],
            "deviceAuthorizationEndpoint": metadata["device_authorization_endpoint"],
            "tokenEndpoint": gate.url, "authorizationResponseIssParameterSupported": True})
        return gate

    def processes(self):
        """The processes of this test's commands that run a step."""
        found = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit() and (folder / "cmdline").read_bytes() == b"enroll\0detached-step\0":
                    if f"HOME={self.home}\0".encode() in (folder / "environ").read_bytes():
                        found.append(folder)
        return found

    def assertRenewed(self, count=1):
        """So many renewals took place, their tokens are stored, and no process is left."""
        wait_until(lambda: not self.processes(), "the end of the process", TIMEOUT)
        self.assertEqual(self.counts()["refreshes"], count)
        self.token("--renew")
        self.assertEqual(self.counts()["refreshes"], count + 1)

    def test_sigkill(self):
        gate = self.gate()
        self.sign_in()
        gate.close_it()
        child = self.start("token", "--renew")
        self.assertTrue(gate.reached.wait(TIMEOUT))
        [p] = self.processes()
        print(sorted(os.listdir(p / "fd")), [os.readlink(p / "fd" / x) for x in os.listdir(p / "fd")], os.readlink(p / "cwd"))
        print((p / "status").read_text(), (p / "stat").read_text())
        child.kill()
        child.wait()
        gate.open_it()
        self.assertRenewed()
