"""The end of a command whose provider never answers: its own time, and what was sent (enroll(1), --timeout)."""

import json
import subprocess
import urllib.request

from cases import ENROLL, CommandCase
from processes import wait_until
from silent import Silent
from terminal import PATIENCE


class Closing(CommandCase):
    def provide(self):
        return self.own_sandbox()

    def test_a_refresh_token_that_was_sent_gets_one_request_s_time_and_no_second_try(self):
        self.sign_in()
        silent = Silent()
        self.addCleanup(silent.close)
        path = self.profiles / "default.json"
        configuration = json.loads(path.read_text())
        with urllib.request.urlopen(f"{self.sandbox.issuer}/.well-known/openid-configuration") as answer:
            metadata = json.load(answer)
        configuration["endpoints"] = {
            "authorizationEndpoint": metadata["authorization_endpoint"], "jwksUri": metadata["jwks_uri"],
            "tokenEndpoint": f"{silent.url}/token", "authorizationResponseIssParameterSupported": True}
        path.write_text(json.dumps(configuration))
        child = self.start("token", "--renew", "--timeout", "1")
        wait_until(lambda: silent.reached.is_set(), "a request", PATIENCE)
        child.communicate(timeout=PATIENCE)
        self.assertEqual(len(silent.connections), 1)

    def test_streams_that_are_closed_are_the_null_device(self):
        for closed in ("<&-", ">&-", "<&- >&- 2>&-"):
            with self.subTest(closed):
                done = subprocess.run(
                    ["bash", "-c", f'exec "$0" token {closed}', ENROLL], env=self.environment, timeout=PATIENCE,
                    stderr=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 3)
