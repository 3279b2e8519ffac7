"""A desktop for the shell: a screen (Xvfb), a session bus, a provider (the sandbox), and real headless Chromium as the
system's browser. The browser passes com.example.app:/… to the system, and the system passes it to the shell.

The tests do not use the desktop of the user who runs them: homes, bus and screen are new.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "Tests/faces/Support"))

from processes import Child, free_port, wait_until, workspace  # noqa: E402
from sandbox import Sandbox  # noqa: E402

SHELL = TOP / "build/tests/hybrid-shell/hybrid-shell"
PICTURES = TOP / "build/screenshots"
SCHEME = "com.example.app"
REDIRECT = f"{SCHEME}:/callback"

# Chromium's own sandbox does not work as root, nor in most containers.
CHROMIUM = [
    "chromium", "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking",
    "--no-first-run", "--remote-debugging-port=0",
]  # fmt: skip

# The bus starts no service by its name, so the keyring of the user who runs the tests is not used.
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:dir={home}</listen><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>"""

# The system's handler of web URLs: a new tab in the browser.
OPEN_TAB = """#!/usr/bin/env python3
import pathlib, sys, urllib.parse, urllib.request
port = pathlib.Path({profile!r}, "DevToolsActivePort").read_text().split()[0]
address = f"http://127.0.0.1:{{port}}/json/new?{{urllib.parse.quote(sys.argv[1], safe='')}}"
urllib.request.urlopen(urllib.request.Request(address, method="PUT")).close()
"""


class Desk:
    """One desktop for all tests; each test has its own home, and so its own store."""

    def __init__(self):
        self.home = workspace("desk")
        self.sandbox_port = free_port()
        self.sandbox = None
        self.start_sandbox()
        self.runtime = self.home / "run"
        self.runtime.mkdir(mode=0o700)
        self.profile = self.home / "profile"
        self.environment = {
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.home / "data"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "XDG_CURRENT_DESKTOP": "",
            "NO_AT_BRIDGE": "1",
            "GTK_THEME": "Adwaita",
            "LANG": "C.UTF-8",
        }
        if subprocess.run(["bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"], capture_output=True).returncode:
            self.environment["HYBRID_SHELL_UNSANDBOXED"] = "1"
        self._start_screen()
        self._start_bus()
        self._register()
        self._start_browser()

    def start_sandbox(self):
        self.sandbox = Sandbox(port=self.sandbox_port)
        self.issuer = f"http://127.0.0.1:{self.sandbox_port}"

    def stop(self):
        self.playwright.stop()
        for child in (self.browser, self.screen, self.bus):
            child.stop()
        self.sandbox.stop()

    # The parts of the desktop.

    def _start_screen(self):
        number = self.home / "display"
        self.screen = Child(
            ["sh", "-c", f'exec Xvfb -displayfd 3 -screen 0 1400x1000x24 -nolisten tcp 3>"{number}"'], self.home / "xvfb.log"
        )
        self.screen.wait_for(lambda: number.exists() and number.read_text().endswith("\n"), "there is a screen")
        self.environment["DISPLAY"] = f":{number.read_text().strip()}"

    def _start_bus(self):
        config, address = self.home / "bus.conf", self.home / "bus"
        config.write_text(BUS.format(home=self.home))
        self.bus = Child(
            ["sh", "-c", f'exec dbus-daemon --nofork --config-file="{config}" --print-address=3 3>"{address}"'],
            self.home / "bus.log",
        )
        self.bus.wait_for(lambda: address.exists() and address.read_text().endswith("\n"), "there is a bus")
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = address.read_text().strip()

    def _register(self):
        """Registers the handlers of https and of the app's scheme. The programs that they start read their settings
        from the desk's files."""
        applications = self.home / "data/applications"
        applications.mkdir(parents=True)
        self.browser_script = self._script("browser", OPEN_TAB.format(profile=str(self.profile)))
        # The system starts the app with the environment of the desk. The file app.env then changes it to the
        # environment of the current test.
        lines = "".join(f"export {name}='{value}'\n" for name, value in self.environment.items())
        self.app_script = self._script("app", f'#!/bin/sh\n{lines}. "{self.home}/app.env"\nexec "{SHELL}" "$@"\n')
        for name, program, schemes in (
            ("browser", self.browser_script, "x-scheme-handler/http;x-scheme-handler/https;"),
            ("com.example.app", self.app_script, f"x-scheme-handler/{SCHEME};"),
        ):
            applications.joinpath(f"{name}.desktop").write_text(
                f"[Desktop Entry]\nType=Application\nName={name}\nExec={program} %u\nMimeType={schemes}\n"
            )
        config = self.home / "config"
        config.mkdir()
        config.joinpath("mimeapps.list").write_text(
            "[Default Applications]\nx-scheme-handler/http=browser.desktop\nx-scheme-handler/https=browser.desktop\n"
            f"x-scheme-handler/{SCHEME}=com.example.app.desktop\n"
        )

    def _script(self, name, text):
        path = self.home / name
        path.write_text(text)
        path.chmod(0o700)
        return path

    def _start_browser(self):
        from playwright.sync_api import sync_playwright

        preferences = self.profile / "Default/Preferences"
        preferences.parent.mkdir(parents=True)
        trusted = {self.issuer: {SCHEME: True}}
        preferences.write_text(json.dumps({"protocol_handler": {"allowed_origin_protocol_pairs": trusted}}))
        self.browser = Child(
            [*CHROMIUM, f"--user-data-dir={self.profile}", "about:blank"], self.home / "browser.log", self.environment
        )
        port = self.profile / "DevToolsActivePort"
        self.browser.wait_for(lambda: port.exists() and len(port.read_text().split()) == 2, "there is a browser")
        self.playwright = sync_playwright().start()
        address = f"http://127.0.0.1:{port.read_text().split()[0]}"
        self.chromium = self.playwright.chromium.connect_over_cdp(address)
        self.context = self.chromium.contexts[0]
        self.context.set_default_timeout(15_000)

    # The user's actions in the browser.

    def forget(self):
        """Starts a new provider and a new browser, and ends the app."""
        self.end_app()
        self.sandbox.stop()
        self.start_sandbox()
        self.context.clear_cookies()
        for page in self.context.pages[1:]:
            page.close()

    def tab(self, path=""):
        """The tab that the app opened."""

        def newest():
            # Waiting lets the browser's events arrive.
            self.context.pages[0].wait_for_timeout(20)
            ours = (page for page in self.context.pages if page.url.startswith(self.issuer + path))
            return next(ours, None)

        return wait_until(newest, "the app opened the browser")

    def shows_heading(self, text):
        """Waits until a tab of the browser has this heading."""

        def shown():
            self.context.pages[0].wait_for_timeout(20)
            return any(page.locator("h1", has_text=text).count() for page in self.context.pages)

        wait_until(shown, f"the browser shows {text!r}")

    def sign_in(self, user="alice"):
        """Signs in at the provider's page and consents; the browser then leaves for the app."""
        page = self.tab()
        page.fill("input[name=username]", user)
        page.fill("input[name=password]", f"{user}-password")
        page.keyboard.press("Enter")
        allow = page.get_by_role("button", name="Allow", exact=True)
        allow.wait_for()
        allow.click()

    def sign_out(self):
        """Answers the provider's question with yes; the browser then leaves for the app."""
        self.tab("/end-session").get_by_role("button", name="Sign out", exact=True).click()

    def touch(self):
        """Clicks the page: Chromium lets a page start a program only once for each user action."""
        self.context.pages[0].bring_to_front()
        self.context.pages[0].mouse.click(5, 5)

    def app(self):
        """The process id of the running app, whoever started it; None if there is none."""
        answer = subprocess.run(
            ["dbus-send", "--session", "--print-reply=literal", "--dest=org.freedesktop.DBus", "/",
             "org.freedesktop.DBus.GetConnectionUnixProcessID", f"string:{SCHEME}"],
            env={**os.environ, **self.environment}, capture_output=True, text=True,
        )  # fmt: skip
        return int(answer.stdout.split()[-1]) if answer.returncode == 0 else None

    def end_app(self):
        pid = self.app()
        if pid is not None:
            os.kill(pid, signal.SIGTERM)
            wait_until(lambda: self.app() is None, "the app ends")

    def system_opens(self, url):
        """Opens the URL as the desktop does when a user clicks a link."""
        subprocess.run(["xdg-open", url], env={**os.environ, **self.environment}, check=True, timeout=30)


class Shell:
    """The app, with its own store. Either `start` starts the app, or the system starts it for a redirect."""

    def __init__(self, desk, **configuration):
        self.desk = desk
        self.home = workspace("app")
        self.remote = self.home / "remote"
        self.data = self.home / "data"
        self.data.mkdir()
        configuration = {
            "issuer": desk.issuer,
            "clientId": "sample-app",
            "redirectUri": REDIRECT,
            "postLogoutRedirectUri": f"{SCHEME}:/signed-out",
            "scopes": "openid profile email offline_access",
            "allowLoopbackHTTP": True,
            **configuration,
        }
        (self.home / "configuration.json").write_text(json.dumps(configuration))
        self.environment = {
            "HYBRID_SHELL_REMOTE": str(self.remote),
            "ENROLL_CONFIG": str(self.home / "configuration.json"),
            "XDG_DATA_HOME": str(self.data),
        }
        # The app that the system starts reads this file. It also looks for applications in the desk's folder.
        (desk.home / "app.env").write_text("".join(f"export {name}='{value}'\n" for name, value in self.environment.items()))
        (self.data / "applications").symlink_to(desk.home / "data/applications")
        self.child = None
        self._socket = None

    def start(self, *arguments):
        self.child = Child([SHELL, *arguments], self.home / "shell.log", {**self.desk.environment, **self.environment})
        return self.reach()

    def reach(self):
        """Connects to a running shell, whoever started it."""

        def connect():
            attempt = socket.socket(socket.AF_UNIX)
            attempt.settimeout(30)
            try:
                attempt.connect(str(self.remote))
            except OSError:
                attempt.close()
                return None
            return attempt

        self._socket = wait_until(connect, "the shell is there", timeout=30)
        self._lines = self._socket.makefile("rw")
        return self

    def tell(self, **order):
        self._lines.write(json.dumps(order) + "\n")
        self._lines.flush()
        answer = json.loads(self._lines.readline())
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer["value"]

    def run(self, body):
        """Runs the body of an async function in the page."""
        return self.tell(run=body)

    # What the user sees and does.

    @property
    def state(self):
        return self.run("return document.getElementById('view')?.dataset.state ?? ''")

    @property
    def text(self):
        return self.run("return document.body.innerText")

    @property
    def notice(self):
        return self.run("return document.getElementById('notice').textContent")

    def shows(self, state, picture=None):
        wait_until(lambda: self.state == state, f"the page shows {state}, not {self.state}: {self.text!r}", timeout=30)
        if picture:
            self.photograph(picture)
        return self

    def says(self, words):
        wait_until(lambda: words in self.notice, f"the page says {words!r}, not {self.notice!r}")

    def photograph(self, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.tell(snapshot=str(PICTURES / f"shell-{name}.png"))

    def press(self, text):
        pressed = self.run(
            f"const all = [...document.querySelectorAll('button')], text = {json.dumps(text)};"
            "const one = all.find((button) => button.textContent === text); one?.click(); return Boolean(one)"
        )
        if not pressed:
            raise AssertionError(f"no button {text!r}: {self.text!r}")

    def kill(self):
        """Kills the app with SIGKILL, whoever started it."""
        self.hang_up()
        self.child.kill()

    def hang_up(self):
        self._lines.close()
        self._socket.close()

    def stop(self):
        if self._socket:
            self.hang_up()
        if self.child:
            self.child.stop()
        self.desk.end_app()
