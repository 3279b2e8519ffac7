"""Tests that the daemon's secrets are not in the file of SSLKEYLOGFILE, to which TLS libraries write the
secrets of every connection."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from daemon import Daemon, Refused
from processes import TOP

SERVER = TOP / "Tests/faces/Support/tls_server.py"
AUTHORITY = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=127.0.0.1 "
    "-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out authority.pem"
)


class KeyLogs(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="enrolld-tls-")
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        subprocess.run(AUTHORITY.split(), cwd=self.folder, check=True, capture_output=True)
        self.authority, self.log = self.folder / "authority.pem", self.folder / "keys.log"
        server = subprocess.Popen(
            [sys.executable, SERVER, self.authority, self.folder / "key.pem", "{}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.__exit__, None, None, None)
        self.issuer = f"https://127.0.0.1:{server.stdout.readline().strip()}"

    def refusal(self, **environment):
        """The error of a sign-in whose discovery is answered over TLS, with an empty document."""
        with Daemon(env={"SSLKEYLOGFILE": str(self.log), **environment}) as daemon:
            configuration = {"issuer": self.issuer, "clientId": "app", "redirectUri": "com.example.app:/cb",
                             "caFile": str(self.authority)}
            client = daemon.call("client.open", configuration=configuration, store="memory")["client"]
            with self.assertRaises(Refused) as refused:
                daemon.call("registration.begin", client=client)
            return refused.exception

    def secrets(self):
        return self.log.read_text() if self.log.exists() else ""

    def test_another_program_with_the_variable_writes_them(self):
        subprocess.run(
            [sys.executable, "-c", "import sys, ssl, urllib.request as u;"
             "u.urlopen(sys.argv[1], context=ssl.create_default_context(cafile=sys.argv[2]))",
             self.issuer, self.authority],
            env={**os.environ, "SSLKEYLOGFILE": str(self.log)}, check=True)
        self.assertIn("TRAFFIC_SECRET", self.secrets())

    def test_no_secret_of_a_request_is_written(self):
        self.assertEqual(self.refusal().status, "responseInvalid")
        self.assertEqual(self.secrets(), "")

    def test_a_libcurl_that_cannot_be_kept_from_it_sends_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            # Hides the libcurl that uses OpenSSL, so that only the libcurl with GnuTLS is found.
            (pathlib.Path(folder) / "libcurl.so.4").write_text("no library")
            paths = ":".join(filter(None, [folder, os.environ.get("LD_LIBRARY_PATH", "")]))
            refused = self.refusal(LD_LIBRARY_PATH=paths)
            self.assertEqual(refused.status, "unsupported")
            self.assertIn("SSLKEYLOGFILE", refused.message)
            self.assertEqual(self.secrets(), "")
            self.assertEqual(self.refusal(LD_LIBRARY_PATH=paths, SSLKEYLOGFILE="").status, "responseInvalid")


if __name__ == "__main__":
    unittest.main()
