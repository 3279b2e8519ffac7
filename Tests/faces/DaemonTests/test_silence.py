"""A host that never answers (json-rpc.md, What the daemon asks its host)."""

import unittest

import silence
from daemon import TIMEOUT, Refused

LONG = 2 * TIMEOUT


def setUpModule():
    unittest.addModuleCleanup(silence.begin().end)


def load_tests(loader, *_):
    """Leaves out `silence.Silence`, which is a test case in form only."""
    return loader.loadTestsFromTestCase(Silent)


class Silent(unittest.TestCase):
    def setUp(self):
        self.silence = silence.begin()
        self.daemon = self.silence.daemon

    def test_a_renewal_is_given_up_and_taken_up_again_and_a_late_answer_is_dropped(self):
        self.assertEqual(self.silence.renewal.result(timeout=LONG)["outcome"], "valid")
        self.assertEqual(self.daemon.log.count("an answer to no pending request"), 1)
        self.silence.begun.message(LONG)
        self.silence.listed.message(LONG)
        given_up = self.silence.given_up()
        self.assertIn(self.silence.first["id"], given_up)
        self.assertNotIn(self.silence.second["id"], given_up)

    def test_another_request_ends_with_timeout_long_before_the_deadline_of_its_call(self):
        with self.assertRaises(Refused) as caught:
            self.silence.begun.result(LONG)
        self.assertEqual(caught.exception.status, "timeout")
        self.assertIn("did not answer host.http.send within 30 s", caught.exception.message)

    def test_a_secret_that_does_not_come_leaves_the_store_locked(self):
        with self.assertRaises(Refused) as caught:
            self.silence.listed.result(LONG)
        self.assertEqual((caught.exception.status, caught.exception.data["retryable"]), ("storeLocked", True))
        self.assertIn("did not answer host.store.get in time", caught.exception.message)

    def test_a_secret_is_waited_for_no_longer_than_its_call(self):
        self.assertEqual(self.silence.hurried.result(LONG)["outcome"], "storeLocked")
        self.assertEqual(self.silence.given_up()[0], self.silence.hurried_question["id"])


if __name__ == "__main__":
    unittest.main()
