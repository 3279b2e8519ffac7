"""An OpenID provider as Authlib's documentation builds it on Flask, as a program: `server.py SEED PORT`.

SEED is JSON: a key, users, clients. Everything is kept in memory. Authlib's own code handles requests, grants, clients'
secrets, PKCE, id_tokens, introspection and revocation. The pages are in this file: one form, which asks for the
password each time and is also the consent.
"""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector, current_token
from authlib.oauth2.rfc6749 import ClientMixin, OAuth2Error, TokenMixin, grants
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc7662 import IntrospectionEndpoint
from authlib.oidc.core import AuthorizationCodeMixin, OpenIDCode, OpenIDToken, UserInfo
from flask import Flask, jsonify, request, url_for
from joserfc.jwk import RSAKey
from markupsafe import Markup

METHODS = ["none", "client_secret_basic", "client_secret_post"]
FORM = """<!doctype html><html lang="en"><title>Sign in</title><form method="post">
<input name="name" aria-label="Name"><input name="password" type="password" aria-label="Password">
<button name="answer" value="yes">Sign in and allow {client}</button><button name="answer" value="no">No</button></form>"""

users, clients, codes, tokens, nonces = {}, {}, {}, [], set()
server = AuthorizationServer()
protected = ResourceProtector()
app = Flask(__name__)


@dataclass
class Client(ClientMixin):
    client_id: str
    secret: str | None
    method: str
    redirect_uris: list

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return self.redirect_uris[0]

    def get_allowed_scope(self, scope):
        return " ".join(word for word in (scope or "").split() if word in ("openid", "profile", "email"))

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri in self.redirect_uris

    def check_client_secret(self, client_secret):
        return self.secret == client_secret

    def check_endpoint_auth_method(self, method, endpoint):
        return self.method == method

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type in ("authorization_code", "refresh_token")


@dataclass
class Code(AuthorizationCodeMixin):
    code: str
    client_id: str
    redirect_uri: str
    scope: str
    user: dict
    nonce: str | None
    code_challenge: str | None
    code_challenge_method: str | None
    auth_time: int

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope

    def get_nonce(self):
        return self.nonce

    def get_auth_time(self):
        return self.auth_time


@dataclass
class Token(TokenMixin):
    client: Client
    user: dict
    access_token: str
    refresh_token: str | None
    scope: str
    expires_in: int
    issued_at: int
    # `is_spent`: whether the refresh token was used. `revoked`: whether both tokens were revoked.
    is_spent: bool = False
    revoked: bool = False

    def check_client(self, client):
        return self.client.client_id == client.client_id

    def get_scope(self):
        return self.scope

    def get_expires_in(self):
        return self.expires_in

    def is_expired(self):
        return self.issued_at + self.expires_in < time.time()

    def is_revoked(self):
        return self.revoked

    def get_user(self):
        return self.user

    def get_client(self):
        return self.client


def token_with(text):
    return next((token for token in tokens if text in (token.access_token, token.refresh_token)), None)


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS

    def save_authorization_code(self, code, request):
        data = request.payload.data
        nonces.add((request.client.client_id, data.get("nonce")))
        codes[code] = Code(
            code, request.client.client_id, request.payload.redirect_uri, request.scope, request.user, data.get("nonce"),
            data.get("code_challenge"), data.get("code_challenge_method"), int(time.time()),
        )  # fmt: skip

    def query_authorization_code(self, code, client):
        found = codes.get(code)
        return found if found and found.client_id == client.client_id else None

    def delete_authorization_code(self, authorization_code):
        codes.pop(authorization_code.code, None)

    def authenticate_user(self, authorization_code):
        return authorization_code.user


class RefreshGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        return next(
            (token for token in tokens if token.refresh_token == refresh_token and not token.is_spent and not token.revoked),
            None,
        )

    def authenticate_user(self, refresh_token):
        return refresh_token.user

    def revoke_old_credential(self, refresh_token):
        refresh_token.is_spent = True


class IDTokens:
    """Authlib's way to make an id_token. If the code has no `auth_time`, the id_token has the time of the request."""

    def resolve_client_private_key(self, client):
        return app.config["KEY"]

    def get_client_claims(self, client):
        return {"iss": app.config["ISSUER"], "aud": [client.client_id]}

    def get_encode_header(self, client):
        return {"alg": "RS256", "kid": app.config["KEY"].kid}

    def generate_user_info(self, user, scope):
        return claims(user, scope)


class CodeIDTokens(IDTokens, OpenIDCode):
    def exists_nonce(self, nonce, request):
        return (request.payload.client_id, nonce) in nonces


class RenewedIDTokens(IDTokens, OpenIDToken):
    pass


class Bearer(BearerTokenValidator):
    def authenticate_token(self, token_string):
        return next((token for token in tokens if token.access_token == token_string), None)


class Introspection(IntrospectionEndpoint):
    CLIENT_AUTH_METHODS = METHODS

    def query_token(self, token_string, token_type_hint):
        return token_with(token_string)

    def check_permission(self, token, client, request):
        return token.check_client(client)

    def introspect_token(self, token):
        return {"client_id": token.client.client_id, "sub": token.user["name"], "scope": token.scope}


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = METHODS

    def query_token(self, token_string, token_type_hint):
        return token_with(token_string)

    def revoke_token(self, token, request):
        token.revoked = True


def claims(user, scope):
    found = UserInfo(sub=user["name"])
    if "profile" in scope:
        found["name"] = user["name"]
    if "email" in scope:
        found["email"] = user["email"]
    return found


def save_token(token, request):
    tokens.append(
        Token(
            request.client, request.user, token["access_token"], token.get("refresh_token"), token["scope"],
            token["expires_in"], int(time.time()),
        )  # fmt: skip
    )


@app.get("/.well-known/openid-configuration")
def discovery():
    return jsonify(
        issuer=app.config["ISSUER"],
        authorization_endpoint=url_for("authorize", _external=True),
        token_endpoint=url_for("token", _external=True),
        jwks_uri=url_for("jwks", _external=True),
        userinfo_endpoint=url_for("userinfo", _external=True),
        introspection_endpoint=url_for("introspect", _external=True),
        revocation_endpoint=url_for("revoke", _external=True),
        response_types_supported=["code"],
        subject_types_supported=["public"],
        id_token_signing_alg_values_supported=["RS256"],
        code_challenge_methods_supported=["S256"],
        token_endpoint_auth_methods_supported=METHODS,
    )


@app.get("/jwks")
def jwks():
    return jsonify(keys=[app.config["KEY"].as_dict(private=False)])


@app.route("/authorize", methods=["GET", "POST"])
def authorize():
    try:
        grant = server.get_consent_grant(end_user=None)
    except OAuth2Error as error:
        return server.handle_error_response(server.create_oauth2_request(request), error)
    if request.method == "GET":
        return FORM.format(client=Markup.escape(grant.client.client_id))
    user = users.get(request.form["name"])
    if user is not None and user["password"] != request.form["password"]:
        user = None
    return server.create_authorization_response(grant_user=user if request.form["answer"] == "yes" else None, grant=grant)


@app.post("/token")
def token():
    return server.create_token_response()


@app.post("/introspect")
def introspect():
    return server.create_endpoint_response(Introspection.ENDPOINT_NAME)


@app.post("/revoke")
def revoke():
    return server.create_endpoint_response(Revocation.ENDPOINT_NAME)


@app.get("/userinfo")
@protected("openid")
def userinfo():
    return jsonify(claims(current_token.user, current_token.scope))


def main(seed, port):
    seed = json.loads(Path(seed).read_text())
    users.update((user["name"], user) for user in seed["users"])
    clients.update((client["client_id"], Client(**client)) for client in seed["clients"])
    app.config.update(
        KEY=RSAKey.import_key(seed["key"]), ISSUER=f"http://127.0.0.1:{port}", OAUTH2_REFRESH_TOKEN_GENERATOR=True
    )
    server.init_app(app, query_client=clients.get, save_token=save_token)
    server.register_grant(CodeGrant, [CodeIDTokens(), CodeChallenge(required=True)])
    server.register_grant(RefreshGrant, [RenewedIDTokens()])
    server.register_endpoint(Introspection)
    server.register_endpoint(Revocation)
    protected.register_token_validator(Bearer())
    app.run("127.0.0.1", int(port), threaded=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
