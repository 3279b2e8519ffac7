"""Many users who sign in at once: each browser is only a connection with its cookies. This file also starts
the replicas to which the browsers connect."""

import asyncio
import hashlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse
from pathlib import Path

import crowd_provider
from gateway import Gateway
from processes import TOP, Child, free_port, is_listening, workspace

LONG = os.environ.get("TORTURE") == "1"
#: The gateway's address for browsers; the balancer handles TLS.
ORIGIN = "https://id.example"
POSTGRES = TOP / "Tests/units/EnrollGatewayStoreTests/postgres"
#: A limit that is higher than the number of requests in any test.
NO_LIMIT = {"requests": 1_000_000, "seconds": 1}


def in_a_loop(work):
    """Runs a coroutine on a separate thread and returns its result. The caller's thread may already run the
    event loop of a browser's driver."""
    ended = []

    def run():
        try:
            ended.append((asyncio.run(work), None))
        except BaseException as failure:
            ended.append((None, failure))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    result, failure = ended[0]
    if failure is not None:
        raise failure
    return result


class Broken(Exception):
    """Raised when the connection ended before the answer was complete."""


class Reply:
    def __init__(self, head, body):
        line, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(line.split(" ")[1])
        self.headers = [(name.lower(), value.strip()) for name, _, value in (one.partition(":") for one in lines)]
        self.body = body

    def header(self, name):
        return next((value for key, value in self.headers if key == name), None)

    @property
    def cookies(self):
        """The cookies that a response sets, without the cookies that it removes."""
        pairs = [value.partition(";") for key, value in self.headers if key == "set-cookie"]
        return dict(pair.split("=", 1) for pair, _, rest in pairs if "Max-Age=0" not in rest)


class Wire:
    """One connection that stays open."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port, tls=None, source=None):
        more = {"ssl": tls, "server_hostname": "id.example"} if tls else {}
        address = (source, 0) if source else None
        return cls(*await asyncio.open_connection("127.0.0.1", port, local_addr=address, **more))

    def send(self, target, headers=(), method="GET", body=b""):
        lines = [f"{method} {target} HTTP/1.1", "Host: id.example", *(f"{name}: {value}" for name, value in headers)]
        if method == "POST":
            lines += [f"Content-Length: {len(body)}", "Content-Type: application/x-www-form-urlencoded"]
        self.writer.write("\r\n".join([*lines, "", ""]).encode() + body)

    async def receive(self):
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = next((line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), b":0")
            return Reply(head[:-4], await self.reader.readexactly(int(length.partition(b":")[2])))
        except (asyncio.IncompleteReadError, OSError) as error:
            raise Broken(f"the connection ended: {error!r}") from None

    async def ask(self, target, **more):
        self.send(target, **more)
        return await self.receive()

    def close(self):
        self.writer.close()


class Attempt:
    """A sign-in that has begun: the redirect to the provider, and the cookie."""

    def __init__(self, reply, subject):
        if reply.status != 303:
            raise AssertionError(f"a sign-in did not begin: {reply.status} {reply.body[:300]}")
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(reply.header("location")).query))
        query = {"code": crowd_provider.code_for(subject, asked), "state": asked["state"]}
        self.target = "/v1/auth/crowd/callback?" + urllib.parse.urlencode(query)
        self.headers = [("Cookie", "; ".join(f"{name}={value}" for name, value in reply.cookies.items()))]


def session_of(reply):
    """The hash of the session that a callback created, as in the database; None for any other answer."""
    token = reply.cookies.get("__Host-enroll") if reply.status == 303 else None
    return hashlib.sha256(token.encode()).hexdigest() if token else None


def raise_files():
    """Raises the limit of open files: each browser needs a descriptor."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16_384) if hard > 0 else 16_384, hard))


class Replicas:
    """Gateways that share one database, one key file and one provider; their balancer is at 127.0.0.1."""

    def __init__(self, database, count=3, milliseconds=0, **settings):
        self.home = workspace("replicas")
        port = free_port()
        words = [sys.executable, "-B", crowd_provider.__file__, port, milliseconds]
        self.provider = Child(words, self.home / "provider.log")
        self.provider.wait_for(lambda: is_listening(port), "the provider listens")
        self.all = []
        for number in range(count):
            home = self.home / str(number)
            home.mkdir()
            (home / "keys.json").symlink_to(self.home / "keys.json")
            self.all.append(Gateway(home=home, **{
                "publicUrl": ORIGIN, "database": database, "keys": str(self.home / "keys.json"),
                "trustedProxies": ["127.0.0.1"], "limits": {"start": NO_LIMIT, "callback": NO_LIMIT},
                "providers": {"crowd": {
                    "label": "Crowd", "issuer": f"http://127.0.0.1:{port}", "clientId": crowd_provider.CLIENT,
                    "clientSecret": crowd_provider.SECRET}},
                **settings,
            }))  # fmt: skip

    def start(self):
        for gateway in self.all:
            gateway.start()
        return self

    def stop(self):
        for gateway in self.all:
            gateway.stop()
        self.provider.stop()


class PostgreSQL:
    """A separate server, started by the script of the store's tests."""

    def __init__(self):
        # The folder is not below the checkout, because the user postgres may be unable to read the checkout.
        self.folder = Path(tempfile.mkdtemp(prefix="enroll-crowd-"))
        self.port = free_port()
        subprocess.run([POSTGRES, "start", self.folder, str(self.port), str(os.getpid())], check=True)
        self.url = f"postgresql://gateway@127.0.0.1:{self.port}/postgres"

    def rows(self, query):
        return sql(self.url, query)

    def stop(self):
        subprocess.run([POSTGRES, "stop", self.folder], check=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def sql(url, query):
    """The rows of a query, as tuples of texts."""
    done = subprocess.run(["psql", "-XAt", "-F", "\t", url, "-c", query], capture_output=True, text=True, check=True)
    return [tuple(line.split("\t")) for line in done.stdout.splitlines()]
