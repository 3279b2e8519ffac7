"""Registration and sign-in by e-mail: the program with real SMTP servers, with simulated browsers that only keep
cookies, and with Chromium."""

import http.server
import re
import signal
import socket
import sqlite3
import threading
import unittest
import urllib.parse

from cases import browser as chromium
from gateway import Browser, Gateway
from mail_server import MailServer
from processes import free_port, wait_until

PASSWORD = "five words nobody else says"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"


def mail_at(port, **more):
    return {"server": f"smtp://127.0.0.1:{port}", "from": "accounts@gateway.example", "unencrypted": True, **more}


def hidden(page):
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))


def fill(browser, target, **fields):
    """Fills in the form of a page and sends it."""
    page = browser.open(target)
    if page.status != 200:
        raise AssertionError(f"{target}: {page.status}")
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return browser.open(target.partition("?")[0], {**hidden(page.text), **named})


class EmailCase(unittest.TestCase):
    def gateway(self, mail, **registration):
        gateway = Gateway(mail=mail, registration=registration)
        gateway.start()
        self.addCleanup(gateway.stop)
        return gateway

    def setUp(self):
        self.mails = MailServer()
        self.addCleanup(self.mails.stop)


class WithRealMail(EmailCase):
    def test_a_person_registers_and_comes_back_by_a_link(self):
        gateway = self.gateway(mail_at(self.mails.port))
        browser = Browser(gateway.base)
        self.assertEqual(fill(browser, "/register", email="ada@example.org", name="Ada").location,
                         "/register/email-sent")  # fmt: skip
        link = self.mails.link_to("ada@example.org").removeprefix(gateway.base)
        for _ in range(3):
            self.assertEqual(Browser(gateway.base).open(link).status, 200)
        self.assertEqual(fill(Browser(gateway.base), link).location, "/account")
        self.assertEqual(browser.open(link).status, 410)

        self.assertEqual(fill(browser, "/signin", email="Ada@example.org").location, "/signin/email-sent")
        link = self.mails.link_to("ada@example.org").removeprefix(gateway.base)
        self.assertEqual(fill(browser, link).location, "/account")
        self.assertIn("ada@example.org", browser.open("/account").text)
        self.assertNotIn("example.org", gateway.log())

    def test_passwords(self):
        gateway = self.gateway(mail_at(self.mails.port), passwords=True)
        browser = Browser(gateway.base)
        fill(browser, "/register", email="ada@example.org")
        link = self.mails.link_to("ada@example.org").removeprefix(gateway.base)
        self.assertEqual(fill(browser, link, new_password="short").status, 422)
        self.assertEqual(fill(browser, link, new_password=PASSWORD).location, "/account")
        other = Browser(gateway.base)
        self.assertEqual(fill(other, "/signin", email="ada@example.org", password="x").status, 422)
        self.assertEqual(fill(other, "/signin", email="ada@example.org", password=PASSWORD).location, "/account")

    def test_an_app_that_waits_gets_its_code_from_the_telephones_browser(self):
        gateway = self.gateway(mail_at(self.mails.port))
        browser = Browser(gateway.base)
        start = (f"/v1/auth/email?platform=mobile&prompt=create&state=s&code_challenge={CHALLENGE}"
                 "&code_challenge_method=S256")  # fmt: skip
        fill(browser, browser.open(start).location, email="ada@example.org")
        link = self.mails.link_to("ada@example.org").removeprefix(gateway.base)
        arrived = fill(Browser(gateway.base), link).location
        self.assertTrue(arrived.startswith("com.example.app:/callback?code="), arrived)

    def test_a_mail_waits_for_a_server_that_is_away_and_for_a_gateway_that_was_killed(self):
        port = free_port()
        gateway = self.gateway(mail_at(port))
        fill(Browser(gateway.base), "/register", email="ada@example.org")
        wait_until(lambda: "try 1" in gateway.log(), "the mail is tried")
        gateway.kill()
        # The next attempt would follow half a minute later. The test makes the mail due at once.
        with sqlite3.connect(gateway.home / "gateway.db") as database:
            (count,) = database.execute("SELECT count(*) FROM outbox").fetchone()
            self.assertEqual(count, 1)
            database.execute("UPDATE outbox SET due = 0")
        gateway.settings["mail"] = mail_at(self.mails.port)
        gateway.start()
        link = self.mails.link_to("ada@example.org").removeprefix(gateway.base)
        self.assertEqual(fill(Browser(gateway.base), link).location, "/account")

    def test_a_server_without_starttls_gets_no_mail(self):
        """RFC 3207: nothing is sent unencrypted, neither to a server without STARTTLS nor to an attacker in between
        who hides the server's STARTTLS."""
        gateway = self.gateway(
            {"server": f"smtp://127.0.0.1:{self.mails.port}", "from": "accounts@gateway.example"})  # fmt: skip
        fill(Browser(gateway.base), "/register", email="ada@example.org")
        wait_until(lambda: "try 1" in gateway.log(), "the mail is tried")
        self.assertIn("SSL", gateway.log())


class Script(threading.Thread):
    """An SMTP server that looks up the answer to each command in a table. If the table has None for a command,
    the server closes the connection."""

    def __init__(self, **answers):
        super().__init__(daemon=True)
        self.answers = answers
        # `has_come` is set when a message was received completely. The answer waits until `may_end` is set.
        self.has_come, self.may_end = threading.Event(), threading.Event()
        self.may_end.set()
        self.seen = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.start()

    def run(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as lines:
                self.serve(connection, lines)

    def serve(self, connection, lines):
        connection.sendall(self.answers.get("GREETING", "220 script").encode() + b"\r\n")
        for line in lines:
            word = line[:4].decode().strip().upper()
            self.seen.append(word)
            answer = self.answers.get(word, {"DATA": "354 go on", "QUIT": "221 bye"}.get(word, "250 fine"))
            if answer is None:
                return
            connection.sendall(answer.encode() + b"\r\n")
            if word == "DATA" and answer.startswith("354"):
                while lines.readline() not in (b".\r\n", b""):
                    pass
                self.has_come.set()
                self.may_end.wait(60)
                end = self.answers.get("END", "250 taken")
                if end is None:
                    return
                connection.sendall(end.encode() + b"\r\n")

    def stop(self):
        self.socket.close()


class RefusingServers(EmailCase):
    def outcome(self, expected, **answers):
        server = Script(**answers)
        self.addCleanup(server.stop)
        gateway = self.gateway(mail_at(server.port))
        answer = fill(Browser(gateway.base), "/register", email="ada@example.org")
        self.assertEqual(answer.location, "/register/email-sent")
        wait_until(lambda: expected in gateway.log(), expected, timeout=20)
        self.assertNotIn("example.org", gateway.log())

    def test_a_gateway_that_stops_waits_for_the_answer_to_a_mail_that_is_on_its_way(self):
        """Before the program ends, it waits for the mail server's answer. Otherwise the next start would send the
        mail again."""
        server = Script()
        self.addCleanup(server.stop)
        self.addCleanup(server.may_end.set)
        server.may_end.clear()
        gateway = self.gateway(mail_at(server.port))
        fill(Browser(gateway.base), "/register", email="ada@example.org")
        self.assertTrue(server.has_come.wait(20))
        gateway.signal(signal.SIGTERM)
        wait_until(lambda: "stopping" in gateway.log(), "it stops")
        server.may_end.set()
        self.assertEqual(gateway.child.process.wait(20), 0, gateway.log())
        with sqlite3.connect(gateway.home / "gateway.db") as database:
            self.assertEqual(database.execute("SELECT count(*) FROM outbox").fetchone(), (0,))

    def test_a_refusal_for_now_is_tried_again(self):
        self.outcome("reply 451", RCPT="451 later")

    def test_a_refusal_for_good_ends_it(self):
        self.outcome("refused it for good", RCPT="550 nobody")

    def test_a_refused_sender_ends_it_with_the_words_of_the_server(self):
        self.outcome("refused it for good: sender refused (mail.from): 550 5.7.1 Not your sender. See help.",
                     MAIL="550-5.7.1 Not your sender.\r\n550 See help.")  # fmt: skip

    def test_a_sender_that_is_refused_without_a_password_waits(self):
        self.outcome("try 1: sender refused (mail.from): 530 5.7.0 Log in first", MAIL="530 5.7.0 Log in first")

    def test_words_that_may_name_the_recipient_are_not_in_the_log(self):
        self.outcome("refused it for good: recipient refused: reply 550 5.1.1",
                     RCPT="550 5.1.1 <ada@example.org> is unknown")  # fmt: skip

    def test_a_server_that_refuses_everybody_loses_no_mail(self):
        self.outcome("try 1: connection refused: 554 down for maintenance", GREETING="554 down for maintenance")

    def test_a_message_that_is_refused_at_its_end(self):
        self.outcome("refused it for good: message refused: reply 554", END="554 no")

    def test_a_server_that_hangs_up_in_the_middle(self):
        self.outcome("try 1", END=None)


class AppOnIPv6(http.server.ThreadingHTTPServer):
    """An app that receives its redirect at [::1]."""

    address_family = socket.AF_INET6

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(204 if self.path == "/favicon.ico" else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    def __init__(self):
        try:
            super().__init__(("::1", 0), self.Page)
        except OSError as error:
            raise unittest.SkipTest(f"this machine has no [::1]: {error}") from error
        self.redirect_uri = f"http://[::1]:{self.server_port}/callback"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self):
        self.shutdown()
        self.server_close()


class InChromium(EmailCase):
    def test_a_person_registers_with_the_keyboard_in_german_and_without_a_script(self):
        gateway = self.gateway(mail_at(self.mails.port), passwords=True)
        context = chromium().context(locale="de-DE", java_script_enabled=False, viewport={"width": 320, "height": 700})
        self.addCleanup(context.close)
        page = context.new_page()
        page.goto(f"{gateway.base}/register")
        self.assertEqual(page.locator("html").get_attribute("lang"), "de")
        page.keyboard.press("Tab")
        page.locator("#email").focus()
        page.keyboard.type("ada")
        page.keyboard.press("Enter")
        page.wait_for_selector("[aria-invalid]")
        described = page.locator("#email").get_attribute("aria-describedby")
        self.assertIn("name@example.com", page.locator("#" + described.split()[0]).inner_text())
        self.assertEqual(page.input_value("#email"), "ada")
        page.fill("#email", "ada@example.org")
        page.keyboard.press("Enter")
        page.wait_for_url("**/register/email-sent")
        page.goto(self.mails.link_to("ada@example.org"))
        page.fill("#new-password", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/account")
        self.assertIn("ada@example.org", page.inner_text("main"))

    def test_an_app_that_listens_on_ipv6_gets_its_code(self):
        """Browsers apply `form-action` to redirects, and ignore an IPv6 address in a policy."""
        app = AppOnIPv6()
        self.addCleanup(app.stop)
        gateway = Gateway(mail=mail_at(self.mails.port), registration={"passwords": True})
        gateway.settings["apps"]["sample"]["redirectUris"] = ["http://[::1]/callback"]
        gateway.start()
        self.addCleanup(gateway.stop)
        person = Browser(gateway.base)
        fill(person, "/register", email="ada@example.org")
        fill(person, self.mails.link_to("ada@example.org").removeprefix(gateway.base), new_password=PASSWORD)
        context = chromium().context()
        self.addCleanup(context.close)
        page = context.new_page()
        page.goto(f"{gateway.base}/v1/auth/email?platform=mobile&state=s&code_challenge={CHALLENGE}"
                  f"&code_challenge_method=S256&redirect_uri={urllib.parse.quote(app.redirect_uri)}")  # fmt: skip
        page.fill("#email", "ada@example.org")
        page.fill("#password", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{app.redirect_uri}?code=*", timeout=20_000)


if __name__ == "__main__":
    unittest.main()
