"""Real servers for the tests: the code starts a server, asks it for its view of a session, and does what its
administrator can do.

The servers are third-party programs in the folder `../shared/real` beside the repository, or in the folder
that ENROLLKIT_REAL names. In front of each server runs the recorder from that folder. It records every
exchange, so that a test knows the server's tokens without EnrollKit. If a test asks for it, the recorder
loses, refuses or delays answers.
"""

import json
import os
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from agent import Person
from processes import TOP, Child, free_port, is_listening, wait_until, workspace

REAL = Path(os.environ.get("ENROLLKIT_REAL") or TOP.parent / "shared/real")
LOOPBACK = "http://127.0.0.1/callback"
#: The seconds that a server may need to start: a server in Java starts slowly while other suites run.
STARTING = 180
#: The User-Agent of the tests' own requests, by which the record recognises them.
ORACLE = "oracle"


def request(url, form=None, headers=(), method=None, body=None):
    """Sends a request of the tests; returns status and text, whatever the status."""
    data = urllib.parse.urlencode(form).encode() if form is not None else body
    wanted = urllib.request.Request(url, data, {"User-Agent": ORACLE, **dict(headers)}, method=method)
    try:
        with urllib.request.urlopen(wanted, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode(errors="replace")


def request_json(url, **more):
    """As `request`, but the request must succeed; returns the JSON of the answer."""
    status, text = request(url, **more)
    if not 200 <= status < 300:
        raise AssertionError(f"{url}: status {status}: {text[:300]}")
    return json.loads(text or "null")


class Recorder:
    """The recorder in front of one server."""

    def __init__(self, name, upstream):
        self.port = free_port()
        self.origin = f"http://127.0.0.1:{self.port}"
        directory = workspace(f"recorder-{name}")
        self._log, self._read, self._rows = directory / "log", 0, []
        self._reading = threading.Lock()
        self._log.touch()
        self._child = Child([sys.executable, REAL / "rec.py", self.port, upstream, self._log], directory / "stderr")
        self._child.wait_for(lambda: is_listening(self.port), "the recorder listens")

    def rows(self, path, since=0):
        """The exchanges of EnrollKit and the browser with this path, from the oldest to the newest."""
        with self._reading, open(self._log, "rb") as file:
            file.seek(self._read)
            for line in file:
                # The recorder may still be writing the last line.
                if not line.endswith(b"\n"):
                    break
                self._read += len(line)
                self._rows.append(json.loads(line))
        return [
            row for row in self._rows[since:]
            if row.get("path", "").split("?")[0] == path and ["User-Agent", ORACLE] not in row["request"]
        ]  # fmt: skip

    @property
    def count(self):
        """The number of exchanges so far; pass it as `since` later."""
        self.rows("")
        return len(self._rows)

    def order(self, what, path, **more):
        """Makes the recorder `drop`, `refuse` or `slow` down the next answer with this path."""
        request(f"{self.origin}/__rec/{what}?" + urllib.parse.urlencode({"path": path, **more}))

    def stop(self):
        self._child.stop()


class Server:
    """One real server with a public client and the users alice and bob. Each kind of server is a subclass."""

    name: str
    client_id: str
    passwords: dict
    scopes = ("openid", "profile", "email", "offline_access")
    #: Whether each renewal replaces the refresh token.
    rotates = True
    #: Whether the session survives if a used refresh token is used again. If so, a lost answer does not end the
    #: session.
    forgives = False
    #: Whether sessions and keys survive a restart.
    keeps = True
    #: Whether the administrator can end one user's sessions, and change the signing keys.
    has_administrator = True
    #: Whether the server's own session in the browser answers the next sign-in without a password.
    remembers_browser = True
    #: Whether the server's id_token names the session of the browser in which the user signed in.
    tells_browsers_apart = True
    #: EnrollKit's preset for this server.
    preset: str | None = None
    #: The number of simultaneous sign-ins that the tests send to this server.
    lanes = 6
    #: The options that request a stronger sign-in at this server, and the further input that the user then has to give.
    stronger: dict = {"maxAge": 600, "prompt": "login"}
    stronger_fields: dict = {}

    def __init__(self):
        self.port = self.free_ports()
        self.directory = workspace(self.name)
        self.recorder = Recorder(self.name, self.port)
        self.origin = self.recorder.origin
        self.child = None

    def free_ports(self):
        return free_port()

    @property
    def issuer(self):
        return self.origin

    @property
    def homes(self):
        """The origins whose pages belong to the server."""
        return [self.origin]

    def start(self):
        self.launch()
        self.wait_until_ready()
        self.set_up()

    def launch(self):
        """Starts the server as `child`. A later start keeps the server's data."""
        raise NotImplementedError

    def wait_until_ready(self):
        self.child.wait_for(self._answers, f"{self.name} answers", timeout=STARTING)
        self.read_metadata()

    def set_up(self):
        """Further configuration after its first start."""

    def stop(self):
        self.child.stop()

    def close(self):
        self.stop()
        self.recorder.stop()

    def restart(self):
        self.stop()
        wait_until(lambda: not is_listening(self.port), f"{self.name} has ended")
        self.launch()
        self.wait_until_ready()

    @property
    def discovery(self):
        return self.issuer.rstrip("/") + "/.well-known/openid-configuration"

    def _answers(self):
        return is_listening(self.port) and request(self.discovery)[0] == 200

    def read_metadata(self):
        self.metadata = request_json(self.discovery)
        endpoints = {name: url for name, url in self.metadata.items() if name.endswith("_endpoint")}
        self.paths = {name: urllib.parse.urlsplit(url).path for name, url in endpoints.items()}

    def configuration(self, **changes):
        """A client configuration for this server; a change to None removes the key."""
        merged = {
            "issuer": self.issuer, "clientId": self.client_id, "redirectUri": LOOPBACK, "scopes": list(self.scopes),
            "allowLoopbackHTTP": True, **changes,
        }  # fmt: skip
        return {key: value for key, value in merged.items() if value is not None}

    def person(self, name="alice"):
        """A user in a new browser profile."""
        return Person(name, self.passwords[name], self.homes)

    def approve(self, person, url):
        """The actions of a device's user, in a browser on another device (RFC 8628 §3.3)."""
        person.open(url)

    # The server's view of a session.

    def userinfo(self, access_token):
        """The answer of userinfo to this access token; None if the server refuses it."""
        status, text = request(self.metadata["userinfo_endpoint"], headers={"Authorization": f"Bearer {access_token}"})
        if status >= 500:
            raise AssertionError(f"userinfo: status {status}: {text[:300]}")
        return json.loads(text) if status == 200 else None

    def user_of(self, access_token):
        claims = self.userinfo(access_token)
        return claims and claims.get("preferred_username", claims["sub"])

    def holder_of(self, access_token):
        """The user of this access token, even if its scopes do not allow userinfo; None if the token is not valid."""
        return self.user_of(access_token)

    def introspects(self, refresh_token):
        """Whether the refresh token is active at the server; None if the server does not say."""
        return None

    def renews(self, refresh_token):
        """Whether the server still accepts this refresh token. The request spends the token."""
        form = {"grant_type": "refresh_token", "refresh_token": refresh_token, "client_id": self.client_id}
        status, text = request(self.metadata["token_endpoint"], form=form)
        if status >= 500:
            raise AssertionError(f"renewal: status {status}: {text[:300]}")
        return status == 200

    def refresh_token_of(self, access_token):
        """From the record: the refresh token that was current when the server returned this access token."""
        known = None
        for row in self.recorder.rows(self.paths["token_endpoint"]):
            answer = json.loads(row["answer"]) if row.get("status") == 200 else {}
            sent = dict(urllib.parse.parse_qsl(row["body"])).get("refresh_token")
            if answer.get("access_token") == access_token:
                known = answer.get("refresh_token") or sent
        if known is None:
            raise AssertionError(f"{self.name} never gave this access token out together with a refresh token")
        return known

    def heard_revocation(self, token):
        """Whether a client asked the server to revoke this token, and the server did so."""
        return any(
            row.get("status") == 200 and not row.get("refused")
            for row in self.recorder.rows(self.paths["revocation_endpoint"])
            if dict(urllib.parse.parse_qsl(row["body"])).get("token") == token
        )

    def spent_twice(self, since):
        """The refresh tokens that were sent again after the server had replaced them."""
        spent, again = set(), []
        for row in self.recorder.rows(self.paths["token_endpoint"], since):
            sent = dict(urllib.parse.parse_qsl(row["body"])).get("refresh_token")
            if sent in spent:
                again.append(sent)
            answer = json.loads(row["answer"]) if row.get("status") == 200 else {}
            if sent and answer.get("refresh_token") not in (None, sent):
                spent.add(sent)
        return again

    # Faults for the next answer.

    def lose_token_answer(self):
        self.recorder.order("drop", self.paths["token_endpoint"])

    def delay_token_answer(self, seconds):
        self.recorder.order("slow", self.paths["token_endpoint"], s=seconds)

    def refuse_revocation(self):
        self.recorder.order("refuse", self.paths["revocation_endpoint"])

    # Actions of the administrator.

    def end_sessions(self, user):
        raise NotImplementedError

    def change_keys(self):
        raise NotImplementedError

    def open_registration(self):
        """Lets clients register themselves with the scopes that they need."""


_shared = {}
_starting = threading.RLock()


def shared(kind):
    """The shared server of this kind, which starts when it is first needed."""
    with _starting:
        if kind not in _shared:
            # The entry is set first, so that the next test does not try again if the server does not start.
            _shared[kind] = None
            server = kind()
            server.start()
            _shared[kind] = server
    if _shared[kind] is None:
        raise AssertionError(f"{kind.name} did not start, see the first failure")
    return _shared[kind]


def close_all():
    for server in reversed([server for server in _shared.values() if server]):
        server.close()
    _shared.clear()
