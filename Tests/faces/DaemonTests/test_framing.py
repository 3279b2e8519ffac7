"""Tests of how messages are separated, and how long they may be (R36)."""

import json
import unittest

from daemon import Daemon

LIMIT = 1 << 20
CALL = {"jsonrpc": "2.0", "id": "call", "method": "expiry.check", "params": {"expiresAt": 1, "now": 0}}


def padded(size):
    """A request of `size` bytes."""
    request = json.dumps({**CALL, "padding": ""}).encode()
    return request.replace(b'"padding": ""', b'"padding": "' + b"x" * (size - len(request)) + b'"')


def headers(body, name=b"Content-Length", more=b""):
    return b"%s%s: %d\r\n\r\n%s" % (more, name, len(body), body)


class Case(unittest.TestCase):
    def daemon(self, **options):
        daemon = Daemon(**options)
        self.addCleanup(daemon.__exit__)
        return daemon

    def assertCalled(self, answer):
        self.assertEqual((answer["id"], answer["result"]["band"]), ("call", "due"))

    def assertTooLong(self, answer):
        self.assertEqual((answer["id"], answer["error"]["code"], answer["error"]["message"]),
                         (None, -32600, "Invalid Request"))


class Lines(Case):
    def test_a_message_may_come_byte_by_byte(self):
        daemon = self.daemon()
        for byte in json.dumps(CALL).encode() + b"\n":
            daemon.write(bytes([byte]))
        self.assertCalled(daemon.raw())

    def test_many_messages_may_come_at_once(self):
        daemon = self.daemon()
        daemon.write(b"".join(json.dumps({**CALL, "id": f"n{number}"}).encode() + b"\n" for number in range(2000)))
        self.assertEqual([daemon.raw()["id"] for _ in range(2000)], [f"n{number}" for number in range(2000)])

    def test_a_carriage_return_before_the_line_break_and_empty_lines_mean_nothing(self):
        daemon = self.daemon()
        daemon.write(b"\r\n \t\n\n" + json.dumps(CALL).encode() + b"\r\n\n")
        self.assertCalled(daemon.raw())
        daemon.end_input()
        self.assertIsNone(daemon.raw())

    def test_the_last_line_needs_no_line_break(self):
        daemon = self.daemon()
        daemon.write(json.dumps(CALL))
        daemon.end_input()
        self.assertCalled(daemon.raw())
        self.assertEqual(daemon.wait(), 0)

    def test_a_message_of_exactly_one_mebibyte_is_read(self):
        daemon = self.daemon()
        daemon.write(padded(LIMIT) + b"\n")
        self.assertCalled(daemon.raw())

    def test_a_longer_message_is_drained_and_refused_once_and_the_next_one_works_r36(self):
        daemon = self.daemon()
        for size in (LIMIT + 1, 3 * LIMIT, 20 * LIMIT):
            with self.subTest(size):
                daemon.write(padded(size) + b"\n" + json.dumps(CALL).encode() + b"\n")
                self.assertTooLong(daemon.raw())
                self.assertCalled(daemon.raw())
        daemon.write(b"[" * (2 * LIMIT))
        daemon.end_input()
        self.assertTooLong(daemon.raw())
        self.assertIsNone(daemon.raw())

    def test_a_long_message_is_not_kept_in_memory_r36(self):
        daemon = self.daemon()
        daemon.post(CALL)
        daemon.raw()
        for _ in range(256):
            daemon.write(b"x" * LIMIT)
        daemon.write(b"\n")
        self.assertTooLong(daemon.raw())
        with open(f"/proc/{daemon.process.pid}/status") as status:
            peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        self.assertLess(peak, 64 * 1024, "kB")

    def test_answers_are_one_line_each(self):
        daemon = self.daemon()
        daemon.post({"jsonrpc": "2.0", "id": "a\nb\r\u2028", "method": "system.describe"})
        answer = daemon.raw()
        self.assertEqual(answer["id"], "a\nb\r\u2028")


class Headers(Case):
    def test_answers_have_headers_when_requests_have(self):
        daemon = self.daemon(headers=True)
        self.assertEqual(daemon.call("expiry.check", expiresAt=1, now=0), {"band": "due", "secondsLeft": 1})

    def test_headers_may_come_byte_by_byte_in_any_case_and_with_others(self):
        daemon = self.daemon(headers=True)
        body = json.dumps(CALL).encode()
        for byte in headers(body, b"content-length", b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n"):
            daemon.write(bytes([byte]))
        self.assertCalled(daemon.raw())

    def test_messages_may_hold_line_breaks(self):
        daemon = self.daemon(headers=True)
        daemon.write(headers(json.dumps(CALL, indent=2).encode()) + headers(json.dumps(CALL).encode()))
        self.assertCalled(daemon.raw())
        self.assertCalled(daemon.raw())

    def test_a_longer_message_is_drained_and_refused_once_and_the_next_one_works_r36(self):
        daemon = self.daemon(headers=True)
        daemon.write(headers(padded(LIMIT)))
        self.assertCalled(daemon.raw())
        for size in (LIMIT + 1, 20 * LIMIT):
            daemon.write(headers(padded(size)) + headers(json.dumps(CALL).encode()))
            self.assertTooLong(daemon.raw())
            self.assertCalled(daemon.raw())

    def test_an_empty_message_is_a_parse_error(self):
        daemon = self.daemon(headers=True)
        daemon.write(headers(b"") + headers(json.dumps(CALL).encode()))
        self.assertEqual(daemon.raw()["error"]["code"], -32700)
        self.assertCalled(daemon.raw())

    def test_headers_without_a_usable_length_end_the_conversation_with_an_error(self):
        for text in (b"Content-Length: x\r\n\r\n{}", b"Content-Length: -1\r\n\r\n{}", b"Content-Length:\r\n\r\n{}",
                     b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", b"Content-Type: x\r\n\r\n{}",
                     b"Content-Length 2\r\n\r\n{}", b"Content-Length: 9999999999999999\r\n\r\n{}",
                     b"Content-Length: " + b"9" * 20_000):
            with self.subTest(text[:40]):
                daemon = self.daemon(headers=True)
                daemon.write(headers(json.dumps(CALL).encode()))
                self.assertCalled(daemon.raw())
                daemon.write(text)
                self.assertEqual(daemon.raw()["error"]["code"], -32700)
                self.assertEqual(daemon.wait(), 1)

    def test_an_end_inside_a_message_is_an_error(self):
        for text in (b"Content-Length: 10\r\n\r\n{", b"Content-Le", b"Content-Length: 99999999\r\n\r\n{"):
            with self.subTest(text):
                daemon = self.daemon(headers=True)
                daemon.write(text)
                daemon.end_input()
                self.assertEqual(daemon.raw()["error"]["code"], -32700)
                self.assertEqual(daemon.wait(), 1)


if __name__ == "__main__":
    unittest.main()
