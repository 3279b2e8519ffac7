"""Code that both clients share: signing in by the browser, and writing events into a log."""

from __future__ import annotations

import concurrent.futures
import logging
import threading
import webbrowser
from typing import Any, Callable, Dict, Optional, Union
from urllib.parse import parse_qs, urlsplit

from ._error import EnrollError
from ._generated.statuses import EnrollAccessDenied, EnrollUnsupported
from ._generated.types import (
    EVENTS,
    Action,
    ErrorReported,
    Event,
    LogoutFinished,
    OpenURL,
    RegistrationChanged,
    ShowDeviceCode,
    TokenRenewalFailed,
    TokenRenewed,
    Transaction,
)
from ._given import invalid
from ._values import told

Logger = Union[logging.Logger, "logging.LoggerAdapter[logging.Logger]"]

LOG = logging.getLogger("enrollkit")


def open_browser(action: Action) -> None:
    """The default `present` of `sign_in`: opens the action's URL in the system's browser. It returns when the
    browser's program ends: with some browsers, only when the user closes the browser. `sign_in` itself does not wait
    for that.

    Raises:
        EnrollUnsupported: the action is of another type, or no browser could be opened.
    """
    if isinstance(action, ShowDeviceCode):
        raise EnrollUnsupported(
            "no browser opens for a device; show the user the address and the code: "
            "present=lambda action: print(action.verification_uri, action.user_code)",
            field="present",
        )
    if not isinstance(action, OpenURL):
        raise EnrollUnsupported(
            f"sign_in cannot show the action {type(action).__name__} by itself; pass `present`", field="present"
        )
    try:
        is_open = webbrowser.open(action.url)
    except (OSError, ValueError, webbrowser.Error):
        # `webbrowser` raises ValueError, for example, if BROWSER has a quotation mark that is not closed.
        is_open = False
    if not is_open:
        raise EnrollUnsupported(
            "no browser could be opened; show the user the URL: present=lambda action: print(action.url)",
            field="present",
        )


def opening(action: Action) -> concurrent.futures.Future[None]:
    """Runs `open_browser` on a daemon thread, which does not keep the program from ending."""
    opened: concurrent.futures.Future[None] = concurrent.futures.Future()
    opened.set_running_or_notify_cancel()

    def run() -> None:
        try:
            open_browser(action)
        except Exception as failure:
            opened.set_exception(failure)
        else:
            opened.set_result(None)

    threading.Thread(target=run, name="enrollkit browser", daemon=True).start()
    return opened


def check_redirect(transaction: Transaction) -> None:
    """Checks that this process receives the redirect of the transaction.

    Raises:
        EnrollUnsupported: `sign_in` would wait for a redirect that this process does not receive.
    """
    scheme = (transaction.redirect_uri or "http:").partition(":")[0]
    if scheme != "http":
        raise EnrollUnsupported(
            f"redirect_uri: sign_in expects a loopback redirect such as http://127.0.0.1/callback, got {scheme}:…; "
            "call `begin`, open its URL, and pass the redirect to `resume` in the process that receives it",
            field="redirect_uri",
        )


# After this many seconds without a redirect, `sign_in` logs once what to check, as `enroll login` does.
REDIRECT_HINT_DELAY = 30.0


def log_redirect_hint(logger: Optional[Logger], transaction: Transaction) -> None:
    """Logs what to check if no redirect arrives: a provider that shows its own error page sends no redirect. Logs
    nothing for an action without a URL: with the device grant, the answers to the polls show why the provider refuses.
    """
    action = transaction.action
    if not isinstance(action, OpenURL):
        return
    identifier = parse_qs(urlsplit(action.url).query).get("client_id", ["?"])[0]
    (logger or LOG).warning(
        "sign_in still waits for the browser. If it shows an error page, compare client id and redirect URI with those "
        "registered at the provider, the port included if the provider compares ports; client id: %s, redirect URI: %s",
        identifier,
        transaction.redirect_uri,
    )


def check_confirmed(answer: object) -> bool:
    """The answer of `confirm`.

    Raises:
        EnrollInvalidArgument: the answer is not a bool. A forgotten `return` must not revoke tokens, and a coroutine
        must not confirm them.
    """
    if not isinstance(answer, bool):
        raise invalid("confirm", "a function that returns True or False", answer)
    return answer


def not_confirmed() -> EnrollAccessDenied:
    """The error if the user says that the profile is not theirs."""
    return EnrollAccessDenied(
        "the user did not confirm the profile, and its tokens were revoked; "
        "with prompt='login' the provider lets another user sign in"
    )


def event_of(name: str, parameters: Dict[str, Any]) -> Optional[Event]:
    """The event; None for an event of a newer library."""
    read = EVENTS.get(name)
    if read is None:
        return None
    try:
        return told(read, parameters)
    except EnrollError as fault:
        LOG.warning("an event could not be read: %s", fault)
        return None


def log_event(logger: Logger) -> Callable[[str, Dict[str, Any]], None]:
    """A listener that writes every event into a log, without secrets and without data about the user."""

    def listen(name: str, parameters: Dict[str, Any]) -> None:
        event = event_of(name, parameters)
        if isinstance(event, RegistrationChanged):
            logger.info("registration: %s", event.state.state)
        elif isinstance(event, TokenRenewed):
            logger.info("tokens were renewed; they expire at %s", event.expires_at.isoformat())
        elif isinstance(event, TokenRenewalFailed):
            logger.warning("tokens were not renewed: %s", event.error)
        elif isinstance(event, LogoutFinished):
            logger.info("the logout is complete")
        elif isinstance(event, ErrorReported):
            logger.warning("%s; what helps: %s", event.error, event.helps)

    return listen
