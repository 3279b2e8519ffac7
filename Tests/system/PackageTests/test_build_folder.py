"""Tests of installations and distributions from a build folder in which files are missing or foreign, and of
failures in the middle of an installation or distribution. The tests use copies of the checkout."""

import ctypes
import os
import platform
import shutil
import signal
import subprocess
import time
import unittest

from cases import copy_of_the_checkout, torture_only
from processes import TIMEOUT, TOP, workspace

COMMAND = "build/lib/enroll"


def clean(**more):
    return {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")} | more


@torture_only
class Copied(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.copy = copy_of_the_checkout()

    def run_in(self, *words, **environment):
        return subprocess.run(list(map(str, words)), cwd=self.copy, env=clean(**environment), capture_output=True, text=True,
                              timeout=TIMEOUT * 4)  # fmt: skip

    def dist(self, out, **environment):
        return self.run_in("scripts/dist", out, **environment)


class IncompleteBuilds(Copied):
    def without(self, name):
        one = self.copy / name
        away = one.with_name("away")
        one.rename(away)
        self.addCleanup(away.rename, one)

    def test_an_installation_without_a_part_of_the_build_is_refused_and_writes_nothing(self):
        self.without(COMMAND)
        stage = workspace("stage")
        done = self.run_in("scripts/install", "install", DESTDIR=str(stage))
        why = f"install: {COMMAND} is missing: it is a part of this build. Run make lib.\n"
        self.assertEqual((done.returncode, done.stderr), (1, why))
        self.assertEqual(list(stage.iterdir()), [])

    def test_make_builds_what_ships_where_a_part_of_it_is_missing(self):
        self.without(COMMAND)
        done = self.run_in("make", "--no-print-directory", "-n", COMMAND)
        self.assertIn("scripts/build", done.stdout.splitlines())

    def test_a_distribution_that_fails_leaves_the_folder_of_the_one_before(self):
        out = workspace("out") / "dist"
        out.mkdir()
        (out / "SHA256SUMS").write_text("of an earlier one")
        of_target = f"build/{platform.machine()}-linux-gnu/lib/enroll"
        name = of_target if (self.copy / of_target).exists() else COMMAND
        self.without(name)
        done = self.dist(out)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"{name} is missing", done.stderr)
        self.assertEqual([path.name for path in out.parent.iterdir()], ["dist"])
        self.assertEqual((out / "SHA256SUMS").read_text(), "of an earlier one")

    def test_a_step_of_make_that_fails_leaves_no_result(self):
        script = self.copy / "scripts/man-pages"
        kept = script.read_bytes()
        self.addCleanup(script.write_bytes, kept)
        pages = self.copy / "build/man"
        shutil.copytree(pages, pages.with_name("pages"))
        self.addCleanup(pages.with_name("pages").rename, pages)
        self.addCleanup(shutil.rmtree, pages, ignore_errors=True)
        script.write_text("#!/bin/sh\nmkdir -p build/man/man3; echo half >build/man/man3/libenroll.3; exit 1\n")
        done = self.run_in("make", "--no-print-directory", "-o", "build/lib/enrolld", "build/man/man3/libenroll.3")
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse((self.copy / "build/man/man3/libenroll.3").exists())


class Distributions(Copied):
    def test_a_date_that_is_none_is_refused_before_anything_is_made(self):
        out = workspace("dates") / "dist"
        for date in ("soon", "", "-1", "1.5", "9999999999999", "٣"):
            with self.subTest(date):
                done = self.dist(out, SOURCE_DATE_EPOCH=date)
                why = f"dist: SOURCE_DATE_EPOCH is a number of seconds since 1970, not {date!r}\n"
                self.assertEqual((done.returncode, done.stderr), (1, why))
        self.assertEqual(list(out.parent.iterdir()), [])

    def test_somebody_elses_folder_of_that_name_is_left_alone(self):
        out = workspace("elses") / "dist"
        thesis = out.with_name("dist.part") / "thesis.txt"
        thesis.parent.mkdir()
        thesis.write_text("years of work")
        done = self.dist(out)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not an earlier dist's; move it away", done.stderr)
        self.assertEqual(thesis.read_text(), "years of work")

    def test_a_distribution_that_is_ended_leaves_no_half(self):
        out = workspace("ended") / "dist"
        child = subprocess.Popen([self.copy / "scripts/dist", out], cwd=self.copy, env=clean(), stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)  # fmt: skip
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        end = time.monotonic() + TIMEOUT
        while not list(out.parent.glob("dist.part/*.tar.gz")):
            self.assertLess(time.monotonic(), end, "no artefact was made")
            self.assertIsNone(child.poll())
            time.sleep(0.01)
        self.assertFalse(out.exists())
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(TIMEOUT), 143)
        self.assertEqual(list(out.parent.iterdir()), [])

    def test_after_make_clean_an_uninstallation_takes_the_manual_pages_away(self):
        other = copy_of_the_checkout()
        stage = workspace("cleaned")
        words = {"DESTDIR": str(stage), "PREFIX": "/usr"}
        subprocess.run([other / "scripts/install", "install"], env=clean(**words), check=True, capture_output=True)
        elses = stage / "usr/share/man/man1/enroll-elses.1"
        elses.write_text('.TH "enroll-elses" "1" "" "Enrolment 2" "Another"\n')
        shutil.rmtree(other / "build")
        subprocess.run([other / "scripts/install", "uninstall"], env=clean(**words), check=True, capture_output=True)
        self.assertEqual([path for path in stage.rglob("*") if not path.is_dir()], [elses])


class DebianPackages(unittest.TestCase):
    @torture_only
    def test_two_packagings_at_once_both_succeed_with_equal_bytes(self):
        outs = [workspace("first"), workspace("second")]
        children = [subprocess.Popen([TOP / "scripts/dist-debian", out], env=clean(), stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True) for out in outs]  # fmt: skip
        for child in children:
            told = child.communicate(timeout=TIMEOUT * 4)[0]
            self.assertEqual(child.returncode, 0, told)
        first, second = ({path.name: path.read_bytes() for path in out.iterdir()} for out in outs)
        self.assertGreaterEqual(len(first), 5)
        self.assertEqual(first.keys(), second.keys())
        self.assertEqual([name for name in first if first[name] != second[name]], [])

    @unittest.skipUnless(os.geteuid() == 0 and os.access("/dev/fuse", os.W_OK), "needs root and /dev/fuse")
    def test_a_home_whose_server_does_not_answer_does_not_hold_up_a_removal(self):
        homes = workspace("homes")
        for name in ("alive", "dead"):
            (homes / name / ".local/share").mkdir(parents=True)
        (homes / "alive/.local/share/enrollkit").mkdir()
        users = homes / "passwd"
        users.write_text("".join(f"{name}:x:1000:1000::{homes / name}:/bin/sh\n" for name in ("dead", "alive")))
        postrm = homes / "postrm"
        postrm.write_text((TOP / "packaging/debian/postrm").read_text())
        # A file system whose program never answers, mounted only for this process's child.
        device = os.open("/dev/fuse", os.O_RDWR)
        self.addCleanup(os.close, device)

        def enter():
            libc = ctypes.CDLL(None, use_errno=True)
            options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
            private, bind = 0x44000, 0x1000
            if libc.unshare(0x20000) or libc.mount(b"none", b"/", None, private, None) or libc.mount(
                    str(users).encode(), b"/etc/passwd", None, bind, None) or libc.mount(
                    b"dead", str(homes / "dead").encode(), b"fuse", 0, options):  # fmt: skip
                raise OSError(ctypes.get_errno(), "no file system could be mounted")
            # Once this process closes the device, too, calls that wait for the file system return.
            os.close(device)

        done = subprocess.run(["sh", postrm, "remove"], env=clean(DPKG_MAINTSCRIPT_PACKAGE="enroll"), pass_fds=[device],
                              preexec_fn=enter, capture_output=True, text=True, timeout=TIMEOUT)  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.splitlines()[-1], f"EnrollKit: found {homes}/alive/.local/share/enrollkit")
