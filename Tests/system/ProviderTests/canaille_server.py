"""Canaille as a program: `canaille_server.py SEED PORT`, configured by $CANAILLE_CONFIG.

It does in one process the work of `canaille install`, `canaille create` and `canaille run`, which need six processes,
each with a start of several seconds. The first start fills the database from SEED (JSON: users, clients); later starts
keep it.
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
    # By default every response, even for a picture, sets the session cookie that its request had: a late response would
    # undo the effect of a form that was sent meanwhile.
    app.config["SESSION_REFRESH_EACH_REQUEST"] = False
    # Canaille's access tokens contain only the second of their creation, and Canaille looks up tokens in its database:
    # two tokens for one user in one second would be equal, and the second request would fail. A `jti` makes them
    # different (RFC 9068 §2.2).
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
        # Makes the client its own audience. Otherwise its id_tokens would have an empty audience.
        client.audience = [client]
        Backend.instance.save(client)


if __name__ == "__main__":
    main(*sys.argv[1:])
