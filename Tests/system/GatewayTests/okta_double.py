"""A double of the parts of Okta that the gateway uses: users, primary authentication, an authorization server,
and a sign-in page that Okta hosts and its customer changed. It refuses what Okta would refuse: unknown members and
parameters, other tokens, addresses that are not its own. It was never compared with the service itself."""

import base64
import hashlib
import json
import secrets
import time
from datetime import datetime, timedelta, timezone
from email.utils import formatdate
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sign in</title></head><body>
<h1>One moment</h1><p><a href="{gateway}/signin">Sign in</a></p>
<script>window.OktaUtil = {{
  getSignInWidgetConfig: function () {{ return {{relayState: {relay}}}; }},
  getRequestContext: function () {{ return {{target: {{clientId: {client}}}}}; }}
}};</script>
{script}</body></html>"""


class Refused(Exception):
    """An error of the APIs."""

    def __init__(self, status, code, summary="", causes=()):
        super().__init__(code)
        self.status = status
        self.body = {
            "errorCode": code, "errorSummary": summary or code, "errorLink": code, "errorId": secrets.token_hex(8),
            "errorCauses": [{"errorSummary": cause} for cause in causes],
        }  # fmt: skip


def unknown(login):
    return Refused(404, "E0000007", f"Not found: Resource not found: {login} (User)")


class Okta:
    """`with Okta(...) as okta`: the organization, its users and its one authorization server."""

    token = "00ssws" + secrets.token_urlsafe(24)

    def __init__(self, port, clients):
        """`clients`: id → (secret or None, redirect URIs)."""
        self.base = f"http://localhost:{port}"
        self.issuer = f"{self.base}/oauth2/aus1"
        self.clients = clients
        self.gateway = "http://127.0.0.1:1"
        self.script = ""
        self.users, self.passwords, self.session_tokens = {}, {}, {}
        self.sessions, self.waiting, self.codes = {}, {}, {}
        # Faults that a test sets: the status `MFA_REQUIRED` instead of SUCCESS, or 429 for the next requests.
        self.instead, self.limited, self.asked = None, 0, []
        self.lock = Lock()
        self.key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"}, private=True)
        handler = type("Handler", (_Handler,), {"okta": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.server.daemon_threads = True
        Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    # The Users API.

    def find(self, name):
        for user in self.users.values():
            login = user["profile"]["login"].lower()
            if name in (user["id"], login) or name.lower() in (login, login.split("@")[0]):
                return user
        raise unknown(name)

    def create(self, query, body):
        if query != {"activate": "false"} or set(body) != {"profile"}:
            raise Refused(400, "E0000003", "The request body was not well-formed.")
        profile = body["profile"]
        if not {"login", "email"} <= set(profile) <= {"login", "email", "displayName"}:
            raise Refused(400, "E0000001", "Api validation failed", ["login: The field cannot be left blank"])
        if any(user["profile"]["login"].lower() == profile["login"].lower() for user in self.users.values()):
            cause = "login: An object with this field already exists in the current organization"
            raise Refused(400, "E0000001", "Api validation failed: login", [cause])
        user = {"id": "00u" + secrets.token_hex(6), "status": "STAGED", "profile": profile, "credentials": {
            "provider": {"type": "OKTA", "name": "OKTA"}}}  # fmt: skip
        self.users[user["id"]] = user
        return user

    def activate(self, user, query, body):
        if query != {"sendEmail": "false"} or body:
            raise Refused(400, "E0000003", "The request body was not well-formed.")
        if user["status"] not in ("STAGED", "DEPROVISIONED"):
            raise Refused(403, "E0000016", "Activation failed because the user is already active")
        user["status"] = "PROVISIONED"
        token = secrets.token_urlsafe(15)
        return {"activationUrl": f"{self.base}/welcome/{token}", "activationToken": token}

    def update(self, user, body):
        if set(body) != {"credentials"} or set(body["credentials"]) != {"password"}:
            raise Refused(400, "E0000003", "The request body was not well-formed.")
        password = body["credentials"]["password"]["value"]
        if len(password) < 8 or user["profile"]["login"].split("@")[0] in password:
            cause = "password: Password requirements were not met."
            raise Refused(400, "E0000001", "Api validation failed: password", [cause])
        self.passwords[user["id"]] = password
        user["credentials"]["password"] = {}
        if user["status"] in ("STAGED", "PROVISIONED"):
            user["status"] = "ACTIVE"
        return user

    def authenticate(self, body):
        if not {"username", "password"} <= set(body) <= {"username", "password", "options"}:
            raise Refused(400, "E0000003", "The request body was not well-formed.")
        wrong = Refused(401, "E0000004", "Authentication failed")
        try:
            user = self.find(body["username"])
        except Refused:
            raise wrong from None
        if user["status"] == "LOCKED_OUT":
            return {"status": "LOCKED_OUT", "_embedded": {}}
        if user["status"] != "ACTIVE" or self.passwords.get(user["id"]) != body["password"]:
            raise wrong
        shown = {"id": user["id"], "profile": {"login": user["profile"]["login"], "locale": "en", "timeZone": "UTC"}}
        expires = (datetime.now(timezone.utc) + timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        if self.instead:
            return {"stateToken": secrets.token_urlsafe(20), "expiresAt": expires, "status": self.instead,
                    "_embedded": {"user": shown}}  # fmt: skip
        token = secrets.token_urlsafe(20)
        self.session_tokens[token] = user["id"]
        return {"expiresAt": expires, "status": "SUCCESS", "sessionToken": token, "_embedded": {"user": shown}}

    # The authorization server.

    def authorize(self, query, sid):
        """The redirect of the browser, and its new session."""
        if key := query.get("okta_key"):
            if set(query) != {"okta_key"} or key not in self.waiting:
                return None, None
            query = self.waiting.pop(key)
        secret, redirects = self.clients.get(query.get("client_id"), (None, []))
        if query.get("redirect_uri") not in redirects or query.get("response_type") != "code":
            return None, None
        fresh = None
        if token := query.pop("sessionToken", None):
            if user := self.session_tokens.pop(token, None):
                sid = fresh = secrets.token_urlsafe(20)
                self.sessions[sid] = user
        answer = {"state": query["state"]}
        if user := self.sessions.get(sid):
            code = secrets.token_urlsafe(20)
            self.codes[code] = (query, user)
            answer["code"] = code
        elif query.get("prompt") == "none":
            answer |= {"error": "login_required", "error_description": "The client specified not to prompt."}
        else:
            key = secrets.token_urlsafe(12)
            token = query.pop("activation_token", None)
            self.waiting[key] = query
            carried = {"okta_key": key, "client_id": query["client_id"]}
            if token:
                carried["activation_token"] = token
            return f"{self.base}/login/login.htm?{urlencode(carried)}", fresh
        return query["redirect_uri"] + "?" + urlencode(answer), fresh

    def hosted_page(self, query):
        relay = f"/oauth2/aus1/v1/authorize?okta_key={query['okta_key']}"
        return PAGE.format(
            gateway=self.gateway, script=self.script, relay=json.dumps(relay), client=json.dumps(query["client_id"]))

    def exchange(self, form, headers):
        client, secret = form.get("client_id"), form.get("client_secret")
        if basic := headers.get("Authorization"):
            pair = base64.b64decode(basic.removeprefix("Basic ")).decode().split(":")
            client, secret = (unquote(part) for part in pair)
        if client not in self.clients or self.clients[client][0] != secret:
            return 401, {"error": "invalid_client"}
        query, user = self.codes.pop(form.get("code"), ({}, None))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if (
            user is None or query["client_id"] != client or query["redirect_uri"] != form.get("redirect_uri")
            or query["code_challenge"] != challenge.rstrip(b"=").decode()
        ):  # fmt: skip
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        profile = self.users[user]["profile"]
        claims = {
            "iss": self.issuer, "sub": user, "aud": client, "iat": now, "exp": now + 3600, "auth_time": now,
            "email": profile["email"], "email_verified": True, "name": profile.get("displayName", "Somebody"),
        } | ({"nonce": query["nonce"]} if "nonce" in query else {})  # fmt: skip
        return 200, {
            "access_token": secrets.token_urlsafe(20), "token_type": "Bearer", "expires_in": 3600,
            "scope": query["scope"],
            "id_token": jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key),
        }  # fmt: skip

    def metadata(self):
        return {
            "issuer": self.issuer, "authorization_endpoint": f"{self.issuer}/v1/authorize",
            "token_endpoint": f"{self.issuer}/v1/token", "jwks_uri": f"{self.issuer}/v1/keys",
            "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"], "scopes_supported": ["openid", "profile", "email"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
            "code_challenge_methods_supported": ["S256"],
        }  # fmt: skip


class _Handler(BaseHTTPRequestHandler):
    okta: Okta
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        with self.okta.lock:
            self.serve("GET", b"")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.okta.lock:
            self.serve("POST", body)

    def serve(self, method, body):
        url = urlsplit(self.path)
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        self.okta.asked.append(f"{method} {url.path}")
        try:
            if url.path.startswith("/api/v1/"):
                return self.say(200, self.api(method, url.path.removeprefix("/api/v1/"), query, body))
        except Refused as refused:
            return self.say(refused.status, refused.body)
        issued = url.path.removeprefix("/oauth2/aus1")
        match method, issued:
            case "GET", "/.well-known/openid-configuration":
                self.say(200, self.okta.metadata())
            case "GET", "/v1/keys":
                self.say(200, {"keys": [self.okta.key.as_dict(private=False)]})
            case "GET", "/v1/authorize":
                cookie = SimpleCookie(self.headers.get("Cookie", "")).get("sid")
                place, fresh = self.okta.authorize(query, cookie and cookie.value)
                headers = [("Set-Cookie", f"sid={fresh}; Path=/; HttpOnly; SameSite=Lax")] if fresh else []
                return self.send(302, b"", [("Location", place), *headers]) if place else self.send(400, b"Bad request")
            case "GET", "/login/login.htm":
                self.send(200, self.okta.hosted_page(query).encode(), [("Content-Type", "text/html; charset=utf-8")])
            case "POST", "/v1/token":
                self.say(*self.okta.exchange(dict(parse_qsl(body.decode())), self.headers))
            case _:
                self.send(404, b"Not found")

    def api(self, method, path, query, body):
        if method == "POST" and body and self.headers["Content-Type"] != "application/json":
            raise Refused(415, "E0000021", "Bad request. Accept and/or Content-Type headers likely do not match.")
        told = json.loads(body) if body else {}
        if self.okta.limited:
            self.okta.limited -= 1
            raise Refused(429, "E0000047", "API call exceeded rate limit due to too many requests.")
        if (method, path) == ("POST", "authn"):
            return self.okta.authenticate(told)
        if self.headers["Authorization"] != f"SSWS {self.okta.token}":
            raise Refused(401, "E0000011", "Invalid token provided")
        match method, [unquote(part) for part in path.split("/")]:
            case "POST", ["users"]:
                return self.okta.create(query, told)
            case "GET", ["users", name] if not query:
                return self.okta.find(name)
            case "POST", ["users", name] if not query:
                return self.okta.update(self.okta.find(name), told)
            case "POST", ["users", name, "lifecycle", "activate"]:
                return self.okta.activate(self.okta.find(name), query, told)
        raise Refused(405, "E0000022", "The endpoint does not support the provided HTTP method")

    def say(self, status, body):
        limit = [("X-Rate-Limit-Reset", str(int(time.time()) + 1))] if status == 429 else []
        self.send(status, json.dumps(body).encode(), [("Content-Type", "application/json"), *limit])

    def send(self, status, body, headers=()):
        self.send_response_only(status)
        self.send_header("Date", formatdate(usegmt=True))
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def script_of(check):
    """The script element that `enroll-gateway check` prints."""
    return next(line for line in check.splitlines() if line.startswith("<script "))
