package org.enrollkit

import com.sun.net.httpserver.HttpServer
import java.io.IOException
import java.io.InterruptedIOException
import java.net.InetAddress
import java.net.InetSocketAddress
import java.net.Proxy
import java.net.ServerSocket
import java.util.Base64
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.ExecutionException
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.jsonObject
import okhttp3.Dns
import okhttp3.MediaType
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody
import okio.BufferedSink
import org.enrollkit.okhttp.authorized
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DisplayName
import org.junit.jupiter.api.Test

/** An API that refuses the first token that it gets, and accepts any other token. At the path /never it
 *  refuses every token. */
class PickyServer : AutoCloseable {
  val tokens = CopyOnWriteArrayList<String>()
  val bodies = CopyOnWriteArrayList<String>()
  val proved = CopyOnWriteArrayList<String>()

  /** The target of the redirect at each path. */
  val targets = HashMap<String, String>()

  /** A barrier at which requests with the first token wait for each other, so that all of them get 401. */
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

/** Records the head of each request as it was received, and sends the answer for its path, or 200 if the path has
 * none. It keeps no connection open. */
class RawServer : AutoCloseable {
  val heads = CopyOnWriteArrayList<String>()
  val answers = HashMap<String, String>()
  private val socket = ServerSocket(0, 50, InetAddress.getLoopbackAddress())
  val port: Int get() = socket.localPort
  val origin = "http://127.0.0.1:$port"

  init {
    thread(isDaemon = true) {
      while (!socket.isClosed) {
        val one = try {
          socket.accept()
        } catch (_: IOException) {
          break
        }
        one.use {
          val lines = it.getInputStream().bufferedReader(Charsets.ISO_8859_1).lineSequence().takeWhile(String::isNotEmpty).toList()
          if (lines.isEmpty()) return@use
          heads += lines.joinToString("\n")
          val answer = answers[target(lines[0])] ?: "200 Fine"
          it.getOutputStream().write("HTTP/1.1 $answer\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".toByteArray())
        }
      }
    }
  }

  fun target(head: String): String = head.substringAfter(' ').substringBefore(' ')

  fun header(head: String, name: String): String? =
    head.lines().find { it.startsWith("$name: ", ignoreCase = true) }?.substringAfter(": ")

  override fun close() = socket.close()
}

/** OkHttp with a token, against servers of this process. */
class OkHttpTests : Case() {
  private fun sandbox(vararg options: String) = closed(Sandbox(*options))

  private suspend fun client(sandbox: Sandbox) =
    Backend.LIBRARY.enroll().open(sandbox.configuration().copy(dpop = FeaturePolicy.AUTO), store()).signedIn(sandbox)

  private fun http(client: EnrollClient, scope: List<String>? = null) = OkHttpClient.Builder()
    .authorized(client, scope = scope).readTimeout(60, TimeUnit.SECONDS).build()

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
    assertEquals(2, picky.tokens.size)
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

  /** A claim of a proof. */
  private fun claim(proof: String, name: String): String =
    Json.parseToJsonElement(String(Base64.getUrlDecoder().decode(proof.split('.')[1]))).jsonObject.need(name).text()

  @Test
  @DisplayName("no proof follows a redirect to another origin, however it is written")
  fun proofStays() = runs {
    val (sandbox, api) = sandbox("--dpop", "required") to closed(RawServer())
    val elsewhere = closed(RawServer())
    val http = http(client(sandbox))
    val port = elsewhere.port
    val addresses = listOf(
      "http://127.0.0.1:$port/", "//127.0.0.1:$port", "\\\\127.0.0.1:$port/", "HTTP://LOCALHOST:$port/", "http://a:b@127.0.0.1:$port/",
      "http:\\\\localhost:$port/", "http://${api.origin.substring(7)}\\@localhost:$port/", "http://${api.origin.substring(7)}@localhost:$port/",
    )
    addresses.forEachIndexed { index, address -> api.answers["/$index"] = "302 Found\r\nLocation: $address" }
    for (index in addresses.indices) {
      try {
        http.get("${api.origin}/$index")
      } catch (_: IOException) {
        // OkHttp does not accept this text as an address.
      }
    }
    assertTrue(elsewhere.heads.size >= addresses.size - 2, "${elsewhere.heads.size}")
    for (head in elsewhere.heads) assertEquals(null to null, elsewhere.header(head, "Authorization") to elsewhere.header(head, "DPoP"))
    for (head in api.heads) assertTrue(api.header(head, "DPoP") != null)
  }

  @Test
  @DisplayName("a proof is for the URL that is sent, without query and fragment")
  fun proofOfTarget() = runs {
    val (sandbox, api) = sandbox("--dpop", "required") to closed(RawServer())
    api.answers["/go"] = "302 Found\r\nLocation: /there?q=50%#part"
    val http = http(client(sandbox))
    val urls = listOf("/a%2Fb", "//x//y", "/a/../b", "/a/%2E%2e/b", "/\u00e9 b", "/a\\b", "/x?q=100%&r[]={}|", "/x?q=${"y".repeat(9000)}", "/go")
    for (url in urls) {
      assertEquals(200, http.get(api.origin + url), url)
      val head = api.heads.last()
      assertEquals(api.origin + api.target(head).substringBefore('?'), claim(api.header(head, "DPoP")!!, "htu"))
    }
    assertEquals(200, http.get("http://user:password@127.0.0.1:${api.port}/own"))
    assertEquals("${api.origin}/own", claim(api.header(api.heads.last(), "DPoP")!!, "htu"))
    assertEquals(urls.size + 2, api.heads.map { claim(api.header(it, "DPoP")!!, "jti") }.toSet().size)
  }

  @Test
  @DisplayName("a nonce that is none is not the caller's mistake")
  fun oddNonce() = runs {
    val (sandbox, api) = sandbox("--dpop", "required") to closed(RawServer())
    api.answers["/"] = "401 No\r\nWWW-Authenticate: DPoP error=\"use_dpop_nonce\"\r\nDPoP-Nonce: a\"b"
    assertEquals(401, http(client(sandbox)).get(api.origin))
  }

  @Test
  @DisplayName("an API that refuses every token causes one renewal")
  fun alwaysRefused() = runs {
    val (sandbox, api) = sandbox() to closed(RawServer())
    api.answers["/"] = "401 No"
    val http = http(client(sandbox))
    repeat(5) { assertEquals(401, http.get(api.origin)) }
    assertEquals(1, sandbox.refreshes())
  }

  @Test
  @DisplayName("callTimeout ends a call that waits for a token")
  fun callTimeout() = runs {
    val (sandbox, api) = sandbox() to closed(RawServer())
    val client = client(sandbox)
    val first = client.accessToken().value
    val http = http(client).newBuilder().callTimeout(5, TimeUnit.SECONDS).build()
    api.answers["/"] = "401 No"
    sandbox.control("fault", "fault" to "delay", "value" to 25_000, "endpoint" to "token")
    val fault = assertThrows(InterruptedIOException::class.java) { http.get(api.origin) }
    assertEquals("timeout", fault.message)
    assertEquals(1 to first, api.heads.size to client.accessToken().value)
    // This ends the renewal that was sent, and therefore also `close`, which waits for the renewal.
    sandbox.close()
  }

  @Test
  @DisplayName("a thread that is interrupted while it waits for a token leaves no connection open")
  fun interrupted() = runs {
    val (sandbox, picky) = sandbox() to closed(PickyServer())
    val http = http(client(sandbox))
    sandbox.control("fault", "fault" to "delay", "value" to 40_000, "endpoint" to "token")
    val asked = sandbox.control("counts").need("counts").jsonObject.need("token").int()
    val end = CompletableFuture<Int>()
    val caller = thread {
      try {
        end.complete(http.get("${picky.origin}/"))
      } catch (fault: Throwable) {
        end.completeExceptionally(fault)
      }
    }
    waitUntil("the renewal began") { sandbox.control("counts").need("counts").jsonObject.need("token").int() > asked }
    caller.interrupt()
    val fault = assertThrows(ExecutionException::class.java) { end.get(30, TimeUnit.SECONDS) }
    assertEquals(InterruptedIOException::class.java, fault.cause!!.javaClass)
    assertEquals(http.connectionPool().connectionCount(), http.connectionPool().idleConnectionCount())
    sandbox.close()
  }

  @Test
  @DisplayName("a proxy gets no token for a loopback address, and neither does a name of another machine")
  fun strangers() = runs {
    val (client, proxy) = client(Sandbox.shared) to closed(RawServer())
    val address = Proxy(Proxy.Type.HTTP, InetSocketAddress("127.0.0.1", proxy.port))
    val behind = http(client).newBuilder().proxy(address).build()
    val fault = assertThrows(IOException::class.java) { behind.get("http://127.0.0.1:9/?hidden") }
    assertEquals(Status.INVALID_ARGUMENT, (fault.cause as EnrollException).status)
    assertTrue("http.nonProxyHosts" in fault.message!! && "hidden" !in fault.message!!, fault.message)
    // Linux treats this address as this machine, so the connection succeeds.
    val nowhere = Dns { listOf(InetAddress.getByAddress("localhost", ByteArray(4))) }
    val elsewhere = http(client).newBuilder().dns(nowhere).build()
    val other = assertThrows(IOException::class.java) { elsewhere.get("http://localhost:${proxy.port}/") }
    assertTrue("the name of another machine" in other.message!!, other.message)
    assertEquals(emptyList<String>(), proxy.heads)
  }

  @Test
  @DisplayName("a closed client sends nothing")
  fun closedClient() = runs {
    val (client, api) = client(Sandbox.shared) to closed(RawServer())
    val http = http(client)
    assertEquals(200, http.get(api.origin))
    client.close()
    val fault = assertThrows(IOException::class.java) { http.get(api.origin) }
    assertEquals(Status.HANDLE, (fault.cause as EnrollException).status)
    assertEquals(1, api.heads.size)
  }
}
