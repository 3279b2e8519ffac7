"""Tests of the files after `make install`, and those that are left after `make uninstall`."""

import os
import re
import shlex
import stat
import subprocess
import sys
import unittest

from trees import HOME, TOP, make, tree

sys.path.insert(0, str(TOP / "scripts"))
import header  # noqa: E402: the header as a table

VERSION = re.search(
    r'let string = "([\d.]+)"', (TOP / "Sources/EnrollHost/LibraryVersion.swift").read_text()
)[1]


class TreeTests(unittest.TestCase):
    def test_a_tree_holds_these_files_and_no_others_all_below_destdir(self):
        expected = {
            "bin/enroll", "bin/enrolld", "include/enroll.h",
            "lib/libenroll.a", "lib/libenroll.so",
            "lib/libenroll.so.0", f"lib/libenroll.so.{VERSION}", "lib/pkgconfig/enroll.pc", "lib/pkgconfig/enroll-static.pc",
            "lib/systemd/user/enrolld.socket", "lib/systemd/user/enrolld@.service", "share/man/man1/enrolld.1",
            "share/man/man1/enroll.1", "share/man/man3/libenroll.3", "share/man/man5/enroll-configuration.5",
            "share/bash-completion/completions/enroll", "share/zsh/site-functions/_enroll",
            "share/fish/vendor_completions.d/enroll.fish",
        }  # fmt: skip
        read = header.read()
        declared = (*read.functions, *read.callbacks, *read.records)
        expected |= {f"share/man/man3/{one.name}.3" for one in declared}
        built = tree()
        inside = str(built.prefix).lstrip("/") + "/"
        self.assertEqual({name.removeprefix(inside) for name in built.staged}, expected)

    def test_the_shared_library_has_its_version_its_soname_and_links(self):
        folder = tree().prefix / "lib"
        self.assertEqual(os.readlink(folder / "libenroll.so"), "libenroll.so.0")
        self.assertEqual(os.readlink(folder / "libenroll.so.0"), f"libenroll.so.{VERSION}")
        dynamic = subprocess.check_output(["readelf", "-d", folder / "libenroll.so"], text=True)
        self.assertIn("[libenroll.so.0]", dynamic)
        self.assertEqual(stat.S_IMODE((folder / "libenroll.so").stat().st_mode), 0o755)
        self.assertEqual(stat.S_IMODE((tree().prefix / "include/enroll.h").stat().st_mode), 0o644)

    def test_libraries_and_programs_are_those_that_were_built(self):
        for own, built in (("lib/libenroll.so", "libenroll.so.0"), ("lib/libenroll.a", "libenroll.a"),
                           ("bin/enrolld", "enrolld"), ("bin/enroll", "enroll")):  # fmt: skip
            with self.subTest(own):
                self.assertEqual((tree().prefix / own).read_bytes(), (TOP / "build/lib" / built).read_bytes())

    def test_one_version_is_told_everywhere(self):
        built = tree()
        self.assertEqual(built.said("--modversion"), [VERSION])
        told = subprocess.check_output([built.prefix / "bin/enrolld", "--version"], text=True)
        self.assertEqual(told, f"enrolld {VERSION}\n")
        major, minor, _ = map(int, VERSION.split("."))
        abi = re.search(r"#define ENROLL_ABI_VERSION (\d+)", header.read().text)[1]
        self.assertEqual(int(abi), major * 65536 + minor)

    def test_uninstall_takes_away_every_file(self):
        stage = HOME / "away"
        words = ("PREFIX=/usr", f"DESTDIR={stage}")
        self.assertEqual(make("install", *words).returncode, 0)
        self.assertTrue((stage / "usr/lib/libenroll.so").exists())
        (stage / "usr/lib/somebody-else.so").touch()
        removed = make("uninstall", *words)
        self.assertEqual(removed.returncode, 0)
        self.assertIn("The stores of users stay where they are", removed.stdout)
        left = [path.name for path in stage.rglob("*") if path.is_symlink() or path.is_file()]
        self.assertEqual(left, ["somebody-else.so"])

    def test_what_an_earlier_installation_had_goes_away_with_an_upgrade_and_with_an_uninstallation(self):
        stage = HOME / "earlier"
        words = ("PREFIX=/usr", f"DESTDIR={stage}")
        earlier = [stage / "usr/libexec/enrollkit/enroll", stage / "usr/lib/libenroll-standard.a"]
        for wish in ("install", "uninstall"):
            with self.subTest(wish):
                for path in earlier:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.touch()
                self.assertEqual(make(wish, *words).returncode, 0)
                self.assertEqual([path for path in earlier if path.exists()], [])
                self.assertFalse((stage / "usr/libexec/enrollkit").exists())
                # /usr/libexec belongs to the system and must stay.
                self.assertTrue((stage / "usr/libexec").exists())

    def test_the_units_are_where_systemd_looks_in_a_home_too(self):
        home, stage = HOME / "home", HOME / "home-stage"
        searched = subprocess.check_output(
            ["systemd-analyze", "--user", "unit-paths"], text=True, env={"PATH": "/usr/bin:/bin", "HOME": str(home)})
        for prefix in (home / ".local", "/usr/local", "/usr"):
            with self.subTest(prefix):
                words = (f"PREFIX={prefix}", f"DESTDIR={stage}")
                self.assertEqual(make("install", *words, HOME=str(home)).returncode, 0)
                unit, = stage.rglob("enrolld.socket")
                self.assertIn(f"/{unit.parent.relative_to(stage)}", searched.split())
                make("uninstall", *words, HOME=str(home))
                self.assertFalse(unit.exists())

    def test_the_last_lines_say_where_it_went_and_what_leads_there_every_time(self):
        home, stage = HOME / "told", HOME / "told-stage"
        where = f"EnrollKit {VERSION} is"
        leads = f"for programs that use it: export PKG_CONFIG_PATH={home}/lib/pkgconfig LD_LIBRARY_PATH={home}/lib"
        for _ in range(2):
            self.assertEqual(make("install", f"PREFIX={home}").stdout.splitlines()[-2:], [f"{where} installed in {home}", leads])
        # Files below DESTDIR will be packed, so the output of the installation does not say how programs find these
        # files.
        told = make("install", f"PREFIX={home}", f"DESTDIR={stage}").stdout.splitlines()
        self.assertEqual(told[-1], f"{where} below {stage}, for {home}")

    def test_the_loaders_cache_is_refreshed_except_below_destdir(self):
        folder = HOME / "stub"
        folder.mkdir()
        stub, called = folder / "ldconfig", folder / "called"
        stub.write_text(f"#!/bin/sh\ntouch {called}\n")
        stub.chmod(0o755)
        path = f"{folder}:{os.environ['PATH']}"
        make("install", f"PREFIX={folder}/usr", f"DESTDIR={folder}/stage", PATH=path)
        self.assertTrue((folder / f"stage{folder}/usr/lib/libenroll.so").exists())
        self.assertFalse(called.exists())
        make("install", f"PREFIX={folder}/usr", PATH=path)
        self.assertTrue((folder / "usr/lib/libenroll.so").exists())
        self.assertEqual(called.exists(), os.geteuid() == 0)

    def test_a_multiarch_folder_holds_the_library_and_pkg_config_finds_it(self):
        prefix = HOME / "multiarch"
        libdir = prefix / "lib/x86_64-linux-gnu"
        self.assertEqual(make("install", f"PREFIX={prefix}", f"LIBDIR={libdir}", f"DESTDIR={HOME}/x").returncode, 0)
        text = (HOME / f"x{libdir}/pkgconfig/enroll.pc").read_text()
        self.assertIn("libdir=${prefix}/lib/x86_64-linux-gnu\n", text)
        self.assertTrue((HOME / f"x{libdir}/libenroll.a").exists())

    def test_a_prefix_with_marks_of_shells_and_of_sed_is_that_prefix_for_pkg_config(self):
        stage = HOME / "marked"
        for prefix in ("/opt/a b&c|d#e", "/opt/it\\s", "/usr"):
            with self.subTest(prefix):
                made = subprocess.run([TOP / "scripts/install", "install"], capture_output=True, text=True,
                                      env={**os.environ, "PREFIX": prefix, "DESTDIR": str(stage)})  # fmt: skip
                self.assertEqual(made.returncode, 0, made.stderr)
                words = ["pkg-config", "--keep-system-libs", "--keep-system-cflags", "--cflags", "--libs", "enroll"]
                environment = {**os.environ, "PKG_CONFIG_PATH": f"{stage}{prefix}/lib/pkgconfig"}
                told = subprocess.check_output(words, text=True, env=environment)
                self.assertEqual(shlex.split(told), [f"-I{prefix}/include", f"-L{prefix}/lib", "-lenroll"])

    def test_two_installations_at_once_make_their_own_files_and_leave_none_behind(self):
        folder = HOME / "at-once"
        for name in ("played", "temporary"):
            (folder / name).mkdir(parents=True)
        program = folder / "played/install"
        # The second installation runs completely inside the first installation.
        other = f"PREFIX=/other DESTDIR={folder}/other {TOP}/scripts/install install"
        first = f"[ -e {folder}/once ] || {{ touch {folder}/once; {other}; }}"
        program.write_text(f'#!/bin/sh\n{first}\nexec /usr/bin/install "$@"\n')
        program.chmod(0o755)
        made = make("install", "PREFIX=/own", f"DESTDIR={folder}/own", PATH=f"{folder}/played:{os.environ['PATH']}",
                    TMPDIR=str(folder / "temporary"))  # fmt: skip
        self.assertEqual(made.returncode, 0, made.stderr)
        for name in ("own", "other"):
            text = (folder / f"{name}/{name}/lib/pkgconfig/enroll.pc").read_text()
            self.assertIn(f"prefix=/{name}\n", text)
        self.assertEqual(list((folder / "temporary").iterdir()), [])

    def test_nothing_is_built_that_is_built_and_everything_that_is_not(self):
        self.assertNotIn("scripts/build", make("-n", "install", as_built=False).stdout, "run make lib")
        told = make("-n", "install", "-W", "include/enroll.h", as_built=False).stdout
        self.assertEqual(told.splitlines().count("scripts/build"), 1, told)
        self.assertIn("scripts/man-pages", told)

    def test_what_is_built_is_installed_without_swift_as_by_sudo(self):
        folder = HOME / "without-swift"
        folder.mkdir()
        (folder / "swift").write_text("#!/bin/sh\nexit 127\n")
        (folder / "swift").chmod(0o755)
        make("lib")
        made = make("install", f"DESTDIR={folder}/stage", PATH=f"{folder}:/usr/bin:/bin")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertTrue((folder / "stage/usr/local/lib/libenroll.so").exists())

    def test_wishes_that_cannot_be_are_refused_and_nothing_is_written(self):
        stage = HOME / "refused"
        for word, named in (("PREFIX=usr", "usr"), ("LIBDIR=lib", "lib")):
            with self.subTest(word):
                refused = make("install", f"DESTDIR={stage}", word)
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn(f"not {named}", refused.stderr)
                self.assertFalse(stage.exists())

    def test_a_folder_where_a_file_goes_and_a_file_where_a_folder_goes_are_named_and_nothing_is_written(self):
        for name, is_folder, told in (("bin/enrolld", True, "a file is expected"), ("lib/libenroll.so", True, "a file is expected"),
                                      ("share", False, "a folder is expected")):  # fmt: skip
            with self.subTest(name):
                stage = HOME / "in-the-way" / name.replace("/", "-")
                place = stage / "usr" / name
                (place if is_folder else place.parent).mkdir(parents=True)
                if not is_folder:
                    place.touch()
                refused = make("install", "PREFIX=/usr", f"DESTDIR={stage}")
                self.assertNotEqual(refused.returncode, 0)
                self.assertIn(f"install: {place} is a", refused.stderr)
                self.assertIn(told, refused.stderr)
                self.assertEqual([path for path in stage.rglob("*") if not path.is_dir()], [] if is_folder else [place])

    def test_a_build_for_no_platform_makes_no_folder(self):
        for target in ("riscv64-linux-gnu", "../elsewhere"):
            with self.subTest(target):
                refused = subprocess.run([TOP / "scripts/build"], env={**os.environ, "TARGET": target},
                                         capture_output=True, text=True)  # fmt: skip
                self.assertEqual(refused.returncode, 2, refused.stderr)
                self.assertFalse((TOP / "build" / target).exists())

    def test_a_prefix_of_two_lines_is_refused(self):
        refused = subprocess.run([TOP / "scripts/install", "install"], capture_output=True, text=True,
                                 env={**os.environ, "PREFIX": "/p\nq", "DESTDIR": str(HOME / "lines")})  # fmt: skip
        self.assertEqual((refused.returncode, refused.stderr.count("\n")), (2, 1), refused.stderr)
        self.assertIn("without control characters", refused.stderr)
        self.assertFalse((HOME / "lines").exists())

    def test_the_build_of_an_option_is_not_installed_as_the_plain_one(self):
        for word in ("TARGET=aarch64-linux-gnu", "OPENSSL=static", "HTTP=host"):
            with self.subTest(word):
                refused = make("-n", "install", word)
                self.assertNotEqual(refused.returncode, 0)
                self.assertEqual((refused.stdout, refused.stderr.count("\n")), ("", 1), refused.stderr)
                self.assertIn("make install installs the plain build", refused.stderr)
                self.assertEqual(make("-n", "uninstall", word).returncode, 0)
