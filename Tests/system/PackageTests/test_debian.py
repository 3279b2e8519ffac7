"""Tests of the Debian packages: lintian checks them, apt installs them, and they are used, replaced while
they are in use, and purged."""

import contextlib
import json
import os
import re
import socket
import subprocess
import time
import unittest

import earlier
from cases import (
    PACKAGES, STORE, TOKEN, VERSION, Peer, debian_packages, distribution, example, files, report, sandbox,
    served, sign_in, torture_only,
)  # fmt: skip
from chroots import AS_ROOT, MIRROR, Chroot, system
from processes import TOP, Child, workspace

# A version number that sorts before every release. The tests pack the same programs with this number as the
# older version, because there is no earlier release yet.
LOWER = f"{VERSION}~before"


class BuiltPackages(unittest.TestCase):
    """The packages of every architecture that is built."""

    @torture_only
    def test_lintian_finds_no_error_and_no_warning(self):
        told = subprocess.run(
            ["lintian", "--allow-root", "--pedantic", "--no-tag-display-limit", "--fail-on", "error,warning,pedantic",
             *sorted(distribution().glob("*.deb"))], capture_output=True, text=True)  # fmt: skip
        self.assertEqual((told.returncode, told.stdout), (0, ""), told.stderr)

    def test_packages_name_what_is_opened_when_they_run(self):
        packages = [
            path
            for path in distribution().glob("*.deb")
            if path.name.partition("_")[0] in ("libenroll0", "enrolld", "enroll")
        ]
        self.assertGreaterEqual(len(packages), 3)
        for path in packages:
            with self.subTest(path.name):
                depends = subprocess.check_output(["dpkg-deb", "--field", path, "Depends"], text=True)
                self.assertIn("libssl3 | libssl3t64", depends)
                self.assertIn("libcurl4 | libcurl4t64", depends)
                self.assertRegex(depends, r"libc6 \(>= 2\.\d+\)")

    def test_every_function_has_a_version_in_the_symbols_file(self):
        exported = subprocess.check_output(
            ["nm", "-D", "--defined-only", TOP / "build/lib/libenroll.so.0"], text=True
        )
        for path in distribution().glob("libenroll0_*.deb"):
            with self.subTest(path.name):
                folder = workspace("control")
                subprocess.run(["dpkg-deb", "--control", path, folder / "DEBIAN"], check=True)
                told = dict(
                    re.findall(r"^ (enroll_\w+)@Base ([\d.]+)~$", (folder / "DEBIAN/symbols").read_text(), re.M)
                )
                self.assertEqual(set(told), set(re.findall(r" T (enroll_\w+)", exported)))


@torture_only
class InstalledPackages(unittest.TestCase):
    release = "bookworm"

    def setUp(self):
        self.chroot = Chroot.of(self.release)

    def token(self):
        output, _ = self.chroot.run("enroll", "token")
        self.assertRegex(output, TOKEN)
        return output

    def test_a_fresh_system_comes_to_a_token_by_each_package(self):
        packages = files(debian_packages())
        began = time.monotonic()
        self.chroot.install(*packages)
        self.assertFalse(self.chroot.has("/usr/bin/swift"))
        sign_in(self.chroot)
        self.token()
        report("apt", began)
        self.check_socket()
        self.chroot.put(TOP / "Examples/sign_in.py", "/var/tmp/sign_in.py")
        told = example(self.chroot, "python3", "/var/tmp/sign_in.py", sandbox().issuer, "/var/tmp/store")
        self.assertRegex(told, r"A valid token of \d+ bytes\.")
        version, _ = self.chroot.run("python3", "-c", "import enrollkit; print(enrollkit.__version__)")
        self.assertEqual(version, self.chroot.run("enrolld", "--version")[0].split()[1] + "\n")
        self.assertIn("libenroll.so.0", self.chroot.run("ldconfig", "-p")[0])
        for path in ("man1/enroll.1.gz", "man1/enrolld.1.gz", "man3/libenroll.3.gz", "man5/enroll-configuration.5.gz"):
            self.assertTrue(self.chroot.has(f"/usr/share/man/{path}"), path)
        for path in (
            "bash-completion/completions/enroll",
            "zsh/vendor-completions/_enroll",
            "fish/vendor_completions.d/enroll.fish",
        ):
            self.assertTrue(self.chroot.has(f"/usr/share/{path}"), path)

    def check_socket(self):
        """Runs the unit's program behind a socket, as systemd does: the program uses the session that `enroll
        login` began."""
        unit = (self.chroot.root / "usr/lib/systemd/user/enrolld@.service").read_text()
        program = re.search(r"^ExecStart=(\S+)$", unit, re.M)[1]
        folder = workspace("socket")
        path = folder / "enrolld.socket"
        listener = Child(["systemd-socket-activate", "--accept", "--inetd", "--listen", path,
                          *self.chroot.words(program)], folder / "log")  # fmt: skip
        listener.wait_for(path.exists, "the socket")
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(60)
            connection.connect(str(path))
            request = {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "accounts.list",
                "params": {"store": STORE, "keys": {"provider": "auto"}},
            }
            connection.sendall(json.dumps(request).encode() + b"\n")
            answer = connection.makefile().readline()
            self.assertIn("result", json.loads(answer), answer)
        listener.stop()

    def test_packages_of_a_higher_number_keep_sessions_and_running_daemons_and_a_purge_keeps_the_stores(self):
        before, now = debian_packages(LOWER), debian_packages()
        self.chroot.install(*files(before))
        sign_in(self.chroot)
        token = self.token()
        configuration = sandbox().configuration(redirectUri="http://127.0.0.1/callback", postLogoutRedirectUri=None)
        running = Peer(self.chroot.start("enrolld"))
        opening = {"configuration": configuration, "store": STORE}
        client = running.call("client.open", **opening)["client"]
        self.assertEqual(running.call("token.access", client=client)["accessToken"] + "\n", token)

        self.chroot.install(*files(now))
        shown, _ = self.chroot.run("dpkg-query", "--show", "--showformat", "${Package} ${Version}\n", *PACKAGES)
        self.assertNotIn(LOWER, shown)
        self.assertEqual(len(shown.splitlines()), len(PACKAGES))
        self.assertEqual(running.call("token.access", client=client)["accessToken"] + "\n", token)
        self.assertEqual(self.token(), token)
        # The daemon that still runs has the old version. It renews the tokens, and the newly installed programs read
        # them.
        renewed = running.call("token.refresh", client=client)["accessToken"] + "\n"
        self.assertNotEqual(renewed, token)
        running.end()
        self.assertEqual(self.token(), renewed)

        kept = self.stored()
        self.assertIn(".record", " ".join(kept))
        output, words = self.chroot.run("apt-get", "purge", "-y", *PACKAGES)
        self.assertEqual((output + words).count("EnrollKit: the stores of users stay where they are"), 1)
        self.assertIn(f"EnrollKit: found {STORE}\n", output + words)
        self.assertEqual(self.stored(), kept)
        left, _ = self.chroot.run("find", "/usr", "/etc", "/var/lib", "-name", "*enroll*")
        self.assertEqual(left, "")
        # If the user installs the command again, the session still exists.
        self.chroot.install(*files(now, "enroll"))
        self.assertEqual(self.token(), renewed)
        self.check_earlier_homes()

    def check_earlier_homes(self):
        """The session of a user who signed in with an earlier build (Tests/system/EarlierStores) can be renewed."""
        self.assertTrue(earlier.ARCHIVES, "no archive of stores")
        for archive in earlier.ARCHIVES:
            with self.subTest(archive.name), contextlib.closing(earlier.EarlierStore(archive, "command-home")) as made:
                self.chroot.run("rm", "-rf", "/srv/home")
                self.chroot.put(made.folder / "home", "/srv/home")
                tokens = [
                    self.chroot.run("enroll", "token", *words, HOME="/srv/home")[0] for words in ((), ("--renew",))
                ]
                for token in tokens:
                    self.assertRegex(token, TOKEN)
                self.assertNotIn(tokens[1], (tokens[0], *(f"{one}\n" for one in made.facts.get("tokens", []))))

    def stored(self):
        told, _ = self.chroot.run("sh", "-c", f"find {STORE} -type f ! -name '*.lock' -exec sha256sum {{}} + | sort")
        return told.splitlines()


class InstalledOnTrixie(InstalledPackages):
    release = "trixie"


@torture_only
class Piuparts(unittest.TestCase):
    def test_piuparts_finds_nothing_left_behind(self):
        folder = debian_packages()
        listed = workspace("repository")
        for path in files(folder):
            (listed / path.name).symlink_to(path)
        with served(listed) as address:
            (listed / "Packages").write_bytes(subprocess.check_output(["dpkg-scanpackages", "."], cwd=listed))
            told = subprocess.run(
                [*AS_ROOT, "piuparts", "--distribution", "bookworm", "--existing-chroot", system("bookworm"), "--mirror",
                 f"{MIRROR} main", "--extra-repo", f"deb [trusted=yes] {address}/ ./", "--warn-on-others",
                 "--skip-logrotatefiles-test", *files(folder)],
                capture_output=True, text=True, env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"})  # fmt: skip
        self.assertEqual(told.returncode, 0, told.stdout[-6000:] + told.stderr[-2000:])
