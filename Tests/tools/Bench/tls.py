#!/usr/bin/env python3
"""Compares a renewal over TLS with the bare POST by curl: renewal.c sends both to tls_provider.py.

If the machine has a memory file system, the store is in it: a busy disk delays durable saves, and this delay
must not be in the result.
"""

import contextlib
import os
import subprocess
import sys
import tempfile

from measure import HERE, program

from processes import workspace


def certificate(folder):
    """A self-signed certificate of localhost, and its key."""
    chain, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-subj", "/CN=localhost",
         "-days", "30", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", chain],
        check=True, capture_output=True)  # fmt: skip
    return chain, key


@contextlib.contextmanager
def folder_in_memory():
    if os.access("/dev/shm", os.W_OK):
        with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="enroll-bench-") as folder:
            yield folder
    else:
        yield workspace("tls")


def main():
    chain, key = certificate(workspace("tls"))
    peer = program("renewal", "renewal.c", libraries=["-lcurl"])
    provider = subprocess.Popen(
        [sys.executable, HERE / "tls_provider.py", chain, key], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
    try:
        port = provider.stdout.readline().strip()
        with folder_in_memory() as folder:
            subprocess.run([peer, f"https://localhost:{port}", chain, folder], check=True)
    finally:
        provider.stdin.close()
        provider.wait()


if __name__ == "__main__":
    main()
