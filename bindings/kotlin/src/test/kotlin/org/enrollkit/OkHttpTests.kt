package org.enrollkit

import com.sun.net.httpserver.HttpServer
import java.io.IOException
import java.net.InetAddress
import java.net.InetSocketAddress
import java.util.Base64
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.runBlocking
import okhttp3.MediaType
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody
import okio.BufferedSink
import org.enrollkit.okhttp.EnrollInterceptor
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DisplayName
import org.junit.jupiter.api.Test

/** An API that refuses the token it saw first, and takes any other. /never refuses every token. */
class PickyServer : AutoCloseable {
  val tokens = CopyOnWriteArrayList<String>()
  val bodies = CopyOnWriteArrayList<String>()
  val proved = CopyOnWriteArrayList<String>()

  /** Where a path redirects to. */
  val targets = HashMap<String, String>()

  /** So many requests with the first token wait for each other, so that all of them get 401. */
  var crowd: CyclicBarrier? = null

  /** Whether a request without a proof for its URL gets 401. */
  var wantsProofs = false

  private val threads = Executors.newCachedThreadPool()
  private val server = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 128)
  val origin = "http://127.0.0.1:${server.address.port}"

  init {
    server.executor = threads
    server.createContext("/") { exchange ->
      val path = exchange.requestURI.path
      val token = exchange.requestHeaders.getFirst("Authorization").orEmpty().substringAfter(' ')
      val proof = exchange.requestHeaders.getFirst("DPoP")?.let { String(Base64.getUrlDecoder().decode(it.split('.')[1])) }
      bodies += exchange.requestBody.readBytes().decodeToString()
      val isFirst = synchronized(tokens) {
        tokens += token
        token == tokens[0]
      }
      proof?.let { proved += it }
      if (isFirst) crowd?.await(60, TimeUnit.SECONDS)
      targets[path]?.let { exchange.responseHeaders.add("Location", it) }
      val isRefused = if (wantsProofs) proof?.contains("\"htu\":\"$origin$path\"") != true else isFirst || path == "/never"
      exchange.sendResponseHeaders(if (path in targets) 307 else if (isRefused) 401 else 200, -1)
      exchange.close()
    }
    server.start()
  }

  override fun close() {
    server.stop(0)
    threads.shutdownNow()
  }
}

/** The interceptor for OkHttp, against a server of this process. */
class OkHttpTests : Case() {
  private fun sandbox(vararg options: String) = closed(Sandbox(*options))

  private suspend fun client(sandbox: Sandbox) =
    Backend.LIBRARY.enroll().open(sandbox.configuration().copy(dpop = FeaturePolicy.AUTO), store()).signedIn(sandbox)

  private fun http(client: EnrollClient, scope: List<String>? = null) = OkHttpClient.Builder()
    .addInterceptor(EnrollInterceptor(client, scope = scope)).readTimeout(60, TimeUnit.SECONDS).build()

  private fun OkHttpClient.get(url: String) = newCall(Request.Builder().url(url).build()).execute().use { it.code() }

  private fun OkHttpClient.post(url: String, body: RequestBody) =
    newCall(Request.Builder().url(url).post(body).build()).execute().use { it.code() }

  @Test
  @DisplayName("a refused token is renewed once, and the body is sent again")
  fun renews() = runs {
    val (sandbox, picky) = sandbox() to closed(PickyServer())
    val client = client(sandbox)
    val first = client.accessToken().value
    assertEquals(200, http(client).post("${picky.origin}/", RequestBody.create(null, "body")))
    assertEquals(200, http(client).get("${picky.origin}/"))
    assertEquals(listOf(first, client.accessToken().value, client.accessToken().value), picky.tokens)
    assertEquals(listOf("body", "body", ""), picky.bodies)
    assertEquals(1, sandbox.refreshes())
  }

  @Test
  @DisplayName("a second 401 is the caller's, after one renewal")
  fun twice() = runs {
    val (sandbox, picky) = sandbox() to closed(PickyServer())
    assertEquals(401, http(client(sandbox)).get("${picky.origin}/never"))
    assertEquals(2 to 1, picky.tokens.size to sandbox.refreshes())
  }

  @Test
  @DisplayName("a one-shot body is not sent twice")
  fun oneShot() = runs {
    val (sandbox, picky) = sandbox() to closed(PickyServer())
    val body = object : RequestBody() {
      override fun contentType(): MediaType? = null
      override fun writeTo(sink: BufferedSink) {
        sink.writeUtf8("once")
      }

      @Suppress("unused") // OkHttp 3.14 and newer have it.
      fun isOneShot() = true
    }
    assertEquals(401, http(client(sandbox)).post("${picky.origin}/", body))
    assertEquals(listOf("once") to 0, picky.bodies to sandbox.refreshes())
  }

  @Test
  @DisplayName("no token follows a redirect to another origin, or back from it")
  fun redirected() = runs {
    val (sandbox, picky) = sandbox() to closed(PickyServer())
    val elsewhere = closed(PickyServer())
    val client = client(sandbox)
    val token = client.accessToken().value
    picky.targets += mapOf("/go" to "${elsewhere.origin}/on", "/away" to "${elsewhere.origin}/back")
    elsewhere.targets["/back"] = "${picky.origin}/never"
    assertEquals(401, http(client).get("${picky.origin}/go"))
    assertEquals(401, http(client).get("${picky.origin}/away"))
    assertEquals(listOf(token, token, ""), picky.tokens)
    assertEquals(setOf(""), elsewhere.tokens.toSet())
    assertEquals(0, sandbox.refreshes())
  }

  @Test
  @DisplayName("fifty calls at once share one renewal")
  fun crowd() = runs {
    val (sandbox, picky) = sandbox() to closed(PickyServer())
    val http = http(client(sandbox))
    picky.crowd = CyclicBarrier(50)
    val threads = Executors.newFixedThreadPool(50)
    val answers = (1..50).map { threads.submit<Int> { http.get("${picky.origin}/") } }.map { it.get() }
    threads.shutdown()
    assertEquals(List(50) { 200 }, answers)
    assertEquals(100 to 1, picky.tokens.size to sandbox.refreshes())
  }

  @Test
  @DisplayName("no token is sent unencrypted")
  fun unencrypted() = runs {
    val client = client(Sandbox.shared)
    for (url in listOf("http://api.example/", "http://127.0.0.1.example/", "http://localhost.example/")) {
      val fault = assertThrows(IOException::class.java) { http(client).get(url) }
      assertEquals(Status.INVALID_ARGUMENT, (fault.cause as EnrollException).status)
      assertTrue("expected https, or http to a loopback address" in fault.message!!, fault.message)
    }
  }

  @Test
  @DisplayName("proofs carry the nonce that the server requires")
  fun nonce() = runs {
    val sandbox = sandbox("--dpop", "required", "--demand-nonces")
    val http = http(client(sandbox))
    repeat(2) { assertEquals(200, http.get("${sandbox.issuer}/userinfo")) }
    assertEquals(0, sandbox.refreshes())
  }

  @Test
  @DisplayName("a redirected request gets a proof for its new URL")
  fun proofOfRedirect() = runs {
    val (sandbox, picky) = sandbox("--dpop", "required") to closed(PickyServer())
    picky.wantsProofs = true
    picky.targets["/go"] = "/there"
    assertEquals(200, http(client(sandbox)).get("${picky.origin}/go"))
    assertTrue("${picky.origin}/there" in picky.proved.last(), picky.proved.last())
    assertEquals(0, sandbox.refreshes())
  }

  @Test
  @DisplayName("a token for an audience is asked for, and renewed for it")
  fun audience() = runs {
    val (sandbox, picky) = sandbox() to closed(PickyServer())
    val client = client(sandbox)
    val (own, narrow) = client.accessToken().value to client.accessToken(scope = listOf("profile")).value
    assertEquals(200, http(client, listOf("profile")).get("${picky.origin}/"))
    assertEquals(listOf(narrow, client.accessToken(scope = listOf("profile")).value), picky.tokens)
    assertEquals(own, client.accessToken().value)
  }

  @Test
  @DisplayName("without a session the request is not sent")
  fun signedOut() = runs {
    val picky = closed(PickyServer())
    val client = Backend.LIBRARY.enroll().open(Sandbox.shared.configuration(), store())
    val fault = assertThrows(IOException::class.java) { runBlocking { http(client).get("${picky.origin}/") } }
    assertEquals(Status.REAUTHENTICATE, (fault.cause as EnrollException).status)
    assertEquals(emptyList<String>(), picky.tokens)
  }
}
