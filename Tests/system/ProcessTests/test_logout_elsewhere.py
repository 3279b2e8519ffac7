"""Tests a logout in one process while another process renews (R35). A third process has the token in its
memory, and may return it from there for one second (store.md, Memory and the disk). The library, the daemon
and Swift each play all three roles."""

import itertools

from cases import FACES, LIFETIME, LONG, ProcessCase


class LogoutElsewhere(ProcessCase):
    def test_the_late_answer_is_revoked_and_not_stored(self):
        for renewing, leaving in self.pairs():
            with self.subTest(renewing=renewing.name, leaving=leaving.name):
                self.log_out_during_a_renewal(renewing, leaving)

    def log_out_during_a_renewal(self, renewing, leaving):
        self.begin(30)
        self.pass_through_gate()
        renewer, leaver = self.open(renewing), self.open(leaving)
        self.sign_in(renewer)
        self.clock.advance(LIFETIME)
        self.gate.stop("answer")
        renewal = renewer.start("token.access", {})
        self.gate.reached()
        # At this moment the provider has replaced the refresh token, and its answer is on the way. The logout does not
        # wait for it, and sends no request.
        leaver.call("logout.begin", localOnly=True)
        self.assertEqual(self.end(), None)
        self.gate.release()
        self.assertEqual(renewal.result()["outcome"], "reauthenticate")
        self.assertEqual(self.end(), "revoked", "the late answer")
        for client in (renewer, leaver, self.open(FACES[-1])):
            self.assertEqual(client.call("token.access")["outcome"], "reauthenticate")
            client.close()
        self.gate.close()

    def test_whoever_has_the_token_in_memory_believes_it_for_one_second(self):
        for leaving in FACES:
            with self.subTest(leaving=leaving.name):
                self.log_out_beside_memory(leaving)

    def log_out_beside_memory(self, leaving):
        self.begin(30)
        leaver = self.open(leaving)
        token = self.sign_in(leaver)
        holders = [self.open(face) for face in FACES]
        for holder in holders:
            self.assertEqual(holder.call("token.access")["accessToken"], token)
        leaver.call("logout.begin")
        self.assertEqual(self.end(), "revoked")
        self.clock.advance(1)
        for holder in holders:
            self.assertEqual(holder.call("token.access")["outcome"], "reauthenticate", "a second later")
            holder.close()
        leaver.close()

    def pairs(self):
        if LONG:
            return list(itertools.product(FACES, FACES))
        return list(zip(FACES, FACES[1:] + FACES[:1]))

    def end(self):
        return self.session().get("end")
