"""A real provider and a real browser for the tests: Canaille and headless Chromium, run by the environment of
Tests/system/ProviderTests (`stage.py`), and `Stage`, which exchanges lines of JSON with that process.
"""

import json
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
PYTHON = TOP / ".build/providers/venv/bin/python"


class Stage:
    """The process with provider and browser."""

    def __init__(self):
        self._process = subprocess.Popen(
            [PYTHON, "-B", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.configuration = self._read()

    def open(self, url, until):
        """Alice opens the URL and answers every page, until the browser leaves for `until`. Returns the browser's
        last URL."""
        return self._ask(url=url, until=until)

    def _ask(self, **wish):
        self._process.stdin.write(json.dumps(wish) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self):
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError("the stage ended; its log is above")
        told = json.loads(line)
        if isinstance(told, dict) and "failure" in told:
            raise AssertionError(told["failure"])
        return told

    def close(self):
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


def play():
    sys.path[:0] = [str(TOP / "Tests/faces/Support"), str(TOP / "Tests/system/ProviderTests")]
    from browser import Browser
    from canaille_provider import Canaille
    from providers import ALICE

    provider, browser = Canaille(), Browser()
    provider.start()
    try:
        tell({"issuer": provider.issuer, "loopback": provider.loopback})
        for line in sys.stdin:
            wish = json.loads(line)
            try:
                with browser.person(provider, ALICE) as person:
                    visit = person.open(wish["url"], until=wish["until"])
                tell({"redirect": visit.redirect, "asked": visit.asked, "text": visit.text})
            except Exception as failure:
                tell({"failure": f"{type(failure).__name__}: {failure}"})
    finally:
        browser.close()
        provider.stop()


def tell(value):
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    play()
