"""The table of ways to sign in: each server, with EnrollKit's preset or with a bare configuration, with each kind of
client, in the browser and on a device, from each face. A cell is a whole session: sign in, a token, a renewal in a
new process, sign out. The server's record shows how the client authenticated itself."""

import concurrent.futures
import contextlib
import json
import os
import threading
from dataclasses import dataclass

import apps
import kinds
import registered
from clients import BROWSER, DEVICE, FAPI, FLOWS, METHODS, NONE, REGISTERED, Cannot, client_at
from processes import TOP, wait_until
from record import REVOCATION, Record, exchanges
from servers import shared

PRESET, BARE = "preset", "bare"
SETTINGS = (PRESET, BARE)
COLUMNS = [(setting, flow) for setting in SETTINGS for flow in FLOWS]
#: With TORTURE=1, each cell runs from each face, not only from one.
IS_WHOLE = os.environ.get("TORTURE") == "1"
#: The folder in which each process writes its rows for the table of all servers.
ROWS = TOP / ".build/real-logs/ways"

#: The rows of each server, and the titles of the rows that are not named after a method.
CLIENTS = (*METHODS, FAPI, REGISTERED)
TITLES = {NONE: "public", FAPI: "private_key_jwt, PAR, DPoP", REGISTERED: "registered by EnrollKit"}
#: The servers and the faces for the FAPI 2.0 client. The command is not among them, because it returns no token that
#: is bound to a key.
FAPI_AT, FAPI_FROM = (kinds.OIDCProvider, kinds.Keycloak), (apps.DaemonApp, apps.PythonApp)


@dataclass(frozen=True)
class Way:
    kind: type
    client: str
    setting: str
    flow: str
    app: type

    def __str__(self):
        return f"{self.client} {self.setting} {self.flow}"


def ways_at(kind):
    """The cells of a server. Each cell is played by one face. The faces take turns, so that each face plays
    at least one cell of each method."""
    program = kinds.PROGRAMS.index(kind)
    for row, client in enumerate(METHODS):
        for column, (setting, flow) in enumerate(COLUMNS):
            if setting == PRESET and not kind.preset:
                continue
            for app in in_turn(apps.ALL, program + row + column):
                yield Way(kind, client, setting, flow, app)
    if kind in FAPI_AT:
        for app in in_turn(FAPI_FROM, program):
            yield Way(kind, FAPI, BARE, BROWSER, app)
    for app in in_turn(apps.ALL, program):
        yield Way(kind, REGISTERED, BARE, BROWSER, app)


def in_turn(faces, turn):
    return faces if IS_WHOLE else [faces[turn % len(faces)]]


class Configured:
    """A server with the settings of one client, in the form that an app expects."""

    def __init__(self, server, client, setting):
        self._server, self.client, self.setting = server, client, setting

    def configuration(self, **_):
        """The app's configuration: with the preset, the configuration of the guide; without the preset, only
        the keys that a client requires."""
        known = {
            "issuer": self._server.issuer, "clientId": self.client.id, "allowLoopbackHTTP": True,
            "redirectUri": self.client.redirect, **self.client.credentials,
        }  # fmt: skip
        return {"provider": self._server.preset, **known} if self.setting == PRESET else known

    @property
    def options(self):
        """The bare configuration as options of `enroll login`."""
        return ["--issuer", self._server.issuer, "--allow-loopback-http", *self.client.options]

    def __getattr__(self, name):
        return getattr(self._server, name)


@dataclass
class Result:
    way: Way
    #: The text for the cell in the table.
    words: str
    #: Why the server does not support this way to sign in, or what failed.
    reason: str = ""
    is_fault: bool = False


class Play:
    """The run of one cell."""

    def __init__(self, way, client):
        self.way, self.client, self.server = way, client, shared(way.kind)
        self.began = self.server.recorder.count

    def app(self):
        kind = apps.FirstCommandApp if self.way.app is apps.CommandApp and self.way.setting == BARE else self.way.app
        return kind(Configured(self.server, self.client, self.way.setting))

    @property
    def record(self):
        return Record(exchanges(self.server, self.client.id, self.began) if self.client else [])

    def result(self):
        face = self.way.app.face
        try:
            words = self._session()
        # Whatever fails in a cell is shown as the result of that cell; the other cells continue.
        except Exception as fault:
            faults = [f"{type(fault).__name__}: {fault}"]
        else:
            faults = self.record.faults(self.client, *self.code)
        if faults:
            reason = f"{', '.join(faults)} [{self.record}]"
            return Result(self.way, f"{face} FAILS", " ".join(reason.split()), is_fault=True)
        return Result(self.way, f"{face}{words}")

    @property
    def code(self):
        """The grant of this sign-in, and the name of the parameter that has the code."""
        return ("device_code", "device_code") if self.way.flow == DEVICE else ("authorization_code", "code")

    def _session(self):
        with contextlib.ExitStack() as open_apps:
            app = self.app()
            open_apps.callback(app.close)
            person = self.server.person()
            app.sign_in_by_device(person) if self.way.flow == DEVICE else app.sign_in(person)
            access = app.token()
            self._check(app, access)
            app.close()
            app = app.again()
            open_apps.callback(app.close)
            renews = self.record.refresh_token is not None
            if renews:
                first, access = access, app.renew()
                assert access != first, "the renewal gave the same access token"
                assert self.record.granted("refresh_token"), "the server saw no renewal"
                self._check(app, access)
            refresh = self.record.refresh_token
            app.sign_out()
            self._check_signed_out(access, refresh)
        return self._words(renews)

    def _check(self, app, access):
        holder = app.userinfo().get("preferred_username") if self.client.is_bound else self.server.holder_of(access)
        assert holder == "alice", f"the access token is {holder}'s, says the server"

    def _check_signed_out(self, access, refresh):
        wait_until(lambda: self._revocations, "the server is told to revoke", timeout=20)
        if not self.client.revokes:
            # The server refuses the token of another client as it refuses an unknown client, so EnrollKit sends the
            # revocation once with each method.
            refused = [exchange.method for exchange in self._revocations]
            assert sorted(refused) == ["client_secret_basic", "client_secret_post"], f"revocations by {refused}"
            return
        wait_until(lambda: self.server.heard_revocation(refresh or access), "the server revokes", timeout=20)
        # Without the key, the test cannot ask the server about a token that is bound to the key.
        is_over = self.client.is_bound or self.server.holder_of(access) is None
        assert is_over, "the server takes the access token after the sign-out"
        assert not (refresh and self.client.renews(self.server, refresh)), "the server renews after the sign-out"

    @property
    def _revocations(self):
        return [exchange for exchange in self.record.sent if exchange.endpoint == REVOCATION]

    def _words(self, renews):
        used = {exchange.method for exchange in self.record.accepted}
        words = [f"by {'+'.join(sorted(used))}"] if used != {self.client.method} else []
        words += ["1 refused"] if self.client.refusals else []
        words += [] if renews else ["no refresh token"]
        words += [] if self.client.revokes else ["revocation refused"]
        return f" ({', '.join(words)})" if words else ""


class RegisteredPlay(Play):
    """The cell of a client that EnrollKit registers."""

    def __init__(self, way, registering):
        self.way, self.registering, self.server = way, registering, shared(way.kind)
        self.began = self.server.recorder.count

    def app(self):
        return registered.APPS[self.way.app](self.registering)

    @property
    def client(self):
        return registered.registered_client(self.server, self.began)

    def _session(self):
        words = super()._session()
        count = len(registered.registrations(self.server, self.began))
        assert count == 1, f"{count} registrations were sent"
        return words

    def _words(self, renews):
        return f" ({self.client.method})"


class Table:
    """The planned cells of one server, run side by side; the cells of one client run one after another, so that the
    record can tell them apart."""

    def __init__(self, kind, ways):
        self.kind, self.ways = kind, ways
        self.results = {}
        self._begun = threading.Lock()
        self._futures = None

    def result_of(self, way):
        with self._begun:
            if self._futures is None:
                self._begin()
        for future in self._futures:
            future.result()
        return self.results[way]

    def rows(self):
        """The rows as JSON."""
        for way, result in self.results.items():
            yield {
                "server": self.kind.name, "client": way.client, "setting": way.setting, "flow": way.flow,
                "words": result.words, "reason": result.reason,
            }  # fmt: skip

    def _begin(self):
        server = shared(self.kind)
        clients, of_client = {}, {}
        for way in self.ways:
            key = way.client, way.flow
            if key not in clients:
                clients[key] = client_or_reason(server, *key)
            client = clients[key]
            if isinstance(client, Cannot):
                self.results[way] = Result(way, "cannot", str(client))
            else:
                of_client.setdefault(client.id, []).append((way, client))
        # The longest groups come first.
        groups = sorted(of_client.values(), key=lambda group: -sum(way.flow == DEVICE for way, _ in group))
        # The threads live until the end of the run, because a process ends when the thread that started it ends.
        self._lanes = concurrent.futures.ThreadPoolExecutor(server.lanes)
        self._futures = [self._lanes.submit(self._play, group) for group in groups]

    def _play(self, group):
        for way, client in group:
            play = RegisteredPlay if way.client == REGISTERED else Play
            result = play(way, client).result()
            # An answer 500 under load (Hydra) says nothing about the way, so the cell runs once more.
            if result.is_fault and ": 500 " in result.reason:
                result = play(way, client).result()
            self.results[way] = result


def client_or_reason(server, kind, flow):
    try:
        return registered.Registering(server) if kind == REGISTERED else client_at(server, kind, flow)
    except Cannot as reason:
        return reason


_tables = {}


def plan(ways):
    """Records the cells that the tests will ask for."""
    for way in ways:
        _tables.setdefault(way.kind, Table(way.kind, [])).ways.append(way)


def result_of(way):
    return _tables[way.kind].result_of(way)


def tear_down():
    """Prints the table, and writes its rows for the table of all servers."""
    rows = [row for table in _tables.values() for row in table.rows()]
    if not rows:
        return
    print(drawn(rows))
    ROWS.mkdir(parents=True, exist_ok=True)
    for kind in _tables:
        (ROWS / f"{kind.name}.json").write_text(json.dumps([row for row in rows if row["server"] == kind.name]))


def kept_rows():
    """The rows that the processes of all servers wrote."""
    return [row for path in ROWS.glob("*.json") for row in json.loads(path.read_text())]


def drawn(rows):
    """The table as text: a line for each server and kind of client, then the reasons."""
    programs = [kind.name for kind in kinds.PROGRAMS]
    presets = {kind.name: kind.preset for kind in kinds.PROGRAMS}
    rows = sorted(rows, key=lambda row: (programs.index(row["server"]), CLIENTS.index(row["client"])))
    reasons = list(dict.fromkeys(row["reason"] for row in rows if row["reason"]))
    lines = {}
    for row in rows:
        cells = lines.setdefault((row["server"], row["client"]), {column: [] for column in COLUMNS})
        words = row["words"] + (f" [{reasons.index(row['reason']) + 1}]" if row["reason"] else "")
        cell = cells[row["setting"], row["flow"]]
        if words not in cell:
            cell.append(words)
    drawn_lines = [["server", "client", *map(", ".join, COLUMNS)]]
    for (server, client), cells in lines.items():
        empty = {PRESET: "" if presets[server] else "no preset", BARE: ""}
        words = (", ".join(cells[column]) or empty[column[0]] for column in COLUMNS)
        drawn_lines.append([server, TITLES.get(client, client), *words])
    widths = [max(map(len, column)) for column in zip(*drawn_lines, strict=True)]
    drawn_lines.insert(1, ["-" * width for width in widths])
    table = "".join(f"| {' | '.join(map(str.ljust, line, widths))} |\n" for line in drawn_lines)
    notes = "".join(f"[{number}] {reason}\n" for number, reason in enumerate(reasons, 1))
    return f"\nWays to sign in, by server and kind of client:\n\n{table}\n{notes}" if lines else ""
