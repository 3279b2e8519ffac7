"""Tests that the statuses in the comments of the header are those in the manifest."""

import os
import sys
import unittest
from pathlib import Path

from processes import TOP

sys.path.insert(0, str(TOP / "scripts"))
import header  # noqa: E402
from generator import c  # noqa: E402
from generator.manifest import Manifest, snake  # noqa: E402

ENROLLD = Path(os.environ.get("ENROLLD", TOP / ".build/debug/enrolld"))
#: The commands whose statuses differ, each with the reason: {command: (only in the header, only in the manifest)}.
DIFFERENT = {
    "client.open": (set(), {"notFound"}),  # the file of configurationName
    "registration.begin": ({"json"}, set()),  # `parameters` is JSON text in C
    "resource.discover": ({"json"}, set()), "resource.register": ({"json"}, set()),  # for the same reason
    "registration.resume": (set(), {"notFound"}),  # enroll_registration_resume_transaction names the transaction
    "url.handle": ({"redirectMismatch", "unsolicited"}, set()),  # "excepted" in the comment
    "events.unsubscribe": ({"notFound"}, set()),  # a subscription has a number in C
}


class HeaderTests(unittest.TestCase):
    def test_header_and_manifest_name_the_same_errors_of_each_command(self):
        manifest, read = Manifest.read(ENROLLD), header.read()
        functions = {function.name: function for function in read.functions}
        own, _ = c.exceptions()
        status = {c.constant(error["status"]): error["status"] for error in manifest.errors}
        common = {*manifest.document["commonErrors"]["every"], *manifest.document["commonErrors"]["client"]}
        for command in manifest.commands:
            with self.subTest(command["name"]):
                if own.get(command["name"]) == "enroll_call":
                    continue  # one function for many commands
                function = functions[own.get(command["name"]) or "enroll_" + snake(command["name"])]
                said = {status[name] for name in read.statuses(function) if name in status} - common
                named = set(command["errors"])
                self.assertEqual(
                    (said - named, named - said), DIFFERENT.get(command["name"], (set(), set())),
                    f"{function.name}: the comment and `fails:` of {command['name']} differ: (header alone, manifest alone)",
                )  # fmt: skip


if __name__ == "__main__":
    unittest.main()
