"""Kills under load: HAProxy, three replicas, a PostgreSQL primary and its synchronous standby. A user whose sign-in was
confirmed is signed in, no user has two accounts, and sign-ins continue within seconds.

TORTURE=1: 100 kills; after every tenth kill, a key is added and a replica is replaced.
"""

import asyncio
import collections
import signal
import threading
import time
import unittest

from balancers import HAProxy
from cluster import Cluster
from crowd import LONG, Attempt, Broken, Replicas, Wire, raise_files, session_of, sql
from processes import wait_until

KILLS = 100 if LONG else 3
BROWSERS = 12
#: How often each user signs in, from several browsers at once.
VISITS = 4
GAP_SECONDS = 5
PROMOTION_SECONDS = 10


class Load:
    """Browsers that sign in again and again, and record the answers."""

    def __init__(self, balancer):
        self.balancer = balancer
        self.turn = 0
        self.is_over = False
        #: `moments`: the times of the sign-ins. `acknowledged`: the user of each session, by the hash of the
        #: session's token.
        self.moments, self.acknowledged = [time.monotonic()], {}
        self.refused = collections.Counter()
        self.failure = None

    async def browse(self):
        wire = None
        while not self.is_over:
            try:
                wire = wire or await asyncio.wait_for(Wire.open(self.balancer.port, self.balancer.tls), 10)
                self.turn += 1
                subject = f"person{self.turn // VISITS}"
                attempt = Attempt(self.taken(await asyncio.wait_for(wire.ask("/v1/auth/crowd"), 40)), subject)
                reply = self.taken(await asyncio.wait_for(wire.ask(attempt.target, headers=attempt.headers), 40))
                self.moments.append(time.monotonic())
                self.acknowledged[session_of(reply)] = subject
            except (Broken, OSError) as broken:
                self.refused[str(broken)[:40]] += 1
                if wire:
                    wire.close()
                wire = None
                await asyncio.sleep(0.05)

    def taken(self, reply):
        """Whether an answer is final. A refusal with a message is not: the user sees it and tries again."""
        if reply.status == 303 and (reply.header("location").startswith("http") or session_of(reply)):
            return reply
        raise Broken(f"status {reply.status}")

    async def browse_together(self):
        # The first failure ends all browsers.
        await asyncio.gather(*(self.browse() for _ in range(BROWSERS)))

    def run(self):
        try:
            asyncio.run(self.browse_together())
        except Exception as failure:
            self.failure = failure

    def wait_for(self, count):
        """Waits until `count` more sign-ins have succeeded."""
        wanted = len(self.moments) + count
        wait_until(lambda: self.failure or len(self.moments) >= wanted, "people sign in")
        if self.failure:
            raise self.failure

    def gaps(self, kills):
        """The longest time without a sign-in after each kill.

        - Parameter kills: the time and the kind of each kill. Sign-ins must have succeeded before each kill."""""
        longest, latest = [0] * len(kills), -1
        for before, after in zip(self.moments, self.moments[1:]):
            while latest + 1 < len(kills) and kills[latest + 1][0] <= after:
                latest += 1
            if latest >= 0:
                longest[latest] = max(longest[latest], after - before)
        return longest


class Failover(unittest.TestCase):
    def test_kills_lose_no_sign_in_and_double_none(self):
        raise_files()
        self.cluster = Cluster()
        self.addCleanup(self.cluster.stop)
        self.replicas = Replicas(self.cluster.url).start()
        self.addCleanup(self.replicas.stop)
        self.balancer = HAProxy(self.replicas).start()
        self.addCleanup(self.balancer.stop)
        self.promotions, self.kills = [], []
        self.load = Load(self.balancer)
        began = time.monotonic()
        # The load runs on another thread: the kills start new processes, and a process ends with the thread that
        # started it, so this thread must start them.
        browsers = threading.Thread(target=self.load.run, daemon=True)
        browsers.start()
        try:
            self.kill_and_rotate()
        finally:
            self.load.is_over = True
            browsers.join(60)
        self.judge(time.monotonic() - began)

    def kill_and_rotate(self):
        for number in range(KILLS):
            self.load.wait_for(50)
            # Of ten kills, seven kill a replica, one kills the primary and promotes the standby, one kills the
            # primary and restarts it, and one kills the standby.
            kind = ("replica", "promote", "primary", *["replica"] * 3, "standby", *["replica"] * 3)[number % 10]
            self.kills.append((time.monotonic(), kind))
            getattr(self, kind)(number)
            if number % 10 == 9:
                self.rotate(number)
        self.load.wait_for(50)

    def replica(self, number):
        gateway = self.replicas.all[number % 3]
        gateway.kill()
        gateway.start()

    def primary(self, _):
        self.cluster.kill_primary()

    def standby(self, _):
        self.cluster.kill_standby()

    def promote(self, _):
        killed = self.cluster.promote()
        promoted = time.monotonic()
        self.load.wait_for(1)
        after = next(moment for moment in self.load.moments if moment > promoted)
        self.promotions.append(after - killed)
        self.cluster.follow()

    def rotate(self, number):
        """Adds a key for all replicas, and replaces one replica as an upgrade does."""
        gateway = self.replicas.all[number // 10 % 3]
        gateway.run("keys", "add", "--config", str(gateway.configuration))
        for one in self.replicas.all:
            one.signal(signal.SIGHUP)
        gateway.stop()
        gateway.start()

    def judge(self, seconds):
        load = self.load

        def rows(query):
            return sql(self.cluster.primary.url, query)

        kept = {token: subject for token, subject in rows("SELECT encode(token_hash, 'hex'), subject FROM sessions")}
        # The column `subject` has the issuer, a space and the subject.
        lost = [token for token, subject in load.acknowledged.items()
                if kept.get(token, "").rpartition(" ")[2] != subject]  # fmt: skip
        accounts, identities, orphans = (int(rows(query)[0][0]) for query in (
            "SELECT count(*) FROM accounts", "SELECT count(*) FROM identities",
            "SELECT count(*) FROM accounts WHERE id NOT IN (SELECT account FROM identities)"))  # fmt: skip
        persons = len(set(load.acknowledged.values()))
        promotion = max(self.promotions, default=0)
        gaps = collections.defaultdict(list)
        for (_, kind), gap in zip(self.kills, load.gaps(self.kills)):
            gaps[kind].append(gap)
        told = ", ".join(f"{len(each)} × {kind} {max(each):.2f} s" for kind, each in gaps.items())
        print(f"{KILLS} kills in {seconds:.0f} s: {len(load.acknowledged)} acknowledged sign-ins of "
              f"{persons} persons, {len(lost)} lost, {accounts - identities} doubled, {orphans} orphans, longest gap "
              f"by kind: {told}, longest promotion {promotion:.2f} s, refused and tried again: {dict(load.refused)}",
              flush=True)  # fmt: skip
        self.assertEqual(lost, [])
        self.assertEqual((accounts, orphans), (identities, 0))
        # There may be more accounts than users with an acknowledged sign-in: a sign-in that the gateway refused may
        # have made an account anyway.
        self.assertGreaterEqual(accounts, persons)
        self.assertLessEqual(max(max(each) for each in gaps.values()), GAP_SECONDS)
        self.assertLessEqual(promotion, PROMOTION_SECONDS)
        for gateway in self.replicas.all:
            self.assertTrue(gateway.child.is_running, f"{gateway.child.process.returncode}\n{gateway.log()[-2000:]}")
