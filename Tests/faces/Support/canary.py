"""Searches places that must not contain secrets, for the secrets themselves and for the encodings that programs use."""

import base64
import re
from pathlib import Path


def spellings(secret):
    """The secret in plain, base64, base64url, hexadecimal, and with every byte escaped for a URL."""
    raw = secret if isinstance(secret, bytes) else secret.encode()
    found = {raw, raw.hex().encode(), raw.hex().upper().encode()}
    found |= {b"".join(b"%%%02X" % byte for byte in raw), b"".join(b"%%%02x" % byte for byte in raw)}
    for shift in range(3):
        # Base64 encodes groups of three bytes. Only groups that are completely inside the secret are independent of the
        # bytes around it.
        text = base64.b64encode(b"\0" * shift + raw)
        middle = text[(0, 2, 3)[shift] : len(text) - (0, 3, 2)[(len(raw) + shift) % 3] or None].rstrip(b"=")
        found |= {middle, middle.replace(b"+", b"-").replace(b"/", b"_")}
    return found


class Canaries:
    """Secrets by name. Each is so long that it does not appear by chance."""

    SHORTEST = 8

    def __init__(self):
        self.known = {}

    def add(self, name, secret):
        if secret and len(secret) >= self.SHORTEST:
            self.known.setdefault(secret if isinstance(secret, bytes) else secret.encode(), name)

    def sightings(self, place, content):
        """A line for each secret in `content`: its name, its place, and the text around it."""
        content = content if isinstance(content, bytes) else content.encode()
        for secret, name in list(self.known.items()):
            for spelling in spellings(secret):
                at = content.find(spelling)
                if at >= 0:
                    yield f"{name} in {place}: …{content[max(at - 60, 0) : at]!r} [{len(spelling)} bytes]"
                    break

    def sightings_in_files(self, folder):
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file() and not path.is_symlink():
                yield from self.sightings(path, path.read_bytes())
            yield from self.sightings("the name of a file", str(path))


# The members of commands and results that hold secrets, and the query parameters that hold secrets.
MEMBERS = ("accessToken", "idToken", "refreshToken", "codeVerifier", "pin", "newPin", "passphrase", "code", "proof")
PARAMETERS = re.compile(r"[?&](?:code|state|nonce|session_token|activationToken|artefactId|id_token_hint|token)=([^&#\s\"]+)")


def secrets_in(value):
    """The secrets in the parameters or the result of a command, by name."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name in MEMBERS and isinstance(item, str):
                yield name, item
            else:
                yield from secrets_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from secrets_in(item)
    elif isinstance(value, str):
        for secret in PARAMETERS.findall(value):
            yield "parameter of a URL", secret
