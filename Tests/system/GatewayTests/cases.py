"""Shared by the gateway's tests: one gateway with its sandbox, and one Chromium."""

import sys
import unittest

import faces
from faces import Refused
from gateway import CUSTOM, Gateway, sandbox_for
from processes import TOP, workspace

sys.path.append(str(TOP / "Tests/system/ProviderTests"))  # at the end of the path, so that `cases` is this file

_shared = {}


def shared():
    """The gateway and its sandbox, which start when they are first needed."""
    if "gateway" not in _shared:
        gateway = Gateway()
        _shared["sandbox"] = sandbox_for(gateway)
        _shared["gateway"] = gateway.start()
    return _shared["gateway"], _shared["sandbox"]


def browser():
    """The shared Chromium."""
    from browser import Browser

    if "browser" not in _shared:
        _shared["browser"] = Browser()
    return _shared["browser"]


def tear_down():
    for name in ("browser", "gateway", "sandbox"):
        if one := _shared.pop(name, None):
            getattr(one, "close", None) and one.close() or getattr(one, "stop", lambda: None)()


def on_each_face(tests):
    """Runs the tests of a mix-in from each selected face."""
    module = sys.modules[tests.__module__]
    for face in faces.selected():
        name = f"{tests.__name__} from {face.name}"
        case = type(name, (tests, AppCase), {"face": face, "__module__": module.__name__})
        case.__qualname__ = name
        setattr(module, name, case)
    return tests


class AppCase(unittest.TestCase):
    """An app with EnrollKit that signs in through the gateway."""

    face: faces.Face

    def setUp(self):
        self.gateway, self.sandbox = shared()
        self.store = workspace("store")

    def open(self, gateway=None, **more):
        base = (gateway or self.gateway).base
        configuration = {
            "issuer": base, "clientId": "sample", "redirectUri": CUSTOM, "scopes": ["profile"],
            "allowLoopbackHTTP": True, "bff": {"base": base}, **more,
        }  # fmt: skip
        client = self.face.open(configuration, self.store)
        self.addCleanup(client.close)
        return client

    def begin(self, client):
        return client.call("registration.begin", kind="bff", options={"connection": "sandbox"})

    def assertRefused(self, status, client, command, **parameters):
        with self.assertRaises(Refused) as caught:
            client.call(command, **parameters)
        self.assertEqual(caught.exception.status, status, caught.exception)
        return caught.exception
