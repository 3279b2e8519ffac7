"""Tests of the program `enroll-gateway`: when it refuses to start, how it ends, and what it prints."""

import http.client
import json
import os
import signal
import stat
import unittest

from cases import shared
from gateway import Browser, Gateway, play, sandbox_for


class Program(unittest.TestCase):
    def test_a_key_file_is_for_its_owner_alone(self):
        gateway = Gateway()
        gateway.settings["providers"] = {"a": {"issuer": "https://id.example", "clientId": "x"}}
        gateway.write()
        told = gateway.run("keys", "add", "--config", str(gateway.configuration))
        self.assertIn("key", told)
        path = gateway.home / "keys.json"
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertEqual(len(json.loads(path.read_text())["keys"]), 1)
        path.chmod(0o644)
        told = gateway.run("check", "--config", str(gateway.configuration), status=1)
        self.assertIn("chmod 600", told)

    def test_what_cannot_work_is_refused_at_the_start_by_its_key(self):
        for change, words in [
            ({"publicUrl": "http://id.example"}, "publicUrl"), ({"database": "mysql:x"}, "database"),
            ({"keys": "/nowhere/keys.json"}, "/nowhere/keys.json"), ({"listen": "nonsense"}, "listen"),
            ({"providers": {}}, "providers"), ({"prviders": {}}, "prviders"),
            ({"database": "sqlite:/nowhere/gateway.db"}, "/nowhere"),
        ]:  # fmt: skip
            with self.subTest(change):
                gateway = Gateway()
                gateway.settings["providers"] = {"a": {"issuer": "https://id.example", "clientId": "x"}}
                gateway.write()
                gateway.run("keys", "add", "--config", str(gateway.configuration))
                gateway.settings.update(change)
                gateway.write()
                told = gateway.run("serve", "--config", str(gateway.configuration), status=1)
                self.assertIn(words, told)
                self.assertEqual(told.count("\n"), 1, told)

    def test_check_refuses_a_database_that_serve_refuses(self):
        gateway = Gateway(database="sqlite::memory:")
        gateway.settings["providers"] = {"a": {"issuer": "https://id.example", "clientId": "x"}}
        gateway.write()
        file = str(gateway.configuration)
        gateway.run("keys", "add", "--config", file)
        for words in (("check", "--offline"), ("migrate",), ("serve",), ("accounts", "find", "x")):
            with self.subTest(words):
                told = gateway.run(*words, "--config", file, status=1)
                self.assertIn("database: The path of the database", told)

    def test_keys_without_a_subcommand_adds_none(self):
        gateway = Gateway()
        gateway.settings["providers"] = {"a": {"issuer": "https://id.example", "clientId": "x"}}
        gateway.write()
        self.assertIn("Usage: enroll-gateway keys COMMAND", gateway.run("keys"))
        gateway.run("keys", "--config", str(gateway.configuration), status=64)
        self.assertFalse((gateway.home / "keys.json").exists())

    def test_each_path_names_its_own_methods(self):
        gateway, _ = shared()
        for method, path, status, allow, kind in [
            ("PUT", "/signout", 405, "POST", "text/html"), ("GET", "/signout", 405, "POST", "text/html"),
            ("OPTIONS", "/login", 405, "GET, HEAD", "text/html"),
            ("PUT", "/v1/revoke", 405, "POST", "application/json"), ("DELETE", "/nope", 404, None, "text/html"),
            ("TRACE", "/login", 501, None, "text/plain"),
            ("POST", "/v1/auth/nope/callback", 404, None, "text/html"),
        ]:  # fmt: skip
            with self.subTest(method=method, path=path):
                connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=30)
                self.addCleanup(connection.close)
                connection.request(method, path)
                answer = connection.getresponse()
                self.assertEqual((answer.status, answer.headers["Allow"]), (status, allow))
                self.assertEqual(answer.headers.get_content_type(), kind)

    def test_sigterm_ends_it_and_no_session_with_it(self):
        gateway = Gateway()
        sandbox = sandbox_for(gateway)
        self.addCleanup(sandbox.stop)
        gateway.start()
        browser = Browser(gateway.base)
        play(sandbox, f"{gateway.base}/v1/auth/sandbox", browser)
        gateway.signal(signal.SIGTERM)
        self.assertEqual(gateway.child.process.wait(20), 0, gateway.log())
        gateway.start()
        self.addCleanup(gateway.stop)
        self.assertEqual(browser.open("/account").status, 200)

    def test_the_log_is_json_without_secrets(self):
        gateway, sandbox = shared()
        browser = Browser(gateway.base)
        play(sandbox, f"{gateway.base}/v1/auth/sandbox", browser)
        lines = [json.loads(line) for line in gateway.log().splitlines()]
        self.assertTrue(any(": account " in line["message"] for line in lines))
        self.assertNotIn(browser.cookies["__Host-enroll"], gateway.log())

    def test_it_says_that_it_lives_and_that_it_is_ready(self):
        gateway, _ = shared()
        browser = Browser(gateway.base)
        self.assertEqual([browser.open(path).status for path in ("/livez", "/readyz")], [204, 204])

    def test_associations_of_apps(self):
        prints = ":".join(["AB"] * 32)
        gateway = Gateway(apps={"a": {
            "title": "A", "redirectUris": ["https://id.example/app"], "appleAppIds": ["ABCDE12345.com.example.app"],
            "android": {"package": "com.example.app", "sha256": [prints]}}})  # fmt: skip
        gateway.settings["apps"]["a"]["redirectUris"] = [f"{gateway.base}/app".replace("http:", "https:"), "com.example.app:/cb"]
        gateway.settings["providers"] = {"a": {"issuer": "https://id.example", "clientId": "x"}}
        gateway.start()
        self.addCleanup(gateway.stop)
        browser = Browser(gateway.base)
        android = browser.open("/.well-known/assetlinks.json").json
        self.assertEqual(android[0]["target"]["sha256_cert_fingerprints"], [prints])
        apple = browser.open("/.well-known/apple-app-site-association").json
        self.assertEqual(apple["applinks"]["details"][0]["appIDs"], ["ABCDE12345.com.example.app"])
