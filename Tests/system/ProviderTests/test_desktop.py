"""Tests the sign-in on a real desktop: the browser opens a custom scheme, and the system's handler starts a
new process (flows.md §2)."""

import json
import shlex
import sys
from pathlib import Path
from urllib.parse import urlsplit

from canaille_provider import Canaille
from cases import browser, on_each
from faces import FACES
from processes import wait_until, workspace
from providers import ALICE, CUSTOM

_HANDLER = Path(__file__).with_name("scheme_handler.py")


@on_each([Canaille])
class Desktop:
    def test_the_system_starts_a_process_that_resumes(self):
        # The system's handler starts the daemon, whichever face began the sign-in.
        daemon = FACES["jsonrpc"]
        self.need(daemon)
        client = self.open()
        url = self.begin(client)["action"]["url"]
        client.close()

        home = workspace("desktop")
        opening, out = home / "open.json", home / "answer.json"
        opening.write_text(
            json.dumps({"configuration": self.provider.configuration(), "store": str(self.store)})
        )
        environment = self.register(home, [sys.executable, _HANDLER, daemon.program, opening, out])
        person = browser().desktop_person(self.provider, ALICE, home / "profile", environment)
        self.addCleanup(person.close)
        person.open(url, until=CUSTOM)
        wait_until(out.exists, "the handler has answered", timeout=30)
        answer = json.loads(out.read_text())
        self.assertEqual(answer["result"]["state"]["state"], "awaitingConfirmation", answer)

        client = self.open()
        self.confirm(client, client.call("registration.state")["state"])
        self.assertValid(client.call("token.access"))

    def register(self, home, command):
        """Makes `command` the system's handler of the custom scheme, and returns the environment in which it is the
        handler."""
        scheme = f"x-scheme-handler/{urlsplit(CUSTOM).scheme}"
        applications = home / "data" / "applications"
        applications.mkdir(parents=True)
        # Without a desktop, xdg-open does not understand quotes in Exec.
        program = home / "app"
        program.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, command))} "$1"\n')
        program.chmod(0o700)
        applications.joinpath("app.desktop").write_text(
            f"[Desktop Entry]\nType=Application\nName=App\nExec={program} %u\nMimeType={scheme};\n"
        )
        config = home / "config"
        config.mkdir()
        config.joinpath("mimeapps.list").write_text(f"[Default Applications]\n{scheme}=app.desktop\n")
        return {
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_CONFIG_HOME": str(config),
            # xdg-open requires a display, but nothing connects to it.
            "DISPLAY": ":99",
        }
