"""`enroll` as a process: the arguments, streams, descriptors and libraries with which it starts."""

import os
import shutil
import subprocess
from pathlib import Path

from cases import ENROLL, CommandCase
from processes import workspace
from terminal import TIMEOUT

# A preloaded library in which loading libcurl never ends.
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


# A preloaded library that makes pthread_create fail.
NO_THREADS = r'''
#include <errno.h>
#include <pthread.h>
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  return EAGAIN;
}
'''


class Process(CommandCase):
    def run_as(self, program, *words, **options):
        return subprocess.run([program, *words], env=self.environment, capture_output=True, timeout=TIMEOUT, **options)

    def run_by_shell(self, line, *words):
        """Runs a shell line in which $0 is the program."""
        return self.run_as("/bin/sh", "-c", line, ENROLL, *words)

    # Arguments.

    def test_words_and_variables_that_are_not_utf_8_are_refused(self):
        done = self.run_as(ENROLL, b"token", b"--account", b"\xff")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn("argument 3 is not UTF-8", done.stderr.decode())
        # Arguments are checked before anything else, even --help.
        self.assertEqual(self.run_as(ENROLL, b"--help", b"\xff").returncode, 2)
        environment = {**{k.encode(): v.encode() for k, v in self.environment.items()}, b"ENROLL_STORE": b"\xff"}
        done = subprocess.run([ENROLL, "token"], env=environment, capture_output=True, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 2)
        self.assertIn("ENROLL_STORE is not UTF-8", done.stderr.decode())

    def test_words_reach_another_program_as_they_came(self):
        self.sign_in()
        reader, writer = os.pipe()
        os.write(writer, b"from a pipe")
        os.close(writer)
        self.addCleanup(os.close, reader)
        self.environment["ENROLL_PROFILE"] = "default"
        script = f'printf "%s\\n" "$@" "$ENROLL_PROFILE"; cat /dev/fd/{reader}; exit 9'
        words = ("token", "--scop", "a b", "", "é", "--", "--help")
        done = self.run_as(ENROLL, "exec", "--", "sh", "-c", script, "sh", *words, pass_fds=(reader,))
        self.assertEqual(done.returncode, 9, done.stderr)
        self.assertEqual(done.stdout.decode().split("\n"), [*words, "default", "from a pipe"])

    # The file of the program.

    def test_it_runs_from_a_link_from_a_folder_whose_name_is_not_utf_8_and_after_it_was_deleted(self):
        place = os.fsencode(workspace("installed")) + b"/\xff"
        os.mkdir(place)
        shutil.copy(Path(ENROLL).resolve(), place + b"/enroll")
        link = workspace("links") / "enroll"
        link.symlink_to(os.fsdecode(place + b"/enroll"))
        for program in (place + b"/enroll", link):
            self.assertRegex(self.run_as(program, "--version").stdout, rb"^enroll \d")
        kept = os.open(place + b"/enroll", os.O_RDONLY)
        self.addCleanup(os.close, kept)
        os.unlink(place + b"/enroll")
        self.assertEqual(self.run_as(f"/proc/self/fd/{kept}", "--version", pass_fds=(kept,)).returncode, 0)

    # Standard streams.

    def test_missing_standard_streams_are_opened_and_nothing_else_stands_in_their_place(self):
        self.sign_in()
        # Output to a closed stream is lost: the status says that the token was not printed.
        done = self.run_by_shell('exec "$0" token >&-')
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn("standard output cannot be written", done.stderr.decode())
        done = self.run_by_shell('exec "$0" token <&- 2>&-')
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.decode().count("\n"), 1)
        # The store's files are undamaged, because none of them was opened as descriptor 1 or 2.
        self.assertEqual(self.json("status")["exitStatus"], 0)
        # A program that gets the token has three open streams, too.
        shown = self.run_by_shell('exec "$0" exec -- sh -c "ls /proc/self/fd >$HOME/shown" <&- >&- 2>&-')
        self.assertEqual(shown.returncode, 0)
        self.assertLessEqual({"0", "1", "2"}, set((self.home / "shown").read_text().split()))

    # Libraries.

    def without_curl(self):
        self.preload(SLOW_LOADER)

    def test_a_stored_token_does_not_wait_for_the_loading_of_libcurl(self):
        self.sign_in()
        token = self.token()
        self.without_curl()
        self.assertEqual(self.token(), token)
        self.assertEqual(self.json("token")["accessToken"], token)

    def test_a_stored_token_needs_no_thread(self):
        self.sign_in()
        token = self.token()
        self.preload(NO_THREADS)
        self.assertEqual(self.token(), token)
        self.assertEqual(self.run_enroll("exec", "--", "sh", "-c", "echo $ACCESS_TOKEN")[0].strip(), token)

    def test_a_token_that_cannot_wait_does_not_wait_for_the_loading_of_libcurl(self):
        """The command loads libcurl while it begins the renewal. Here the loader never finishes, and the token
        must not wait for it."""
        self.sign_in()
        self.without_curl()
        done = self.run_as(ENROLL, "token", "--renew", "--timeout", "0")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("the timeout passed before the request was sent", done.stderr.decode())

    def test_a_machine_without_libcurl_is_no_refusal_of_the_provider(self):
        self.sign_in()
        token = self.token()
        self.preload(SLOW_LOADER.replace("for (;;) pause();", "name = \"libcurl-that-is-not.so\";"))
        output, words = self.run_enroll("token", "--renew", status=2)
        self.assertEqual(output, "")
        self.assertIn("could not be opened", words)
        self.assertIn("The old one works until it expires", words)
        self.assertNotIn("enroll login", words)
        self.assertEqual(self.token(), token)

    def test_with_few_descriptors_every_command_ends(self):
        self.sign_in()
        for number in range(3, 10):
            for words in (["accounts"], ["status", "--all"], ["switch", "default"], ["doctor"], ["token"]):
                with self.subTest(number, words=words):
                    done = self.run_as("/bin/bash", "-c", 'ulimit -n "$0"; exec "$@"', str(number), ENROLL, *words)
                    self.assertIn(done.returncode, (*range(10), 127), done.stderr)

    def test_too_few_descriptors_for_a_connection_are_told(self):
        self.sign_in()
        told = []
        # How many descriptors a renewal needs before it connects depends on the order of its threads.
        for number in [*range(10, 18)] * 2:
            done = self.run_as("/bin/bash", "-c", 'ulimit -n "$0"; exec "$@"', str(number), ENROLL, "token", "--renew")
            if b"no connection" in done.stderr:
                self.assertIn(b"too many files are open", done.stderr)
                told.append(number)
        self.assertTrue(told)

    def test_help_and_completions_need_no_home_no_store_and_no_library(self):
        self.without_curl()
        del self.environment["HOME"]
        for words in (["--help"], ["help", "login"], ["--version"], ["completions", "bash"], ["--dump-commands"]):
            self.assertEqual(self.run_as(ENROLL, *words).returncode, 0, words)
