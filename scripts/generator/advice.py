"""What to do about each error: the part of docs/troubleshooting.md that is not in the manifest."""

ADVICE = {
    "invalidArgument": "Correct the call. `field` names the argument. This is a bug in the program: report it to its developer.",
    "handle": "Do not use a client after it is closed. In C, `enroll_client_free` ends a handle.",
    "reentrant": "Do not call EnrollKit from your transport, key or clock callback. Do the work after the callback has returned.",
    "forked": "Open a client in the child process. Objects that were made before the fork fail there.",
    "bufferTooSmall": "Call again with a buffer of the reported size.",
    "cancelled": "Nothing. Your program cancelled the call. A request that was already sent continues, and its tokens are "
    "stored.",
    "deadlineExceeded": "Wait again, or pass a longer timeout. A sign-in is still pending: await its outcome again. If the browser "
    "shows an error page, compare the client id and the redirect URI with those at the provider.",
    "busy": "Try again in a moment. If the message names a port, [another program has taken it](#the-port-is-taken-by-another-program): "
    "end that program, or register a redirect URI without a port, so that the system chooses a free one.",
    "unsupported": "Read the message: it names what is missing. To install a missing library, see [the installation "
    "page](install.md#what-the-system-needs). If no browser could be opened, show the user the URL, or use the device grant.",
    "illegalState": "Read the state first (`registration.state`). [The table](states.md#table) shows what each state allows.",
    "notFound": "Check the name. `accounts.list` lists the accounts in a store. A client does not find another account's "
    "transactions.",
    "outOfMemory": "Free memory, then call again. Nothing was lost.",
    "configuration": "Correct the key that `field` names. [The configuration page](configuration.md) lists the values of every "
    "key.",
    "redirectMalformed": "Nothing. Pass every URL that your app receives, unchanged; a URL that is not a redirect has no "
    "effect.",
    "redirectMismatch": "Pass the URL exactly as your app received it. If the provider returns to another address, correct "
    "`redirectUri`.",
    "unsolicited": "Nothing, or offer to sign in. The URL does not belong to a pending sign-in; anybody can send such a URL.",
    "alreadySettled": "Nothing. The sign-in already has an outcome: read it with `registration.state`. A second redirect has "
    "no effect.",
    "transactionExpired": "Begin the sign-in again. `transactionLifetime` sets how long a sign-in may take.",
    "otherAppMissing": "Offer another way to sign in, or send the user to the app's page in the store.",
    "activationFailed": "Offer to sign in or to send the e-mail again. [Links in e-mails](links.md) explains why links fail.",
    "network": "Try again later. Check the address, the DNS server, the firewall and the proxy. `enroll doctor` shows how the "
    "provider responds. This error never ends a session.",
    "tls": "Check this machine's clock and its CA certificates. If your own certificate authority issued the provider's "
    "certificate, set `caFile` to the authority's PEM file. EnrollKit never skips the check.",
    "timeout": "Try again later. The server accepts connections but does not answer.",
    "server": "Try again later. `retryAfter` says when, if the server gave a time. EnrollKit itself waits longer after each "
    "attempt.",
    "responseInvalid": "Check the issuer: another server or a proxy may have answered. The message says what was expected and "
    "what was received. If the provider has no discovery document, set its endpoints in `endpoints`.",
    "oauth": "Read `oauthError`. `invalid_client`: check the client id and the secret. `invalid_scope`: request other scopes. "
    "`other_error` stands for a code that is not shown, because it may be part of a token. "
    "`invalid_request`: compare the redirect URI with the registered one. [The guides](providers.md#guides) list what each "
    "provider requires.",
    "loginRequired": "Begin a sign-in without `prompt=none`.",
    "interactionRequired": "Begin a sign-in without `prompt=none`.",
    "consentRequired": "Begin a sign-in without `prompt=none`, so that the user can consent.",
    "accessDenied": "Offer to begin again. If the user did not decline, ask the provider's administrator about the app's "
    "permissions.",
    "issuerMismatch": "Set the issuer exactly as the provider reports it; the message contains both. For Entra ID with many "
    "tenants, use `provider`.",
    "codeRejected": "Ask the user for the code again. The fifth wrong code ends the sign-in.",
    "keysUnavailable": "Try again later: the sign-in is still pending if no code was sent. Check that this machine can reach "
    "the provider's `jwks_uri`.",
    "idTokenInvalid": "Read the message: it names the claim and the expected value ([the rules](rules.md) R21 to R27). A wrong "
    "time means a wrong clock, on this machine or at the provider; a wrong `aud` means another client id; a wrong `iss` "
    "means another issuer.",
    "profileMismatch": "Sign in again as one user. If the error recurs, the provider or your back end mixes up users: report "
    "it there.",
    "emailNotVerified": "Ask the user to open the provider's e-mail, then confirm again.",
    "unknownAccount": "Offer to create an account (`registration.begin` with the kind `register`).",
    "reauthenticate": "Let the user sign in again. This is the only outcome that requires it.",
    "rejected": "Try again after a minute. If the error persists, check the client id and the secret: the provider rejects the "
    "app, not the user.",
    "expired": "Try again later; `retryAfter` says when EnrollKit tries next. The session has not ended.",
    "storeLocked": "Unlock the keyring, or pass the passphrase or the PIN. The same client then works again. If this machine "
    "has no keyring, keep the key in a file (`\"keys\": {\"provider\": \"file\"}`) or use a passphrase.",
    "storeCorrupt": "Run `enroll doctor`, or call `store.diagnose`. They name the file, which EnrollKit renamed and did not "
    "erase. Restore the file from a backup, or sign in again.",
    "storeRefused": "Read the message: it names the folder and says what to do. Give the store directory to the user who runs "
    "the program, with mode 0700, and its files mode 0600. Put the store on a local disk: EnrollKit rejects network file "
    "systems and FUSE.",
    "storeIO": "Read the message: it names the file and the system error. Check the disk. Tokens that could not be written "
    "stay in memory and are written as soon as the disk allows.",
    "storeFull": "Free space on the disk that holds the store. Nothing was lost: EnrollKit reserves space before it spends a "
    "refresh token.",
    "storeKey": "Configure the key with which the store was created (`keys`). A store cannot be read without its key: remove "
    "the store and sign in again.",
    "storeVersion": "Update EnrollKit. The newer version that wrote the store is or was installed on this machine.",
    "json": "Correct the JSON. [The JSON-RPC page](json-rpc.md) lists the limits.",
    "internal": "Report the bug, with the message and `diagnostics.export`, which contains no secret.",
}  # fmt: skip


def faults(manifest):
    """Sentences that say what is missing and what to do."""
    named = {error["status"] for error in manifest.errors}
    for status in sorted(named - set(ADVICE)):
        yield f"advice.py: no advice for {status}. Say what to do about it in ADVICE."
    for status in sorted(set(ADVICE) - named):
        yield f"advice.py: there is no error {status}. Remove its advice."
