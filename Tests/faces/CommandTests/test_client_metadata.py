"""Tests that a real oidc-provider accepts the client id metadata document in Examples, which `enroll login
--client-metadata` names."""

import json
import os
import unittest
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

from cases import CommandCase
from processes import TOP, Child, free_port, is_listening
from terminal import TIMEOUT
from test_resource import Resource

DOCUMENT = json.loads((TOP / "Examples/client-metadata.json").read_text())
SERVER = Path(os.environ.get("ENROLLKIT_REAL") or TOP.parent / "shared/real") / "oidc-provider/server.mjs"


class Document(CommandCase):
    def test_it_has_what_a_native_client_needs(self):
        self.assertTrue(DOCUMENT["client_id"].startswith("https://"))
        self.assertEqual(DOCUMENT["application_type"], "native")
        self.assertEqual(DOCUMENT["token_endpoint_auth_method"], "none")
        self.assertNotIn("client_secret", DOCUMENT)
        self.assertIn("http://127.0.0.1/callback", DOCUMENT["redirect_uris"])
        page = (TOP / "docs/resources.md").read_text()
        self.assertIn(f"--client-metadata {DOCUMENT['client_id']}", page)

    @unittest.skipUnless(SERVER.exists(), "the servers are not here: ENROLLKIT_REAL names their folder")
    def test_a_real_provider_takes_it(self):
        port = free_port()
        settings = {"cimd": True, "auto": "alice", "documents": {DOCUMENT["client_id"]: DOCUMENT},
                    "anyResource": {"scope": "openid offline_access", "format": "jwt"}}
        child = Child(["node", "--no-warnings", SERVER, str(port), "--set", json.dumps(settings)], self.home / "stderr")
        self.addCleanup(child.stop)
        child.wait_for(lambda: is_listening(port), "oidc-provider listens")
        resource = Resource(f"http://127.0.0.1:{port}")
        self.addCleanup(resource.stop)
        words = ["--resource", resource.url, "--allow-loopback-http", "--client-metadata", DOCUMENT["client_id"]]
        login = self.start("login", "--yes", *words)
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        browser.open(self.opened(), timeout=TIMEOUT).read()
        _, said = login.communicate(timeout=TIMEOUT)
        self.assertEqual(login.returncode, 0, said)
        profile = json.loads(next(path for path in self.profiles.glob("127*.json")).read_text())
        self.assertEqual(profile["clientId"], DOCUMENT["client_id"])
        self.assertNotIn("clientSecret", profile)
        self.run_enroll("token", "--renew", "--resource", resource.url)


