"""One run of a scenario: `client.py FACE URL`, as the conformance tests start it. The tokens come from EnrollKit, through the
command or through the Python package. A program that follows redirects plays the browser.
"""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

from protocol import Client, Refused

#: The client id that the tests expect of a client with a metadata document. No server exists at this address.
METADATA = "https://conformance-test.local/client-metadata.json"
HERE = Path(__file__).resolve().parent
HOME = Path(os.environ["MCP_CONFORMANCE_DIR"]).resolve()
CONTEXT = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")


def log(*words):
    print(*words, file=sys.stderr, flush=True)


def visit(url):
    """Requests a URL, as a browser does if no page asks the user anything."""
    try:
        with urllib.request.urlopen(url, timeout=20) as page:
            log("browser:", page.status)
    except (urllib.error.URLError, OSError) as error:
        log("browser:", error)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class ByCommand:
    """`enroll login` and `enroll token`, with their own home."""

    def __init__(self, url):
        self.url, self.token, self.more = url, None, []
        browser = HOME / "browser"
        browser.write_text(f'#!/bin/sh\nexec {sys.executable} -B {HERE / "client.py"} browser "$1"\n')
        browser.chmod(0o755)
        self.environment = {
            "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(HOME), "BROWSER": str(browser),
            "MCP_CONFORMANCE_DIR": str(HOME),
        }  # fmt: skip

    def headers(self, method, url):
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def take_nonce(self, nonce):
        return False

    def obtain(self, status, challenge):
        words = ["login", "--resource", self.url, "--yes", "--allow-loopback-http", "--challenge", challenge]
        if "client_id" in CONTEXT:
            secret = HOME / "secret"
            secret.write_text(CONTEXT["client_secret"])
            words += ["--client-id", CONTEXT["client_id"], "--client-secret-file", str(secret)]
        else:
            words += ["--client-metadata", METADATA]
        try:
            self._enroll(*words, *self.more)
        except Refused as refusal:
            # The script trusts any server that the resource names.
            moved = re.search(r"names the authorization server (\S+) now", str(refusal))
            if not moved:
                raise
            self._enroll(*words, *self.more, "--issuer", moved[1])
        self.more = ["--again"]
        self.token = self._enroll("token", "--resource", self.url)

    def _enroll(self, *words):
        done = subprocess.run(
            [os.environ["ENROLL"], *words], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=40)  # fmt: skip
        log("enroll", *words, "->", done.returncode, done.stderr)
        if done.returncode:
            raise Refused(f"enroll {words[0]}: {done.returncode}: {done.stderr}")
        return done.stdout.strip()


class ByPython:
    """The package: discover, register, sign in."""

    def __init__(self, url):
        import enrollkit

        self.enrollkit, self.url = enrollkit, url
        self.over = enrollkit.Library() if "ENROLL_LIBRARY" in os.environ else enrollkit.Daemon()
        self.client = self.token = self.nonce = self.issuer = None
        # Several of these programs run at the same time, so each has its own port.
        self.redirect_uri = f"http://127.0.0.1:{free_port()}/callback"

    def headers(self, method, url):
        if self.token is None:
            return {}
        headers = {"Authorization": self.token.authorization}
        if self.token.type.lower() == "dpop":
            headers["DPoP"] = self.client.dpop_proof(method, url, nonce=self.nonce, access_token=self.token.value)
        return headers

    def take_nonce(self, nonce):
        is_new, self.nonce = nonce not in ("", self.nonce), nonce
        return is_new

    def obtain(self, status, challenge):
        found = self.over.discover_resource(self.url, challenge=challenge, allow_loopback_http=True)
        made = self.over.register_resource(
            self.url, found.issuer, self.redirect_uri, HOME / "store",
            client_id=CONTEXT.get("client_id"), client_secret=CONTEXT.get("client_secret"),
            client_metadata_uri=None if "client_id" in CONTEXT else METADATA,
            challenge=challenge, discovery=found.discovery, allow_loopback_http=True,
            previous_issuer=self.issuer if self.issuer != found.issuer else None)  # fmt: skip
        log(f"client: {made.origin} at {found.issuer}")
        if self.client:
            self.client.close()
        # Both Bearer tokens and bound tokens are accepted here.
        configuration = {"dpop": "auto", **made.configuration}
        self.client = self.enrollkit.Client(configuration, store=HOME / "store", over=self.over)
        transaction = self.client.begin()
        threading.Thread(target=visit, args=[transaction.action.url], daemon=True).start()
        state = self.client.await_outcome(transaction, timeout=20)
        if isinstance(state, self.enrollkit.AwaitingConfirmation):
            self.client.confirm()
        self.issuer = found.issuer
        self.token = self.client.access_token()


def main():
    face, url = sys.argv[1:]
    if face == "browser":
        return visit(url)
    credentials = {"command": ByCommand, "python": ByPython}[face](url)
    version = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "2025-11-25")
    try:
        Client(url, version, credentials).run()
    except Refused as refusal:
        return str(refusal)
    return 0


if __name__ == "__main__":
    sys.exit(main())
