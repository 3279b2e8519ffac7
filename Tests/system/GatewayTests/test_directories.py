"""Tests with a directory that keeps the users whom the gateway registers: Canaille, by SCIM, and a double of
Okta. The tests use the gateway as a program, and Chromium plays the users."""

import unittest
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import quote

import faces
from cases import browser
from gateway import CUSTOM, Browser, Gateway
from playwright.sync_api import Error

from okta_double import Okta, script_of
from processes import free_port, workspace

PASSWORD = "four words, put together"
SECRET = "the gateway's own: +/%&="


def _is_app(url):
    return url.startswith(CUSTOM.partition("/")[0])


class Answering:
    """Gives the same answer to every request."""

    def __init__(self, status, body=b"", headers=()):
        self.asked = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.asked.append(self.path)
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                # The connection may break here: if a body is too long, the gateway does not read it to its end.
                with suppress(ConnectionError):
                    self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def okta_gateway(case):
    """A gateway, and a double of Okta that is its directory and its provider."""
    gateway = Gateway()
    okta = Okta(free_port(), {
        "gateway": (SECRET, [f"{gateway.base}/v1/auth/okta/callback"]), "native": (None, [CUSTOM]),
    })  # fmt: skip
    case.addCleanup(okta.stop)
    token = gateway.home / "okta.token"
    token.write_text(okta.token + "\n")
    gateway.settings["providers"] = {
        "okta": {"label": "Okta", "issuer": okta.issuer, "clientId": "gateway", "clientSecret": SECRET}
    }
    gateway.settings["directory"] = {
        "kind": "okta", "url": okta.base, "tokenFile": str(token), "provider": "okta",
    }  # fmt: skip
    return gateway, okta


class Checks(unittest.TestCase):
    """Tests that `enroll-gateway check` asks the directory, and reports a fault in one line."""

    def told(self, gateway, status=0):
        gateway.write()
        if not (gateway.home / "keys.json").exists():
            gateway.run("keys", "add", "--config", str(gateway.configuration))
        gateway.run("migrate", "--config", str(gateway.configuration))
        return gateway.run("check", "--config", str(gateway.configuration), status=status)

    def test_okta_and_its_script(self):
        gateway, okta = okta_gateway(self)
        told = self.told(gateway)
        self.assertIn("directory okta: fine", told)
        self.assertIn(f'src="{gateway.base}/assets/okta-sign-in-1.js" integrity="sha384-', script_of(told))
        (gateway.home / "okta.token").write_text("another\n")
        self.assertIn("answers 401 to GET requests: check its token", self.told(gateway, status=1))
        self.assertIn("directory.tokenFile", self.bad(gateway, tokenFile=7))
        self.assertIn("the token's file", self.bad(gateway, tokenFile="/nowhere/token"))

    def bad(self, gateway, **changes):
        before = dict(gateway.settings["directory"])
        gateway.settings["directory"] |= changes
        gateway.write()
        told = gateway.run("check", "--config", str(gateway.configuration), status=1)
        gateway.settings["directory"] = before
        self.assertEqual(told.count("\n"), 1, told)
        return told

    def test_a_directory_that_cannot_be_used(self):
        gateway, _ = okta_gateway(self)
        self.told(gateway)
        for words, answer in [
            ("no JSON (text/html)", (200, b"<html>hello</html>", [("Content-Type", "text/html")])),
            ("redirect (302)", (302, b"", [("Location", "https://other.example/")])),
            ("answers 503", (503, b"<html>")), ("no requests for 9 s", (429, b"", [("Retry-After", "9")])),
            ("4194304 bytes", (200, b" " * (5 << 20))),
        ]:  # fmt: skip
            with self.subTest(words):
                other = Answering(*answer)
                self.addCleanup(other.stop)
                gateway.settings["directory"]["url"] = other.base
                told = self.told(gateway, status=1)
                self.assertIn(words, told)
                self.assertEqual(len(other.asked), 1, other.asked)
        gateway.settings["directory"]["url"] = f"http://127.0.0.1:{free_port()}"
        self.assertIn("no connection", self.told(gateway, status=1))


class App(unittest.TestCase):
    """The base of the tests of both directories: it has a mail server, and an app with EnrollKit."""

    def client(self, **configuration):
        face = faces.selected()[0]
        client = face.open(
            {
                "redirectUri": CUSTOM, "allowLoopbackHTTP": True, "scopes": ["openid", "profile", "email"],
                **configuration,
            },
            workspace("store"),
        )
        self.addCleanup(client.close)
        return client

    def with_mail(self, gateway, **registration):
        from mail_server import MailServer

        self.mail = MailServer()
        self.addCleanup(self.mail.stop)
        gateway.settings["mail"] = {
            "server": f"smtp://127.0.0.1:{self.mail.port}", "unencrypted": True, "from": "accounts@example.com",
        }  # fmt: skip
        gateway.settings["registration"] = {"passwords": True, **registration}

    def page(self):
        """Opens a browser tab that records redirects to the app's scheme."""
        context = browser().context()
        self.addCleanup(context.close)
        page = context.new_page()
        page.left = []
        page.on("request", lambda request: _is_app(request.url) and page.left.append(request.url))
        return page

    def submit(self, page, leaves=False, **fields):
        """Fills in the form and sends it. `leaves` is true if the browser is then redirected to the app's
        scheme."""
        for name, value in fields.items():
            page.fill(f"[name={name.replace('_', '-')}]", value)
        told = page.expect_request(lambda request: _is_app(request.url)) if leaves else page.expect_navigation()
        with told:
            page.click("main form button[type=submit]")

    def register(self, page, email):
        """Sends the form; returns the link in the mail."""
        self.submit(page, email=email)
        return self.mail.link_to(email)


class AtCanaille(App):
    """Tests with a directory that uses SCIM. Canaille's own page checks the password."""

    def start(self, **changes):
        from scim_canaille import ScimCanaille

        gateway = Gateway()
        canaille = ScimCanaille()
        canaille.loopback = f"{gateway.base}/v1/auth/canaille/callback"
        canaille.start()
        self.addCleanup(canaille.stop)
        gateway.settings["providers"] = {
            "canaille": {"label": "Canaille", "issuer": canaille.issuer, **canaille.confidential("client_secret_post")}
        }
        gateway.settings["directory"] = canaille.directory_settings(provider="canaille", **changes)
        self.with_mail(gateway)
        gateway.start()
        self.addCleanup(gateway.stop)
        return gateway, canaille

    def test_somebody_registers_by_mail_and_signs_in_from_an_app(self):
        from providers import User

        gateway, canaille = self.start()
        gateway.run("check", "--config", str(gateway.configuration))
        email = "new+one@example.com"
        person = User(email, PASSWORD, email)
        page = self.page()
        page.goto(f"{gateway.base}/register")
        link = self.register(page, email)
        page.goto(link)
        self.submit(page, new_password=PASSWORD)
        # Only Canaille has the password, so its page asks for it. The gateway has one account, with the identity from
        # Canaille.
        self.assertTrue(page.url.startswith(canaille.base), page.url)
        with browser().person(canaille, person) as somebody:
            client = self.client(
                issuer=gateway.base, clientId="sample", bff={"base": gateway.base}, scopes=["profile"])
            begun = client.call("registration.begin", kind="bff", options={"connection": "canaille"})
            visit = somebody.open(begun["action"]["url"], CUSTOM)
        state = client.call("registration.resume", url=visit.redirect)["state"]
        self.assertEqual(state["profile"]["email"], email)
        self.assertEqual(gateway.log().count(" registered"), 1, gateway.log())


class AtOkta(App):
    """Tests with a directory in Okta's dialect. After a sign-in the browser has a session at Okta."""

    def setUp(self):
        self.gateway, self.okta = okta_gateway(self)
        self.with_mail(self.gateway)
        self.gateway.settings["apps"]["native"] = {
            "title": "Native", "redirectUris": [CUSTOM], "fallbackUri": "com.example.app://identity/fallback",
        }  # fmt: skip
        self.gateway.start()
        self.addCleanup(self.gateway.stop)
        self.okta.gateway = self.gateway.base
        self.okta.script = script_of(self.gateway.run("check", "--config", str(self.gateway.configuration)))

    def somebody(self, email="ada@example.org", status="ACTIVE"):
        user = {"id": "00uada", "status": status, "credentials": {}, "profile": {"login": email, "email": email}}
        self.okta.users[user["id"]] = user
        self.okta.passwords[user["id"]] = PASSWORD

    def begin(self, **configuration):
        client = self.client(issuer=self.okta.issuer, clientId="native", **configuration)
        return client, client.call("registration.begin")["action"]["url"]

    def assertSignedIn(self, client, page, email):
        self.assertEqual(len(page.left), 1, f"{page.url} {page.left}")
        state = client.call("registration.resume", url=page.left[0])["state"]
        self.assertEqual((state["state"], state["profile"]["email"]), ("awaitingConfirmation", email))

    def test_an_app_signs_in_through_the_page_that_okta_hosts(self):
        self.somebody()
        client, url = self.begin()
        page = self.page()
        page.goto(url)
        page.wait_for_url(f"{self.gateway.base}/signin**")
        shown = page.content()
        self.assertNotIn("okta_key", shown)
        self.submit(page, email="ada@example.org", password="not this one, surely")
        self.assertEqual(page.left, [])
        self.submit(page, leaves=True, email="ada@example.org", password=PASSWORD)
        self.assertSignedIn(client, page, "ada@example.org")
        self.assertNotIn(PASSWORD, self.gateway.log())
        for token in self.okta.session_tokens:
            self.assertNotIn(token, self.gateway.log())

    def test_somebody_registers_from_an_app_by_the_link_of_a_mail(self):
        # The gateway has no claimed https address here, so the app's links use a custom scheme.
        client = self.client(
            issuer=self.okta.issuer, clientId="native", appLinks=["com.example.app://welcome/{activationToken}"])
        begun = client.call("registration.begin", kind="register")
        page = self.page()
        page.goto(begun["action"]["url"])
        page.wait_for_url(f"{self.gateway.base}/signin**")
        page.goto(f"{self.gateway.base}/register")
        link = self.register(page, "grace@example.org")
        # The user leaves the browser to read the mail.
        client.call("registration.cancel", transaction=begun["transaction"])
        page = self.page()
        claimed = "com.example.app://welcome/" + link.rpartition("/")[2]
        page.goto(client.call("url.handle", url=claimed)["action"]["url"])
        page.wait_for_url(f"{self.gateway.base}/welcome/**")
        self.submit(page, leaves=True, new_password=PASSWORD)
        self.assertSignedIn(client, page, "grace@example.org")
        self.assertEqual([user["status"] for user in self.okta.users.values()], ["ACTIVE"])

    def test_without_a_script_and_without_a_from_uri_the_app_is_returned_to_by_its_fallback(self):
        self.somebody()
        page = self.page()
        page.goto(f"{self.gateway.base}/signin?clientId=native")
        self.submit(page, leaves=True, email="ada@example.org", password=PASSWORD)
        self.assertEqual(page.left, ["com.example.app://identity/fallback"])
        # The browser has a session now, so the app's next request shows no page.
        client, url = self.begin()
        page.left.clear()
        with page.expect_request(lambda request: _is_app(request.url)), suppress(Error):
            page.goto(url)  # A custom scheme shows no page.
        self.assertSignedIn(client, page, "ada@example.org")

    def test_an_address_that_is_not_the_issuers_is_refused(self):
        browser = Browser(self.gateway.base)
        for address in ["https://evil.example/oauth2/aus1/v1/authorize", f"{self.okta.issuer}/v1/logout",
                        f"{self.okta.base}@evil.example/", "javascript:alert(1)"]:  # fmt: skip
            for path in ("/signin", "/register"):
                with self.subTest(address=address, path=path):
                    answer = browser.open(f"{path}?fromURI={quote(address, safe='')}")
                    self.assertEqual(answer.status, 400)
                    self.assertNotIn("evil", answer.text)

    def test_what_okta_says_instead_of_success(self):
        self.somebody()
        page = self.page()
        for state in ("MFA_REQUIRED", "PASSWORD_EXPIRED", "LOCKED_OUT"):
            with self.subTest(state):
                self.okta.instead = state
                page.goto(f"{self.gateway.base}/signin")
                self.submit(page, email="ada@example.org", password=PASSWORD)
                self.assertEqual(page.left, [])
                self.assertIn(self.gateway.base, page.url)
                self.assertEqual(self.okta.session_tokens, {})
        self.okta.instead = None
        self.okta.limited = 1
        page.goto(f"{self.gateway.base}/signin")
        self.submit(page, email="ada@example.org", password=PASSWORD)
        self.assertIn(self.gateway.base, page.url)
        self.submit_again(page)

    def submit_again(self, page):
        page.goto(f"{self.gateway.base}/signin")
        self.submit(page, email="ada@example.org", password=PASSWORD)
        page.wait_for_url(f"{self.gateway.base}/account")


