"""Facts about a real provider for the tests, and the shared providers, each of which starts once."""

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx

from processes import free_port, workspace

CUSTOM = "com.example.app:/cb"
CUSTOM_LOGOUT = "com.example.app:/logout"
# The secret has a space and characters that form encoding changes.
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
    """The behaviour of a provider where the specifications leave a choice, or where the provider ignores the
    specifications."""

    # The error of prompt=none if nobody is signed in.
    silent_refusal: str
    # Whether reuse of a spent refresh token ends the whole family (RFC 9700 §4.14.2).
    reuse_kills_family: bool
    # The possible outcomes of a renewal with a spent refresh token.
    spent_refresh_token: tuple
    # Whether an error redirect has `iss` (RFC 9207 §2.2).
    iss_on_errors: bool
    # The pattern of the log line that the provider writes for each request to the token endpoint.
    token_request: str
    # The secrets of the confidential clients, by the authentication method of the client.
    secrets: dict = field(default_factory=lambda: {POST: SECRET, BASIC: SECRET})
    # The public clients, by the algorithm that signs their id_tokens.
    clients: dict = field(default_factory=dict)


class Provider:
    """A provider that can be started and stopped, with the public client `native`, the confidential clients
    `native-client_secret_post` and `native-client_secret_basic`, and the users alice and bob.

    A kind of provider writes its files (`prepare`), starts its process (`launch`), and may have more to configure once
    it answers (`set_up`).
    """

    name: str
    issuer: str
    facts: Facts
    client_id = "native"
    # The pages on the way to the redirect, and after a logout: `browser.Step`s.
    pages: list
    logout_pages: list
    # The id and secret of a resource's own client, at a provider that binds tokens to resources (RFC 8707) and lets
    # that client introspect them (RFC 7662).
    resource_client = None
    # Text that is appended to an authorize URL, so that the provider skips pages that would not ask the user.
    without_pages = ""

    # The provider is ready once the URL of its discovery document answers with one of these statuses.
    ready = (200,)

    def __init__(self, port=None):
        self.port = port or free_port()
        self.base = f"http://localhost:{self.port}"
        # The provider registers whole redirect URIs only, so the port is chosen beforehand.
        self.loopback = f"http://127.0.0.1:{free_port()}/cb"
        self.directory = None
        self.child = None

    def start(self):
        """Starts the provider; a second start keeps its data."""
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
        """The configuration keys for the client that has a secret and sends it with this method."""
        return {"clientId": f"{client_id}-{method}", "clientSecret": self.facts.secrets[method]}

    @property
    def loopback_port(self):
        return urlsplit(self.loopback).port

    def token_requests(self):
        """How many token requests the provider has received, whether it granted them or not."""
        return self.logged(self.facts.token_request)

    def logged(self, pattern):
        """How many lines of the provider's log match `pattern`."""
        return len(re.findall(pattern, self.child.log.read_text(errors="replace")))


_shared = {}


def shared(make):
    """The shared provider that `make` makes, which starts when it is first needed."""
    if make not in _shared:
        provider = make()
        # If the provider does not start, the next test does not try again.
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
