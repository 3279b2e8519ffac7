package org.enrollkit

/**
 * HTTP as the host does it. Follows no redirect, repeats nothing, checks certificates.
 *
 * Called from several coroutines at once, on threads of [kotlinx.coroutines.Dispatchers.IO]; cancelled when nobody
 * waits for the answer any more. It runs inside a call: using a client from it is [Status.REENTRANT].
 *
 * An [javax.net.ssl.SSLException] counts as [Status.TLS], time-outs as [Status.TIMEOUT], other
 * [java.io.IOException]s as [Status.NETWORK]; an [EnrollException] as its status where that is one of these or
 * [Status.RESPONSE_INVALID]. Anything else is [Status.INTERNAL]. All of them are told to the log.
 */
public fun interface HttpTransport {
  /** Sends one request, and gives the whole response, whatever its status. */
  public suspend fun send(request: HttpRequest): HttpResponse
}

/** What is to be sent. [toString] shows neither parameters nor body. */
public class HttpRequest internal constructor(
  /** `GET`, `POST` or `DELETE`. */
  public val method: String,
  /** Absolute. */
  public val url: String,
  /** Names and values, in their order. */
  public val headers: List<Pair<String, String>>,
  /** Empty for none. */
  public val body: ByteArray,
  /** Refuse more bytes of body than this while they arrive, with [Status.RESPONSE_INVALID]. */
  public val responseLimit: Int,
  /** On a connection that was never used before, and never repeated by itself. */
  public val needsFreshConnection: Boolean,
  /** How long the whole exchange may take, in milliseconds. */
  public val timeoutMillis: Int,
) {
  override fun toString(): String = "HttpRequest($method ${hiddenUrl(url)})"
}

/**
 * A whole response. [toString] shows its status alone.
 *
 * One with another status, a body over [HttpRequest.responseLimit], more than 256 headers, or a header that is no line
 * of Unicode text or longer than 16 KiB is [Status.RESPONSE_INVALID], and told to the log; so are, with
 * [Enroll.daemon], headers and body of more than 1 MiB together, the body in Base64.
 */
public class HttpResponse(
  /** 100 to 599. */
  public val status: Int,
  /** Names and values. A name may come several times: of most the first counts. */
  public val headers: List<Pair<String, String>>,
  /** Not compressed. */
  public val body: ByteArray,
) {
  override fun toString(): String = "HttpResponse($status, ${body.size} bytes)"
}
