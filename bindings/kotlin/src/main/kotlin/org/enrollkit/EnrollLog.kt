package org.enrollkit

/**
 * Receives the daemon's log, the exceptions of a host's own transport or secret store, and a hint if a sign-in takes
 * long. Several threads call it at once. No text from the core contains a secret; the host is responsible for the
 * texts of its own exceptions.
 */
public fun interface EnrollLog {
  /** Writes one line. */
  public fun write(message: String, cause: Throwable?)
}

/** Writes a line; a log that throws does not harm its caller. */
internal fun EnrollLog?.tell(message: String, cause: Throwable? = null) {
  try {
    this?.write(message, cause)
  } catch (_: Exception) {
  }
}
