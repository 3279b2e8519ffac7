#!/usr/bin/env python3
"""Writes own/: test vectors in the layout of the published sets, made by implementations that share no code with EnrollKit.

    Tests/units/TestVectors/make.py            writes them
    Tests/units/TestVectors/make.py --check    names the files that differ from its output; exits with 1 if some do

It needs Python's `cryptography` and Node.js. Keys, salts and messages come from SHA-256 of a label, and ECDSA is
deterministic (RFC 6979): each run writes the same bytes.
"""

import base64
import hashlib
import hmac
import json
import math
import pathlib
import subprocess
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

OWN = pathlib.Path(__file__).resolve().parent / "own"
FILES = {}  # path below own/ → bytes


# Helpers


def add_json(path, value):
    FILES[path] = (json.dumps(value, indent=1, ensure_ascii=True) + "\n").encode()


def octets(label, count):
    """`count` bytes that look random: SHA-256 of the label and a counter."""
    blocks = (hashlib.sha256(f"{label} {number}".encode()).digest() for number in range(-(-count // 32)))
    return b"".join(blocks)[:count]


def flipped(data, index):
    changed = bytearray(data)
    changed[index] ^= 1
    return bytes(changed)


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number_base64url(number, count=None):
    return base64url(number.to_bytes(count or -(-number.bit_length() // 8), "big"))


def group(tests, **members):
    for index, test in enumerate(tests, 1):
        test["tcId"] = index
    return {"testGroups": [{**members, "tests": tests}]}


def result(is_valid):
    return "valid" if is_valid else "invalid"


# Keys


SMALL_PRIMES = [n for n in range(3, 8000, 2) if all(n % d for d in range(3, math.isqrt(n) + 1, 2))]


def is_prime(number):
    if any(number % prime == 0 for prime in SMALL_PRIMES):
        return False
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19):
        value = pow(base, odd, number)
        if value in (1, number - 1):
            continue
        for _ in range(twos - 1):
            value = value * value % number
            if value == number - 1:
                break
        else:
            return False
    return True


def prime(label, bits):
    # The two highest bits are set, so that the product of two primes has its full length.
    number = int.from_bytes(octets(label, bits // 8), "big") | 3 << (bits - 2) | 1
    while not is_prime(number) or math.gcd(number - 1, 65537) != 1:
        number += 2
    return number


class RSA:
    """A key whose signatures are made here, by the formulas of RFC 8017, and verified by `cryptography`."""

    def __init__(self, bits, label=""):
        self.p, self.q = (prime(f"rsa {bits} {half}{label}", bits // 2) for half in "pq")
        self.n, self.e = self.p * self.q, 65537
        self.d = pow(self.e, -1, math.lcm(self.p - 1, self.q - 1))
        self.count = bits // 8
        self.public = rsa.RSAPublicNumbers(self.e, self.n).public_key()

    def raw(self, encoded):
        return pow(int.from_bytes(encoded, "big"), self.d, self.n).to_bytes(self.count, "big")

    PREFIXES = {
        "sha1": "3021300906052b0e03021a05000414",
        "sha256": "3031300d060960864801650304020105000420",
        "sha384": "3041300d060960864801650304020205000430",
        "sha512": "3051300d060960864801650304020305000440",
    }

    def pkcs1(self, message, digest, prefix=None, filler=0xFF, trailing=b""):
        """RSASSA-PKCS1-v1_5 (RFC 8017 §8.2); the options make signatures that a verifier must refuse."""
        info = bytes.fromhex(prefix or self.PREFIXES[digest]) + hashlib.new(digest, message).digest() + trailing
        return self.raw(b"\0\1" + bytes([filler]) * (self.count - len(info) - 3) + b"\0" + info)

    def pss(self, message, digest, salt_count, trailer=0xBC):
        """RSASSA-PSS (RFC 8017 §8.1, §9.1.1)."""
        size = hashlib.new(digest).digest_size
        salt = octets("pss salt", salt_count)
        inner = hashlib.new(digest, bytes(8) + hashlib.new(digest, message).digest() + salt).digest()
        block = bytes(self.count - size - salt_count - 2) + b"\1" + salt
        mask = b"".join(
            hashlib.new(digest, inner + counter.to_bytes(4, "big")).digest()
            for counter in range(-(-len(block) // size)))
        masked = bytearray(a ^ b for a, b in zip(block, mask))
        masked[0] &= 0x7F
        return self.raw(bytes(masked) + inner + bytes([trailer]))

    def jwk(self, private=False):
        key = {"kty": "RSA", "n": number_base64url(self.n), "e": "AQAB"}
        return {**key, "d": number_base64url(self.d)} if private else key


class EC:
    CURVES = {
        "P-256": (ec.SECP256R1(), hashes.SHA256()),
        "P-384": (ec.SECP384R1(), hashes.SHA384()),
        "P-521": (ec.SECP521R1(), hashes.SHA512()),
    }

    def __init__(self, name, label=""):
        self.name = name
        self.curve, self.hash = self.CURVES[name]
        self.order = self.curve.group_order
        self.count = -(-self.order.bit_length() // 8)
        secret = int.from_bytes(octets(f"ec {name}{label}", self.count), "big") % (self.order - 1) + 1
        self.secret, self.key = secret, ec.derive_private_key(secret, self.curve)
        self.public = self.key.public_key()

    def numbers(self, message, hash=None):
        der = self.key.sign(message, ec.ECDSA(hash or self.hash, deterministic_signing=True))
        return utils.decode_dss_signature(der)

    def joined(self, r, s):
        return r.to_bytes(self.count, "big") + s.to_bytes(self.count, "big")

    def sign(self, message):
        return self.joined(*self.numbers(message))

    def accepts(self, message, signature):
        if len(signature) != 2 * self.count:
            return False
        r, s = (int.from_bytes(half, "big") for half in (signature[:self.count], signature[self.count:]))
        return accepts(lambda: self.public.verify(
            utils.encode_dss_signature(r, s), message, ec.ECDSA(self.hash)))

    def uncompressed(self):
        point = self.public.public_numbers()
        return b"\4" + self.joined(point.x, point.y)

    def jwk(self, private=False):
        point = self.public.public_numbers()
        key = {"kty": "EC", "crv": self.name, "x": number_base64url(point.x, self.count),
               "y": number_base64url(point.y, self.count)}
        return {**key, "d": number_base64url(self.secret, self.count)} if private else key


class Ed25519:
    ORDER = 2**252 + 27742317777372353535851937790883648493

    def __init__(self, label=""):
        self.secret = octets(f"ed25519{label}", 32)
        self.key = ed25519.Ed25519PrivateKey.from_private_bytes(self.secret)
        self.public = self.key.public_key()

    def sign(self, message):
        return self.key.sign(message)

    def accepts(self, message, signature):
        return accepts(lambda: self.public.verify(signature, message))

    def jwk(self, private=False):
        key = {"kty": "OKP", "crv": "Ed25519", "x": base64url(self.public.public_bytes_raw())}
        return {**key, "d": base64url(self.secret)} if private else key


def accepts(verify):
    try:
        verify()
        return True
    except (InvalidSignature, ValueError):
        return False


# The sets


MESSAGES = [b"", b"abc", "naïve 😀".encode(), octets("message", 200), bytes(64)]


def hmacs():
    tests = []
    for count in (1, 16, 32, 64, 65, 131):
        for message in MESSAGES:
            key = octets(f"hmac {count}", count)
            tests.append((key, message, hmac.new(key, message, "sha256").digest(), True))
    key, message, tag, _ = tests[6]
    tests += [(key, message, flipped(tag, index), False) for index in (0, 15, 31)]
    tests += [(key, message + b"x", tag, False), (flipped(key, 0), message, tag, False), (key, message, bytes(32), False)]
    for key, message, tag, is_valid in tests:
        assert (hmac.new(key, message, "sha256").digest() == tag) == is_valid
    cases = [{"key": k.hex(), "msg": m.hex(), "tag": t.hex(), "result": result(v)} for k, m, t, v in tests]
    short = [{**case, "tag": case["tag"][:32]} for case in cases[:4]]
    document = group(cases, tagSize=256)
    document["testGroups"] += group(short, tagSize=128)["testGroups"]
    add_json("wycheproof/hmac_sha256_test.json", document)


def hkdf(key, salt, info, count):
    """RFC 5869 §2, by Python's hmac."""
    pseudorandom = hmac.new(salt or bytes(32), key, "sha256").digest()
    block, output = b"", b""
    for number in range(1, -(-count // 32) + 1):
        block = hmac.new(pseudorandom, block + info + bytes([number]), "sha256").digest()
        output += block
    return output[:count]


def hkdfs():
    tests = []
    for size in (1, 31, 32, 33, 42, 64, 255):
        for salt, info in ((b"", b""), (octets("salt", 32), b""), (octets("salt", 80), octets("info", 80))):
            key = octets(f"ikm {size}", 22)
            tests.append({"ikm": key.hex(), "salt": salt.hex(), "info": info.hex(), "size": size,
                          "okm": hkdf(key, salt, info, size).hex(), "result": "valid"})
    key = octets("ikm", 32)
    tests.append({"ikm": key.hex(), "salt": "", "info": "", "size": 8160, "okm": hkdf(key, b"", b"", 8160).hex(),
                  "result": "valid"})
    # RFC 5869 §2.3: at most 255 blocks.
    tests.append({"ikm": key.hex(), "salt": "", "info": "", "size": 8161, "okm": "", "result": "invalid"})
    add_json("wycheproof/hkdf_sha256_test.json", group(tests))


def aes_gcms():
    groups = []
    for key_bits, nonce_bits in ((256, 96), (128, 96), (192, 96), (256, 64), (256, 128)):
        tests = []
        for length, data in ((0, b""), (1, b""), (16, b"context"), (17, octets("aad", 40)), (200, b"\0")):
            key, nonce = octets(f"gcm {key_bits}", key_bits // 8), octets(f"nonce {length}", nonce_bits // 8)
            message = octets("text", length)
            sealed = AESGCM(key).encrypt(nonce, message, data)
            good = (key, nonce, data, message, sealed[:-16], sealed[-16:], True)
            tests.append(good)
            if (key_bits, nonce_bits) != (256, 96):
                continue
            tests += [(*good[:5], flipped(good[5], index), False) for index in (0, 7, 15)]
            tests.append((*good[:2], data + b"x", *good[3:6], False))
            tests.append((key, flipped(nonce, 0), *good[2:6], False))
            if length:
                tests.append((*good[:4], flipped(good[4], length - 1), good[5], False))
        groups += group([
            {"key": k.hex(), "iv": n.hex(), "aad": a.hex(), "msg": m.hex(), "ct": c.hex(), "tag": t.hex(), "result": result(v)}
            for k, n, a, m, c, t, v in tests], keySize=key_bits, ivSize=nonce_bits, tagSize=128)["testGroups"]
    add_json("wycheproof/aes_gcm_test.json", {"testGroups": groups})


def signature_file(name, public, verify, tests):
    """Each test is (comment, message, signature, is_valid); an independent verifier must agree."""
    for comment, message, signature, is_valid in tests:
        assert verify(message, signature) == is_valid, f"{name}: {comment}"
    add_json(f"wycheproof/{name}_test.json", group(
        [{"comment": c, "msg": m.hex(), "sig": s.hex(), "result": result(v)} for c, m, s, v in tests],
        publicKey={member: value.hex() for member, value in public.items()}))


def broken(message, signature):
    """Variants of a signature that no scheme accepts."""
    return [
        ("the first byte differs", message, flipped(signature, 0), False),
        ("a byte in the middle differs", message, flipped(signature, len(signature) // 2), False),
        ("the last byte differs", message, flipped(signature, -1), False),
        ("a byte is missing", message, signature[:-1], False),
        ("a byte more", message, signature + b"\0", False),
        ("a zero in front", message, b"\0" + signature, False),
        ("empty", message, b"", False),
        ("zeros", message, bytes(len(signature)), False),
        ("another message", message + b"x", signature, False),
    ]


def rsa_signatures(keys):
    hash_of = {"sha256": hashes.SHA256(), "sha384": hashes.SHA384(), "sha512": hashes.SHA512()}
    for bits, digest in ((2048, "sha256"), (2048, "sha384"), (2048, "sha512"), (3072, "sha256"), (4096, "sha256")):
        key = keys[bits]
        valid = [("valid", message, key.pkcs1(message, digest), True) for message in MESSAGES]
        message, signature = valid[1][1:3]
        other = "sha512" if digest == "sha384" else "sha384"
        with_n = int.from_bytes(signature, "big") + key.n
        bad = broken(message, signature) + [
            ("another digest", message, key.pkcs1(message, other), False),
            ("SHA-1", message, key.pkcs1(message, "sha1"), False),
            ("the digest's NULL parameter is missing", message, key.pkcs1(
                message, digest, prefix=without_null(RSA.PREFIXES[digest])), False),
            ("padding of other bytes", message, key.pkcs1(message, digest, filler=0xFE), False),
            ("bytes after the digest", message, key.pkcs1(message, digest, trailing=b"\0\0"), False),
            ("PSS", message, key.pss(message, digest, 32), False),
            ("the modulus added", message, with_n.to_bytes(key.count + 1, "big"), False),
        ]
        signature_file(
            f"rsa_signature_{bits}_{digest}", {"modulus": key.n.to_bytes(key.count, "big"), "publicExponent": b"\1\0\1"},
            lambda m, s: len(s) == key.count and accepts(
                lambda: key.public.verify(s, m, padding.PKCS1v15(), hash_of[digest])), valid + bad)
    for bits, digest, size in ((2048, "sha256", 32), (2048, "sha384", 48), (4096, "sha512", 64)):
        key = keys[bits]
        valid = [("valid", message, key.pss(message, digest, size), True) for message in MESSAGES]
        message, signature = valid[1][1:3]
        bad = broken(message, signature) + [
            ("salt of another length", message, key.pss(message, digest, 20), False),
            ("no salt", message, key.pss(message, digest, 0), False),
            ("another digest", message, key.pss(message, "sha1", size), False),
            ("another trailer", message, key.pss(message, digest, size, trailer=0xCC), False),
            ("PKCS #1 v1.5", message, key.pkcs1(message, digest), False),
        ]
        scheme = padding.PSS(padding.MGF1(hash_of[digest]), size)
        signature_file(
            f"rsa_pss_{bits}_{digest}_mgf1_{size}",
            {"modulus": key.n.to_bytes(key.count, "big"), "publicExponent": b"\1\0\1"},
            lambda m, s: len(s) == key.count and accepts(lambda: key.public.verify(s, m, scheme, hash_of[digest])),
            valid + bad)


def without_null(prefix):
    """The DigestInfo prefix without its algorithm's NULL parameter, with corrected lengths."""
    data = bytearray.fromhex(prefix)
    at = data.index(b"\x05\x00\x04")
    del data[at:at + 2]
    data[1] -= 2
    data[3] -= 2
    return data.hex()


def ec_signatures():
    for curve, name in (("P-256", "ecdsa_secp256r1_sha256"), ("P-384", "ecdsa_secp384r1_sha384"),
                        ("P-521", "ecdsa_secp521r1_sha512")):
        key = EC(curve)
        order = key.order
        valid = [("valid", message, key.sign(message), True) for message in MESSAGES]
        message, signature = valid[1][1:3]
        r, s = key.numbers(message)
        # JWS does not require a low s: both forms are valid.
        valid.append(("s negated", message, key.joined(r, order - s), True))
        bad = broken(message, signature) + [
            ("DER", message, utils.encode_dss_signature(r, s), False),
            ("r is 0", message, key.joined(0, s), False),
            ("s is 0", message, key.joined(r, 0), False),
            ("r is the order", message, key.joined(order, s), False),
            ("s is the order", message, key.joined(r, order), False),
            ("r and s exchanged", message, key.joined(s, r), False),
            ("another digest", message, key.joined(*key.numbers(message, hashes.SHA224())), False),
            ("another key", message, EC(curve, " other").sign(message), False),
        ]
        signature_file(f"{name}_p1363", {"uncompressed": key.uncompressed()}, key.accepts, valid + bad)


def ed25519_signatures():
    key = Ed25519()
    valid = [("valid", message, key.sign(message), True) for message in MESSAGES]
    message, signature = valid[1][1:3]
    s = int.from_bytes(signature[32:], "little")
    bad = broken(message, signature) + [
        ("the order added to S (RFC 8032 §5.1.7)", message,
         signature[:32] + (s + Ed25519.ORDER).to_bytes(32, "little"), False),
        ("S is 0", message, signature[:32] + bytes(32), False),
        ("R is 0", message, bytes(32) + signature[32:], False),
        ("another key", message, Ed25519(" other").sign(message), False),
    ]
    signature_file("ed25519", {"pk": key.public.public_bytes_raw()}, key.accepts, valid + bad)


# JSON Web Signatures


def jws(header, payload, sign):
    text = base64url(json.dumps(header).encode() if isinstance(header, dict) else header) + "." + base64url(payload)
    return text + "." + base64url(sign(text.encode()))


def signers(keys):
    rsa_key = keys[2048]
    return {
        "RS256": (rsa_key, lambda m: rsa_key.pkcs1(m, "sha256")),
        "RS384": (rsa_key, lambda m: rsa_key.pkcs1(m, "sha384")),
        "RS512": (rsa_key, lambda m: rsa_key.pkcs1(m, "sha512")),
        "PS256": (rsa_key, lambda m: rsa_key.pss(m, "sha256", 32)),
        "PS384": (rsa_key, lambda m: rsa_key.pss(m, "sha384", 48)),
        "PS512": (rsa_key, lambda m: rsa_key.pss(m, "sha512", 64)),
        **{alg: (key, key.sign) for alg, key in
           (("ES256", EC("P-256")), ("ES384", EC("P-384")), ("ES512", EC("P-521")), ("EdDSA", Ed25519()))},
    }


PAYLOAD = b'{"iss":"https://idp.example","sub":"alice"}'
SHARED = octets("hs256", 32)


def hs256(text):
    return hmac.new(SHARED, text, "sha256").digest()


def web_signatures(keys):
    groups = []
    for alg, (key, sign) in signers(keys).items():
        public = {**key.jwk(), "alg": alg, "use": "sig", "kid": "k1"}
        header = {"alg": alg, "kid": "k1"}
        good = jws(header, PAYLOAD, sign)
        head, body, signature = good.split(".")
        published = json.dumps(public).encode()
        tests = [
            ("valid", good, True),
            ("empty payload", jws(header, b"", sign), True),
            ("no kid", jws({"alg": alg}, PAYLOAD, sign), True),
            ("members that say nothing here", jws({**header, "typ": "JWT", "x5u": "https://evil.example"}, PAYLOAD, sign), True),
            ("a key in the header is not looked at", jws(
                {"alg": "EdDSA", "kid": "k1", "jwk": Ed25519(" evil").jwk()}, PAYLOAD, Ed25519(" evil").sign), False),
            ("another payload", f"{head}.{base64url(PAYLOAD + b' ')}.{signature}", False),
            ("another header", f"{base64url(json.dumps({**header, 'typ': 'x'}).encode())}.{body}.{signature}", False),
            ("no signature", f"{head}.{body}.", False),
            ("two parts", f"{head}.{body}", False),
            ("four parts", f"{good}.", False),
            ("padding", f"{head}.{body}.{signature}==", False),
            ("a space", f"{head}. {body}.{signature}", False),
            ("a line feed", f"{good}\n", False),
            ("alg none", jws({"alg": "none"}, PAYLOAD, lambda _: b""), False),
            ("alg None", jws({"alg": "None"}, PAYLOAD, sign), False),
            ("no alg", jws({"kid": "k1"}, PAYLOAD, sign), False),
            ("alg in lower case", jws({**header, "alg": alg.lower()}, PAYLOAD, sign), False),
            ("HS256 with the public key as the secret", jws(
                {"alg": "HS256", "kid": "k1"}, PAYLOAD, lambda t: hmac.new(published, t, "sha256").digest()), False),
            ("crit of an unknown extension", jws({**header, "crit": ["exp2"], "exp2": 1}, PAYLOAD, sign), False),
            ("another kid", jws({**header, "kid": "k2"}, PAYLOAD, sign), False),
            ("a header that is not JSON", jws(b"{alg}", PAYLOAD, sign), False),
            ("a header member twice", jws(f'{{"alg":"{alg}","alg":"none"}}'.encode(), PAYLOAD, sign), False),
        ]
        # Each algorithm has the tests of the signature itself; one algorithm of each kind has all other tests.
        tests = tests if alg in ("RS256", "ES256", "EdDSA") else [*tests[:2], *tests[5:8]]
        groups += group([{"comment": c, "jws": text, "result": result(v)} for c, text, v in tests],
                        comment=alg, public=public)["testGroups"]
    groups += group([{"comment": "shared keys are refused", "jws": jws({"alg": "HS256"}, PAYLOAD, hs256), "result": "valid"}],
                    comment="HS256", private={"kty": "oct", "k": base64url(SHARED)})["testGroups"]
    add_json("wycheproof/json_web_signature_test.json", {"testGroups": groups})


def web_keys(keys):
    first, second, rsa_key = Ed25519(), Ed25519(" second"), keys[2048]
    both = {"keys": [{**first.jwk(), "kid": "a"}, {**second.jwk(), "kid": "b"}]}
    token = lambda kid, key: jws({"alg": "EdDSA", **({"kid": kid} if kid else {})}, PAYLOAD, key.sign)
    rs256 = jws({"alg": "RS256"}, PAYLOAD, lambda m: rsa_key.pkcs1(m, "sha256"))
    weak = RSA(1024)
    off_curve = EC("P-256").jwk()
    off_curve["y"] = number_base64url(1, 32)
    cases = [
        ("the key that kid names", both, token("a", first), True),
        ("the other one", both, token("b", second), True),
        ("any that fits without kid", both, token(None, second), True),
        ("kid names another key", both, token("b", first), False),
        ("nobody's kid", both, token("c", first), False),
        ("two keys under one kid", {"keys": [{**first.jwk(), "kid": "a"}, {**second.jwk(), "kid": "a"}]},
         token("a", first), False),
        ("the same key twice", {"keys": [{**first.jwk(), "kid": "a"}] * 2}, token("a", first), True),
        ("for encryption", {**first.jwk(), "use": "enc"}, token(None, first), False),
        ("for other operations", {**first.jwk(), "key_ops": ["sign"]}, token(None, first), False),
        ("for verification", {**first.jwk(), "key_ops": ["verify"]}, token(None, first), True),
        ("for another algorithm", {**rsa_key.jwk(), "alg": "PS256"}, rs256, False),
        ("a published private key", rsa_key.jwk(private=True), rs256, False),
        ("n in plain base64", {**rsa_key.jwk(), "n": rsa_key.jwk()["n"] + "="}, rs256, False),
        ("1024 bits (RFC 7518 §3.3)", weak.jwk(),
         jws({"alg": "RS256"}, PAYLOAD, lambda m: weak.pkcs1(m, "sha256")), False),
        ("exponent 1", {**rsa_key.jwk(), "e": "AQ"}, rs256, False),
        ("a point that is not on the curve", off_curve, jws({"alg": "ES256"}, PAYLOAD, EC("P-256").sign), False),
        ("a key of another curve", EC("P-384").jwk(), jws({"alg": "ES256"}, PAYLOAD, EC("P-256").sign), False),
        ("an unusable key beside a good one", {"keys": [{"kty": "none"}, {**first.jwk(), "kid": "a"}]},
         token("a", first), True),
    ]
    groups = []
    for comment, public, text, is_valid in cases:
        groups += group([{"comment": comment, "jws": text, "result": result(is_valid)}], public=public)["testGroups"]
    add_json("wycheproof/json_web_key_test.json", {"testGroups": groups})


def web_crypto(keys):
    key = Ed25519()
    good = jws({"alg": "EdDSA"}, PAYLOAD, key.sign)
    encrypted = ".".join([base64url(b'{"alg":"dir","enc":"A256GCM"}'), "", *(base64url(octets(part, 16)) for part in "abc")])
    tests = [{"comment": "a signature", "jws": good, "result": "valid"},
             {"comment": "an encrypted token is no signed one", "jwe": encrypted, "result": "invalid"},
             {"comment": "the JSON form", "jws": json.dumps(dict(zip(("protected", "payload", "signature"), good.split(".")))),
              "result": "invalid"}]
    add_json("wycheproof/json_web_crypto_test.json", group(tests, public=key.jwk()))
    add_json("wycheproof/OVERRIDES.json", {})


def cookbook(keys):
    by_alg = signers(keys)
    for path, alg in (("jws/4_1.rsa_v15_signature", "RS256"), ("jws/4_2.rsa-pss_signature", "PS384"),
                      ("jws/4_3.ecdsa_signature", "ES512"), ("curve25519/jws", "EdDSA")):
        key, sign = by_alg[alg]
        add_json(f"jose-cookbook/{path}.json", {
            "title": f"{alg} signature", "input": {"payload": f"Signed with {alg}.", "key": key.jwk(private=True), "alg": alg},
            "output": {"compact": jws({"alg": alg}, f"Signed with {alg}.".encode(), sign)}})
    add_json("jose-cookbook/jws/4_4.hmac-sha2_integrity_protection.json", {
        "title": "HS256 tag", "input": {"payload": "Shared.", "key": {"kty": "oct", "k": base64url(SHARED)}, "alg": "HS256"},
        "output": {"compact": jws({"alg": "HS256"}, b"Shared.", hs256)}})


def known_answers(keys):
    rows = []
    for password, salt, n, r, p, count in (
            ("", "", 16, 1, 1, 64), ("1234", "salt", 1024, 8, 2, 32), ("passphrase ☃", "enroll", 16384, 8, 1, 64)):
        key = hashlib.scrypt(password.encode(), salt=salt.encode(), n=n, r=r, p=p, dklen=count, maxmem=1 << 26)
        rows.append({"id": f"scrypt-N{n}", "kind": "scrypt", "password": password, "salt": salt, "N": n, "r": r, "p": p,
                     "dklen": count, "out_hex": key.hex()})
    for text in ("", "e", "en", "enr", "enroll", "enrollkit?>~"):
        rows.append({"id": f"base64url-{len(text)}", "kind": "base64url", "text": text, "encoded": base64url(text.encode())})
    random = octets("verifier", 32)
    verifier = base64url(random)
    rows.append({"id": "pkce", "kind": "pkce-s256", "octets": list(random), "code_verifier": verifier,
                 "code_challenge": base64url(hashlib.sha256(verifier.encode()).digest())})
    for alg, (key, sign) in signers(keys).items():
        rows.append({"id": f"jws-{alg}", "kind": "jws-compact", "key": key.jwk(), "jws": jws({"alg": alg}, PAYLOAD, sign)})
    shared = {"kty": "oct", "k": base64url(SHARED)}
    rows.append({"id": "jws-HS256", "kind": "jws-compact", "key": shared, "jws": jws({"alg": "HS256"}, PAYLOAD, hs256)})
    rows.append({"id": "jws-none", "kind": "jws-compact", "key": None, "jws": jws({"alg": "none"}, PAYLOAD, lambda _: b"")})
    # OIDC Core §3.1.3.6: the left half of the digest of the algorithm; SHA-512 for Ed25519.
    for alg, digest in (("RS256", "sha256"), ("PS384", "sha384"), ("ES512", "sha512"), ("EdDSA", "sha512")):
        half = hashlib.new(digest, b"an-access-token").digest()
        rows.append({"id": f"at_hash-{alg}", "kind": "at_hash", "alg": alg, "access_token": "an-access-token",
                     "at_hash": base64url(half[:len(half) // 2])})
    half = hashlib.sha256(b"a-code").digest()[:16]
    rows.append({"id": "c_hash", "kind": "c_hash", "alg": "RS256", "code": "a-code", "c_hash": base64url(half)})
    add_json("rfc-kat/rfc-kat.json", rows)


def decisions():
    """Redirects, queries and token responses, each with the result that EnrollKit must reach."""
    rows = []
    custom, https = "com.example.app:/callback", "https://app.example/callback"
    for url, expected in (
            ("?state=s1&code=c1", "code:c1"), ("?code=c%2F1%2B&state=s1&session_state=x", "code:c/1+"),
            ("?state=s2&code=c1", "reject"), ("?code=c1", "reject"), ("?state=s1", "reject"), ("?state=s1&code=", "reject"),
            ("?state=s1&state=s1&code=c1", "reject"), ("?state=s1&code=c1&code=c2", "reject"),
            ("?error=access_denied", "reject"), ("/more?state=s1&code=c1", "reject"), ("", "reject"),
            ("?state=S1&code=c1", "reject")):
        for redirect in (custom, https):
            rows.append({"kind": "redirect", "redirect_uri": redirect, "state": "s1", "url": redirect + url,
                         "enrollkit": expected})
    rows.append({"kind": "redirect", "redirect_uri": https, "state": "s1",
                 "url": "https://app.example.evil.example/callback?state=s1&code=c1", "enrollkit": "reject"})
    for text, encoded in (("a b+c=d&e#f", "a%20b%2Bc%3Dd%26e%23f"), ("~é/😀", "~%C3%A9%2F%F0%9F%98%80"), ("Az09-._~", "Az09-._~")):
        rows.append({"kind": "query-encode", "text": text, "enrollkit": encoded})
    full = {"access_token": "a", "token_type": "Bearer", "expires_in": 60, "scope": "openid", "refresh_token": "r"}
    for status, body, expected in (
            (200, json.dumps(full), "accept"), (200, json.dumps({**full, "token_type": "bearer"}), "accept"),
            (200, json.dumps({**full, "unknown": [1]}), "accept"), (200, json.dumps({**full, "token_type": "mac"}), "token_type"),
            (200, '{"token_type":"Bearer"}', "no access token"), (200, "", "empty"), (200, "[]", "not an object"),
            (200, "<html>", "not JSON"), (400, '{"error":"invalid_grant"}', "error invalid_grant"), (500, "", "status"),
            (404, "", "status")):
        row = {"kind": "token-reply", "status": status, "body": body, "enrollkit": expected}
        rows.append({**row, "oauth_error": "invalid_grant"} if "invalid_grant" in expected else row)
    for number, row in enumerate(rows, 1):
        row["id"] = f"own-{row['kind']}-{number}"
    add_json("sdk-tables/sdk-tables.json", rows)


# Texts


def json_texts():
    """The names show RFC 8259's verdict: y_ is valid, n_ is not; Node's JSON.parse must agree."""
    texts = {
        "y_array_empty": b"[]", "y_array_nested": b"[[[]],[1,[2]]]", "y_array_spaces": b" [ 1 ,\t2\r\n, 3 ] ",
        "y_object_empty": b"{}", "y_object_nested": b'{"a":{"b":[{}]},"c":null}', "y_object_empty_key": b'{"":0}',
        "y_object_duplicated_key": b'{"a":1,"a":2}', "y_number_zero": b"0", "y_number_negative_zero": b"-0",
        "y_number_exponent": b"[1e2,1E+2,1.5e-2]", "y_number_fraction": b"[0.1,-12.25]",
        "y_number_int64": b"[9223372036854775807,-9223372036854775808]", "y_literals": b"[true,false,null]",
        "y_string_escapes": rb'"\" \\ \/ \b \f \n \r \t \u00e9"', "y_string_surrogate_pair": rb'"\uD83D\uDE00"',
        "y_string_utf8": '"é 中 😀 \u2028"'.encode(), "y_string_delete": b'"\x7f"', "y_string_null_escape": rb'"\u0000"',
        "n_empty": b"", "n_space": b" ", "n_array_comma_last": b"[1,]", "n_array_comma_first": b"[,1]",
        "n_array_comma_twice": b"[1,,2]", "n_array_no_comma": b"[1 2]", "n_array_open": b"[1", "n_array_closed_twice": b"[1]]",
        "n_object_comma_last": b'{"a":1,}', "n_object_no_colon": b'{"a" 1}', "n_object_no_value": b'{"a":}',
        "n_object_no_quotes": b"{a:1}", "n_object_single_quotes": b"{'a':1}", "n_object_number_as_key": b"{1:1}",
        "n_object_open": b'{"a":1', "n_object_and_more": b'{"a":1} x', "n_comment": b"/* */ 1", "n_number_leading_zero": b"01",
        "n_number_plus": b"+1", "n_number_point_first": b".5", "n_number_point_last": b"1.", "n_number_exponent_empty": b"1e",
        "n_number_hex": b"0x1F", "n_number_infinity": b"Infinity", "n_number_nan": b"NaN", "n_number_two_signs": b"--1",
        "n_literal_upper_case": b"True", "n_literal_short": b"nul", "n_string_open": b'"a', "n_string_tab": b'"a\tb"',
        "n_string_line_feed": b'"a\nb"', "n_string_escape_unknown": rb'"\x41"', "n_string_escape_short": rb'"\u12"',
        "n_string_nul": b'"a\0b"', "n_string_invalid_utf8": b'"\xff"', "n_string_overlong_utf8": b'"\xc0\xaf"',
        "n_byte_order_mark": b"\xef\xbb\xbf{}", "n_utf16": '{"a":1}'.encode("utf-16-le"), "n_form_feed": b"[\x0c]",
        "i_string_lone_high_surrogate": rb'"\uD800"', "i_string_lone_low_surrogate": rb'"\uDC00"',
        "i_number_huge_exp": b"1e9999", "i_number_too_big_pos_int": b"123456789012345678901234567890",
        "i_structure_100_nested_arrays": b"[" * 100 + b"]" * 100,
    }
    valid = node("""(hex) => { try {
        JSON.parse(new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(Buffer.from(hex, "hex"))); return true
      } catch { return false } }""", [text.hex() for text in texts.values()])
    for (name, text), is_valid in zip(texts.items(), valid):
        assert name[0] == "i" or is_valid == (name[0] == "y"), name
        FILES[f"jsontestsuite/{name}.json"] = text


def utf8_texts():
    rows = []
    for hex in ("41", "7f", "c280", "dfbf", "e0a080", "ed9fbf", "ee8080", "efbfbf", "f0908080", "f48fbfbf", "e282ac", "f09f9880",
                "80", "bf", "c0af", "c1bf", "e080af", "e09fbf", "f08080af", "f08fbfbf", "eda080", "edbfbf", "f4908080", "f5808080",
                "f8888080", "fe", "ff", "c2", "c241", "e282", "e28241", "f09f98", "f09f9841", "41ff42", "c2a9c2", "e282acc0"):
        try:
            bytes.fromhex(hex).decode("utf-8")
            is_valid = True
        except UnicodeDecodeError:
            is_valid = False
        rows.append({"id": f"own-{hex}", "valid": is_valid, "hex": hex})
    add_json("utf8tests/utf8tests.json", rows)


def awkward_strings():
    add_json("blns/blns.json", [
        "", " ", "\t", "\n", "\r\n", "\\", "\"", "\\\"", "'", "`", "${x}", "%s%n", "%00", "null", "undefined", "true", "NaN", "1e400",
        "0x0", "-0", "../../etc/passwd", "C:\\NUL", "'; DROP TABLE t; --", "<script>alert(1)</script>", "{{7*7}}", "$(id)", "\u007f",
        "\u0080", "\u00ad", "\u200b", "\u200e\u202e txt", "\u2028\u2029", "\ufeff", "\ufffd", "\uffff", "é", "e\u0301", "ﬁ", "ß",
        "İıIi", "中文", "日本語", "العربية", "עברית", "ไทย", "😀", "👩‍👩‍👧‍👧", "🇳🇱", "Z̷̢a̶l̴g̵o̴", "a" * 5000, "é" * 1000])


def node(function, inputs):
    """The results of a Node.js function for each input. Node's URL and JSON come from a browser's engine."""
    program = f"const f = {function}; console.log(JSON.stringify(JSON.parse(require('fs').readFileSync(0)).map(x => f(x))))"
    done = subprocess.run(["node", "-e", program], input=json.dumps(inputs), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


CLAIMED = "www.whitelisteddomain.tld"


def urls():
    inputs = [
        "https://example.com/", "https://example.com", "https://EXAMPLE.com/a", "https://example.com:443/a", "https://example.com:8443/a",
        "https://example.com/a?b=c#d", "https://example.com/%41%2f", "https://example.com?x=1", "https://a.b-c.d1.example/x",
        "https://127.0.0.1/x", "https://[::1]/x", "https://example.com/a;b,c=d", "https://sub.example.com/x/y", "https://x.example/",
        "https://y.example/?a=b", "https://z.example/a:b@c", "http://example.com/a", "http://a.example/b",
        "https://user@example.com/", "https://user:pass@example.com/", "https://example.com@evil.example/", "https://@example.com/",
        "https://example.com\\@evil.example/", "https:\\\\example.com\\a", "https:/example.com/", "https:example.com", "https:///example.com/",
        "https://example.com\t.evil.example/", "https://exam\nple.com/", " https://example.com/", "https://example.com/ ",
        "https://example.com /", "https://ex%61mple.com/", "https://example.com%2eevil.example/", "https://example。com/",
        "https://ｅｘａｍｐｌｅ.com/", "https://exämple.com/", "https://example.com:99999/", "https://example.com:x/", "https://exa mple.com/",
        "https://[::1", "https://1.2.3/", "https://0x7f.1/", "https://2130706433/", "https://127.1/", "https://256.1.1.1/", "https://exa<mple.com/",
        "https://example.com|evil/", "https://example.com^/", "https://", "https:", "", "//example.com/", "/a", "javascript:alert(1)",
        "https://example.com#@evil.example/", "https://example.com?@evil.example/", "https://example.com/\\evil", "https://exa\u00admple.com/",
        "https://a..b/", "https://.example.com/", "https://example.com./", "https://xn--/", "data:text/html,x",
    ]
    rows = []
    oracle = node("""(text) => { try { const u = new URL(text); return {href: u.href, protocol: u.protocol, username: u.username,
        password: u.password, host: u.host, hostname: u.hostname, port: u.port, pathname: u.pathname} }
      catch { return {failure: true} } }""", inputs)
    for text, read in zip(inputs, oracle):
        rows.append({"input": text, "base": None, **read})
    add_json("url-wpt/urltestdata.json", rows)
    hosts = {
        "toascii": ["example", "EXAMPLE.com", "a-b.example", "aa--", "-x", "x-", "exämple.com", "faß.de", "中文.example", "xn--exmple-cua.com",
                    "xn--", "xn--a", "xn--zn7c.com", "a\u00adb", "ﬁ.example", "a\u200db.example", "%65xample.com", "a_b.example", "a\u2020"],
        "IdnaTestV2": ["fass.de", "fa\u00df.de", "a.b.c\u3002d", "1.example", "xn--fa-hia.de", "\u00e0.example", "A.EXAMPLE", "a\u0300.example",
                       "\u2260.example", "xn--1ch.example", "0.example", "a\u200c.example", "bücher.example", "i\u0307.example"],
        "verifydnslength_tests": ["a" * 63 + ".example", "a" * 64 + ".example", ".".join(["a" * 60] * 5), "a..example", "example.com.", ".",
                                  "example.com..", "abc.example"],
    }
    for file, texts in hosts.items():
        oracle = node("(host) => { try { return new URL('https://' + host + '/x').hostname } catch { return null } }", texts)
        add_json(f"url-wpt/{file}.json", [{"input": text, "output": output} for text, output in zip(texts, oracle)])


def look_alikes():
    """URLs written by hand that resemble the claimed host. The tests accept only URLs that begin with the host and
    its slash."""
    add_json("open-redirect/openredirects.json", [
        "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example", "/%2f%2fevil.example", "/%5cevil.example", "//evil.example/%2e%2e",
        "https:evil.example", "https:/evil.example", "https:///evil.example", "//https://evil.example//", "/https://evil.example", "//%09/evil.example",
        "/?next=//evil.example", "/redirect?url=https://evil.example", "//evil%E3%80%82example", "//evil。example", "/.evil.example", "@evil.example",
        ".evil.example", ":@evil.example", ":443@evil.example", "%2eevil.example", "%00.evil.example", "?@evil.example", "#@evil.example",
        ";@evil.example", "\\@evil.example", "\t@evil.example", "\n.evil.example"])
    add_json("open-redirect/Open-Redirect-payloads.json", [
        f"https://{CLAIMED}/", f"https://{CLAIMED}/path", f"https://{CLAIMED}@evil.example/", f"https://{CLAIMED}.evil.example/",
        f"https://{CLAIMED}:443@evil.example/", f"https://evil.example/{CLAIMED}", f"https://evil.example/?{CLAIMED}/",
        f"https://evil.example#{CLAIMED}/", f"https://evil.example\\{CLAIMED}/", f"https://{CLAIMED}\\@evil.example/", f"https://{CLAIMED}%2eevil.example/",
        f"https://{CLAIMED}%00.evil.example/", f"https://{CLAIMED}\t.evil.example/", f"https://{CLAIMED}\u3002evil.example/",
        f"https://{CLAIMED}%2f@evil.example/", f"https://user@{CLAIMED}/", f"https://:@{CLAIMED}/", f"http://{CLAIMED}/",
        f"//{CLAIMED}/", f"https:{CLAIMED}/", f"https:/{CLAIMED}/", f"https:\\\\{CLAIMED}/", f" https://{CLAIMED}/", f"https://{CLAIMED.upper()}/",
        "https://whitelisteddomain.tld/", "https://www.whitelisteddomain.tld.evil.example/", "https://wwwwhitelisteddomain.tld/",
        "https://www.whitelisteddomain.tl/", "https://www.whitelisteddomain.tld1/", "https://www.whitelısteddomain.tld/", f"ftp://{CLAIMED}/",
        f"javascript://{CLAIMED}/%0aalert(1)", f"data://{CLAIMED}/"])
    add_json("open-redirect/open_redirect_wordlist.json", [
        f"/{CLAIMED}/", f"//{CLAIMED}@evil.example/", f"/\\{CLAIMED}/", "javascript:alert(1)", "//evil.example/..;/css", "https://evil.example"])


def main():
    keys = {bits: RSA(bits) for bits in (2048, 3072, 4096)}
    hmacs(), hkdfs(), aes_gcms()
    rsa_signatures(keys), ec_signatures(), ed25519_signatures()
    web_signatures(keys), web_keys(keys), web_crypto(keys), cookbook(keys), known_answers(keys)
    decisions(), json_texts(), utf8_texts(), awkward_strings(), urls(), look_alikes()
    if sys.argv[1:] == ["--check"]:
        present = {str(path.relative_to(OWN)): path.read_bytes() for path in OWN.rglob("*") if path.is_file()}
        different = sorted(path for path in FILES.keys() | present.keys() if FILES.get(path) != present.get(path))
        for path in different:
            print(f"Tests/units/TestVectors/own/{path} differs from what make.py beside that folder writes")
        sys.exit(1 if different else 0)
    for path, content in FILES.items():
        (OWN / path).parent.mkdir(parents=True, exist_ok=True)
        (OWN / path).write_bytes(content)


main()
