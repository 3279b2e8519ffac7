"""The base class of every exception of this package."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Tuple, Type


class EnrollError(Exception):
    """Why something failed. Each status of EnrollKit has its own subclass.

    No text in it contains a secret: you may log all of it.
    """

    status: str = "internal"
    """The name of the status, as in the manifest, such as `storeLocked`."""

    code: int = 0
    """The number of the status in the C API; 0 for an error that only this package has."""

    blame: str = "internal"
    """Who is to blame: caller, host, user, server, network or internal."""

    retryable: bool = False
    """Whether the same call may succeed later without any change."""

    def __init__(
        self,
        message: str,
        *,
        field: Optional[str] = None,
        http_status: Optional[int] = None,
        oauth_error: Optional[str] = None,
        oauth_error_description: Optional[str] = None,
        retry_after: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        """What happened, what was expected and what to do, in English, for a log."""
        self.field = field
        """The configuration key or the parameter at fault."""
        self.http_status = http_status
        """The status of the HTTP response that caused the failure."""
        self.oauth_error = oauth_error
        """The provider's own error code (RFC 6749 §5.2)."""
        self.oauth_error_description = oauth_error_description
        """The provider's own words about its error, for a log; None if there are none, or if they may hold a secret."""
        self.retry_after = retry_after
        """Seconds that the server asked the client to wait."""

    def __str__(self) -> str:
        return f"{self.status}: {self.message}"

    def __repr__(self) -> str:
        names = ("field", "http_status", "oauth_error", "oauth_error_description", "retry_after")
        facts = ((name, getattr(self, name)) for name in names)
        told = "".join(f", {name}={value!r}" for name, value in facts if value is not None)
        return f"{type(self).__name__}({self.message!r}{told})"

    def __reduce__(self) -> Tuple[Any, ...]:
        return _again, (type(self), self.message), self.__dict__

    @classmethod
    def from_json(cls, value: Any) -> EnrollError:
        """The exception for an error object of the manifest."""
        from ._generated.statuses import BY_STATUS

        data: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
        status = str(data.get("status", "internal"))
        kind: Type[EnrollError] = BY_STATUS.get(status, EnrollError)
        error = kind(
            str(data.get("message", "the error has no message")),
            field=data.get("field"),
            http_status=data.get("httpStatus"),
            oauth_error=data.get("oauthError"),
            oauth_error_description=data.get("oauthErrorDescription"),
            retry_after=data.get("retryAfter"),
        )
        # The status comes from a newer library, and this package does not know it: its name and number are kept.
        told: Dict[str, Any] = {"status": status, "code": data.get("code"), "blame": data.get("blame")}
        told["retryable"] = data.get("retryable")
        for name, fact in told.items():
            if fact is not None and getattr(error, name) != fact:
                setattr(error, name, fact)
        return error


def _again(kind: Type[EnrollError], message: str) -> EnrollError:
    """Makes an exception again when it is unpickled."""
    return kind(message)


class EnrollLibraryError(EnrollError, ImportError):
    """libenroll or enrolld was not found, or its version does not match this package."""

    status = "unsupported"
    blame = "host"


class EnrollDaemonEnded(EnrollError, ConnectionError):
    """The daemon ended during a call, or the program is not enrolld. Open a new daemon; the store is unchanged."""

    status = "daemonEnded"
    blame = "host"
