"""The clients for the table of ways to sign in: one for each kind of authentication and each flow, registered at each
server.

A server that cannot have such a client raises `Cannot`; the reason comes from the server's metadata, or from
its refusal.
"""

import functools
import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import kinds
from keys import KEY_ID, Key
from kinds import JSON, basic
from processes import workspace
from servers import LOOPBACK, request, request_json

NONE, BASIC, POST, JWT = "none", "client_secret_basic", "client_secret_post", "private_key_jwt"
SECRETS = (BASIC, POST)
#: The authentication methods for which clients are registered.
METHODS = (NONE, BASIC, POST, JWT)
#: private_key_jwt, with pushed requests and tokens that are bound to a key (FAPI 2.0 Security Profile).
FAPI = "fapi"
#: The client that EnrollKit registers (RFC 7591).
REGISTERED = "registered"

BROWSER, DEVICE = "browser", "device"
FLOWS = (BROWSER, DEVICE)
GRANTS = ["authorization_code", "refresh_token"]
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
DEVICE_ENDPOINT = "device_authorization_endpoint"

#: The redirect URI of zitadel's client `web`. For this client, zitadel also compares the port.
WITH_PORT = "http://127.0.0.1:8400/callback"

#: The secret has characters that form encoding changes (RFC 6749 §2.3.1), and characters with a meaning in Basic
#: authentication.
SECRET = "s3cret:+ /%&=~"


class Cannot(Exception):
    """Raised if the server cannot have a client of this kind; the text is the reason."""


@dataclass(frozen=True)
class Client:
    method: str
    id: str
    #: Further keys of EnrollKit's configuration.
    credentials: dict = field(default_factory=dict)
    #: The authentication methods that the server accepts for this client.
    taken: tuple = ()
    redirect: str = LOOPBACK
    #: Whether the server revokes the client's tokens on request.
    revokes: bool = True
    #: Whether the client's requests are pushed and its tokens are bound to a key (RFC 9126, RFC 9449).
    is_bound: bool = False
    #: Whether the configuration names the authentication method.
    is_told: bool = False

    def __post_init__(self):
        object.__setattr__(self, "taken", self.taken or (self.method,))

    @property
    def is_tried(self):
        """Whether EnrollKit must find out how to send the secret: it tries client_secret_basic first."""
        return self.method in SECRETS and not self.is_told

    @property
    def refusals(self):
        """How many requests the server refuses because the client first tries another authentication
        method."""
        return int(self.is_tried and BASIC not in self.taken)

    @property
    def options(self):
        """The options of `enroll login` that name this client."""
        words = ["--client-id", self.id, *(["--redirect-uri", self.redirect] if self.redirect != LOOPBACK else [])]
        for name, value in self.credentials.items():
            if name == "clientSecret":
                path = workspace("secret") / "secret"
                path.write_text(value)
                words += ["--client-secret-file", str(path)]
            elif name == "clientKeyFile":
                words += ["--client-key-file", value]
            else:
                words += ["--set", f"{name}={value}"]
        return words

    def renews(self, server, refresh_token):
        """Asks the server, without EnrollKit, whether it accepts this refresh token. None for a client with a
        key."""
        if self.method == JWT:
            return None
        form, headers = {"grant_type": "refresh_token", "refresh_token": refresh_token}, {}
        if BASIC in self.taken:
            headers = basic(self.id, self.credentials["clientSecret"])
        else:
            form["client_id"] = self.id
        if self.taken == (POST,):
            form["client_secret"] = self.credentials["clientSecret"]
        status, text = request(server.metadata["token_endpoint"], form=form, headers=headers)
        assert status < 500, text
        return status == 200


def client_at(server, kind, flow):
    """- Throws: `Cannot`."""
    if flow == DEVICE and DEVICE_ENDPOINT not in server.metadata:
        raise Cannot(f"its metadata has no {DEVICE_ENDPOINT}")
    return REGISTER[type(server)](server, kind, flow)


def with_key(client_id, path, **more):
    return Client(JWT, client_id, {"clientKeyFile": str(path), **more})


def with_secret(method, client_id, secret=SECRET, taken=()):
    return Client(method, client_id, {"clientSecret": secret}, taken)


def of_kind(kind, client_id, key_file, **more):
    """A client of a server that accepts each client only with the method for which it is registered."""
    if kind == NONE:
        return Client(NONE, client_id)
    if kind in SECRETS:
        return with_secret(kind, client_id)
    if kind == FAPI:
        return replace(with_key(client_id, key_file, **more, dpop="always", pushedRequests="always"), is_bound=True)
    return with_key(client_id, key_file, **more)


#: The key of a server's clients; all clients of one server share one key.
key_for = functools.cache(Key)


def name_of(kind, flow):
    return f"way-{kind}-{flow}"


def at_keycloak(server, kind, flow):
    key = key_for("PS256")
    client = of_kind(kind, name_of(kind, flow), key.pem, clientKeyAlgorithm="PS256")
    attributes = {"oauth2.device.authorization.grant.enabled": "true", "pkce.code.challenge.method": "S256"}
    if kind in SECRETS:
        attributes["client.secret.authentication.allowed.method"] = kind
    if client.method == JWT:
        attributes |= {
            "use.jwks.string": "true", "jwks.string": json.dumps({"keys": [key.public]}),
            "token.endpoint.auth.signing.alg": key.algorithm,
        }  # fmt: skip
    if client.is_bound:
        attributes |= {"require.pushed.authorization.requests": "true", "dpop.bound.access.tokens": "true"}
    body = {
        "clientId": client.id, "publicClient": kind == NONE, "redirectUris": [LOOPBACK], "attributes": attributes,
        "clientAuthenticatorType": "client-jwt" if client.method == JWT else "client-secret", "secret": SECRET,
    }  # fmt: skip
    url = f"{server.administration}/clients"
    status, text = request(url, headers=server.administrator(), body=json.dumps(body).encode())
    assert status == 201, text
    return client


def metadata_of(client, **more):
    """The client as dynamic registration describes it (RFC 7591)."""
    secret = {"client_secret": client.credentials["clientSecret"]} if client.method in SECRETS else {}
    return {
        "client_id": client.id, "token_endpoint_auth_method": client.method, "redirect_uris": [LOOPBACK],
        "response_types": ["code"], "grant_types": GRANTS, **secret, **more,
    }  # fmt: skip


def at_oidc_provider(server, kind, flow):
    key = key_for("EdDSA")
    client = of_kind(kind, name_of(kind, flow), key.jwk)
    if kind in SECRETS:
        # This server accepts either of the two methods for the secret.
        client = replace(client, taken=SECRETS)
    more = {"jwks": {"keys": [key.public]}} if client.method == JWT else {}
    if client.is_bound:
        more |= {"require_pushed_authorization_requests": True, "dpop_bound_access_tokens": True}
    client_metadata = metadata_of(client, application_type="native", **more)
    client_metadata["grant_types"] = [*GRANTS, DEVICE_GRANT]
    request_json(f"{server.origin}/__op/client-add", headers=JSON, body=json.dumps(client_metadata).encode())
    return client


def at_spring(server, kind, flow):
    """The client of this kind. The configuration of the server's program has one client of each kind."""
    if kind in SECRETS:
        name = kind.rpartition("_")[2]
        return with_secret(kind, name, f"{name}-secret")
    return Client(NONE, "app") if kind == NONE else with_key("jwt", server.key.pem)


def at_hydra(server, kind, flow):
    key = key_for("RS256")
    audience = server.metadata["token_endpoint"]
    client = of_kind(kind, name_of(kind, flow), key.pem, clientKeyId=KEY_ID, clientAssertionAudience=audience)
    more = {"jwks": {"keys": [key.public]}, "token_endpoint_auth_signing_alg": key.algorithm} if kind == JWT else {}
    body = metadata_of(client, scope="openid profile email offline_access", **more)
    request_json(f"{server.administration}/clients", headers=JSON, body=json.dumps(body).encode())
    return client


def at_zitadel(server, kind, flow):
    """A client of the example server, whose code contains the clients."""
    if kind == NONE:
        if flow == DEVICE:
            raise Cannot(refusal(server, DEVICE_ENDPOINT, {"client_id": "native", "scope": "openid"}))
        return Client(NONE, "native")
    if kind == BASIC and flow == DEVICE:
        # The server's storage does not keep the client of a device's token: a revocation gets the error "token was not
        # issued for this client".
        return replace(with_secret(BASIC, "device", "secret"), revokes=False)
    if kind == BASIC:
        return replace(with_secret(BASIC, "web", "secret", taken=SECRETS), redirect=WITH_PORT)
    if kind == POST:
        assert "registration_endpoint" not in server.metadata
        raise Cannot("none of its clients is registered for it, and its metadata has no registration_endpoint")
    assertion = key_for("RS256").assertion("web", server.issuer)
    form = {"client_assertion_type": ASSERTION_TYPE, "client_assertion": assertion, "refresh_token": "none"}
    raise Cannot(refusal(server, "token_endpoint", {"grant_type": "refresh_token", **form}))


def refusal(server, endpoint, form):
    """The server's answer to a request that it cannot serve."""
    status, text = request(server.metadata[endpoint], form=form)
    assert 400 <= status < 500, f"{server.name}: status {status}: {text}"
    return f"{Path(server.paths[endpoint]).name} for {form.get('client_id', 'web')}: {status} {text.strip()}"


REGISTER = {
    kinds.Keycloak: at_keycloak, kinds.OIDCProvider: at_oidc_provider, kinds.Spring: at_spring, kinds.Hydra: at_hydra,
    kinds.Zitadel: at_zitadel,
}  # fmt: skip
