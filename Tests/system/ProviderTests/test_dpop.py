"""Tokens that are bound to a key (flows.md §11, RFC 9449), with Glewlwyd's own nonces and `jkt`."""

import base64
import json

import httpx
from cases import on_each
from glewlwyd_provider import BindingGlewlwyd


def claims_of(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


@on_each([BindingGlewlwyd])
class DPoP:
    def test_tokens_are_bound_to_one_key_from_the_sign_in_to_the_logout(self):
        client = self.open(dpop="auto")
        self.sign_in(client, self.somebody())
        first = self.assertBound(client.call("token.access"))
        key = claims_of(first["accessToken"])["cnf"]["jkt"]
        sub = client.call("identity.profile")["claims"]["sub"]
        self.assertEqual(client.call("identity.userinfo")["claims"]["sub"], sub)
        client.close()

        client = self.open(dpop="auto")
        second = self.assertBound(self.refresh(client))
        self.assertNotEqual(second["accessToken"], first["accessToken"])
        self.assertEqual(claims_of(second["accessToken"])["cnf"]["jkt"], key)
        self.assertEqual(client.call("identity.userinfo")["claims"]["sub"], sub)

        # Glewlwyd 2.7 requires a proof for a revocation with an `htu` that ends in "/oidcrevoke". It refuses
        # EnrollKit's request; the local session ends anyway.
        client.call("logout.begin")
        self.assertSignInNeeded(client)

    def test_the_hosts_own_request_needs_its_proof(self):
        client = self.open(dpop="auto")
        self.sign_in(client)
        access = self.assertBound(client.call("token.access"))
        url = f"{self.provider.issuer}/userinfo"
        headers = {"Authorization": f"DPoP {access['accessToken']}"}
        proof = client.call("dpop.proof", method="GET", url=url)["proof"]
        answer = httpx.get(url, headers={**headers, "DPoP": proof})
        if answer.status_code == 401 and "DPoP-Nonce" in answer.headers:
            proof = client.call("dpop.proof", method="GET", url=url, nonce=answer.headers["DPoP-Nonce"])["proof"]
            answer = httpx.get(url, headers={**headers, "DPoP": proof})
        self.assertEqual(answer.status_code, 200, answer.text)
        other = client.call("dpop.proof", method="POST", url=url)["proof"]
        self.assertEqual(httpx.get(url, headers={**headers, "DPoP": other}).status_code, 401)
        self.assertEqual(httpx.get(url, headers=headers).status_code, 401)

    def test_by_default_tokens_are_bearer_tokens(self):
        client = self.open()
        self.sign_in(client)
        self.assertValid(client.call("token.access"))

    def assertBound(self, answer):
        self.assertEqual(answer["outcome"], "valid", answer)
        self.assertEqual(answer["tokenType"].lower(), "dpop", answer)
        return answer
