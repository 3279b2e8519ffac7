"""HAProxy and nginx as docs/gateway configures them: users sign in across replicas, limits count the user's own
address, and a replica that stops under load loses no request."""

import asyncio
import threading
import unittest

from balancers import HAProxy, Nginx
from crowd import Attempt, PostgreSQL, Replicas, Wire, in_a_loop, raise_files, session_of
from processes import wait_until

BROWSERS = 12
#: The limit of requests that begin a sign-in.
LIMIT = {"requests": 8, "seconds": 3_600}
#: The users' addresses: addresses of this machine that no proxy uses.
PERSON, OTHER = "127.0.0.2", "127.0.0.3"


class Load:
    """Browsers that request pages, sign in and open their account. Every answer must be as expected."""

    def __init__(self, balancer):
        self.balancer = balancer
        self.is_over = False
        self.failures, self.answered = [], 0

    async def ask(self, wire, target, status, **more):
        reply = await asyncio.wait_for(wire.ask(target, **more), 30)
        self.answered += 1
        if reply.status != status:
            raise AssertionError(f"{target}: {reply.status} {reply.body[:200]}")
        return reply, wire if reply.header("connection") != "close" else await self.open()

    async def open(self):
        return await Wire.open(self.balancer.port, self.balancer.tls)

    async def browse(self, number):
        turn = 0
        wire = await self.open()
        while not self.is_over:
            turn += 1
            try:
                _, wire = await self.ask(wire, "/login", 200)
                begun, wire = await self.ask(wire, "/v1/auth/crowd", 303)
                attempt = Attempt(begun, f"person{number}")
                came, wire = await self.ask(wire, attempt.target, 303, headers=attempt.headers)
                if not session_of(came):
                    raise AssertionError(f"no session: {came.headers}")
                session = [("Cookie", f"__Host-enroll={came.cookies['__Host-enroll']}")]
                _, wire = await self.ask(wire, "/account", 200, headers=session)
            except Exception as failure:
                self.failures.append(repr(failure))
                wire.close()
                wire = await self.open()

    async def browse_together(self):
        await asyncio.gather(*(self.browse(number) for number in range(BROWSERS)))

    def __enter__(self):
        self.thread = threading.Thread(target=lambda: asyncio.run(self.browse_together()), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join(60)


class _Balanced:
    """A balancer in front of three replicas on PostgreSQL."""

    kind = HAProxy

    @classmethod
    def setUpClass(cls):
        raise_files()
        cls.database = PostgreSQL()
        cls.addClassCleanup(cls.database.stop)

    def balanced(self, **settings):
        replicas = Replicas(self.database.url, **settings).start()
        self.addCleanup(replicas.stop)
        balancer = self.kind(replicas).start()
        self.addCleanup(balancer.stop)
        return replicas, balancer

    def test_people_sign_in_across_replicas(self):
        replicas, balancer = self.balanced()

        async def sign_in(number):
            """Sends each request on its own connection."""
            first = await Wire.open(balancer.port, balancer.tls)
            attempt = Attempt(await first.ask("/v1/auth/crowd"), f"someone{number}")
            second = await Wire.open(balancer.port, balancer.tls)
            reply = await second.ask(attempt.target, headers=attempt.headers)
            first.close(), second.close()
            return session_of(reply)

        async def together():
            return await asyncio.gather(*(sign_in(number) for number in range(30)))

        self.assertTrue(all(in_a_loop(together())))
        for gateway in replicas.all:
            self.assertIn("registered", gateway.log())

    def test_limits_count_the_persons_own_address_whatever_the_browser_claims(self):
        _, balancer = self.balanced(limits={"start": LIMIT})

        async def come(source, number):
            wire = await Wire.open(balancer.port, balancer.tls, source=source)
            claims = [("X-Forwarded-For", f"198.51.100.{number}"), ("Forwarded", f"for=198.51.100.{number}")]
            reply = await wire.ask("/v1/auth/crowd", headers=claims)
            wire.close()
            return reply

        async def all_of_it():
            replies = [await come(PERSON, number) for number in range(3 * LIMIT["requests"] + 1)]
            other = await come(OTHER, 1)
            attempt = Attempt(other, "audited")
            wire = await Wire.open(balancer.port, balancer.tls, source=OTHER)
            claim = ("X-Forwarded-For", "198.51.100.7")
            reply = await wire.ask(attempt.target, headers=[*attempt.headers, claim])
            wire.close()
            return replies, reply

        replies, signed_in = in_a_loop(all_of_it())
        self.assertEqual({reply.status for reply in replies}, {303, 429})
        self.assertEqual(replies[-1].status, 429)
        self.assertTrue(session_of(signed_in))
        # All replicas share the limit: together they allow little more than one replica does.
        self.assertLessEqual(sum(reply.status == 303 for reply in replies), 2 * LIMIT["requests"])
        addresses = {address for (address,) in self.database.rows("SELECT DISTINCT address FROM audit")}
        self.assertIn(OTHER, addresses)
        self.assertFalse([address for address in addresses if address.startswith("198.51.100.")])

    def test_a_replica_that_stops_under_load_loses_no_request(self):
        replicas, balancer = self.balanced()
        with Load(balancer) as load:
            for gateway in replicas.all:
                before = load.answered
                wait_until(lambda: load.answered > before + 200, "people sign in")
                gateway.stop()
                before = load.answered
                wait_until(lambda: load.answered > before + 200, "people sign in")
                gateway.start()
                signed_in = gateway.log().count("signed in")
                wait_until(lambda: gateway.log().count("signed in") > signed_in, "the balancer uses the replica again")
        failed = len(load.failures)
        print(f"{self.kind.name}: {load.answered} answers, {failed} failures, three replicas stopped", flush=True)
        self.assertEqual(load.failures, [])

    def test_probes_plain_http_and_large_heads_are_refused(self):
        _, balancer = self.balanced()

        async def all_of_it():
            wire = await Wire.open(balancer.port, balancer.tls)
            probe = await wire.ask("/readyz")
            plain = await (await Wire.open(balancer.plain)).ask("/login?a=1")
            wire = await Wire.open(balancer.port, balancer.tls)
            large = await wire.ask("/login", headers=[(f"X-{n}", "a" * 2_000) for n in range(15)])
            return probe, plain, large

        probe, plain, large = in_a_loop(all_of_it())
        self.assertEqual(probe.status, 404)
        self.assertEqual((plain.status, plain.header("location")), (301, "https://id.example/login?a=1"))
        self.assertIn(large.status, (400, 431))


class BehindHAProxy(_Balanced, unittest.TestCase):
    kind = HAProxy


class BehindNginx(_Balanced, unittest.TestCase):
    kind = Nginx
