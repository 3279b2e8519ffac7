"""The sandbox as a process, with its control, and somebody who plays its user without a browser."""

import json
import os
import urllib.error
import urllib.parse
import urllib.request

from processes import TOP, Child, workspace

PROGRAM = os.environ.get("ENROLL_SANDBOX") or TOP / ".build/debug/enroll-sandbox"

CUSTOM = "com.example.app:/callback"
CUSTOM_LOGOUT = "com.example.app:/signed-out"


class Sandbox:
    """One provider for a test, or for many."""

    def __init__(self, *options, port=0):
        """With port 0 the system chooses one."""
        self._child = Child(
            [PROGRAM, "--port", port, "--quiet", "--exit-with-stdin", *options], workspace("sandbox") / "log", pipes=True
        )
        line = self._child.process.stdout.readline()
        if not line:
            raise AssertionError(f"the sandbox did not start: {self._child.tail()}")
        ready = json.loads(line)
        self.issuer = ready["issuer"]
        self._configuration = ready["configuration"]

    def configuration(self, **changes):
        """What a client needs; None takes a key away."""
        merged = {
            **self._configuration,
            "redirectUri": CUSTOM,
            "postLogoutRedirectUri": CUSTOM_LOGOUT,
            **changes,
        }
        return {key: value for key, value in merged.items() if value is not None}

    def control(self, action, **wish):
        """What tests ask of it: `settle`, `counts`, `sessions`, faults on demand."""
        return self.post("/_control", {"do": action, **wish})

    def play(self, url):
        """Where the browser goes after alice signed in at an authorize URL and said yes."""
        return self.control("settle", url=url)["redirect"]

    def play_backend(self, url, error=None):
        """Where the browser goes from a back end's URL, after alice said yes or the provider answered an error."""
        sent = hop(url)
        cookie = sent.headers["Set-Cookie"].partition(";")[0]
        wish = {"error": error} if error else {}
        callback = self.control("settle", url=sent.headers["Location"], **wish)["redirect"]
        return hop(callback, {"Cookie": cookie}).headers["Location"]

    def play_other_app(self, link, **wish):
        """The link by which the other app returns, after alice said there who she is."""
        return self.control("otherApp", link=link, **wish)["redirect"]

    def post(self, path, body):
        """Sends JSON to one of its endpoints; its answer, whatever the status."""
        request = urllib.request.Request(
            self.issuer + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or "{}")

    def stop(self):
        self._child.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer like any other; nobody follows it."""

    def redirect_request(self, *_):
        return None


def hop(url, headers=()):
    """One request, as a browser sends it; its redirect is not followed."""
    opener = urllib.request.build_opener(NoRedirect)
    try:
        return opener.open(urllib.request.Request(url, headers=dict(headers)), timeout=30)
    except urllib.error.HTTPError as answer:
        if answer.code != 303:
            raise
        return answer


def come_back(redirect):
    """The redirect of a loopback sign-in, as a browser sends it: the answer leads to the page, which this returns. Without it,
    the listener waits two seconds for a browser that comes for the page."""
    return hop(hop(redirect).headers["Location"])


def parameter(url, name):
    """The value of a query parameter, decoded."""
    return urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)[name][0]
