// Generated from the manifest by bindings/kotlin/generate: do not edit.
@file:Suppress("RedundantVisibilityModifier", "MaxLineLength")

package org.enrollkit

import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlin.time.Instant
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

/** The commands without a client about system. */
public class SystemCommands internal constructor(private val caller: Caller) {
  /**
   * What this library is: versions, flavour, commands, key providers.
   *
   * @return What the library or daemon is.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun describe(): SystemDescription {
    val json = caller.call("system.describe", Kind.MEMORY)
    return SystemDescription.decode(json)
  }
}

/** The commands about one client's platform. */
public class PlatformCommands internal constructor(private val caller: Caller) {
  /**
   * Says that the host's platform is ready (Cordova's deviceready).
   *
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun ready() {
    caller.call("platform.ready", Kind.MEMORY)
  }
}

/** The commands about one client's registration. */
public class RegistrationCommands internal constructor(private val caller: Caller) {
  /**
   * Where the registration stands; asking starts it.
   *
   * @param wait Answer once the state has settled. A sign-in that an earlier run left in the browser is waited for,
   *   too.
   * @param timeout How long the call may take; it ends the wait, never a renewal.
   * @return Where the registration stands (letters A to H as documented).
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun state(
    wait: Boolean = false,
    timeout: Duration = 30.seconds,
  ): RegistrationState {
    val json = caller.call("registration.state", Kind.WAITING, timeout) {
      put("wait", JsonPrimitive(wait))
    }
    return decodeRegistrationState(json.need("state").members())
  }

  /**
   * Begins a transaction and says what the host must do now.
   *
   * @param kind What kind of transaction.
   * @param scopes Instead of the configured ones.
   * @param options How to begin.
   * @param parameters The host's own authorize parameters; the protocol's names are refused.
   * @param timeout How long the call may take; it ends the wait, never a renewal.
   * @return A transaction that has begun.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun begin(
    kind: TransactionKind = TransactionKind.SIGN_IN,
    scopes: List<String>? = null,
    options: BeginOptions? = null,
    parameters: Map<String, String>? = null,
    timeout: Duration = 30.seconds,
  ): Transaction {
    val json = caller.call("registration.begin", Kind.BLOCKING, timeout) {
      put("kind", JsonPrimitive(kind.wire))
      scopes?.let { put("scopes", JsonArray(it.map { item -> JsonPrimitive(item) })) }
      options?.let { put("options", it.encode()) }
      parameters?.let { put("parameters", JsonObject(it.mapValues { (_, value) -> JsonPrimitive(value) })) }
    }
    return Transaction.decode(json)
  }

  /**
   * Takes the redirect back and carries its transaction to its end.
   *
   * @param url As it reached the host.
   * @param transaction Whose return it is; needed only for one without state when several are pending.
   * @param timeout How long the call may take; it ends the wait, never a renewal.
   * @return Where the registration stands (letters A to H as documented).
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun resume(
    url: String,
    transaction: String? = null,
    timeout: Duration = 30.seconds,
  ): RegistrationState {
    val json = caller.call("registration.resume", Kind.BLOCKING, timeout) {
      put("url", JsonPrimitive(url))
      transaction?.let { put("transaction", JsonPrimitive(it)) }
    }
    return decodeRegistrationState(json.need("state").members())
  }

  /**
   * Takes an activation or fallback link, and says what the host must do now.
   *
   * @param url As it reached the host.
   * @param timeout How long the call may take; it ends the wait, never a renewal.
   * @return What a link turned out to be.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun handleLink(
    url: String,
    timeout: Duration = 30.seconds,
  ): LinkAnswer {
    val json = caller.call("registration.handleLink", Kind.BLOCKING, timeout) {
      put("url", JsonPrimitive(url))
    }
    return decodeLinkAnswer(json)
  }

  /**
   * Waits until a transaction is settled: by its loopback redirect, by another call or another process, or, with a
   * device code, by the user elsewhere.
   *
   * @param transaction Names the transaction.
   * @param timeout How long the call may take; it ends the wait, never a renewal.
   * @return Where the registration stands (letters A to H as documented).
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun awaitOutcome(
    transaction: String,
    timeout: Duration = 30.seconds,
  ): RegistrationState {
    val json = caller.call("registration.awaitOutcome", Kind.WAITING, timeout) {
      put("transaction", JsonPrimitive(transaction))
    }
    return decodeRegistrationState(json.need("state").members())
  }

  /**
   * Takes the one-time code that the user typed.
   *
   * @param transaction Names the transaction.
   * @param code As the user typed it.
   * @param timeout How long the call may take; it ends the wait, never a renewal.
   * @return Where the registration stands (letters A to H as documented).
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun submitCode(
    transaction: String,
    code: String,
    timeout: Duration = 30.seconds,
  ): RegistrationState {
    val json = caller.call("registration.submitCode", Kind.BLOCKING, timeout) {
      put("transaction", JsonPrimitive(transaction))
      put("code", JsonPrimitive(code))
    }
    return decodeRegistrationState(json.need("state").members())
  }

  /**
   * The user's yes to the profile: G to H, after the verified address and the registration check that are required.
   *
   * @param timeout How long the call may take; it ends the wait, never a renewal.
   * @return Where the registration stands (letters A to H as documented).
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun confirm(
    timeout: Duration = 30.seconds,
  ): RegistrationState {
    val json = caller.call("registration.confirm", Kind.BLOCKING, timeout)
    return decodeRegistrationState(json.need("state").members())
  }

  /**
   * Another try: provisional tokens are revoked and cleared, an earlier confirmed set survives.
   *
   * @param timeout How long the call may take; it ends the wait, never a renewal.
   * @return Where the registration stands (letters A to H as documented).
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun retry(
    timeout: Duration = 30.seconds,
  ): RegistrationState {
    val json = caller.call("registration.retry", Kind.BLOCKING, timeout)
    return decodeRegistrationState(json.need("state").members())
  }

  /**
   * The user left the browser: a hint, a late valid redirect still wins; a registration waits for its e-mail's link.
   *
   * @param transaction Which one; without it, all.
   * @return Where the registration stands (letters A to H as documented).
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun cancel(
    transaction: String? = null,
  ): RegistrationState {
    val json = caller.call("registration.cancel", Kind.BLOCKING) {
      transaction?.let { put("transaction", JsonPrimitive(it)) }
    }
    return decodeRegistrationState(json.need("state").members())
  }

  /**
   * The other app's link could not be opened: its transaction is over, with F.
   *
   * @param transaction Names the transaction.
   * @return Where the registration stands (letters A to H as documented).
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun otherAppMissing(
    transaction: String,
  ): RegistrationState {
    val json = caller.call("registration.otherAppMissing", Kind.BLOCKING) {
      put("transaction", JsonPrimitive(transaction))
    }
    return decodeRegistrationState(json.need("state").members())
  }

  /**
   * Empties local state alone; no server is told.
   *
   * @return Where the registration stands (letters A to H as documented).
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun clear(): RegistrationState {
    val json = caller.call("registration.clear", Kind.BLOCKING)
    return decodeRegistrationState(json.need("state").members())
  }

  /**
   * A logout that forgets the device too: pending transactions are cleared, the installation id is reset.
   *
   * @param timeout How long the call may take; it ends the wait, never a renewal.
   * @return Where the registration stands, and what to open.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun deregister(
    timeout: Duration = 30.seconds,
  ): Deregistration {
    val json = caller.call("registration.deregister", Kind.BLOCKING, timeout)
    return Deregistration.decode(json)
  }
}

/** The commands about one client's URLs. */
public class UrlCommands internal constructor(private val caller: Caller) {
  /**
   * One door for every URL that reaches an app.
   *
   * @param url As it reached the host.
   * @param timeout How long the call may take; it ends the wait, never a renewal.
   * @return What a URL turned out to be.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun handle(
    url: String,
    timeout: Duration = 30.seconds,
  ): HandledUrl {
    val json = caller.call("url.handle", Kind.BLOCKING, timeout) {
      put("url", JsonPrimitive(url))
    }
    return decodeHandledUrl(json)
  }
}

/** The commands about one client's token. */
public class TokenCommands internal constructor(private val caller: Caller) {
  /**
   * A valid access token, renewed when due. One renewal serves all who ask.
   *
   * @param minimumLifetime Time that the token must still live.
   * @param timeout How long the call may take; it ends the wait, never a renewal.
   * @return What a call for a token came to.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun access(
    minimumLifetime: Duration = Duration.ZERO,
    timeout: Duration = 30.seconds,
  ): AccessOutcome {
    val json = caller.call("token.access", Kind.PARKED, timeout) {
      put("minimumLifetime", JsonPrimitive(minimumLifetime.toWholeSeconds()))
    }
    return decodeAccessOutcome(json)
  }

  /**
   * Renews now, whatever the token's age: after a resource server refused it. A pause that the provider asked for
   * holds.
   *
   * @param timeout How long the call may take; it ends the wait, never a renewal.
   * @return What a call for a token came to.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun refresh(
    timeout: Duration = 30.seconds,
  ): AccessOutcome {
    val json = caller.call("token.refresh", Kind.PARKED, timeout)
    return decodeAccessOutcome(json)
  }

  /**
   * Tells the provider to forget the session's tokens, and forgets them here.
   *
   * @param timeout How long the call may take; it ends the wait, never a renewal.
   * @return Revocation.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun revoke(
    timeout: Duration = 30.seconds,
  ): Revocation {
    val json = caller.call("token.revoke", Kind.BLOCKING, timeout)
    return Revocation.decode(json)
  }

  /**
   * What the provider says of one of the session's tokens (RFC 7662).
   *
   * @param token Which one; it is not handed out.
   * @param timeout How long the call may take; it ends the wait, never a renewal.
   * @return What the provider says of a token.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun introspect(
    token: TokenKind = TokenKind.ACCESS_TOKEN,
    timeout: Duration = 30.seconds,
  ): Introspection {
    val json = caller.call("token.introspect", Kind.BLOCKING, timeout) {
      put("token", JsonPrimitive(token.wire))
    }
    return Introspection.decode(json)
  }
}

/** The commands about one client's DPoP proofs. */
public class DpopCommands internal constructor(private val caller: Caller) {
  /**
   * A proof for one request of the host's that carries a token of type DPoP (RFC 9449); asks nobody.
   *
   * @param method As it is sent: GET.
   * @param url As it reached the host.
   * @param nonce What the server demanded; without it, the last one of that server.
   * @param accessToken The token that the request carries; without it, the present one.
   * @return For the header DPoP.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun proof(
    method: String,
    url: String,
    nonce: String? = null,
    accessToken: String? = null,
  ): String {
    val json = caller.call("dpop.proof", Kind.BLOCKING) {
      put("method", JsonPrimitive(method))
      put("url", JsonPrimitive(url))
      nonce?.let { put("nonce", JsonPrimitive(it)) }
      accessToken?.let { put("accessToken", JsonPrimitive(it)) }
    }
    return json.need("proof").text()
  }
}

/** The commands about one client's user. */
public class IdentityCommands internal constructor(private val caller: Caller) {
  /**
   * The proven claims about the user, as they are kept.
   *
   * @return OpenID Connect Core §5.1.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun profile(): Claims {
    val json = caller.call("identity.profile", Kind.BLOCKING)
    return Claims(json.need("claims").members())
  }

  /**
   * The claims that the provider tells now, discarded unless they are about the same user.
   *
   * @param timeout How long the call may take; it ends the wait, never a renewal.
   * @return OpenID Connect Core §5.1.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun userinfo(
    timeout: Duration = 30.seconds,
  ): Claims {
    val json = caller.call("identity.userinfo", Kind.BLOCKING, timeout)
    return Claims(json.need("claims").members())
  }
}

/** The commands about one client's logout. */
public class LogoutCommands internal constructor(private val caller: Caller) {
  /**
   * Erases the tokens here first, tells the provider, and gives the URL that ends its session in the browser.
   *
   * @param localOnly Nothing is sent, no URL is given.
   * @param timeout How long the call may take; it ends the wait, never a renewal.
   * @return SignOut.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun begin(
    localOnly: Boolean = false,
    timeout: Duration = 30.seconds,
  ): SignOut {
    val json = caller.call("logout.begin", Kind.BLOCKING, timeout) {
      put("localOnly", JsonPrimitive(localOnly))
    }
    return SignOut.decode(json)
  }

  /**
   * Takes the browser's answer to that URL back: the logout is finished.
   *
   * @param url As it reached the host.
   * @return Always true.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun resume(
    url: String,
  ): Boolean {
    val json = caller.call("logout.resume", Kind.BLOCKING) {
      put("url", JsonPrimitive(url))
    }
    return json.need("done").flag()
  }
}

/** The commands about one client's account. */
public class AccountCommands internal constructor(private val caller: Caller) {
  /**
   * What is kept about the account; never the refresh token.
   *
   * @return What is kept about an account.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun read(): Account {
    val json = caller.call("account.read", Kind.BLOCKING)
    return Account.decode(json)
  }
}

/** The commands about one client's diagnostics. */
public class DiagnosticsCommands internal constructor(private val caller: Caller) {
  /**
   * All that support needs, without secrets: versions, configuration, provider, state, store, last errors.
   *
   * @return For people: its members may change with any version.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun export(): JsonObject {
    val json = caller.call("diagnostics.export", Kind.BLOCKING)
    return json.need("diagnostics").members()
  }
}

/** The commands about one client's PIN. */
public class PinCommands internal constructor(private val caller: Caller) {
  /**
   * Guards what is kept of the account with a PIN; it stays open in this process. Ends the step pin.
   *
   * @param pin The new PIN. 4 to 64 bytes.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun set(
    pin: String,
  ) {
    caller.call("pin.set", Kind.BLOCKING) {
      put("pin", JsonPrimitive(pin))
    }
  }

  /**
   * Opens the account in this process.
   *
   * @param pin The PIN. 4 to 64 bytes.
   * @return How a PIN was taken.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun unlock(
    pin: String,
  ): PinAnswer {
    val json = caller.call("pin.unlock", Kind.BLOCKING) {
      put("pin", JsonPrimitive(pin))
    }
    return PinAnswer.decode(json)
  }

  /**
   * Replaces the PIN.
   *
   * @param pin The present one. 4 to 64 bytes.
   * @param newPin The new one. 4 to 64 bytes.
   * @return How a PIN was taken.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun change(
    pin: String,
    newPin: String,
  ): PinAnswer {
    val json = caller.call("pin.change", Kind.BLOCKING) {
      put("pin", JsonPrimitive(pin))
      put("newPin", JsonPrimitive(newPin))
    }
    return PinAnswer.decode(json)
  }

  /**
   * Takes the PIN away; the account is open from then on.
   *
   * @param pin The present one. 4 to 64 bytes.
   * @return How a PIN was taken.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun remove(
    pin: String,
  ): PinAnswer {
    val json = caller.call("pin.remove", Kind.BLOCKING) {
      put("pin", JsonPrimitive(pin))
    }
    return PinAnswer.decode(json)
  }
}

/** The commands without a client about accounts. */
public class AccountsCommands internal constructor(private val caller: Caller) {
  /**
   * Names of the accounts in a store; none where there is no store yet.
   *
   * @param store An absolute path of a directory. The daemon's default: $XDG_DATA_HOME/enrollkit.
   * @param keys Who guards the store's key. The daemon's default: provider auto; a library's: file.
   * @return Sorted.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun list(
    store: Store,
    keys: Keys? = null,
  ): List<String> {
    val json = caller.call("accounts.list", Kind.BLOCKING) {
      store(store)
      keys(keys)
    }
    return json.need("accounts").list { it.text() }
  }

  /**
   * Erases an account from a store, at every provider; no server is told. Removing an unknown one is no error.
   *
   * @param store An absolute path of a directory. The daemon's default: $XDG_DATA_HOME/enrollkit.
   * @param account Names one set of tokens.
   * @param keys Who guards the store's key. The daemon's default: provider auto; a library's: file.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun remove(
    store: Store,
    account: String,
    keys: Keys? = null,
  ) {
    caller.call("accounts.remove", Kind.BLOCKING) {
      store(store)
      put("account", JsonPrimitive(account))
      keys(keys)
    }
  }
}

/** The commands without a client about installation. */
public class InstallationCommands internal constructor(private val caller: Caller) {
  /**
   * Forgets the installation id of a store: the next use makes another. No store, no error.
   *
   * @param store An absolute path of a directory. The daemon's default: $XDG_DATA_HOME/enrollkit.
   * @param keys Who guards the store's key. The daemon's default: provider auto; a library's: file.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun reset(
    store: Store,
    keys: Keys? = null,
  ) {
    caller.call("installation.reset", Kind.BLOCKING) {
      store(store)
      keys(keys)
    }
  }
}

/** The commands without a client about store. */
public class StoreCommands internal constructor(private val caller: Caller) {
  /**
   * How a store is: owner, permissions, key provider and why, each file, set-aside ones. Changes nothing.
   *
   * @param store An absolute path of a directory. The daemon's default: $XDG_DATA_HOME/enrollkit.
   * @param keys Who guards the store's key. The daemon's default: provider auto; a library's: file.
   * @return How a store is.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun diagnose(
    store: Store,
    keys: Keys? = null,
  ): StoreDiagnosis {
    val json = caller.call("store.diagnose", Kind.BLOCKING) {
      store(store)
      keys(keys)
    }
    return StoreDiagnosis.decode(json)
  }

  /**
   * Gives a store's key to another key provider, or has the same one wrap it anew. Nothing is lost.
   *
   * @param store An absolute path of a directory. The daemon's default: $XDG_DATA_HOME/enrollkit.
   * @param keys Who guards the store's key. The daemon's default: provider auto; a library's: file.
   * @param newKeys Who guards the key from now on. The default: as keys says; auto is the best that is present.
   * @param newDataKey Also make a new key, and seal every file with it.
   * @return Who guards the key now.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun rekey(
    store: Store,
    keys: Keys? = null,
    newKeys: Keys? = null,
    newDataKey: Boolean = false,
  ): String {
    val json = caller.call("store.rekey", Kind.BLOCKING) {
      store(store)
      keys(keys)
      newKeys(newKeys)
      put("newDataKey", JsonPrimitive(newDataKey))
    }
    return json.need("provider").text()
  }
}

/** The commands without a client about PKCE. */
public class PkceCommands internal constructor(private val caller: Caller) {
  /**
   * A verifier and its challenge, S256 (RFC 7636 §4).
   *
   * @return A PKCE verifier and its challenge (RFC 7636).
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun generate(): PkcePair {
    val json = caller.call("pkce.generate", Kind.MEMORY)
    return PkcePair.decode(json)
  }
}

/** The commands without a client about redirect. */
public class RedirectCommands internal constructor(private val caller: Caller) {
  /**
   * Reads a redirect without believing it (RFC 6749 §4.1.2, RFC 9207).
   *
   * @param url As it reached the host.
   * @return A redirect, read without believing it.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun parse(
    url: String,
  ): ParsedRedirect {
    val json = caller.call("redirect.parse", Kind.MEMORY) {
      put("url", JsonPrimitive(url))
    }
    return ParsedRedirect.decode(json)
  }

  /**
   * Which of several configurations a URL belongs to. Looks at no store: an owned URL may still be unsolicited.
   *
   * @param configurations Of all that the app has.
   * @param url As it reached the host.
   * @return Which configuration owns a URL.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun route(
    configurations: List<Configuration>,
    url: String,
  ): RedirectOwner {
    val json = caller.call("redirect.route", Kind.MEMORY) {
      put("configurations", JsonArray(configurations.map { item -> item.encode() }))
      put("url", JsonPrimitive(url))
    }
    return RedirectOwner.decode(json)
  }
}

/** The commands without a client about link. */
public class LinkCommands internal constructor(private val caller: Caller) {
  /**
   * Reads a link by the allow-list of R9, or refuses it; nothing is repaired.
   *
   * @param url As it reached the host.
   * @return A link that is one of the allow-list's.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun parse(
    url: String,
  ): ParsedLink {
    val json = caller.call("link.parse", Kind.MEMORY) {
      put("url", JsonPrimitive(url))
    }
    return ParsedLink.decode(json)
  }
}

/** The commands without a client about expiry. */
public class ExpiryCommands internal constructor(private val caller: Caller) {
  /**
   * In which band of its life a token is: fresh, due or expired.
   *
   * @param expiresAt When the token ends.
   * @param now Now; without it, this device's clock.
   * @param grace Time before its end from which it is due.
   * @param minimumLifetime Time that the token must still live.
   * @param lifetime Its whole life: at most half of it counts as grace period.
   * @return In which band of its life a token is.
   * @throws EnrollException where the command fails; its status says why.
   */
  public suspend fun check(
    expiresAt: Instant,
    now: Instant? = null,
    grace: Duration = 60.seconds,
    minimumLifetime: Duration = Duration.ZERO,
    lifetime: Duration? = null,
  ): TokenAge {
    val json = caller.call("expiry.check", Kind.MEMORY) {
      put("expiresAt", JsonPrimitive(expiresAt.epochSeconds))
      now?.let { put("now", JsonPrimitive(it.epochSeconds)) }
      put("grace", JsonPrimitive(grace.toWholeSeconds()))
      put("minimumLifetime", JsonPrimitive(minimumLifetime.toWholeSeconds()))
      lifetime?.let { put("lifetime", JsonPrimitive(it.toWholeSeconds())) }
    }
    return TokenAge.decode(json)
  }
}

/** Every command about one client, by its two words. */
public abstract class ClientCommands internal constructor(caller: Caller) {
  /** `platform.*`. */
  public val platform: PlatformCommands = PlatformCommands(caller)
  /** `registration.*`. */
  public val registration: RegistrationCommands = RegistrationCommands(caller)
  /** `url.*`. */
  public val url: UrlCommands = UrlCommands(caller)
  /** `token.*`. */
  public val token: TokenCommands = TokenCommands(caller)
  /** `dpop.*`. */
  public val dpop: DpopCommands = DpopCommands(caller)
  /** `identity.*`. */
  public val identity: IdentityCommands = IdentityCommands(caller)
  /** `logout.*`. */
  public val logout: LogoutCommands = LogoutCommands(caller)
  /** `account.*`. */
  public val account: AccountCommands = AccountCommands(caller)
  /** `diagnostics.*`. */
  public val diagnostics: DiagnosticsCommands = DiagnosticsCommands(caller)
  /** `pin.*`. */
  public val pin: PinCommands = PinCommands(caller)
}

/** Every command about no client, by its two words. */
public abstract class ValueCommands internal constructor(caller: Caller) {
  /** `system.*`. */
  public val system: SystemCommands = SystemCommands(caller)
  /** `accounts.*`. */
  public val accounts: AccountsCommands = AccountsCommands(caller)
  /** `installation.*`. */
  public val installation: InstallationCommands = InstallationCommands(caller)
  /** `store.*`. */
  public val store: StoreCommands = StoreCommands(caller)
  /** `pkce.*`. */
  public val pkce: PkceCommands = PkceCommands(caller)
  /** `redirect.*`. */
  public val redirect: RedirectCommands = RedirectCommands(caller)
  /** `link.*`. */
  public val link: LinkCommands = LinkCommands(caller)
  /** `expiry.*`. */
  public val expiry: ExpiryCommands = ExpiryCommands(caller)
}
