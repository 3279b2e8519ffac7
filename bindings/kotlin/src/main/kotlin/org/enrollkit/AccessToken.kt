package org.enrollkit

import kotlin.time.Instant

/** A valid access token. [toString] does not show it. */
public class AccessToken internal constructor(
  /** The token itself: for the `Authorization` header or a form body, and nowhere else (RFC 9700 §4.3.2). */
  public val value: String,
  /** The type as the server spells it: `Bearer`, `DPoP`. Send a DPoP token together with a proof from
   *  [DpopCommands.proof]. */
  public val type: String,
  /** When the token expires, by this device's clock; null for a stand-in token, which does not expire. */
  public val expiresAt: Instant?,
  /** Whether the token was due and could not be renewed. It still works until it expires. */
  public val isStale: Boolean,
  /** The granted scopes, separated by spaces; there may be fewer than were requested. Null for a stand-in token. */
  public val scope: String? = null,
) {
  /** The value of the header `Authorization`. */
  public val authorization: String get() = "$type $value"

  override fun toString(): String = "AccessToken(type=$type, expiresAt=$expiresAt, isStale=$isStale)"
}

/** @throws EnrollException if the outcome has no valid token. */
internal fun AccessOutcome.usable(): AccessToken = when (this) {
  is AccessOutcome.Valid -> AccessToken(accessToken, tokenType, expiresAt, isStale = false, scope = scope)
  is AccessOutcome.Stale -> AccessToken(accessToken, tokenType, expiresAt, isStale = true, scope = scope)
  is AccessOutcome.Expired -> throw noToken(Status.EXPIRED, "the token expired, and renewing it failed: ${error.message}", this.error, retryAfter)
  is AccessOutcome.Rejected -> throw noToken(Status.REJECTED, "the provider refused to renew: ${error.message}", error, null)
  is AccessOutcome.Reauthenticate -> throw ended(reason, oauthErrorDescription)
  AccessOutcome.StoreLocked -> throw EnrollException(Status.STORE_LOCKED, "the store is locked: its key is unavailable")
  AccessOutcome.Busy -> throw EnrollException(Status.BUSY, "a renewal is in progress and did not end before the timeout")
}

/** [reason] is a sentence, or the provider's error code, which has no space (RFC 6749 §11.4). */
private fun ended(reason: String, description: String?): EnrollException {
  val words = if (description == null) "" else ": $description"
  return EnrollException(
    localError(Status.REAUTHENTICATE, "sign in again: $reason$words").copy(
      oauthError = reason.takeIf { ' ' !in it },
      oauthErrorDescription = description,
    ),
  )
}

private fun noToken(status: Status, message: String, error: EnrollError, retryAfter: kotlin.time.Duration?) =
  EnrollException(
    localError(status, message).copy(
      httpStatus = error.httpStatus,
      oauthError = error.oauthError,
      oauthErrorDescription = error.oauthErrorDescription,
      retryAfter = retryAfter ?: error.retryAfter,
    ),
  )
