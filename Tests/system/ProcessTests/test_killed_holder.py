"""Tests what the next processes get after a renewing process was killed at each point of a renewal. The providers
accept a rotated refresh token for 0, 5, 30 and 60 more seconds (reliability.md, Renewal across threads and processes).
"""

from cases import FACES, LIFETIME, LONG, ProcessCase
from faces import Refused

GRACES = (0, 5, 30, 60)
VALID, OVER = "valid", "reauthenticate"


class Window:
    """The point at which the renewing process (the holder) dies: at a file operation, or while a gate holds its
    request."""

    def __init__(self, name, kill=None, gate=None, is_rotated=False, is_stored=False):
        self.name = name
        self.kill = kill
        self.gate = gate
        self.is_rotated = is_rotated
        self.is_stored = is_stored

    def outcome(self, grace):
        """The expected result. The provider's grace period matters only if the token was rotated and never
        stored."""
        return OVER if self.is_rotated and not self.is_stored and grace == 0 else VALID


# The faces of the processes that wait for the holder, or start after it.
HEIRS = (FACES[0], FACES[-1])

# A process synchronizes the store's folder once, when it opens the store.
WINDOWS = [
    Window("turn taken, nothing written", "after flock .renew 1"),
    Window("space reserved, no intent", "after posix_fallocate .reserve 1"),
    Window("intent written, not named", "before renameat .record 1"),
    Window("intent named, folder not synced", "before fsync /tokens 2"),
    Window("intent durable, nothing sent", "after fsync /tokens 2"),
    Window("request arrived, not processed", gate="request"),
    Window("processed, answer not delivered", gate="answer", is_rotated=True),
    Window("half of the answer delivered", gate="half", is_rotated=True),
    Window("answer received, nothing written", "after flock .write 3", is_rotated=True),
    Window("answer written, not synced", "before fsync .temp 2", is_rotated=True),
    Window("answer synced, not named", "before renameat .record 2", is_rotated=True),
    Window("answer named, folder not synced", "before fsync /tokens 3", is_rotated=True, is_stored=True),
    Window("answer durable, not judged", "after fsync /tokens 3", is_rotated=True, is_stored=True),
    Window("judged, not handed out", "after fsync /tokens 4", is_rotated=True, is_stored=True),
]


class KilledHolder(ProcessCase):
    graces = GRACES

    def test_in_each_window_before_each_grace(self):
        holders = FACES if LONG else FACES[:1]
        for holder in holders:
            table = {}
            for window in WINDOWS:
                for grace in GRACES:
                    with self.subTest(holder=holder.name, window=window.name, grace=grace):
                        table[window, grace] = "failed"
                        table[window, grace] = self.run_window(holder, window, grace)
            self.show(holder, table)

    def run_window(self, holder, window, grace):
        self.begin(grace)
        self.pass_through_gate()
        first = self.open(holder)
        old = self.sign_in(first)
        first.close()
        self.clock.advance(LIFETIME)
        dying, heirs, pending = self.die(holder, window)
        self.assertEqual(dying.end(), -9)
        heirs = heirs or [self.open(face) for face in HEIRS]
        pending = pending or [heir.start("token.access", {}) for heir in heirs]

        answers = [answer.result() for answer in pending]
        self.assertEqual({answer["outcome"] for answer in answers}, {window.outcome(grace)}, answers)
        if window.outcome(grace) == VALID:
            self.assertNotIn(old, {answer["accessToken"] for answer in answers})
            self.assertEqual(len({answer["accessToken"] for answer in answers}), 1)
            self.clock.advance(LIFETIME)
            self.assertEqual({heir.call("token.access")["outcome"] for heir in heirs}, {VALID}, "the next renewal")
            self.assertIsNone(self.session().get("end"))
        else:
            self.assertEqual(self.session().get("end"), "reuse")
            self.sign_in(heirs[0])
            self.assertEqual(heirs[1].call("token.access")["outcome"], VALID, "after another sign-in")
        for client in [dying, *heirs]:
            client.close()
        self.gate.close()
        return window.outcome(grace)

    def die(self, holder, window):
        """Starts the holder, which is killed. At a gate, it also starts the processes that wait for the holder.
        Returns the holder, these processes and their calls; None for processes that were not started."""
        if window.kill:
            dying = self.open(holder, self.clock.dying(window.kill))
            with self.assertRaises(Refused):
                dying.call("token.access")
            self.check_generation(window)
            return dying, None, None
        self.gate.stop(window.gate)
        dying = self.open(holder)
        dying.start("token.access", {})
        self.gate.reached()
        # These processes start before the kill: they renew as soon as the holder is dead.
        self.check_generation(window)
        heirs = [self.open(face) for face in HEIRS]
        pending = [heir.start("token.access", {}) for heir in heirs]
        dying.kill()
        return dying, heirs, pending

    def check_generation(self, window):
        self.assertEqual(self.session()["generation"], 2 if window.is_rotated else 1, "not the window that it says")

    def show(self, holder, table):
        title = f"holder: {holder.name}; a rotated token works for"
        print(f"\n{title:<50}" + "".join(f"{f'{grace} s':<16}" for grace in GRACES))
        for window in WINDOWS:
            print(f"{window.name:<50}" + "".join(f"{table[window, grace]:<16}" for grace in GRACES))
        over = sum(outcome == OVER for outcome in table.values())
        print(f"{len(table)} deaths, {over} sign-ins asked for", flush=True)
