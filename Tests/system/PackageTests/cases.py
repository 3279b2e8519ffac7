"""The code that the tests of packages share: the sandbox, the packed files, and ways to get a first token."""

import contextlib
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
import time
import unittest
import urllib.request

from processes import TOP, TIMEOUT, workspace
from sandbox import Sandbox

IS_TORTURE = os.environ.get("TORTURE") == "1"
#: Tests that only `make torture` runs. `make test` only makes and installs one package of each kind, from the build of
#: `make lib` without options.
torture_only = unittest.skipUnless(IS_TORTURE, "TORTURE=1")
PACKED = os.environ if IS_TORTURE else {**os.environ, "PLAIN": "1"}
VERSION = re.search(r'let string = "([\d.]+)"', (TOP / "Sources/EnrollHost/LibraryVersion.swift").read_text())[1]
PACKAGES = "enroll", "enrolld", "libenroll-dev", "libenroll0", "python3-enrollkit"
TOKEN = r"\A[\w.~+/-]+=*\n\Z"
#: The store of the command when root runs it in one of the test systems.
STORE = "/root/.local/share/enrollkit"

_sandbox = None


def sandbox():
    global _sandbox
    if _sandbox is None:
        _sandbox = Sandbox()
    return _sandbox


def tear_down():
    if _sandbox is not None:
        _sandbox.stop()


@functools.cache
def debian_packages(version=None):
    """A folder that contains the Debian packages for this machine: by default the folder of all artefacts; with
    `version`, a folder that has only Debian packages of this version."""
    if version is None:
        return distribution()
    folder = workspace("packages")
    done = subprocess.run([TOP / "scripts/dist-debian", folder], env={**os.environ, "VERSION": version}, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"dist-debian: {done.stdout}{done.stderr}")
    return folder


def files(folder, *names):
    """The Debian packages with these names, or all of them, for this machine."""
    architecture = subprocess.check_output(["dpkg", "--print-architecture"], text=True).strip()
    return [next(path for path in folder.glob(f"{name}_*.deb") if path.stem.endswith((f"_{architecture}", "_all")))
            for name in names or PACKAGES]  # fmt: skip


def distribution():
    """The folder of artefacts that scripts/dist makes."""
    folder, done = _made()
    if done.returncode != 0:
        raise AssertionError(f"dist: {done.stdout}{done.stderr}")
    return folder


@functools.cache
def _made():
    """Runs scripts/dist once, even if it fails: a failing run takes a minute, and every test needs its result."""
    folder = workspace("dist")
    done = subprocess.run([TOP / "scripts/dist", folder], capture_output=True, text=True, env=PACKED)
    print(done.stdout)
    return folder, done


@functools.cache
def built():
    """The folder of each target that is packed."""
    told = subprocess.run([TOP / "scripts/targets"], capture_output=True, text=True, check=True, env=PACKED).stdout
    return {line.split()[0]: TOP / line.split()[1] for line in told.splitlines()}


def only(pattern):
    """The artefact with this name; it is an error if several match."""
    found = list(distribution().glob(pattern))
    if len(found) != 1:
        raise AssertionError(f"{pattern}: {[path.name for path in found]}")
    return found[0]


def copy_of_the_checkout():
    """A copy of the checkout in another folder, with the same commit and the same build. All artefacts are made again
    there."""
    other = workspace("elsewhere") / "a folder" / "enrollkit"
    subprocess.run(["git", "clone", "--quiet", "--shared", TOP, other], check=True)
    subprocess.run(["git", "-C", other, "checkout", "--quiet", "-B", "copy"], check=True)
    # The copy also gets the changes that are not committed.
    changed = subprocess.check_output(["git", "ls-files", "-z", "--modified", "--others", "--exclude-standard"], cwd=TOP)
    for name in filter(None, changed.decode().split("\0")):
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        if (TOP / name).exists():
            shutil.copy2(TOP / name, other / name)
    # The new commit gets the date of the last commit.
    date = subprocess.check_output(["git", "log", "-1", "--format=%cI"], cwd=TOP, text=True).strip()
    subprocess.run(["git", "-C", other, "add", "--all"], check=True)
    subprocess.run(["git", "-C", other, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "--allow-empty",
                    "--message", "As it is"], check=True, env={**os.environ, "GIT_COMMITTER_DATE": date})  # fmt: skip
    (other / "build").mkdir()
    for folder in ("lib", "bin", "completions", "man", *(path.name for path in TOP.glob("build/*-linux-*"))):
        subprocess.run(["cp", "-a", TOP / "build" / folder, other / "build" / folder], check=True)
    (other / ".build").mkdir()
    for folder in ("kotlin", "targets"):
        if (TOP / ".build" / folder).exists():
            (other / ".build" / folder).symlink_to(TOP / ".build" / folder)
    return other


def come_back(url):
    """Plays the browser: Alice signs in and consents, and the browser follows the redirect to the
    listener."""
    with urllib.request.urlopen(sandbox().play(url), timeout=TIMEOUT) as page:
        page.read()


def ended(child):
    output, words = child.communicate(timeout=TIMEOUT)
    if child.returncode != 0:
        raise AssertionError(f"status {child.returncode}: {output}{words}")
    return output, words


def sign_in(chroot, enroll="enroll", **environment):
    """Runs `enroll login` in a system, to its end."""
    child = chroot.start(enroll, "login", "--yes", "--no-browser", "--issuer", sandbox().issuer, "--client-id", "sample-app",
                         "--allow-loopback-http", **environment)  # fmt: skip
    seen = ""
    while not (found := re.search(r"(http://\S+authorize\S*)\s", seen)):
        line = child.stderr.readline()
        if not line:
            ended(child)
            raise AssertionError(f"enroll login showed no address: {seen}")
        seen += line
    come_back(found[1])
    return ended(child)


def example(chroot, *command, **environment):
    """Runs a program like Examples/sign_in.py: it prints a URL, and after the sign-in it reports its
    token."""
    child = chroot.start(*command, **environment)
    line = child.stdout.readline()
    if "http" not in line:
        raise AssertionError(f"{line}{child.communicate()}")
    come_back(line.rpartition(" ")[2].strip())
    return ended(child)[0]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(folder):
    """The URL of a server for the files of a folder, for package managers that download."""
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def report(way, began):
    print(f"from a bare system to the first token by {way}: {time.monotonic() - began:.0f} s", flush=True)


class Peer:
    """A running enrolld to which the test sends one command after the other."""

    def __init__(self, child):
        self.child = child

    def call(self, method, **parameters):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        print(json.dumps(request), file=self.child.stdin, flush=True)
        while line := self.child.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == 1:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
        raise AssertionError(f"{method}: {self.child.communicate()}")

    def end(self):
        ended(self.child)

