"""The OpenID Foundation's requirements for a relying party: each module of its two suites is served by a provider
with the module's fault, or is listed with the reason why it does not concern a native app with the code flow."""

import json
import unittest

from cases import on_each_face
from processes import TOP, workspace
from sandbox import hop, parameter

VECTORS = TOP.parent / "shared" / "vectors" / "oidf-rp"

# Module → fault at the token endpoint. The id_token is refused, and nobody is signed in.
REFUSED = {
    "oidcc-client-test-idtoken-sig-none": {"fault": "algNone"},
    "oidcc-client-test-invalid-athash": {"fault": "wrongAccessTokenHash"},
    "oidcc-client-test-invalid-aud": {"fault": "wrongAudience"},
    "oidcc-client-test-invalid-sig-rs256": {"fault": "wrongSignature"},
    "oidcc-client-test-invalid-iss": {"fault": "wrongIssuer", "endpoint": "token"},
    "oidcc-client-test-missing-aud": {"fault": "omitClaim", "member": "aud"},
    "oidcc-client-test-missing-iat": {"fault": "omitClaim", "member": "iat"},
    "oidcc-client-test-missing-sub": {"fault": "omitClaim", "member": "sub"},
    "rp-id_token-bad-at_hash": {"fault": "wrongAccessTokenHash"},
    "rp-id_token-bad-sig-hs256": {"fault": "hmacSigned"},
    "rp-id_token-issuer-mismatch": {"fault": "wrongIssuer", "endpoint": "token"},
    "rp-id_token-sig-none": {"fault": "algNone"},
}

# Module → the test for it.
PLAYED = {
    "oidcc-client-test-invalid-sig-es256": "test_a_broken_signature_by_es256_is_refused",
    "oidcc-client-test-kid-absent-single-jwks": "test_without_a_kid_the_only_key_that_fits_is_taken",
    "rp-id_token-kid-absent-single-jwks": "test_without_a_kid_the_only_key_that_fits_is_taken",
    "oidcc-client-test-kid-absent-multiple-jwks": "test_without_a_kid_and_with_several_keys_the_right_one_is_found",
    "rp-id_token-kid-absent-multiple-jwks": "test_without_a_kid_and_with_several_keys_the_right_one_is_found",
    "oidcc-client-test-nonce-unless-code-flow": "test_a_sign_in_as_it_should_be",
    "oidcc-client-test-refresh-token": "test_a_sign_in_as_it_should_be",
    "oidcc-client-test-scope-userinfo-claims": "test_a_sign_in_as_it_should_be",
    "rp-scope-userinfo-claims": "test_a_sign_in_as_it_should_be",
    "rp-userinfo-bearer-header": "test_a_sign_in_as_it_should_be",
    "oidcc-client-test-discovery-jwks-uri-keys": "test_a_sign_in_as_it_should_be",
    "rp-discovery-jwks_uri-keys": "test_a_sign_in_as_it_should_be",
    "rp-discovery-openid-configuration": "test_a_sign_in_as_it_should_be",
    "oidcc-client-test-discovery-issuer-mismatch": "test_a_discovery_document_of_another_issuer_is_refused",
    "oidcc-client-test-signing-key-rotation": "test_keys_that_were_changed_are_fetched_again",
    "rp-key-rotation-op-sign-key": "test_keys_that_were_changed_are_fetched_again",
    "oidcc-client-test-signing-key-rotation-just-before-signing": "test_keys_changed_just_before_signing_are_fetched_again",
    "oidcc-client-test-rp-init-logout": "test_a_logout_comes_back_by_its_state",
    "oidcc-client-test-rp-init-logout-other-state": "test_a_logout_comes_back_by_its_state",
    "rp-init-logout-other-state": "test_a_logout_comes_back_by_its_state",
    "oidcc-client-test-rp-init-logout-no-state": "test_a_logout_comes_back_by_its_state",
    "rp-init-logout-no-state": "test_a_logout_comes_back_by_its_state",
}

CODE_ONLY = "only the code flow is spoken (RFC 9700 §2.1.2)"
NO_SERVER = "an app on a device has no address that a provider could call"
NO_SECRET = "a native app keeps no client secret (RFC 8252 §8.5)"
OPTIONAL = "an optional feature that is not spoken"

# The beginning of a module's name → the reason why these modules do not concern a native app.
FOREIGN = {
    "oidcc-client-test-distributed-claims": OPTIONAL,
    "oidcc-client-test-invalid-chash": CODE_ONLY,
    "oidcc-client-test-missing-athash": CODE_ONLY,
    "oidcc-client-test-mtls-endpoint-aliases": NO_SECRET,
    "oidcc-client-test-request-uri": OPTIONAL,
    "oidcc-client-test-discovery-webfinger-url": OPTIONAL,
    "oidcc-client-test-dynamic-registration": OPTIONAL,
    "oidcc-client-test-rp-backchannel": NO_SERVER,
    "oidcc-client-test-rp-frontchannel": NO_SERVER,
    "oidcc-client-test-session-management": NO_SERVER,
    "rp-3rd_party-init-login": NO_SERVER,
    "rp-backchannel": NO_SERVER,
    "rp-frontchannel": NO_SERVER,
    "rp-claims": OPTIONAL,
    "rp-discovery-webfinger": OPTIONAL,
    "rp-id_token-bad-c_hash": CODE_ONLY,
    "rp-id_token-missing-at_hash": CODE_ONLY,
    "rp-id_token-sig+enc": OPTIONAL,
    "rp-id_token-sig-hs256": NO_SECRET,
    "rp-request_uri": OPTIONAL,
    "rp-response_mode": CODE_ONLY,
    "rp-response_type": CODE_ONLY,
    "rp-token_endpoint": NO_SECRET,
    "rp-userinfo-enc": OPTIONAL,
    "rp-userinfo-sig": OPTIONAL,
}


@on_each_face
class RelyingParty:
    def provide(self):
        return self.own_sandbox()

    def another(self, **configuration):
        """A client with a new store."""
        return self.open(store=workspace("store"), **configuration)

    def arrive(self, client):
        """Passes the redirect of a sign-in to the client."""
        return self.resume(client, self.sandbox.play(self.begin(client)["action"]["url"]))

    def assertNobody(self, status, client, **fault):
        """With this fault no sign-in succeeds; without it the same client signs in."""
        self.sandbox.control("fault", times=1, **fault)
        url = self.sandbox.play(self.begin(client)["action"]["url"])
        self.assertRefused(status, client, "registration.resume", url=url)
        self.assertEqual(client.call("token.access")["outcome"], "reauthenticate")
        self.sandbox.control("clearFaults")
        self.sign_in(client)

    def test_each_id_token_that_has_to_be_refused_is(self):
        for module, fault in REFUSED.items():
            with self.subTest(module):
                self.assertNobody("idTokenInvalid", self.another(), **fault)

    def test_a_broken_signature_by_es256_is_refused(self):
        self.sandbox = self.own_sandbox("--algorithm", "ES256")
        self.assertNobody("idTokenInvalid", self.another(), fault="wrongSignature")

    def test_without_a_kid_the_only_key_that_fits_is_taken(self):
        self.sandbox.control("fault", fault="omitKeyID")
        self.sign_in(self.another())

    def test_without_a_kid_and_with_several_keys_the_right_one_is_found(self):
        self.sandbox.control("rotateKeys", keepOld=True)
        self.sandbox.control("fault", fault="omitKeyID")
        self.sign_in(self.another())
        self.assertNobody("idTokenInvalid", self.another(), fault="foreignKey")

    def test_a_sign_in_as_it_should_be(self):
        client = self.another(scopes="openid profile email offline_access")
        url = self.begin(client)["action"]["url"]
        self.assertTrue(parameter(url, "nonce"))
        self.assertEqual(set(parameter(url, "scope").split()), {"openid", "profile", "email", "offline_access"})
        self.assertState(self.resume(client, self.sandbox.play(url)), "awaitingConfirmation")
        self.confirm(client)
        first = self.assertValid(client)["accessToken"]
        client.call("token.refresh")
        self.assertNotEqual(self.assertValid(client)["accessToken"], first)
        claims = client.call("identity.userinfo")["claims"]
        self.assertTrue(claims["name"] and claims["email"], claims)
        counts = self.sandbox.control("counts")
        self.assertEqual((counts["refreshes"], counts["counts"]["discovery"]), (1, 1), counts)

    def test_a_discovery_document_of_another_issuer_is_refused(self):
        self.sandbox.control("fault", fault="wrongIssuer", endpoint="discovery")
        self.assertRefused("issuerMismatch", self.another(), "registration.begin", kind="signIn")

    def test_keys_that_were_changed_are_fetched_again(self):
        client = self.another()
        self.sign_in(client)
        self.sandbox.control("rotateKeys", keepOld=False)
        self.sign_in(client)

    def test_keys_changed_just_before_signing_are_fetched_again(self):
        client = self.another()
        self.sign_in(client)
        url = self.sandbox.play(self.begin(client)["action"]["url"])
        self.sandbox.control("rotateKeys", keepOld=False)
        self.assertState(self.resume(client, url), "awaitingConfirmation")

    def test_a_logout_comes_back_by_its_state(self):
        for fault in (None, "wrongState", "omitState"):
            with self.subTest(fault):
                self.sandbox.control("clearFaults")
                client = self.another()
                self.sign_in(client)
                if fault:
                    self.sandbox.control("fault", fault=fault, endpoint="endSession", times=1)
                back = hop(client.call("logout.begin")["url"]).headers["Location"]
                if fault:
                    self.assertRefused("unsolicited", client, "logout.resume", url=back)
                else:
                    self.assertTrue(client.call("logout.resume", url=back)["done"])
                self.assertEqual(client.call("token.access")["outcome"], "reauthenticate")


class Modules(unittest.TestCase):
    """Compares the tables above with the published lists."""

    def test_every_module_is_played_or_named_with_its_reason(self):
        if not VECTORS.exists():
            print("skipped: the published lists of modules are not beside this checkout", flush=True)
            return
        names = [module["name"] for module in json.loads((VECTORS / "modules.json").read_text())]
        names += [flow["id"] for flow in json.loads((VECTORS / "oidctest-rp-flows.json").read_text())]
        played = [name for name in names if name in REFUSED or name in PLAYED]
        foreign = [name for name in names if name not in played and any(name.startswith(key) for key in FOREIGN)]
        self.assertEqual(sorted(set(names) - set(played) - set(foreign)), [], "modules without a word")
        self.assertEqual(sorted((set(REFUSED) | set(PLAYED)) - set(names)), [], "words without a module")
        self.assertEqual([name for name in PLAYED.values() if not hasattr(RelyingParty, name)], [], "missing tests")
        print(f"{len(names)} modules: {len(played)} played, {len(foreign)} not for a native app", flush=True)
