// Generated from the manifest by bindings/kotlin/generate: do not edit.
@file:Suppress("RedundantVisibilityModifier", "MaxLineLength")

package org.enrollkit

import kotlin.time.Duration
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject

/** Whose fault a failure is. */
public enum class Blame(
  /** The word in JSON. */
  public val wire: String,
) {
  CALLER("caller"),
  HOST("host"),
  USER("user"),
  SERVER("server"),
  NETWORK("network"),
  INTERNAL("internal"),
  ;

  internal companion object {
    fun decode(json: JsonElement): Blame = json.word("Blame", entries) { it.wire }
  }
}

/** Why a command failed: the statuses of every face, stable and never reused. */
public enum class Status(
  /** The word in JSON. */
  public val wire: String,
  /** The number in C: `ENROLL_E_*`. */
  public val code: Int,
  /** Whose fault it is. */
  public val blame: Blame,
  /** Whether the same call may succeed later without anybody changing anything. */
  public val isRetryable: Boolean,
  /** One sentence, for a log. */
  public val summary: String,
) {
  /** An argument is missing, of the wrong type or out of range. */
  INVALID_ARGUMENT(
    "invalidArgument",
    -1,
    Blame.CALLER,
    false,
    "an argument is missing, of the wrong type or out of range",
  ),
  /** The handle is null, stale or already freed. */
  HANDLE(
    "handle",
    -2,
    Blame.CALLER,
    false,
    "the handle is null, stale or already freed",
  ),
  /** A host callback called back into the library. */
  REENTRANT(
    "reentrant",
    -3,
    Blame.CALLER,
    false,
    "a host callback called back into the library",
  ),
  /** The process forked after the client was made; open a new one in the child. */
  FORKED(
    "forked",
    -4,
    Blame.CALLER,
    false,
    "the process forked after the client was made; open a new one in the child",
  ),
  /** The caller's buffer is too small; the needed size was reported. */
  BUFFER_TOO_SMALL(
    "bufferTooSmall",
    -5,
    Blame.CALLER,
    false,
    "the caller's buffer is too small; the needed size was reported",
  ),
  /** The call was cancelled. */
  CANCELLED(
    "cancelled",
    -6,
    Blame.CALLER,
    false,
    "the call was cancelled",
  ),
  /** The caller's deadline passed first. */
  DEADLINE_EXCEEDED(
    "deadlineExceeded",
    -7,
    Blame.CALLER,
    true,
    "the caller's deadline passed first",
  ),
  /** Too much is going on at once; ask again. */
  BUSY(
    "busy",
    -8,
    Blame.CALLER,
    true,
    "too much is going on at once; ask again",
  ),
  /** This build, this machine or this provider cannot do that. */
  UNSUPPORTED(
    "unsupported",
    -9,
    Blame.CALLER,
    false,
    "this build, this machine or this provider cannot do that",
  ),
  /** The registration is in a state in which that is not possible. */
  ILLEGAL_STATE(
    "illegalState",
    -10,
    Blame.CALLER,
    false,
    "the registration is in a state in which that is not possible",
  ),
  /** No such command, account or transaction. */
  NOT_FOUND(
    "notFound",
    -11,
    Blame.CALLER,
    false,
    "no such command, account or transaction",
  ),
  /** Memory could not be had. */
  OUT_OF_MEMORY(
    "outOfMemory",
    -12,
    Blame.INTERNAL,
    true,
    "memory could not be had",
  ),
  /** The configuration is not acceptable; the field is named. */
  CONFIGURATION(
    "configuration",
    -20,
    Blame.HOST,
    false,
    "the configuration is not acceptable; the field is named",
  ),
  /** The URL is not one that a provider may redirect to. */
  REDIRECT_MALFORMED(
    "redirectMalformed",
    -21,
    Blame.NETWORK,
    false,
    "the URL is not one that a provider may redirect to",
  ),
  /** The URL is not the redirect URI of its transaction. */
  REDIRECT_MISMATCH(
    "redirectMismatch",
    -22,
    Blame.NETWORK,
    false,
    "the URL is not the redirect URI of its transaction",
  ),
  /** No pending transaction asked for this URL. */
  UNSOLICITED(
    "unsolicited",
    -23,
    Blame.NETWORK,
    false,
    "no pending transaction asked for this URL",
  ),
  /** The transaction was settled before. */
  ALREADY_SETTLED(
    "alreadySettled",
    -24,
    Blame.NETWORK,
    false,
    "the transaction was settled before",
  ),
  /** The transaction's deadline has passed; begin again. */
  TRANSACTION_EXPIRED(
    "transactionExpired",
    -25,
    Blame.USER,
    false,
    "the transaction's deadline has passed; begin again",
  ),
  /** The other app is not on this device. */
  OTHER_APP_MISSING(
    "otherAppMissing",
    -26,
    Blame.USER,
    false,
    "the other app is not on this device",
  ),
  /**
   * The link of an e-mail led to no sign-in: it was used elsewhere, is too old, or the user stopped; offer to sign in
   * or to send the e-mail again.
   */
  ACTIVATION_FAILED(
    "activationFailed",
    -27,
    Blame.USER,
    false,
    "the link of an e-mail led to no sign-in: it was used elsewhere, is too old, or the user stopped; offer to sign in or to send the e-mail again",
  ),
  /** The server could not be reached. */
  NETWORK(
    "network",
    -30,
    Blame.NETWORK,
    true,
    "the server could not be reached",
  ),
  /** The server's certificate is not acceptable. */
  TLS(
    "tls",
    -31,
    Blame.SERVER,
    false,
    "the server's certificate is not acceptable",
  ),
  /** The server did not answer in time. */
  TIMEOUT(
    "timeout",
    -32,
    Blame.NETWORK,
    true,
    "the server did not answer in time",
  ),
  /** The server is in trouble (5xx or 429). */
  SERVER(
    "server",
    -33,
    Blame.SERVER,
    true,
    "the server is in trouble (5xx or 429)",
  ),
  /** The server's answer is not what the protocol says. */
  RESPONSE_INVALID(
    "responseInvalid",
    -34,
    Blame.SERVER,
    false,
    "the server's answer is not what the protocol says",
  ),
  /** The provider refused; its error code is given. */
  OAUTH(
    "oauth",
    -35,
    Blame.SERVER,
    false,
    "the provider refused; its error code is given",
  ),
  /** Prompt=none, but the user is not signed in at the provider. */
  LOGIN_REQUIRED(
    "loginRequired",
    -36,
    Blame.USER,
    false,
    "prompt=none, but the user is not signed in at the provider",
  ),
  /** Prompt=none, but the provider needs the user. */
  INTERACTION_REQUIRED(
    "interactionRequired",
    -37,
    Blame.USER,
    false,
    "prompt=none, but the provider needs the user",
  ),
  /** Prompt=none, but the user has to consent. */
  CONSENT_REQUIRED(
    "consentRequired",
    -38,
    Blame.USER,
    false,
    "prompt=none, but the user has to consent",
  ),
  /** The user or the provider said no. */
  ACCESS_DENIED(
    "accessDenied",
    -39,
    Blame.USER,
    false,
    "the user or the provider said no",
  ),
  /** The issuer is not the configured one. */
  ISSUER_MISMATCH(
    "issuerMismatch",
    -40,
    Blame.SERVER,
    false,
    "the issuer is not the configured one",
  ),
  /** The one-time code is wrong or too old; ask the user for it again. */
  CODE_REJECTED(
    "codeRejected",
    -41,
    Blame.USER,
    false,
    "the one-time code is wrong or too old; ask the user for it again",
  ),
  /** The issuer's keys could not be had. */
  KEYS_UNAVAILABLE(
    "keysUnavailable",
    -50,
    Blame.SERVER,
    true,
    "the issuer's keys could not be had",
  ),
  /** The id_token breaks a rule; the message names it. */
  ID_TOKEN_INVALID(
    "idTokenInvalid",
    -51,
    Blame.SERVER,
    false,
    "the id_token breaks a rule; the message names it",
  ),
  /** Two sources disagree about who the user is. */
  PROFILE_MISMATCH(
    "profileMismatch",
    -52,
    Blame.SERVER,
    false,
    "two sources disagree about who the user is",
  ),
  /** The e-mail address is not verified; verify it and confirm again. */
  EMAIL_NOT_VERIFIED(
    "emailNotVerified",
    -53,
    Blame.USER,
    true,
    "the e-mail address is not verified; verify it and confirm again",
  ),
  /** The registration check knows no such account; the host can offer to create one. */
  UNKNOWN_ACCOUNT(
    "unknownAccount",
    -54,
    Blame.USER,
    false,
    "the registration check knows no such account; the host can offer to create one",
  ),
  /** The session is over; sign in again. */
  REAUTHENTICATE(
    "reauthenticate",
    -60,
    Blame.USER,
    false,
    "the session is over; sign in again",
  ),
  /** The provider refused to renew, without ending the session. */
  REJECTED(
    "rejected",
    -61,
    Blame.SERVER,
    true,
    "the provider refused to renew, without ending the session",
  ),
  /** The token expired and could not be renewed yet. */
  EXPIRED(
    "expired",
    -62,
    Blame.NETWORK,
    true,
    "the token expired and could not be renewed yet",
  ),
  /** The store's key is not to be had now. */
  STORE_LOCKED(
    "storeLocked",
    -70,
    Blame.HOST,
    true,
    "the store's key is not to be had now",
  ),
  /** The store's file is damaged; it was set aside. */
  STORE_CORRUPT(
    "storeCorrupt",
    -71,
    Blame.HOST,
    false,
    "the store's file is damaged; it was set aside",
  ),
  /** The store's owner, permissions or kind are not acceptable. */
  STORE_REFUSED(
    "storeRefused",
    -72,
    Blame.HOST,
    false,
    "the store's owner, permissions or kind are not acceptable",
  ),
  /** The store could not be read or written. */
  STORE_IO(
    "storeIO",
    -73,
    Blame.HOST,
    true,
    "the store could not be read or written",
  ),
  /** No space is left for the store. */
  STORE_FULL(
    "storeFull",
    -74,
    Blame.HOST,
    true,
    "no space is left for the store",
  ),
  /** The key is not this store's. */
  STORE_KEY(
    "storeKey",
    -75,
    Blame.HOST,
    false,
    "the key is not this store's",
  ),
  /** The store was written by a newer version. */
  STORE_VERSION(
    "storeVersion",
    -76,
    Blame.HOST,
    false,
    "the store was written by a newer version",
  ),
  /** The text is not acceptable JSON. */
  JSON(
    "json",
    -80,
    Blame.CALLER,
    false,
    "the text is not acceptable JSON",
  ),
  /** A defect of this library; please report it. */
  INTERNAL(
    "internal",
    -99,
    Blame.INTERNAL,
    false,
    "a defect of this library; please report it",
  ),
  ;

  internal companion object {
    fun decode(json: JsonElement): Status = json.word("Status", entries) { it.wire }

    fun of(code: Int): Status = entries.firstOrNull { it.code == code } ?: INTERNAL
  }
}

/** Why something failed; no text in it holds a secret. */
public data class EnrollError(
  /** The reason by name. */
  public val status: Status,
  /** The reason as the C status. */
  public val code: Int,
  /** Whose fault it is. */
  public val blame: Blame,
  /** Whether the same call may succeed later. */
  public val retryable: Boolean,
  /** What was expected and what came, for a log; never a secret. */
  public val message: String,
  /** The configuration key or parameter at fault. */
  public val field: String?,
  /** Status of the response that caused it. */
  public val httpStatus: Int?,
  /** The provider's own error code (RFC 6749 §5.2). */
  public val oauthError: String?,
  /** Time that the server asked us to wait. */
  public val retryAfter: Duration?,
) {
  internal companion object {
    fun decode(json: JsonObject): EnrollError = EnrollError(
      status = Status.decode(json.need("status")),
      code = json.need("code").int(),
      blame = Blame.decode(json.need("blame")),
      retryable = json.need("retryable").flag(),
      message = json.need("message").text(),
      field = json.find("field")?.let { it.text() },
      httpStatus = json.find("httpStatus")?.let { it.int() },
      oauthError = json.find("oauthError")?.let { it.text() },
      retryAfter = json.find("retryAfter")?.let { it.duration() },
    )
  }
}
