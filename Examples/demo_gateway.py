#!/usr/bin/env python3
"""One person, one account, two providers and two apps, through a gateway on this computer.

    make demo-gateway            your browser opens; you are alice
    make demo-gateway AUTO=1     Chromium plays her

The gateway is the server side: it signs people in at providers as a confidential client, keeps their accounts, and
issues sessions to apps. It needs only the configuration below. The important part is `main`; the apps are gateway_app.c
and gateway_app.py beside this file. The second provider, Canaille, is a real provider, started as in the tests.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from demo import BUILT, ROOT, Failure, Person, Sandbox, step

sys.path[:0] = [str(ROOT / "Tests/system/ProviderTests"), str(ROOT / "Tests/faces/Support")]
from canaille_provider import Canaille  # noqa: E402: the tests' own
from processes import TimedOut  # noqa: E402

SECRET = "known to the gateway and to its provider alone"
LIBRARY = ROOT / "build/lib"
PYTHON = {"PYTHONPATH": f"{ROOT}/bindings/python/src", "ENROLL_LIBRARY": f"{LIBRARY}/libenroll.so.0"}


def main(user, built, port, timeout):
    base = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as name, GatewaysSandbox(built / "enroll-sandbox", base) as sandbox, \
            GatewaysCanaille(base) as canaille:
        folder = pathlib.Path(name)
        step("providers", f"the sandbox at {sandbox.issuer}, Canaille at {canaille.issuer}")
        with Gateway(built / "enroll-gateway", folder, base, sandbox, canaille, timeout) as gateway:
            step("gateway", f"{base}, accounts in {gateway.database.name} (SQLite)")

            # Alice signs up in the browser: on the gateway's own pages, then at the provider, then back at the gateway.
            user.visit(f"{base}/signup", "sign up with Sandbox: alice, password alice-password", press="Sandbox")
            step("registered", gateway.wait_for(r"account (\S+) registered"))

            # An app in C: EnrollKit opens the gateway's address and redeems the one-time code that comes back. The
            # app's token is a session of the gateway: no token of the provider is on this device.
            in_c = App("C", gateway_app_in_c(folder), base, folder / "c", "sandbox")
            in_c.sign_in(user)

            # Alice also has a user at Canaille. She signs in there, too, and so connects this user with her account at
            # the gateway. The account now has two ways to sign in.
            user.visit(f"{base}/account", "connect Canaille: alice, password alice-pass", press="Connect Canaille")
            step("connected", gateway.wait_for(r"an identity was linked to account"))

            # An app in Python signs in through the other provider, and gets the same account.
            python = [sys.executable, ROOT / "Examples/gateway_app.py"]
            in_python = App("Python", python, base, folder / "python", "canaille", PYTHON)
            in_python.sign_in(user)
            if in_python.account != in_c.account:
                raise Failure("these are two accounts")

            # The account page lists the sessions; she ends one of them.
            user.read(f"{base}/account", "this is your account, with its sessions")
            user.visit(f"{base}/account", "end the session of the app in C", press="End session", of="App in C")
            gateway.wait_for(r"a session was ended")
            in_c.has_no_session()
            in_python.has_a_session()

            user.visit(f"{base}/account", "sign out", press="Sign out")
            step("signed out", gateway.wait_for(r"account (\S+) signed out"))
    print("\nThat was all. Next: docs/gateway/README.md.")


class App:
    """A program that uses EnrollKit. It signs in if it has no session."""

    def __init__(self, name, command, base, store, provider, environment=None):
        self.name = name
        self.command = [*map(str, command), base, str(store), provider]
        self.environment = {**os.environ, **(environment or {})}
        self.account = None

    def start(self):
        return subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True, env=self.environment)

    def sign_in(self, user):
        program = self.start()
        url = self.address(program)
        user.visit(url, f"the app in {self.name} asks you to sign in")
        told = program.communicate()[0].strip()
        if program.returncode != 0:
            raise Failure(f"the app in {self.name} did not sign in")
        self.account = told.rpartition(" ")[2]
        step(f"in {self.name}", told)

    def has_a_session(self):
        step(f"in {self.name}", "starts again: " + self.start().communicate()[0].strip())

    def has_no_session(self):
        program = self.start()
        self.address(program)
        program.terminate()
        program.wait()
        step(f"in {self.name}", "starts again: its session is over, it asks for a sign-in")

    def address(self, program):
        line = program.stdout.readline()
        if "http" not in line:
            raise Failure(f"the app in {self.name} does not ask for a sign-in: {line}")
        return line[line.index("http"):].strip()


def gateway_app_in_c(folder):
    program = folder / "gateway_app"
    subprocess.run(["cc", f"-I{ROOT}/include", ROOT / "Examples/gateway_app.c", "-o", program,
                    f"-L{LIBRARY}", "-lenroll", f"-Wl,-rpath,{LIBRARY}"], check=True)
    return [program]


class Gateway:
    """The gateway as a child process."""

    def __init__(self, program, folder, base, sandbox, canaille, timeout):
        self.database, self.log, self.timeout = folder / "gateway.db", folder / "log", timeout
        configuration = folder / "gateway.json"
        redirects = ["http://127.0.0.1/callback"]
        configuration.write_text(json.dumps({
            "publicUrl": base,
            "listen": base.partition("//")[2],
            "allowLoopbackHttp": True,  # only on this computer
            "database": f"sqlite:{self.database}",
            "keys": str(folder / "keys.json"),
            "theme": {"product": "Notes"},
            "providers": {
                "sandbox": {"label": "Sandbox", "issuer": sandbox.issuer, "clientId": "gateway",
                            "clientSecret": SECRET},
                "canaille": {"label": "Canaille", "issuer": canaille.issuer, **canaille.client},
            },
            "apps": {"c-app": {"title": "App in C", "redirectUris": redirects},
                     "python-app": {"title": "App in Python", "redirectUris": redirects}},
        }))  # fmt: skip
        subprocess.run([program, "keys", "add", "--config", configuration], check=True, stdout=subprocess.DEVNULL)
        self.process = subprocess.Popen([program, "serve", "--config", configuration], stderr=self.log.open("wb"))
        self.wait_for("listening on port")

    def wait_for(self, pattern):
        """Waits for the first log message that matches the pattern, and returns it."""
        end = time.monotonic() + self.timeout
        while time.monotonic() < end:
            for line in self.log.read_text().splitlines():
                if re.search(pattern, message := json.loads(line)["message"]):
                    return message
            if self.process.poll() is not None:
                raise Failure(f"the gateway ended: {self.log.read_text()}")
            time.sleep(0.05)
        raise Failure(f"nothing happened in {self.timeout} s that says {pattern}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=30)


class GatewaysSandbox(Sandbox):
    """The first provider, with the gateway as its client."""

    def __init__(self, program, base):
        super().__init__(program, "--client-id", "gateway", "--client-secret", SECRET,
                         "--redirect-uri", f"{base}/v1/auth/sandbox/callback")


class GatewaysCanaille(Canaille):
    """The second provider, with the gateway as its client."""

    def __init__(self, base):
        super().__init__()
        self.loopback = f"{base}/v1/auth/canaille/callback"
        self.client = self.confidential("client_secret_post")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()


class You(Person):
    def visit(self, url, task, **_):
        super().visit(url, task)

    read = visit


class Robot:
    """Plays alice in Chromium: presses the given buttons, and fills in the forms of the providers."""

    #: The names of the user-name fields of the sandbox and of Canaille.
    FIELDS = {"username": "alice", "login": "alice"}
    AGREES = "button[value=accept]"

    def __init__(self):
        from browser import Browser  # the tests' own, by Playwright

        self.browser = Browser()
        self.page = self.browser.context().new_page()

    def visit(self, url, task, press=None, of=None):
        self.page.goto(url)
        if press:
            step("the user", f"sees “{self.page.title()}”, and presses “{press}”")
            place = self.page.locator("li", has_text=of).last if of else self.page
            self.go(lambda: place.locator("a, button", has_text=press).first.click())
        for _ in range(10):
            if not self.answers_a_form():
                break
        else:
            raise Failure(f"the pages ask again and again: {self.page.url.partition('?')[0]}")
        step("the user", f"sees “{self.page.title()}”")

    def answers_a_form(self):
        """Fills in and sends the form if the page is a provider's. Returns whether the page was a provider's."""
        if self.page.locator(self.AGREES).count():
            self.go(self.page.locator(self.AGREES).click)
            return True
        fields = [field for field in (*self.FIELDS, "password") if self.page.locator(f"input[name={field}]").count()]
        for field in fields:
            self.page.fill(f"input[name={field}]", self.FIELDS.get(field) or self.password())
        if fields:
            self.go(lambda: self.page.press(f"input[name={fields[-1]}]", "Enter"))
        return bool(fields)

    def password(self):
        return "alice-pass" if "localhost" in self.page.url else "alice-password"

    def go(self, act):
        with self.page.expect_navigation():
            act()

    def read(self, url, task):
        self.page.goto(url)
        rows = self.page.locator("dd.identity > div, .sessions li > div").all_inner_texts()
        told = [", ".join(filter(None, row.split("\n"))) for row in rows]
        step("the user", "\n".join([f"sees “{self.page.title()}”:", *told]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="One account, two providers, two apps, through a gateway.")
    parser.add_argument("--auto", action="store_true", help="Chromium plays the user")
    parser.add_argument("--built", default=BUILT, type=pathlib.Path, help="the folder of the programs")
    parser.add_argument("--port", default=4290, type=int, help="of the gateway")
    parser.add_argument("--timeout", default=300, type=int, help="seconds to wait for you")
    given = parser.parse_args()
    try:
        main(Robot() if given.auto else You(), given.built, given.port, given.timeout)
    except (Failure, TimedOut, subprocess.CalledProcessError) as failure:
        sys.exit(f"demo-gateway: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
