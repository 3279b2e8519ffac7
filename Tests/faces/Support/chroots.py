"""Fresh Debian systems in folders, for tests that install into them.

debootstrap makes a system once for each release, below .build/chroots; a test gets a copy. Commands run in their own
namespaces, with /proc and with the machine's network, so that the commands reach a provider on the loopback
interface.
"""

import fcntl
import os
import subprocess
from pathlib import Path

from processes import TOP, workspace

HOME = TOP / ".build/chroots"
MIRROR = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
AS_ROOT = [] if os.geteuid() == 0 else ["sudo", "-n"]
# $1: the folder of the system; $2: the packages that apt has downloaded.
ENTER = """
mount -t proc proc "$1/proc" && mount --bind "$2" "$1/var/cache/apt/archives" || exit 125
root=$1; shift 2
exec chroot "$root" "$@"
"""
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LC_ALL": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
}


def system(release):
    """The folder of a system as debootstrap makes it, with apt's lists."""
    HOME.mkdir(parents=True, exist_ok=True)
    base = HOME / release
    with open(HOME / f"{release}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not base.exists():
            made = HOME / f"{release}.part"
            subprocess.run([*AS_ROOT, "rm", "-rf", made], check=True)
            done = subprocess.run([*AS_ROOT, "debootstrap", "--variant=minbase", release, made, MIRROR],
                                  capture_output=True, text=True)  # fmt: skip
            if done.returncode != 0:
                raise AssertionError(f"debootstrap {release}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
            Chroot(made).run("apt-get", "update")
            subprocess.run([*AS_ROOT, "mv", made, base], check=True)
    return base


class Chroot:
    """One system: `Chroot.of("bookworm")` makes a fresh system."""

    def __init__(self, root):
        self.root = Path(root)
        (HOME / "archives/partial").mkdir(parents=True, exist_ok=True)

    @classmethod
    def of(cls, release):
        root = workspace(release) / "root"
        subprocess.run([*AS_ROOT, "cp", "-a", "--reflink=auto", system(release), root], check=True)
        return cls(root)

    def words(self, *command, **environment):
        """The command line that runs a command in the system."""
        set_to = [f"{name}={value}" for name, value in {**ENVIRONMENT, **environment}.items()]
        return [*AS_ROOT, "unshare", "--mount", "sh", "-c", ENTER, "enter", str(self.root), str(HOME / "archives"),
                "env", "-i", *set_to, *map(str, command)]  # fmt: skip

    def run(self, *command, status=0, given=None, **environment):
        """Runs a command; returns its output and its errors. If the exit status is not `status`, the test
        fails."""
        done = subprocess.run(self.words(*command, **environment), input=given, capture_output=True, text=True, timeout=900)
        if status is not None and done.returncode != status:
            raise AssertionError(
                f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout, done.stderr

    def start(self, *command, **environment):
        return subprocess.Popen(self.words(*command, **environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)  # fmt: skip

    def put(self, source, target):
        """Copies a file or folder into the system."""
        subprocess.run([*AS_ROOT, "mkdir", "-p", (self.root / target.lstrip("/")).parent], check=True)
        subprocess.run([*AS_ROOT, "cp", "-r", "--no-preserve=ownership", source, self.root / target.lstrip("/")], check=True)

    def install(self, *packages):
        """Installs packages, by name from Debian's mirror or by path from a file; leaves out recommended packages."""
        names = []
        for package in packages:
            if isinstance(package, Path):
                self.put(package, f"/var/tmp/{package.name}")
                package = f"/var/tmp/{package.name}"
            names.append(package)
        # All systems share apt's downloads. The lock is needed because apt does not wait for another apt.
        with open(HOME / "archives.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return self.run("apt-get", "install", "-y", "--no-install-recommends", *names)

    def has(self, path):
        return (self.root / path.lstrip("/")).exists()
