package org.enrollkit

import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.awaitCancellation

/** Answers nothing until it is cancelled, and records why it was cancelled. */
internal class HangingTransport : HttpTransport {
  val began = CompletableDeferred<Unit>()
  val ended = CompletableDeferred<CancellationException>()

  override suspend fun send(request: HttpRequest): HttpResponse {
    began.complete(Unit)
    try {
      awaitCancellation()
    } catch (fault: CancellationException) {
      ended.complete(fault)
      throw fault
    }
  }
}
