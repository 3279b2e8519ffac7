"""64 threads in each of 8 processes ask for an expired token, again and again: one request is sent, and all 512
threads get the same token (reliability.md, Renewal across threads and processes)."""

from cases import FACES, LIFETIME, LONG, Asker, Crowd, ProcessCase

THREADS, PROCESSES = 64, 8
#: The session's own token, and tokens for other audiences (RFC 8707).
AUDIENCES = [{}, {"resource": "https://api.example.com/"}, {"resource": "https://files.example.com/", "scope": "openid"}]
ROUNDS = 1000 if LONG else 20


class OneRequest(ProcessCase):
    def crowds(self, count):
        """Processes that use the C library."""
        crowds = []
        for _ in range(count):
            crowd = Crowd(self.clock.environment, self.configuration(), self.store, THREADS)
            self.addCleanup(crowd.close)
            crowds.append(crowd)
        return crowds

    def rounds(self, crowds, count, title):
        """In each round one request is sent, 512 calls succeed, and all get one token, which differs from the
        token of the round before."""
        last = None
        requests = successes = 0
        for number in range(1, count + 1):
            self.clock.advance(LIFETIME)
            self.sandbox.control("resetCounts")
            for crowd in crowds:
                crowd.go()
            answers = [crowd.answer() for crowd in crowds]
            good = sum(answer[0] for answer in answers)
            bad = sum(answer[1] for answer in answers)
            tokens = set().union(*(answer[2] for answer in answers))
            sent = self.refreshes()
            requests += sent
            successes += good
            logs = "" if bad == 0 else "\n".join(crowd.log for crowd in crowds)
            self.assertEqual((sent, good, bad, len(tokens)), (1, THREADS * len(crowds), 0, 1), f"round {number} {logs}")
            self.assertNotEqual(tokens, last, f"round {number}")
            last = tokens
        print(
            f"{title}: {THREADS} threads x {len(crowds)} processes x {count} rounds: {requests} requests,"
            f" {successes} successes, 1 request in each round", flush=True)

    def test_from_the_library(self):
        self.sign_in(self.open(FACES[0]))
        self.rounds(self.crowds(PROCESSES), ROUNDS, "library")

    def test_from_libraries_daemons_and_swift_on_one_store(self):
        self.sign_in(self.open(FACES[0]))
        crowds = self.crowds(PROCESSES // 2)
        others = [face for face in FACES if face.name in ("jsonrpc", "swift")]
        if not others:
            self.skipTest("only faces of the C library were named; this test also needs jsonrpc or swift")
        for index in range(PROCESSES - len(crowds)):
            crowds.append(Asker(self.open(others[index % len(others)]), THREADS))
        self.rounds(crowds, ROUNDS // 10 if LONG else 5, "mixed")

    def test_a_process_that_looked_before_another_one_renewed_does_not_renew_again(self):
        """One process has read the old epoch, and gets the lock only after another process has renewed."""
        for face in FACES:
            with self.subTest(face=face.name):
                self.begin(30)
                first = self.open(FACES[0])
                self.sign_in(first)
                late = self.open(face, self.clock.stopping("before flock .renew 1"))
                self.clock.advance(LIFETIME)
                self.sandbox.control("resetCounts")
                pending = late.start("token.access", {})
                late.stopped()
                renewed = first.call("token.access")["accessToken"]
                late.go_on()
                self.assertEqual(pending.result()["accessToken"], renewed)
                self.assertEqual(self.refreshes(), 1)

    def test_processes_that_want_several_audiences_send_one_request_for_each(self):
        """Each request uses up the refresh token that the previous request returned."""
        self.sign_in(self.open(FACES[0]))
        clients = [self.open(FACES[index % len(FACES)]) for index in range(6)]
        for number in range(1, 6):
            self.clock.advance(LIFETIME)
            self.sandbox.control("resetCounts")
            pending = [client.start("token.access", dict(audience)) for client in clients for audience in AUDIENCES]
            tokens = [one.result(120).get("accessToken") for one in pending]
            for index in range(len(AUDIENCES)):
                self.assertEqual(len(set(tokens[index :: len(AUDIENCES)])), 1, f"round {number}: {tokens}")
            self.assertEqual(len(set(tokens)), len(AUDIENCES))
            self.assertEqual(self.refreshes(), len(AUDIENCES), f"round {number}")
            self.assertNotIn("end", self.session())

    def test_a_process_that_waited_for_another_audience_has_a_turn_of_its_own(self):
        for face in FACES:
            with self.subTest(face=face.name):
                self.begin(30)
                first = self.open(FACES[0])
                self.sign_in(first)
                late = self.open(face, self.clock.stopping("before flock .renew 1"))
                self.clock.advance(LIFETIME)
                self.sandbox.control("resetCounts")
                pending = late.start("token.access", {})
                late.stopped()
                other = first.call("token.access", resource=AUDIENCES[1]["resource"])["accessToken"]
                late.go_on()
                own = pending.result()["accessToken"]
                self.assertNotEqual(own, other)
                self.assertEqual(self.refreshes(), 2)
                self.assertEqual(first.call("token.access")["accessToken"], own)
                self.assertEqual(self.refreshes(), 2)

    # The sandbox accepts a rotated token for 30 more seconds, as Okta does.
    def test_an_answer_that_is_lost_after_the_rotation_loses_nobody_when_the_provider_has_a_grace(self):
        self.sign_in(self.open(FACES[0]))
        crowds = self.crowds(PROCESSES)
        self.sandbox.control("fault", fault="dropAfter", endpoint="token", times=1)
        self.clock.advance(LIFETIME)
        self.sandbox.control("resetCounts")
        for crowd in crowds:
            crowd.go()
        answers = [crowd.answer() for crowd in crowds]
        self.assertEqual({answer[:2] for answer in answers}, {(THREADS, 0)})
        self.assertEqual(len(set().union(*(answer[2] for answer in answers))), 1)
        self.assertEqual(self.refreshes(), 2)
