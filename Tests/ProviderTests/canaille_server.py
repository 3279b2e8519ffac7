"""Canaille as a program: `canaille_server.py SEED PORT`, configured by $CANAILLE_CONFIG.

It does in one process what `canaille install`, `canaille create` and `canaille run` do in
six; each of these takes seconds to start. The first start fills the database from SEED
(JSON: users, clients); later ones keep what is there.
"""

import asyncio
import json
import sys
import uuid
from pathlib import Path

from asgiref.wsgi import WsgiToAsgi
from canaille import create_app
from canaille.app import models
from canaille.backends import Backend
from canaille.oidc import provider
from hypercorn.asyncio import serve
from hypercorn.config import Config


def main(seed, port):
    app = create_app()
    # Else every answer, of a page's pictures too, sets the session's cookie as its request brought it; one that comes
    # late undoes what the form of that page has just said.
    app.config["SESSION_REFRESH_EACH_REQUEST"] = False
    # Its access tokens say nothing but the second in which they were made, and it looks them up: two for one user in one second
    # would be the same, and the second request fails. A `jti` tells them apart (RFC 9068 §2.2).
    sign = provider.generate_id_token
    provider.generate_id_token = lambda user_info, **more: sign(user_info={**user_info, "jti": str(uuid.uuid4())}, **more)
    with app.app_context():
        Backend.instance.install(app)
        with Backend.instance.session():
            if not Backend.instance.query(models.User):
                fill(json.loads(Path(seed).read_text()))
    server = Config.from_mapping(bind=[f"127.0.0.1:{port}"], accesslog="-", graceful_timeout=0.1)
    asyncio.run(serve(WsgiToAsgi(app), server))


def fill(seed):
    for attributes in seed["users"]:
        password = attributes.pop("password")
        user = models.User(**attributes)
        Backend.instance.save(user)
        Backend.instance.set_user_password(user, password)
        Backend.instance.save(user)
    for attributes in seed["clients"]:
        client = models.Client(**attributes)
        Backend.instance.save(client)
        # The client itself: its id_tokens would otherwise have an empty audience.
        client.audience = [client]
        Backend.instance.save(client)


if __name__ == "__main__":
    main(*sys.argv[1:])
