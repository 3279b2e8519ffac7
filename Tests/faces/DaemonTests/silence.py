"""Calls whose host never answers. They end after half a minute, while other tests run: `test_host` starts them, and
`test_silence` checks their results."""

import functools
import tempfile
import threading

from cases import SandboxCase
from daemon import TIMEOUT, Daemon
from host import HTTP, Secrets

NOBODY = {"issuer": "https://id.example", "clientId": "app", "redirectUri": "com.example.app:/callback"}


@functools.cache
def begin():
    return Silence()


class Silence(SandboxCase):
    """Starts the calls, and keeps them until the process ends."""

    def __init__(self):
        super().__init__()
        self.setUpClass()
        self.folder = tempfile.TemporaryDirectory(prefix="enrolld-silence-")
        self.store = self.folder.name + "/host"
        secrets = Secrets()
        with Daemon(host={"host.http.send": HTTP(), **secrets.functions()}) as daemon:
            self.signed_in(daemon, transport="host", keys={"provider": "host"})
        self.daemon = daemon = Daemon(host={"host.http.send": HTTP()})
        self.listed = daemon.start("accounts.list", {"store": self.store, "keys": {"provider": "host"}})
        keys = {"provider": "host"}
        locked = daemon.call("client.open", configuration=NOBODY, store=self.store, keys=keys)["client"]
        self.hurried = daemon.start("token.access", {"client": locked, "timeout": 1})
        while (question := daemon.question())["params"].get("client") != locked:
            pass
        self.hurried_question = question
        self.store = self.folder.name + "/file"
        _, self.client = self.signed_in(daemon, transport="host", keys={"provider": "file"})
        daemon.host.clear()
        threading.Thread(target=self._answer, daemon=True).start()
        self.renewal = daemon.start("token.refresh", {"client": self.client, "timeout": 300})
        nobody = daemon.call("client.open", configuration=NOBODY, store="memory", transport="host")["client"]
        self.begun = daemon.start("registration.begin", {"client": nobody, "timeout": 300})

    def _answer(self):
        """Does not answer the renewal's first request until the daemon has sent a second request. Then answers the
        first request too late, with an error that would end the session."""
        self.first = self._of_renewal()
        self.second = self._of_renewal()
        self.daemon.answer(self.first, {"status": 400, "body": '{"error": "invalid_grant"}'})
        self.daemon.answer(self.second, HTTP().send(self.second["params"]))

    def _of_renewal(self):
        while (question := self.daemon.question(timeout=None))["params"].get("client") != self.client:
            pass
        return question

    @functools.cache
    def given_up(self):
        """The four requests for which the daemon no longer waits, in the order in which it gave up."""
        return [self.daemon.given_up.get(timeout=2 * TIMEOUT) for _ in range(4)]

    def runTest(self):
        """Does nothing: the class only uses the methods of a test case."""

    def end(self):
        self.daemon.close()
        self.doClassCleanups()
        self.folder.cleanup()
