"""The program with which the gateway is compared. It is what a team might write with Starlette, Authlib and
asyncpg, and is as fast as these libraries allow.

The page, the start of a sign-in, the callback and the session check do the same work as in the gateway, but
without limits, audit and languages. One statement saves a sign-in. It runs under uvicorn with uvloop and
httptools. ISSUER, CLIENT, SECRET, DATABASE, ORIGIN and KEY come from the environment.
"""

import hashlib
import os
import secrets
import uuid

import asyncpg
import httpx
from authlib.integrations.starlette_client import OAuth
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.routing import Route

ORIGIN = os.environ["ORIGIN"]
ISSUER = os.environ["ISSUER"]
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
           "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'"}  # fmt: skip
PAGE = f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Sign in</title></head>
<body><main><h1>Sign in</h1><p><a href="/v1/auth/crowd">Continue with Crowd</a></p></main>{" " * 1_000}</body></html>"""
TABLES = """
CREATE TABLE IF NOT EXISTS peer_accounts (id uuid PRIMARY KEY, last_login timestamptz NOT NULL);
CREATE TABLE IF NOT EXISTS peer_identities (
  issuer text, subject text, account uuid NOT NULL REFERENCES peer_accounts, email text, name text,
  PRIMARY KEY (issuer, subject));
CREATE TABLE IF NOT EXISTS peer_sessions (
  hash bytea PRIMARY KEY, account uuid NOT NULL REFERENCES peer_accounts, expires timestamptz NOT NULL);
"""
SIGN_IN = """
WITH known AS (SELECT account FROM peer_identities WHERE issuer = $1 AND subject = $2),
made AS (
  INSERT INTO peer_accounts SELECT $3, now() WHERE NOT EXISTS (SELECT FROM known) RETURNING id),
whose AS (SELECT account FROM known UNION ALL SELECT id FROM made),
identity AS (
  INSERT INTO peer_identities SELECT $1, $2, account, $4, $5 FROM whose
  ON CONFLICT (issuer, subject) DO UPDATE SET email = excluded.email, name = excluded.name),
seen AS (UPDATE peer_accounts SET last_login = now() WHERE id IN (SELECT account FROM known))
INSERT INTO peer_sessions SELECT $6, account, now() + interval '30 days' FROM whose
"""
SESSION = """
SELECT i.subject, i.email, i.name FROM peer_sessions s JOIN peer_identities i ON i.account = s.account
WHERE s.hash = $1 AND s.expires > now() LIMIT 1
"""

oauth = OAuth()


class KeptTransport(httpx.AsyncHTTPTransport):
    """A transport that keeps its connections open, although Authlib makes and closes a client for each request."""

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass

    async def aclose(self):
        pass


oauth.register(
    "crowd", client_id=os.environ["CLIENT"], client_secret=os.environ["SECRET"],
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_kwargs={
        "scope": "openid profile email", "code_challenge_method": "S256", "transport": KeptTransport()})  # fmt: skip


async def page(_):
    return HTMLResponse(PAGE, headers=HEADERS)


async def start(request):
    return await oauth.crowd.authorize_redirect(request, f"{ORIGIN}/v1/auth/crowd/callback")


async def callback(request):
    token = await oauth.crowd.authorize_access_token(request)
    person = token["userinfo"]
    text = secrets.token_urlsafe(32)
    await request.app.state.pool.execute(
        SIGN_IN, ISSUER, person["sub"], uuid.uuid4(), person["email"], person["name"],
        hashlib.sha256(text.encode()).digest())  # fmt: skip
    answer = RedirectResponse("/account", 303, headers=HEADERS)
    answer.set_cookie("__Host-enroll", text, max_age=2_592_000, secure=True, httponly=True, samesite="lax")
    return answer


async def userinfo(request):
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    digest = hashlib.sha256(text.encode()).digest()
    row = kind == "Bearer" and await request.app.state.pool.fetchrow(SESSION, digest)
    if not row:
        return JSONResponse({"error": "invalid_token"}, 401, headers=HEADERS)
    return JSONResponse({"sub": row["subject"], "email": row["email"], "name": row["name"]}, headers=HEADERS)


async def open_pool(app):
    app.state.pool = await asyncpg.create_pool(os.environ["DATABASE"], min_size=4, max_size=4)
    async with app.state.pool.acquire() as connection:
        # Two workers start at once, so the tables are made under a lock.
        await connection.execute(f"SELECT pg_advisory_lock(1); {TABLES} SELECT pg_advisory_unlock(1);")


class Lifespan:
    def __init__(self, app):
        self.app = app

    async def __aenter__(self):
        await open_pool(self.app)

    async def __aexit__(self, *_):
        await self.app.state.pool.close()


app = Starlette(
    routes=[Route("/login", page), Route("/v1/auth/crowd", start), Route("/v1/auth/crowd/callback", callback),
            Route("/v1/userinfo", userinfo)],
    middleware=[Middleware(SessionMiddleware, secret_key=os.environ["KEY"], https_only=True)],
    lifespan=Lifespan)  # fmt: skip
