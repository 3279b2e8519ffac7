package org.enrollkit

import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.CancellableContinuation

/** A call that C was asked to make, and who waits for it. C answers exactly once, perhaps before it has returned. */
internal class PendingCall(private val continuation: CancellableContinuation<ByteArray>) {
  private var handle = 0L
  private var isFinished = false

  /** @throws EnrollException nothing was started. */
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
      // Nobody waits any more: what may hold a token goes.
      continuation.resume(result) { _, unwanted, _ -> unwanted.fill(0) }
    } else {
      continuation.resumeWithException(
        failure ?: EnrollException(Status.OUT_OF_MEMORY, "there was no memory for the answer"),
      )
    }
  }

  fun cancel() {
    synchronized(this) { if (handle != 0L) Native.pendingCancel(handle) }
  }
}
