"""One app that uses EnrollKit, as each face makes it: the daemon's host, a program in Python, and the command.

They have the same methods. A sign-in that comes to nothing raises `Failed` with its status; a session that is over, as
EnrollKit says, raises `SignInNeeded`.
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

# The tests of the command have a module of the same name as ours.
_specification = importlib.util.spec_from_file_location("command_cases", TOP / "Tests/CommandTests/cases.py")
command_cases = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(command_cases)

TIMEOUT = 60


class Failed(Exception):
    """The sign-in came to nothing."""

    def __init__(self, status, message=""):
        super().__init__(f"{status}: {message}")
        self.status = status


class SignInNeeded(Exception):
    """The session is over, says EnrollKit."""


class Unavailable(Exception):
    """There is no token now, and the session is not over, says EnrollKit."""


def token_of(answer):
    """The access token of an answer of `token.access` or `token.refresh`."""
    if answer["outcome"] == "reauthenticate":
        raise SignInNeeded(answer)
    if not answer.get("accessToken"):
        raise Unavailable(answer)
    return answer["accessToken"]


def opened(browser):
    """The address that the browser was told to open."""
    record = Path(f"{browser}.opened")
    wait_until(lambda: record.exists() and record.read_text().endswith("\n"), "a browser is opened", TIMEOUT)
    url = record.read_text().splitlines()[-1]
    record.unlink()
    return url


class App:
    """What the faces share. `account` names one of several users of the same store."""

    face: str
    #: A sign-in can ask for more than the prompt.
    steps_up = True
    #: Its renewal goes on when its process is killed.
    outlives_its_caller = False

    def __init__(self, server, home=None, account=None):
        self.server = server
        self.home = home or workspace("home")
        self.store = self.home / "store"
        self.account = account
        self.start()

    def start(self):
        """Its first process."""

    def again(self, account=None):
        """The same app in a new process, with the same store; of another user, if an account is named."""
        return type(self)(self.server, self.home, account or self.account)

    def close(self):
        """Ends its processes."""


class ProcessApp(App):
    """A process that stays, and its client."""

    client = None

    def look(self):
        """Asks whether somebody is signed in, as an app does at its start."""
        self.client.call(self.looking)

    def kill(self):
        """As the system does it."""
        self.client.kill()

    def close(self):
        self.client.close()

    def start_renewal(self):
        """Begins it and does not wait. What it returns waits for the token."""
        pending = self.client.start(self.renewing, {})
        return lambda: token_of(pending.result())

    def renew(self):
        return self.start_renewal()()

    def token(self):
        return token_of(self.client.call(self.accessing))


class DaemonApp(ProcessApp):
    face = "daemon"
    renewing, accessing, looking = "token.refresh", "token.access", "registration.state"

    def start(self):
        self.client = FACES["jsonrpc"].open(self.server.configuration(), self.store, self.account)

    def sign_in(self, person, **wish):
        self.come_back(person, **wish)
        self.confirm()

    def decline(self, person, **wish):
        """A sign-in at whose question the user says no."""
        self.come_back(person, **wish)
        self.client.call("registration.retry")

    def come_back(self, person, refuse=False, fields=None, **options):
        """A sign-in as far as its question, which stays open."""
        try:
            begun = self.client.call("registration.begin", kind="signIn", **({"options": options} if options else {}))
            waiting = self.client.start("registration.awaitOutcome", {"transaction": begun["transaction"], "timeout": TIMEOUT})
            come_back(person.open(begun["action"]["url"], refuse, **(fields or {})))
            state = waiting.result()["state"]
        except Refused as refused:
            raise Failed(refused.status, refused.message) from None
        if state["state"] == "failed":
            raise Failed(state["error"]["status"], state["error"]["message"])
        assert state["state"] == "awaitingConfirmation", state

    def confirm(self):
        """The user says yes to the question that is open."""
        asked = self.client.call("registration.state")["state"]
        state = self.client.call("registration.confirm", transaction=asked["transaction"])["state"]
        assert (state["state"], state.get("reason")) == ("active", "confirmed"), state

    def sign_out(self, person=None):
        """With a person, also in their browser."""
        url = self.client.call("logout.begin").get("url")
        if person:
            person.sign_out(url)


class Interpreter:
    """A process that runs `python_app.py`. Starting one costs more than most acts, so an idle one serves the next app."""

    _idle = []

    @classmethod
    def take(cls):
        return cls._idle.pop() if cls._idle else cls()

    def __init__(self):
        self.browser = command_cases.recording_browser()
        program = TOP / "Tests/RealTests/python_app.py"
        face = Face("python", DriverClient, "ENROLL_PYTHON", sys.executable, arguments=("-B", program))
        environment = {
            "BROWSER": str(self.browser),
            "PYTHONPATH": str(TOP / "bindings/python/src"),
            "ENROLL_LIBRARY": os.environ.get("ENROLL_LIBRARY") or str(BUILD / "lib/libenroll.so.0"),
        }
        self.client = face.within(environment).start()

    def give_back(self):
        """Its app ends, as at the end of a `with`; a process that does not get there is none for the next one."""
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
    renewing, accessing, looking = "refresh", "access_token", "state"

    def start(self):
        self.interpreter = Interpreter.take()
        self.browser, self.client = self.interpreter.browser, self.interpreter.client
        self.client.open(self.server.configuration(), self.store, self.account)

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

    def _signed_in(self, person, answer, refuse=False, fields=None, **options):
        waiting = self.client.start("sign_in", {"answer": answer, "options": options})
        try:
            come_back(person.open(opened(self.browser), refuse, **(fields or {})))
            waiting.result()
        except Refused as refused:
            raise Failed(refused.status, refused.message) from None

    def confirm(self):
        """The program asks its user again: no browser opens."""
        self.client.call("sign_in", answer=True, options={})

    def sign_out(self, person=None):
        url = self.client.call("logout")["url"]
        if person:
            person.sign_out(url)


class Command(command_cases.CommandCase):
    """What the tests of the command can do with it, for an app that is no test."""

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

    def _open(self, person, refuse=False, fields=None):
        come_back(person.open(opened(self.command.browser), refuse, **(fields or {})))

    def sign_in(self, person, prompt=None, **wish):
        child = self.command.start(*self._words(prompt), "--yes")
        self._open(person, **wish)
        _, words = child.communicate(timeout=TIMEOUT)
        if child.returncode:
            raise Failed("accessDenied" if child.returncode == 9 else f"exit status {child.returncode}", words)

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
        """The next `enroll login` has the question that is open."""
        child = self.command.start("login", *self.place, "--yes")
        wait_until(lambda: child.poll() is not None or self.command.has_opened, "the question is answered", TIMEOUT)
        assert not self.command.has_opened, "the question is lost: a browser is opened for another sign-in"
        _, words = child.communicate(timeout=TIMEOUT)
        assert child.returncode == 0, words

    def look(self):
        self.command.run_enroll("status", *self.place, status=3)

    def kill(self):
        """Everything that a terminal or a supervisor of this app would end."""
        self.screen.close()

    def _start(self, *words):
        """The command as a program calls it: `child`, in a session and a group of its own."""
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
        """As far as the redirect. The browser gets its answer when the code was exchanged: it waits on a thread of its own."""
        self._start("login", "--again", "--yes")
        redirect = person.open(opened(self.command.browser))

        def arrive():
            with contextlib.suppress(OSError, http.client.HTTPException):
                hop(redirect)

        threading.Thread(target=arrive, daemon=True).start()

    def renew_within(self, seconds):
        """A caller with a time limit, after which it kills the command."""
        self.start_renewal()
        try:
            self.child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.kill_caller()

    def kill_caller(self):
        """The process that was started, and all of its group. What it began goes on elsewhere, and is waited for."""
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


ALL = (DaemonApp, CommandApp, PythonApp)
