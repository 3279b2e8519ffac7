"""Reports about the requests of a client and the server's answers, read from the recorder: how the client
authenticated itself, which requests were refused and why, and the result of each code."""

import base64
import json
import urllib.parse
from dataclasses import dataclass

from clients import BASIC, JWT, NONE, POST

#: The endpoints at which a client authenticates itself.
ENDPOINTS = (
    "pushed_authorization_request_endpoint", "device_authorization_endpoint", "token_endpoint", "revocation_endpoint",
    "introspection_endpoint",
)  # fmt: skip
PUSH, TOKEN, REVOCATION = "pushed_authorization_request_endpoint", "token_endpoint", "revocation_endpoint"
#: The server's errors while the user of a device has not finished yet (RFC 8628 §3.5).
PENDING = ("authorization_pending", "slow_down")


def subject_of(assertion):
    part = assertion.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))["sub"]


@dataclass
class Exchange:
    endpoint: str
    form: dict
    #: How the client authenticated itself. If one request used two ways, the names of both are joined by a plus.
    method: str
    client_id: str
    #: Whether the request had a proof (RFC 9449).
    has_proof: bool
    status: int
    text: str

    @classmethod
    def read(cls, endpoint, row):
        form = dict(urllib.parse.parse_qsl(row["body"], keep_blank_values=True))
        methods, client_id = [], form.get("client_id")
        header = next((value for name, value in row["request"] if name.lower() == "authorization"), "")
        if header.startswith("Basic "):
            methods.append(BASIC)
            client_id = urllib.parse.unquote_plus(base64.b64decode(header[6:]).decode().partition(":")[0])
        if "client_secret" in form:
            methods.append(POST)
        if "client_assertion" in form:
            methods.append(JWT)
            client_id = client_id or subject_of(form["client_assertion"])
        has_proof = any(name.lower() == "dpop" for name, _ in row["request"])
        text = row.get("answer", row.get("error", ""))
        return cls(endpoint, form, "+".join(methods) or NONE, client_id, has_proof, row.get("status", 0), text)

    @property
    def answer(self):
        try:
            read = json.loads(self.text)
        except ValueError:
            return {}
        return read if isinstance(read, dict) else {}

    @property
    def is_good(self):
        return 200 <= self.status < 300

    @property
    def is_pending(self):
        return self.answer.get("error") in PENDING

    @property
    def is_refused(self):
        return not self.is_good and not self.is_pending

    @property
    def is_refused_for_scope(self):
        return self.is_refused and self.answer.get("error") == "invalid_scope"

    @property
    def grant(self):
        return self.form.get("grant_type", "")

    def __str__(self):
        what = self.grant.rpartition(":")[2] or self.endpoint.removesuffix("_endpoint")
        scope = f" of {self.form['scope']}" if self.is_refused_for_scope else ""
        return f"{what}{scope} by {self.method}: {self.status} {self.text.strip()[:300]}"


def exchanges(server, client_id, since):
    """The requests of this client after the first `since` exchanges of the record, from the oldest to the newest."""
    endpoints = {server.paths[name]: name for name in ENDPOINTS if name in server.paths}
    rows = sorted((row for path in endpoints for row in server.recorder.rows(path, since)), key=lambda row: row["t"])
    read = [Exchange.read(endpoints[row["path"].split("?")[0]], row) for row in rows]
    return [exchange for exchange in read if exchange.client_id == client_id]


class Record:
    """The requests of one client for one sign-in, in the order of their arrival at the server."""

    def __init__(self, sent):
        self.sent = sent

    @property
    def refused(self):
        return [exchange for exchange in self.sent if exchange.is_refused]

    @property
    def accepted(self):
        return [exchange for exchange in self.sent if not exchange.is_refused]

    def granted(self, grant):
        """The requests that were answered with tokens for this grant."""
        return [exchange for exchange in self.sent if exchange.grant.endswith(grant) and exchange.is_good]

    @property
    def refresh_token(self):
        """The current refresh token."""
        return next(
            (answer["refresh_token"] for answer in (exchange.answer for exchange in reversed(self.sent))
             if answer.get("refresh_token")), None)  # fmt: skip

    def faults(self, client, grant, parameter):
        """Checks the client's requests; returns a sentence for each mistake. In requests for `grant`, the code is in
        `parameter`.

        - Parameter grant: `authorization_code` or `device_code`."""
        refused = [exchange for exchange in self.refused if client.revokes or exchange.endpoint != REVOCATION]
        for_scope = [exchange.form.get("scope") for exchange in refused if exchange.is_refused_for_scope]
        of_client = [exchange for exchange in refused if not exchange.is_refused_for_scope]
        methods = {exchange.method for exchange in self.accepted}
        codes = {exchange.form.get(parameter) for exchange in self.sent if exchange.grant.endswith(grant)}
        spent = [exchange.form.get(parameter) for exchange in self.granted(grant)]
        first = self.sent[0].method if self.sent else None
        checks = (
            (not client.is_tried or first == BASIC, f"the first request was by {first}, not {BASIC}"),
            (len(of_client) == client.refusals, f"{len(of_client)} requests were refused, expected {client.refusals}"),
            (self.sent[: len(refused)] == refused, "a request was refused after one that was not"),
            (grant == "device_code" or not for_scope, "scopes were refused"),
            (len(set(for_scope)) == len(for_scope), f"scopes that had been refused were asked for again: {for_scope}"),
            (len(methods) == 1 and methods <= set(client.taken), f"accepted were requests by {sorted(methods)}"),
            (spent == list(codes), f"{len(codes)} codes were sent, {len(spent)} answered with tokens"),
            (len(codes) == 1, f"{len(codes)} codes were sent"),
        )
        faults = [words for holds, words in checks if not holds]
        return faults + (self._faults_of_bound() if client.is_bound else [])

    def _faults_of_bound(self):
        pushed = any(exchange.endpoint == PUSH and exchange.is_good for exchange in self.sent)
        tokens = [exchange for exchange in self.sent if exchange.endpoint == TOKEN and exchange.is_good]
        checks = (
            (pushed, "no request was pushed"),
            (all(exchange.has_proof for exchange in tokens), "a token request had no proof"),
            (all(exchange.answer["token_type"] == "DPoP" for exchange in tokens), "tokens are not bound"),
        )
        return [words for holds, words in checks if not holds]

    def __str__(self):
        return "; ".join(map(str, self.refused)) or "nothing was refused"
