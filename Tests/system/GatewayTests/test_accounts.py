"""Tests of changes of accounts: further ways to sign in, merging two accounts, a copy of the data, deletion;
access tokens that other servers check; and a provider that reports a logout."""

import base64
import hashlib
import json
import signal
import unittest
import urllib.error
import urllib.parse
import urllib.request

from joserfc import errors, jwt
from joserfc.jwk import KeySet

from cases import browser
from gateway import Browser, Gateway, play, sandbox_for
from processes import wait_until
from sandbox import parameter

API = "https://api.example"
VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")


class World(unittest.TestCase):
    """A gateway with a sandbox, whose users are alice and bob."""

    def setUp(self):
        self.gateway = Gateway(apis=[API], theme={"product": "Notes"})
        self.sandbox = sandbox_for(self.gateway)
        self.addCleanup(self.sandbox.stop)
        self.gateway.start()
        self.addCleanup(self.gateway.stop)

    def sign_in(self, user="alice"):
        one = Browser(self.gateway.base)
        play(self.sandbox, f"{self.gateway.base}/v1/auth/sandbox", one, user=user)
        return one

    def press(self, one, path, **fields):
        mark = one.open("/account").text.partition('name="token" value="')[2].partition('"')[0]
        return one.open(path, {"token": mark, **fields})

    def connect(self, one, user):
        page = self.press(one, "/account/connect", provider="sandbox")
        url = page.headers["Refresh"].partition("url=")[2]
        return one.open(self.sandbox.control("settle", url=url, user=user)["redirect"])

    def bearer(self, path, token, method="GET"):
        request = urllib.request.Request(
            self.gateway.base + path, headers={"Authorization": f"Bearer {token}"}, method=method)  # fmt: skip
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as refused:
            return refused.code, json.loads(refused.read())

    def app_session(self):
        """Signs an app in; returns its session token."""
        start = (
            f"{self.gateway.base}/v1/auth/sandbox?platform=mobile&state=s&code_challenge={CHALLENGE}"
            "&code_challenge_method=S256"
        )
        code = parameter(play(self.sandbox, start).location, "code")
        body = json.dumps({"code": code, "code_verifier": VERIFIER}).encode()
        request = urllib.request.Request(
            f"{self.gateway.base}/v1/auth/sandbox/redeem", body, {"Content-Type": "application/json"})  # fmt: skip
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())["session_token"]


class Accounts(World):
    def test_an_identity_that_is_connected_leads_to_the_account_until_it_is_disconnected(self):
        alice = self.sign_in()
        self.assertEqual(self.connect(alice, "bob").location, "/account?notice=connected")
        bob = self.sign_in("bob")
        self.assertIn("alice@example.com", bob.open("/account").text)
        copy = self.press(alice, "/account/export").json
        self.assertEqual(len(copy["identities"]), 2)
        self.assertEqual(len(copy["sessions"]), 2)
        bobs = next(one["subject"] for one in copy["identities"] if one["email"] != "alice@example.com")
        gone = self.press(alice, "/account/disconnect", identity=f"sandbox {bobs}")
        self.assertEqual(gone.location, "/account?notice=disconnected")
        self.assertEqual(bob.open("/account").location, "/login")
        self.assertNotIn("alice@example.com", self.sign_in("bob").open("/account").text)

    def test_two_accounts_become_one_when_their_person_says_so(self):
        bob, alice = self.sign_in("bob"), self.sign_in()
        self.assertEqual(self.connect(alice, "bob").location, "/account/merge")
        self.assertEqual(bob.open("/account").status, 200)
        self.assertEqual(self.press(alice, "/account/merge/confirm").location, "/account?notice=merged")
        self.assertEqual(bob.open("/account").location, "/login")
        self.assertIn("alice@example.com", self.sign_in("bob").open("/account").text)
        self.assertIn("was merged into account", self.gateway.log())

    def test_an_account_that_is_deleted_is_gone_in_every_browser_and_every_app(self):
        alice, again = self.sign_in(), self.sign_in()
        token = self.app_session()
        self.assertEqual(self.bearer("/v1/userinfo", token)[0], 200)
        self.assertEqual(self.press(alice, "/account/delete/confirm").location, "/account-deleted")
        self.assertEqual(self.bearer("/v1/userinfo", token)[0], 401)
        self.assertEqual(again.open("/account").location, "/login")
        self.assertEqual(self.sign_in().open("/account").status, 200)
        self.assertEqual(self.gateway.log().count(" registered"), 2)


class AccessTokens(World):
    def keys(self):
        answer = Browser(self.gateway.base).open("/v1/keys")
        self.assertEqual(answer.headers["Cache-Control"], "public, max-age=3600")
        return KeySet.import_key_set(answer.json)

    def test_an_api_proves_a_token_with_the_published_keys(self):
        session = self.app_session()
        status, answer = self.bearer("/v1/token", session, "POST")
        self.assertEqual((status, answer["token_type"], answer["expires_in"]), (200, "Bearer", 300))
        text = answer["access_token"]
        token = jwt.decode(text, self.keys(), algorithms=["ES256"])
        self.assertEqual(token.header["typ"], "at+jwt")
        rules = jwt.JWTClaimsRegistry(
            iss={"essential": True, "value": self.gateway.base}, aud={"essential": True, "value": API},
            exp={"essential": True}, sub={"essential": True},
            client_id={"essential": True, "value": "sample"})  # fmt: skip
        rules.validate(token.claims)
        self.assertEqual(token.claims["sub"], self.bearer("/v1/userinfo", session)[1]["sub"])
        head, claims, signature = text.split(".")
        changed = json.loads(base64.urlsafe_b64decode(claims + "==")) | {"sub": "somebody else"}
        forged = base64.urlsafe_b64encode(json.dumps(changed).encode()).decode().rstrip("=")
        with self.assertRaises(errors.BadSignatureError):
            jwt.decode(f"{head}.{forged}.{signature}", self.keys(), algorithms=["ES256"])
        # The keys must be at the URL that the discovery document names.
        document = Browser(self.gateway.base).open("/.well-known/openid-configuration").json
        self.assertEqual(document["jwks_uri"], f"{self.gateway.base}/v1/keys")
        self.assertEqual(document["token_endpoint"], f"{self.gateway.base}/v1/token")

    def test_a_new_key_is_published_before_it_signs(self):
        session = self.app_session()
        self.gateway.run("keys", "add", "--config", str(self.gateway.configuration))
        self.gateway.signal(signal.SIGHUP)
        wait_until(lambda: "2 keys" in self.gateway.log(), "the keys are read again")
        keys = self.keys()
        self.assertEqual(len(keys.keys), 2)
        text = self.bearer("/v1/token", session, "POST")[1]["access_token"]
        self.assertEqual(jwt.decode(text, keys, algorithms=["ES256"]).header["kid"], keys.keys[0].kid)


class Pages(World):
    """Tests of every page that changes an account, in Chromium."""

    def setUp(self):
        super().setUp()
        self.played = set()

    def test_every_page_is_good_to_use(self):
        for width in (320, 1280):
            with self.subTest(width=width):
                self.walk(width)

    def walk(self, width):
        from page_checks import Tab

        base = self.gateway.base
        bob, session = self.sign_in("bob"), self.sign_in()
        self.assertEqual(self.connect(session, "bob").location, "/account/merge")
        tab = Tab(self, width, "Notes")
        tab.page.context.add_cookies([
            {"name": name, "value": value, "url": base.replace("http:", "https:"), "secure": True}
            for name, value in session.cookies.items()])  # fmt: skip
        tab.open(f"{base}/account/confirm?then=delete").shows("gateway-confirm", "Please confirm that it is you")
        tab.press("Return to your account")
        tab.shows("gateway-account-one-way", "Your account")
        tab.open(f"{base}/account/merge").shows("gateway-merge", "You have two accounts")
        tab.press("Make them one account")
        tab.shows("gateway-account-ways", "Your account")
        self.assertIn("The two accounts are one now.", tab.page.inner_text("[role=status]"))
        self.assertEqual(bob.open("/account").location, "/login")
        # Disconnecting the identity that this session began with would end the session.
        bobs = tab.page.locator("dd.identity").filter(has_not_text="alice@example.com")
        bobs.locator("button", has_text="Disconnect").focus()
        tab.page.keyboard.press("Enter")
        tab.page.locator("[role=status]", has_text="has been disconnected").wait_for()
        # If the provider cannot be reached, the browser must stay on the gateway's page that leads to the provider.
        tab.page.context.route(f"{self.sandbox.issuer}/**", lambda route: route.abort("aborted"))
        tab.press("Connect Sandbox")
        tab.shows("gateway-leaving", "Continue to Sandbox")
        tab.page.context.unroute(f"{self.sandbox.issuer}/**")
        tab.press("Open Sandbox")
        tab.page.locator("#username").wait_for()
        tab.type(username="bob", password="bob-password")
        tab.page.locator("h1").wait_for()
        if tab.page.locator("button", has_text="Allow").count():
            tab.press("Allow")
        tab.page.locator("[role=status]", has_text="has been connected").wait_for()
        tab.press("Delete my account")
        tab.shows("gateway-delete", "Delete your account?")
        tab.press("Delete my account for good")
        tab.shows("gateway-deleted", "Your account is deleted")
        self.assertEqual(session.open("/account").location, "/login")


class BackchannelLogout(unittest.TestCase):
    """Tests in which Glewlwyd reports that its user has signed out."""

    def test_whoever_signs_out_at_glewlwyd_is_signed_out_here(self):
        from glewlwyd_provider import Glewlwyd
        from providers import ALICE

        gateway = Gateway()
        notified = f"{gateway.base}/v1/auth/real/backchannel-logout"

        class Telling(Glewlwyd):
            def _add_client_properties(self, send):
                super()._add_client_properties(send)
                module = send("GET", "/mod/client/database").json()
                for name in ("backchannel_logout_uri", "backchannel_logout_session_required"):
                    module["parameters"]["data-format"][name] = {"multiple": False, "read": True, "write": True}
                send("PUT", "/mod/client/database", module)
                send("PUT", "/mod/client/database/reset")

            def _client(self, client_id, algorithm):
                return {**super()._client(client_id, algorithm), "backchannel_logout_uri": notified}

        provider = Telling()
        provider.loopback = f"{gateway.base}/v1/auth/real/callback"
        provider.start()
        self.addCleanup(provider.stop)
        gateway.settings["providers"] = {
            "real": {"label": "Real", "issuer": provider.issuer, **provider.confidential("client_secret_post")}
        }
        gateway.start()
        self.addCleanup(gateway.stop)
        with browser().person(provider, ALICE) as person:
            person.open(f"{gateway.base}/v1/auth/real", f"{gateway.base}/account")
            # Sends the request that the page of the end_session_endpoint sends when the user presses "End session".
            cookies = {cookie["name"]: cookie["value"] for cookie in person._context.cookies()}
            ended = person._context.request.delete(f"{provider.issuer}/session/{cookies['GLEWLWYD2_OIDC_SID']}/")
            self.assertEqual(ended.status, 200)
            wait_until(lambda: "back-channel logout" in gateway.log(), "Glewlwyd tells of the logout", timeout=30)
            self.assertIn("back-channel logout: 1 sessions were ended", gateway.log())
            person.open(f"{gateway.base}/account", f"{gateway.base}/login")
