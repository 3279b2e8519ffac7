"""A real SMTP server that keeps the messages that it receives."""

import email
import email.policy
import re
import sys

from processes import Child, free_port, is_listening, wait_until, workspace


class MailServer:
    """A server that listens on loopback; `message_to(address)` waits for an e-mail."""

    def __init__(self):
        self.port = free_port()
        directory = workspace("mail")
        self._inbox = directory / "box"
        self._taken = set()
        self._child = Child(
            [
                *(sys.executable, "-m", "aiosmtpd", "-n", "-l", f"127.0.0.1:{self.port}"),
                *("-c", "aiosmtpd.handlers.Mailbox", self._inbox),
            ],
            directory / "log",
        )
        self._child.wait_for(lambda: is_listening(self.port), "the SMTP server listens")

    def stop(self):
        self._child.stop()

    def message_to(self, address):
        """The text of the next e-mail to this address. Each message is returned once."""
        return wait_until(lambda: self._take(address), f"an e-mail to {address}", timeout=20)

    def link_to(self, address):
        """The first link in the next e-mail to this address."""
        return re.search(r"https?://\S+", self.message_to(address))[0]

    def _take(self, address):
        new = self._inbox / "new"
        for path in sorted(new.iterdir()) if new.exists() else []:
            if path.name in self._taken:
                continue
            message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
            if address in message["To"]:
                self._taken.add(path.name)
                return message.get_body(("plain",)).get_content()
        return None
