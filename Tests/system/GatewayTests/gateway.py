"""Runs the gateway as a process, with a sandbox as its provider. Also has a simple browser: it keeps cookies,
but follows no redirects."""

import json
import os
import signal
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from processes import TOP, Child, free_port, is_listening, workspace
from sandbox import Sandbox

PROGRAM = os.environ.get("ENROLL_GATEWAY") or TOP / ".build/debug/enroll-gateway"
SECRET = "the gateway's own: +/%&="
CUSTOM = "com.example.app:/callback"


class Gateway:
    """`enroll-gateway serve`, on SQLite."""

    def __init__(self, port=None, home=None, **settings):
        self.port = port or free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.home = home or workspace("gateway")
        self.settings = {
            "publicUrl": self.base,
            "listen": f"127.0.0.1:{self.port}",
            "database": f"sqlite:{self.home}/gateway.db",
            "keys": str(self.home / "keys.json"),
            "allowLoopbackHttp": True,
            "apps": {"sample": {"title": "Sample", "redirectUris": [CUSTOM, "http://127.0.0.1/callback"]}},
            **settings,
        }
        self.configuration = self.home / "gateway.json"
        self.child = None
        # `prefix` is a command that starts the program, such as prlimit. `options` are further options of `serve`.
        self.prefix = ()
        self.options = ()

    def run(self, *words, status=0):
        """Runs another command of the program."""
        done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
        if done.returncode != status:
            raise AssertionError(f"{words}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def write(self):
        self.configuration.write_text(json.dumps(self.settings))

    def start(self):
        self.write()
        if not (self.home / "keys.json").exists():
            self.run("keys", "add", "--config", str(self.configuration))
        serve = [PROGRAM, "serve", "--config", self.configuration, *self.options]
        self.child = Child([*self.prefix, *serve], self.home / "log")
        self.child.wait_for(lambda: is_listening(self.port), "the gateway listens")
        return self

    def signal(self, number=signal.SIGHUP):
        self.child.process.send_signal(number)

    def stop(self):
        if self.child:
            self.child.stop()

    def kill(self):
        self.child.kill()

    def log(self):
        return (self.home / "log").read_text()


class Answer:
    def __init__(self, response):
        self.status = response.status if hasattr(response, "status") else response.code
        self.headers = response.headers
        self.text = response.read().decode()

    @property
    def location(self):
        return self.headers["Location"]

    @property
    def json(self):
        return json.loads(self.text)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Browser:
    """A browser that keeps cookies by name, and does not follow redirects."""

    def __init__(self, base=""):
        self.base = base
        self.cookies = {}

    def open(self, url, form=None, headers=()):
        url = url if "://" in url else self.base + url
        given = dict(headers)
        if self.cookies:
            given["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        body = urllib.parse.urlencode(form).encode() if form is not None else None
        opener = urllib.request.build_opener(_NoRedirect)
        try:
            answer = Answer(opener.open(urllib.request.Request(url, body, given), timeout=30))
        except urllib.error.HTTPError as refused:
            answer = Answer(refused)
        for text in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = text.partition(";")[0].partition("=")
            if "Max-Age=0;" in text:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        return answer


def sandbox_for(gateway, *options):
    """A sandbox whose only client is the gateway. The gateway's name for this provider is `sandbox`."""
    sandbox = Sandbox("--client-id", "gateway", "--client-secret", SECRET, "--redirect-uri",
                      f"{gateway.base}/v1/auth/sandbox/callback", *options)  # fmt: skip
    gateway.settings["providers"] = {
        "sandbox": {"label": "Sandbox", "issuer": sandbox.issuer, "clientId": "gateway", "clientSecret": SECRET}
    }
    return sandbox


def play(sandbox, url, browser=None, **wish):
    """The redirect back to the gateway, after the user alice has consented at the sandbox."""
    browser = browser or Browser()
    sent = browser.open(url)
    if sent.status != 303:
        raise AssertionError(f"{url}: {sent.status}: {sent.text[:500]}")
    return browser.open(sandbox.control("settle", url=sent.location, **wish)["redirect"])
