"""A program that uses EnrollKit for Python, and runs a test's commands line by line: `COMMAND JSON`, answered by `ok
JSON` or `error JSON`, as the drivers of the other languages do."""

import json
import re
import sys
import webbrowser

import enrollkit


def spelt(name):
    """A parameter's name in Python: `allow_loopback_http` for `allowLoopbackHTTP`."""
    return re.sub("(?<=[a-z])[A-Z]", "_\\g<0>", name).lower()


class Program:
    def __init__(self):
        self.client = None

    def open(self, configuration, store, account=None):
        self.client = enrollkit.Client(configuration, store=store, account=account or "default")

    def register(self, **parameters):
        named = {spelt(name): value for name, value in parameters.items()}
        return {"configuration": enrollkit.Library().register_resource(**named).configuration}

    def close(self):
        self.client.close()

    def sign_in(self, answer, options):
        """`answer` is the user's answer to the question whether the profile is right; None leaves the question
        open."""
        confirm = None if answer is None else lambda profile: answer
        options = {spelt(name): value for name, value in options.items()}
        if {"max_age", "acr_values"} & set(options):
            return self.step_up(confirm, **options)
        if options.get("kind") == "device":
            options["present"] = lambda action: webbrowser.open(action.verification_uri_complete)
        self.client.sign_in(confirm=confirm, **options)

    def step_up(self, confirm, **options):
        """Signs in with options that the method `sign_in` does not have."""
        transaction = self.client.begin(**options)
        enrollkit.open_browser(transaction.action)
        state = self.client.await_outcome(transaction)
        if isinstance(state, enrollkit.AwaitingConfirmation) and confirm:
            self.client.confirm() if confirm(state.profile) else self.client.retry()

    def state(self):
        return {"state": str(self.client.state().state)}

    def access_token(self):
        return self._token(self.client.access_token)

    def refresh(self):
        return self._token(self.client.refresh)

    def _token(self, ask):
        try:
            token = ask()
        except enrollkit.EnrollReauthenticate:
            return {"outcome": "reauthenticate"}
        return {"outcome": str(token.outcome), "accessToken": token.value}

    def userinfo(self):
        return {"claims": self.client.userinfo()}

    def logout(self):
        return {"url": self.client.logout().url}


def main():
    program = Program()
    for line in sys.stdin:
        command, _, parameters = line.partition(" ")
        method = getattr(program, "open" if command == "client.open" else command)
        try:
            result = method(**json.loads(parameters))
        except enrollkit.EnrollError as error:
            print("error", json.dumps({"status": error.status, "message": error.message}), flush=True)
        else:
            print("ok", json.dumps(result or {}), flush=True)


if __name__ == "__main__":
    main()
