"""The unit under a running systemd in a separate Debian 12. The test runs only with TORTURE=1, because it
needs root, namespaces and control groups."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

from chroots import AS_ROOT, Chroot
from gateway import PROGRAM
from processes import wait_until, workspace
from test_service import UNIT

LONG = os.environ.get("TORTURE") == "1"
PACKAGES = (
    "systemd", "systemd-sysv", "procps", "curl", "libevent-core-2.1-7", "libsqlite3-0", "libssl3", "libcurl4", "libjansson4",
    "libpq5",
)  # fmt: skip
UNIT_NAME = "enroll-gateway"
SETTINGS = {
    "publicUrl": "https://id.example",
    "keys": "keys.json",
    "database": "sqlite:/var/lib/enroll-gateway/gateway.db",
    "providers": {"work": {"issuer": "https://idp.example", "clientId": "g", "clientSecretFile": "work.secret"}},
}
# $1: the folder of the system. Sets up devices, control groups and shared mounts, as a container manager does.
BOOT = r"""
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
mount -t tmpfs tmpfs dev/shm
for name in null zero full random urandom tty; do touch "dev/$name"; mount --bind "/dev/$name" "dev/$name"; done
ln -s /proc/self/fd dev/fd
ln -s pts/ptmx dev/ptmx
if grep -q ':name=systemd:' /proc/self/cgroup; then
  mount -t tmpfs tmpfs sys/fs/cgroup
  mkdir sys/fs/cgroup/systemd sys/fs/cgroup/unified
  mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
  mount -t cgroup2 cgroup2 sys/fs/cgroup/unified
else
  mount -t cgroup2 cgroup2 sys/fs/cgroup
fi
mkdir -p before
pivot_root . before
umount -l /before
mount --make-rshared /
container=docker exec /lib/systemd/systemd --system --log-target=journal --show-status=0
"""


class Machine:
    """A Debian system whose first process is systemd, with its own network."""

    def __init__(self):
        self.system = Chroot.of("bookworm")
        self.system.install(*PACKAGES)
        # Without a machine-id this would be a first boot, which enables services that wait for a network.
        self.write("/etc/machine-id", "0" * 31 + "1\n")

    def write(self, path, text, mode=0o644):
        file = workspace("file") / "text"
        file.write_text(text)
        file.chmod(mode)
        self.system.put(file, path)

    def put_program(self):
        """Copies the gateway, and its libraries that are not in a Debian package."""
        self.system.put(PROGRAM, f"/usr/local/bin/{UNIT_NAME}")
        told = subprocess.check_output(["ldd", PROGRAM], text=True)
        for path in re.findall(r"=> (/\S+)", told):
            if not path.startswith(("/lib/", "/usr/lib/", "/lib64/")):
                self.system.put(Path(path).resolve(), path)

    def boot(self):
        spaces = "--pid", "--fork", "--kill-child", "--mount", "--uts", "--ipc", "--cgroup", "--net"
        self.log = open(workspace("systemd") / "log", "w+")
        self.process = subprocess.Popen([*AS_ROOT, "unshare", *spaces, "sh", "-c", BOOT, "boot", self.system.root],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)  # fmt: skip
        wait_until(lambda: self.first() and self.ran("systemctl", "is-system-running")[1].strip() in ("running", "degraded"),
                   "systemd is up")  # fmt: skip
        return self

    def first(self):
        """The process that has the number 1 in the system."""
        parents = [self.process.pid]
        if AS_ROOT:
            parents = children(parents[0])
        return next((child for parent in parents for child in children(parent)), None)

    def ran(self, *words):
        enter = "nsenter", "--target", self.first(), "--all", "--root", "--wd"
        done = subprocess.run([*AS_ROOT, *map(str, enter), *words], capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def run(self, *words):
        status, output, errors = self.ran(*words)
        if status != 0:
            told = self.ran("journalctl", "--no-pager", "--lines", "40")[1]
            raise AssertionError(f"{words}: status {status}\n{output}{errors}{told}")
        return output

    def stop(self):
        if (first := self.first()) is not None:
            subprocess.run([*AS_ROOT, "kill", "-KILL", first], check=False)
        self.process.wait(60)
        self.log.close()


def children(pid):
    try:
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except FileNotFoundError:
        return []


@unittest.skipUnless(LONG, "TORTURE=1")
class RunningSystemd(unittest.TestCase):
    def shown(self, name):
        return self.machine.run("systemctl", "show", "--property", name, "--value", UNIT_NAME).strip()

    def status(self, path):
        words = "curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--max-time", "30"
        return self.machine.ran(*words, "--header", "Host: id.example", f"http://127.0.0.1:8080{path}")[1]

    def journal(self):
        """The program's output, without the syslog line that a library of the system writes when the gateway
        stops."""
        words = "_COMM=enroll-gateway", "_TRANSPORT=stdout"
        return self.machine.run("journalctl", "--unit", UNIT_NAME, "--no-pager", "--output", "cat", *words)

    def test_the_service_starts_reloads_comes_back_after_a_kill_and_stops(self):
        machine = self.machine = Machine()
        machine.put_program()
        machine.write(f"/etc/{UNIT_NAME}/gateway.json", json.dumps(SETTINGS), 0o600)
        machine.write(f"/etc/{UNIT_NAME}/work.secret", "a secret\n", 0o600)
        machine.write(f"/etc/systemd/system/{UNIT_NAME}.service",
                      UNIT.read_text().replace("@enroll-gateway@", f"/usr/local/bin/{UNIT_NAME}"))  # fmt: skip
        machine.write(f"/etc/systemd/system/{UNIT_NAME}.service.d/secret.conf",
                      f"[Service]\nLoadCredential=work.secret:/etc/{UNIT_NAME}/work.secret\n")  # fmt: skip
        machine.system.run(UNIT_NAME, "keys", "add", "--config", f"/etc/{UNIT_NAME}/gateway.json")
        machine.boot()
        self.addCleanup(machine.stop)
        machine.run("systemctl", "start", UNIT_NAME)
        self.assertEqual((self.status("/readyz"), self.status("/signup")), ("204", "200"))
        database = machine.run("stat", "--format", "%a %u", "/var/lib/private/enroll-gateway/gateway.db").split()
        self.assertEqual(database[0], "600")
        self.assertNotEqual(database[1], "0")

        machine.run("systemctl", "reload", UNIT_NAME)
        self.assertIn("the key file was read again", self.journal())

        machine.run("kill", "-KILL", self.shown("MainPID"))
        wait_until(lambda: self.shown("NRestarts") == "1" and self.status("/readyz") == "204", "it is ready again")

        machine.run("systemctl", "stop", UNIT_NAME)
        self.assertEqual((self.shown("ActiveState"), self.shown("Result")), ("inactive", "success"))
        self.assertEqual([line for line in self.journal().splitlines() if not line.startswith('{"time":')], [])
