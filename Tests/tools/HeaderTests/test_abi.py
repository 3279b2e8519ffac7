"""Runs scripts/check-abi over changed headers, some of which would break programs."""

import re
import subprocess
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import header

TOP = header.TOP
loader = SourceFileLoader("check_abi", str(TOP / "scripts/check-abi"))
check_abi = module_from_spec(spec_from_loader("check_abi", loader))
loader.exec_module(check_abi)
HEADER = (TOP / "include/enroll.h").read_text()

#: Changes that break programs: a pattern of the header, and its replacement.
BREAKS = {
    "a function removed": (r"^void enroll_wipe\(.*?\);\n", ""),
    "a function renamed": (r"\benroll_wipe\(", "enroll_erase("),
    "a parameter wider": (r"enroll_blame_name\(int32_t blame\)", "enroll_blame_name(int64_t blame)"),
    "a parameter signed": (r"enroll_constant_name\(size_t index\)", "enroll_constant_name(int64_t index)"),
    "a parameter added": (r"enroll_wipe\(void \*memory, size_t size\)", "enroll_wipe(void *memory, size_t size, int how)"),
    "parameters in another order": (r"enroll_wipe\(void \*memory, size_t size\)", "enroll_wipe(size_t size, void *memory)"),
    "another result": (r"^uint32_t enroll_abi_version", "uint64_t enroll_abi_version"),
    "a member wider": (r"  int32_t active_reason;", "  int64_t active_reason;"),
    "a member gone": (r"  int32_t remedy;\n", ""),
    "members in another order": (r"(  int32_t blame;\n)(.*?)(  int32_t is_retryable;\n)", r"\3\2\1"),
    "a member in the middle": (r"  int32_t is_settled;\n", "  int32_t is_settled;\n  int64_t newer;\n"),
    "a member wider, and one at the end": (r"  int32_t outcome;(.*?)\} enroll_access;",
                                           r"  int64_t outcome;\1  int64_t newer;\n} enroll_access;"),
    "a text shorter": (r"#define ENROLL_FIELD_CAPACITY 64", "#define ENROLL_FIELD_CAPACITY 32"),
    "a callback with another parameter": (r"(\(\*enroll_begin_callback\)\(void \*user_data, )enroll_status", r"\1int64_t"),
    "a host's function with another parameter": (r"(\(\*save\)\(void \*user_data, const char \*name), const", r"\1, int how, const"),
    "two constants exchanged": (
        r"#define ENROLL_STEP_BROWSER 1(.*?)#define ENROLL_STEP_EMAIL_PENDING 2",
        r"#define ENROLL_STEP_BROWSER 2\1#define ENROLL_STEP_EMAIL_PENDING 1"),
    "a status with another number": (r"#define ENROLL_E_JSON \(-80\)", "#define ENROLL_E_JSON (-81)"),
    "a constant gone": (r"#define ENROLL_OFFER_REGISTER 2\n", ""),
    "a status wider": (r"typedef int32_t enroll_status;", "typedef int64_t enroll_status;"),
}  # fmt: skip

#: Changes that only add something.
ADDITIONS = {
    "a function": (r"^(void enroll_wipe\()", r"void enroll_newer(void);\n\n\1"),
    "a member at a struct's end": (r"\n\} enroll_access;", "\n  int64_t newer;\n} enroll_access;"),
    "a constant": (r"(#define ENROLL_OFFER_REGISTER 2\n)", r"\1#define ENROLL_OFFER_NEWER 4\n"),
}


def check(pattern, replacement):
    changed, count = re.subn(pattern, replacement, HEADER, flags=re.M | re.S)
    if count == 0 or changed == HEADER:
        raise AssertionError(f"the header has no {pattern}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "enroll.h"
        path.write_text(changed)
        return subprocess.run([TOP / "scripts/check-abi", path], capture_output=True, text=True)


class AbiTests(unittest.TestCase):
    def test_the_header_keeps_what_was_promised(self):
        told = subprocess.run([TOP / "scripts/check-abi"], capture_output=True, text=True)
        self.assertEqual(told.returncode, 0, told.stdout + told.stderr)

    def test_the_promise_holds_all_of_the_header_and_no_machines_path(self):
        text = (TOP / "Tests/tools/HeaderTests/libenroll.abi").read_text()
        self.assertNotRegex(text, r"='/")
        functions = set(re.findall(r"elf-symbol name='(enroll_\w+)' type='func-type'", text))
        self.assertGreater(len(functions), 80)
        for name in ("enroll_error", "enroll_http_request", "enroll_transport"):
            self.assertRegex(text, rf"<class-decl name='{name}' size-in-bits=")

    def test_new_words_alone_change_nothing(self):
        told = check(r"Bytes that the library owns", "Bytes of the library's")
        self.assertEqual((told.returncode, told.stdout), (0, "abi: as promised\n"))

    def test_what_is_new_passes_and_is_said(self):
        for name, change in ADDITIONS.items():
            with self.subTest(name):
                told = check(*change)
                self.assertEqual(told.returncode, 0, told.stdout + told.stderr)
                self.assertRegex(told.stdout, "(?i)newer")
                self.assertIn("--renew", told.stdout)


    def test_what_a_later_version_adds_says_since_when(self):
        promised = (TOP / "Tests/tools/HeaderTests/libenroll.abi").read_text()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "enroll.h"
            for comment, said in (("Newer.", ["enroll_newer"]), ("Newer.\n *  Since 0.2.0.", [])):
                path.write_text(HEADER.replace("/** Overwrites", f"/** {comment} */\nvoid enroll_newer(void);\n\n/** Overwrites"))
                self.assertEqual(check_abi.undated(header.read(path), promised, "0.2.0"), said)
            self.assertEqual(check_abi.undated(header.read(path), "", "0.1.0"), [])


def breaking(name, change):
    def test(self):
        told = check(*change)
        self.assertEqual(told.returncode, 1, told.stdout + told.stderr)
        self.assertIn("this breaks programs", told.stdout)

    setattr(AbiTests, "test_found: " + name, test)


for row in BREAKS.items():
    breaking(*row)
