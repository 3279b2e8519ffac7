"""Whole sign-ins against the sandbox: the README's example, and the driver, with and without valgrind."""

import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "Tests/faces/Support"))
import documented  # noqa: E402
from compiled import c_driver, compiled  # noqa: E402
from platforms import BUILD, HAS_LIBCURL, OUT  # noqa: E402
from sandbox import Sandbox  # noqa: E402

CUSTOM = "com.example.app:/callback"


def play_user(url):
    """Signs alice in, and returns the redirect that the browser would get; a loopback redirect is followed. The
    provider's pages have their own tests."""
    issuer = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(url))
    wish = json.dumps({"do": "settle", "url": url}).encode()
    request = urllib.request.Request(f"{issuer}/_control", wish, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        redirect = json.loads(answer.read())["redirect"]
    if redirect.startswith("http"):
        with urllib.request.urlopen(redirect, timeout=60) as page:
            page.read()
    return redirect


class Driver:
    """The C driver with one client."""

    def __init__(self, variant, wrapper=()):
        self.process = subprocess.Popen(
            [*wrapper, str(c_driver())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "LD_LIBRARY_PATH": str(BUILD / variant),
                **(documented.ENVIRONMENT if not wrapper and HAS_LIBCURL else {}),
            },
        )

    def ask(self, command, **parameters):
        self.process.stdin.write(f"{command} {json.dumps(parameters)}\n")
        self.process.stdin.flush()
        word, _, rest = self.process.stdout.readline().partition(" ")
        if not rest:
            raise AssertionError(f"{command}: the driver ended: {self.process.stderr.read()}")
        return word, json.loads(rest)

    def call(self, command, **parameters):
        word, answer = self.ask(command, **parameters)
        assert word == "ok", f"{command}: {answer}"
        return answer

    def close(self):
        """Ends the driver by closing its input; returns its exit code and its standard error."""
        self.process.stdin.close()
        code = self.process.wait(300)
        self.process.stdout.close()
        complaint = self.process.stderr.read()
        self.process.stderr.close()
        return code, complaint


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def walk(issuer, variant, redirect, wrapper=()):
    """Sign-in, profile, token, renewal, another process, logout."""
    with tempfile.TemporaryDirectory() as home:
        configuration = {
            "issuer": issuer,
            "clientId": "sample-app",
            "redirectUri": redirect,
            "postLogoutRedirectUri": "com.example.app:/signed-out",
            "scopes": "openid profile email offline_access",
            "allowLoopbackHTTP": True,
        }
        opening = {"configuration": configuration, "store": f"{home}/store"}
        driver = Driver(variant, wrapper)
        driver.call("client.open", **opening)
        expect(driver.call("registration.state")["state"] == {"state": "unregistered"}, "a new store is unregistered")
        begun = driver.call("registration.begin", kind="signIn")
        answer = play_user(begun["action"]["url"])
        if redirect == CUSTOM:
            # A process that did not begin the sign-in may finish it.
            driver.process.kill()
            driver.close()
            driver = Driver(variant, wrapper)
            driver.call("client.open", **opening)
            state = driver.call("registration.resume", url=answer)["state"]
        else:
            state = driver.call("registration.awaitOutcome", transaction=begun["transaction"], timeout=120)["state"]
        expect(state["state"] == "awaitingConfirmation" and state["profile"]["sub"], f"tokens await confirmation: {state}")
        named = driver.call("registration.state", wait=True)["state"]
        expect(named == state, f"asked again, the state is the same: {named}")
        active = driver.call("registration.confirm")["state"]
        expect(active == {"state": "active", "reason": "confirmed"}, f"confirmed is active: {active}")
        first = driver.call("token.access")
        expect(first["outcome"] == "valid" and first["tokenType"] == "Bearer", f"a valid token: {first}")
        subject = driver.call("identity.profile")["claims"]["sub"]
        expect(driver.call("identity.userinfo")["claims"]["sub"] == subject, "userinfo is about the same user")
        second = driver.call("token.refresh")
        expect(second["outcome"] == "valid", f"a renewal: {second}")
        expect(second["accessToken"] != first["accessToken"], "a renewed token is another one")
        account = driver.call("account.read")
        expect(account["idToken"].count(".") == 2 and "refreshToken" not in account, "the account is readable")
        if redirect == CUSTOM:
            word, refused = driver.ask("registration.resume", url=answer)
            expect(word == "error" and refused["status"] == "alreadySettled", f"a redirect counts once: {refused}")
        goodbye = driver.call("logout.begin")
        expect(goodbye.get("url", "").startswith("http"), f"a URL ends the browser's session: {goodbye}")
        expect(driver.call("token.access")["outcome"] == "reauthenticate", "after logout there is no token")
        code, complaint = driver.close()
        expect(code == 0, f"the driver ends well: {code} {complaint}")


def no_http(issuer, variant):
    """Without libcurl, or in a library that was built without libcurl, a command that needs HTTP fails with an
    error that says so."""
    with tempfile.TemporaryDirectory() as home:
        driver = Driver(variant)
        driver.call("client.open", configuration={"issuer": issuer, "clientId": "native", "redirectUri": CUSTOM,
                                                  "allowLoopbackHTTP": True}, store=f"{home}/store")  # fmt: skip
        word, refused = driver.ask("registration.begin")
        driver.close()
        cause = "transport" if HAS_LIBCURL else "libcurl"
        expect((word, refused["status"]) == ("error", "unsupported") and cause in refused["message"], refused)


def example(issuer, variant, wrapper=()):
    """Examples/sign_in.c, as the README prints it."""
    program = compiled(
        OUT / "c/sign_in", "-std=c99", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{TOP / 'include'}",
        TOP / "Examples/sign_in.c", f"-L{BUILD / variant}", "-lenroll")  # fmt: skip
    with tempfile.TemporaryDirectory() as home:
        process = subprocess.Popen(
            [*wrapper, str(program), issuer, f"{home}/store"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "LD_LIBRARY_PATH": str(BUILD / variant)},
        )
        line = process.stdout.readline()
        if "http" in line:
            play_user(line[line.index("http") :].strip())
        output, complaint = process.communicate(timeout=300)
        expect(process.returncode == 0, f"exit {process.returncode}: {line}{output}{complaint}")
        expect("Hello, Alice" in output and re.search(r"A valid token of \d+ bytes", output), output)


def run(count, variant, valgrind):
    try:
        sandbox = Sandbox()
    except AssertionError as fault:
        count.add("the sandbox starts", False, f"{fault}\nswift build --product enroll-sandbox")
        return
    cases = []
    if "hosthttp" in variant or not HAS_LIBCURL:
        cases.append((f"without libcurl nothing is sent on {variant}", no_http, (variant,)))
    else:
        cases.append((f"the driver signs in by custom scheme on {variant}", walk, (variant, CUSTOM)))
        cases.append((f"the driver signs in by loopback on {variant}", walk, (variant, "http://127.0.0.1/callback")))
        cases.append((f"the C example signs in on {variant}", example, (variant,)))
        if valgrind is not None:
            cases.append((f"the driver signs in on {variant} under valgrind", walk, (variant, CUSTOM, valgrind)))
            cases.append((f"the C example signs in on {variant} under valgrind", example, (variant, valgrind)))
    try:
        for name, case, arguments in cases:
            try:
                case(sandbox.issuer, *arguments)
                count.add(name, True)
                print(f"ok - {name}", flush=True)
            except (AssertionError, OSError, ValueError, KeyError, subprocess.SubprocessError) as fault:
                count.add(name, False, f"{type(fault).__name__}: {fault}")
    finally:
        sandbox.stop()
