"""What a failure is: the base of every exception of this package."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Tuple, Type


class EnrollError(Exception):
    """Why something failed. Each status of EnrollKit has a class of its own below this one.

    No text in it holds a secret, so all of it may be logged.
    """

    status: str = "internal"
    """The reason by name, as in the manifest: `storeLocked`."""

    code: int = 0
    """The reason as the C status; 0 for what only this package knows."""

    blame: str = "internal"
    """Whose fault it is: caller, host, user, server, network or internal."""

    retryable: bool = False
    """Whether the same call may succeed later without anybody changing anything."""

    def __init__(
        self,
        message: str,
        *,
        field: Optional[str] = None,
        http_status: Optional[int] = None,
        oauth_error: Optional[str] = None,
        retry_after: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        """What was expected and what came, in English."""
        self.field = field
        """The configuration key or the parameter at fault."""
        self.http_status = http_status
        """Status of the HTTP response that caused it."""
        self.oauth_error = oauth_error
        """The provider's own error code (RFC 6749 §5.2)."""
        self.retry_after = retry_after
        """Seconds that the server asked to wait."""

    def __str__(self) -> str:
        return f"{self.status}: {self.message}"

    def __repr__(self) -> str:
        facts = ((name, getattr(self, name)) for name in ("field", "http_status", "oauth_error", "retry_after"))
        told = "".join(f", {name}={value!r}" for name, value in facts if value is not None)
        return f"{type(self).__name__}({self.message!r}{told})"

    def __reduce__(self) -> Tuple[Any, ...]:
        return _again, (type(self), self.message), self.__dict__

    @classmethod
    def from_json(cls, value: Any) -> EnrollError:
        """The exception that an error object of the manifest describes."""
        from ._generated.statuses import BY_STATUS

        data: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
        status = str(data.get("status", "internal"))
        kind: Type[EnrollError] = BY_STATUS.get(status, EnrollError)
        error = kind(
            str(data.get("message", "no message came")),
            field=data.get("field"),
            http_status=data.get("httpStatus"),
            oauth_error=data.get("oauthError"),
            retry_after=data.get("retryAfter"),
        )
        # What a newer library knows beyond this package is told as it is.
        told: Dict[str, Any] = {"status": status, "code": data.get("code"), "blame": data.get("blame")}
        told["retryable"] = data.get("retryable")
        for name, fact in told.items():
            if fact is not None and getattr(error, name) != fact:
                setattr(error, name, fact)
        return error


def _again(kind: Type[EnrollError], message: str) -> EnrollError:
    """Unpickles."""
    return kind(message)


class EnrollLibraryError(EnrollError, ImportError):
    """libenroll or enrolld is not there, or its version and this package's do not fit."""

    status = "unsupported"
    blame = "host"


class EnrollDaemonEnded(EnrollError, ConnectionError):
    """The daemon ended, or was never one, while it was needed. Open a new one; the store is as it was."""

    status = "daemonEnded"
    blame = "host"
