"""The diagnostics for support (flows.md §11, R40)."""

import json

from cases import on_each_face
from sandbox import parameter


@on_each_face
class Diagnostics:
    def test_everything_useful_and_no_secret(self):
        self.sandbox = self.own_sandbox("--dpop", "required")
        client = self.open(
            account="somebody@example.org", authorizeParameters={"apikey": "CANARY"}, standInToken="CANARY"
        )
        self.sign_in(client)
        access = self.assertValid(client)
        claims = client.call("identity.profile")["claims"]
        pending = self.begin(client, options={"prompt": "login"})["action"]["url"]
        told = client.call("diagnostics.export")["diagnostics"]

        self.assertEqual(told["state"]["kind"], "authenticating")
        self.assertEqual(told["account"]["confirmed"]["tokenType"], "DPoP")
        self.assertEqual(told["account"]["transactions"][-1]["kind"], "signIn")
        self.assertEqual(told["configuration"]["authorizeParameters"], ["apikey"])
        self.assertEqual(told["provider"]["tokenEndpoint"], f"{self.sandbox.issuer}/token")
        self.assertEqual(told["store"]["kind"], "directory")
        self.assertTrue(told["library"])
        secrets = ["CANARY", access["accessToken"], claims["sub"], claims["email"], "somebody@example.org"]
        secrets += [parameter(pending, name) for name in ("state", "nonce", "code_challenge", "dpop_jkt")]
        text = json.dumps(told)
        for secret in secrets:
            self.assertNotIn(secret, text)

    def test_the_last_errors(self):
        client = self.open()
        url = self.begin(client)["action"]["url"]
        denied = self.sandbox.control("settle", url=url, error="access_denied")["redirect"]
        self.assertRefused("accessDenied", client, "registration.resume", url=denied)
        told = client.call("diagnostics.export")["diagnostics"]
        self.assertEqual(told["errors"][-1]["status"], "accessDenied")
        self.assertEqual(told["state"], {"kind": "registrationFailed", "letter": "F"})
