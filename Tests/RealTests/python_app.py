"""A program that uses EnrollKit for Python, and does what a test tells it line by line: `COMMAND JSON`, answered by `ok JSON`
or `error JSON`, as the drivers of the other languages do."""

import json
import re
import sys

import enrollkit


class Program:
    def __init__(self):
        self.client = None

    def open(self, configuration, store, account=None):
        self.client = enrollkit.Client(configuration, store=store, account=account or "default")

    def close(self):
        self.client.close()

    def sign_in(self, answer, options):
        """`answer` is what the user says to the question; None leaves it open."""
        confirm = None if answer is None else lambda profile: answer
        options = {re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name): value for name, value in options.items()}
        if {"max_age", "acr_values"} & set(options):
            return self.step_up(confirm, **options)
        self.client.sign_in(confirm=confirm, **options)

    def step_up(self, confirm, **options):
        """With options that `sign_in` does not have."""
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
