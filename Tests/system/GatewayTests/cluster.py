"""A PostgreSQL primary with a synchronous standby, and the actions of a cluster manager when one of them dies.

Commits wait for the standby. When the primary dies, the standby is promoted, and a new standby is made from it; until
the new standby follows, commits do not wait, and this module kills no server.
"""

import glob
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from crowd import sql
from processes import free_port, wait_until

PROGRAMS = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))


class Server:
    def __init__(self, cluster, name):
        self.cluster = cluster
        self.folder = cluster.folder / name
        self.port = free_port()

    def run(self, program, *words):
        cluster = self.cluster
        done = subprocess.run([*cluster.user, f"{PROGRAMS[-1]}/{program}", *map(str, words)], cwd=cluster.folder,
                              stdin=subprocess.DEVNULL, stdout=cluster.log, stderr=cluster.log)  # fmt: skip
        if done.returncode:
            raise AssertionError(f"{program} {words}: status {done.returncode}\n{cluster.said()}")

    def configure(self, is_synchronous):
        """Appends settings to the file, because the last line for a setting counts."""
        with open(self.folder / "postgresql.conf", "a") as file:
            file.write(f"port = {self.port}\nsynchronous_standby_names = '{'*' if is_synchronous else ''}'\n")

    def start(self):
        self.run("pg_ctl", "-D", self.folder, "-l", self.folder / "server.log", "-w", "-t", "60", "start")

    def reload(self):
        self.run("pg_ctl", "-D", self.folder, "reload")

    def kill(self):
        """Kills all processes of the server, as a power cut would."""
        postmaster = int((self.folder / "postmaster.pid").read_text().split()[0])
        os.kill(postmaster, signal.SIGSTOP)
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        for process in [*map(int, children), postmaster]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_until(lambda: not Path(f"/proc/{postmaster}").exists(), "the server is gone")

    @property
    def url(self):
        return f"postgresql://gateway@127.0.0.1:{self.port}/postgres"


class Cluster:
    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="enroll-cluster-"))
        self.user = []
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
            self.user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
        self.log = open(self.folder / "log", "ab")
        self.primary, self.standby = Server(self, "a"), Server(self, "b")
        first = self.primary
        first.run("initdb", "--no-sync", "-D", first.folder, "-A", "trust", "-U", "gateway", "-E", "UTF8",
                  "--locale=C.UTF-8")  # fmt: skip
        with open(first.folder / "postgresql.conf", "a") as file:
            file.write("listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 100\n"
                       "shared_buffers = 32MB\nwal_retrieve_retry_interval = 200ms\n"
                       "recovery_init_sync_method = syncfs\ncheckpoint_timeout = 30s\n")  # fmt: skip
        first.configure(is_synchronous=False)
        first.start()
        hosts = f"127.0.0.1:{first.port},127.0.0.1:{self.standby.port}"
        #: The URL has both hosts: libpq connects to the host that accepts writes.
        self.url = f"postgresql://gateway@{hosts}/postgres"
        self.follow()

    def said(self):
        return (self.folder / "log").read_text()[-2000:]

    def follow(self):
        """Makes the standby again from the primary; commits wait for it from then on."""
        standby, primary = self.standby, self.primary
        shutil.rmtree(standby.folder, ignore_errors=True)
        standby.run("pg_basebackup", "-h", "127.0.0.1", "-p", primary.port, "-U", "gateway", "-D", standby.folder, "-R",
                    "-X", "stream", "-c", "fast", "--no-sync")  # fmt: skip
        standby.configure(is_synchronous=False)
        standby.start()
        primary.configure(is_synchronous=True)
        primary.reload()
        self.wait_until_synchronous()

    def wait_until_synchronous(self):
        wait_until(lambda: sql(self.primary.url, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"),
                   "the standby follows")  # fmt: skip

    def kill_primary(self):
        """Kills the primary and starts it again, as after a power cut."""
        self.primary.kill()
        self.primary.start()
        self.wait_until_synchronous()

    def kill_standby(self):
        self.standby.kill()
        self.standby.start()
        self.wait_until_synchronous()

    def promote(self):
        """Kills the primary and promotes the standby.

        - Returns: the time of the kill."""
        began = time.monotonic()
        self.primary.kill()
        self.standby.run("pg_ctl", "-D", self.standby.folder, "-w", "promote")
        self.primary, self.standby = self.standby, self.primary
        return began

    def stop(self):
        for server in (self.primary, self.standby):
            try:
                server.run("pg_ctl", "-D", server.folder, "-m", "immediate", "-w", "stop")
            except AssertionError:
                pass
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
