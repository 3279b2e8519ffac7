#!/usr/bin/env python3
"""Makes stores with an earlier build, for tests that open these stores with later builds: `make.py NAME`; see
README.md.

ENROLLD, ENROLL and ENROLL_C_DRIVER name the programs of that build, LD_LIBRARY_PATH the folder of the driver's library,
ENROLL_SANDBOX the sandbox of this build.
"""

import json
import os
import subprocess
import sys
import tarfile
import time
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "../../faces/Support"), str(HERE / "../FlowTests")]

import earlier  # noqa: E402
import faces  # noqa: E402
from person import Person  # noqa: E402
from processes import wait_until, workspace  # noqa: E402
from sandbox import Sandbox, come_back  # noqa: E402

BOOT_ID = "/proc/sys/kernel/random/boot_id"
ENROLL = os.environ["ENROLL"]
ENROLLD = os.environ["ENROLLD"]


def spelled(*names):
    """Returns the first of these names that the build's manifest has, because some names have changed since
    that build."""
    return next(name for name in names if f'"{name}"' in MANIFEST)


class Maker:
    """One store, made with one sandbox and one or more processes."""

    def __init__(self, folder, name, options=(), keys=None, **configuration):
        self.name = name
        self.folder = folder / name
        self.folder.mkdir(mode=0o700)
        self.sandbox = Sandbox(*earlier.LASTING, *options, port=earlier.PORT)
        self.configuration = self.sandbox.configuration(**configuration)
        self.facts = {"configuration": self.configuration, "sandbox": list(options)}
        self.keys = keys
        self.face = faces.FACES["jsonrpc"]

    def open(self, account=None):
        more = {"keys": self.keys} if self.keys else {}
        return self.face.open(self.configuration, self.folder / "store", account, **more)

    def begin(self, client, **parameters):
        begun = client.call("registration.begin", **parameters)
        self.facts["begun"] = begun
        return begun

    def sign_in(self, client, user="alice"):
        begun = self.begin(client, kind="signIn")
        redirect = self.sandbox.control("settle", url=begun["action"]["url"], user=user)["redirect"]
        client.call("registration.resume", url=redirect)
        client.call("registration.confirm")
        token = client.call("token.access")["accessToken"]
        self.facts.setdefault("tokens", []).append(token)
        return redirect

    def end(self):
        self.facts["date"] = int(time.time())
        memory = self.sandbox.control("memory")["memory"]
        self.sandbox.stop()
        (self.folder / "facts.json").write_text(json.dumps(self.facts, indent=1, sort_keys=True) + "\n")
        (self.folder / "memory.json").write_text(json.dumps(memory, sort_keys=True) + "\n")
        print(f"made {self.name}")


def sessions(folder):
    """Makes stores with a session: one each with a key file, a passphrase, a bound token, a PIN, or two
    accounts, and one that the C driver makes."""
    for name, options, keys in (
        ("session", (), None),
        ("session-passphrase", (), {"provider": "passphrase", "passphrase": earlier.PASSPHRASE}),
        ("session-dpop", ("--dpop", "required"), None),
        ("session-pin", (), None),
    ):
        made = Maker(folder, name, options, keys)
        client = made.open()
        redirect = made.sign_in(client)
        if name == "session-pin":
            client.call("pin.set", pin=earlier.PIN)
        if name == "session":
            # One transaction that succeeded, and one that was cancelled.
            made.facts["redirect"] = redirect
            cancelled = client.call("registration.begin", kind="signIn")
            client.call("registration.cancel", transaction=cancelled["transaction"])
            made.facts["cancelled"] = cancelled["transaction"]
        client.close()
        made.end()

    made = Maker(folder, "session-from-c")
    made.face = faces.FACES["c"].within({"LD_LIBRARY_PATH": os.environ["LD_LIBRARY_PATH"]})
    client = made.open()
    made.sign_in(client)
    client.close()
    made.end()

    made = Maker(folder, "session-two-accounts")
    for user in ("alice", "bob"):
        client = made.open(user)
        made.sign_in(client, user)
        client.close()
    made.end()

    made = Maker(folder, "outbox")
    client = made.open()
    made.sign_in(client)
    made.sandbox.control("fault", fault="serverError", endpoint="revocation")
    if client.call("token.revoke")["providerTold"] != "queued":
        sys.exit("the revocation was not queued")
    client.close()
    made.end()


def pending(folder):
    """Makes stores, each with one pending sign-in of one kind."""
    made = Maker(folder, "pending-browser")
    client = made.open()
    made.begin(client, kind="signIn")
    client.kill()
    made.end()

    link = "https://app.example/welcome/{activationToken}"
    made = Maker(folder, "pending-email", ("--gateway", "--activation-link", link), appLinks=[link])
    client, person = made.open(), Person(made.sandbox)
    person.open(made.begin(client, kind="register")["action"]["url"])
    person.follow("Register with your e-mail address")
    person.press(email="carol@example.com")
    client.call("registration.cancel", transaction=made.facts["begun"]["transaction"])
    made.facts["link"] = made.sandbox.control("mails")["mails"][-1]["link"]
    client.kill()
    made.end()

    made = Maker(folder, "pending-code", passwordless="auth0")
    client = made.open()
    made.begin(client, kind="passwordless", options={"email": "alice@example.com"})
    made.facts["code"] = made.sandbox.control("messages")["messages"][-1]["code"]
    client.kill()
    made.end()

    kind = spelled("app2app", "anotherApp")
    base = f"http://127.0.0.1:{earlier.PORT}/other-app"
    made = Maker(folder, "pending-other-app", **{
        kind: {"initUri": f"{base}/init", "completeUri": f"{base}/complete", "allowedLinks": [base]}})
    client = made.open()
    made.begin(client, kind=kind)
    client.kill()
    made.end()

    kind = spelled("bff", "backend")
    made = Maker(folder, "pending-back-end", **{kind: {"base": f"http://127.0.0.1:{earlier.PORT}"}})
    client = made.open()
    made.begin(client, kind=kind, options={"connection": "google"})
    client.kill()
    made.end()

    made = Maker(folder, "pending-device", ("--device-interval", "1"))
    client = made.open()
    made.begin(client, kind="device")
    client.kill()
    made.end()


def command(folder):
    """Makes a home directory whose user signed in with the command."""
    made = Maker(folder, "command-home", redirectUri="http://127.0.0.1/callback", postLogoutRedirectUri=None)
    home = made.folder / "home"
    profiles = home / ".config/enrollkit"
    profiles.mkdir(parents=True)
    (profiles / "default.json").write_text(json.dumps(made.configuration, indent=1) + "\n")
    browser = workspace("browser") / "browser"
    browser.write_text("#!/bin/sh\nprintf '%s\\n' \"$1\" >\"$0.part\" && mv \"$0.part\" \"$0.opened\"\n")
    browser.chmod(0o755)
    opened = browser.with_suffix(".opened")
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "BROWSER": str(browser)}
    login = subprocess.Popen([ENROLL, "login", "--yes"], env=environment, stdin=subprocess.DEVNULL)
    wait_until(opened.exists, "the browser is opened")
    come_back(made.sandbox.play(opened.read_text().strip()))
    if login.wait(30) != 0:
        sys.exit("enroll login failed")
    made.end()


def before_a_reboot():
    """Runs this program again with another boot id. The stores then look as if the machine had rebooted, so only the
    date counts."""
    boot = workspace("boot") / "id"
    boot.write_text(f"{uuid.uuid4()}\n")
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    words = ["unshare", "--mount", *user, "sh", "-c", 'mount --bind "$0" "$1" && shift && exec "$@"', str(boot), BOOT_ID]
    sys.exit(subprocess.run([*words, sys.executable, "-B", *sys.argv], env={**os.environ, "REBOOTED": "1"}).returncode)


def main():
    if "REBOOTED" not in os.environ:
        before_a_reboot()
    name = sys.argv[1]
    folder = workspace("earlier") / name
    folder.mkdir(mode=0o700)
    sessions(folder)
    pending(folder)
    command(folder)
    with tarfile.open(HERE / f"{name}.tar.gz", "w:gz") as archive:
        archive.add(folder, arcname=".", filter=without_owner)


def without_owner(entry):
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


MANIFEST = subprocess.run([ENROLLD, "--manifest"], capture_output=True, text=True, check=True).stdout
main()
