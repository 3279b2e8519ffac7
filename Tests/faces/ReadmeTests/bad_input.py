#!/usr/bin/env python3
"""Makes each common mistake of a first sign-in with the command, with Python and with C. docs/troubleshooting.md has
the messages. `bad_input.py --write` writes the messages into that page."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[3]
if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(ROOT / "Tests/faces/Support")]

from sandbox import Sandbox  # noqa: E402

PAGE = ROOT / "docs/troubleshooting.md"
ENROLL = os.environ.get("ENROLL") or str(ROOT / "build/bin/enroll")
LIBRARY = ROOT / "build/lib"
START, END = "<!-- bad input -->\n", "<!-- end of bad input -->"
ISSUER, CALLBACK = "https://id.example", "http://127.0.0.1/callback"
#: How many seconds a test waits for a user who does not come.
WAIT_SECONDS = 1
KEYS_FILE, KEYS_SECRET_SERVICE = 0, 2

PYTHON = """
import json, sys
import enrollkit
configuration, store, keys, seconds = sys.argv[1:]
keys = enrollkit.Keys(provider="secret-service") if keys == "2" else None
present = {} if seconds == "0" else {"present": lambda action: print(action.url, file=sys.stderr, flush=True)}
try:
    with enrollkit.Client(json.loads(configuration), store=store, keys=keys) as client:
        client.sign_in(confirm=lambda profile: True, timeout=max(int(seconds), 1), **present)
        print("signed in")
except enrollkit.EnrollError as error:
    print(f"{type(error).__name__}: {error}")
"""

#: Title, text above the messages, and text below them. The cause and the remedy are the same in each language.
CASES = {
    "issuer": (
        "The issuer is wrong",
        "The server answers, and has no discovery document there. Write the issuer exactly as the provider's metadata spells it, "
        "path and final slash included; [the guides](providers.md#guides) have it for twelve providers. If the document names another "
        "issuer than the configured one, the error is [`issuerMismatch`](#issuermismatch) and names both."),
    "client": (
        "The client id is wrong",
        "The provider shows its own error page in the browser and sends no redirect, so no program hears of it: the sign-in stays "
        "pending until its timeout. Look at the browser, and compare the client id with the one at the provider. After 30 seconds `enroll "
        "login` asks whether the browser shows an error page, and prints the client id and the redirect URI; Python's `sign_in` and Kotlin's `signIn` log them. `enroll login --device` sends the client "
        "id itself, so the provider's refusal is seen at once: that is the message of the command below."),
    "redirect": (
        "The redirect URI is wrong",
        "EnrollKit refuses a redirect URI that cannot work, before any request. A redirect URI that could work and that the provider "
        "has not registered looks like [a wrong client id](#the-client-id-is-wrong): the browser shows the provider's error page. For an app on this machine "
        "register `http://127.0.0.1/callback`, or a private scheme of your app; if the provider compares ports, register one port and "
        "write it into `redirectUri`."),
    "down": (
        "The provider is down",
        "Nothing answers at this address. Check the address, the network and the firewall, then try again. If the request "
        "goes through a proxy that does not answer, the message names the proxy and the environment variable. If a user is "
        "signed in already, no session ends: `token.access` gives the token that still works (`stale`)."),
    "browser": (
        "No browser opens",
        "`enroll` shows the address in any case: open it yourself, or sign in with `enroll login --device`. In Python pass `present` and show the "
        "user the URL; over SSH, forward the redirect's port (`ssh -L`), or use `kind=\"device\"`. In Swift and Kotlin `DesktopBrowser` "
        "starts the program that `BROWSER` names, if it is set; a sign-in with a closure or lambda shows the URL instead. In C "
        "your program opens the browser itself."),
    "keyring": (
        "There is no keyring",
        "On a machine without a desktop there is no Secret Service. Leave out the option: the key is then a file of mode 0600 in the "
        "store. Or use a passphrase (`--keys passphrase`). A keyring that exists and is locked gives the same error, "
        "[`storeLocked`](#storelocked); unlock it, and the same program goes on."),
    "port": (
        "The port is taken by another program",
        "The redirect URI names a port, and another program listens there. Often it is a second sign-in: end it. If the "
        "provider allows any port (RFC 8252 §7.3), register the redirect URI without one; the system then chooses a free port."),
    "store": (
        "The store's folder cannot be made or written",
        "The message names the folder, what EnrollKit tried, why the system refused it, and what helps. The folder that holds the "
        "store must exist. A store's own folder belongs to the user who runs the program and has mode 0700, its files 0600. On a full "
        "disk the error is [`storeFull`](#storefull), and on a failing one [`storeIO`](#storeio)."),
    "clock": (
        "The clock is wrong",
        "A sign-in works all the same: EnrollKit learns from the provider's answers how far the clock is off, and judges times by that. `enroll doctor` says "
        "so. What a wrong clock does break is TLS: a certificate seems to be too old or too new, and the error is [`tls`](#tls). Set "
        "the clock: `timedatectl set-ntp true`."),
}  # fmt: skip


class Machine:
    """A home, a provider and the programs."""

    def __init__(self, home, sandbox):
        self.home, self.sandbox, self.count = pathlib.Path(home), sandbox, 0
        self.binary = self.home / "bad_input"
        subprocess.run(
            ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", pathlib.Path(__file__).with_suffix(".c"), "-o",
             self.binary, f"-L{LIBRARY}", "-lenroll", f"-Wl,-rpath,{LIBRARY}"], check=True)  # fmt: skip
        self.replaced = {sandbox.issuer: ISSUER, f"user {os.geteuid()} ": "user 1000 "}
        #: Whether the programs run without root's capabilities, so that file modes restrict them.
        self.is_plain_user = False

    def run(self, *command, **environment):
        self.count += 1
        if self.is_plain_user and os.geteuid() == 0:
            command = "setpriv", "--bounding-set", "-all", *command
        home = self.home / str(self.count)
        home.mkdir()
        self.replaced[str(home)] = "/home/me"
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "BROWSER": "/bin/true", **environment}
        done = subprocess.run(
            [*map(str, command)], env=environment, cwd=home, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        return done

    def shown(self, text):
        # Longer texts come first, because one home's name may begin with another's.
        for real, example in sorted(self.replaced.items(), key=lambda pair: -len(pair[0])):
            text = text.replace(real, example)
        return text.strip().replace("--allow-loopback-http ", "").replace(" --allow-loopback-http", "")

    def enroll(self, *words, issuer=None, client="sample-app", **environment):
        provider = "--issuer", issuer or self.sandbox.issuer, "--client-id", client, "--allow-loopback-http"
        done = self.run(ENROLL, *words, *provider, **environment)
        return self.shown(done.stdout + done.stderr), done.returncode

    def configuration(self, **changes):
        return json.dumps({
            "issuer": self.sandbox.issuer, "clientId": "sample-app", "redirectUri": CALLBACK, "allowLoopbackHTTP": True, **changes,
        })  # fmt: skip

    def python(self, keys=KEYS_FILE, wait=WAIT_SECONDS, browser="/bin/true", store=None, **changes):
        done = self.run(
            sys.executable, "-c", PYTHON, self.configuration(**changes), store or self.home / f"python{self.count}", keys, wait,
            PYTHONPATH=f"{ROOT}/bindings/python/src", ENROLL_LIBRARY=f"{LIBRARY}/libenroll.so.0", BROWSER=browser)
        return self.shown(done.stdout or done.stderr)

    def c(self, keys=KEYS_FILE, store=None, **changes):
        done = self.run(self.binary, self.configuration(**changes), store or self.home / f"c{self.count}", keys, WAIT_SECONDS)
        return self.shown(done.stdout or done.stderr)


@contextlib.contextmanager
def port_of_another():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def messages(machine):
    """The messages as {case: [(language, message)]}. If the command fails, its exit status is part of the message."""
    login = "login", "--yes"
    found = {}

    def case(name, command, python, c):
        text, status = command
        rows = [(f"`enroll`, exit status {status}", text), ("Python", python)]
        found[name] = rows + ([("C", c)] if c else [])

    issuer = f"{machine.sandbox.issuer}/wrong"
    case("issuer", machine.enroll(*login, issuer=issuer), machine.python(issuer=issuer), machine.c(issuer=issuer))
    client = "wrong"
    case("client", machine.enroll(*login, "--device", client=client), machine.python(clientId=client), machine.c(clientId=client))
    redirect = "http://app.example/callback"
    case("redirect", machine.enroll(*login, "--redirect-uri", redirect), machine.python(redirectUri=redirect),
         machine.c(redirectUri=redirect))
    with port_of_another() as port:
        pass
    nobody = f"http://127.0.0.1:{port}"
    machine.replaced[nobody] = ISSUER
    case("down", machine.enroll(*login, issuer=nobody), machine.python(issuer=nobody), machine.c(issuer=nobody))
    case("browser", machine.enroll("doctor", BROWSER=""), machine.python(browser="/no/browser", wait=0), "")
    case("keyring", machine.enroll(*login, "--keys", "secret-service"), machine.python(keys=KEYS_SECRET_SERVICE),
         machine.c(keys=KEYS_SECRET_SERVICE))
    with port_of_another() as port:
        machine.replaced[f":{port}"] = ":8400"
        redirect = f"http://127.0.0.1:{port}/callback"
        case("port", machine.enroll(*login, "--redirect-uri", redirect), machine.python(redirectUri=redirect),
             machine.c(redirectUri=redirect))
    closed = machine.home / "closed"
    closed.mkdir(mode=0o500)
    machine.replaced[str(closed)] = "/srv/closed"
    machine.is_plain_user = True
    store = closed / "store"
    case("store", machine.enroll(*login, "--store", store), machine.python(store=store), machine.c(store=store))
    machine.is_plain_user = False
    machine.sandbox.control("advanceClock", seconds=3630)
    case("clock", machine.enroll("doctor"), played(machine, "python"), played(machine, "c"))
    return found


def played(machine, language):
    """The output of the program for a sign-in that the user finishes."""
    programs = {
        "python": [sys.executable, "-c", PYTHON], "c": [machine.binary],
    }  # fmt: skip
    environment = {
        **os.environ, "PYTHONPATH": f"{ROOT}/bindings/python/src", "ENROLL_LIBRARY": f"{LIBRARY}/libenroll.so.0",
    }  # fmt: skip
    process = subprocess.Popen(
        [*map(str, programs[language]), machine.configuration(), str(machine.home / f"played-{language}"), "0",
         "30"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)  # fmt: skip
    redirect = machine.sandbox.play(process.stderr.readline().strip())
    address = re.match(r"http://([\w.:]+)(/.*)", redirect)
    browser = http.client.HTTPConnection(address[1], timeout=30)
    browser.request("GET", address[2])
    browser.getresponse().read()
    browser.close()
    told, _ = process.communicate(timeout=60)
    return machine.shown(told)


def page(found):
    """The part of the page between START and END."""
    parts = []
    for name, (title, words) in CASES.items():
        blocks = "\n\n".join(f"{language}:\n\n```text\n{text}\n```" for language, text in found[name])
        parts.append(f"### {title}\n\n{textwrap.fill(words, 120, break_on_hyphens=False)}\n\n{blocks}\n")
    return "\n" + "\n".join(parts) + "\n"


def recorded():
    """The messages that the programs print now."""
    with tempfile.TemporaryDirectory() as home, Sandbox() as sandbox:
        return messages(Machine(home, sandbox))


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: bad_input.py --write")
    head, rest = PAGE.read_text().split(START)
    PAGE.write_text(head + START + page(recorded()) + END + rest.split(END)[1])
