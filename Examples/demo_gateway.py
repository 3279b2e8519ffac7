#!/usr/bin/env python3
"""Register a person through a gateway on this computer, sign the same person in to an app, and end the app's session.

    make demo-gateway            your browser opens; register as alice
    make demo-gateway AUTO=1     the script plays the user

The gateway is the server side: it signs people in at providers as a confidential client, keeps their accounts, and hands apps a
session. Its configuration below is all that it needs. The part that matters is `main`.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from demo import BUILT, Daemon, Failure, Page, Person, Sandbox, step

SECRET = "known to the gateway and to its provider alone"


def main(user, programs, port, timeout):
    base = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder, \
            GatewaysSandbox(programs["enroll-sandbox"], base) as sandbox, \
            Gateway(programs["enroll-gateway"], pathlib.Path(folder), base, sandbox.issuer) as gateway, \
            Daemon(programs["enrolld"]) as daemon:
        step("sandbox", f"a provider at {sandbox.issuer}; the gateway is its confidential client")
        step("gateway", f"{base}, accounts in {gateway.database.name} (SQLite)")

        # In the browser: the gateway's own pages, the provider's sign-in, and back.
        user.visit(f"{base}/signup", "sign up with Sandbox: alice, password alice-password", gateway)
        step("registered", gateway.wait_for(r"account (\S+) registered", timeout))

        # In an app: EnrollKit opens the gateway's address and redeems the one-time code that comes back.
        client = daemon.call(
            "client.open", store=f"{folder}/app", keys={"provider": "file"},
            configuration={"issuer": base, "clientId": "notes", "redirectUri": "http://127.0.0.1/callback",
                           "scopes": ["profile"], "allowLoopbackHTTP": True, "confirmation": False,
                           "bff": {"base": base}})["client"]
        begun = daemon.call("registration.begin", client=client, kind="bff", options={"connection": "sandbox"})
        settled = daemon.send("registration.awaitOutcome", client=client, timeout=timeout,
                              transaction=begun["transaction"])
        user.visit(begun["action"]["url"], "the app asks you to sign in", gateway)
        daemon.wait(settled)
        claims = daemon.call("identity.userinfo", client=client)["claims"]
        step("the app", f"knows {claims['name']} <{claims['email']}>, account {claims['sub']}")
        step("its token", "is a session of the gateway: no token of the provider is on this device")

        # The account page lists both sessions. Ending them there ends the app's, too.
        user.sign_out_everywhere(f"{base}/account", gateway, timeout)
        token = daemon.call("token.access", client=client)["accessToken"]
        step("the app", f"its session is over: userinfo answers {status(f'{base}/v1/userinfo', token)}")
    print("\nThat was all. Next: docs/gateway/README.md.")


class GatewaysSandbox(Sandbox):
    """The provider, with the gateway as its client."""

    def __init__(self, program, base):
        callback = f"{base}/v1/auth/sandbox/callback"
        super().__init__(program, "--client-id", "gateway", "--client-secret", SECRET, "--redirect-uri", callback)


class Gateway:
    """The gateway as a child process."""

    def __init__(self, program, folder, base, issuer):
        self.database, self.log = folder / "gateway.db", folder / "log"
        configuration = folder / "gateway.json"
        configuration.write_text(json.dumps({
            "publicUrl": base,
            "listen": base.partition("//")[2],
            "allowLoopbackHttp": True,  # only on this computer
            "database": f"sqlite:{self.database}",
            "keys": str(folder / "keys.json"),
            "theme": {"product": "Notes"},
            "providers": {"sandbox": {"label": "Sandbox", "issuer": issuer, "clientId": "gateway",
                                      "clientSecret": SECRET}},
            "apps": {"notes": {"title": "Notes", "redirectUris": ["http://127.0.0.1/callback"]}},
        }))  # fmt: skip
        subprocess.run([program, "keys", "add", "--config", configuration], check=True, stdout=subprocess.DEVNULL)
        self.process = subprocess.Popen([program, "serve", "--config", configuration], stderr=self.log.open("wb"))
        self.wait_for("listening on port", 30)

    def wait_for(self, pattern, timeout):
        """The first message that has this in it."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            for line in self.log.read_text().splitlines():
                if re.search(pattern, message := json.loads(line)["message"]):
                    return message
            if self.process.poll() is not None:
                raise Failure(f"the gateway ended: {self.log.read_text()}")
            time.sleep(0.05)
        raise Failure(f"nothing happened in {timeout} s that says {pattern}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=30)


class You(Person):
    def visit(self, url, task, _):
        super().visit(url, task)

    def sign_out_everywhere(self, url, gateway, timeout):
        self.visit(url, "look at your sessions, then press “Sign out everywhere”", gateway)
        gateway.wait_for("sessions were ended", timeout)


class Robot:
    """A user without a browser: fills in the sandbox's forms and follows redirects. Its cookies are sent over http, which browsers
    do on this computer alone."""

    def __init__(self):
        self.cookies = {}
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect)

    def open(self, url, form=None):
        """The page at the end of the redirects, and its address."""
        for _ in range(10):
            place = urllib.parse.urlsplit(url).netloc
            jar = self.cookies.setdefault(place, {})
            headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())} if jar else {}
            request = urllib.request.Request(url, form and urllib.parse.urlencode(form).encode(), headers)
            try:
                answer = self.opener.open(request, timeout=10)
            except urllib.error.HTTPError as given:
                answer = given
            for cookie in answer.headers.get_all("Set-Cookie") or []:
                name, _, value = cookie.partition(";")[0].partition("=")
                jar[name] = value
            if not 300 <= answer.status < 400:
                return answer.read().decode(), url
            url, form = urllib.parse.urljoin(url, answer.headers["Location"]), None
        raise Failure("the redirects lead nowhere")

    def visit(self, url, task, _):
        page, url = self.open(url)
        if way := re.search(r'href="(/v1/auth/[^"]+)"', page):
            step("the user", f"sees “{Page(page).title}”, and follows the link")
            page, url = self.open(urllib.parse.urljoin(url, way[1]))
        values = {"username": "alice", "password": "alice-password"}
        while "continue" in (found := Page(page)).buttons:
            step("the user", f"sees “{found.title}”")
            form = {name: values.get(name, value) for name, value in found.fields.items()}
            page, url = self.open(urllib.parse.urljoin(url, found.target), {**form, "action": "continue"})
        step("the user", f"sees “{Page(page).title}”")

    def sign_out_everywhere(self, url, gateway, timeout):
        page, url = self.open(url)
        sessions = page.count('id="device-')
        step("the user", f"sees “{Page(page).title}” with {sessions} sessions, and signs out everywhere")
        form = re.search(r'action="(/account/sessions/end-all)">\s*<input type="hidden" name="token" value="([^"]+)"', page)
        self.open(urllib.parse.urljoin(url, form[1]), {"token": form[2]})
        gateway.wait_for("sessions were ended", timeout)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def status(url, token):
    try:
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
        return urllib.request.urlopen(request, timeout=10).status
    except urllib.error.HTTPError as refused:
        return refused.code


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Register through a gateway, sign an app in, end its session.")
    parser.add_argument("--auto", action="store_true", help="play the user")
    parser.add_argument("--built", default=BUILT, type=pathlib.Path, help="the folder of the programs")
    parser.add_argument("--port", default=4290, type=int, help="of the gateway")
    parser.add_argument("--timeout", default=300, type=int, help="seconds to wait for you")
    given = parser.parse_args()
    programs = {name: given.built / name for name in ("enrolld", "enroll-sandbox", "enroll-gateway")}
    for program in programs.values():
        if not program.exists():
            sys.exit(f"demo-gateway: {program} is not built; `make demo-gateway` builds it")
    try:
        main(Robot() if given.auto else You(), programs, given.port, given.timeout)
    except (Failure, urllib.error.URLError, subprocess.CalledProcessError) as failure:
        sys.exit(f"demo-gateway: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
