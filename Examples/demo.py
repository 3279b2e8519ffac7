#!/usr/bin/env python3
"""Sign in, renew and sign out with enrolld, against the sandbox on this computer.

    make demo            your browser opens; sign in as alice
    make demo AUTO=1     the script plays the user

The demo also shows how to use enrolld from any language: start it, write one JSON-RPC message per line, and read one
message per line. It needs only Python's standard library. The important parts are `main` and `class Daemon`; the rest
serves the demo itself.
"""

import argparse
import http.cookiejar
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from html.parser import HTMLParser

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILT = ROOT / ".build" / "debug"


def main(user, enrolld, sandbox_program, timeout):
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as store, Goodbye() as goodbye, \
            Sandbox(sandbox_program) as sandbox, Daemon(enrolld) as daemon:
        step("sandbox", f"a local provider at {sandbox.issuer}")
        configuration = {**sandbox.configuration, "postLogoutRedirectUri": goodbye.address}

        # One client is one configuration with one store. The store is encrypted and survives the process.
        # The store's key is a key file: this temporary store must leave nothing behind in your keyring.
        client = daemon.call("client.open", configuration=configuration, store=store,
                             keys={"provider": "file"})["client"]
        step("enrolld", f"process {daemon.process.pid}, client {client}")

        # Begin the sign-in: the daemon makes the URL, and the host opens it in a browser. The daemon listens for the
        # redirect.
        begun_sign_in = daemon.call("registration.begin", client=client, kind="signIn")
        settled = daemon.send("registration.awaitOutcome", client=client, timeout=timeout,
                              transaction=begun_sign_in["transaction"])
        user.visit(begun_sign_in["action"]["url"], "sign in as alice, password alice-password")
        state = daemon.wait(settled)["state"]

        # The tokens are provisional until the user has seen the profile and has confirmed it.
        profile = state.get("profile") or daemon.call("identity.profile", client=client)["claims"]
        step("signed in", f"{profile['name']} <{profile['email']}>, subject {profile['sub']}")
        if state["state"] == "awaitingConfirmation":
            state = daemon.call("registration.confirm", client=client, transaction=state["transaction"])["state"]
        step("confirmed", f"{state['state']}, {state['reason']}")

        # Before each request of your own, get a valid token. If the token is due for renewal, it is renewed; otherwise
        # nothing is sent.
        token = daemon.call("token.access", client=client)
        step("token", f"{abridged(token['accessToken'])}, {token['tokenType']}, {lifetime(token)}")

        renewed = daemon.call("token.refresh", client=client)
        token = daemon.call("token.access", client=client)
        step("renewed", f"{abridged(token['accessToken'])}, {lifetime(token)}, outcome {renewed['outcome']}")
        seen = sandbox.control("counts")["refreshes"]
        step("on the wire", f"{seen} refresh; the refresh token was replaced and never left the daemon")

        # The local tokens are erased when this call returns; the provider's page ends the session at the provider.
        leaving = daemon.call("logout.begin", client=client)
        user.visit(leaving["url"], "confirm that you want to sign out")
        daemon.call("logout.resume", client=client, url=goodbye.wait(timeout))
        ends = [session.get("end", "alive") for session in sandbox.control("sessions")["sessions"]]
        step("signed out", f"here, and at the provider (its session: {', '.join(ends)})")
    print(f"\nThat was all: {time.monotonic() - begun:.1f} s. Next: README.md, and enrolld --manifest.")


class Daemon:
    """enrolld as a child process: JSON-RPC 2.0, one message per line."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.answers = {}
        self.last_id = 0

    def call(self, method, **params):
        return self.wait(self.send(method, **params))

    def send(self, method, **params):
        """Sends a request and returns its id. You may send other requests before the answer arrives."""
        self.last_id += 1
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        return self.last_id

    def wait(self, request_id):
        """Waits for the answer to a request and returns its result. Keeps the answers to other requests for later."""
        while request_id not in self.answers:
            line = self.process.stdout.readline()
            if not line:
                raise Failure("enrolld ended; its last words are above")
            message = json.loads(line)
            if "id" in message and "method" not in message:
                self.answers[message["id"]] = message
        answer = self.answers.pop(request_id)
        if "error" in answer:
            error = answer["error"]
            raise Failure(f"enrolld says {error['code']}: {error['message']} {json.dumps(error.get('data', {}))}")
        return answer["result"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()  # End of input: the daemon finishes what it stores, and exits.
        self.process.wait(timeout=10)


class Sandbox:
    """The provider as a child process, which ends when its stdin is closed."""

    def __init__(self, program, *options):
        self.process = subprocess.Popen([program, "--port", "0", "--quiet", "--exit-with-stdin", *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        line = self.process.stdout.readline()
        if not line:
            raise Failure("the sandbox did not start; its last words are above")
        ready = json.loads(line)
        self.issuer, self.configuration = ready["issuer"], ready["configuration"]

    def control(self, action):
        """Runs an action of the sandbox: counters, sessions, or a fault (`enroll-sandbox --faults` lists them)."""
        body = json.dumps({"do": action}).encode()
        request = urllib.request.Request(f"{self.issuer}/_control", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=10)


class Goodbye:
    """A page of the demo to which the browser returns after the sign-out."""

    PAGE = (b"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
            b"content=\"width=device-width\"><title>Signed out</title><body style=\"font:1.1rem/1.6 system-ui;"
            b"margin:15vh auto;max-width:30rem;padding:0 1rem\"><main><h1>You are signed out</h1>"
            b"<p>The demo is over; you can close this window.</p></main></body></html>")

    def __init__(self):
        arrived = self.arrived = threading.Event()
        goodbye = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                wanted = urllib.parse.urlsplit(self.path).path == "/signed-out"
                self.send_response(200 if wanted else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(Goodbye.PAGE) if wanted else 0))
                self.end_headers()
                if wanted:
                    self.wfile.write(Goodbye.PAGE)
                    goodbye.url = goodbye.origin + self.path
                    arrived.set()

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        self.address = f"{self.origin}/signed-out"

    def wait(self, seconds):
        if not self.arrived.wait(seconds):
            raise Failure("nobody signed out")
        return self.url

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Person:
    """You, at your browser. If there is no browser, the demo prints the URL."""

    def visit(self, url, task):
        opener = shutil.which("open" if sys.platform == "darwin" else "xdg-open")
        has_screen = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        if opener and has_screen:
            step("your browser", f"{task}\n{url}")
            subprocess.Popen([opener, url], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        else:
            step("your turn", f"open this in a browser on this computer: {task}\n{url}\n"
                              "Ctrl-C stops; make demo AUTO=1 needs no browser")


class Robot:
    """A user who fills in every form as a newcomer would, over HTTP: no browser."""

    VALUES = {"username": "alice", "password": "alice-password"}
    WANTED = ("sign-out", "continue")

    def __init__(self):
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        # No proxy: everything is on this computer.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), cookies)

    def visit(self, url, task):
        form = None
        for _ in range(10):
            with self.opener.open(url, form and urllib.parse.urlencode(form).encode(), timeout=10) as answer:
                page, url = Page(answer.read().decode()), answer.url
            step("the user", f"sees “{page.title}”")
            if not page.buttons:
                return
            form = {name: self.VALUES.get(name, value) for name, value in page.fields.items()}
            form["action"] = next(button for button in self.WANTED if button in page.buttons)
            url = urllib.parse.urljoin(url, page.target)
        raise Failure("the pages lead nowhere")


class Page(HTMLParser):
    """Title, form and buttons of a page."""

    def __init__(self, markup):
        super().__init__()
        self.title, self.target, self.fields, self.buttons = "", "", {}, []
        self.in_title = False
        self.feed(markup)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.in_title = tag == "title"
        if tag == "form":
            self.target = found["action"]
        elif tag == "input":
            self.fields[found["name"]] = found.get("value", "")
        elif tag == "button":
            self.buttons.append(found.get("value"))

    def handle_data(self, text):
        if self.in_title:
            self.title += text.strip()
            self.in_title = False


class Failure(Exception):
    """An error that is shown to the user of the demo."""


def step(name, text):
    first, *rest = text.split("\n")
    print(f"{name:>12}  {first}", *(f"{'':>12}  {line}" for line in rest), sep="\n", flush=True)


def abridged(secret):
    """The first characters of a token: enough to show that two tokens differ, but never the whole token."""
    return f"{secret[:6]}… ({len(secret)} characters)"


def lifetime(token):
    return f"{token['expiresAt'] - int(time.time())} s to live"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Sign in, renew and sign out against the sandbox.")
    parser.add_argument("--auto", action="store_true", help="play the user")
    parser.add_argument("--enrolld", default=BUILT / "enrolld", type=pathlib.Path, help="the daemon's program")
    parser.add_argument("--sandbox", default=BUILT / "enroll-sandbox", type=pathlib.Path)
    parser.add_argument("--timeout", default=300, type=int, help="seconds to wait for you")
    given = parser.parse_args()
    for program in (given.enrolld, given.sandbox):
        if not program.exists():
            sys.exit(f"demo: {program} is not built; `make demo` builds it")
    try:
        main(Robot() if given.auto else Person(), given.enrolld, given.sandbox, given.timeout)
    except (Failure, urllib.error.URLError) as failure:
        sys.exit(f"demo: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
