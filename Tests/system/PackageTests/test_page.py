"""Runs the commands of docs/install.md as they are printed, with the files of `make dist` and without
Swift."""

import re
import shutil
import subprocess
import unittest

from cases import PACKAGES, VERSION, distribution, files, torture_only
from chroots import Chroot
from processes import TOP, workspace

# apt asks before it installs, so it is run with --yes. A fresh system has only root, so `sudo` just runs its command.
PLAYED = 'sudo() { "$@"; }; apt() { apt-get --yes --no-install-recommends "$@"; }\n'
# With these variables npm downloads nothing, and does not look for a newer npm.
QUIET = {"npm_config_offline": "true", "npm_config_audit": "false", "npm_config_update_notifier": "false"}


def block(name):
    text = (TOP / "docs/install.md").read_text()
    return re.search(rf"<!-- run: {name} -->\n```\n(.*?)```", text, re.S)[1]


class TypedPage(unittest.TestCase):
    def setUp(self):
        self.home = workspace("page")

    def typed(self, *names):
        """Runs the blocks one after the other in one shell, in an empty home on this machine; returns their output."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", "".join(map(block, names))],
            cwd=self.home, capture_output=True, text=True,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.home), "DIST": str(distribution()), **QUIET})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_pip(self):
        self.assertEqual(self.typed("pip").splitlines()[-1], VERSION)

    def test_npm(self):
        self.assertEqual(self.typed("npm").splitlines()[-1], VERSION)

    def test_the_tar_then_c(self):
        shutil.copy(TOP / "Examples/sign_in.c", self.home)
        told = self.typed("tar", "c")
        self.assertIn(f"is installed in {self.home}/.local\n", told)
        self.assertIn(VERSION, told.splitlines()[-1])
        for program in ("sign_in", "sign_in_static"):
            libraries = {"LD_LIBRARY_PATH": f"{self.home}/.local/lib"} if program == "sign_in" else {}
            ran = subprocess.run([self.home / program], capture_output=True, text=True, env=libraries)
            self.assertEqual((ran.returncode, ran.stderr.split()[0]), (2, "usage:"), ran.stderr)
        self.typed("tar-uninstall")
        self.assertEqual([path for path in self.home.glob(".local/**/*") if not path.is_dir()], [])

    def test_the_debian_packages_in_a_folder(self):
        """Does the part of `apt install` that dpkg does, in an empty root. This machine provides the dependencies."""
        root = self.home / "root"
        (root / "var/lib/dpkg/updates").mkdir(parents=True)
        (root / "var/lib/dpkg/info").mkdir()
        (root / "var/lib/dpkg/status").touch()
        # The Python package runs a program of the system when it is installed, so the test only unpacks it.
        names = [name for name in PACKAGES if not name.startswith("python3-")]
        words = "dpkg", "--root", root, "--force-not-root,script-chrootless,depends", "--log", "/dev/null"
        environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(self.home)}
        for wish in (("--install", *files(distribution(), *names)), ("--purge", *names)):
            done = subprocess.run(list(map(str, (*words, *wish))), capture_output=True, text=True, env=environment)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            if wish[0] == "--install":
                told = subprocess.check_output([root / "usr/bin/enroll", "--version"], text=True)
                self.assertIn(VERSION, told)
        self.assertEqual([path for path in root.glob("usr/**/*") if not path.is_dir()], [])
        subprocess.run(["dpkg-deb", "--extract", *files(distribution(), "python3-enrollkit"), root], check=True)
        told = subprocess.check_output(
            ["/usr/bin/python3", "-c", "import enrollkit; print(enrollkit.__version__)"], text=True,
            env={"PYTHONPATH": str(root / "usr/lib/python3/dist-packages"), "PYTHONDONTWRITEBYTECODE": "1"})  # fmt: skip
        self.assertEqual(told, f"{VERSION}\n")

    @torture_only
    def test_apt(self):
        chroot = Chroot.of("bookworm")
        for path in files(distribution()):
            chroot.put(path, f"/srv/dist/{path.name}")
        told, _ = chroot.run("bash", "-euo", "pipefail", "-c", PLAYED + block("apt"), DIST="/srv/dist")
        self.assertIn(VERSION, told.splitlines()[-1])
        # The page lists every package.
        table = re.search(r"^\| package \|.*?\n\n", (TOP / "docs/install.md").read_text(), re.S | re.M)[0]
        named = re.findall(r"^\| `([\w-]+)`", table, re.M)
        self.assertEqual(sorted(named), sorted({path.name.partition("_")[0] for path in files(distribution())}))
