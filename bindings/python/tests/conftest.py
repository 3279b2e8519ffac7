"""The objects that the tests share: a sandbox, a store for each test, and one interface to every face.

A face is one of the four ways to use the package. Tests await all methods of a client that `await face.client(…)`
returns: methods of `enrollkit.aio` run directly, and those of `enrollkit.Client` on a separate thread.
"""

import asyncio
import inspect
import os
import sys
import threading
from pathlib import Path

import pytest

import enrollkit
import enrollkit.aio

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[2]
sys.path[:0] = [str(TOP / "Tests/faces/Support"), str(TOP / "Tests/faces/DaemonTests")]

from sandbox import Sandbox, come_back  # noqa: E402

LOOPBACK = "http://127.0.0.1/callback"
CUSTOM = "com.example.app:/callback"

# No test writes into the keyring of the user who runs it.
for name in ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"):
    os.environ.pop(name, None)


class Spoken:
    """Wraps an object, so that its blocking methods can be awaited."""

    def __init__(self, real):
        self.real = real

    def __getattr__(self, name):
        value = getattr(self.real, name)
        if not callable(value):
            return value

        async def call(*arguments, **named):
            arguments = [getattr(one, "real", one) for one in arguments]
            return await asyncio.to_thread(value, *arguments, **named)

        return call

    def __repr__(self):
        return repr(self.real)


class Face:
    """One way to use the package. `end` closes everything that it opened."""

    def __init__(self, name):
        self.name = name
        self.is_async = name.startswith("aio")
        self.is_daemon = name.endswith("daemon")
        self.module = enrollkit.aio if self.is_async else enrollkit
        self._over = None
        self._opened = []

    async def over(self):
        """The library or the daemon of this face's clients, unwrapped."""
        if self._over is None:
            self._over = await self.another()
        return self._over

    async def another(self):
        kind = self.module.Daemon if self.is_daemon else self.module.Library
        made = kind() if self.is_async else await asyncio.to_thread(kind)
        if self.is_daemon:
            self._opened.append(made)
        return made

    async def core(self):
        """The library or the daemon, with methods that are awaited."""
        over = await self.over()
        return over if self.is_async else Spoken(over)

    async def client(self, configuration, **more):
        more.setdefault("over", await self.over())
        if self.is_async:
            client = await enrollkit.aio.Client(configuration, **more)
            self._opened.append(client)
            return client
        client = await asyncio.to_thread(enrollkit.Client, configuration, **more)
        self._opened.append(client)
        return Spoken(client)

    async def events(self, client):
        """A stream of events that has begun, with methods that are awaited."""
        if self.is_async:
            return await client.events().__aenter__()
        return Spoken(client.real.events())

    def forget(self, client):
        """Forgets a client that is already closed."""
        self._opened.remove(getattr(client, "real", client))

    async def end(self):
        for one in reversed(self._opened):
            closing = one.close() if self.is_async else await asyncio.to_thread(one.close)
            if inspect.isawaitable(closing):
                await closing


FACES = ("library", "daemon", "aio library", "aio daemon")


@pytest.fixture(params=FACES)
def face(request):
    return Face(request.param)


@pytest.fixture(params=[name for name in FACES if name.startswith("aio")])
def aio_face(request):
    return Face(request.param)


@pytest.fixture(params=[name for name in FACES if name.endswith("daemon")])
def daemon_face(request):
    return Face(request.param)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Runs a test that is a coroutine function in a separate event loop, and ends its face in that loop."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}

    async def run():
        try:
            await asyncio.wait_for(pyfuncitem.obj(**arguments), float(os.environ.get("TIMEOUT", "60")))
        finally:
            for one in arguments.values():
                if isinstance(one, Face):
                    await one.end()

    asyncio.run(run())
    return True


@pytest.fixture(scope="session")
def shared_sandbox():
    sandbox = Sandbox()
    yield sandbox
    sandbox.stop()


@pytest.fixture
def sandbox(shared_sandbox):
    """A provider without faults."""
    return shared_sandbox


@pytest.fixture
def own_sandbox():
    """Makes a sandbox in which the test may set faults: `own_sandbox("--dpop", "required")`."""
    made = []

    def make(*options):
        made.append(Sandbox(*options))
        return made[-1]

    yield make
    for sandbox in made:
        sandbox.stop()


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


def configuration(sandbox, redirect=LOOPBACK, **more):
    """A configuration with keys in snake_case, as Python spells them."""
    return {
        "issuer": sandbox.issuer,
        "client_id": "sample-app",
        "redirect_uri": redirect,
        "scopes": ["openid", "profile", "email", "offline_access"],
        "allow_loopback_http": True,
        "dpop": "auto",
        **more,
    }


def playing(sandbox):
    """A function for `present`: alice signs in, and her browser follows the redirect to the loopback listener."""

    def present(action):
        def play():
            redirect = sandbox.play(action.url)
            if redirect.startswith("http"):
                come_back(redirect).read()

        threading.Thread(target=play, daemon=True).start()

    return present


async def signed_in(face, sandbox, store, redirect=LOOPBACK, **more):
    """A client whose user has signed in."""
    client = await face.client(configuration(sandbox, redirect, **more.pop("configured", {})), store=store, **more)
    state = await client.sign_in(present=playing(sandbox), confirm=lambda profile: True)
    assert state == enrollkit.Active(reason=enrollkit.ActiveReason.CONFIRMED)
    return client


class Counter:
    """Prints the last line that every suite of the project ends with."""

    passed = failed = 0

    def pytest_runtest_logreport(self, report):
        if report.failed or report.skipped:
            self.failed += 1
        elif report.when == "call":
            self.passed += 1

    def pytest_collectreport(self, report):
        self.failed += report.failed

    def pytest_unconfigure(self):
        print(f"\n{self.passed} passed, {self.failed} failed")


def pytest_configure(config):
    config.pluginmanager.register(Counter())
    config.addinivalue_line("markers", "provider: needs a real provider and a real browser")
