"""A new user signs in 1,000 times at once, at three replicas: each round makes one account.

The replicas are three processes; with SQLite they share one file. With TORTURE=1, there are 100 rounds on
each database.
"""

import asyncio
import sqlite3
import time
import unittest

from crowd import LONG, Attempt, PostgreSQL, Replicas, Wire, in_a_loop, raise_files, session_of

ROUNDS = 100 if LONG else 1
AT_ONCE = 1_000


async def come_at_once(ports, subject):
    """Signs the user in, many times at once: all sign-ins begin before the first callback is sent.

    - Returns: how many sign-ins succeeded, and how many of them were first asked to try again."""
    wires = []
    for start in range(0, AT_ONCE, 200):
        wires += await asyncio.gather(*(Wire.open(ports[n % len(ports)]) for n in range(start, start + 200)))
    begun = await asyncio.gather(*(wire.ask("/v1/auth/crowd") for wire in wires))
    waiting = [(wire, Attempt(reply, subject)) for wire, reply in zip(wires, begun)]
    signed_in = again = 0
    while waiting:
        for wire, attempt in waiting:
            wire.send(attempt.target, attempt.headers)
        replies = await asyncio.gather(*(wire.receive() for wire, _ in waiting))
        refused = [one for one, reply in zip(waiting, replies) if session_of(reply) is None]
        for reply in replies:
            if session_of(reply) is None and reply.status != 503:
                raise AssertionError(f"{reply.status} {reply.header('location')} {reply.body[:300]}")
        signed_in += len(waiting) - len(refused)
        again += len(refused)
        if again > 5 * AT_ONCE:
            raise AssertionError(f"{again} were refused: {replies[0].body[:300]}")
        # The database did not save these sign-ins, so the test begins each of them again, as its user would.
        begun = await asyncio.gather(*(wire.ask("/v1/auth/crowd") for wire, _ in refused))
        waiting = [(wire, Attempt(reply, subject)) for (wire, _), reply in zip(refused, begun)]
    for wire in wires:
        wire.close()
    return signed_in, again


class Races(unittest.TestCase):
    def race(self, database, rows, what):
        replicas = Replicas(database).start()
        self.addCleanup(replicas.stop)
        ports = [gateway.port for gateway in replicas.all]
        began, refused = time.monotonic(), 0
        for number in range(1, ROUNDS + 1):
            signed_in, again = in_a_loop(come_at_once(ports, f"person{number}"))
            refused += again
            self.assertEqual(signed_in, AT_ONCE)
            counts = [rows(f"SELECT count(*) FROM {table}")[0][0] for table in ("accounts", "identities")]
            self.assertEqual([int(count) for count in counts], [number, number])
        orphans = rows("SELECT count(*) FROM accounts WHERE id NOT IN (SELECT account FROM identities)")
        self.assertEqual(int(orphans[0][0]), 0)
        print(f"{what}: {ROUNDS} rounds of {AT_ONCE} sign-ins at once in {time.monotonic() - began:.0f} s: "
              f"0 doubles, 0 orphans, {refused} asked to come again", flush=True)  # fmt: skip

    def setUp(self):
        raise_files()

    def test_on_one_file_of_sqlite_there_is_one_account(self):
        from processes import workspace

        path = workspace("race") / "gateway.db"

        def rows(query):
            database = sqlite3.connect(path)
            try:
                return database.execute(query).fetchall()
            finally:
                database.close()

        self.race(f"sqlite:{path}", rows, "SQLite")

    def test_in_postgresql_there_is_one_account(self):
        server = PostgreSQL()
        self.addCleanup(server.stop)
        self.race(server.url, server.rows, "PostgreSQL")
