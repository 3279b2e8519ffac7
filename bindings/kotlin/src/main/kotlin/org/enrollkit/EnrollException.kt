package org.enrollkit

import kotlin.time.Duration

/**
 * A command failed. Decide by the [status] what your app does next. The message says what happened and what was
 * expected, for a log; it contains no secret.
 */
public open class EnrollException(
  /** All that is known about the failure. */
  public val error: EnrollError,
  cause: Throwable? = null,
) : Exception("${error.status.wire}: ${error.message}", cause) {
  /** Makes an exception for a host's own transport or secret store to throw: why it failed, and the field at fault. */
  public constructor(
    status: Status,
    message: String,
    field: String? = null,
    cause: Throwable? = null,
  ) : this(localError(status, message, field), cause)

  /** Why the command failed. */
  public val status: Status get() = error.status

  /** Who can correct the cause of the error. */
  public val blame: Blame get() = error.blame

  /** Whether the same call may succeed later without any change. */
  public val isRetryable: Boolean get() = error.retryable

  /** The status of the HTTP response that caused the failure. */
  public val httpStatus: Int? get() = error.httpStatus

  /** The provider's own error code (RFC 6749 §5.2). */
  public val oauthError: String? get() = error.oauthError

  /** The provider's own words about its error, for a log; null if there are none, or if they may repeat a secret. */
  public val oauthErrorDescription: String? get() = error.oauthErrorDescription

  /** The configuration key or parameter at fault. */
  public val field: String? get() = error.field

  /** How long the server asked the client to wait. */
  public val retryAfter: Duration? get() = error.retryAfter
}

/**
 * The daemon's process has ended, or it does not speak JSON-RPC: every call fails with this exception. It is unknown
 * whether a command in progress was carried out; the data that it saved is in the store. Open a new [Enroll] with the
 * same store.
 */
public class DaemonEndedException internal constructor(
  message: String,
  /** The exit code of the process; null if it is not known. */
  public val exitCode: Int?,
) : EnrollException(
  EnrollError(Status.HANDLE, Status.HANDLE.code, Blame.HOST, retryable = false, message, null, null, null, null, null),
)

internal fun localError(status: Status, message: String, field: String? = null): EnrollError = EnrollError(
  status = status,
  code = status.code,
  blame = status.blame,
  retryable = status.isRetryable,
  message = message,
  field = field,
  httpStatus = null,
  oauthError = null,
  oauthErrorDescription = null,
  retryAfter = null,
)
