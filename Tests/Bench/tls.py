#!/usr/bin/env python3
"""A warm renewal over TLS, beside a pooled POST by curl: renewal.c against tls_provider.py."""

import subprocess
import sys

from measure import HERE, program

from processes import workspace


def certificate(folder):
    """A certificate of localhost that is its own authority, and its key."""
    chain, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-subj", "/CN=localhost",
         "-days", "30", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", chain],
        check=True, capture_output=True)  # fmt: skip
    return chain, key


def main():
    folder = workspace("tls")
    chain, key = certificate(folder)
    peer = program("renewal", "renewal.c", libraries=["-lcurl"])
    provider = subprocess.Popen(
        [sys.executable, HERE / "tls_provider.py", chain, key], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
    try:
        port = provider.stdout.readline().strip()
        subprocess.run([peer, f"https://localhost:{port}", chain, folder], check=True)
    finally:
        provider.stdin.close()
        provider.wait()


if __name__ == "__main__":
    main()
