"""Runs scripts/check-header over headers with missing comments."""

import re
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import header

loader = SourceFileLoader("check_header", str(header.TOP / "scripts/check-header"))
check_header = module_from_spec(spec_from_loader("check_header", loader))
loader.exec_module(check_header)

#: A pattern of the header, its replacement, and the fault that is reported.
GAPS = {
    "a function's comment": (r"/\*\* Overwrites `size`.*?\*/\n", "", "enroll_wipe: no comment"),
    "a constant's comment": (r"/\*\* The network between the device and the provider\. \*/\n", "", "ENROLL_BLAME_NETWORK: no comment"),
    "a member's comment": (r"  /\*\* ENROLL_ACTIVE_REASON_\*, while active\. \*/\n", "", "enroll_state.active_reason: no comment"),
    "a struct's comment": (r"/\*\* Describes an access token\. \*/\n", "", "enroll_access: no comment"),
    "a type's comment": (r"(/\*\* One account at one provider\. \*/\n)", "", "enroll_client: no comment"),
    "a parameter": (r"`redirect_uri` is the redirect URI that was\s+\*\s+sent, including a chosen port\.", "", "nothing of `redirect_uri`"),
    "a parameter of a callback": (r"its `name` \(", "its name (", "enroll_event_callback: says nothing of `name`"),
    "a misspelt parameter": (r"`capacity` bytes", "`capacities` bytes", "speaks of capacities"),
    "what a function returns": (r" \*  Returns ENROLL_OK; ENROLL_E_NOT_FOUND; \[call\]\.\n", "", "does not say what it returns"),
    "a status that is none": (r"ENROLL_E_UNSOLICITED; ENROLL_E_REDIRECT_MALFORMED; \[store\]",
                              "ENROLL_E_UNSOLICITTED; [store]", "ENROLL_E_UNSOLICITTED, which is no status"),
    "a group that is none": (r"Returns ENROLL_OK; \[call\]\.", "Returns ENROLL_OK; [calls].", "[calls], which"),
    "the handle's statuses": (r"Returns ENROLL_OK; \[call\]\.\n \*  Command: platform\.ready",
                              "Returns ENROLL_OK.\n *  Command: platform.ready", "when it returns ENROLL_E_HANDLE"),
    "a deadline's statuses": (r"\[store\]; \[wait\]; \[call\]\.\n \*  Command: token\.revoke",
                              "[store]; [call].\n *  Command: token.revoke", "when it returns ENROLL_E_CANCELLED"),
    "a store's statuses": (r"Returns ENROLL_OK; \[store\]; ENROLL_E_INVALID_ARGUMENT\.\n \*  Command: store\.diagnose",
                           "Returns ENROLL_OK; ENROLL_E_INVALID_ARGUMENT.\n *  Command: store.diagnose", "ENROLL_E_STORE_LOCKED"),
    "whose text it is": (r'(The library\'s version, "0\.1\.0"\. Never NULL); static, not to be freed', r"\1", "whose its text is"),
    "whether it returns NULL": (r'version, "0\.1\.0"\. Never NULL; static', 'version, "0.1.0". Static', "whether it returns NULL"),
    "whether a pointer may be NULL": (r'; never NULL\. \*/\n  const char \*url;', '. */\n  const char *url;', "whether it may be NULL"),
    "a unit": (r"  /\*\* Width of the screen in pixels; 0: not given\. \*/", "  /** Width of the screen; 0: not given. */",
               "enroll_client_options.platform_width: does not say its unit"),
    "what holds for all": (r"\n \* THREADS\. ", "\n * Threads: ", "the opening says nothing of THREADS"),
}  # fmt: skip


class ManualTests(unittest.TestCase):
    def faults(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "enroll.h"
            path.write_text(text)
            return list(check_header.check_manual(header.read(path)))

    def test_the_header_says_everything(self):
        self.assertEqual(self.faults(header.PATH.read_text()), [])

    def test_what_functions_return_is_read_with_all_that_they_refer_to(self):
        read = header.read()
        functions = {function.name: function for function in read.functions}
        self.assertEqual(read.everywhere, {"ENROLL_E_INTERNAL", "ENROLL_E_OUT_OF_MEMORY", "ENROLL_E_UNSUPPORTED"})
        self.assertEqual(read.groups["call"], {
            "ENROLL_E_HANDLE", "ENROLL_E_FORKED", "ENROLL_E_REENTRANT", "ENROLL_E_INVALID_ARGUMENT"})  # fmt: skip
        self.assertEqual(len(read.groups["store"]), 8)
        copied = read.statuses(functions["enroll_token_copy"])
        self.assertEqual(copied - read.statuses(functions["enroll_token_access"]), {"ENROLL_E_BUFFER_TOO_SMALL"})


def gap(name, change):
    pattern, replacement, said = change

    def test(self):
        text, count = re.subn(pattern, replacement, header.PATH.read_text(), count=1, flags=re.S)
        self.assertEqual(count, 1, "the header has no such text")
        faults = self.faults(text)
        self.assertTrue(any(said in fault for fault in faults), faults)

    setattr(ManualTests, "test_found missing: " + name, test)


for row in GAPS.items():
    gap(*row)
