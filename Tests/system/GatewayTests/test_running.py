"""Tests of the program's start, run and end: keys that are added at the same time, missing files, limits of
the system, and probes."""

import concurrent.futures
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import unittest

from crowd import LONG, raise_files
from gateway import PROGRAM, Browser, Gateway, play, sandbox_for
from processes import wait_until


def configured(**settings):
    """A gateway that is not started, with a provider that gets no request."""
    gateway = Gateway(**settings)
    gateway.settings.setdefault("providers", {"a": {"issuer": "https://id.example", "clientId": "x"}})
    gateway.write()
    return gateway


def keys_of(gateway):
    return json.loads((gateway.home / "keys.json").read_text())["keys"]


class Held:
    """Locks the gateway's database against writing."""

    def __init__(self, gateway):
        self.database = sqlite3.connect(gateway.home / "gateway.db", isolation_level=None)

    def __enter__(self):
        self.database.execute("BEGIN IMMEDIATE")
        return self

    def __exit__(self, *_):
        self.database.close()


def revocation(gateway):
    """Opens a connection and sends a request for which the gateway must write to its database. Does not read the
    answer."""
    wire = socket.create_connection(("127.0.0.1", gateway.port))
    body = "token=" + "A" * 43
    wire.sendall(
        f"POST /v1/revoke HTTP/1.1\r\nHost: 127.0.0.1:{gateway.port}\r\nContent-Length: {len(body)}\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\n\r\n{body}".encode())  # fmt: skip
    return wire


def threads_of(gateway):
    return len(os.listdir(f"/proc/{gateway.child.process.pid}/task"))


class KeyFiles(unittest.TestCase):
    def add(self, gateway, status=0):
        return gateway.run("keys", "add", "--config", str(gateway.configuration), status=status)

    def test_of_keys_added_at_once_none_is_lost(self):
        gateway = configured()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: self.add(gateway), range(12)))
        self.assertEqual(len({key["id"] for key in keys_of(gateway)}), 12)
        self.assertEqual(sorted(path.name for path in gateway.home.iterdir()), ["gateway.json", "keys.json"])

    def test_what_a_killed_command_left_goes_with_the_next_key_and_nothing_else(self):
        gateway = configured()
        self.add(gateway)
        left, others = [".keys.json.new-AbC-1234"], [".keys.json.new-notes.txt", ".keys.json.original", "keys.json.new-AbC-1234"]
        for name in left + others:
            (gateway.home / name).touch()
        (gateway.home / ".keys.json.new-AFolder1").mkdir()
        self.add(gateway)
        found = sorted(path.name for path in gateway.home.iterdir())
        self.assertEqual(found, sorted([*others, ".keys.json.new-AFolder1", "gateway.json", "keys.json"]))
        self.assertEqual(len(keys_of(gateway)), 2)

    def test_a_seventeenth_key_is_refused_and_the_file_stays_as_it_was(self):
        gateway = configured()
        for _ in range(16):
            self.add(gateway)
        before = (gateway.home / "keys.json").read_bytes()
        self.assertIn("holds 16 keys", self.add(gateway, status=1))
        self.assertEqual((gateway.home / "keys.json").read_bytes(), before)

    def test_a_link_stays_a_link_and_its_target_is_checked_and_written(self):
        gateway = configured()
        target = gateway.home / "elsewhere" / "real.json"
        target.parent.mkdir()
        self.add(gateway)
        path = gateway.home / "keys.json"
        path.rename(target)
        path.symlink_to(target)
        self.add(gateway)
        self.assertTrue(path.is_symlink())
        self.assertEqual(len(json.loads(target.read_text())["keys"]), 2)
        self.assertIn("fine", gateway.run("check", "--offline", "--config", str(gateway.configuration)))
        target.chmod(0o640)
        for words in (("keys", "add"), ("check", "--offline")):
            self.assertIn("chmod 600", gateway.run(*words, "--config", str(gateway.configuration), status=1))

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    def test_the_file_goes_on_belonging_to_its_owner(self):
        gateway = configured()
        self.add(gateway)
        path = gateway.home / "keys.json"
        os.chown(path, 54321, 54322)
        self.add(gateway)
        found = path.stat()
        self.assertEqual((found.st_uid, found.st_gid, found.st_mode & 0o777), (54321, 54322, 0o600))
        self.assertEqual(len(keys_of(gateway)), 2)


class BeforeTheStart(unittest.TestCase):
    def check(self, gateway, status=0):
        return gateway.run("check", "--offline", "--config", str(gateway.configuration), status=status)

    def test_check_before_the_first_serve_is_fine_and_makes_nothing(self):
        gateway = configured()
        gateway.run("keys", "add", "--config", str(gateway.configuration))
        self.assertIn("serve makes it", self.check(gateway))
        self.assertFalse((gateway.home / "gateway.db").exists())
        (gateway.home / "gateway.db").touch(0o600)
        self.assertIn("no tables yet; serve makes them", self.check(gateway))
        gateway.start()
        gateway.stop()
        self.assertNotIn("serve", self.check(gateway))

    def test_check_refuses_a_folder_in_which_serve_could_make_no_database(self):
        # Users other than root can read the program and the files in this folder.
        with tempfile.TemporaryDirectory() as name:
            home = pathlib.Path(name)
            gateway, program = configured(home=home), shutil.copy(PROGRAM, home)
            gateway.run("keys", "add", "--config", str(gateway.configuration))
            words = [program, "check", "--offline", "--config", gateway.configuration]
            user = {}
            if os.geteuid() == 0:
                user = {"user": 54321, "group": 54321, "extra_groups": []}
                for path in (home, *home.iterdir()):
                    os.chown(path, 54321, 54321)
            cases = ((0o500, 1, "cannot be written (Permission denied)"), (0o700, 0, "serve makes it"))
            for mode, status, said in cases:
                home.chmod(mode)
                done = subprocess.run(words, capture_output=True, text=True, timeout=60, **user)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(said, done.stdout + done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give folders away")
    def test_root_makes_no_database_in_the_folder_of_another_user(self):
        gateway = configured()
        gateway.run("keys", "add", "--config", str(gateway.configuration))
        migrate = ("migrate", "--config", str(gateway.configuration))
        for user, name in ((54321, "'#54321'"), (pwd.getpwnam("nobody").pw_uid, "nobody")):
            os.chown(gateway.home, user, user)
            self.assertIn(f"sudo -u {name} enroll-gateway migrate", gateway.run(*migrate, status=1))
            self.check(gateway)
            self.assertEqual(sorted(path.name for path in gateway.home.iterdir()), ["gateway.json", "keys.json"])
        # The owner of the database also becomes the owner of the files that SQLite makes next to it.
        (gateway.home / "gateway.db").touch(0o600)
        os.chown(gateway.home / "gateway.db", user, user)
        self.assertIn("Applied", gateway.run(*migrate))
        self.assertEqual((gateway.home / "gateway.db").stat().st_uid, user)
        (gateway.home / "gateway.db").unlink()
        os.chown(gateway.home, 0, 0)
        self.assertIn("Applied", gateway.run(*migrate))

    def test_a_time_for_stopping_that_is_out_of_range_is_refused_before_anything_starts(self):
        for seconds in ("-1", "86401", str(2**63 - 1)):
            told = Gateway().run("serve", f"--stop-seconds={seconds}", status=64)
            self.assertIn(f"--stop-seconds must be a number from 0 to 86400, not {seconds}.", told)

    def test_check_refuses_what_serve_would_refuse(self):
        gateway = configured()
        gateway.run("keys", "add", "--config", str(gateway.configuration))
        for change, key in [
            ({"listen": "localhost:80"}, "listen"), ({"listen": "127.0.0.1:99999"}, "listen"),
            ({"trustedProxies": ["proxy"]}, "trustedProxies"), ({"trustedProxies": ["10.0.0.0/33"]}, "trustedProxies"),
            ({"listen": "127.0.0.1:9464", "metrics": "127.0.0.1:9464"}, "metrics"),
            ({"listen": "0.0.0.0:9464", "metrics": "127.0.0.1:9464"}, "metrics"), ({"theme": "Notes"}, "theme"),
            ({"textFiles": ["/nowhere/texts.json"]}, "textFiles"),
        ]:  # fmt: skip
            with self.subTest(change):
                before = dict(gateway.settings)
                gateway.settings.update(change)
                gateway.write()
                gateway.settings = before
                for words in (("check", "--offline"), ("serve",)):
                    told = gateway.run(*words, "--config", str(gateway.configuration), status=1)
                    self.assertIn(f"enroll-gateway: {key}: ", told)

    def test_a_missing_libcurl_is_noticed_at_once(self):
        gateway = configured()
        gateway.run("keys", "add", "--config", str(gateway.configuration))
        for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
            (gateway.home / name).touch()
        for words in (("check", "--offline"), ("serve",)):
            done = subprocess.run(
                [PROGRAM, *words, "--config", gateway.configuration], capture_output=True, text=True, timeout=60,
                env={**os.environ, "LD_LIBRARY_PATH": str(gateway.home)})  # fmt: skip
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("libcurl", done.stderr)

    def test_relative_paths_are_meant_from_the_configuration(self):
        gateway = configured(keys="keys.json", database="sqlite:gateway.db")
        (gateway.home / "secret").write_text("a secret\n")
        gateway.settings["providers"]["a"]["clientSecretFile"] = "secret"
        gateway.start()
        self.addCleanup(gateway.stop)
        self.assertTrue((gateway.home / "keys.json").exists() and (gateway.home / "gateway.db").exists())

    def test_every_file_that_is_named_is_looked_for_beside_the_configuration(self):
        gateway = configured()
        provider = gateway.settings["providers"]["a"]
        for part, key in (
            (provider, "clientSecretFile"), (provider, "clientKeyFile"), (provider, "applePrivateKeyFile"),
            (gateway.settings.setdefault("directory", {}), "tokenFile"),
            (gateway.settings["directory"], "clientSecretFile"),
            (gateway.settings.setdefault("mail", {}), "passwordFile"),
        ):  # fmt: skip
            with self.subTest(key):
                part[key] = "not-there"
                gateway.write()
                told = gateway.run("check", "--config", str(gateway.configuration), status=1)
                self.assertIn(str(gateway.home / "not-there"), told)
                del part[key]

    @unittest.skipUnless(os.geteuid() == 0, "only root can become a user without threads")
    def test_a_thread_that_cannot_start_ends_the_start_in_words(self):
        gateway = configured()
        other_user = self.give_away(gateway)
        done = subprocess.run(
            ["prlimit", "--nproc=1", *other_user, PROGRAM, "serve", "--config", gateway.configuration],
            capture_output=True, text=True, timeout=60)  # fmt: skip
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("the system gives no thread for", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become a user without threads")
    def test_it_stops_where_the_system_gives_no_more_threads(self):
        gateway = configured()
        gateway.prefix = self.give_away(gateway)
        gateway.start()
        self.addCleanup(gateway.stop)
        limit = ("prlimit", "--pid", str(gateway.child.process.pid), "--nproc=1")
        subprocess.run([*gateway.prefix, *limit], check=True)
        gateway.signal(signal.SIGTERM)
        self.assertEqual(gateway.child.process.wait(120), 0, gateway.log())

    def give_away(self, gateway):
        """Makes another user the owner of the files of a gateway that is not started. Returns the words that start a
        program as that user."""
        gateway.run("keys", "add", "--config", str(gateway.configuration))
        user = "54321"
        for path in [gateway.home, *gateway.home.iterdir()]:
            os.chown(path, int(user), int(user))
        closed = [path for path in gateway.home.parents if not path.stat().st_mode & 0o001]
        if closed or not os.access(PROGRAM, os.X_OK):
            self.skipTest(f"another user cannot reach {closed}")
        return ("setpriv", "--reuid", user, "--regid", user, "--clear-groups")


class Running(unittest.TestCase):
    def start(self, *prefix, **settings):
        gateway = Gateway(**settings)
        sandbox = sandbox_for(gateway)
        self.addCleanup(sandbox.stop)
        gateway.prefix = prefix
        gateway.start()
        self.addCleanup(gateway.stop)
        return gateway, sandbox

    def sign_in(self, gateway, sandbox):
        browser = Browser(gateway.base)
        self.assertEqual(play(sandbox, f"{gateway.base}/v1/auth/sandbox", browser).status, 303)
        return browser

    def test_a_database_file_that_goes_is_noticed_and_nobody_signs_in_to_it(self):
        gateway, sandbox = self.start()
        before = self.sign_in(gateway, sandbox)
        visitor = Browser(gateway.base)
        self.assertEqual(visitor.open("/readyz").status, 204)
        files = [gateway.home / f"gateway.db{suffix}" for suffix in ("", "-wal", "-shm")]
        for path in files:
            path.rename(f"{path}.away")
        wait_until(lambda: visitor.open("/readyz").status == 503, "the gateway says that it is not ready")
        self.assertEqual(visitor.open("/livez").status, 204)
        self.assertEqual(play(sandbox, f"{gateway.base}/v1/auth/sandbox", visitor).status, 503)
        self.assertEqual(before.open("/account").status, 503)
        self.assertIn("was removed or replaced", gateway.log())
        gateway.stop()
        for path in files:
            if (away := pathlib.Path(f"{path}.away")).exists():
                away.rename(path)
        gateway.start()
        self.assertEqual(before.open("/account").status, 200)

    def test_a_write_ahead_log_that_goes_is_named_in_the_log_and_loses_nothing(self):
        gateway, sandbox = self.start()
        before = self.sign_in(gateway, sandbox)
        (gateway.home / "gateway.db-wal").unlink()
        visitor = Browser(gateway.base)
        wait_until(lambda: visitor.open("/readyz").status == 503, "the gateway says that it is not ready")
        wait_until(lambda: "gateway.db-wal was removed or replaced" in gateway.log(), "the log names the file")
        gateway.stop()
        gateway.start()
        self.assertEqual(visitor.open("/readyz").status, 204)
        self.assertEqual(before.open("/account").status, 200)

    def test_a_probe_needs_neither_a_name_nor_a_free_worker(self):
        gateway, _ = self.start(databaseConnections=1)
        visitor = Browser(gateway.base)
        for path in ("/livez", "/readyz"):
            self.assertEqual(visitor.open(path, headers={"Host": "10.0.0.7"}).status, 204)
        self.assertEqual(visitor.open("/login", headers={"Host": "10.0.0.7"}).status, 421)
        with Held(gateway):
            # One worker waits for the lock, and all the other requests wait behind it.
            idle = threads_of(gateway)
            wires = [revocation(gateway) for _ in range(40)]
            wait_until(lambda: threads_of(gateway) > idle, "a worker has work")
            for path in ("/readyz", "/livez"):
                self.assertEqual(visitor.open(path).status, 204)
            self.assertEqual(visitor.open("/").location, "/login")
            for wire in wires:
                wire.close()

    @unittest.skipUnless(LONG, "the long form")
    def test_five_thousand_idle_connections_keep_nobody_out(self):
        raise_files()
        gateway, _ = self.start("prlimit", "--nofile=16384:16384", trustedProxies=["127.0.0.1"])
        visitor = Browser(gateway.base)
        wires = []
        self.addCleanup(lambda: [wire.close() for wire in wires])
        for _ in range(5_000):
            wires.append(socket.create_connection(("127.0.0.1", gateway.port)))
            if len(wires) % 500 == 0:
                self.assertEqual(visitor.open("/login").status, 200, len(wires))
        for wire in wires:
            wire.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertEqual({wire.recv(12) for wire in wires}, {b"HTTP/1.1 204"})

    def test_the_limit_of_open_files_is_raised_and_connections_follow_it(self):
        gateway, _ = self.start("prlimit", "--nofile=256:3000", trustedProxies=["127.0.0.1"])
        limits = "open files: at most 3000; connections: at most 1882"
        wait_until(lambda: limits in gateway.log(), "the limits are in the log")
        wires = [socket.create_connection(("127.0.0.1", gateway.port)) for _ in range(400)]
        self.addCleanup(lambda: [wire.close() for wire in wires])
        for wire in wires:
            wire.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertEqual({wire.recv(12) for wire in wires}, {b"HTTP/1.1 204"})
        few, _ = self.start("prlimit", "--nofile=256:256")
        limits = "open files: at most 256; connections: at most 64"
        wait_until(lambda: limits in few.log(), "the limits are in the log")

    def test_too_few_open_files_are_refused_with_the_number_that_is_needed(self):
        gateway = configured()
        gateway.run("keys", "add", "--config", str(gateway.configuration))
        serve = ["serve", "--config", gateway.configuration]
        done = subprocess.run(["prlimit", "--nofile=40:50", PROGRAM, *serve], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("at most 50 open files", done.stderr)
        self.assertIn("LimitNOFILE=", done.stderr)
        least = re.search(r"at least (\d+)", done.stderr)[1]
        enough, sandbox = self.start("prlimit", f"--nofile={least}:{least}")
        self.sign_in(enough, sandbox)

    def test_ended_with_work_left_its_status_is_not_0(self):
        gateway, _ = self.start()
        gateway.stop()
        gateway.options = ("--stop-seconds", "0")
        gateway.start()
        with Held(gateway):
            idle = threads_of(gateway)
            wire = revocation(gateway)
            wait_until(lambda: threads_of(gateway) > idle, "a worker has work")
            gateway.signal(signal.SIGTERM)
            self.assertEqual(gateway.child.process.wait(30), 1, gateway.log())
            self.assertIn("stopped with requests in work", gateway.log())
            wire.close()

    def test_a_program_from_before_starts_with_a_newer_schema(self):
        gateway, sandbox = self.start()
        self.sign_in(gateway, sandbox)
        gateway.stop()
        with sqlite3.connect(gateway.home / "gateway.db") as database:
            database.execute("INSERT INTO schema_versions VALUES (99, 0)")
        database.close()
        gateway.start()
        self.assertIn("schema 99 of a newer enroll-gateway", gateway.log())
        self.assertEqual(Browser(gateway.base).open("/readyz").status, 204)
        self.sign_in(gateway, sandbox)
        self.assertEqual(gateway.log().count(" registered"), 1)

    def test_of_32_callbacks_of_one_sign_in_at_once_all_lead_to_the_account(self):
        gateway, sandbox = self.start()
        first = Browser(gateway.base)
        back = sandbox.control("settle", url=first.open("/v1/auth/sandbox").location)["redirect"]
        browsers = [Browser(gateway.base) for _ in range(32)]
        for browser in browsers:
            browser.cookies = dict(first.cookies)
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            answers = list(pool.map(lambda browser: browser.open(back), browsers))
        self.assertEqual([answer.status for answer in answers], [303] * 32)
        winners = [browser for browser in browsers if "__Host-enroll" in browser.cookies]
        self.assertEqual(len(winners), 1)
        # The 32 requests represent one browser, which has the session's cookie, whichever answer it follows.
        for answer in answers:
            target = answer.location
            while target != "/account":
                answer = winners[0].open(target)
                self.assertEqual(answer.status, 303, target)
                target = answer.location
        self.assertEqual(winners[0].open("/account").status, 200)
        self.assertEqual(gateway.log().count(" registered"), 1)
