"""The sandbox as a process, its control, and functions that play its user without a browser."""

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
        """With port 0 the system chooses a free port."""
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
        """A configuration for a client; a change to None removes the key."""
        merged = {
            **self._configuration,
            "redirectUri": CUSTOM,
            "postLogoutRedirectUri": CUSTOM_LOGOUT,
            **changes,
        }
        return {key: value for key, value in merged.items() if value is not None}

    def control(self, action, **wish):
        """Runs an action of the sandbox's control: `settle`, `counts`, `sessions`, faults on demand."""
        return self.post("/_control", {"do": action, **wish})

    def play(self, url):
        """The redirect to which the browser goes after alice signed in at an authorize URL and consented."""
        return self.control("settle", url=url)["redirect"]

    def play_other_app(self, link, **wish):
        """The link with which the other app returns, after alice signed in there."""
        return self.control("otherApp", link=link, **wish)["redirect"]

    def post(self, path, body):
        """Sends JSON to one of the sandbox's endpoints; returns the answer, whatever its status."""
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
    """Returns a redirect like any other response, and does not follow it."""

    def redirect_request(self, *_):
        return None


def hop(url, headers=()):
    """Sends one request, as a browser does; a redirect is not followed."""
    opener = urllib.request.build_opener(NoRedirect)
    try:
        return opener.open(urllib.request.Request(url, headers=dict(headers)), timeout=30)
    except urllib.error.HTTPError as answer:
        if answer.code != 303:
            raise
        return answer


def come_back(redirect):
    """Follows the redirect of a loopback sign-in, as a browser does: the response redirects to the page, which this
    function returns. If nobody requested the page, the listener would wait two seconds for that request."""
    return hop(hop(redirect).headers["Location"])


def parameter(url, name):
    """The value of a query parameter, decoded."""
    return urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)[name][0]
