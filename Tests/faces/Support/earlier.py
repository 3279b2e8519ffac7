"""Stores, configurations and sessions that an earlier build made, unpacked for one test each."""

import fcntl
import json
import tarfile
import time

from processes import TOP, workspace
from sandbox import Sandbox
from world import Clock

# The stores name this address of their provider, so the sandbox has to listen there. Only one test at a time can use
# this address on this machine.
PORT = 14280
# The refresh tokens last very long, because tests will renew a session that was made today even years from now.
LASTING = ("--refresh-lifetime", "3000000000")
SOON = 10
MONTH = 30 * 86400
PIN = "2468"
PASSPHRASE = "correct horse battery staple"

ARCHIVES = sorted((TOP / "Tests/system/EarlierStores").glob("*.tar.gz"))


class EarlierStore:
    """One folder of the archive. `facts` says what was done in the folder, and when. The sandbox gets the
    provider's memory from the folder."""

    def __init__(self, archive, name):
        self._lock = open(TOP / ".build/earlier.lock", "w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.folder = workspace("earlier")
        with tarfile.open(archive) as tar:
            members = [entry for entry in tar if entry.name.split("/")[1:2] == [name]]
            # Versions of Python before 3.11.4 have no extraction filters. The archives are this repository's own files,
            # so it is safe to extract them without a filter.
            tar.extractall(self.folder, members, **({"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}))
        self.folder /= name
        self.store = self.folder / "store"
        self.facts = json.loads((self.folder / "facts.json").read_text())
        self.configuration = self.facts["configuration"]
        self.sandbox = Sandbox(*LASTING, *self.facts["sandbox"], port=PORT)
        self.sandbox.control("remember", memory=json.loads((self.folder / "memory.json").read_text()))

    def after(self, seconds):
        """The environment of a process whose clock shows a time `seconds` after the store was made; the clock
        of the sandbox is set to the same time."""
        date = self.facts["date"] + seconds
        clock = Clock()
        clock.set_date(date)
        self.sandbox.control("advanceClock", seconds=date - int(time.time()))
        return clock.environment

    def close(self):
        self.sandbox.stop()
        self._lock.close()
