#!/usr/bin/env python3
"""A command-line tool that signs its user in:  whoami.py login|whoami|logout"""

import json
import os
import pathlib
import sys

import enrollkit

HERE = pathlib.Path(__file__).resolve().parent
USAGE = "usage: whoami.py login|whoami|logout"


def opened():
    """The client: its configuration is a file, its session is in the user's data folder."""
    configuration = json.loads(pathlib.Path(os.environ.get("ENROLL_CONFIG", HERE.parent / "sandbox.json")).read_text())
    data = pathlib.Path(os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local/share")
    data.mkdir(parents=True, exist_ok=True)
    return enrollkit.Client(configuration, store=data / "python-cli-example")


def present(action):
    """Opens the browser. If there is none, shows the URL."""
    try:
        enrollkit.open_browser(action)
    except enrollkit.EnrollUnsupported:
        print("Open this in your browser:", action.url, flush=True)


def login(client):
    client.sign_in(present=present, confirm=lambda profile: True)
    print(f"Signed in as {client.profile().get('email', 'somebody')}.")


def whoami(client):
    # For your own API: requests.get(url, auth=enrollkit.requests.Auth(client)) adds the token.
    claims = client.userinfo()
    print(f"{claims.get('name', 'somebody')} <{claims.get('email', 'no e-mail')}>")


def logout(client):
    client.logout()
    print("Signed out.")


def main():
    commands = {"login": login, "whoami": whoami, "logout": logout}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        sys.exit(USAGE)
    try:
        with opened() as client:
            commands[sys.argv[1]](client)
    except enrollkit.EnrollReauthenticate:
        sys.exit("whoami.py: nobody is signed in; run: whoami.py login")
    except (enrollkit.EnrollError, OSError, ValueError) as error:
        sys.exit(f"whoami.py: {error}")


if __name__ == "__main__":
    main()
