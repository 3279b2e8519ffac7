package org.enrollkit

import java.io.ByteArrayOutputStream
import java.io.IOException
import java.io.InputStream
import java.net.HttpURLConnection
import java.net.URI
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext

/**
 * HTTP through [HttpURLConnection], with the system's proxies and certificate authorities: for Android, which has no
 * libcurl. It ignores the configuration's `caFile`. On a desktop's JVM the body of a 401 is empty, because
 * [HttpURLConnection] drops it there.
 */
public class UrlConnectionTransport : HttpTransport {
  override suspend fun send(request: HttpRequest): HttpResponse = coroutineScope {
    val connection = URI(request.url).toURL().openConnection() as HttpURLConnection
    // A read cannot be interrupted; closing the connection ends it.
    val watch = launch(start = CoroutineStart.UNDISPATCHED) {
      try {
        awaitCancellation()
      } finally {
        connection.disconnect()
      }
    }
    try {
      withContext(Dispatchers.IO) { exchange(connection, request) }
    } finally {
      watch.cancel()
    }
  }

  private fun exchange(connection: HttpURLConnection, request: HttpRequest): HttpResponse {
    connection.requestMethod = request.method
    connection.instanceFollowRedirects = false
    connection.useCaches = false
    connection.connectTimeout = minOf(CONNECT_MILLIS, request.timeoutMillis)
    connection.readTimeout = request.timeoutMillis
    // The response must not be compressed, because the limit applies to the uncompressed body.
    connection.setRequestProperty("Accept-Encoding", "identity")
    // A connection that was used before may be dead, and HttpURLConnection would repeat a request on it. So each
    // connection is used once.
    connection.setRequestProperty("Connection", "close")
    for ((name, value) in request.headers) connection.addRequestProperty(name, value)
    val sends = request.method == "POST"
    if (sends) {
      connection.doOutput = true
      // The body is streamed, because HttpURLConnection does not repeat a request with a streamed body either.
      connection.setFixedLengthStreamingMode(request.body.size)
    }
    try {
      connection.connect()
    } catch (fault: IOException) {
      throw RequestNotSentException(fault)
    }
    if (sends) connection.outputStream.use { it.write(request.body) }
    val status = connection.responseCode
    if (status < 0) throw EnrollException(Status.RESPONSE_INVALID, "expected an HTTP response, got other bytes")
    val headers = buildList {
      connection.headerFields.forEach { (name, values) -> if (name != null) values.forEach { add(name to it) } }
    }
    val body = (if (status >= 400) connection.errorStream else connection.inputStream)
      ?.use { read(it, request.responseLimit) } ?: ByteArray(0)
    return HttpResponse(status, headers, body)
  }

  private fun read(stream: InputStream, limit: Int): ByteArray {
    val body = ByteArrayOutputStream()
    val chunk = ByteArray(CHUNK)
    while (true) {
      val count = stream.read(chunk)
      if (count < 0) return body.toByteArray()
      if (body.size() + count > limit) {
        throw EnrollException(Status.RESPONSE_INVALID, "expected a body of at most $limit bytes, got more")
      }
      body.write(chunk, 0, count)
    }
  }

  private companion object {
    const val CONNECT_MILLIS = 10_000
    const val CHUNK = 16 * 1024
  }
}
