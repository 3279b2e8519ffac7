"""The exceptions: one class for each status.

Drawn by `generate` from the manifest; do not edit.
"""

from __future__ import annotations

from typing import Dict, Type

from ._error import EnrollError


class EnrollStoreError(EnrollError):
    """The store could not be used: what all `EnrollStore…` have in common."""


class EnrollInvalidArgument(EnrollError, ValueError):
    """An argument is missing, of the wrong type or out of range."""

    status = "invalidArgument"
    code = -1
    blame = "caller"
    retryable = False


class EnrollHandle(EnrollError):
    """The handle is null, stale or already freed."""

    status = "handle"
    code = -2
    blame = "caller"
    retryable = False


class EnrollReentrant(EnrollError):
    """A host callback called back into the library."""

    status = "reentrant"
    code = -3
    blame = "caller"
    retryable = False


class EnrollForked(EnrollError):
    """The process forked after the client was made; open a new one in the child."""

    status = "forked"
    code = -4
    blame = "caller"
    retryable = False


class EnrollBufferTooSmall(EnrollError):
    """The caller's buffer is too small; the needed size was reported."""

    status = "bufferTooSmall"
    code = -5
    blame = "caller"
    retryable = False


class EnrollCancelled(EnrollError):
    """The call was cancelled."""

    status = "cancelled"
    code = -6
    blame = "caller"
    retryable = False


class EnrollDeadlineExceeded(EnrollError, TimeoutError):
    """The caller's deadline passed first."""

    status = "deadlineExceeded"
    code = -7
    blame = "caller"
    retryable = True


class EnrollBusy(EnrollError):
    """Too much is going on at once; ask again."""

    status = "busy"
    code = -8
    blame = "caller"
    retryable = True


class EnrollUnsupported(EnrollError):
    """This build, this machine or this provider cannot do that."""

    status = "unsupported"
    code = -9
    blame = "caller"
    retryable = False


class EnrollIllegalState(EnrollError):
    """The registration is in a state in which that is not possible."""

    status = "illegalState"
    code = -10
    blame = "caller"
    retryable = False


class EnrollNotFound(EnrollError, LookupError):
    """No such command, account or transaction."""

    status = "notFound"
    code = -11
    blame = "caller"
    retryable = False


class EnrollOutOfMemory(EnrollError, MemoryError):
    """Memory could not be had."""

    status = "outOfMemory"
    code = -12
    blame = "internal"
    retryable = True


class EnrollConfiguration(EnrollError, ValueError):
    """The configuration is not acceptable; the field is named."""

    status = "configuration"
    code = -20
    blame = "host"
    retryable = False


class EnrollRedirectMalformed(EnrollError):
    """The URL is not one that a provider may redirect to."""

    status = "redirectMalformed"
    code = -21
    blame = "network"
    retryable = False


class EnrollRedirectMismatch(EnrollError):
    """The URL is not the redirect URI of its transaction."""

    status = "redirectMismatch"
    code = -22
    blame = "network"
    retryable = False


class EnrollUnsolicited(EnrollError):
    """No pending transaction asked for this URL."""

    status = "unsolicited"
    code = -23
    blame = "network"
    retryable = False


class EnrollAlreadySettled(EnrollError):
    """The transaction was settled before."""

    status = "alreadySettled"
    code = -24
    blame = "network"
    retryable = False


class EnrollTransactionExpired(EnrollError):
    """The transaction's deadline has passed; begin again."""

    status = "transactionExpired"
    code = -25
    blame = "user"
    retryable = False


class EnrollOtherAppMissing(EnrollError):
    """The other app is not on this device."""

    status = "otherAppMissing"
    code = -26
    blame = "user"
    retryable = False


class EnrollActivationFailed(EnrollError):
    """The link of an e-mail led to no sign-in: it was used elsewhere, is too old, or the user stopped; offer to sign
    in or to send the e-mail again.
    """

    status = "activationFailed"
    code = -27
    blame = "user"
    retryable = False


class EnrollNetwork(EnrollError, ConnectionError):
    """The server could not be reached."""

    status = "network"
    code = -30
    blame = "network"
    retryable = True


class EnrollTLS(EnrollError):
    """The server's certificate is not acceptable."""

    status = "tls"
    code = -31
    blame = "server"
    retryable = False


class EnrollTimeout(EnrollError, TimeoutError):
    """The server did not answer in time."""

    status = "timeout"
    code = -32
    blame = "network"
    retryable = True


class EnrollServer(EnrollError):
    """The server is in trouble (5xx or 429)."""

    status = "server"
    code = -33
    blame = "server"
    retryable = True


class EnrollResponseInvalid(EnrollError):
    """The server's answer is not what the protocol says."""

    status = "responseInvalid"
    code = -34
    blame = "server"
    retryable = False


class EnrollOAuth(EnrollError):
    """The provider refused; its error code is given."""

    status = "oauth"
    code = -35
    blame = "server"
    retryable = False


class EnrollLoginRequired(EnrollError):
    """Prompt=none, but the user is not signed in at the provider."""

    status = "loginRequired"
    code = -36
    blame = "user"
    retryable = False


class EnrollInteractionRequired(EnrollError):
    """Prompt=none, but the provider needs the user."""

    status = "interactionRequired"
    code = -37
    blame = "user"
    retryable = False


class EnrollConsentRequired(EnrollError):
    """Prompt=none, but the user has to consent."""

    status = "consentRequired"
    code = -38
    blame = "user"
    retryable = False


class EnrollAccessDenied(EnrollError):
    """The user or the provider said no."""

    status = "accessDenied"
    code = -39
    blame = "user"
    retryable = False


class EnrollIssuerMismatch(EnrollError):
    """The issuer is not the configured one."""

    status = "issuerMismatch"
    code = -40
    blame = "server"
    retryable = False


class EnrollCodeRejected(EnrollError):
    """The one-time code is wrong or too old; ask the user for it again."""

    status = "codeRejected"
    code = -41
    blame = "user"
    retryable = False


class EnrollKeysUnavailable(EnrollError):
    """The issuer's keys could not be had."""

    status = "keysUnavailable"
    code = -50
    blame = "server"
    retryable = True


class EnrollIdTokenInvalid(EnrollError):
    """The id_token breaks a rule; the message names it."""

    status = "idTokenInvalid"
    code = -51
    blame = "server"
    retryable = False


class EnrollProfileMismatch(EnrollError):
    """Two sources disagree about who the user is."""

    status = "profileMismatch"
    code = -52
    blame = "server"
    retryable = False


class EnrollEmailNotVerified(EnrollError):
    """The e-mail address is not verified; verify it and confirm again."""

    status = "emailNotVerified"
    code = -53
    blame = "user"
    retryable = True


class EnrollUnknownAccount(EnrollError):
    """The registration check knows no such account; the host can offer to create one."""

    status = "unknownAccount"
    code = -54
    blame = "user"
    retryable = False


class EnrollReauthenticate(EnrollError):
    """The session is over; sign in again."""

    status = "reauthenticate"
    code = -60
    blame = "user"
    retryable = False


class EnrollRejected(EnrollError):
    """The provider refused to renew, without ending the session."""

    status = "rejected"
    code = -61
    blame = "server"
    retryable = True


class EnrollExpired(EnrollError):
    """The token expired and could not be renewed yet."""

    status = "expired"
    code = -62
    blame = "network"
    retryable = True


class EnrollStoreLocked(EnrollStoreError):
    """The store's key is not to be had now."""

    status = "storeLocked"
    code = -70
    blame = "host"
    retryable = True


class EnrollStoreCorrupt(EnrollStoreError):
    """The store's file is damaged; it was set aside."""

    status = "storeCorrupt"
    code = -71
    blame = "host"
    retryable = False


class EnrollStoreRefused(EnrollStoreError):
    """The store's owner, permissions or kind are not acceptable."""

    status = "storeRefused"
    code = -72
    blame = "host"
    retryable = False


class EnrollStoreIO(EnrollStoreError):
    """The store could not be read or written."""

    status = "storeIO"
    code = -73
    blame = "host"
    retryable = True


class EnrollStoreFull(EnrollStoreError):
    """No space is left for the store."""

    status = "storeFull"
    code = -74
    blame = "host"
    retryable = True


class EnrollStoreKey(EnrollStoreError):
    """The key is not this store's."""

    status = "storeKey"
    code = -75
    blame = "host"
    retryable = False


class EnrollStoreVersion(EnrollStoreError):
    """The store was written by a newer version."""

    status = "storeVersion"
    code = -76
    blame = "host"
    retryable = False


class EnrollJSON(EnrollError):
    """The text is not acceptable JSON."""

    status = "json"
    code = -80
    blame = "caller"
    retryable = False


class EnrollInternal(EnrollError):
    """A defect of this library; please report it."""

    status = "internal"
    code = -99
    blame = "internal"
    retryable = False


BY_STATUS: Dict[str, Type[EnrollError]] = {
    "invalidArgument": EnrollInvalidArgument,
    "handle": EnrollHandle,
    "reentrant": EnrollReentrant,
    "forked": EnrollForked,
    "bufferTooSmall": EnrollBufferTooSmall,
    "cancelled": EnrollCancelled,
    "deadlineExceeded": EnrollDeadlineExceeded,
    "busy": EnrollBusy,
    "unsupported": EnrollUnsupported,
    "illegalState": EnrollIllegalState,
    "notFound": EnrollNotFound,
    "outOfMemory": EnrollOutOfMemory,
    "configuration": EnrollConfiguration,
    "redirectMalformed": EnrollRedirectMalformed,
    "redirectMismatch": EnrollRedirectMismatch,
    "unsolicited": EnrollUnsolicited,
    "alreadySettled": EnrollAlreadySettled,
    "transactionExpired": EnrollTransactionExpired,
    "otherAppMissing": EnrollOtherAppMissing,
    "activationFailed": EnrollActivationFailed,
    "network": EnrollNetwork,
    "tls": EnrollTLS,
    "timeout": EnrollTimeout,
    "server": EnrollServer,
    "responseInvalid": EnrollResponseInvalid,
    "oauth": EnrollOAuth,
    "loginRequired": EnrollLoginRequired,
    "interactionRequired": EnrollInteractionRequired,
    "consentRequired": EnrollConsentRequired,
    "accessDenied": EnrollAccessDenied,
    "issuerMismatch": EnrollIssuerMismatch,
    "codeRejected": EnrollCodeRejected,
    "keysUnavailable": EnrollKeysUnavailable,
    "idTokenInvalid": EnrollIdTokenInvalid,
    "profileMismatch": EnrollProfileMismatch,
    "emailNotVerified": EnrollEmailNotVerified,
    "unknownAccount": EnrollUnknownAccount,
    "reauthenticate": EnrollReauthenticate,
    "rejected": EnrollRejected,
    "expired": EnrollExpired,
    "storeLocked": EnrollStoreLocked,
    "storeCorrupt": EnrollStoreCorrupt,
    "storeRefused": EnrollStoreRefused,
    "storeIO": EnrollStoreIO,
    "storeFull": EnrollStoreFull,
    "storeKey": EnrollStoreKey,
    "storeVersion": EnrollStoreVersion,
    "json": EnrollJSON,
    "internal": EnrollInternal,
}

BY_CODE: Dict[int, Type[EnrollError]] = {one.code: one for one in BY_STATUS.values()}

__all__ = [
    "EnrollAccessDenied",
    "EnrollActivationFailed",
    "EnrollAlreadySettled",
    "EnrollBufferTooSmall",
    "EnrollBusy",
    "EnrollCancelled",
    "EnrollCodeRejected",
    "EnrollConfiguration",
    "EnrollConsentRequired",
    "EnrollDeadlineExceeded",
    "EnrollEmailNotVerified",
    "EnrollExpired",
    "EnrollForked",
    "EnrollHandle",
    "EnrollIdTokenInvalid",
    "EnrollIllegalState",
    "EnrollInteractionRequired",
    "EnrollInternal",
    "EnrollInvalidArgument",
    "EnrollIssuerMismatch",
    "EnrollJSON",
    "EnrollKeysUnavailable",
    "EnrollLoginRequired",
    "EnrollNetwork",
    "EnrollNotFound",
    "EnrollOAuth",
    "EnrollOtherAppMissing",
    "EnrollOutOfMemory",
    "EnrollProfileMismatch",
    "EnrollReauthenticate",
    "EnrollRedirectMalformed",
    "EnrollRedirectMismatch",
    "EnrollReentrant",
    "EnrollRejected",
    "EnrollResponseInvalid",
    "EnrollServer",
    "EnrollStoreCorrupt",
    "EnrollStoreError",
    "EnrollStoreFull",
    "EnrollStoreIO",
    "EnrollStoreKey",
    "EnrollStoreLocked",
    "EnrollStoreRefused",
    "EnrollStoreVersion",
    "EnrollTLS",
    "EnrollTimeout",
    "EnrollTransactionExpired",
    "EnrollUnknownAccount",
    "EnrollUnsolicited",
    "EnrollUnsupported",
]
