"""Many broken messages, some too long or too deep. Each message that must be answered gets exactly one answer,
the next good message works, and memory stays bounded (R36, R37, R38). By default there are 20,000 messages, and
one of 64 MiB; with TORTURE=1 there are a million messages, and one of 1 GiB.
"""

import collections
import json
import os
import subprocess
import tempfile
import threading
import unittest

import hostile
from daemon import ENROLLD, TIMEOUT, manifest

IS_LONG = os.environ.get("TORTURE") == "1"
COUNT = 1_000_000 if IS_LONG else 20_000
LONGEST = 1 << 30 if IS_LONG else 1 << 26
SEED = int(os.environ.get("SEED", 1))
MEMORY_KIB = 64 << 10


class Host:
    """Writes bytes, and counts the answers as they come."""

    def __init__(self, case, headers=False):
        home = tempfile.TemporaryDirectory(prefix="enrolld-hostile-")
        case.addCleanup(home.cleanup)
        own = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "DBUS_"))}
        self.log = open(home.name + "/stderr", "w+b")
        case.addCleanup(self.log.close)
        self.process = subprocess.Popen(
            [ENROLLD, "--log-level", "warning"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
            env={**own, "HOME": home.name})  # fmt: skip
        self.headers = headers
        # How often each (id, code) was answered, and the number of answered batches of each length.
        self.answers = collections.Counter()
        self.batches = collections.Counter()
        self._good = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, message):
        self.write(b"Content-Length: %d\r\n\r\n%s" % (len(message), message) if self.headers else message + b"\n")

    def write(self, text):
        self.process.stdin.write(text)

    def works(self):
        """Sends a good message and waits for its answer. By then every earlier message that needs no wait has its
        answer."""
        name = f"good {len(self._good)}"
        answered = self._good[name] = threading.Event()
        self.send(json.dumps({"jsonrpc": "2.0", "id": name, "method": "expiry.check", "params": {"expiresAt": 1, "now": 0}}).encode())
        self.process.stdin.flush()
        return answered.wait(TIMEOUT)

    def peak_kib(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

    def end(self):
        """- Returns: the exit status, after every answer was counted."""
        self.process.stdin.close()
        status = self.process.wait(TIMEOUT)
        self._reader.join(TIMEOUT)
        self.process.stdout.close()
        return status

    def _read(self):
        for text in self._messages(self.process.stdout):
            message = json.loads(text)
            if isinstance(message, list):
                self.batches[len(message)] += 1
            for answer in message if isinstance(message, list) else [message]:
                self._count(answer)

    def _count(self, answer):
        if "method" in answer:
            # This is an event: one of the messages subscribed to events.
            return
        assert answer["jsonrpc"] == "2.0" and ("result" in answer) != ("error" in answer), answer
        name = answer["id"]
        if isinstance(name, str) and name in self._good:
            assert "result" in answer, answer
            self._good[name].set()
            return
        code = answer.get("error", {}).get("code")
        self.answers[name, code if code in (-32700, -32600) else None] += 1

    def _messages(self, stream):
        if not self.headers:
            yield from stream
            return
        while line := stream.readline():
            stream.readline()
            yield stream.read(int(line.partition(b":")[2]))


class Hostile(unittest.TestCase):
    def bombard(self, count, headers):
        host = Host(self, headers)
        due, batches = collections.Counter(), collections.Counter()
        for number, message in enumerate(hostile.messages(manifest(), count, SEED)):
            if number % 10_000 == 0:
                self.assertTrue(host.works(), f"after {number} messages")
            host.send(message)
            for part in [message] if headers else hostile.lines(message):
                right = hostile.Due(part)
                due.update(right.answers)
                if right.is_batch and right.answers:
                    batches[len(right.answers)] += 1
        self.assertTrue(host.works())
        peak = host.peak_kib()
        self.assertEqual(host.end(), 0)
        missing, unasked = due - host.answers, host.answers - due
        self.assertEqual((missing, unasked), (collections.Counter(), collections.Counter()), f"seed {SEED}")
        self.assertEqual(host.batches, batches)
        self.assertLessEqual(peak, MEMORY_KIB)
        print(f"{count} messages, {due.total()} answers, {peak} KiB at most", flush=True)

    def test_each_broken_message_gets_the_answer_it_is_due_and_no_other_r36_r37_r38(self):
        self.bombard(COUNT, headers=False)

    def test_and_the_same_behind_headers(self):
        self.bombard(COUNT // 10, headers=True)

    def test_a_message_of_any_length_is_drained_and_refused_once_r36(self):
        for headers in (False, True):
            with self.subTest(headers=headers):
                host = Host(self, headers)
                self.assertTrue(host.works())
                if headers:
                    host.write(b"Content-Length: %d\r\n\r\n" % LONGEST)
                piece = b'{"a":"' + b"x" * ((1 << 20) - 6)
                for _ in range(LONGEST >> 20):
                    host.write(piece)
                if not headers:
                    host.write(b"\n")
                self.assertTrue(host.works())
                self.assertEqual(host.answers, {(None, -32600): 1})
                peak = host.peak_kib()
                self.assertLessEqual(peak, MEMORY_KIB)
                self.assertEqual(host.end(), 0)
                print(f"{LONGEST} bytes, {peak} KiB at most", flush=True)

    def test_nesting_of_any_depth_is_refused_r37(self):
        for opening, closing in ((b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")):
            for depth in (hostile.DEPTH, hostile.DEPTH + 2, 2048, 100_000):
                with self.subTest(opening=opening, depth=depth):
                    host = Host(self)
                    self.assertTrue(host.works())
                    pairs = depth // len(closing)
                    host.send(opening * pairs + b"1" + closing * pairs)
                    self.assertTrue(host.works())
                    # Unless the message is too deep, it is an empty batch, or not a request.
                    code = -32600 if depth <= hostile.DEPTH else -32700
                    self.assertEqual(host.answers, {(None, code): 1})
                    self.assertLessEqual(host.peak_kib(), MEMORY_KIB)
                    self.assertEqual(host.end(), 0)


if __name__ == "__main__":
    unittest.main()
