package org.enrollkit

import java.io.IOException

/**
 * Your app's own HTTP transport. It must follow no redirects, never resend a request, and check certificates.
 *
 * Several coroutines call it at once, on threads of [kotlinx.coroutines.Dispatchers.IO]; a call is cancelled when the
 * response is no longer needed. The transport runs inside a call of a client: if it uses a client itself, that use
 * fails with [Status.REENTRANT].
 *
 * A [javax.net.ssl.SSLException] becomes [Status.TLS], a timeout becomes [Status.TIMEOUT], any other
 * [java.io.IOException] becomes [Status.NETWORK]; an [EnrollException] keeps its status if that status is one of these
 * three or [Status.RESPONSE_INVALID]. Any other exception becomes [Status.INTERNAL]. All of them are logged.
 *
 * If nothing of the request that sends a sign-in's code left the machine, the sign-in keeps waiting and does not end.
 * The exceptions that report this case are [java.net.UnknownHostException], [java.net.ConnectException],
 * [java.net.NoRouteToHostException] and [RequestNotSentException].
 */
public fun interface HttpTransport {
  /** Sends one request and returns the whole response, whatever its status. */
  public suspend fun send(request: HttpRequest): HttpResponse
}

/**
 * Thrown by an [HttpTransport]: nothing of the request left this machine, for example because there is no network. The
 * [cause] determines the status.
 */
public class RequestNotSentException(override val cause: IOException) : IOException(cause.message, cause)

/** A request to send. [toString] shows neither parameters nor body. */
public class HttpRequest internal constructor(
  /** `GET`, `POST` or `DELETE`. */
  public val method: String,
  /** An absolute URL. */
  public val url: String,
  /** The headers: names and values, in their order. */
  public val headers: List<Pair<String, String>>,
  /** The body; empty if there is none. */
  public val body: ByteArray,
  /** The limit of the response's body in bytes: stop reading and fail with [Status.RESPONSE_INVALID] if it is longer. */
  public val responseLimit: Int,
  /** Send the request on a new connection, and never repeat it automatically. */
  public val needsFreshConnection: Boolean,
  /** How long the whole exchange may take, in milliseconds. */
  public val timeoutMillis: Int,
) {
  override fun toString(): String = "HttpRequest($method ${hiddenUrl(url)})"
}

/**
 * A whole response. [toString] shows only its status.
 *
 * An invalid response fails with [Status.RESPONSE_INVALID] and is logged: a status that is not 100 to 599, a body
 * over [HttpRequest.responseLimit], more than 256 headers, or a header that is not a line of Unicode text or is over
 * 16 KiB. With [Enroll.daemon], headers and body (in Base64) of more than 1 MiB together fail in the same way.
 */
public class HttpResponse(
  /** 100 to 599. */
  public val status: Int,
  /** The headers: names and values. A name may occur several times; for most names only the first value counts. */
  public val headers: List<Pair<String, String>>,
  /** Not compressed. */
  public val body: ByteArray,
) {
  override fun toString(): String = "HttpResponse($status, ${body.size} bytes)"
}
