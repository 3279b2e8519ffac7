"""What to do about each error: the part of docs/troubleshooting.md that the manifest does not say."""

ADVICE = {
    "invalidArgument": "Correct the call. `field` names the argument. This is a fault of the program, so show it to its developer.",
    "handle": "Use a client until it is closed, and no longer. In C, `enroll_client_free` ends a handle.",
    "reentrant": "Do not call EnrollKit from your transport, key or clock callback. Do the work after the callback has returned.",
    "forked": "Open a client in the child process. Objects from before the fork fail there.",
    "bufferTooSmall": "Call again with a buffer of the size that was reported.",
    "cancelled": "Nothing. Your program cancelled the call. A request that was sent goes on, and its tokens are stored.",
    "deadlineExceeded": "Wait again, or pass a longer timeout. A sign-in is still pending: await its outcome again. If the browser "
    "shows an error page, compare the client id and the redirect URI with those at the provider.",
    "busy": "Try again in a moment. If the message names a port, [another program has taken it](#the-port-is-taken-by-another-program): "
    "end that program, or register a redirect URI without a port, so that the system chooses a free one.",
    "unsupported": "Read the message: it names what is missing. A missing library is installed as [the page of installing](install.md"
    "#what-the-system-needs) says. If no browser could be opened, show the user the URL, or use the device grant.",
    "illegalState": "Ask for the state first (`registration.state`). [The table](states.md#table) says what each state allows.",
    "notFound": "Check the name. `accounts.list` lists the accounts of a store; a transaction of another account is not found.",
    "outOfMemory": "Free memory, then call again. Nothing was lost.",
    "configuration": "Correct the key that `field` names. [Every key](configuration.md) has its values there.",
    "redirectMalformed": "Nothing. Pass every URL that your app receives, unchanged; a URL that is no redirect changes nothing.",
    "redirectMismatch": "Pass the URL exactly as it came. If the provider returns to another address, correct `redirectUri`.",
    "unsolicited": "Nothing, or offer to sign in. The URL belongs to no sign-in that is pending; anybody can send such a URL.",
    "alreadySettled": "Nothing. The sign-in has an outcome already: read it with `registration.state`. A second redirect changes nothing.",
    "transactionExpired": "Begin the sign-in again. `transactionLifetime` says how long one may take.",
    "otherAppMissing": "Offer another way to sign in, or lead the user to the app's page in the store.",
    "activationFailed": "Offer the user to sign in, or to have the e-mail sent again. [Links in e-mails](links.md) says why links fail.",
    "network": "Try again later. Check the address, the name server, the firewall and the proxy. `enroll doctor` shows how the provider "
    "responds. No session ends by it.",
    "tls": "Check this machine's clock and its CA certificates. For a provider with a certificate of your own authority, name the "
    "authority's PEM file in `caFile`. EnrollKit never skips the check.",
    "timeout": "Try again later. The server accepts connections and does not answer.",
    "server": "Try again later. `retryAfter` says when, if the server said so. EnrollKit itself waits longer from try to try.",
    "responseInvalid": "Check the issuer: another server may have answered, or a proxy. The message says what was expected and what came. "
    "If the provider has no discovery document, write its endpoints into `endpoints`.",
    "oauth": "Read `oauthError`. `invalid_client`: check the client id and the secret. `invalid_scope`: ask for other scopes. "
    "`invalid_request`: compare the redirect URI with the one that is registered. [The guides](providers.md#guides) have what each provider wants.",
    "loginRequired": "Begin a sign-in without `prompt=none`.",
    "interactionRequired": "Begin a sign-in without `prompt=none`.",
    "consentRequired": "Begin a sign-in without `prompt=none`, so that the user can consent.",
    "accessDenied": "Offer the user to begin again. If the user did not refuse, ask the provider's administrator about the app's permissions.",
    "issuerMismatch": "Write the issuer exactly as the provider names itself; the message has both. For Entra ID with many tenants use "
    "`provider`.",
    "codeRejected": "Ask the user for the code again. The fifth wrong code ends the sign-in.",
    "keysUnavailable": "Try again later: the sign-in is still pending if no code was sent. Check that this machine reaches the provider's `jwks_uri`.",
    "idTokenInvalid": "Read the message: it names the claim and what was expected ([the rules](rules.md) R21 to R27). Wrong times mean a wrong clock, here or there; "
    "a wrong `aud` means another client id; a wrong `iss` means another issuer.",
    "profileMismatch": "Sign in again as one user. If it comes back, the provider or your back end mixes up users: report it there.",
    "emailNotVerified": "Ask the user to open the provider's e-mail, then confirm again.",
    "unknownAccount": "Offer to create an account (`registration.begin` with the kind `register`).",
    "reauthenticate": "Let the user sign in again. This is the only outcome that means that.",
    "rejected": "Try again after a minute. If it stays, check the client id and the secret: the provider refuses the app, not the user.",
    "expired": "Try again later; `retryAfter` says when EnrollKit asks next. The session is not over.",
    "storeLocked": "Unlock the keyring, or pass the passphrase or the PIN. Then the same client works again. If there is no keyring "
    "on this machine, keep the key in a file (`\"keys\": {\"provider\": \"file\"}`) or use a passphrase.",
    "storeCorrupt": "Run `enroll doctor`, or call `store.diagnose`: they name the file, which was renamed and not erased. Restore it from a backup, or sign in again.",
    "storeRefused": "Read the message: it names the folder and what helps. Give the store directory to the user who runs the program, "
    "with mode 0700, and its files mode 0600. Put it on a local disk: network file systems and FUSE are refused.",
    "storeIO": "Read the message: it names the file and the system's own error. Check the disk. Tokens that could not be written stay "
    "in memory and are written as soon as the disk allows.",
    "storeFull": "Free space on the disk of the store. Nothing was lost: EnrollKit reserves space before it spends a refresh token.",
    "storeKey": "Name the key that the store was made with (`keys`). A store without its key cannot be read: remove it and sign in again.",
    "storeVersion": "Update EnrollKit. The newer version that wrote the store is on this machine, or was.",
    "json": "Correct the JSON. The limits are [here](json-rpc.md).",
    "internal": "Report it, with the message and `diagnostics.export`, which holds no secret.",
}  # fmt: skip


def faults(manifest):
    """Sentences that say what is missing and what to do."""
    named = {error["status"] for error in manifest.errors}
    for status in sorted(named - set(ADVICE)):
        yield f"advice.py: no advice for {status}. Say what to do about it in ADVICE."
    for status in sorted(set(ADVICE) - named):
        yield f"advice.py: there is no error {status}. Remove its advice."
