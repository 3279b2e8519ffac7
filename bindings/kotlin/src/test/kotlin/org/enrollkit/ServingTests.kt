package org.enrollkit

import java.io.File
import java.io.IOException
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.async
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.serialization.json.JsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DisplayName
import org.junit.jupiter.api.Test

/** Tests of a daemon that sends requests to its host. A library sends none. */
class ServingTests : Case() {
  /** A daemon that writes the given lines one by one, and then only reads. A step "?" makes it wait for a message from
   *  its host. */
  private inner class Scripted(vararg steps: String) {
    private val heard = File(store().path)
    val enroll: Enroll

    init {
      val script = steps.joinToString("\n") { step ->
        if (step == "?") "IFS= read -r line; printf '%s\\n' \"\$line\" >>'$heard'" else "printf '%s\\n' '$step'"
      }
      val program = File(store().path).apply { writeText("#!/bin/sh\n$script\nexec cat 3>&1 >>'$heard'\n") }
      program.setExecutable(true)
      enroll = closed(Enroll.daemon(program.path, log = log))
    }

    suspend fun open(keys: Keys? = null, transport: HttpTransport? = null): EnrollClient =
      enroll.open(Sandbox.shared.configuration(), store(), ClientOptions(keys = keys, transport = transport))

    /** All messages that the daemon has received so far. */
    fun messages(): List<JsonObject> = heard.takeIf { it.exists() }?.readLines().orEmpty()
      .mapNotNull { line -> runCatching { parseObject(line, "a line") }.getOrNull() }

    /** The answer to the daemon's request with that number. */
    suspend fun answer(number: Int): JsonObject {
      fun find() = messages().find { it["method"] == null && it["id"]?.text() == "h$number" }
      waitUntil("h$number is answered") { find() != null }
      return find()!!
    }
  }

  private fun newestDaemon() =
    ProcessHandle.current().children().filter { "enrolld" in it.info().command().orElse("") }.toList().last()

  private fun question(number: Int, method: String, parameters: String) =
    """{"jsonrpc":"2.0","id":"h$number","method":"$method","params":$parameters}"""

  private fun sending(number: Int, client: String, timeout: Int = 7) = question(
    number, "host.http.send",
    """{"client":"$client","method":"POST","url":"https://id.example/token","headers":{"B":"2","A":"1"},""" +
      """"bodyBase64":"AP8=","responseLimit":10,"timeout":$timeout,"needsFreshConnection":true,"later":1}""",
  )

  private fun opened(client: String) = """{"jsonrpc":"2.0","id":1,"result":{"client":"$client"}}"""

  private fun JsonObject.status(): String? = find("error")?.members()?.find("data")?.members()?.textOrNull("status")

  @Test
  @DisplayName("a client that asks before it is known to be open is served by its own transport")
  fun early() = runs {
    val daemon = Scripted("?", sending(1, "c1"), sending(2, "c2"), sending(3, "c1"), opened("c1"))
    val seen = ConcurrentLinkedQueue<HttpRequest>()
    daemon.open(transport = { request ->
      seen.add(request)
      HttpResponse(204, emptyList(), ByteArray(0))
    })
    for (number in listOf(1, 3)) assertEquals(204, daemon.answer(number).need("result").members().need("status").int())
    // A request about a client that nobody opened is answered with cancelled.
    assertEquals("cancelled", daemon.answer(2).status())
    assertEquals(2, seen.size)
    val request = seen.first()
    assertEquals("POST https://id.example/token", request.method + " " + request.url)
    assertEquals(listOf("B" to "2", "A" to "1"), request.headers)
    assertEquals(listOf<Byte>(0, -1), request.body.toList())
    assertEquals(listOf(10, 7000), listOf(request.responseLimit, request.timeoutMillis))
    assertTrue(request.needsFreshConnection)
  }

  @Test
  @DisplayName("a transport has the time that the daemon gives it")
  fun time() = runs {
    val daemon = Scripted("?", opened("c1"), sending(1, "c1", timeout = 1))
    val hanging = HangingTransport()
    daemon.open(transport = hanging)
    assertEquals("timeout", daemon.answer(1).status())
    assertTrue(hanging.ended.await() is TimeoutCancellationException)
    assertTrue(log.lines.any { "failed with timeout for POST https://id.example" in it })
  }

  @Test
  @DisplayName("as many transports as there may be block, and neither a secret waits nor the program's own work")
  fun full() = runs {
    val requests = List(64) { sending(it + 1, "c1", timeout = 50) }.toTypedArray()
    val daemon = Scripted("?", opened("c1"), *requests, question(65, "host.store.get", """{"client":"c1","name":"n"}"""))
    val began = CountDownLatch(64)
    val gate = CountDownLatch(1)
    try {
      daemon.open(Keys.Host(FakeSecrets())) {
        began.countDown()
        gate.await()
        HttpResponse(200, emptyList(), ByteArray(0))
      }
      assertEquals(JsonObject(emptyMap()), daemon.answer(65).need("result"))
      assertTrue(withTimeoutOrNull(50.seconds) { withContext(Dispatchers.IO) { began.await() } } != null)
    } finally {
      gate.countDown()
    }
    for (number in 1..64) daemon.answer(number).need("result")
  }

  @Test
  @DisplayName("a header that comes twice is told once: lists as lists, of others the first")
  fun headers() = runs {
    val daemon = Scripted("?", opened("c1"), sending(1, "c1"))
    val headers = listOf(
      "Cache-Control" to "no-store", "DPoP-Nonce" to "one", "cache-control" to "max-age=1", "dpop-nonce" to "two",
      "WWW-Authenticate" to "Bearer", "Www-Authenticate" to "DPoP error=\"use_dpop_nonce\"",
    )
    daemon.open(transport = { HttpResponse(400, headers, "no".toByteArray()) })
    val result = daemon.answer(1).need("result").members()
    val told = result.need("headers").members().mapValues { it.value.text() }
    assertEquals(setOf("no-store, max-age=1", "one", "Bearer, DPoP error=\"use_dpop_nonce\""), told.values.toSet())
    assertEquals("bm8=", result.need("bodyBase64").text())
  }

  @Test
  @DisplayName("a daemon that asks what this host does not know, or wrongly, is told so and goes on")
  fun wrongQuestions() = runs {
    val daemon = Scripted(
      "?", opened("c1"),
      question(1, "host.new.thing", "{}"), question(2, "host.http.send", """{"client":"c1"}"""),
      question(3, "host.store.get", """{"client":"c1","name":"n"}"""),
      question(4, "host.store.get", """{"name":"n"}"""),
      question(5, "host.http.send", "[]"), """{"jsonrpc":"2.0","id":"h6","method":"host.http.send"}""",
      """{"jsonrpc":"2.0","method":"$/cancelRequest"}""",
      """{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"h99"}}""",
      question(7, "host.http.send", """{"client":"c1","method":"GET","url":"https://id.example","headers":{"A":5}}"""),
    )
    daemon.open(transport = { throw IOException("nobody calls") })
    assertEquals(-32601, daemon.answer(1).need("error").members().need("code").int())
    val statuses = (2..7).map { daemon.answer(it).status() }
    assertEquals(listOf("internal", "internal", "cancelled", "cancelled", "cancelled", "internal"), statuses)
  }

  @Test
  @DisplayName("secrets go as they came; one that is not 32 bytes is no secret")
  fun secretTexts() = runs {
    val secret = "-_8" + "A".repeat(40)
    val daemon = Scripted(
      "?", opened("c1"),
      question(1, "host.store.get", """{"client":"c1","name":"n"}"""),
      "?", question(2, "host.store.set", """{"client":"c1","name":"n","secret":"$secret"}"""),
      "?", question(3, "host.store.get", """{"client":"c1","name":"n"}"""),
      "?", question(4, "host.store.set", """{"client":"c1","name":"m","secret":"="}"""),
      "?", question(5, "host.store.remove", """{"client":"c1","name":"n"}"""),
    )
    val secrets = FakeSecrets()
    daemon.open(Keys.Host(secrets))
    assertEquals(JsonObject(emptyMap()), daemon.answer(1).need("result"))
    assertEquals(JsonObject(emptyMap()), daemon.answer(2).need("result"))
    assertEquals(secret, daemon.answer(3).need("result").members().need("secret").text())
    assertEquals("internal", daemon.answer(4).status())
    assertEquals(JsonObject(emptyMap()), daemon.answer(5).need("result"))
    assertTrue(secrets.kept.isEmpty())
    assertFalse(log.lines.any { secret in it })
  }

  @Test
  @DisplayName("a response that does not fit into a message is refused, and costs nobody else anything")
  fun tooLong() = runs {
    val enroll = Backend.DAEMON.enroll()
    val long = List(100) { "h$it" to "x".repeat(16_000) }
    suspend fun open(transport: HttpTransport) =
      enroll.open(Sandbox.shared.configuration(), Store.Memory, ClientOptions(transport = transport))
    val gate = CompletableDeferred<Unit>()
    val other = open({ request ->
      gate.await()
      UrlConnectionTransport().send(request)
    })
    val waiting = async { other.registration.begin() }
    val client = open({ HttpResponse(200, long, ByteArray(0)) })
    refused(Status.RESPONSE_INVALID) { client.registration.begin(timeout = 50.seconds) }
    assertTrue(log.causes.any { "at most 1048576 bytes" in it.message.orEmpty() })
    gate.complete(Unit)
    assertTrue(waiting.await().url.isNotEmpty())
  }

  @Test
  @DisplayName("a daemon that is killed lets go what its host is doing, and tells who waited")
  fun killed() = runs {
    val enroll = Backend.DAEMON.enroll()
    val daemon = newestDaemon()
    val hanging = HangingTransport()
    val client = enroll.open(Sandbox.shared.configuration(), Store.Memory, ClientOptions(transport = hanging))
    val call = async { runCatching { client.registration.begin(timeout = 2.minutes) } }
    hanging.began.await()
    daemon.destroyForcibly()
    assertFalse(hanging.ended.await() is TimeoutCancellationException, "it is not the request's own time-out that ends it")
    assertEquals(137, (call.await().exceptionOrNull() as DaemonEndedException).exitCode)
    client.close()
  }

  @Test
  @DisplayName("a transport and a secret store that hear nothing of being given up hold up nobody's end")
  fun deaf() = runs {
    val gate = CountDownLatch(1)
    try {
      val enroll = Backend.DAEMON.enroll()
      val daemon = newestDaemon()
      val secrets = FakeSecrets()
      val store = store()
      enroll.open(Sandbox.shared.configuration(), store, ClientOptions(keys = Keys.Host(secrets))).signedIn().close()
      val began = CountDownLatch(2)
      val deaf = object : SecretStore by secrets {
        override fun load(name: String): ByteArray? {
          began.countDown()
          gate.await()
          return secrets.load(name)
        }
      }
      val asking = enroll.open(Sandbox.shared.configuration(), store, ClientOptions(keys = Keys.Host(deaf)))
      val sending = enroll.open(Sandbox.shared.configuration(), Store.Memory, ClientOptions(transport = {
        began.countDown()
        gate.await()
        throw IOException("late")
      }))
      val calls = listOf(
        async { runCatching { asking.registration.state() } },
        async { runCatching { sending.registration.begin(timeout = 2.minutes) } },
      )
      async(Dispatchers.IO) { began.await() }.await()
      daemon.destroyForcibly()
      enroll.close()
      for (call in calls) assertTrue(call.await().exceptionOrNull() is DaemonEndedException)
    } finally {
      gate.countDown()
    }
  }

  @Test
  @DisplayName("a client that is closed is served until its renewal is stored")
  fun closedClient() = runs {
    val enroll = Backend.DAEMON.enroll()
    val store = store()
    enroll.open(Sandbox.shared.configuration(), store).signedIn().close()
    val began = CompletableDeferred<Unit>()
    val gate = CompletableDeferred<Unit>()
    val paths = ConcurrentLinkedQueue<String>()
    val client = enroll.open(Sandbox.shared.configuration(), store, ClientOptions(transport = { request ->
      paths.add(request.url)
      // After the client is closed, no new requests are sent, but closing waits for a refresh request in progress.
      if (request.url.endsWith("/token") && began.complete(Unit)) gate.await()
      UrlConnectionTransport().send(request)
    }))
    val before = client.accessToken().value
    launch { runCatching { client.token.refresh() } }
    began.await()
    val closing = launch(start = CoroutineStart.UNDISPATCHED) { client.closeAndJoin() }
    gate.complete(Unit)
    closing.join()
    val later = enroll.open(Sandbox.shared.configuration(), store)
    waitUntil("the renewal is stored") { later.accessToken().value != before }
    assertTrue(paths.any { it.endsWith("/token") }, "$paths")
  }

  @Test
  @DisplayName("a secret store that runs a command with a host's secrets is told so, and does not wait for itself")
  fun nested() = runs {
    val enroll = Backend.DAEMON.enroll()
    val inner = FakeSecrets()
    val store = store()
    enroll.open(Sandbox.shared.configuration(), store, ClientOptions(keys = Keys.Host(inner))).signedIn().close()
    val seen = CompletableDeferred<Status?>()
    val secrets = object : SecretStore by inner {
      override fun load(name: String): ByteArray? {
        val command = runCatching {
          runBlocking { withTimeoutOrNull(50.seconds) { enroll.accounts.list(store, Keys.Host(inner)) } }
        }
        seen.complete((command.exceptionOrNull() as? EnrollException)?.status)
        assertNotEquals("", runBlocking { enroll.pkce.generate() }.codeVerifier)
        return inner.load(name)
      }
    }
    assertEquals(listOf("default"), enroll.accounts.list(store, Keys.Host(secrets)))
    assertEquals(Status.REENTRANT, seen.await())
  }

  @Test
  @DisplayName("a client that is opened for nobody any more is closed")
  fun abandoned() = runs {
    val daemon = Scripted("?", "?", opened("c7"))
    val opening = launch(start = CoroutineStart.UNDISPATCHED) { daemon.open() }
    waitUntil("the daemon is asked to open it") { daemon.messages().isNotEmpty() }
    opening.cancel()
    val other = launch { runCatching { daemon.enroll.pkce.generate() } }
    waitUntil("it is closed") {
      System.gc()
      daemon.messages().any { it.textOrNull("method") == "client.close" && "c7" in it.need("params").toString() }
    }
    other.cancel()
  }
}
