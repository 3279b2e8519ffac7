"""Tests that the generator splits a name of the manifest into words, and makes the names in other languages
from these words."""

import sys
import unittest

from processes import TOP

sys.path.insert(0, str(TOP / "scripts"))
from generator.manifest import pascal, snake  # noqa: E402


class WordTests(unittest.TestCase):
    def test_a_word_with_capitals_inside_is_one_word(self):
        for name, word, type_name in (
            ("requiresDPoP", "requires_dpop", "RequiresDPoP"), ("dpop.proof", "dpop_proof", "DpopProof"),
            ("handleURL", "handle_url", "HandleURL"), ("DPoPKey", "dpop_key", "DPoPKey"),
        ):
            self.assertEqual((snake(name), pascal(name)), (word, type_name))


if __name__ == "__main__":
    unittest.main()
