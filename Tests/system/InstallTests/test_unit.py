"""systemd's user units: well-formed, and one daemon for each connection."""

import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

from trees import HOME, make, tree


class UnitTests(unittest.TestCase):
    def setUp(self):
        self.prefix = tree().prefix
        self.units = self.prefix / "lib/systemd/user"

    def test_systemd_finds_nothing_to_complain_of(self):
        home = HOME / "systemd"
        (home / "systemd/generator").mkdir(parents=True, exist_ok=True)
        told = subprocess.run(
            ["systemd-analyze", "--user", "--man=no", "verify", "enrolld.socket", "enrolld@one.service"],
            env={**os.environ, "XDG_RUNTIME_DIR": str(home), "HOME": str(home),
                 "SYSTEMD_UNIT_PATH": f"{self.units}:/usr/lib/systemd/user"},
            capture_output=True, text=True)  # fmt: skip
        self.assertEqual((told.returncode, told.stderr + told.stdout), (0, ""))

    def test_systemd_finds_the_daemon_in_a_prefix_of_several_words_with_a_percent_sign(self):
        prefix, home = HOME / "of 100%us", HOME / "systemd-words"
        home.mkdir()
        self.assertEqual(make("install", f"PREFIX={prefix}").returncode, 0)
        # The units are copied to a path without a percent sign, so that only the prefix in them has one.
        units = shutil.copytree(prefix / "lib/systemd/user", home / "units")
        told = subprocess.run(
            ["systemd-analyze", "--user", "--man=no", "verify", "enrolld@one.service"],
            env={**os.environ, "XDG_RUNTIME_DIR": str(home), "HOME": str(home),
                 "SYSTEMD_UNIT_PATH": f"{units}:/usr/lib/systemd/user"},
            capture_output=True, text=True)  # fmt: skip
        self.assertEqual((told.returncode, told.stderr + told.stdout), (0, ""))

    def test_the_unit_starts_the_daemon_of_its_tree_for_its_user_alone(self):
        service = (self.units / "enrolld@.service").read_text()
        self.assertEqual(re.search(r"^ExecStart=(\S+)$", service, re.M)[1], f"{self.prefix}/bin/enrolld")
        self.assertNotIn("@prefix@", service)
        self.assertIn("StandardInput=socket\n", service)
        listening = (self.units / "enrolld.socket").read_text()
        self.assertIn("Accept=yes\n", listening)
        self.assertIn("SocketMode=0600\n", listening)

    def test_each_connection_speaks_to_a_daemon_of_its_own(self):
        with tempfile.TemporaryDirectory() as home:
            path = f"{home}/enrolld.socket"
            with open(f"{home}/log", "w+") as log:
                activate = subprocess.Popen(
                    ["systemd-socket-activate", "--accept", "--inetd", "--listen", path, self.prefix / "bin/enrolld"],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # fmt: skip
                try:
                    self.talk(path, activate, log)
                finally:
                    activate.terminate()
                    activate.wait(30)

    def talk(self, path, activate, log):
        end = time.monotonic() + 60
        while not os.path.exists(path):
            if activate.poll() is not None or time.monotonic() > end:
                log.seek(0)
                self.fail(log.read())
            time.sleep(0.01)
        first, second = (socket.socket(socket.AF_UNIX) for _ in range(2))
        for connection in (first, second):
            connection.settimeout(60)
            connection.connect(path)
        configuration = {"issuer": "https://id.example", "clientId": "app", "redirectUri": "com.example.app:/callback"}
        opened = self.ask(first, "client.open", configuration=configuration, store="memory")
        client = opened["result"]["client"]
        self.assertEqual(self.ask(first, "registration.state", client=client)["result"]["state"]["state"], "unregistered")
        # The other daemon does not know this client.
        refused = self.ask(second, "registration.state", client=client)
        self.assertEqual(refused["error"]["data"]["status"], "handle")
        first.shutdown(socket.SHUT_WR)
        self.assertEqual(first.recv(1), b"", "at the end of its input a daemon ends")
        self.assertIn("version", self.ask(second, "system.describe")["result"])
        first.close()
        second.close()

    @staticmethod
    def ask(connection, method, **parameters):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        connection.sendall(json.dumps(request).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            piece = connection.recv(65536)
            if not piece:
                raise AssertionError(f"no answer to {method}, but the end: {answer!r}")
            answer += piece
        return json.loads(answer)
