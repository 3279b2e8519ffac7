"""oidc-agent with one account whose token is cached, against its own sandbox. oidc-agent needs a confidential
client."""

import atexit
import base64
import hashlib
import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

from measure import clean_environment

from processes import workspace
from sandbox import CUSTOM, Sandbox, parameter

ACCOUNT = "bench"
SCOPE = "openid profile offline_access"
TIMEOUT = 60


def is_installed():
    return all(map(shutil.which, ("oidc-agent", "oidc-gen", "oidc-token")))


def session(sandbox, client_id, secret=None):
    """A session of alice, made with plain HTTP: the token endpoint, and its answer."""
    with urllib.request.urlopen(f"{sandbox.issuer}/.well-known/openid-configuration") as answer:
        endpoints = json.load(answer)
    verifier = "v" * 43
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    client = {"client_id": client_id, "redirect_uri": CUSTOM}
    wish = {**client, "response_type": "code", "scope": SCOPE, "state": "s", "nonce": "n", "code_challenge": challenge,
            "code_challenge_method": "S256", "prompt": "consent"}  # fmt: skip
    redirect = sandbox.play(f"{endpoints['authorization_endpoint']}?{urllib.parse.urlencode(wish)}")
    form = {**client, "grant_type": "authorization_code", "code": parameter(redirect, "code"), "code_verifier": verifier}
    if secret:
        form["client_secret"] = secret
    with urllib.request.urlopen(endpoints["token_endpoint"], urllib.parse.urlencode(form).encode()) as answer:
        return endpoints["token_endpoint"], json.load(answer)


class Agent:
    """The processes of oidc-agent, and the environment in which oidc-token and liboidc-agent find them. The
    processes end with this process."""

    def __init__(self):
        self.environment = clean_environment(HOME=str(workspace("agent")), OIDC_ENCRYPTION_PW="bench")
        told = self._run("oidc-agent")
        atexit.register(self.stop)
        for name in ("OIDC_SOCK", "OIDCD_PID"):
            self.environment[name] = re.search(rf"{name}=([^;]+);", told)[1]
        # The agent has started when it answers this command.
        self._run("oidc-add", "--loaded")

    def add_account(self):
        self._sandbox = Sandbox("--access-lifetime", "86400", "--client-id", "agent", "--client-secret", "secret")
        _, tokens = session(self._sandbox, "agent", "secret")
        self._run(
            "oidc-gen", ACCOUNT, "--manual", "--iss", self._sandbox.issuer, "--client-id", "agent", "--client-secret", "secret",
            "--scope", SCOPE, "--rt", tokens["refresh_token"], "--redirect-uri", "http://localhost:4242", "--pw-env",
            "--prompt", "none", "--confirm-default")  # fmt: skip
        self._run("oidc-token", ACCOUNT)
        return self

    def resident(self):
        """The memory of all processes of oidc-agent, in kilobytes."""
        return sum(map(_resident, self._processes()))

    def stop(self):
        if "OIDCD_PID" in self.environment:
            self._run("oidc-agent", "-k")
            del self.environment["OIDCD_PID"]

    def _processes(self):
        found = [self.environment["OIDCD_PID"]]
        for process in found:
            for task in Path(f"/proc/{process}/task").iterdir():
                found += (task / "children").read_text().split()
        return found

    def _run(self, *words):
        done = subprocess.run(
            words, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT)
        if done.returncode:
            raise RuntimeError(f"{' '.join(words[:2])} failed: {done.stderr.strip()}")
        return done.stdout


def _resident(process):
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"^VmRSS:\s+(\d+)", status, re.M)[1])
