"""Compares the cost of a request at the gateway with the cost at Starlette with Authlib and asyncpg: with the same
PostgreSQL, provider and load, in alternation. The processor time counts only the processes of the server that is
measured, from /proc/PID/stat."""

import asyncio
import base64
import hashlib
import http.client
import json
import os
import secrets
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
sys.path += [str(TOP / "Tests/faces/Support"), str(TOP / "Tests/system/GatewayTests")]

import crowd_provider  # noqa: E402: in Tests/system/GatewayTests
from crowd import ORIGIN, PostgreSQL, Replicas, raise_files  # noqa: E402
from gateway_load import at_once, look, wrk  # noqa: E402
from gateway_nginx import beside_nginx  # noqa: E402
from gateway_processes import memory, processor_seconds  # noqa: E402
from processes import Child, free_port, is_listening, workspace  # noqa: E402

TURNS = int(os.environ.get("TURNS", 5))
#: The measured requests, each with its goal in microseconds of processor time.
GOALS = {"page": 35, "start": 55, "session check": 80, "callback, new": None, "callback, known": 200}


class Contender:
    """A measured server. It has the paths /login, /v1/auth/crowd with its callback, and /v1/userinfo."""

    def __init__(self, name, port, pid, subjects):
        self.name, self.port, self.pid, self.subjects = name, port, pid, subjects
        self.persons = 0
        self.measured = {what: [] for what in GOALS}

    def ask(self, target, headers=(), method="GET", body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, target, body, {"Host": "id.example", **dict(headers)})
        answer = connection.getresponse()
        text = answer.read()
        cookies = "; ".join(one.partition(";")[0] for one in answer.headers.get_all("Set-Cookie") or []
                            if "Max-Age=0;" not in one)  # fmt: skip
        return answer, text, cookies

    def attempt(self, reply_headers, subject):
        """One line for wrk: the URL of the callback for a sign-in that was begun, and the cookie of that
        sign-in."""
        location, cookies = reply_headers
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(location).query))
        query = {"code": crowd_provider.code_for(subject, asked), "state": asked["state"]}
        return f"/v1/auth/crowd/callback?{urllib.parse.urlencode(query)} {cookies}"

    def attempts(self, subjects):
        """Begins a sign-in for each subject."""

        async def some(part):
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            lines = []
            for subject in part:
                writer.write(b"GET /v1/auth/crowd HTTP/1.1\r\nHost: id.example\r\n\r\n")
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                headers = [line.partition(": ") for line in head.split("\r\n")[1:-2]]
                values = [(name.lower(), value) for name, _, value in headers]
                length = next((int(value) for name, value in values if name == "content-length"), 0)
                await reader.readexactly(length)
                location = next(value for name, value in values if name == "location")
                cookies = "; ".join(value.partition(";")[0] for name, value in values
                                    if name == "set-cookie" and "Max-Age=0;" not in value)  # fmt: skip
                lines.append(self.attempt((location, cookies), subject))
            writer.close()
            return lines

        async def everything():
            parts = await asyncio.gather(*(some(subjects[number::8]) for number in range(8)))
            return [line for part in parts for line in part]

        return asyncio.run(everything())

    def session(self, subject):
        """A bearer token for /v1/userinfo."""
        if self.name == "gateway":
            verifier = secrets.token_urlsafe(32)
            challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
            query = f"platform=mobile&code_challenge_method=S256&state=s&code_challenge={challenge}"
        else:
            verifier, query = None, ""
        answer, _, cookies = self.ask(f"/v1/auth/crowd?{query}")
        target, _, cookie = self.attempt((answer.headers["Location"], cookies), subject).partition(" ")
        answer, text, cookies = self.ask(target, {"Cookie": cookie})
        if verifier is None:
            return cookies.split("__Host-enroll=")[1].split(";")[0]
        code = urllib.parse.parse_qs(urllib.parse.urlsplit(answer.headers["Location"]).query)["code"][0]
        body = json.dumps({"code": code, "code_verifier": verifier})
        _, text, _ = self.ask("/v1/auth/crowd/redeem", {"Content-Type": "application/json"}, "POST", body)
        return json.loads(text)["session_token"]

    def measure(self, what, lines, folder, header="Cookie"):
        before = processor_seconds(self.pid)
        figures = wrk(self.port, lines, folder, header=header)
        microseconds = (processor_seconds(self.pid) - before) / figures.count * 1e6
        if figures.failed:
            raise AssertionError(f"{self.name}, {what}: {figures.failed} of {figures.count} requests failed")
        if len(lines) > 1 and figures.count > len(lines):
            raise AssertionError(f"{self.name}, {what}: {len(lines)} sign-ins were not enough for {figures.count}")
        self.measured[what].append((microseconds, figures.rate, figures.p99 * 1000))

    def turn(self, folder, token):
        self.measure("page", ["/login"], folder)
        self.measure("start", ["/v1/auth/crowd"], folder)
        self.measure("session check", [f"/v1/userinfo Bearer {token}"], folder, "Authorization")
        new = [f"{self.name}{self.persons + number}" for number in range(self.subjects)]
        self.measure("callback, new", self.attempts(new), folder)
        # Only the first lines are used again: wrk uses the lines in order, so the first quarter of them has certainly
        # been requested.
        known = (new[: self.subjects // 8] * 8)[: self.subjects]
        self.measure("callback, known", self.attempts(known), folder)
        self.persons += self.subjects


def start_peer(database, issuer, python):
    port, folder = free_port(), workspace("peer")
    environment = {"ISSUER": issuer, "CLIENT": crowd_provider.CLIENT, "SECRET": crowd_provider.SECRET, "ORIGIN": ORIGIN,
                   "DATABASE": database, "KEY": secrets.token_hex(32)}  # fmt: skip
    words = [python, "-B", "-m", "uvicorn", "gateway_peer:app", "--port", port, "--workers", 2, "--loop", "uvloop",
             "--http", "httptools", "--no-access-log", "--backlog", 4096]  # fmt: skip
    peer = Child(words, folder / "log", environment, directory=TOP / "Tests/tools/Bench")
    peer.wait_for(lambda: is_listening(port), "the peer listens")
    return peer, port


def percentile(times, part):
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


def crowd_at_once(database, count, milliseconds, replicas):
    """Sends callbacks at the same moment, with a slow provider, while another process requests pages."""
    gateways = Replicas(database, count=replicas, milliseconds=milliseconds).start()
    try:
        contenders = [Contender("gateway", one.port, one.child.process.pid, 0) for one in gateways.all]
        times, pages, failed, most = [], [], 0, 0
        for turn in range(TURNS):
            lines = [contenders[number % replicas].attempts([f"crowd{turn}.{number}"])[0] for number in range(count)]
            requests = [line.partition(" ") for line in lines]
            raw = [f"GET {target} HTTP/1.1\r\nHost: id.example\r\nCookie: {cookie}\r\n\r\n".encode()
                   for target, _, cookie in requests]  # fmt: skip
            looking = look(contenders[0].port, 1.2)
            time.sleep(0.4)
            answers = [None] * replicas

            def send(number):
                answers[number] = at_once(contenders[number].port, raw[number::replicas])

            threads = [threading.Thread(target=send, args=[number]) for number in range(replicas)]
            for thread in threads:
                thread.start()
            time.sleep(milliseconds / 1000 * 0.9)
            most = max(most, memory(contenders[0].pid))
            for thread in threads:
                thread.join()
            pages += json.loads(looking.communicate()[0])
            for taken, statuses in answers:
                times += taken
                failed += sum(status != b"303" for status in statuses)
        if failed:
            raise AssertionError(f"{failed} of {count * TURNS} callbacks at once failed")
        return percentile(times, 0.99) * 1000, percentile(pages, 0.99) * 1000, most
    finally:
        gateways.stop()


def main():
    raise_files()
    python = os.environ["PEER_PYTHON"]
    server = PostgreSQL()
    replicas = Replicas(server.url, count=1).start()
    gateway = replicas.all[0]
    issuer = gateway.settings["providers"]["crowd"]["issuer"]
    peer, port = start_peer(server.url, issuer, python)
    folder = workspace("bench")
    contenders = [Contender("gateway", gateway.port, gateway.child.process.pid, 12_000),
                  Contender("peer", port, peer.process.pid, 4_000)]  # fmt: skip
    tokens = [contender.session("first") for contender in contenders]
    for turn in range(TURNS):
        for contender, token in zip(contenders, tokens):
            contender.turn(folder, token)
        print(f"turn {turn + 1} of {TURNS}", file=sys.stderr)
    print("| operation | goal | gateway, CPU | peer, CPU | rates | p99 | p99 of the peer |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for what, goal in GOALS.items():
        ours, theirs = ([statistics.median(column) for column in zip(*contender.measured[what])]
                        for contender in contenders)  # fmt: skip
        print(f"| {what} | {f'≤ {goal} µs' if goal else ''} | {ours[0]:.0f} µs | {theirs[0]:.0f} µs | "
              f"{ours[1]:.0f}/s against {theirs[1]:.0f}/s, {ours[1] / theirs[1]:.1f} × | {ours[2]:.1f} ms | "
              f"{theirs[2]:.1f} ms |", flush=True)  # fmt: skip
    ours, theirs = (memory(contender.pid) for contender in contenders)
    print(f"memory after it: {ours:.0f} MB, the peer's {theirs:.0f} MB", flush=True)
    peer.stop()
    beside_nginx(contenders[0], folder, tokens[0], TURNS)
    replicas.stop()
    for count, number in ((400, 2), (400, 3), (256, 1)):
        late, page, most = crowd_at_once(server.url, count, 200, number)
        print(f"{count} callbacks at once, {number} replicas, a provider of 200 ms: p99 {late:.0f} ms; pages meanwhile "
              f"p99 {page:.1f} ms; memory of a replica {most:.0f} MB", flush=True)  # fmt: skip
    server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
