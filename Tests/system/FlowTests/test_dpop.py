"""Tokens that are bound to a key (flows.md §11, RFC 9449)."""

import base64
import json
import urllib.error
import urllib.request

from cases import on_each_face
from person import Person

LINK = "https://app.example/welcome/{activationToken}"


def read(proof):
    """The header and the claims of a proof."""
    return [json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in proof.split(".")[:2]]


class BoundTokens:
    """Shared by the tests."""

    def show(self, client, access, nonce=None, scheme="DPoP"):
        """Sends the host's own request to an API: returns the status, the body, and the nonce of the response."""
        url = f"{self.sandbox.issuer}/userinfo"
        more = {} if nonce is None else {"nonce": nonce}
        headers = {"Authorization": f"{scheme} {access['accessToken']}"}
        if scheme == "DPoP":
            headers["DPoP"] = client.call("dpop.proof", method="GET", url=f"{url}?a=b", **more)["proof"]
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as answer:
                return answer.status, json.loads(answer.read()), answer.headers.get("DPoP-Nonce")
        except urllib.error.HTTPError as error:
            return error.code, None, error.headers.get("DPoP-Nonce")


@on_each_face
class DPoP(BoundTokens):
    def provide(self):
        return self.own_sandbox("--dpop", "required", "--pushed-requests", "offered")

    def test_the_whole_way_in_two_processes(self):
        client = self.open()
        self.sign_in(client)
        first = self.assertValid(client)
        self.assertEqual(first["tokenType"], "DPoP")
        self.assertEqual(self.show(client, first)[0], 200)
        self.assertEqual(self.show(client, first, scheme="Bearer")[0], 401)
        self.assertTrue(client.call("identity.userinfo")["claims"]["sub"])
        client.close()

        client = self.open()
        renewed = client.call("token.refresh")
        self.assertEqual(renewed["outcome"], "valid", renewed)
        self.assertEqual(renewed["tokenType"], "DPoP")
        self.assertNotEqual(renewed["accessToken"], first["accessToken"])
        self.assertEqual(self.show(client, renewed)[0], 200)
        client.call("logout.begin")
        self.assertRefused("reauthenticate", client, "dpop.proof", method="GET", url="https://api.example/")

    def test_a_proof_is_for_one_request(self):
        client = self.open()
        self.sign_in(client)
        url = "https://api.example/things/1"
        proof = client.call("dpop.proof", method="PATCH", url=f"{url}?q=1#f", nonce="n-1")["proof"]
        header, claims = read(proof)
        self.assertEqual((header["typ"], header["alg"]), ("dpop+jwt", "ES256"))
        self.assertEqual((claims["htm"], claims["htu"], claims["nonce"]), ("PATCH", url, "n-1"))
        again = read(client.call("dpop.proof", method="PATCH", url=url)["proof"])[1]
        self.assertEqual(again["nonce"], "n-1")
        self.assertEqual(again["ath"], claims["ath"])
        self.assertNotEqual(again["jti"], claims["jti"])
        other = read(client.call("dpop.proof", method="GET", url=url, accessToken="another")["proof"])[1]
        self.assertNotEqual(other["ath"], claims["ath"])

    def test_a_url_that_no_request_has_is_refused(self):
        client = self.open()
        self.sign_in(client)
        for url in ("https://api.example/a b", "https://user@api.example/", "http://api.example/", "com.example.app:/x"):
            refused = self.assertRefused("invalidArgument", client, "dpop.proof", method="GET", url=url)
            self.assertEqual(refused.data["field"], "url")
        refused = self.assertRefused("invalidArgument", client, "dpop.proof", method="G T", url="https://api.example/")
        self.assertEqual(refused.data["field"], "method")
        refused = self.assertRefused(
            "invalidArgument", client, "dpop.proof", method="GET", url="https://api.example/", nonce='a"b'
        )
        self.assertEqual(refused.data["field"], "nonce")

    def test_always_refuses_a_bearer_token_and_auto_takes_it(self):
        self.sandbox.control("fault", fault="unbound", endpoint="token", times=2)
        strict = self.open(dpop="always")
        url = self.sandbox.play(self.begin(strict)["action"]["url"])
        self.assertRefused("responseInvalid", strict, "registration.resume", url=url)
        lenient = self.open(account="other")
        self.sign_in(lenient)
        self.assertEqual(self.assertValid(lenient)["tokenType"], "Bearer")
        self.assertRefused("illegalState", lenient, "dpop.proof", method="GET", url="https://api.example/")
        # Although the access token is not bound, the refresh token is.
        self.assertEqual(lenient.call("token.refresh")["tokenType"], "DPoP")


    def test_flows_that_ask_without_a_proof_are_refused_where_only_bound_tokens_will_do(self):
        base = f"{self.sandbox.issuer}/other-app"
        client = self.open(
            dpop="always",
            bff={"base": self.sandbox.issuer},
            app2app={"initUri": f"{base}/init", "completeUri": f"{base}/complete", "allowedLinks": [base]},
        )
        for kind, options in (("bff", {"connection": "google"}), ("app2app", {})):
            refused = self.assertRefused("configuration", client, "registration.begin", kind=kind, options=options)
            self.assertEqual(refused.data["field"], "dpop")


@on_each_face
class DPoPOfEveryWayIn(BoundTokens):
    """Tokens from every kind of sign-in are bound, and a provider that requires DPoP renews them."""

    def provide(self):
        return self.own_sandbox("--dpop", "required", "--gateway", "--activation-link", LINK)

    def assertBound(self, client):
        self.confirm(client)
        self.assertEqual(self.assertValid(client)["tokenType"], "DPoP")
        renewed = client.call("token.refresh")
        self.assertEqual((renewed["outcome"], renewed["tokenType"]), ("valid", "DPoP"))

    def test_a_passwordless_code(self):
        client = self.open(passwordless="auth0", dpop="always")
        begun = self.begin(client, kind="passwordless", options={"email": "alice@example.com"})
        code = self.sandbox.control("messages")["messages"][-1]["code"]
        client.call("registration.submitCode", transaction=begun["transaction"], code=code)
        self.assertBound(client)

    def test_a_passwordless_link(self):
        client, person = self.open(passwordless="auth0", dpop="always"), Person(self.sandbox)
        self.begin(client, kind="passwordless", options={"email": "alice@example.com", "message": "link"})
        person.open(self.sandbox.control("messages")["messages"][-1]["link"])
        self.resume(client, person.press().left)
        self.assertBound(client)

    def test_an_activation_link(self):
        client, person = self.open(appLinks=[LINK], dpop="always"), Person(self.sandbox)
        begun = self.begin(client, kind="register")
        person.open(begun["action"]["url"]).follow("Register with your e-mail address")
        person.press(email="carol@example.com")
        link = self.sandbox.control("mails")["mails"][-1]["link"]
        person.open(client.call("url.handle", url=link)["action"]["url"])
        person.press(password="carol-password")
        if person.left is None:
            person.press()
        self.resume(client, person.left)
        self.assertBound(client)

    def test_a_device(self):
        client = self.open(dpop="always")
        begun = self.begin(client, kind="device")
        self.sandbox.control("device", userCode=begun["action"]["userCode"], user="alice")
        client.call("registration.awaitOutcome", transaction=begun["transaction"])
        self.assertBound(client)


@on_each_face
class DPoPNonces(BoundTokens):
    def provide(self):
        return self.own_sandbox("--dpop", "required", "--demand-nonces")

    def test_a_demanded_nonce_costs_one_more_request(self):
        client = self.open()
        self.sign_in(client)
        self.assertEqual(self.sandbox.control("counts")["counts"]["token"], 2)
        access = client.call("token.refresh")
        self.assertEqual(access["outcome"], "valid")
        self.assertEqual(self.sandbox.control("counts")["counts"]["token"], 3)
        self.assertTrue(client.call("identity.userinfo")["claims"]["sub"])

        # The answer to the host's own request has a nonce. The host passes it on, and EnrollKit keeps it.
        status, _, nonce = self.show(client, access, nonce="unknown")
        self.assertEqual(status, 401)
        self.assertEqual(self.show(client, access, nonce=nonce)[0], 200)

    def test_a_nonce_that_is_demanded_twice_is_an_error_and_no_third_request(self):
        client = self.open()
        url = self.sandbox.play(self.begin(client)["action"]["url"])
        self.sandbox.control("fault", fault="demandNonce", endpoint="token", times=2)
        refused = self.assertRefused("oauth", client, "registration.resume", url=url)
        self.assertEqual(refused.oauth_error, "use_dpop_nonce")
        self.assertEqual(self.sandbox.control("counts")["counts"]["token"], 2)
