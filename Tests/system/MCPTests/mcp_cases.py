"""Shared by the tests of the bridge: hosts, and real MCP servers in a separate environment."""

import os
from pathlib import Path

from cases import CommandCase
from detached import end_sign_ins
from host import Host
from peer import Peer
from processes import TOP, Child, free_port, is_listening, wait_until, workspace

PYTHON = TOP / ".build/providers/resource/bin/python"
SERVER = Path(__file__).with_name("server.py")

#: Whether the long forms of the tests run.
LONG = os.environ.get("TORTURE") == "1"

_servers = {}


class Server:
    """A server of PyPI's `mcp`."""

    def __init__(self, *transport):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/{''.join(transport) or 'mcp'}"
        self._arguments = [PYTHON, "-B", SERVER, self.port, *transport]
        self.start()

    def start(self):
        self._child = Child(self._arguments, workspace("mcp") / "log")
        self._child.wait_for(lambda: is_listening(self.port), "the MCP server listens", timeout=60)

    def stop(self):
        self._child.stop()

    def restart(self):
        self.stop()
        self.start()


def open_server():
    if "open" not in _servers:
        _servers["open"] = Server()
    return _servers["open"]


class BridgeCase(CommandCase):
    def host(self, url, *arguments, pass_fds=(), prefix=(), **variables):
        host = Host(
            {**self.environment, **variables}, url, *arguments, log=self.home / "bridge.log", pass_fds=pass_fds,
            prefix=prefix)
        self.addCleanup(host.close)
        return host

    def server(self, *transport):
        """A server that this test may restart."""
        server = Server(*transport)
        self.addCleanup(server.stop)
        return server

    def kill_sign_ins(self):
        """Kills the processes in which this test's bridges sign in."""
        end_sign_ins(self.home)

    def _end_detached(self):
        super()._end_detached()
        self.kill_sign_ins()

    @property
    def tabs(self):
        record = Path(f"{self.browser}.opened")
        return record.read_text().count("\n") if record.exists() else 0

    def reason(self, answer):
        return answer["error"]["data"]["enrollkit"]["reason"]


class WireCase(BridgeCase):
    """Bridges in front of a server whose behaviour the test sets."""

    def setUp(self):
        super().setUp()
        self.peer = Peer()
        self.addCleanup(self.peer.stop)

    def session(self, *arguments, **more):
        host = self.host(self.peer.url, *arguments)
        host.initialize(**more)
        wait_until(lambda: self.peer.all("notifications/initialized"), "initialized")
        return host
