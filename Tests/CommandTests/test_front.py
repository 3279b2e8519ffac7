"""`enroll` as it is installed: a small program that prints tokens, and starts the full one for every other command line."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from cases import ENROLL, CommandCase
from processes import workspace
from terminal import TIMEOUT

HERE = Path(ENROLL).resolve()
FULL = HERE.parent.parent / "libexec/enrollkit/enroll"

SLOW_LOADER = r'''
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>
void *dlopen(const char *name, int flags) {
  if (name && strstr(name, "libcurl"))
    for (;;) pause();
  return ((void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen"))(name, flags);
}
'''


@unittest.skipUnless(FULL.exists(), "a debug build is the full program alone")
class Front(CommandCase):
    def alone(self, full=None):
        """Installed elsewhere, beside `full` in the place of the full program."""
        place = workspace("installed")
        (place / "bin").mkdir()
        shutil.copy(HERE, place / "bin/enroll")
        (place / "libexec/enrollkit").mkdir(parents=True)
        if full is not None:
            (place / "libexec/enrollkit/enroll").write_text(full)
            (place / "libexec/enrollkit/enroll").chmod(0o755)
        return place / "bin/enroll"

    def run_alone(self, program, *words, **options):
        return subprocess.run([program, *words], env=self.environment, capture_output=True, timeout=TIMEOUT, **options)

    def test_tokens_need_no_full_program_and_everything_else_names_it(self):
        self.sign_in()
        token = self.token()
        program = self.alone()
        self.assertEqual(self.run_alone(program, "token").stdout.decode().strip(), token)
        self.assertEqual(self.run_alone(program, "token", "--json", "--timeout=5").returncode, 0)
        for words in (["status"], ["token", "--timeout", "x"], ["--version"], [], ["token", "--help"]):
            with self.subTest(words):
                done = self.run_alone(program, *words)
                self.assertEqual((done.returncode, done.stdout), (1, b""))
                self.assertIn("/libexec/enrollkit/enroll cannot be started", done.stderr.decode())

    def test_the_full_program_gets_words_environment_and_descriptors_as_they_came(self):
        reader, writer = os.pipe()
        program = self.alone(
            f'#!/bin/sh\nprintf "%s\\n" "$0" "$@" "$ENROLL_PROFILE"; cat /dev/fd/{reader}; exit 9\n')
        os.write(writer, b"from a pipe")
        os.close(writer)
        self.addCleanup(os.close, reader)
        self.environment["ENROLL_PROFILE"] = "a profile"
        done = self.run_alone(program, "token", "--scop", "a b", "", "é", pass_fds=(reader,))
        self.assertEqual(done.returncode, 9, done.stderr)
        full = str(program.parent.parent / "libexec/enrollkit/enroll")
        self.assertEqual(
            done.stdout.decode().split("\n"), [full, "token", "--scop", "a b", "", "é", "a profile", "from a pipe"])

    def test_it_is_found_through_links(self):
        program = self.alone("#!/bin/sh\necho full\n")
        link = workspace("links") / "enroll"
        link.symlink_to(program)
        self.assertEqual(self.run_alone(link, "status").stdout, b"full\n")
        by_path = subprocess.run(
            ["enroll", "status"], env={**self.environment, "PATH": str(link.parent)}, capture_output=True,
            timeout=TIMEOUT)
        self.assertEqual(by_path.stdout, b"full\n")

    def test_words_that_are_no_text_are_refused_by_the_full_program(self):
        done = self.run_alone(HERE, b"token", b"--account", b"\xff")
        self.assertEqual(done.returncode, 2)
        self.assertIn("argument 3 is not UTF-8", done.stderr.decode())
        done = subprocess.run(
            [HERE, "token"], env={**{k.encode(): v.encode() for k, v in self.environment.items()}, b"ENROLL_STORE": b"\xff"},
            capture_output=True, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 2)
        self.assertIn("ENROLL_STORE is not UTF-8", done.stderr.decode())

    def test_ctrl_c_ends_what_it_started(self):
        program = self.alone("#!/bin/sh\nkill -INT $$; sleep 60\n")
        self.assertEqual(self.run_alone(program, "status").returncode, -2)

    def refusal(self, program, *words):
        done = self.run_alone(program, *(words or ("status",)))
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        return done.stderr.decode()

    def test_why_the_full_program_does_not_start_is_said(self):
        program = self.alone()
        full = program.parent.parent / "libexec/enrollkit/enroll"
        # As in the archives of platforms that have none: to install it again would not help.
        self.assertRegex(self.refusal(program), r"No such file or directory\. Without it this program prints tokens alone\. Sign in")
        full.mkdir()
        self.assertIn("Permission denied. Install EnrollKit again.", self.refusal(program))
        full.rmdir()
        full.write_bytes(b"")
        full.chmod(0o755)
        self.assertIn("Exec format error", self.refusal(program))
        full.unlink()
        full.symlink_to(program)
        self.assertIn("Too many levels of symbolic links", self.refusal(program))

    def test_it_is_found_where_names_are_no_text(self):
        program = self.alone("#!/bin/sh\necho full\n")
        place = os.fsencode(program.parent.parent.parent) + b"/\xff"
        os.rename(program.parent.parent, place)
        self.assertEqual(self.run_alone(place + b"/bin/enroll", "status").stdout, b"full\n")

    def test_a_deleted_program_says_that_it_does_not_know_its_place(self):
        program = self.alone("#!/bin/sh\necho full\n")
        kept = os.open(program, os.O_RDONLY)
        self.addCleanup(os.close, kept)
        program.unlink()
        done = self.run_alone(f"/proc/self/fd/{kept}", "status", pass_fds=(kept,))
        self.assertEqual(done.returncode, 1)
        self.assertIn("the system does not tell where this program is", done.stderr.decode())

    def test_streams_that_are_closed_stay_closed_for_the_full_program(self):
        program = self.alone("#!/bin/sh\nfor fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] && echo $fd >&2; done\n")
        done = self.run_alone("/bin/sh", "-c", 'exec "$0" status <&- >&-', str(program))
        self.assertEqual(done.stderr.decode().split(), ["2"])

    def test_a_token_that_cannot_wait_does_not_wait_for_the_loading_of_libcurl(self):
        """It is loaded beside the renewal, here by a loader that takes longer than the test waits."""
        self.sign_in()
        source = workspace("slow") / "slow.c"
        source.write_text(SLOW_LOADER)
        library = source.with_suffix(".so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        self.environment["LD_PRELOAD"] = str(library)
        done = self.run_alone(HERE, "token", "--renew", "--timeout", "0")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("the timeout passed before the request was sent", done.stderr.decode())
