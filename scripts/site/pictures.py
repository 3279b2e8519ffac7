#!/usr/bin/env python3
"""Draws the pictures of docs/pictures, each as NAME-light.svg and NAME-dark.svg.

    scripts/site/pictures.py [--check]    --check: write nothing; exit status 1 if a file is not what would be drawn

The states of a registration are read from docs/states.md, which is drawn from the code's transition table.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from draw import Picture  # noqa: E402

TOP = Path(__file__).resolve().parents[2]
FOLDER = TOP / "docs/pictures"


OVERVIEW = (
    "EnrollKit between an app, a browser and a provider",
    "The app asks EnrollKit for a sign-in and for tokens. EnrollKit gives the app a URL, which the app opens in the "
    "browser. The browser goes to the provider and comes back with a code. EnrollKit exchanges the code for tokens at the "
    "provider, keeps them in an encrypted store, and renews them.",
)  # fmt: skip


def overview():
    picture = Picture(820, 360, *OVERVIEW)
    picture.box(20, 70, 160, 76, "Your app", "Swift, C, Python, …")
    picture.box(300, 60, 200, 96, "EnrollKit", "in your process, or in", "the daemon enrolld", own=True)
    picture.box(300, 236, 200, 74, "Store", "encrypted, shared by", "all processes", own=True)
    picture.box(640, 70, 160, 76, "Provider", "Google, Okta, …")
    picture.arrow(180, 96, 300, 96, "sign in, token?")
    picture.arrow(300, 124, 180, 124, "URL, valid token", above=-17)
    picture.arrow(500, 96, 640, 96, "code, renewals")
    picture.arrow(640, 124, 500, 124, "tokens", above=-17)
    picture.arrow(400, 156, 400, 236, "tokens, sealed", both=True, at=(412, 200), anchor="start")
    picture.box(20, 236, 160, 74, "Browser", "the user's own")
    picture.arrow(100, 146, 100, 236, "opens\nthe URL", at=(112, 186), anchor="start")
    picture.parts.append(
        '<path d="M100 310V344H720V146" fill="none" stroke="{line}" stroke-width="1.6" stroke-dasharray="5 4" '
        'marker-start="url(#head)" marker-end="url(#head)"/>')
    picture.text(410, 337, "the user signs in; the browser comes back with a code")
    # The space above the boxes is empty, so the picture is moved up.
    picture.parts = ['<g transform="translate(0 -44)">', *picture.parts, "</g>"]
    picture.size = 820, 312
    return picture


def overview_narrow():
    """The overview for a narrow screen: from top to bottom."""
    picture = Picture(380, 500, *OVERVIEW)
    picture.text(175, 16, "opens the URL")
    picture.box(10, 28, 140, 66, "Your app", "Swift, C, Python, …")
    picture.box(200, 28, 140, 66, "Browser", "the user's own")
    picture.arrow(150, 61, 200, 61)
    picture.arrow(40, 94, 40, 190, "sign in,\ntoken?", at=(48, 137), anchor="start")
    picture.arrow(125, 190, 125, 94, "URL,\nvalid token", at=(133, 137), anchor="start")
    picture.box(10, 190, 330, 74, "EnrollKit", "in your process, or in the daemon enrolld", own=True)
    picture.arrow(80, 264, 80, 360, "tokens,\nsealed", both=True, at=(88, 307), anchor="start")
    picture.box(10, 360, 140, 82, "Store", "encrypted, shared", "by all processes", own=True)
    picture.arrow(222, 264, 222, 360, "code,\nrenewals", at=(230, 307), anchor="start")
    picture.arrow(306, 360, 306, 264, "tokens", at=(312, 315), anchor="start")
    picture.box(200, 360, 140, 82, "Provider", "Google, Okta, …")
    picture.parts.append(
        '<path d="M340 61H366V401H340" fill="none" stroke="{line}" stroke-width="1.6" stroke-dasharray="5 4" '
        'marker-start="url(#head)" marker-end="url(#head)"/>')
    picture.text(370, 470, "the user signs in; the browser comes back with a code", anchor="end")
    picture.size = 380, 484
    return picture


def renewal():
    picture = Picture(
        820, 300, "The life of an access token",
        "A token is fresh for most of its life: a call gets it from memory. Near its end the first call renews it, and other "
        "callers wait for that one renewal. If the provider is down, the old token is given until it expires; then the outcome is "
        "expired, and the session goes on when the provider is back.")
    picture.text(20, 34, "the provider works", size=14, colour="ink", weight="600", anchor="start")
    picture.box(20, 50, 420, 52, "fresh", "token.access: from memory, no request")
    picture.box(450, 50, 150, 52, "due", "one renewal for all", own=True)
    picture.box(610, 50, 190, 52, "fresh again", "the new token, on disk")
    picture.text(20, 160, "the provider is down", size=14, colour="ink", weight="600", anchor="start")
    picture.box(20, 176, 420, 52, "fresh", "token.access: from memory, no request")
    picture.box(450, 176, 150, 52, "stale", "the old token works", own=True)
    picture.box(610, 176, 190, 52, "expired", "the session stays")
    picture.arrow(20, 256, 800, 256, "time", above=-20)
    return picture


def store():
    picture = Picture(
        820, 330, "The store and its key",
        "The store is a directory of mode 0700. Each account is a file that is sealed with AES-256-GCM under a key of its own "
        "write. The store's key is in a key file, in the desktop's keyring, with the host, or comes from a passphrase. A PIN seals one "
        "account in addition.")
    picture.box(20, 30, 360, 270, "")
    picture.text(200, 58, "Store: a directory, mode 0700", size=15, colour="ink", weight="600")
    picture.box(44, 80, 312, 58, "Account default", "tokens, profile, transactions: sealed", own=True)
    picture.box(44, 152, 312, 58, "Account work", "sealed, and with a PIN sealed again", own=True)
    picture.box(44, 224, 312, 58, "Locks, outbox, metadata", "one renewal at a time for all processes")
    picture.box(560, 30, 240, 52, "Key file", "mode 0600, the library's default")
    picture.box(560, 96, 240, 52, "Keyring", "Secret Service of the desktop")
    picture.box(560, 162, 240, 52, "Passphrase", "scrypt, nothing on disk")
    picture.box(560, 228, 240, 52, "Host", "Keychain, Keystore, your own")
    for y in (56, 122, 188, 254):
        picture.line(560, y, 470, 165, colour="line", width=1.4)
    picture.arrow(470, 165, 380, 165, "one of", above=9, at=(432, 150))
    return picture


#: The place of each state of the table in the picture: column and row.
PLACES = {
    "starting": (0, 0), "unregistered": (0, 2), "authenticating": (1, 2), "awaitingConfirmation": (2, 2), "confirmed": (3, 2),
    "valid": (2, 0), "renewed": (3, 0), "renewalFailed": (3, 1), "registrationFailed": (1, 3), "notNative": (1, 0),
}  # fmt: skip
#: The transitions of an ordinary registration. Other transitions are only in the table of docs/states.md, which must
#: have each of these transitions, too.
SHOWN = [
    ("starting", "notNative", "standInUsed"), ("starting", "valid", "tokenValid"), ("starting", "unregistered", "tokenMissing"),
    ("unregistered", "authenticating", "begun"), ("authenticating", "awaitingConfirmation", "tokensArrived"),
    ("authenticating", "registrationFailed", "failed"), ("awaitingConfirmation", "confirmed", "confirmed"),
    ("valid", "renewed", "tokenRenewed"), ("renewed", "renewalFailed", "renewalFailed"),
    ("confirmed", "renewalFailed", "renewalFailed"), ("registrationFailed", "unregistered", "retried"),
]  # fmt: skip


def states():
    """The states of an ordinary registration."""
    page = (TOP / "docs/states.md").read_text()
    names = dict(re.findall(r"^  (\w+): (?:([A-H]) )?\w+$", page, re.M))
    table = {(a, b): events.split(", ") for a, b, events in re.findall(r"^  (\w+) --> (\w+): (.+)$", page, re.M)}
    if set(names) != set(PLACES):
        raise SystemExit(f"pictures.py: PLACES and docs/states.md have different states: {sorted(set(names) ^ set(PLACES))}")
    picture = Picture(
        900, 420, "The states of a registration",
        "An ordinary life: starting leads to valid, or to unregistered. From there a sign-in leads through authenticating and "
        "awaitingConfirmation to confirmed. A token that is due leads to renewed; a refusal of the provider leads to renewalFailed, a failed "
        "sign-in to registrationFailed. The table below has every transition.")
    width, height = 184, 50
    middle = {}
    for name, (column, row) in PLACES.items():
        x, y = 20 + column * 223, 20 + row * 108
        middle[name] = x + width / 2, y + height / 2
        letter = names[name]
        picture.box(x, y, width, height, name, f"state {letter}" if letter else "no letter", own=bool(letter) and letter in "BCH")
    for before, after, event in SHOWN:
        if event not in table[before, after]:
            raise SystemExit(f"pictures.py: docs/states.md has no {event} from {before} to {after}")
        (x1, y1), (x2, y2) = middle[before], middle[after]
        if before == "starting" and after == "valid":
            picture.parts.append(
                f'<path d="M{x1:g} {y1 - 25:g}C{x1 + 60:g} {y1 - 42:g} {x2 - 60:g} {y1 - 42:g} {x2:g} {y2 - 25:g}" fill="none" '
                'stroke="{line}" stroke-width="1.6" marker-end="url(#head)"/>')
            picture.text((x1 + x2) / 2 + 110, y1 - 28, event, size=11)
        elif y1 == y2:
            side = 1 if x2 > x1 else -1
            picture.arrow(x1 + side * width / 2, y1, x2 - side * width / 2, y2)
            picture.text((x1 + x2) / 2, y1 + 42, event, size=11)
        elif x1 == x2:
            side = 1 if y2 > y1 else -1
            picture.arrow(x1, y1 + side * height / 2, x2, y2 - side * height / 2)
            picture.text(x1 + 8, (y1 + y2) / 2 + 4, event, size=11, anchor="start")
        else:
            picture.arrow(x1 - width / 2, y1, x2, y2 + height / 2)
            picture.text(x2 + 8, y1 + 4, event, size=11, anchor="start")
    return picture


PICTURES = {"overview": overview, "overview-narrow": overview_narrow, "renewal": renewal, "store": store, "states": states}


def main():
    is_check = sys.argv[1:] == ["--check"]
    stale = []
    for name, draw in PICTURES.items():
        for scheme in ("light", "dark"):
            path, text = FOLDER / f"{name}-{scheme}.svg", draw().svg(scheme)
            if not path.exists() or path.read_text() != text:
                stale.append(path)
                if not is_check:
                    FOLDER.mkdir(exist_ok=True)
                    path.write_text(text)
    for path in stale:
        print(f"{'not fresh' if is_check else 'wrote'} {path.relative_to(TOP)}")
    return 1 if is_check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
