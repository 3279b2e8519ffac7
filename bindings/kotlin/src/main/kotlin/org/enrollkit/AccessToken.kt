package org.enrollkit

import kotlin.time.Instant

/** An access token that works. [toString] does not show it. */
public class AccessToken internal constructor(
  /** For the `Authorization` header or a form body, nowhere else (RFC 9700 §4.3.2). */
  public val value: String,
  /** As the server spelt it: `Bearer`, `DPoP`. A DPoP token goes beside a proof of [DpopCommands.proof]. */
  public val type: String,
  /** When it ends, by this device's clock; null for a stand-in token, which has no end. */
  public val expiresAt: Instant?,
  /** It was due and could not be renewed: it still works, the provider is down. */
  public val isStale: Boolean,
) {
  /** The value of the header `Authorization`. */
  public val authorization: String get() = "$type $value"

  override fun toString(): String = "AccessToken(type=$type, expiresAt=$expiresAt, isStale=$isStale)"
}

/** @throws EnrollException where there is no token to use. */
internal fun AccessOutcome.usable(): AccessToken = when (this) {
  is AccessOutcome.Valid -> AccessToken(accessToken, tokenType, expiresAt, isStale = false)
  is AccessOutcome.Stale -> AccessToken(accessToken, tokenType, expiresAt, isStale = true)
  is AccessOutcome.Expired -> throw noToken(Status.EXPIRED, "the token expired; renewing it failed: ${error.message}", this.error, retryAfter)
  is AccessOutcome.Rejected -> throw noToken(Status.REJECTED, "the provider refused to renew: ${error.message}", error, null)
  is AccessOutcome.Reauthenticate -> throw EnrollException(Status.REAUTHENTICATE, reason)
  AccessOutcome.StoreLocked -> throw EnrollException(Status.STORE_LOCKED, "the store's key is not to be had now")
  AccessOutcome.Busy -> throw EnrollException(Status.BUSY, "a renewal is under way, and the time to wait for it has passed")
}

private fun noToken(status: Status, message: String, error: EnrollError, retryAfter: kotlin.time.Duration?) =
  EnrollException(
    localError(status, message).copy(
      httpStatus = error.httpStatus,
      oauthError = error.oauthError,
      retryAfter = retryAfter ?: error.retryAfter,
    ),
  )
