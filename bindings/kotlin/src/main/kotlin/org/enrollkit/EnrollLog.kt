package org.enrollkit

/**
 * What happens where no caller hears of it: the daemon's log, and what a host's own transport or secret store threw.
 * Called by several threads at once. No text from the core holds a secret; what a host's exception says is the host's.
 */
public fun interface EnrollLog {
  /** Writes one line. */
  public fun write(message: String, cause: Throwable?)
}

/** A log that fails must not take along who writes to it. */
internal fun EnrollLog?.tell(message: String, cause: Throwable? = null) {
  try {
    this?.write(message, cause)
  } catch (_: Exception) {
  }
}
