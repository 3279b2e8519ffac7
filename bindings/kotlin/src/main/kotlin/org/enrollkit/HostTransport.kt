package org.enrollkit

import java.io.IOException
import java.net.SocketTimeoutException
import java.util.concurrent.CancellationException
import javax.net.ssl.SSLException
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.async
import kotlinx.coroutines.delay
import kotlinx.coroutines.isActive
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout

/** A host's transport as C calls it: on a thread of the library's, which waits. */
internal class HostTransport(private val transport: HttpTransport, private val log: EnrollLog?) {
  /** The status for C. */
  fun send(request: HttpRequest, response: Long): Int {
    val answer = try {
      // The host's code runs on threads of the JVM's own: the library's have small stacks.
      runBlocking(InsideTransport) {
        withTimeout(request.timeoutMillis.milliseconds) {
          val sending = async(Dispatchers.IO) { transport.send(request) }
          val watching = launch { if (isGivenUp(response)) sending.cancel() }
          sending.await().also { watching.cancel() }
        }
      }
    } catch (fault: Throwable) {
      val status = statusOf(fault)
      if (status != Status.CANCELLED) {
        log.tell("the host's transport failed with ${status.wire} for ${request.method} ${hiddenUrl(request.url)}: $fault", fault)
      }
      return status.code
    }
    return fill(answer, response)
  }

  /** Looks from time to time, since C has no way to call that out. */
  private suspend fun CoroutineScope.isGivenUp(response: Long): Boolean {
    while (isActive) {
      if (Native.responseIsCancelled(response)) return true
      delay(WATCH)
    }
    return false
  }

  private fun fill(answer: HttpResponse, response: Long): Int {
    var status = Native.responseSetStatus(response, answer.status)
    for ((name, value) in answer.headers) {
      if (status != 0) break
      status = Native.responseAddHeader(response, name.toByteArray(), value.toByteArray())
    }
    if (status == 0) status = Native.responseAddBody(response, answer.body)
    if (status != 0) {
      log.tell("the response of the host's transport is not acceptable: ${Status.of(status).summary}")
      return Status.RESPONSE_INVALID.code
    }
    return 0
  }

  private companion object {
    val WATCH = 50.milliseconds
    val OWN = setOf(Status.NETWORK, Status.TLS, Status.TIMEOUT, Status.RESPONSE_INVALID, Status.CANCELLED)

    fun statusOf(fault: Throwable): Status = when (fault) {
      is TimeoutCancellationException, is SocketTimeoutException -> Status.TIMEOUT
      is CancellationException -> Status.CANCELLED
      is SSLException -> Status.TLS
      is IOException -> Status.NETWORK
      is EnrollException -> fault.status.takeIf { it in OWN } ?: Status.INTERNAL
      else -> Status.INTERNAL
    }
  }
}
