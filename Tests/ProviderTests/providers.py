"""What a test knows of a real provider, and the shared ones: each is started once."""

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx

from processes import free_port, workspace

CUSTOM = "com.example.app:/cb"
CUSTOM_LOGOUT = "com.example.app:/logout"
# With a space and signs that forms encode.
SECRET = "GOCSPX-a secret+with/signs%&=:~"
POST, BASIC = "client_secret_post", "client_secret_basic"


@dataclass(frozen=True)
class User:
    name: str
    password: str
    email: str


ALICE = User("alice", "alice-pass", "alice@example.com")
BOB = User("bob", "bob-pass-2", "bob@example.com")


@dataclass
class Facts:
    """How this provider behaves where the specifications leave a choice, or are ignored."""

    # What prompt=none answers when nobody is signed in.
    silent_refusal: str
    # Reuse of a spent refresh token ends the whole family (RFC 9700 §4.14.2).
    reuse_kills_family: bool
    # Outcomes of a renewal with a spent refresh token.
    spent_refresh_token: tuple
    # An error redirect carries `iss` (RFC 9207 §2.2).
    iss_on_errors: bool
    # A line of its log for each request to the token endpoint that reached a decision.
    token_request: str
    # The secrets of the confidential clients, by the method that each of them uses.
    secrets: dict = field(default_factory=lambda: {POST: SECRET, BASIC: SECRET})
    # Our clients, by the algorithm that signs their id_tokens.
    clients: dict = field(default_factory=dict)


class Provider:
    """A provider that can be started and stopped, with the public client `native`, the confidential clients
    `native-client_secret_post` and `native-client_secret_basic`, and the users alice and bob.

    A kind of provider writes its files (`prepare`), starts its process (`launch`), and may have more to set up once it
    answers (`set_up`).
    """

    name: str
    issuer: str
    facts: Facts
    client_id = "native"
    # What a person meets on the way to the redirect, and after logging out: `browser.Step`s.
    pages: list
    logout_pages: list
    # The id and secret of a resource's own client, at a provider that binds tokens to resources (RFC 8707) and tells that client
    # about them (RFC 7662).
    resource_client = None
    # Appended to an authorize URL, does what the pages do for somebody whom they would ask nothing.
    without_pages = ""

    # What the discovery document's address answers once it runs.
    ready = (200,)

    def __init__(self, port=None):
        self.port = port or free_port()
        self.base = f"http://localhost:{self.port}"
        # It registers whole redirects only, so the port is chosen beforehand.
        self.loopback = f"http://127.0.0.1:{free_port()}/cb"
        self.directory = None
        self.child = None

    def start(self):
        """Starts it, a second time with what it had before."""
        is_fresh = self.directory is None
        if is_fresh:
            self.directory = workspace("provider")
            self.prepare()
        self.child = self.launch()
        self.child.wait_for(self._answers, f"{self.name} answers", timeout=60)
        if is_fresh:
            self.set_up()

    def stop(self):
        self.child.stop()

    def prepare(self):
        raise NotImplementedError

    def launch(self):
        raise NotImplementedError

    def set_up(self):
        pass

    @property
    def discovery(self):
        return f"{self.issuer}/.well-known/openid-configuration"

    def _answers(self):
        try:
            return httpx.get(self.discovery).status_code in self.ready
        except httpx.TransportError:
            return False

    def configuration(self, redirect=CUSTOM, **more):
        """A client configuration for this provider (flows.md §1)."""
        return {
            "issuer": self.issuer,
            "clientId": self.client_id,
            "redirectUri": redirect,
            "postLogoutRedirectUri": CUSTOM_LOGOUT,
            "scopes": ["openid", "profile", "email"],
            "allowLoopbackHTTP": True,
            **more,
        }

    def confidential(self, method, client_id="native"):
        """What names the client that has a secret and sends it in this way."""
        return {"clientId": f"{client_id}-{method}", "clientSecret": self.facts.secrets[method]}

    @property
    def loopback_port(self):
        return urlsplit(self.loopback).port

    def token_requests(self):
        """How many requests for tokens it has seen, granted or not."""
        return self.logged(self.facts.token_request)

    def logged(self, pattern):
        """How many lines of its log match."""
        return len(re.findall(pattern, self.child.log.read_text(errors="replace")))


_shared = {}


def shared(make):
    """The one provider that `make` makes, started when first asked for."""
    if make not in _shared:
        provider = make()
        # One that does not start is not tried again for each test.
        _shared[make] = None
        provider.start()
        _shared[make] = provider
    assert _shared[make] is not None, "the provider did not start, see the first failure"
    return _shared[make]


def stop_all():
    for provider in _shared.values():
        if provider is not None:
            provider.stop()
    _shared.clear()
