"""The commands as methods, once to be called and once to be awaited.

Drawn by `generate` from the manifest and enroll.h; do not edit.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Dict, Literal, Mapping, Optional, Sequence, Tuple, Union

from ._caller import AsyncCaller, Caller
from ._given import (
    Keys,
    Seconds,
    StorePath,
    Timeout,
    given,
    given_keys,
    given_new_keys,
    seconds_since_1970,
    store_path,
    transaction_id,
    whole_seconds,
)
from ._types import (
    PKCE,
    AccessToken,
    Account,
    Configuration,
    Deregistered,
    Description,
    Expiry,
    HandledLink,
    HandledURL,
    Introspection,
    Kind,
    Link,
    PasswordlessMessage,
    PinResult,
    Redirect,
    Revocation,
    Route,
    SignOut,
    State,
    StoreDiagnosis,
    Transaction,
    WhichToken,
    read_handled_link,
    read_handled_url,
    read_state,
)
from ._values import mapping, text, texts, told, truth


class ClientCommands(Caller):
    """What a client can do."""

    def platform_ready(self) -> None:
        """Says that the host's platform is ready (Cordova's deviceready).

        Raises:
            EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument.

        Command: platform.ready.
        """
        self._call("platform.ready", {}, None)

    def state(self, *, wait: bool = False, timeout: Timeout = 30) -> State:
        """Where the registration stands; asking starts it.

        Args:
            wait: Answer once the state has settled. A sign-in that an earlier run left in the browser is waited for,
                too.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollBusy, EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: registration.state.
        """
        result = self._call("registration.state", given({"wait": wait}), timeout)
        return told(read_state, result, "state")

    def begin(
        self,
        *,
        kind: Optional[Union[Kind, Literal["signIn", "register", "passwordless", "app2app", "bff", "device"]]] = None,
        scopes: Optional[Union[str, Sequence[str]]] = None,
        prompt: Optional[str] = None,
        login_hint: Optional[str] = None,
        max_age: Optional[Seconds] = None,
        acr_values: Optional[Sequence[str]] = None,
        ui_locales: Optional[Sequence[str]] = None,
        id_token_hint: Optional[str] = None,
        connection: Optional[str] = None,
        email: Optional[str] = None,
        phone_number: Optional[str] = None,
        message: Optional[Union[PasswordlessMessage, Literal["code", "link"]]] = None,
        parameters: Optional[Mapping[str, str]] = None,
        timeout: Timeout = 30,
    ) -> Transaction:
        """Begins a transaction and says what the host must do now.

        Args:
            kind: What kind of transaction.
            scopes: Instead of the configured ones.
            prompt: none, login, consent, select_account or create.
            login_hint: Who is likely to sign in.
            max_age: The user must have signed in at most so many seconds (or a timedelta) ago.
            ui_locales: The best first.
            id_token_hint: Whose session prompt=none is about.
            connection: The provider's name for the connection that the user chose; bff: its name for the provider,
                required.
            email: passwordless: where the code or link is sent.
            phone_number: passwordless: where the code is sent, E.164.
            message: passwordless: what is sent.
            parameters: The host's own authorize parameters; the protocol's names are refused.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollIllegalState, EnrollUnsupported, EnrollConfiguration, EnrollJSON, EnrollBusy, EnrollOAuth,
            EnrollNetwork, EnrollTLS, EnrollTimeout, EnrollServer, EnrollResponseInvalid, EnrollIssuerMismatch,
            EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument,
            EnrollStoreError.

        Command: registration.begin; source: RFC 6749 4.1.1, RFC 7636, RFC 8252, RFC 9126.
        """
        parameters = given(
            {
                "kind": kind,
                "scopes": scopes,
                "parameters": parameters,
                "options": given(
                    {
                        "prompt": prompt,
                        "loginHint": login_hint,
                        "maxAge": whole_seconds("max_age", max_age),
                        "acrValues": acr_values,
                        "uiLocales": ui_locales,
                        "idTokenHint": id_token_hint,
                        "connection": connection,
                        "email": email,
                        "phoneNumber": phone_number,
                        "message": message,
                    }
                )
                or None,
            }
        )
        result = self._call("registration.begin", parameters, timeout)
        return told(Transaction.from_json, result)

    def resume(
        self, url: str, *, transaction: Optional[Union[Transaction, str]] = None, timeout: Timeout = 30
    ) -> State:
        """Takes the redirect back and carries its transaction to its end.

        Args:
            url: As it reached the host.
            transaction: What `begin` gave, or its `id`.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollRedirectMalformed, EnrollRedirectMismatch, EnrollUnsolicited, EnrollAlreadySettled,
            EnrollTransactionExpired, EnrollAccessDenied, EnrollLoginRequired, EnrollInteractionRequired,
            EnrollConsentRequired, EnrollOAuth, EnrollActivationFailed, EnrollIdTokenInvalid, EnrollKeysUnavailable,
            EnrollProfileMismatch, EnrollIllegalState, EnrollNetwork, EnrollTLS, EnrollTimeout, EnrollServer,
            EnrollResponseInvalid, EnrollIssuerMismatch, EnrollConfiguration, EnrollBusy, EnrollDeadlineExceeded,
            EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument, EnrollStoreError.

        Command: registration.resume; source: RFC 6749 4.1.2, RFC 9207, OpenID Connect Core 3.1.3.7.
        """
        result = self._call(
            "registration.resume", given({"url": url, "transaction": transaction_id(transaction)}), timeout
        )
        return told(read_state, result, "state")

    def handle_link(self, url: str, *, timeout: Timeout = 30) -> HandledLink:
        """Takes an activation or fallback link, and says what the host must do now.

        Args:
            url: As it reached the host.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollRedirectMalformed, EnrollRedirectMismatch, EnrollIllegalState, EnrollNetwork, EnrollTLS,
            EnrollTimeout, EnrollServer, EnrollResponseInvalid, EnrollIssuerMismatch, EnrollConfiguration, EnrollBusy,
            EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument,
            EnrollStoreError.

        Command: registration.handleLink; source: RFC 9700 4.11.
        """
        result = self._call("registration.handleLink", given({"url": url}), timeout)
        return told(read_handled_link, result)

    def await_outcome(self, transaction: Union[Transaction, str], *, timeout: Timeout = None) -> State:
        """Waits until a transaction is settled: by its loopback redirect, by another call or another process, or, with
        a device code, by the user elsewhere.

        Args:
            transaction: What `begin` gave, or its `id`.
            timeout: Seconds (or a timedelta) to wait; None: until the transaction ends by itself.

        Raises:
            EnrollNotFound, EnrollTransactionExpired, EnrollDeadlineExceeded, EnrollHandle, EnrollForked,
            EnrollReentrant, EnrollInvalidArgument, EnrollRedirectMalformed, EnrollRedirectMismatch, EnrollUnsolicited,
            EnrollAlreadySettled, EnrollAccessDenied, EnrollLoginRequired, EnrollInteractionRequired,
            EnrollConsentRequired, EnrollOAuth, EnrollActivationFailed, EnrollIdTokenInvalid, EnrollKeysUnavailable,
            EnrollProfileMismatch, EnrollIllegalState, EnrollNetwork, EnrollTLS, EnrollTimeout, EnrollServer,
            EnrollResponseInvalid, EnrollIssuerMismatch, EnrollConfiguration, EnrollBusy, EnrollCancelled,
            EnrollStoreError.

        Command: registration.awaitOutcome; source: RFC 8252 7.3, RFC 8628 3.5.
        """
        result = self._call("registration.awaitOutcome", given({"transaction": transaction_id(transaction)}), timeout)
        return told(read_state, result, "state")

    def submit_code(self, transaction: Union[Transaction, str], code: str, *, timeout: Timeout = 30) -> State:
        """Takes the one-time code that the user typed.

        Args:
            transaction: What `begin` gave, or its `id`.
            code: As the user typed it.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollCodeRejected, EnrollAccessDenied, EnrollOAuth, EnrollNotFound, EnrollAlreadySettled,
            EnrollTransactionExpired, EnrollIllegalState, EnrollIdTokenInvalid, EnrollKeysUnavailable, EnrollNetwork,
            EnrollTLS, EnrollTimeout, EnrollServer, EnrollResponseInvalid, EnrollIssuerMismatch, EnrollConfiguration,
            EnrollBusy, EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: registration.submitCode.
        """
        result = self._call(
            "registration.submitCode", given({"transaction": transaction_id(transaction), "code": code}), timeout
        )
        return told(read_state, result, "state")

    def confirm(self, *, timeout: Timeout = 30) -> State:
        """The user's yes to the profile: G to H, after the verified address and the registration check that are
        required.

        Args:
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollIllegalState, EnrollEmailNotVerified, EnrollUnknownAccount, EnrollProfileMismatch, EnrollOAuth,
            EnrollNetwork, EnrollTLS, EnrollTimeout, EnrollServer, EnrollResponseInvalid, EnrollIssuerMismatch,
            EnrollConfiguration, EnrollBusy, EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked,
            EnrollReentrant, EnrollInvalidArgument, EnrollStoreError.

        Command: registration.confirm.
        """
        result = self._call("registration.confirm", {}, timeout)
        return told(read_state, result, "state")

    def retry(self, *, timeout: Timeout = 30) -> State:
        """Another try: provisional tokens are revoked and cleared, an earlier confirmed set survives.

        Args:
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollIllegalState, EnrollBusy, EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked,
            EnrollReentrant, EnrollInvalidArgument, EnrollStoreError.

        Command: registration.retry.
        """
        result = self._call("registration.retry", {}, timeout)
        return told(read_state, result, "state")

    def cancel(self, *, transaction: Optional[Union[Transaction, str]] = None) -> State:
        """The user left the browser: a hint, a late valid redirect still wins; a registration waits for its e-mail's
        link.

        Args:
            transaction: What `begin` gave, or its `id`.

        Raises:
            EnrollNotFound, EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument,
            EnrollStoreError.

        Command: registration.cancel.
        """
        result = self._call("registration.cancel", given({"transaction": transaction_id(transaction)}), None)
        return told(read_state, result, "state")

    def other_app_missing(self, transaction: Union[Transaction, str]) -> State:
        """The other app's link could not be opened: its transaction is over, with F.

        Args:
            transaction: What `begin` gave, or its `id`.

        Raises:
            EnrollNotFound, EnrollIllegalState, EnrollAlreadySettled, EnrollTransactionExpired, EnrollBusy,
            EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument, EnrollStoreError.

        Command: registration.otherAppMissing.
        """
        result = self._call("registration.otherAppMissing", given({"transaction": transaction_id(transaction)}), None)
        return told(read_state, result, "state")

    def clear(self) -> State:
        """Empties local state alone; no server is told.

        Raises:
            EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument, EnrollStoreError.

        Command: registration.clear.
        """
        result = self._call("registration.clear", {}, None)
        return told(read_state, result, "state")

    def deregister(self, *, timeout: Timeout = 30) -> Deregistered:
        """A logout that forgets the device too: pending transactions are cleared, the installation id is reset.

        Args:
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollBusy, EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: registration.deregister.
        """
        result = self._call("registration.deregister", {}, timeout)
        return told(Deregistered.from_json, result)

    def handle_url(self, url: str, *, timeout: Timeout = 30) -> HandledURL:
        """One door for every URL that reaches an app.

        Args:
            url: As it reached the host.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollRedirectMalformed, EnrollAlreadySettled, EnrollTransactionExpired, EnrollAccessDenied,
            EnrollLoginRequired, EnrollInteractionRequired, EnrollConsentRequired, EnrollOAuth, EnrollActivationFailed,
            EnrollIdTokenInvalid, EnrollKeysUnavailable, EnrollProfileMismatch, EnrollIllegalState, EnrollNetwork,
            EnrollTLS, EnrollTimeout, EnrollServer, EnrollResponseInvalid, EnrollIssuerMismatch, EnrollConfiguration,
            EnrollBusy, EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: url.handle.
        """
        result = self._call("url.handle", given({"url": url}), timeout)
        return told(read_handled_url, result)

    def access_token(self, *, minimum_lifetime: Optional[Seconds] = None, timeout: Timeout = 30) -> AccessToken:
        """A valid access token, renewed when due. One renewal serves all who ask.

        Args:
            minimum_lifetime: Seconds (or a timedelta) that the token must still live; None: the configured grace.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollReauthenticate, EnrollExpired, EnrollRejected, EnrollBusy, EnrollIllegalState, EnrollCancelled,
            EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument, EnrollStoreError.

        Command: token.access; source: RFC 6749 6.
        """
        return self._token(
            "token.access", given({"minimumLifetime": whole_seconds("minimum_lifetime", minimum_lifetime)}), timeout
        )

    def refresh(self, *, timeout: Timeout = 30) -> AccessToken:
        """Renews now, whatever the token's age: after a resource server refused it. A pause that the provider asked for
        holds.

        Args:
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollReauthenticate, EnrollExpired, EnrollRejected, EnrollBusy, EnrollIllegalState, EnrollCancelled,
            EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument, EnrollStoreError.

        Command: token.refresh; source: RFC 6749 6.
        """
        return self._token("token.refresh", {}, timeout)

    def revoke(self, *, timeout: Timeout = 30) -> Revocation:
        """Tells the provider to forget the session's tokens, and forgets them here.

        Args:
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollBusy, EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: token.revoke; source: RFC 7009.
        """
        result = self._call("token.revoke", {}, timeout)
        return told(Revocation.from_json, result)

    def introspect(
        self,
        *,
        token: Optional[Union[WhichToken, Literal["accessToken", "refreshToken"]]] = None,
        timeout: Timeout = 30,
    ) -> Introspection:
        """What the provider says of one of the session's tokens (RFC 7662).

        Args:
            token: Which one; it is not handed out.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollUnsupported, EnrollNotFound, EnrollOAuth, EnrollNetwork, EnrollTLS, EnrollTimeout, EnrollServer,
            EnrollResponseInvalid, EnrollIssuerMismatch, EnrollConfiguration, EnrollDeadlineExceeded, EnrollCancelled,
            EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument, EnrollReauthenticate, EnrollExpired,
            EnrollRejected, EnrollBusy, EnrollIllegalState, EnrollStoreError.

        Command: token.introspect; source: RFC 7662.
        """
        result = self._call("token.introspect", given({"token": token}), timeout)
        return told(Introspection.from_json, result)

    def dpop_proof(
        self, method: str, url: str, *, nonce: Optional[str] = None, access_token: Optional[str] = None
    ) -> str:
        """A proof for one request of the host's that carries a token of type DPoP (RFC 9449); asks nobody.

        Args:
            method: As it is sent: GET.
            url: As it reached the host.
            nonce: What the server demanded; without it, the last one of that server.
            access_token: The token that the request carries; without it, the present one.

        Raises:
            EnrollIllegalState, EnrollReauthenticate, EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: dpop.proof; source: RFC 9449 4.2, 7, 9.
        """
        result = self._call(
            "dpop.proof", given({"method": method, "url": url, "nonce": nonce, "accessToken": access_token}), None
        )
        return told(text, result, "proof")

    def profile(self) -> Dict[str, Any]:
        """The proven claims about the user, as they are kept.

        Raises:
            EnrollNotFound, EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument,
            EnrollStoreError.

        Command: identity.profile; source: OpenID Connect Core 5.1.
        """
        result = self._call("identity.profile", {}, None)
        return told(mapping, result, "claims")

    def userinfo(self, *, timeout: Timeout = 30) -> Dict[str, Any]:
        """The claims that the provider tells now, discarded unless they are about the same user.

        Args:
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollUnsupported, EnrollProfileMismatch, EnrollNetwork, EnrollTLS, EnrollTimeout, EnrollServer,
            EnrollResponseInvalid, EnrollIssuerMismatch, EnrollConfiguration, EnrollDeadlineExceeded, EnrollCancelled,
            EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument, EnrollReauthenticate, EnrollExpired,
            EnrollRejected, EnrollBusy, EnrollIllegalState, EnrollStoreError.

        Command: identity.userinfo; source: OpenID Connect Core 5.3.
        """
        result = self._call("identity.userinfo", {}, timeout)
        return told(mapping, result, "claims")

    def logout(self, *, local_only: bool = False, timeout: Timeout = 30) -> SignOut:
        """Erases the tokens here first, tells the provider, and gives the URL that ends its session in the browser.

        Args:
            local_only: Nothing is sent, no URL is given.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollBusy, EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: logout.begin; source: RFC 7009, OpenID Connect RP-Initiated Logout 1.0.
        """
        result = self._call("logout.begin", given({"localOnly": local_only}), timeout)
        return told(SignOut.from_json, result)

    def finish_logout(self, url: str) -> bool:
        """Takes the browser's answer to that URL back: the logout is finished.

        Args:
            url: As it reached the host.

        Raises:
            EnrollUnsolicited, EnrollRedirectMalformed, EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: logout.resume; source: OpenID Connect RP-Initiated Logout 1.0, 3.
        """
        result = self._call("logout.resume", given({"url": url}), None)
        return told(truth, result, "done")

    def account(self) -> Account:
        """What is kept about the account; never the refresh token.

        Raises:
            EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument, EnrollStoreError.

        Command: account.read.
        """
        result = self._call("account.read", {}, None)
        return told(Account.from_json, result)

    def diagnostics(self) -> Dict[str, Any]:
        """All that support needs, without secrets: versions, configuration, provider, state, store, last errors.

        Raises:
            EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument.

        Command: diagnostics.export.
        """
        result = self._call("diagnostics.export", {}, None)
        return told(mapping, result, "diagnostics")

    def set_pin(self, pin: str) -> None:
        """Guards what is kept of the account with a PIN; it stays open in this process. Ends the step pin.

        Args:
            pin: The new PIN. 4 to 64 bytes.

        Raises:
            EnrollIllegalState, EnrollUnsupported, EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: pin.set.
        """
        self._call("pin.set", given({"pin": pin}), None)

    def unlock(self, pin: str) -> PinResult:
        """Opens the account in this process.

        Args:
            pin: The PIN. 4 to 64 bytes.

        Raises:
            EnrollIllegalState, EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument,
            EnrollStoreError.

        Command: pin.unlock.
        """
        result = self._call("pin.unlock", given({"pin": pin}), None)
        return told(PinResult.from_json, result)

    def change_pin(self, pin: str, new_pin: str) -> PinResult:
        """Replaces the PIN.

        Args:
            pin: The present one. 4 to 64 bytes.
            new_pin: The new one. 4 to 64 bytes.

        Raises:
            EnrollIllegalState, EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument,
            EnrollStoreError.

        Command: pin.change.
        """
        result = self._call("pin.change", given({"pin": pin, "newPin": new_pin}), None)
        return told(PinResult.from_json, result)

    def remove_pin(self, pin: str) -> PinResult:
        """Takes the PIN away; the account is open from then on.

        Args:
            pin: The present one. 4 to 64 bytes.

        Raises:
            EnrollIllegalState, EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument,
            EnrollStoreError.

        Command: pin.remove.
        """
        result = self._call("pin.remove", given({"pin": pin}), None)
        return told(PinResult.from_json, result)


class CoreCommands(Caller):
    """What needs no client."""

    def describe(self) -> Description:
        """What this library is: versions, flavour, commands, key providers.

        Raises:
            EnrollInvalidArgument.

        Command: system.describe.
        """
        result = self._call("system.describe", {}, None)
        return told(Description.from_json, result)

    def accounts(self, store: StorePath, *, keys: Optional[Keys] = None) -> Tuple[str, ...]:
        """Names of the accounts in a store; none where there is no store yet.

        Args:
            store: The directory of the store.
            keys: Who guards the key of the store; None: a key file in it.

        Raises:
            EnrollInvalidArgument, EnrollBusy, EnrollStoreError.

        Command: accounts.list.
        """
        result = self._call("accounts.list", given({"store": store_path(store), "keys": given_keys(keys)}), None)
        return told(texts, result, "accounts")

    def remove_account(self, store: StorePath, account: str, *, keys: Optional[Keys] = None) -> None:
        """Erases an account from a store, at every provider; no server is told. Removing an unknown one is no error.

        Args:
            store: The directory of the store.
            keys: Who guards the key of the store; None: a key file in it.
            account: Names one set of tokens.

        Raises:
            EnrollInvalidArgument, EnrollBusy, EnrollStoreError.

        Command: accounts.remove.
        """
        self._call(
            "accounts.remove", given({"store": store_path(store), "keys": given_keys(keys), "account": account}), None
        )

    def reset_installation(self, store: StorePath, *, keys: Optional[Keys] = None) -> None:
        """Forgets the installation id of a store: the next use makes another. No store, no error.

        Args:
            store: The directory of the store.
            keys: Who guards the key of the store; None: a key file in it.

        Raises:
            EnrollInvalidArgument, EnrollBusy, EnrollStoreError.

        Command: installation.reset.
        """
        self._call("installation.reset", given({"store": store_path(store), "keys": given_keys(keys)}), None)

    def diagnose(self, store: StorePath, *, keys: Optional[Keys] = None) -> StoreDiagnosis:
        """How a store is: owner, permissions, key provider and why, each file, set-aside ones. Changes nothing.

        Args:
            store: The directory of the store.
            keys: Who guards the key of the store; None: a key file in it.

        Raises:
            EnrollInvalidArgument, EnrollBusy, EnrollStoreError.

        Command: store.diagnose.
        """
        result = self._call("store.diagnose", given({"store": store_path(store), "keys": given_keys(keys)}), None)
        return told(StoreDiagnosis.from_json, result)

    def rekey(
        self,
        store: StorePath,
        *,
        keys: Optional[Keys] = None,
        new_keys: Optional[Keys] = None,
        new_data_key: bool = False,
    ) -> str:
        """Gives a store's key to another key provider, or has the same one wrap it anew. Nothing is lost.

        Args:
            store: The directory of the store.
            keys: Who guards the key of the store; None: a key file in it.
            new_keys: Who guards it from now on; None: the same, which wraps it anew.
            new_data_key: Also make a new key, and seal every file with it.

        Raises:
            EnrollNotFound, EnrollInvalidArgument, EnrollBusy, EnrollStoreError.

        Command: store.rekey.
        """
        parameters = given(
            {
                "store": store_path(store),
                "keys": given_keys(keys),
                "newKeys": given_new_keys(new_keys),
                "newDataKey": new_data_key,
            }
        )
        result = self._call("store.rekey", parameters, None)
        return told(text, result, "provider")

    def pkce(self) -> PKCE:
        """A verifier and its challenge, S256 (RFC 7636 §4).

        Raises:
            EnrollInvalidArgument.

        Command: pkce.generate; source: RFC 7636 4.1, 4.2.
        """
        result = self._call("pkce.generate", {}, None)
        return told(PKCE.from_json, result)

    def parse_redirect(self, url: str) -> Redirect:
        """Reads a redirect without believing it (RFC 6749 §4.1.2, RFC 9207).

        Args:
            url: As it reached the host.

        Raises:
            EnrollRedirectMalformed, EnrollInvalidArgument.

        Command: redirect.parse; source: RFC 6749 4.1.2, RFC 9207.
        """
        result = self._call("redirect.parse", given({"url": url}), None)
        return told(Redirect.from_json, result)

    def route(self, configurations: Sequence[Union[Configuration, Mapping[str, Any]]], url: str) -> Route:
        """Which of several configurations a URL belongs to. Looks at no store: an owned URL may still be unsolicited.

        Args:
            configurations: Of all that the app has.
            url: As it reached the host.

        Raises:
            EnrollRedirectMalformed, EnrollConfiguration, EnrollJSON, EnrollInvalidArgument.

        Command: redirect.route.
        """
        result = self._call("redirect.route", given({"configurations": configurations, "url": url}), None)
        return told(Route.from_json, result)

    def parse_link(self, url: str) -> Link:
        """Reads a link by the allow-list of R9, or refuses it; nothing is repaired.

        Args:
            url: As it reached the host.

        Raises:
            EnrollRedirectMalformed, EnrollInvalidArgument.

        Command: link.parse; source: RFC 3986, RFC 8252 7.
        """
        result = self._call("link.parse", given({"url": url}), None)
        return told(Link.from_json, result)

    def check_expiry(
        self,
        expires_at: Union[datetime, int],
        *,
        now: Optional[Union[datetime, int]] = None,
        grace: Optional[Seconds] = None,
        minimum_lifetime: Optional[Seconds] = None,
        lifetime: Optional[Seconds] = None,
    ) -> Expiry:
        """In which band of its life a token is: fresh, due or expired.

        Args:
            expires_at: A datetime with a time zone, or seconds since 1970.
            now: The same; None: now.
            grace: Seconds before its end from which it is due.
            minimum_lifetime: Seconds (or a timedelta) that the token must still live; None: the configured grace.
            lifetime: Its whole life in seconds: at most half of it counts as grace period.

        Raises:
            EnrollInvalidArgument.

        Command: expiry.check.
        """
        parameters = given(
            {
                "expiresAt": seconds_since_1970("expires_at", expires_at),
                "now": seconds_since_1970("now", now),
                "grace": whole_seconds("grace", grace),
                "minimumLifetime": whole_seconds("minimum_lifetime", minimum_lifetime),
                "lifetime": whole_seconds("lifetime", lifetime),
            }
        )
        result = self._call("expiry.check", parameters, None)
        return told(Expiry.from_json, result)


class AsyncClientCommands(AsyncCaller):
    """What a client can do."""

    async def platform_ready(self) -> None:
        """Says that the host's platform is ready (Cordova's deviceready).

        Raises:
            EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument.

        Command: platform.ready.
        """
        await self._call("platform.ready", {}, None)

    async def state(self, *, wait: bool = False, timeout: Timeout = 30) -> State:
        """Where the registration stands; asking starts it.

        Args:
            wait: Answer once the state has settled. A sign-in that an earlier run left in the browser is waited for,
                too.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollBusy, EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: registration.state.
        """
        result = await self._call("registration.state", given({"wait": wait}), timeout)
        return told(read_state, result, "state")

    async def begin(
        self,
        *,
        kind: Optional[Union[Kind, Literal["signIn", "register", "passwordless", "app2app", "bff", "device"]]] = None,
        scopes: Optional[Union[str, Sequence[str]]] = None,
        prompt: Optional[str] = None,
        login_hint: Optional[str] = None,
        max_age: Optional[Seconds] = None,
        acr_values: Optional[Sequence[str]] = None,
        ui_locales: Optional[Sequence[str]] = None,
        id_token_hint: Optional[str] = None,
        connection: Optional[str] = None,
        email: Optional[str] = None,
        phone_number: Optional[str] = None,
        message: Optional[Union[PasswordlessMessage, Literal["code", "link"]]] = None,
        parameters: Optional[Mapping[str, str]] = None,
        timeout: Timeout = 30,
    ) -> Transaction:
        """Begins a transaction and says what the host must do now.

        Args:
            kind: What kind of transaction.
            scopes: Instead of the configured ones.
            prompt: none, login, consent, select_account or create.
            login_hint: Who is likely to sign in.
            max_age: The user must have signed in at most so many seconds (or a timedelta) ago.
            ui_locales: The best first.
            id_token_hint: Whose session prompt=none is about.
            connection: The provider's name for the connection that the user chose; bff: its name for the provider,
                required.
            email: passwordless: where the code or link is sent.
            phone_number: passwordless: where the code is sent, E.164.
            message: passwordless: what is sent.
            parameters: The host's own authorize parameters; the protocol's names are refused.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollIllegalState, EnrollUnsupported, EnrollConfiguration, EnrollJSON, EnrollBusy, EnrollOAuth,
            EnrollNetwork, EnrollTLS, EnrollTimeout, EnrollServer, EnrollResponseInvalid, EnrollIssuerMismatch,
            EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument,
            EnrollStoreError.

        Command: registration.begin; source: RFC 6749 4.1.1, RFC 7636, RFC 8252, RFC 9126.
        """
        parameters = given(
            {
                "kind": kind,
                "scopes": scopes,
                "parameters": parameters,
                "options": given(
                    {
                        "prompt": prompt,
                        "loginHint": login_hint,
                        "maxAge": whole_seconds("max_age", max_age),
                        "acrValues": acr_values,
                        "uiLocales": ui_locales,
                        "idTokenHint": id_token_hint,
                        "connection": connection,
                        "email": email,
                        "phoneNumber": phone_number,
                        "message": message,
                    }
                )
                or None,
            }
        )
        result = await self._call("registration.begin", parameters, timeout)
        return told(Transaction.from_json, result)

    async def resume(
        self, url: str, *, transaction: Optional[Union[Transaction, str]] = None, timeout: Timeout = 30
    ) -> State:
        """Takes the redirect back and carries its transaction to its end.

        Args:
            url: As it reached the host.
            transaction: What `begin` gave, or its `id`.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollRedirectMalformed, EnrollRedirectMismatch, EnrollUnsolicited, EnrollAlreadySettled,
            EnrollTransactionExpired, EnrollAccessDenied, EnrollLoginRequired, EnrollInteractionRequired,
            EnrollConsentRequired, EnrollOAuth, EnrollActivationFailed, EnrollIdTokenInvalid, EnrollKeysUnavailable,
            EnrollProfileMismatch, EnrollIllegalState, EnrollNetwork, EnrollTLS, EnrollTimeout, EnrollServer,
            EnrollResponseInvalid, EnrollIssuerMismatch, EnrollConfiguration, EnrollBusy, EnrollDeadlineExceeded,
            EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument, EnrollStoreError.

        Command: registration.resume; source: RFC 6749 4.1.2, RFC 9207, OpenID Connect Core 3.1.3.7.
        """
        result = await self._call(
            "registration.resume", given({"url": url, "transaction": transaction_id(transaction)}), timeout
        )
        return told(read_state, result, "state")

    async def handle_link(self, url: str, *, timeout: Timeout = 30) -> HandledLink:
        """Takes an activation or fallback link, and says what the host must do now.

        Args:
            url: As it reached the host.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollRedirectMalformed, EnrollRedirectMismatch, EnrollIllegalState, EnrollNetwork, EnrollTLS,
            EnrollTimeout, EnrollServer, EnrollResponseInvalid, EnrollIssuerMismatch, EnrollConfiguration, EnrollBusy,
            EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument,
            EnrollStoreError.

        Command: registration.handleLink; source: RFC 9700 4.11.
        """
        result = await self._call("registration.handleLink", given({"url": url}), timeout)
        return told(read_handled_link, result)

    async def await_outcome(self, transaction: Union[Transaction, str], *, timeout: Timeout = None) -> State:
        """Waits until a transaction is settled: by its loopback redirect, by another call or another process, or, with
        a device code, by the user elsewhere.

        Args:
            transaction: What `begin` gave, or its `id`.
            timeout: Seconds (or a timedelta) to wait; None: until the transaction ends by itself.

        Raises:
            EnrollNotFound, EnrollTransactionExpired, EnrollDeadlineExceeded, EnrollHandle, EnrollForked,
            EnrollReentrant, EnrollInvalidArgument, EnrollRedirectMalformed, EnrollRedirectMismatch, EnrollUnsolicited,
            EnrollAlreadySettled, EnrollAccessDenied, EnrollLoginRequired, EnrollInteractionRequired,
            EnrollConsentRequired, EnrollOAuth, EnrollActivationFailed, EnrollIdTokenInvalid, EnrollKeysUnavailable,
            EnrollProfileMismatch, EnrollIllegalState, EnrollNetwork, EnrollTLS, EnrollTimeout, EnrollServer,
            EnrollResponseInvalid, EnrollIssuerMismatch, EnrollConfiguration, EnrollBusy, EnrollCancelled,
            EnrollStoreError.

        Command: registration.awaitOutcome; source: RFC 8252 7.3, RFC 8628 3.5.
        """
        result = await self._call(
            "registration.awaitOutcome", given({"transaction": transaction_id(transaction)}), timeout
        )
        return told(read_state, result, "state")

    async def submit_code(self, transaction: Union[Transaction, str], code: str, *, timeout: Timeout = 30) -> State:
        """Takes the one-time code that the user typed.

        Args:
            transaction: What `begin` gave, or its `id`.
            code: As the user typed it.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollCodeRejected, EnrollAccessDenied, EnrollOAuth, EnrollNotFound, EnrollAlreadySettled,
            EnrollTransactionExpired, EnrollIllegalState, EnrollIdTokenInvalid, EnrollKeysUnavailable, EnrollNetwork,
            EnrollTLS, EnrollTimeout, EnrollServer, EnrollResponseInvalid, EnrollIssuerMismatch, EnrollConfiguration,
            EnrollBusy, EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: registration.submitCode.
        """
        result = await self._call(
            "registration.submitCode", given({"transaction": transaction_id(transaction), "code": code}), timeout
        )
        return told(read_state, result, "state")

    async def confirm(self, *, timeout: Timeout = 30) -> State:
        """The user's yes to the profile: G to H, after the verified address and the registration check that are
        required.

        Args:
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollIllegalState, EnrollEmailNotVerified, EnrollUnknownAccount, EnrollProfileMismatch, EnrollOAuth,
            EnrollNetwork, EnrollTLS, EnrollTimeout, EnrollServer, EnrollResponseInvalid, EnrollIssuerMismatch,
            EnrollConfiguration, EnrollBusy, EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked,
            EnrollReentrant, EnrollInvalidArgument, EnrollStoreError.

        Command: registration.confirm.
        """
        result = await self._call("registration.confirm", {}, timeout)
        return told(read_state, result, "state")

    async def retry(self, *, timeout: Timeout = 30) -> State:
        """Another try: provisional tokens are revoked and cleared, an earlier confirmed set survives.

        Args:
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollIllegalState, EnrollBusy, EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked,
            EnrollReentrant, EnrollInvalidArgument, EnrollStoreError.

        Command: registration.retry.
        """
        result = await self._call("registration.retry", {}, timeout)
        return told(read_state, result, "state")

    async def cancel(self, *, transaction: Optional[Union[Transaction, str]] = None) -> State:
        """The user left the browser: a hint, a late valid redirect still wins; a registration waits for its e-mail's
        link.

        Args:
            transaction: What `begin` gave, or its `id`.

        Raises:
            EnrollNotFound, EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument,
            EnrollStoreError.

        Command: registration.cancel.
        """
        result = await self._call("registration.cancel", given({"transaction": transaction_id(transaction)}), None)
        return told(read_state, result, "state")

    async def other_app_missing(self, transaction: Union[Transaction, str]) -> State:
        """The other app's link could not be opened: its transaction is over, with F.

        Args:
            transaction: What `begin` gave, or its `id`.

        Raises:
            EnrollNotFound, EnrollIllegalState, EnrollAlreadySettled, EnrollTransactionExpired, EnrollBusy,
            EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument, EnrollStoreError.

        Command: registration.otherAppMissing.
        """
        result = await self._call(
            "registration.otherAppMissing", given({"transaction": transaction_id(transaction)}), None
        )
        return told(read_state, result, "state")

    async def clear(self) -> State:
        """Empties local state alone; no server is told.

        Raises:
            EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument, EnrollStoreError.

        Command: registration.clear.
        """
        result = await self._call("registration.clear", {}, None)
        return told(read_state, result, "state")

    async def deregister(self, *, timeout: Timeout = 30) -> Deregistered:
        """A logout that forgets the device too: pending transactions are cleared, the installation id is reset.

        Args:
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollBusy, EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: registration.deregister.
        """
        result = await self._call("registration.deregister", {}, timeout)
        return told(Deregistered.from_json, result)

    async def handle_url(self, url: str, *, timeout: Timeout = 30) -> HandledURL:
        """One door for every URL that reaches an app.

        Args:
            url: As it reached the host.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollRedirectMalformed, EnrollAlreadySettled, EnrollTransactionExpired, EnrollAccessDenied,
            EnrollLoginRequired, EnrollInteractionRequired, EnrollConsentRequired, EnrollOAuth, EnrollActivationFailed,
            EnrollIdTokenInvalid, EnrollKeysUnavailable, EnrollProfileMismatch, EnrollIllegalState, EnrollNetwork,
            EnrollTLS, EnrollTimeout, EnrollServer, EnrollResponseInvalid, EnrollIssuerMismatch, EnrollConfiguration,
            EnrollBusy, EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: url.handle.
        """
        result = await self._call("url.handle", given({"url": url}), timeout)
        return told(read_handled_url, result)

    async def access_token(self, *, minimum_lifetime: Optional[Seconds] = None, timeout: Timeout = 30) -> AccessToken:
        """A valid access token, renewed when due. One renewal serves all who ask.

        Args:
            minimum_lifetime: Seconds (or a timedelta) that the token must still live; None: the configured grace.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollReauthenticate, EnrollExpired, EnrollRejected, EnrollBusy, EnrollIllegalState, EnrollCancelled,
            EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument, EnrollStoreError.

        Command: token.access; source: RFC 6749 6.
        """
        return await self._token(
            "token.access", given({"minimumLifetime": whole_seconds("minimum_lifetime", minimum_lifetime)}), timeout
        )

    async def refresh(self, *, timeout: Timeout = 30) -> AccessToken:
        """Renews now, whatever the token's age: after a resource server refused it. A pause that the provider asked for
        holds.

        Args:
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollReauthenticate, EnrollExpired, EnrollRejected, EnrollBusy, EnrollIllegalState, EnrollCancelled,
            EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument, EnrollStoreError.

        Command: token.refresh; source: RFC 6749 6.
        """
        return await self._token("token.refresh", {}, timeout)

    async def revoke(self, *, timeout: Timeout = 30) -> Revocation:
        """Tells the provider to forget the session's tokens, and forgets them here.

        Args:
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollBusy, EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: token.revoke; source: RFC 7009.
        """
        result = await self._call("token.revoke", {}, timeout)
        return told(Revocation.from_json, result)

    async def introspect(
        self,
        *,
        token: Optional[Union[WhichToken, Literal["accessToken", "refreshToken"]]] = None,
        timeout: Timeout = 30,
    ) -> Introspection:
        """What the provider says of one of the session's tokens (RFC 7662).

        Args:
            token: Which one; it is not handed out.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollUnsupported, EnrollNotFound, EnrollOAuth, EnrollNetwork, EnrollTLS, EnrollTimeout, EnrollServer,
            EnrollResponseInvalid, EnrollIssuerMismatch, EnrollConfiguration, EnrollDeadlineExceeded, EnrollCancelled,
            EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument, EnrollReauthenticate, EnrollExpired,
            EnrollRejected, EnrollBusy, EnrollIllegalState, EnrollStoreError.

        Command: token.introspect; source: RFC 7662.
        """
        result = await self._call("token.introspect", given({"token": token}), timeout)
        return told(Introspection.from_json, result)

    async def dpop_proof(
        self, method: str, url: str, *, nonce: Optional[str] = None, access_token: Optional[str] = None
    ) -> str:
        """A proof for one request of the host's that carries a token of type DPoP (RFC 9449); asks nobody.

        Args:
            method: As it is sent: GET.
            url: As it reached the host.
            nonce: What the server demanded; without it, the last one of that server.
            access_token: The token that the request carries; without it, the present one.

        Raises:
            EnrollIllegalState, EnrollReauthenticate, EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: dpop.proof; source: RFC 9449 4.2, 7, 9.
        """
        result = await self._call(
            "dpop.proof", given({"method": method, "url": url, "nonce": nonce, "accessToken": access_token}), None
        )
        return told(text, result, "proof")

    async def profile(self) -> Dict[str, Any]:
        """The proven claims about the user, as they are kept.

        Raises:
            EnrollNotFound, EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument,
            EnrollStoreError.

        Command: identity.profile; source: OpenID Connect Core 5.1.
        """
        result = await self._call("identity.profile", {}, None)
        return told(mapping, result, "claims")

    async def userinfo(self, *, timeout: Timeout = 30) -> Dict[str, Any]:
        """The claims that the provider tells now, discarded unless they are about the same user.

        Args:
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollUnsupported, EnrollProfileMismatch, EnrollNetwork, EnrollTLS, EnrollTimeout, EnrollServer,
            EnrollResponseInvalid, EnrollIssuerMismatch, EnrollConfiguration, EnrollDeadlineExceeded, EnrollCancelled,
            EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument, EnrollReauthenticate, EnrollExpired,
            EnrollRejected, EnrollBusy, EnrollIllegalState, EnrollStoreError.

        Command: identity.userinfo; source: OpenID Connect Core 5.3.
        """
        result = await self._call("identity.userinfo", {}, timeout)
        return told(mapping, result, "claims")

    async def logout(self, *, local_only: bool = False, timeout: Timeout = 30) -> SignOut:
        """Erases the tokens here first, tells the provider, and gives the URL that ends its session in the browser.

        Args:
            local_only: Nothing is sent, no URL is given.
            timeout: Seconds (or a timedelta) that the call may take; None: as long as it takes.

        Raises:
            EnrollBusy, EnrollDeadlineExceeded, EnrollCancelled, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: logout.begin; source: RFC 7009, OpenID Connect RP-Initiated Logout 1.0.
        """
        result = await self._call("logout.begin", given({"localOnly": local_only}), timeout)
        return told(SignOut.from_json, result)

    async def finish_logout(self, url: str) -> bool:
        """Takes the browser's answer to that URL back: the logout is finished.

        Args:
            url: As it reached the host.

        Raises:
            EnrollUnsolicited, EnrollRedirectMalformed, EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: logout.resume; source: OpenID Connect RP-Initiated Logout 1.0, 3.
        """
        result = await self._call("logout.resume", given({"url": url}), None)
        return told(truth, result, "done")

    async def account(self) -> Account:
        """What is kept about the account; never the refresh token.

        Raises:
            EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument, EnrollStoreError.

        Command: account.read.
        """
        result = await self._call("account.read", {}, None)
        return told(Account.from_json, result)

    async def diagnostics(self) -> Dict[str, Any]:
        """All that support needs, without secrets: versions, configuration, provider, state, store, last errors.

        Raises:
            EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument.

        Command: diagnostics.export.
        """
        result = await self._call("diagnostics.export", {}, None)
        return told(mapping, result, "diagnostics")

    async def set_pin(self, pin: str) -> None:
        """Guards what is kept of the account with a PIN; it stays open in this process. Ends the step pin.

        Args:
            pin: The new PIN. 4 to 64 bytes.

        Raises:
            EnrollIllegalState, EnrollUnsupported, EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant,
            EnrollInvalidArgument, EnrollStoreError.

        Command: pin.set.
        """
        await self._call("pin.set", given({"pin": pin}), None)

    async def unlock(self, pin: str) -> PinResult:
        """Opens the account in this process.

        Args:
            pin: The PIN. 4 to 64 bytes.

        Raises:
            EnrollIllegalState, EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument,
            EnrollStoreError.

        Command: pin.unlock.
        """
        result = await self._call("pin.unlock", given({"pin": pin}), None)
        return told(PinResult.from_json, result)

    async def change_pin(self, pin: str, new_pin: str) -> PinResult:
        """Replaces the PIN.

        Args:
            pin: The present one. 4 to 64 bytes.
            new_pin: The new one. 4 to 64 bytes.

        Raises:
            EnrollIllegalState, EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument,
            EnrollStoreError.

        Command: pin.change.
        """
        result = await self._call("pin.change", given({"pin": pin, "newPin": new_pin}), None)
        return told(PinResult.from_json, result)

    async def remove_pin(self, pin: str) -> PinResult:
        """Takes the PIN away; the account is open from then on.

        Args:
            pin: The present one. 4 to 64 bytes.

        Raises:
            EnrollIllegalState, EnrollBusy, EnrollHandle, EnrollForked, EnrollReentrant, EnrollInvalidArgument,
            EnrollStoreError.

        Command: pin.remove.
        """
        result = await self._call("pin.remove", given({"pin": pin}), None)
        return told(PinResult.from_json, result)


class AsyncCoreCommands(AsyncCaller):
    """What needs no client."""

    async def describe(self) -> Description:
        """What this library is: versions, flavour, commands, key providers.

        Raises:
            EnrollInvalidArgument.

        Command: system.describe.
        """
        result = await self._call("system.describe", {}, None)
        return told(Description.from_json, result)

    async def accounts(self, store: StorePath, *, keys: Optional[Keys] = None) -> Tuple[str, ...]:
        """Names of the accounts in a store; none where there is no store yet.

        Args:
            store: The directory of the store.
            keys: Who guards the key of the store; None: a key file in it.

        Raises:
            EnrollInvalidArgument, EnrollBusy, EnrollStoreError.

        Command: accounts.list.
        """
        result = await self._call("accounts.list", given({"store": store_path(store), "keys": given_keys(keys)}), None)
        return told(texts, result, "accounts")

    async def remove_account(self, store: StorePath, account: str, *, keys: Optional[Keys] = None) -> None:
        """Erases an account from a store, at every provider; no server is told. Removing an unknown one is no error.

        Args:
            store: The directory of the store.
            keys: Who guards the key of the store; None: a key file in it.
            account: Names one set of tokens.

        Raises:
            EnrollInvalidArgument, EnrollBusy, EnrollStoreError.

        Command: accounts.remove.
        """
        await self._call(
            "accounts.remove", given({"store": store_path(store), "keys": given_keys(keys), "account": account}), None
        )

    async def reset_installation(self, store: StorePath, *, keys: Optional[Keys] = None) -> None:
        """Forgets the installation id of a store: the next use makes another. No store, no error.

        Args:
            store: The directory of the store.
            keys: Who guards the key of the store; None: a key file in it.

        Raises:
            EnrollInvalidArgument, EnrollBusy, EnrollStoreError.

        Command: installation.reset.
        """
        await self._call("installation.reset", given({"store": store_path(store), "keys": given_keys(keys)}), None)

    async def diagnose(self, store: StorePath, *, keys: Optional[Keys] = None) -> StoreDiagnosis:
        """How a store is: owner, permissions, key provider and why, each file, set-aside ones. Changes nothing.

        Args:
            store: The directory of the store.
            keys: Who guards the key of the store; None: a key file in it.

        Raises:
            EnrollInvalidArgument, EnrollBusy, EnrollStoreError.

        Command: store.diagnose.
        """
        result = await self._call("store.diagnose", given({"store": store_path(store), "keys": given_keys(keys)}), None)
        return told(StoreDiagnosis.from_json, result)

    async def rekey(
        self,
        store: StorePath,
        *,
        keys: Optional[Keys] = None,
        new_keys: Optional[Keys] = None,
        new_data_key: bool = False,
    ) -> str:
        """Gives a store's key to another key provider, or has the same one wrap it anew. Nothing is lost.

        Args:
            store: The directory of the store.
            keys: Who guards the key of the store; None: a key file in it.
            new_keys: Who guards it from now on; None: the same, which wraps it anew.
            new_data_key: Also make a new key, and seal every file with it.

        Raises:
            EnrollNotFound, EnrollInvalidArgument, EnrollBusy, EnrollStoreError.

        Command: store.rekey.
        """
        parameters = given(
            {
                "store": store_path(store),
                "keys": given_keys(keys),
                "newKeys": given_new_keys(new_keys),
                "newDataKey": new_data_key,
            }
        )
        result = await self._call("store.rekey", parameters, None)
        return told(text, result, "provider")

    async def pkce(self) -> PKCE:
        """A verifier and its challenge, S256 (RFC 7636 §4).

        Raises:
            EnrollInvalidArgument.

        Command: pkce.generate; source: RFC 7636 4.1, 4.2.
        """
        result = await self._call("pkce.generate", {}, None)
        return told(PKCE.from_json, result)

    async def parse_redirect(self, url: str) -> Redirect:
        """Reads a redirect without believing it (RFC 6749 §4.1.2, RFC 9207).

        Args:
            url: As it reached the host.

        Raises:
            EnrollRedirectMalformed, EnrollInvalidArgument.

        Command: redirect.parse; source: RFC 6749 4.1.2, RFC 9207.
        """
        result = await self._call("redirect.parse", given({"url": url}), None)
        return told(Redirect.from_json, result)

    async def route(self, configurations: Sequence[Union[Configuration, Mapping[str, Any]]], url: str) -> Route:
        """Which of several configurations a URL belongs to. Looks at no store: an owned URL may still be unsolicited.

        Args:
            configurations: Of all that the app has.
            url: As it reached the host.

        Raises:
            EnrollRedirectMalformed, EnrollConfiguration, EnrollJSON, EnrollInvalidArgument.

        Command: redirect.route.
        """
        result = await self._call("redirect.route", given({"configurations": configurations, "url": url}), None)
        return told(Route.from_json, result)

    async def parse_link(self, url: str) -> Link:
        """Reads a link by the allow-list of R9, or refuses it; nothing is repaired.

        Args:
            url: As it reached the host.

        Raises:
            EnrollRedirectMalformed, EnrollInvalidArgument.

        Command: link.parse; source: RFC 3986, RFC 8252 7.
        """
        result = await self._call("link.parse", given({"url": url}), None)
        return told(Link.from_json, result)

    async def check_expiry(
        self,
        expires_at: Union[datetime, int],
        *,
        now: Optional[Union[datetime, int]] = None,
        grace: Optional[Seconds] = None,
        minimum_lifetime: Optional[Seconds] = None,
        lifetime: Optional[Seconds] = None,
    ) -> Expiry:
        """In which band of its life a token is: fresh, due or expired.

        Args:
            expires_at: A datetime with a time zone, or seconds since 1970.
            now: The same; None: now.
            grace: Seconds before its end from which it is due.
            minimum_lifetime: Seconds (or a timedelta) that the token must still live; None: the configured grace.
            lifetime: Its whole life in seconds: at most half of it counts as grace period.

        Raises:
            EnrollInvalidArgument.

        Command: expiry.check.
        """
        parameters = given(
            {
                "expiresAt": seconds_since_1970("expires_at", expires_at),
                "now": seconds_since_1970("now", now),
                "grace": whole_seconds("grace", grace),
                "minimumLifetime": whole_seconds("minimum_lifetime", minimum_lifetime),
                "lifetime": whole_seconds("lifetime", lifetime),
            }
        )
        result = await self._call("expiry.check", parameters, None)
        return told(Expiry.from_json, result)
