"""The types of results, events and configuration.

Drawn by `generate` from the manifest; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Callable, ClassVar, Dict, Literal, Mapping, Optional, Sequence, Tuple, TypedDict, Union

from ._error import EnrollError
from ._values import Authorizing, Leading, Word, items, mapping, maybe, moment, number, text, truth, unknown

VERSION = "0.1.0"
"""The version of EnrollKit that this was drawn from."""

ABI = 1
"""The C interface that this was drawn from: major * 65536 + minor."""


class Blame(Word):
    """Whose fault a failure is."""

    CALLER = "caller"
    HOST = "host"
    USER = "user"
    SERVER = "server"
    NETWORK = "network"
    INTERNAL = "internal"


@dataclass(frozen=True)
class Starting:
    """Nothing was asked yet, or the platform is not ready."""

    state: ClassVar[str] = "starting"

    @classmethod
    def from_json(cls, value: Any) -> Starting:
        """Reads what a command told; members that are not known are left out."""
        mapping(value)
        return cls()


@dataclass(frozen=True)
class Choice:
    """A configured way to register."""

    kind: str
    """The host's word: google, email, …"""

    label: str
    """What the user reads."""

    connection: Optional[str] = None
    """The provider's name for the connection."""

    guidance: Optional[str] = None
    """What the user reads beside it."""

    @classmethod
    def from_json(cls, value: Any) -> Choice:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            kind=text(members["kind"]),
            label=text(members["label"]),
            connection=maybe(text, members.get("connection")),
            guidance=maybe(text, members.get("guidance")),
        )


@dataclass(frozen=True)
class Unregistered:
    """No token at all: present the ways to register."""

    choices: Tuple[Choice, ...] = ()
    """The configured ways to register."""

    state: ClassVar[str] = "unregistered"

    letter: ClassVar[str] = "D"

    @classmethod
    def from_json(cls, value: Any) -> Unregistered:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            choices=tuple(Choice.from_json(value) for value in items(members.get("choices") or ())),
        )


class Step(Word):
    """What a transaction under way waits for."""

    BROWSER = "browser"
    EMAIL_PENDING = "emailPending"
    CODE_PENDING = "codePending"
    OTHER_APP = "otherApp"
    EXCHANGING = "exchanging"
    PIN = "pin"


@dataclass(frozen=True)
class Authenticating:
    """A transaction is under way."""

    transaction: str
    """Names the transaction."""

    step: Step
    """What the transaction waits for."""

    state: ClassVar[str] = "authenticating"

    @classmethod
    def from_json(cls, value: Any) -> Authenticating:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            transaction=text(members["transaction"]),
            step=Step(members["step"]),
        )


@dataclass(frozen=True)
class AwaitingConfirmation:
    """Tokens arrived and wait for the user's word."""

    profile: Dict[str, Any] = field(repr=False)
    """Whose tokens they are."""

    state: ClassVar[str] = "awaitingConfirmation"

    letter: ClassVar[str] = "G"

    @classmethod
    def from_json(cls, value: Any) -> AwaitingConfirmation:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            profile=mapping(members["profile"]),
        )


class ActiveReason(Word):
    """How a registration became active."""

    NOT_NATIVE = "notNative"
    VALID = "valid"
    RENEWED = "renewed"
    CONFIRMED = "confirmed"


@dataclass(frozen=True)
class Active:
    """There is an access token to use."""

    letter: str = field(repr=False)
    """NotNative, valid, renewed, confirmed."""

    reason: ActiveReason
    """How it became active."""

    state: ClassVar[str] = "active"

    @classmethod
    def from_json(cls, value: Any) -> Active:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            letter=text(members["letter"]),
            reason=ActiveReason(members["reason"]),
        )


class Remedy(Word):
    """What helps after a failed renewal."""

    RETRY = "retry"
    WAIT = "wait"
    REGISTER_AGAIN = "registerAgain"


@dataclass(frozen=True)
class RenewalFailed:
    """The token was due and could not be renewed."""

    error: EnrollError
    """Why something failed."""

    remedy: Remedy
    """What helps."""

    token_usable: bool
    """The access token has not expired yet."""

    state: ClassVar[str] = "failed"

    letter: ClassVar[str] = "E"

    reason: ClassVar[str] = "renewal"

    @classmethod
    def from_json(cls, value: Any) -> RenewalFailed:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            error=EnrollError.from_json(members["error"]),
            remedy=Remedy(members["remedy"]),
            token_usable=truth(members["tokenUsable"]),
        )


@dataclass(frozen=True)
class RegistrationFailed:
    """The browser, link, app or code step failed."""

    error: EnrollError
    """Why something failed."""

    state: ClassVar[str] = "failed"

    letter: ClassVar[str] = "F"

    reason: ClassVar[str] = "registration"

    @classmethod
    def from_json(cls, value: Any) -> RegistrationFailed:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            error=EnrollError.from_json(members["error"]),
        )


@dataclass(frozen=True)
class OpenURL:
    """Open it in the external browser, and hand back what it redirects to."""

    url: str = field(repr=False)
    """Holds the state of the transaction."""

    type: ClassVar[str] = "openURL"

    @classmethod
    def from_json(cls, value: Any) -> OpenURL:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            url=text(members["url"]),
        )


@dataclass(frozen=True)
class EnterCode:
    """Ask the user for the code, and hand it to registration.submitCode."""

    recipient: str
    """Where the code was sent."""

    type: ClassVar[str] = "enterCode"

    @classmethod
    def from_json(cls, value: Any) -> EnterCode:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            recipient=text(members["recipient"]),
        )


@dataclass(frozen=True)
class AwaitLink:
    """Tell the user to open the link in that e-mail; what comes back goes to registration.resume."""

    recipient: str
    """Where the link was sent."""

    type: ClassVar[str] = "awaitLink"

    @classmethod
    def from_json(cls, value: Any) -> AwaitLink:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            recipient=text(members["recipient"]),
        )


@dataclass(frozen=True)
class OpenOtherApp:
    """Open it; the other app comes back by a link, which goes to registration.resume."""

    url: str = field(repr=False)
    """A link of another app."""

    type: ClassVar[str] = "openOtherApp"

    @classmethod
    def from_json(cls, value: Any) -> OpenOtherApp:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            url=text(members["url"]),
        )


@dataclass(frozen=True)
class ShowDeviceCode:
    """Show both, and wait by registration.awaitOutcome (RFC 8628 §3.3)."""

    user_code: str
    """What the user types."""

    verification_uri: str
    """Where."""

    verification_uri_complete: Optional[str] = None
    """With the code in it, for a QR code."""

    type: ClassVar[str] = "showDeviceCode"

    @classmethod
    def from_json(cls, value: Any) -> ShowDeviceCode:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            user_code=text(members["userCode"]),
            verification_uri=text(members["verificationUri"]),
            verification_uri_complete=maybe(text, members.get("verificationUriComplete")),
        )


@dataclass(frozen=True)
class Transaction(Leading):
    """A transaction that has begun."""

    id: str
    """Names the transaction."""

    action: Action
    """The next move is the host's."""

    expires_at: datetime
    """When the transaction ends by itself."""

    survives_process: bool
    """False for a loopback redirect: its listener dies with the process."""

    redirect_uri: Optional[str] = None
    """As it was sent: with a loopback redirect, its port. Absent when nothing redirects."""

    @classmethod
    def from_json(cls, value: Any) -> Transaction:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            id=text(members["transaction"]),
            action=read_action(members["action"]),
            expires_at=moment(members["expiresAt"]),
            survives_process=truth(members["survivesProcess"]),
            redirect_uri=maybe(text, members.get("redirectUri")),
        )


class Outcome(Word):
    """Whether the token is fresh, or due and not to be renewed just now."""

    VALID = "valid"
    STALE = "stale"


@dataclass(frozen=True)
class AccessToken(Authorizing):
    """An access token that works; `str()` and `repr()` do not show it."""

    outcome: Outcome
    """`stale`: it is due and could not be renewed, and works until it ends."""

    value: str = field(repr=False)
    """For the Authorization header or a form body, nowhere else."""

    type: str
    """As the server spelt it: Bearer, DPoP."""

    expires_at: Optional[datetime] = None
    """By this device's clock; absent for a stand-in token, which has no end."""

    reason: Optional[str] = None
    """One word or a short text, for a log."""

    error: Optional[EnrollError] = None
    """Why something failed."""

    @classmethod
    def from_json(cls, value: Any) -> AccessToken:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            outcome=Outcome(members["outcome"]),
            value=text(members["accessToken"]),
            type=text(members["tokenType"]),
            expires_at=maybe(moment, members.get("expiresAt")),
            reason=maybe(text, members.get("reason")),
            error=maybe(EnrollError.from_json, members.get("error")),
        )


@dataclass(frozen=True)
class Redirected:
    """It was a redirect."""

    state: State
    """Where the registration stands (letters A to H as documented)."""

    kind: ClassVar[str] = "registration"

    @classmethod
    def from_json(cls, value: Any) -> Redirected:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            state=read_state(members["state"]),
        )


@dataclass(frozen=True)
class LoggedOut:
    """It was the logout callback; the logout is finished."""

    kind: ClassVar[str] = "logout"

    @classmethod
    def from_json(cls, value: Any) -> LoggedOut:
        """Reads what a command told; members that are not known are left out."""
        mapping(value)
        return cls()


class Offer(Word):
    """What may be offered to a user whose link led nowhere."""

    SIGN_IN = "signIn"
    REGISTER = "register"


@dataclass(frozen=True)
class Unsolicited:
    """Nobody here waits for the URL; nothing happened."""

    offers: Tuple[Offer, ...] = ()
    """What may be offered to the user, the best first."""

    kind: ClassVar[str] = "unsolicited"

    @classmethod
    def from_json(cls, value: Any) -> Unsolicited:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            offers=tuple(Offer(value) for value in items(members.get("offers") or ())),
        )


@dataclass(frozen=True)
class LinkUsed:
    """The link came before, or a fallback was taken before; nothing happened."""

    offers: Tuple[Offer, ...]
    """What may be offered to the user, the best first."""

    kind: ClassVar[str] = "linkUsed"

    @classmethod
    def from_json(cls, value: Any) -> LinkUsed:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            offers=tuple(Offer(value) for value in items(members["offers"])),
        )


@dataclass(frozen=True)
class LinkExpired:
    """What waited for the link has reached its deadline; nothing happened."""

    offers: Tuple[Offer, ...]
    """What may be offered to the user, the best first."""

    kind: ClassVar[str] = "linkExpired"

    @classmethod
    def from_json(cls, value: Any) -> LinkExpired:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            offers=tuple(Offer(value) for value in items(members["offers"])),
        )


class Kind(Word):
    """What kind of transaction to begin."""

    SIGN_IN = "signIn"
    REGISTER = "register"
    PASSWORDLESS = "passwordless"
    APP2APP = "app2app"
    BFF = "bff"
    DEVICE = "device"


class PasswordlessMessage(Word):
    """What a passwordless sign-in sends to the user."""

    CODE = "code"
    LINK = "link"


class ProviderTold(Word):
    """Whether the provider knows of a sign-out."""

    TOLD = "told"
    QUEUED = "queued"
    NOT_POSSIBLE = "notPossible"


@dataclass(frozen=True)
class Deregistered:
    """A logout that forgot the device."""

    state: State
    """Where the registration stands (letters A to H as documented)."""

    url: Optional[str] = field(default=None, repr=False)
    """Ends the provider's session in the browser, as from logout.begin; absent when there is none."""

    provider_told: Optional[ProviderTold] = None
    """Whether the provider knows: told, queued (it is told later, for at most 7 days), notPossible (its tokens work
    until they end by themselves). Absent where there was nothing to tell.
    """

    reason: Optional[str] = None
    """Why it is not possible to tell the provider."""

    @classmethod
    def from_json(cls, value: Any) -> Deregistered:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            state=read_state(members["state"]),
            url=maybe(text, members.get("url")),
            provider_told=maybe(ProviderTold, members.get("providerTold")),
            reason=maybe(text, members.get("reason")),
        )


@dataclass(frozen=True)
class Revocation:
    """What came of a revocation."""

    provider_told: Optional[ProviderTold] = None
    """Whether the provider knows: told, queued (it is told later, for at most 7 days), notPossible (its tokens work
    until they end by themselves). Absent where there was nothing to tell.
    """

    reason: Optional[str] = None
    """Why it is not possible to tell the provider."""

    @classmethod
    def from_json(cls, value: Any) -> Revocation:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            provider_told=maybe(ProviderTold, members.get("providerTold")),
            reason=maybe(text, members.get("reason")),
        )


class WhichToken(Word):
    """One of the session's tokens, which is not handed out."""

    ACCESS_TOKEN = "accessToken"
    REFRESH_TOKEN = "refreshToken"


@dataclass(frozen=True)
class Introspection:
    """What the provider says of a token."""

    active: bool
    """Whether it works."""

    claims: Dict[str, Any] = field(repr=False)
    """All that was told, RFC 7662 §2.2."""

    @classmethod
    def from_json(cls, value: Any) -> Introspection:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            active=truth(members["active"]),
            claims=mapping(members["claims"]),
        )


@dataclass(frozen=True)
class SignOut:
    """What came of a logout."""

    url: Optional[str] = field(default=None, repr=False)
    """To be opened in the external browser; absent when there is none."""

    provider_told: Optional[ProviderTold] = None
    """Whether the provider knows: told, queued (it is told later, for at most 7 days), notPossible (its tokens work
    until they end by themselves). Absent where there was nothing to tell.
    """

    reason: Optional[str] = None
    """Why it is not possible to tell the provider."""

    @classmethod
    def from_json(cls, value: Any) -> SignOut:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            url=maybe(text, members.get("url")),
            provider_told=maybe(ProviderTold, members.get("providerTold")),
            reason=maybe(text, members.get("reason")),
        )


class RegistrationType(Word):
    """How the account was registered."""

    SOCIAL = "SOCIAL"
    PASSWORDLESS = "PASSWORDLESS"


@dataclass(frozen=True)
class Account:
    """What is kept about the account; never the refresh token."""

    profile: Optional[Dict[str, Any]] = field(default=None, repr=False)
    """The proven claims about the user."""

    id_token: Optional[str] = field(default=None, repr=False)
    """As the provider signed it."""

    access_token: Optional[str] = field(default=None, repr=False)
    """As it is kept, due or not; token.access gives one that works."""

    expires_at: Optional[datetime] = None
    """When the access token ends."""

    registration_type: Optional[RegistrationType] = None
    """Absent for other kinds."""

    @classmethod
    def from_json(cls, value: Any) -> Account:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            profile=maybe(mapping, members.get("profile")),
            id_token=maybe(text, members.get("idToken")),
            access_token=maybe(text, members.get("accessToken")),
            expires_at=maybe(moment, members.get("expiresAt")),
            registration_type=maybe(RegistrationType, members.get("registrationType")),
        )


class PinOutcome(Word):
    """How a PIN was taken."""

    UNLOCKED = "unlocked"
    WRONG = "wrong"
    TOO_SOON = "tooSoon"
    ERASED = "erased"


@dataclass(frozen=True)
class PinResult:
    """How a PIN was taken."""

    outcome: PinOutcome
    """Unlocked; wrong; tooSoon: not looked at; erased: it was the last try, the account is gone."""

    tries_left: int
    """Before the account is erased."""

    retry_after: int
    """Seconds until the next try is looked at."""

    @classmethod
    def from_json(cls, value: Any) -> PinResult:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            outcome=PinOutcome(members["outcome"]),
            tries_left=number(members["triesLeft"]),
            retry_after=number(members["retryAfter"]),
        )


class Flavour(Word):
    """How the library was built; `small` is without a runtime."""

    SMALL = "small"
    STANDARD = "standard"


@dataclass(frozen=True)
class Description:
    """What this library is."""

    version: str
    """Of the library: major.minor.patch."""

    abi: int
    """Of the C interface: major × 65536 + minor."""

    flavour: Flavour
    """small: Embedded Swift, without a runtime."""

    commands: Tuple[str, ...]

    events: Tuple[str, ...]

    key_providers: Tuple[str, ...]
    """That can protect a store."""

    name: ClassVar[str] = "EnrollKit"

    @classmethod
    def from_json(cls, value: Any) -> Description:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            version=text(members["version"]),
            abi=number(members["abi"]),
            flavour=Flavour(members["flavour"]),
            commands=tuple(text(value) for value in items(members["commands"])),
            events=tuple(text(value) for value in items(members["events"])),
            key_providers=tuple(text(value) for value in items(members["keyProviders"])),
        )


class Presence(Word):
    """Whether a key provider is there."""

    PRESENT = "present"
    LOCKED = "locked"
    ABSENT = "absent"


@dataclass(frozen=True)
class KeyCandidate:
    """A key provider, and whether it is there."""

    provider: str
    """A provider's name."""

    presence: Presence

    reason: Optional[str] = None
    """Why it is not present."""

    @classmethod
    def from_json(cls, value: Any) -> KeyCandidate:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            provider=text(members["provider"]),
            presence=Presence(members["presence"]),
            reason=maybe(text, members.get("reason")),
        )


@dataclass(frozen=True)
class KeyChoice:
    """Who would get the key of a new store, and why."""

    reason: str
    """Why that one."""

    candidates: Tuple[KeyCandidate, ...]
    """In the order of preference."""

    provider: Optional[str] = None
    """A provider's name; none while the best is locked."""

    @classmethod
    def from_json(cls, value: Any) -> KeyChoice:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            reason=text(members["reason"]),
            candidates=tuple(KeyCandidate.from_json(value) for value in items(members["candidates"])),
            provider=maybe(text, members.get("provider")),
        )


class FileKind(Word):
    """What a sealed file of a store holds."""

    ACCOUNT = "account"
    OUTBOX = "outbox"
    INSTALLATION = "installation"
    PROVIDER = "provider"


@dataclass(frozen=True)
class StoreFile:
    """A sealed file."""

    name: str
    """In the folder; tells no account's name."""

    kind: FileKind

    set_aside_from: Optional[str] = None
    """It was damaged, and had this name: renamed back it is used again."""

    generation: Optional[str] = None
    """Grows by one with every save; decimal."""

    pin: Optional[bool] = None
    """True: only its PIN opens the account."""

    account: Optional[Dict[str, Any]] = None
    """As in diagnostics.export: for people, without secrets."""

    entries: Optional[int] = None
    """Of the outbox: what servers still have to be told."""

    problem: Optional[EnrollError] = None
    """Why something failed."""

    @classmethod
    def from_json(cls, value: Any) -> StoreFile:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            name=text(members["name"]),
            kind=FileKind(members["kind"]),
            set_aside_from=maybe(text, members.get("setAsideFrom")),
            generation=maybe(text, members.get("generation")),
            pin=maybe(truth, members.get("pin")),
            account=maybe(mapping, members.get("account")),
            entries=maybe(number, members.get("entries")),
            problem=maybe(EnrollError.from_json, members.get("problem")),
        )


@dataclass(frozen=True)
class StoreDiagnosis:
    """How a store is; without secrets."""

    store: str
    """The folder."""

    exists: bool
    """False: there is no such folder."""

    owner: Optional[int] = None
    """The user's number."""

    permissions: Optional[str] = None
    """Octal."""

    key_providers: Tuple[str, ...] = ()
    """That guard the key; none before first use."""

    key_choice: Optional[KeyChoice] = None
    """Who would get the key of a new store, and why."""

    accounts: Optional[int] = None
    """How many there are, readable or not."""

    set_aside: Optional[int] = None
    """Damaged files that were set aside."""

    files: Tuple[StoreFile, ...] = ()
    """None while the key is not to be had."""

    problem: Optional[EnrollError] = None
    """Why something failed."""

    @classmethod
    def from_json(cls, value: Any) -> StoreDiagnosis:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            store=text(members["store"]),
            exists=truth(members["exists"]),
            owner=maybe(number, members.get("owner")),
            permissions=maybe(text, members.get("permissions")),
            key_providers=tuple(text(value) for value in items(members.get("keyProviders") or ())),
            key_choice=maybe(KeyChoice.from_json, members.get("keyChoice")),
            accounts=maybe(number, members.get("accounts")),
            set_aside=maybe(number, members.get("setAside")),
            files=tuple(StoreFile.from_json(value) for value in items(members.get("files") or ())),
            problem=maybe(EnrollError.from_json, members.get("problem")),
        )


@dataclass(frozen=True)
class PKCE:
    """A verifier and its challenge (RFC 7636 §4)."""

    code_verifier: str = field(repr=False)
    """A secret, 43 characters of base64url."""

    code_challenge: str
    """Its SHA-256, base64url."""

    code_challenge_method: ClassVar[str] = "S256"

    @classmethod
    def from_json(cls, value: Any) -> PKCE:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            code_verifier=text(members["codeVerifier"]),
            code_challenge=text(members["codeChallenge"]),
        )


@dataclass(frozen=True)
class Redirect:
    """A redirect as it was read, not believed."""

    code: Optional[str] = field(default=None, repr=False)
    """The authorization code."""

    state: Optional[str] = field(default=None, repr=False)
    """Whose transaction it claims to be."""

    iss: Optional[str] = None
    """Who claims to answer."""

    error: Optional[str] = None
    """The provider's error code."""

    error_description: Optional[str] = None
    """The provider's words for the developer."""

    @classmethod
    def from_json(cls, value: Any) -> Redirect:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            code=maybe(text, members.get("code")),
            state=maybe(text, members.get("state")),
            iss=maybe(text, members.get("iss")),
            error=maybe(text, members.get("error")),
            error_description=maybe(text, members.get("errorDescription")),
        )


class Ownership(Word):
    """What a URL is to the configuration that owns it."""

    REDIRECT = "redirect"
    LOGOUT = "logout"
    FALLBACK = "fallback"
    ACTIVATION = "activation"


@dataclass(frozen=True)
class Route:
    """Which configuration a URL belongs to; both are None when none owns it."""

    index: Optional[int] = None
    """The place of its owner in the list; absent when it has none."""

    kind: Optional[Ownership] = None
    """What it is to its owner."""

    @classmethod
    def from_json(cls, value: Any) -> Route:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            index=maybe(number, members.get("index")),
            kind=maybe(Ownership, members.get("kind")),
        )


class LinkKind(Word):
    """What kind of link it is."""

    HTTPS = "https"
    LOOPBACK_HTTP = "loopbackHTTP"
    PRIVATE_SCHEME = "privateScheme"


@dataclass(frozen=True)
class Link:
    """A link that the allow-list takes."""

    kind: LinkKind
    """What may be done with it."""

    scheme: str
    """In lower case."""

    path: str
    """As it came."""

    had_fragment: bool
    """A fragment was dropped unread."""

    host: Optional[str] = None
    """An IPv6 address keeps its brackets."""

    port: Optional[int] = None
    """Where the link names one."""

    query: Optional[str] = None
    """As it came, without the question mark."""

    @classmethod
    def from_json(cls, value: Any) -> Link:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            kind=LinkKind(members["kind"]),
            scheme=text(members["scheme"]),
            path=text(members["path"]),
            had_fragment=truth(members["hadFragment"]),
            host=maybe(text, members.get("host")),
            port=maybe(number, members.get("port")),
            query=maybe(text, members.get("query")),
        )


class Band(Word):
    """The part of its life that a token is in: hand it out, renew it, renew it or fail."""

    FRESH = "fresh"
    DUE = "due"
    EXPIRED = "expired"


@dataclass(frozen=True)
class Expiry:
    """In which band of its life a token is."""

    band: Band
    """Hand it out; renew it; renew it or fail."""

    seconds_left: int
    """Negative once it has ended."""

    @classmethod
    def from_json(cls, value: Any) -> Expiry:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            band=Band(members["band"]),
            seconds_left=number(members["secondsLeft"]),
        )


@dataclass(frozen=True)
class RegistrationChanged:
    """The registration is in another state."""

    state: State
    """Where the registration stands (letters A to H as documented)."""

    @classmethod
    def from_json(cls, value: Any) -> RegistrationChanged:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            state=read_state(members["state"]),
        )


@dataclass(frozen=True)
class RegistrationSettled:
    """Raised once, when the first state is settled: the host may hide its splash screen."""

    state: State
    """Where the registration stands (letters A to H as documented)."""

    @classmethod
    def from_json(cls, value: Any) -> RegistrationSettled:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            state=read_state(members["state"]),
        )


@dataclass(frozen=True)
class TokenRenewed:
    """There are new tokens, and they are stored."""

    expires_at: datetime
    """When the access token ends."""

    @classmethod
    def from_json(cls, value: Any) -> TokenRenewed:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            expires_at=moment(members["expiresAt"]),
        )


@dataclass(frozen=True)
class TokenRenewalFailed:
    """A renewal failed; nothing is lost by it."""

    error: EnrollError
    """Why something failed."""

    @classmethod
    def from_json(cls, value: Any) -> TokenRenewalFailed:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            error=EnrollError.from_json(members["error"]),
        )


@dataclass(frozen=True)
class LogoutFinished:
    """The logout callback came back."""

    @classmethod
    def from_json(cls, value: Any) -> LogoutFinished:
        """Reads what a command told; members that are not known are left out."""
        mapping(value)
        return cls()


class Help(Word):
    """What can be done about a failure."""

    RETRY = "retry"
    WAIT = "wait"
    REGISTER_AGAIN = "registerAgain"
    VERIFY_EMAIL = "verifyEmail"
    CREATE_ACCOUNT = "createAccount"
    SUPPORT = "support"


@dataclass(frozen=True)
class ErrorReported:
    """A failure that the user may have to hear of."""

    error: EnrollError
    """Why something failed."""

    message_key: str
    """For the host's own words: error. and the reason's name."""

    helps: Help
    """What can be done about it."""

    @classmethod
    def from_json(cls, value: Any) -> ErrorReported:
        """Reads what a command told; members that are not known are left out."""
        members = mapping(value)
        return cls(
            error=EnrollError.from_json(members["error"]),
            message_key=text(members["messageKey"]),
            helps=Help(members["helps"]),
        )


State = Union[Starting, Unregistered, Authenticating, AwaitingConfirmation, Active, RenewalFailed, RegistrationFailed]
"""Where a registration stands."""


def read_state(value: Any) -> State:
    """Reads the variant that a command told."""
    members = mapping(value)
    word = members["state"]
    if word == "starting":
        return Starting.from_json(members)
    if word == "unregistered":
        return Unregistered.from_json(members)
    if word == "authenticating":
        return Authenticating.from_json(members)
    if word == "awaitingConfirmation":
        return AwaitingConfirmation.from_json(members)
    if word == "active":
        return Active.from_json(members)
    if word == "failed" and members["reason"] == "renewal":
        return RenewalFailed.from_json(members)
    if word == "failed" and members["reason"] == "registration":
        return RegistrationFailed.from_json(members)
    raise unknown("State", word)


Action = Union[OpenURL, EnterCode, AwaitLink, OpenOtherApp, ShowDeviceCode]
"""What the host has to do so that a transaction goes on."""


def read_action(value: Any) -> Action:
    """Reads the variant that a command told."""
    members = mapping(value)
    word = members["type"]
    if word == "openURL":
        return OpenURL.from_json(members)
    if word == "enterCode":
        return EnterCode.from_json(members)
    if word == "awaitLink":
        return AwaitLink.from_json(members)
    if word == "openOtherApp":
        return OpenOtherApp.from_json(members)
    if word == "showDeviceCode":
        return ShowDeviceCode.from_json(members)
    raise unknown("Action", word)


HandledURL = Union[Redirected, LoggedOut, Unsolicited, Transaction, LinkUsed, LinkExpired]
"""What a URL that reached the app turned out to be."""


def read_handled_url(value: Any) -> HandledURL:
    """Reads the variant that a command told."""
    members = mapping(value)
    word = members["kind"]
    if word == "registration":
        return Redirected.from_json(members)
    if word == "logout":
        return LoggedOut.from_json(members)
    if word == "unsolicited":
        return Unsolicited.from_json(members)
    if word == "begun":
        return Transaction.from_json(members)
    if word == "linkUsed":
        return LinkUsed.from_json(members)
    if word == "linkExpired":
        return LinkExpired.from_json(members)
    raise unknown("HandledURL", word)


HandledLink = Union[Transaction, Unsolicited, LinkUsed, LinkExpired]
"""What a link led to."""


def read_handled_link(value: Any) -> HandledLink:
    """Reads the variant that a command told."""
    members = mapping(value)
    word = members["kind"]
    if word == "begun":
        return Transaction.from_json(members)
    if word == "unsolicited":
        return Unsolicited.from_json(members)
    if word == "linkUsed":
        return LinkUsed.from_json(members)
    if word == "linkExpired":
        return LinkExpired.from_json(members)
    raise unknown("HandledLink", word)


class _Endpoints(TypedDict):
    authorization_endpoint: str
    """RFC 6749 §3.1."""

    token_endpoint: str
    """RFC 6749 §3.2."""

    jwks_uri: str
    """The provider's keys, RFC 7517."""


class Endpoints(_Endpoints, total=False):
    """Endpoints of a provider without discovery, instead of asking it."""

    userinfo_endpoint: str
    """OpenID Connect Core §5.3."""

    revocation_endpoint: str
    """RFC 7009."""

    end_session_endpoint: str
    """OpenID Connect RP-Initiated Logout §2."""

    introspection_endpoint: str
    """RFC 7662."""

    pushed_authorization_request_endpoint: str
    """RFC 9126."""

    device_authorization_endpoint: str
    """RFC 8628 §3.1."""

    authorization_response_iss_parameter_supported: bool
    """Whether every answer carries iss (RFC 9207); its absence is then refused. False by default."""


class RegistrationGateway(TypedDict):
    """A registration that begins at a gateway's own page."""

    registration_uri: str
    """The gateway's own page."""


class _ConfiguredChoice(TypedDict):
    kind: str
    """The host's word: google, email, …"""

    label: str
    """What the user reads."""


class ConfiguredChoice(_ConfiguredChoice, total=False):
    """A way to register that the host presents."""

    connection: str
    """The provider's name for the connection."""

    guidance: str
    """What the user reads beside it."""


class App2AppFields(TypedDict, total=False):
    """What the gateway calls its fields."""

    session_id: str
    """SessionId by default."""

    link: str
    """Link by default."""

    artefact_id: str
    """ArtefactId by default."""


class _App2App(TypedDict):
    init_uri: str
    """Asked first."""

    complete_uri: str
    """Asked for tokens at the end."""

    allowed_links: Sequence[str]
    """Beginnings of links that may be opened, each up to the end of a whole host or path segment."""


class App2App(_App2App, total=False):
    """Registration with another app's help."""

    fields: App2AppFields
    """What the gateway calls its fields."""

    require_pin: bool
    """Whether the user sets a PIN (step pin, ended by pin.set) before the profile is shown. False by default."""


class _BFF(TypedDict):
    base: str
    """Where its /v1/auth begins."""


class BFF(_BFF, total=False):
    """A back end that signs in on the app's behalf."""

    dangerously_accept_token_in_redirect: bool
    """Takes the session token out of the redirect itself, where others can see it. False by default."""


class ReturnPage(TypedDict, total=False):
    """What the page shows that a loopback redirect leaves in the browser."""

    app_name: str
    """The app's name, above the rest."""

    text: str
    """A line of the app's own, in the page's language."""

    language: Literal["en", "de", "fr", "es", "it", "nl", "pt"]
    """The language of the page's own words. en by default."""

    color: str
    """The app's colour, such as #0b6e4f, for the line above the page."""

    background_color: str
    """The page's background; its text is then black or white, whichever is easier to read. The browser's own by
    default.
    """

    link: str
    """A claimed https or private-scheme link that leads back into the app."""


class _Configuration(TypedDict):
    issuer: str
    """The provider, exactly as it names itself. As discovery_uri, the address of its discovery document will do."""

    client_id: str
    """The client that the provider registered."""

    redirect_uri: str
    """Where the browser comes back to: claimed https, com.example.app:/callback, or http://127.0.0.1/callback."""


class Configuration(_Configuration, total=False):
    """The provider and the client; this or configurationName."""

    post_logout_redirect_uri: str
    """Where the browser comes back to after a logout."""

    logout_dialect: Literal["auth0"]
    """A provider's own logout URL instead of RP-Initiated Logout: auth0 is /v2/logout with returnTo."""

    prompt_after_logout: Literal["login", "select_account"]
    """What the sign-in after a logout or retry asks for. login by default."""

    endpoints: Endpoints
    """Endpoints of a provider without discovery, instead of asking it."""

    pushed_requests: Literal["auto", "always", "never"]
    """Authorize requests go to the provider by POST, the browser carries only their name (RFC 9126). By default auto:
    where the provider has an endpoint for them.
    """

    dpop: Literal["auto", "always", "never"]
    """Tokens are bound to a key of this client, and each request that carries one needs a proof from dpop.proof (RFC
    9449). By default auto: where the provider announces ES256. always refuses Bearer tokens; never is for hosts
    that send nothing else.
    """

    id_token_algorithms: Sequence[
        Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
    ]
    """Algorithms that id_tokens may be signed with. All of these by default."""

    scopes: Union[str, Sequence[str]]
    """What is asked for, as a list or separated by spaces. openid profile offline_access by default."""

    authorize_parameters: Mapping[str, str]
    """Extra parameters of every authorize request. The protocol's own names are refused."""

    grace: int
    """Seconds before its end at which an access token is renewed. 60 by default."""

    transaction_lifetime: int
    """Seconds that a sign-in may take. 600 by default."""

    email_wait: int
    """Seconds that the link in an e-mail is waited for. 86400 by default."""

    confirmation: bool
    """Whether the user confirms the profile before tokens count. True by default."""

    require_verified_email: bool
    """Adds the scope email and asks for a verified address. False by default."""

    registration: Union[Literal["signIn", "promptCreate"], RegistrationGateway]
    """How a registration begins. signIn by default."""

    activation: Literal["authorize", "openPage"]
    """What an activation link leads to. authorize by default."""

    welcome_page: str
    """The page that openPage opens, such as https://id.example/welcome/{activationToken}. The activation link itself
    by default.
    """

    app_links: Sequence[str]
    """Activation links that are accepted, such as https://app.example/welcome/{activationToken}."""

    fallback_uri: str
    """The link that leads back into a registration."""

    native: bool
    """False where the platform is no native app: the stand-in token is used."""

    stand_in_token: str
    """The access token of a platform that is no native app."""

    registration_check_uri: str
    """Asked whether a registration is known."""

    require_check: bool
    """Whether it is asked before B, C and H, and has to know the account. False by default: it is asked before H
    alone, and only a contradiction counts.
    """

    profile_update_uri: str
    """Told the confirmed profile."""

    error_report_uri: str
    """Told every failure, without secrets."""

    choices: Sequence[ConfiguredChoice]
    """Ways to register that the host presents."""

    app2app: App2App
    """Registration with another app's help."""

    bff: BFF
    """A back end that signs in on the app's behalf."""

    passwordless: Literal["auth0"]
    """Which provider's way of passwordless sign-in is spoken."""

    connection_parameter: str
    """What the provider calls the connection that the user chose: connection, idp, kc_idp_hint, provider, … connection
    by default.
    """

    return_page: ReturnPage
    """What the page shows that a loopback redirect leaves in the browser."""

    allow_loopback_http: bool
    """Lets a provider on this machine be spoken to by http. False by default."""

    ca_file: str
    """A PEM file with the authorities to trust instead of the system's."""


class Platform(TypedDict, total=False):
    """What the host says about the device."""

    native: bool
    """False: no external browser is to be had, the stand-in token is used."""

    type: str
    """The host's word for the kind of device."""

    width: int
    """Of the screen, in pixels."""

    height: int
    """Of the screen, in pixels."""

    app_version: str
    """The host's own version."""

    device_id: str
    """An id that the host has for the device."""


TIMED = frozenset(
    {
        "registration.state",
        "registration.begin",
        "registration.resume",
        "registration.handleLink",
        "registration.awaitOutcome",
        "registration.submitCode",
        "registration.confirm",
        "registration.retry",
        "registration.deregister",
        "url.handle",
        "token.access",
        "token.refresh",
        "token.revoke",
        "token.introspect",
        "identity.userinfo",
        "logout.begin",
    }
)
"""Commands that take a timeout."""

Event = Union[
    RegistrationChanged,
    RegistrationSettled,
    TokenRenewed,
    TokenRenewalFailed,
    LogoutFinished,
    ErrorReported,
]
"""What happened to a client."""

EVENTS: Dict[str, Callable[[Any], Event]] = {
    "registration.changed": RegistrationChanged.from_json,
    "registration.settled": RegistrationSettled.from_json,
    "token.renewed": TokenRenewed.from_json,
    "token.renewalFailed": TokenRenewalFailed.from_json,
    "logout.finished": LogoutFinished.from_json,
    "error.reported": ErrorReported.from_json,
}

__all__ = [
    "BFF",
    "PKCE",
    "AccessToken",
    "Account",
    "Action",
    "Active",
    "ActiveReason",
    "App2App",
    "App2AppFields",
    "Authenticating",
    "AwaitLink",
    "AwaitingConfirmation",
    "Band",
    "Blame",
    "Choice",
    "Configuration",
    "ConfiguredChoice",
    "Deregistered",
    "Description",
    "Endpoints",
    "EnterCode",
    "ErrorReported",
    "Event",
    "Expiry",
    "FileKind",
    "Flavour",
    "HandledLink",
    "HandledURL",
    "Help",
    "Introspection",
    "KeyCandidate",
    "KeyChoice",
    "Kind",
    "Link",
    "LinkExpired",
    "LinkKind",
    "LinkUsed",
    "LoggedOut",
    "LogoutFinished",
    "Offer",
    "OpenOtherApp",
    "OpenURL",
    "Outcome",
    "Ownership",
    "PasswordlessMessage",
    "PinOutcome",
    "PinResult",
    "Platform",
    "Presence",
    "ProviderTold",
    "Redirect",
    "Redirected",
    "RegistrationChanged",
    "RegistrationFailed",
    "RegistrationGateway",
    "RegistrationSettled",
    "RegistrationType",
    "Remedy",
    "RenewalFailed",
    "ReturnPage",
    "Revocation",
    "Route",
    "ShowDeviceCode",
    "SignOut",
    "Starting",
    "State",
    "Step",
    "StoreDiagnosis",
    "StoreFile",
    "TokenRenewalFailed",
    "TokenRenewed",
    "Transaction",
    "Unregistered",
    "Unsolicited",
    "WhichToken",
]
