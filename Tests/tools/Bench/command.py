#!/usr/bin/env python3
"""Measures the command `enroll token` as a whole process: with a cached token, and with a token that it
renews.

With a cached token it is compared with oidc-token and with /bin/true. With a renewal, the results are the number of
requests that the provider sees, and the time minus the round trip of one bare request.
"""

import http.client
import json
import os
import re
import statistics
import subprocess
import time
import urllib.parse
import urllib.request

from agent import ACCOUNT, Agent, is_installed, session
from measure import TOP, clean_environment, compare, emit, in_turns

from processes import wait_until, workspace
from sandbox import Sandbox

ENROLL = str(TOP / "build/bin/enroll")
ROUNDS = 101
RENEWALS = 41
LISTENER = "http://127.0.0.1/callback"


def milliseconds(arguments, environment):
    """Runs a process and discards its output. Returns the milliseconds from its start to its end, and its CPU
    time."""
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    began = time.perf_counter()
    process = os.posix_spawn(arguments[0], arguments, environment, file_actions=nowhere)
    _, status, usage = os.wait4(process, 0)
    took = (time.perf_counter() - began) * 1e3
    if status:
        raise RuntimeError(f"{' '.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}")
    return took, (usage.ru_utime + usage.ru_stime) * 1e3


def signed_in(sandbox):
    """The environment of a user who is signed in."""
    home = workspace("home")
    profiles = home / ".config/enrollkit"
    profiles.mkdir(parents=True)
    configuration = sandbox.configuration(redirectUri=LISTENER, postLogoutRedirectUri=None)
    (profiles / "default.json").write_text(json.dumps(configuration))
    environment = clean_environment(HOME=str(home), LANG="C.UTF-8")
    words = home / "words"
    with open(words, "wb") as log:
        login = subprocess.Popen(
            [ENROLL, "login", "--yes", "--no-browser"], env=environment, stdin=subprocess.PIPE, stdout=log, stderr=log)  # fmt: skip
    url = wait_until(lambda: re.search(rf"{sandbox.issuer}/authorize\S+", words.read_text()), "an address to open")[0]
    with urllib.request.urlopen(sandbox.play(url)) as page:
        page.read()
    if login.wait(60):
        raise RuntimeError(words.read_text())
    return environment


def cached():
    with Sandbox("--access-lifetime", "86400") as sandbox:
        environment = signed_in(sandbox)
        sides = [lambda: milliseconds([ENROLL, "token"], environment), lambda: milliseconds(["/bin/true"], environment)]
        if is_installed():
            agent = Agent().add_account()
            sides.append(lambda: milliseconds(["/usr/bin/oidc-token", ACCOUNT], agent.environment))
        ours, least, *theirs = in_turns(ROUNDS, *sides)
        walls, cpus = zip(*ours)
        for what, mine, at in ("enroll token, the whole process", walls, 0), ("enroll token, the whole process, CPU", cpus, 1):
            if theirs:
                compare(what, mine, [took[at] for took in theirs[0]], "ms")
            else:
                emit(what, ours=round(statistics.median(mine), 3), unit="ms")
        compare("enroll token, its start", walls, [wall for wall, _ in least], "ms")


class RoundTrip:
    """Renews another session with bare requests, each on its own connection."""

    def __init__(self, sandbox):
        endpoint, tokens = session(sandbox, "sample-app")
        self._place = urllib.parse.urlsplit(endpoint)
        self._token = tokens["refresh_token"]

    def milliseconds(self):
        form = {"grant_type": "refresh_token", "refresh_token": self._token, "client_id": "sample-app"}
        began = time.perf_counter()
        connection = http.client.HTTPConnection(self._place.netloc)
        connection.request(
            "POST", self._place.path, urllib.parse.urlencode(form), {"Content-Type": "application/x-www-form-urlencoded"})
        answer = connection.getresponse().read()
        connection.close()
        took = (time.perf_counter() - began) * 1e3
        self._token = json.loads(answer)["refresh_token"]
        return took


def renewing():
    with Sandbox() as sandbox:
        environment = signed_in(sandbox)
        trip = RoundTrip(sandbox)
        requests = []

        def renew():
            before = sum(sandbox.control("counts")["counts"].values())
            took, _ = milliseconds([ENROLL, "token", "--renew"], environment)
            requests.append(sum(sandbox.control("counts")["counts"].values()) - before)
            return took

        ours, theirs = in_turns(RENEWALS, renew, trip.milliseconds)
        emit("enroll token that renews, requests", ours=max(requests[1:]))
        compare("enroll token that renews, beside a round trip", ours, theirs, "ms")


if __name__ == "__main__":
    cached()
    renewing()
