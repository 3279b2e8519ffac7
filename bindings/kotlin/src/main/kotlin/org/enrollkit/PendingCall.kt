package org.enrollkit

import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.CancellableContinuation

/** A call that C runs, and the coroutine that waits for it. C answers exactly once, perhaps before [start] returns. */
internal class PendingCall(private val continuation: CancellableContinuation<ByteArray>) {
  private var handle = 0L
  private var isFinished = false

  /** @throws EnrollException the call did not start. */
  fun start(client: Long, command: ByteArray, parameters: ByteArray, timeoutMillis: Long) {
    val number = Native.completions.add(this)
    val started = try {
      Native.callStart(client, command, parameters, timeoutMillis, number)
    } catch (fault: Throwable) {
      Native.completions.remove(number)
      throw fault
    }
    val isOver = synchronized(this) {
      if (!isFinished) handle = started
      isFinished
    }
    if (isOver) Native.pendingFree(started)
  }

  fun finished(result: ByteArray?, failure: Throwable?) {
    val started = synchronized(this) {
      isFinished = true
      handle.also { handle = 0 }
    }
    if (started != 0L) Native.pendingFree(started)
    if (result != null) {
      // The caller has stopped waiting: release the answer, which may hold a token.
      continuation.resume(result) { _, unwanted, _ -> unwanted.fill(0) }
    } else {
      continuation.resumeWithException(
        failure ?: EnrollException(Status.OUT_OF_MEMORY, "there is no memory for the result"),
      )
    }
  }

  fun cancel() {
    synchronized(this) { if (handle != 0L) Native.pendingCancel(handle) }
  }
}
