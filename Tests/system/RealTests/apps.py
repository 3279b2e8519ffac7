"""One app that uses EnrollKit, built with each face: a host of the daemon, a program in Python, and the command.

All three have the same methods. A failed sign-in raises `Failed` with its status; if EnrollKit reports that the
session is over, they raise `SignInNeeded`.
"""

import contextlib
import http.client
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from faces import FACES, DriverClient, Face, Refused
from platforms import BUILD
from processes import TOP, wait_until, workspace
from sandbox import come_back, hop

# Loaded under another name, because the tests of the command have a module `cases`, too.
_specification = importlib.util.spec_from_file_location("command_cases", TOP / "Tests/faces/CommandTests/cases.py")
command_cases = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(command_cases)

TIMEOUT = 60


class Failed(Exception):
    """The sign-in failed."""

    def __init__(self, status, message=""):
        super().__init__(f"{status}: {message}")
        self.status = status


class SignInNeeded(Exception):
    """Raised if EnrollKit reports that the session is over."""


class Unavailable(Exception):
    """Raised if EnrollKit reports that there is no token now, but that the session is not over."""


def token_of(answer):
    """The access token in a result of `token.access` or `token.refresh`."""
    if answer["outcome"] == "reauthenticate":
        raise SignInNeeded(answer)
    if not answer.get("accessToken"):
        raise Unavailable(answer)
    return answer["accessToken"]


def opened(browser, has_ended=lambda: False):
    """Waits for the URL that the browser gets; None if the program that should open it has ended."""
    record = Path(f"{browser}.opened")

    def is_there():
        return record.exists() and record.read_text().endswith("\n")

    wait_until(lambda: is_there() or has_ended(), "a browser is opened", TIMEOUT)
    if not is_there():
        return None
    url = record.read_text().splitlines()[-1]
    record.unlink()
    return url


class App:
    """The interface of all faces. `account` names one of several users of the same store."""

    face: str
    #: Whether a sign-in can have other options than `prompt`.
    steps_up = True
    #: Whether a renewal of this face continues when the face's process is killed.
    outlives_its_caller = False

    def __init__(self, server, home=None, account=None):
        self.server = server
        self.home = home or workspace("home")
        self.store = self.home / "store"
        self.account = account
        self.start()

    def start(self):
        """Starts its first process."""

    def again(self, account=None):
        """This app in a new process with the same store. With `account`, the app is for another user."""
        return type(self)(self.server, self.home, account or self.account)

    def close(self):
        """Ends its processes."""


class ProcessApp(App):
    """A process that keeps running, and its client."""

    client = None

    def look(self):
        """Asks whether the user is signed in, as an app does at its start."""
        self.client.call(self.looking)

    def kill(self):
        """Kills the process with SIGKILL."""
        self.client.kill()

    def close(self):
        self.client.close()

    def start_renewal(self):
        """Begins a renewal and does not wait. The returned function waits for the token."""
        pending = self.client.start(self.renewing, {})
        return lambda: token_of(pending.result())

    def renew(self):
        return self.start_renewal()()

    def token(self):
        return token_of(self.client.call(self.accessing))

    def userinfo(self):
        """The server's claims about the user, requested by EnrollKit."""
        return self.client.call(self.asking)["claims"]


class DaemonApp(ProcessApp):
    face = "daemon"
    renewing, accessing, looking = "token.refresh", "token.access", "registration.state"
    asking = "identity.userinfo"

    def start(self):
        self.client = FACES["jsonrpc"].open(self.server.configuration(), self.store, self.account)

    def sign_in(self, person, **wish):
        self.come_back(person, **wish)
        self.confirm()

    def decline(self, person, **wish):
        """Signs in; the user then rejects the profile."""
        self.come_back(person, **wish)
        self.client.call("registration.retry")

    def come_back(self, person, refuse=False, fields=None, **options):
        """Signs in up to the question whether the profile is right; does not answer it."""
        try:
            begun = self.client.call("registration.begin", kind="signIn", **({"options": options} if options else {}))
            waiting = self._await_outcome(begun)
            come_back(person.open(begun["action"]["url"], refuse, **(fields or {})))
            self._arrived(waiting)
        except Refused as refused:
            raise Failed(refused.status, refused.message) from None

    def sign_in_by_device(self, person):
        try:
            begun = self.client.call("registration.begin", kind="device")
            waiting = self._await_outcome(begun)
            self.server.approve(person, begun["action"]["verificationUriComplete"])
            self._arrived(waiting)
        except Refused as refused:
            raise Failed(refused.status, refused.message) from None
        self.confirm()

    def _await_outcome(self, begun):
        return self.client.start("registration.awaitOutcome", {"transaction": begun["transaction"], "timeout": TIMEOUT})

    def _arrived(self, waiting):
        state = waiting.result()["state"]
        if state["state"] == "failed":
            raise Failed(state["error"]["status"], state["error"]["message"])
        assert state["state"] == "awaitingConfirmation", state

    def confirm(self):
        """The user answers the open question with yes."""
        asked = self.client.call("registration.state")["state"]
        state = self.client.call("registration.confirm", transaction=asked["transaction"])["state"]
        assert (state["state"], state.get("reason")) == ("active", "confirmed"), state

    def sign_out(self, person=None):
        """Signs out; with a person, also in the user's browser."""
        url = self.client.call("logout.begin").get("url")
        if person:
            person.sign_out(url)


class Interpreter:
    """A process that runs `python_app.py`. Starting it takes longer than most acts, so an idle process is used
    again for the next app."""

    _idle = []

    @classmethod
    def take(cls):
        try:
            return cls._idle.pop()
        except IndexError:
            return cls()

    def __init__(self):
        self.browser = command_cases.recording_browser()
        program = TOP / "Tests/system/RealTests/python_app.py"
        face = Face("python", DriverClient, "ENROLL_PYTHON", sys.executable, arguments=("-B", program))
        environment = {
            "BROWSER": str(self.browser),
            "PYTHONPATH": str(TOP / "bindings/python/src"),
            "ENROLL_LIBRARY": os.environ.get("ENROLL_LIBRARY") or str(BUILD / "lib/libenroll.so.0"),
        }
        self.client = face.within(environment).start()

    def give_back(self):
        """Ends the app, as a `with` block does. If that fails, the app's process is not used again."""
        try:
            self.client.call("close")
        except (Refused, OSError, AssertionError):
            self.client.close()
        else:
            self._idle.append(self)

    @classmethod
    def close_all(cls):
        while cls._idle:
            cls._idle.pop().client.close()


class PythonApp(ProcessApp):
    face = "Python"
    renewing, accessing, looking, asking = "refresh", "access_token", "state", "userinfo"

    def start(self):
        self.interpreter = Interpreter.take()
        self.browser, self.client = self.interpreter.browser, self.interpreter.client
        try:
            self.client.open(self.configuration(), self.store, self.account)
        except Refused:
            self.client.close()
            raise

    def configuration(self):
        return self.server.configuration()

    def kill(self):
        super().kill()
        self.interpreter = None

    def close(self):
        if self.interpreter:
            self.interpreter.give_back()
        self.interpreter = None

    def sign_in(self, person, **wish):
        self._signed_in(person, answer=True, **wish)

    def decline(self, person, **wish):
        try:
            self._signed_in(person, answer=False, **wish)
        except Failed as failed:
            assert failed.status == "accessDenied", failed

    def come_back(self, person, **wish):
        self._signed_in(person, answer=None, **wish)

    def sign_in_by_device(self, person):
        self._presented({"kind": "device"}, True, lambda url: self.server.approve(person, url))

    def _signed_in(self, person, answer, refuse=False, fields=None, **options):
        self._presented(options, answer, lambda url: come_back(person.open(url, refuse, **(fields or {}))))

    def _presented(self, options, answer, visit):
        """Signs in: the user visits the URL that the program opens."""
        waiting = self.client.start("sign_in", {"answer": answer, "options": options})
        try:
            url = opened(self.browser, lambda: waiting.is_settled)
            if url:
                visit(url)
            waiting.result()
        except Refused as refused:
            raise Failed(refused.status, refused.message) from None
        except AssertionError:
            # The process still waits for its user, and would not end by itself.
            self.kill()
            raise

    def confirm(self):
        """The program asks its user again; no browser opens."""
        self.client.call("sign_in", answer=True, options={})

    def sign_out(self, person=None):
        url = self.client.call("logout")["url"]
        if person:
            person.sign_out(url)


class Command(command_cases.CommandCase):
    """The helpers of the command's tests, for an app that is not a test."""

    def __init__(self, server):
        super().__init__()
        self._server = server
        self.setUp()

    def provide(self):
        return self._server


class CommandApp(App):
    face = "command"
    steps_up = False
    outlives_its_caller = True

    def start(self):
        self.command = Command(self.server)
        self.place = ["--store", str(self.store), *(["--account", self.account] if self.account else [])]

    def _words(self, prompt=None):
        return ["login", "--again", *self.place, *(["--prompt", prompt] if prompt else [])]

    def _open(self, person, has_ended=lambda: False, refuse=False, fields=None):
        """- Returns: whether the command had a URL to open before it ended."""
        url = opened(self.command.browser, has_ended)
        if url:
            come_back(person.open(url, refuse, **(fields or {})))
        return url is not None

    def sign_in(self, person, prompt=None, **wish):
        child = self.command.start(*self._words(prompt), "--yes")
        # The command opens the browser again if the server refused the scopes of the first sign-in.
        while self._open(person, lambda: child.poll() is not None, **wish):
            pass
        self._ended(child)

    def sign_in_by_device(self, person):
        child = self.command.start(*self._words(), "--device", "--yes", "--json")
        begun = child.stdout.readline()
        if "verificationUriComplete" in begun:
            self.server.approve(person, json.loads(begun)["action"]["verificationUriComplete"])
        self._ended(child, begun)

    def _ended(self, child, said=""):
        output, words = child.communicate(timeout=TIMEOUT)
        if child.returncode:
            status = "accessDenied" if child.returncode == 9 else f"exit status {child.returncode}"
            # In the output, the error comes after the URL for the browser.
            raise Failed(status, f"{words.rpartition('enroll: ')[2]}{said}{output}".strip())

    def decline(self, person, prompt=None, **wish):
        screen = self._question(person, prompt, **wish)
        screen.line("n")
        assert screen.ends() == 9, screen.text

    def come_back(self, person, prompt=None, **wish):
        self.screen = self._question(person, prompt, **wish)

    def _question(self, person, prompt=None, **wish):
        screen = self.command.terminal(*self._words(prompt))
        self._open(person, **wish)
        screen.shows(r"Continue\?")
        return screen

    def confirm(self):
        """The next `enroll login` asks the open question."""
        child = self.command.start("login", *self.place, "--yes")
        wait_until(lambda: child.poll() is not None or self.command.has_opened, "the question is answered", TIMEOUT)
        assert not self.command.has_opened, "the question is lost: a browser is opened for another sign-in"
        _, words = child.communicate(timeout=TIMEOUT)
        assert child.returncode == 0, words

    def look(self):
        self.command.run_enroll("status", *self.place, status=3)

    def kill(self):
        """Ends everything that a terminal or a supervisor of this app would end."""
        self.screen.close()

    def _start(self, *words):
        """Starts the command as a program does: `child`, in its own session and process group."""
        self.child = subprocess.Popen(
            [command_cases.ENROLL, *words, *self.place], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=self.command.environment, start_new_session=True,
        )  # fmt: skip
        self.command.addCleanup(self.command._end, self.child)
        return self.child

    def start_renewal(self):
        child = self._start("token", "--renew", "--json")
        return lambda: self._token(*child.communicate(timeout=TIMEOUT))

    def start_sign_in(self, person):
        """Runs a sign-in up to the redirect. The browser gets its answer after the code was exchanged, so it waits
        on another thread."""
        self._start("login", "--again", "--yes")
        redirect = person.open(opened(self.command.browser))

        def arrive():
            with contextlib.suppress(OSError, http.client.HTTPException):
                hop(redirect)

        threading.Thread(target=arrive, daemon=True).start()

    def renew_within(self, seconds):
        """Acts as a caller that kills the command after a timeout."""
        self.start_renewal()
        try:
            self.child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill_caller()

    def kill_caller(self):
        """Kills the started process and its group. A detached renewal continues, and this method waits for its
        end."""
        os.killpg(self.child.pid, signal.SIGKILL)
        self.child.communicate()
        wait_until(lambda: not self.command.detached(), "the end of what it began")

    def renew(self):
        return self.start_renewal()()

    def token(self):
        done = subprocess.run(
            [command_cases.ENROLL, "token", "--json", *self.place], stdin=subprocess.DEVNULL, capture_output=True,
            env=self.command.environment, timeout=TIMEOUT,
        )  # fmt: skip
        return self._token(done.stdout, done.stderr)

    def _token(self, output, words):
        try:
            answer = json.loads(output)
        except ValueError:
            raise AssertionError(f"enroll token printed {output!r}: {words.decode()}") from None
        if answer.get("error") and "outcome" not in answer:
            raise Unavailable(answer)
        return token_of(answer)

    def sign_out(self, person=None):
        told = self.command.json("logout", *self.place)
        if person:
            person.sign_out(told["loggedOut"][0]["url"])

    def close(self):
        self.command.doCleanups()


class FirstCommandApp(CommandApp):
    """An app without a profile: its first sign-in names the provider and the client, and the command saves both as a
    profile."""

    def start(self):
        super().start()
        (self.command.profiles / "default.json").unlink()

    def _words(self, prompt=None):
        return [*super()._words(prompt), *self.server.options]

    def again(self, account=None):
        # Each command is a separate process, and the profile is in this home.
        return self


ALL = (DaemonApp, CommandApp, PythonApp)
