"""Private keys of clients (private_key_jwt, RFC 7523), made with openssl: the file for EnrollKit, and the public key
for the server."""

import base64
import json
import subprocess
import time

from processes import workspace

GENERATE = {
    "ES256": ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"),
    "RS256": ("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"),
    "PS256": ("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"),
    "EdDSA": ("-algorithm", "ED25519"),
}
#: The key id for the servers.
KEY_ID = "way"


def openssl(*words, given=None):
    return subprocess.run(["openssl", *map(str, words)], input=given, check=True, capture_output=True).stdout


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    def __init__(self, algorithm):
        self.algorithm = algorithm
        self.pem = workspace("key") / "key.pem"
        openssl("genpkey", *GENERATE[algorithm], "-out", self.pem)

    @property
    def public(self):
        """The public key as a JWK (RFC 7517)."""
        return {**self._public(), "kid": KEY_ID, "alg": self.algorithm, "use": "sig"}

    def _public(self):
        key = openssl("pkey", "-in", self.pem, "-pubout", "-outform", "DER")
        if self.algorithm == "EdDSA":
            return {"kty": "OKP", "crv": "Ed25519", "x": base64url(key[-32:])}
        if self.algorithm == "ES256":
            return {"kty": "EC", "crv": "P-256", "x": base64url(key[-64:-32]), "y": base64url(key[-32:])}
        modulus = openssl("rsa", "-in", self.pem, "-noout", "-modulus").decode().strip().partition("=")[2]
        return {"kty": "RSA", "n": base64url(bytes.fromhex(modulus)), "e": "AQAB"}

    @property
    def jwk(self):
        """A private key as a JWK, for a file: an Ed25519 key (RFC 8037)."""
        assert self.algorithm == "EdDSA", self.algorithm
        private = openssl("pkey", "-in", self.pem, "-outform", "DER")[-32:]
        path = self.pem.with_suffix(".jwk")
        path.write_text(json.dumps({**self._public(), "d": base64url(private)}))
        path.chmod(0o600)
        return path

    def assertion(self, client_id, audience):
        """The assertion of a client with an RSA key (RFC 7523 §2.2), made without EnrollKit."""
        assert self.algorithm == "RS256", self.algorithm
        now = int(time.time())
        claims = {"iss": client_id, "sub": client_id, "aud": audience, "iat": now, "exp": now + 60, "jti": str(now)}
        parts = ({"alg": "RS256", "kid": KEY_ID}, claims)
        signed = ".".join(base64url(json.dumps(part).encode()) for part in parts)
        return f"{signed}.{base64url(openssl('dgst', '-sha256', '-sign', self.pem, given=signed.encode()))}"
