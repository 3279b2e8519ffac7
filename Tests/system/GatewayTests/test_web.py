"""Tests in which users register in Chromium at the third-party providers Canaille and Glewlwyd, and sign in
again."""

import unittest

from cases import browser, shared
from gateway import Browser, Gateway

PRODUCT = "Notes"


def themed(**settings):
    return Gateway(theme={"product": PRODUCT}, **settings)


class Redirects(unittest.TestCase):
    def test_each_redirect_is_a_303_which_repeats_no_form(self):
        """The redirect must not have the status 307: the browser would then also send the page's form to the
        provider (RFC 9700 §4.12)."""
        gateway, sandbox = shared()
        browser = Browser(gateway.base)
        sent = browser.open("/v1/auth/sandbox")
        back = browser.open(sandbox.control("settle", url=sent.location)["redirect"])
        mark = browser.open("/account").text.partition('name="token" value="')[2].partition('"')[0]
        out = browser.open("/signout", {"token": mark})
        away = browser.open("/account")
        self.assertEqual([answer.status for answer in (sent, back, out, away)], [303] * 4)


class AtRealProviders(unittest.TestCase):
    """Tests in which a user registers in a real browser at third-party providers."""

    def check(self, make, **settings):
        from providers import ALICE

        gateway = themed()
        provider = make()
        provider.loopback = f"{gateway.base}/v1/auth/real/callback"
        provider.start()
        self.addCleanup(provider.stop)
        gateway.settings["providers"] = {
            "real": {
                "label": provider.name, "issuer": provider.issuer, **provider.confidential("client_secret_post"), **settings,
            }
        }  # fmt: skip
        gateway.start()
        self.addCleanup(gateway.stop)
        with browser().person(provider, ALICE) as person:
            visit = person.open(f"{gateway.base}/v1/auth/real", f"{gateway.base}/account")
            self.assertIn(ALICE.email, visit.text)
            # At the second sign-in the gateway finds the account, and the provider shows no page.
            person.open(f"{gateway.base}/v1/auth/real", f"{gateway.base}/account")
        told = gateway.log()
        self.assertEqual((told.count(" registered"), told.count(" signed in")), (1, 1), told)

    def test_canaille(self):
        from canaille_provider import Canaille

        self.check(Canaille)

    def test_glewlwyd(self):
        from glewlwyd_provider import Glewlwyd

        self.check(Glewlwyd)
