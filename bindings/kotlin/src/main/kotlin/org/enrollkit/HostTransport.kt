package org.enrollkit

import java.io.IOException
import java.net.ConnectException
import java.net.NoRouteToHostException
import java.net.SocketTimeoutException
import java.net.UnknownHostException
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

/** The result of a call to the host's own code. */
internal sealed interface HostAnswer<out T> {
  class Given<T>(val value: T) : HostAnswer<T>

  /**
   * The host's code failed; the reason is in the log.
   *
   * @property isUnsent whether nothing of the request left this machine
   */
  class Refused(val status: Status, val isUnsent: Boolean = false) : HostAnswer<Nothing>
}

/** A host's transport, as a core calls it: its exceptions become statuses, and its responses are checked. */
internal class HostTransport(private val transport: HttpTransport, private val log: EnrollLog?) {
  /** Sends a request for a daemon. Called in a coroutine that is cancelled when the daemon no longer waits. */
  suspend fun send(request: HttpRequest): HostAnswer<HttpResponse> = answering(request) {
    withTimeout(request.timeoutMillis.milliseconds) { transport.send(request) }
  }

  /** Sends a request for C. Called on a thread of the library, which waits. Returns the status. */
  fun send(request: HttpRequest, response: Long): Int {
    val answer = answering(request) {
      // The host's code runs on the JVM's own threads, because the library's threads have small stacks.
      runBlocking(InsideTransport) {
        withTimeout(request.timeoutMillis.milliseconds) {
          val sending = async(Dispatchers.IO) { transport.send(request) }
          val watching = launch { if (isGivenUp(response)) sending.cancel() }
          sending.await().also { watching.cancel() }
        }
      }
    }
    return when (answer) {
      is HostAnswer.Given -> fill(answer.value, response)
      is HostAnswer.Refused -> {
        if (answer.isUnsent) Native.responseSetUnsent(response)
        answer.status.code
      }
    }
  }

  private inline fun answering(request: HttpRequest, send: () -> HttpResponse): HostAnswer<HttpResponse> = try {
    val response = send()
    val flaw = response.flaw(request.responseLimit)
    if (flaw != null) throw EnrollException(Status.RESPONSE_INVALID, flaw)
    HostAnswer.Given(response)
  } catch (fault: Throwable) {
    val status = statusOf(fault)
    if (status != Status.CANCELLED) {
      val what = "${request.method} ${hiddenUrl(request.url)}"
      log.tell("the host's transport failed with ${status.wire} for $what: $fault", fault)
    }
    HostAnswer.Refused(status, isUnsent(fault))
  }

  /** Asks C from time to time whether the request was given up, because C has no callback for that. */
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
    return if (status == 0) 0 else Status.RESPONSE_INVALID.code
  }

  private companion object {
    val WATCH = 50.milliseconds
    val OWN = setOf(Status.NETWORK, Status.TLS, Status.TIMEOUT, Status.RESPONSE_INVALID, Status.CANCELLED)

    fun statusOf(fault: Throwable): Status = when (fault) {
      is TimeoutCancellationException, is SocketTimeoutException -> Status.TIMEOUT
      is CancellationException -> Status.CANCELLED
      is SSLException -> Status.TLS
      is RequestNotSentException -> statusOf(fault.cause)
      is IOException -> Status.NETWORK
      is EnrollException -> fault.status.takeIf { it in OWN } ?: Status.INTERNAL
      else -> Status.INTERNAL
    }

    fun isUnsent(fault: Throwable): Boolean =
      fault is RequestNotSentException || fault is UnknownHostException || fault is ConnectException || fault is NoRouteToHostException
  }
}

private const val MOST_HEADERS = 256
private const val LONGEST_HEADER = 16 shl 10

/** The reason for which a core refuses the response; null if the core accepts it. The text quotes nothing
 *  of the response. */
private fun HttpResponse.flaw(responseLimit: Int): String? {
  fun isText(text: String) = Charsets.UTF_8.newEncoder().canEncode(text) && text.toByteArray().size <= LONGEST_HEADER
  fun isLine(text: String) = text.none { it in "\u0000\r\n" } && isText(text)
  return when {
    status !in 100..599 -> "expected a status of 100 to 599, got $status"
    headers.size > MOST_HEADERS -> "expected at most $MOST_HEADERS headers, got ${headers.size}"
    headers.any { (name, _) -> name.isEmpty() || !isLine(name) } ->
      "expected header names of one line and 1 to $LONGEST_HEADER bytes, got another text"
    headers.any { (_, value) -> !isLine(value) } ->
      "expected header values of one line and at most $LONGEST_HEADER bytes, got another text"
    body.size > responseLimit -> "expected a body of at most $responseLimit bytes, got ${body.size}"
    else -> null
  }
}
