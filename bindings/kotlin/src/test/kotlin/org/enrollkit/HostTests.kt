package org.enrollkit

import java.io.IOException
import java.lang.ref.WeakReference
import java.util.Base64
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import javax.net.ssl.SSLHandshakeException
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.sync.Semaphore
import kotlinx.coroutines.sync.withPermit
import kotlinx.coroutines.withContext
import kotlinx.coroutines.Dispatchers
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DisplayName
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** A secret store in memory, in place of a Keystore. */
class FakeSecrets : SecretStore {
  val kept = ConcurrentHashMap<String, ByteArray>()
  @Volatile var fault: (() -> Throwable)? = null

  override fun load(name: String): ByteArray? {
    fault?.let { throw it() }
    return kept[name]?.copyOf()
  }

  override fun save(name: String, secret: ByteArray) {
    fault?.let { throw it() }
    kept[name] = secret.copyOf()
  }

  override fun remove(name: String) {
    fault?.let { throw it() }
    kept.remove(name)
  }
}

class HostTests : Case() {
  private suspend fun Backend.open(transport: HttpTransport) =
    enroll().open(Sandbox.shared.configuration(), store(), ClientOptions(transport = transport))

  @ParameterizedTest(name = "a host''s transport carries the whole sign-in, on threads of its own: {0}")
  @EnumSource
  fun transport(backend: Backend) = runs {
    val requests = AtomicInteger()
    val inner = UrlConnectionTransport()
    val client = backend.open({ request ->
      requests.incrementAndGet()
      assertTrue(Thread.currentThread().name.startsWith("DefaultDispatcher"))
      assertFalse("code" in request.toString())
      inner.send(request)
    }).signedIn()
    assertTrue(client.token.refresh() is AccessOutcome.Valid)
    assertNotNull(client.identity.userinfo().subject)
    assertTrue(requests.get() >= 5, "$requests")
    client.logout.begin()
  }

  @ParameterizedTest(name = "what a transport throws becomes a status, and is told to the log: {0}")
  @EnumSource
  fun transportThrows(backend: Backend) = runs {
    val faults = mapOf(
      IOException("down") to Status.NETWORK,
      java.net.SocketTimeoutException("slow") to Status.TIMEOUT,
      SSLHandshakeException("forged") to Status.TLS,
      EnrollException(Status.RESPONSE_INVALID, "no HTTP") to Status.RESPONSE_INVALID,
      IllegalStateException("a bug") to Status.INTERNAL,
      StackOverflowError("a bad bug") to Status.INTERNAL,
      CancellationException("enough") to Status.CANCELLED,
    )
    for ((fault, status) in faults) {
      val client = backend.open({ throw fault })
      refused(status) { client.registration.begin(timeout = 50.seconds) }
      val isTold = log.causes.any { it === fault || it.cause === fault || it.message == fault.message }
      assertEquals(status != Status.CANCELLED, isTold, "$fault")
      client.close()
    }
  }

  @ParameterizedTest(name = "a code that was not sent is not spent: the sign-in waits, and goes on with the same redirect: {0}")
  @EnumSource
  fun unsent(backend: Backend) = runs {
    val faults = mapOf(
      java.net.UnknownHostException("id.example") to true,
      java.net.ConnectException("refused") to true,
      java.net.NoRouteToHostException("offline") to true,
      RequestNotSentException(java.net.SocketTimeoutException("no connection")) to true,
      IOException("reset") to false,
      java.net.SocketTimeoutException("no answer") to false,
    )
    val inner = UrlConnectionTransport()
    for ((fault, isUnsent) in faults) {
      var isBroken = true
      val client = backend.open({ request ->
        if (isBroken && request.url.endsWith("/token")) throw fault
        inner.send(request)
      })
      val begun = client.registration.begin()
      val redirect = Sandbox.shared.play(begun.url)
      assertTrue(runCatching { client.registration.resume(redirect) }.isFailure, "$fault")
      isBroken = false
      assertEquals(isUnsent, runCatching { client.registration.resume(redirect) }.isSuccess, "$fault")
      client.close()
    }
  }

  @ParameterizedTest(name = "a defect of a transport is no fault of the network''s in outcomes and events either: {0}")
  @EnumSource
  fun defects(backend: Backend) = runs {
    var isBroken = false
    val client = backend.open({ request ->
      check(!isBroken) { "a bug" }
      UrlConnectionTransport().send(request)
    }).signedIn()
    isBroken = true
    val event = async(start = CoroutineStart.UNDISPATCHED) { client.events.first { it is Event.TokenRenewalFailed } }
    val outcome = client.token.refresh() as AccessOutcome.Stale
    for (error in listOf(outcome.error, (event.await() as Event.TokenRenewalFailed).error)) {
      assertEquals(Status.INTERNAL to Status.INTERNAL.code, error.status to error.code)
      assertEquals(Blame.INTERNAL to false, error.blame to error.retryable)
    }
  }

  @ParameterizedTest(name = "a response that is none is refused, told to the log, and quoted nowhere: {0}")
  @EnumSource
  fun garbage(backend: Backend) = runs {
    fun response(status: Int = 200, name: String = "A", value: String = "b", body: ByteArray = ByteArray(0)) =
      HttpResponse(status, listOf(name to value), body)
    val responses = mapOf<String, (HttpRequest) -> HttpResponse>(
      "got 7" to { response(7) },
      "got -1" to { response(-1) },
      "got 600" to { response(600) },
      "header names" to { response(name = "") },
      "header names of one line" to { response(name = "leaky\nleaky") },
      "header values" to { response(value = "leaky\r\nSet-Cookie: leaky") },
      "header values of" to { response(value = "leaky\u0000") },
      "header values of one line" to { response(value = "leaky\uD800") },
      "and at most 16384 bytes" to { response(value = "leaky".repeat(4000)) },
      "at most 256 headers" to { HttpResponse(200, List(257) { "h$it" to "leaky" }, ByteArray(0)) },
      "expected a body of at most" to { response(body = ByteArray(it.responseLimit + 1) { 'x'.code.toByte() }) },
    )
    for ((words, response) in responses) {
      val before = log.causes.size
      val client = backend.open({ response(it) })
      val fault = refused(Status.RESPONSE_INVALID) { client.registration.begin(timeout = 50.seconds) }
      assertTrue(log.causes.drop(before).any { words in it.message.orEmpty() }, "$words: ${log.causes.toList()}")
      assertFalse("leaky" in fault.toString(), "$fault")
    }
    // The core accepts a response whose body is not text, but refuses such a body as a provider's document.
    val document = "{\"issuer\":\"leaky\u0000\"}"
    for (body in listOf(byteArrayOf(0), byteArrayOf(-1, -2), document.toByteArray(), ByteArray(0))) {
      val client = backend.open({ response(body = body) })
      refused(Status.RESPONSE_INVALID) { client.registration.begin(timeout = 50.seconds) }
    }
    assertFalse(log.lines.any { "leaky" in it }, "${log.lines.filter { "leaky" in it }}")
  }

  @ParameterizedTest(name = "a transport that is not waited for any more is cancelled: {0}")
  @EnumSource
  fun transportCancelled(backend: Backend) = runs {
    val hanging = HangingTransport()
    val client = backend.open(hanging)
    val call = async(start = CoroutineStart.UNDISPATCHED) { client.registration.begin(timeout = 1.minutes) }
    hanging.began.await()
    call.cancel()
    assertFalse(hanging.ended.await() is TimeoutCancellationException, "it is not the request's own time-out that ends it")
  }

  @ParameterizedTest(name = "a timeout ends the wait for a transport, which is cancelled: {0}")
  @EnumSource
  fun transportTooLate(backend: Backend) = runs {
    val hanging = HangingTransport()
    val client = backend.open(hanging)
    refused(Status.DEADLINE_EXCEEDED) { client.registration.begin(timeout = 5.seconds) }
    assertFalse(hanging.ended.await() is TimeoutCancellationException, "it is not the request's own time-out that ends it")
  }

  @ParameterizedTest(name = "transports that block keep nobody else waiting: {0}")
  @EnumSource
  fun transportBlocks(backend: Backend) = runs {
    val enroll = backend.enroll()
    val began = AtomicInteger()
    val gate = CountDownLatch(1)
    val inner = UrlConnectionTransport()
    val slow = List(3) {
      enroll.open(Sandbox.shared.configuration(), store(), ClientOptions(transport = { request ->
        began.incrementAndGet()
        gate.await()
        inner.send(request)
      }))
    }
    val waiting = slow.map { client -> async(Dispatchers.IO) { client.registration.begin(timeout = 50.seconds) } }
    try {
      waitUntil("all wait in their transports") { began.get() == 3 }
      val keys = Keys.Host(FakeSecrets())
      val store = store()
      val options = ClientOptions(keys = keys, transport = inner)
      val other = enroll.open(Sandbox.shared.configuration(), store, options).signedIn()
      // A daemon accepts 16 requests for a client at once.
      val room = Semaphore(12)
      List(20) {
        async {
          room.withPermit {
            assertTrue(other.registration.state() is State.Active)
            assertTrue(other.token.access() is AccessOutcome.Valid)
            assertEquals(listOf("default"), enroll.accounts.list(store, keys))
            enroll.pkce.generate()
          }
        }
      }.awaitAll()
      assertTrue(waiting.none { it.isCompleted })
    } finally {
      gate.countDown()
    }
    waiting.awaitAll().forEach { assertNotNull(it.url) }
  }

  @ParameterizedTest(name = "two clients have a transport each, and two secret stores: {0}")
  @EnumSource
  fun apart(backend: Backend) = runs {
    val enroll = backend.enroll()
    val sandboxes = List(2) { closed(Sandbox()) }
    val seen = List(2) { ConcurrentHashMap.newKeySet<String>() }
    val secrets = List(2) { FakeSecrets() }
    val stores = List(2) { store() }
    val clients = List(2) { number ->
      async {
        val options = ClientOptions(keys = Keys.Host(secrets[number]), transport = { request ->
          seen[number].add(java.net.URI(request.url).authority)
          UrlConnectionTransport().send(request)
        })
        enroll.open(sandboxes[number].configuration(), stores[number], options).signedIn(sandboxes[number])
      }
    }.awaitAll()
    List(20) { async { assertTrue(clients[it % 2].token.refresh() is AccessOutcome.Valid) } }.awaitAll()
    for (number in 0..1) assertEquals(setOf(java.net.URI(sandboxes[number].issuer).authority), seen[number])
    assertTrue(secrets.all { it.kept.isNotEmpty() })
    assertTrue(secrets[0].kept.keys.intersect(secrets[1].kept.keys).isEmpty())
    // The daemon's requests for commands about a store do not say to which command they belong.
    val accounts = List(20) { async { enroll.accounts.list(stores[it % 2], Keys.Host(secrets[it % 2])) } }.awaitAll()
    assertEquals(setOf(listOf("default")), accounts.toSet())
  }

  @ParameterizedTest(name = "a renewal in a transport''s hands is stored before a core ends: {0}")
  @EnumSource
  fun closedMeanwhile(backend: Backend) = runs {
    val enroll = backend.enroll()
    val store = store()
    val secrets = FakeSecrets()
    val began = CompletableDeferred<Unit>()
    val gate = CompletableDeferred<Unit>()
    var isHeld = false
    val inner = UrlConnectionTransport()
    val options = ClientOptions(keys = Keys.Host(secrets), transport = { request ->
      val response = inner.send(request)
      if (isHeld) {
        began.complete(Unit)
        gate.await()
      }
      response
    })
    val client = enroll.open(Sandbox.shared.configuration(), store, options).signedIn()
    val before = client.accessToken().value
    isHeld = true
    val renewal = async { runCatching { client.token.refresh() } }
    began.await()
    val closing = async(Dispatchers.IO) { enroll.close() }
    // The caller no longer waits, but the renewal continues.
    val fault = renewal.await().exceptionOrNull() as EnrollException
    assertTrue(fault.status == Status.CANCELLED || fault.status == Status.HANDLE, "$fault")
    assertFalse(closing.isCompleted)
    gate.complete(Unit)
    closing.await()
    isHeld = false
    val later = backend.enroll().open(Sandbox.shared.configuration(), store, options)
    val after = later.token.access() as AccessOutcome.Valid
    assertFalse(before == after.accessToken, "the renewed token was stored")
  }

  @ParameterizedTest(name = "closing a client ends a call that waits for its transport, which is cancelled: {0}")
  @EnumSource
  fun closedWhileWaiting(backend: Backend) = runs {
    val hanging = HangingTransport()
    val client = backend.open(hanging)
    val call = async { runCatching { client.registration.begin(timeout = 2.minutes) } }
    hanging.began.await()
    client.closeAndJoin()
    assertFalse(hanging.ended.await() is TimeoutCancellationException, "it is not the request's own time-out that ends it")
    val status = (call.await().exceptionOrNull() as EnrollException).status
    assertTrue(status == Status.CANCELLED || status == Status.HANDLE, "$status")
  }

  @ParameterizedTest(name = "a client that is closed lets its transport go, and what waits in it: {0}")
  @EnumSource
  fun givenBack(backend: Backend) = runs {
    val enroll = backend.enroll()
    val began = CompletableDeferred<Unit>()
    val (client, transport) = openForgettingTransport(enroll, began)
    val call = async { runCatching { client.registration.begin(timeout = 30.seconds) } }
    began.await()
    call.cancel()
    client.close()
    waitUntil("the transport is given back") {
      System.gc()
      transport.get() == null && Native.hosts.size == 0
    }
    refused(Status.HANDLE) { client.registration.state() }
  }

  private suspend fun openForgettingTransport(
    enroll: Enroll,
    began: CompletableDeferred<Unit>,
  ): Pair<EnrollClient, WeakReference<Any>> {
    val transport = object : HttpTransport {
      override suspend fun send(request: HttpRequest): HttpResponse {
        began.complete(Unit)
        awaitCancellation()
      }
    }
    val client = enroll.open(Sandbox.shared.configuration(), Store.Memory, ClientOptions(transport = transport))
    return client to WeakReference(transport)
  }

  @ParameterizedTest(name = "a core that ends lets go what waits in a transport: {0}")
  @EnumSource
  fun endsWhileWaiting(backend: Backend) = runs {
    val enroll = backend.enroll()
    val began = CompletableDeferred<Unit>()
    val ended = CompletableDeferred<Unit>()
    val client = enroll.open(Sandbox.shared.configuration(), Store.Memory, ClientOptions(transport = {
      began.complete(Unit)
      try {
        awaitCancellation()
      } finally {
        ended.complete(Unit)
      }
    }))
    val call = async { runCatching { client.registration.begin(timeout = 2.minutes) } }
    began.await()
    async(Dispatchers.IO) { enroll.close() }.await()
    ended.await()
    val status = (call.await().exceptionOrNull() as EnrollException).status
    assertTrue(status == Status.CANCELLED || status == Status.HANDLE, "$status")
  }

  @ParameterizedTest(name = "a transport that uses its client is told so, whatever its thread: {0}")
  @EnumSource
  fun reentrant(backend: Backend) = runs {
    var inner: EnrollClient? = null
    val seen = CompletableDeferred<Status>()
    val client = backend.open({
      try {
        withContext(Dispatchers.Default) { inner!!.accessToken() }
      } catch (fault: EnrollException) {
        seen.complete(fault.status)
      }
      throw IOException("enough")
    })
    inner = client
    refused(Status.NETWORK) { client.registration.begin(timeout = 50.seconds) }
    assertEquals(Status.REENTRANT, seen.await())
  }

  @Test
  @DisplayName("the transport of URL connections repeats nothing, follows nothing, and keeps the limit")
  fun urlConnections() = runs {
    val transport = UrlConnectionTransport()
    fun request(url: String, method: String = "GET", limit: Int = 1 shl 20, body: String = "") = HttpRequest(
      method, url, listOf("Accept" to "application/json"), body.toByteArray(), limit, true, 10_000,
    )
    val discovery = Sandbox.shared.issuer + "/.well-known/openid-configuration"
    val found = transport.send(request(discovery))
    assertEquals(200, found.status)
    assertTrue(found.headers.any { it.first.equals("content-type", true) })
    refused(Status.RESPONSE_INVALID) { transport.send(request(discovery, limit = 10)) }
    val endpoint = parseObject(found.body.toText(), "discovery").need("token_endpoint").text()
    val refusal = transport.send(request(endpoint, "POST", body = "grant_type=none&client_id=sample-app"))
    assertEquals(400, refusal.status)
    assertTrue("error" in refusal.body.toText())
    assertEquals(401, transport.send(request(endpoint, "POST", body = "grant_type=none")).status)
    // If a server reads the request and closes the connection, the request must not be sent again.
    java.net.ServerSocket(0, 8, java.net.InetAddress.getLoopbackAddress()).use { server ->
      val asked = AtomicInteger()
      val accepting = kotlin.concurrent.thread(isDaemon = true) {
        runCatching {
          while (true) {
            server.accept().use { socket ->
              val line = socket.getInputStream().bufferedReader().readLine()
              if (line != null) asked.incrementAndGet()
            }
          }
        }
      }
      val dead = HttpRequest("POST", "http://127.0.0.1:${server.localPort}/token", emptyList(), "code=1".toByteArray(), 100, true, 5_000)
      assertTrue(runCatching { transport.send(dead) }.exceptionOrNull() is IOException)
      server.close()
      accepting.join()
      assertEquals(1, asked.get())
    }
  }

  @ParameterizedTest(name = "the host''s secret store guards the key: sign-in, restart, list, diagnosis, rekey: {0}")
  @EnumSource
  fun secrets(backend: Backend) = runs {
    val secrets = FakeSecrets()
    val keys = Keys.Host(secrets)
    val store = store()
    val enroll = backend.enroll()
    val client = enroll.open(Sandbox.shared.configuration(), store, ClientOptions(keys = keys)).signedIn()
    val token = client.accessToken().value
    assertTrue(secrets.kept.isNotEmpty())
    assertTrue(secrets.kept.values.all { it.size == 32 })
    client.close()
    val later = enroll.open(Sandbox.shared.configuration(), store, ClientOptions(keys = keys))
    assertEquals(token, later.accessToken().value)
    assertEquals(listOf("default"), enroll.accounts.list(store, keys))
    assertEquals(listOf("host"), enroll.store.diagnose(store, keys).keyProviders)
    later.close()
    assertEquals("file", enroll.store.rekey(store, keys, Keys.File()))
    assertEquals(token, enroll.open(Sandbox.shared.configuration(), store).accessToken().value)
    assertTrue(secrets.kept.isEmpty())
    assertEquals("host", enroll.store.rekey(store, Keys.File(), keys, newDataKey = true))
    val other = FakeSecrets()
    assertEquals("host", enroll.store.rekey(store, keys, Keys.Host(other), newDataKey = true))
    assertTrue(secrets.kept.isEmpty() && other.kept.size == 1, "the key has moved from one to the other")
    assertEquals(listOf("default"), enroll.accounts.list(store, Keys.Host(other)))
    refused(Status.STORE_LOCKED) { enroll.accounts.list(store, keys) }
    assertEquals("host", enroll.store.rekey(store, Keys.Host(other), keys))
    enroll.installation.reset(store, keys)
    enroll.accounts.remove(store, "default", keys)
    assertTrue(enroll.accounts.list(store, keys).isEmpty())
    enroll.close()
    waitUntil("the secret stores are given back") { Native.hosts.size == 0 }
  }

  @ParameterizedTest(name = "a locked secret store signs nobody out; one that throws is told to the log: {0}")
  @EnumSource
  fun lockedSecrets(backend: Backend) = runs {
    val secrets = FakeSecrets()
    val store = store()
    val enroll = backend.enroll()
    val options = ClientOptions(keys = Keys.Host(secrets))
    enroll.open(Sandbox.shared.configuration(), store, options).signedIn().close()
    secrets.fault = { SecretStore.locked() }
    val client = enroll.open(Sandbox.shared.configuration(), store, options)
    assertEquals(AccessOutcome.StoreLocked, client.token.access())
    assertTrue(refused(Status.STORE_LOCKED) { client.accessToken() }.isRetryable)
    secrets.fault = { IllegalStateException("no such key") }
    refused(Status.STORE_IO) { client.registration.state() }
    assertTrue(log.causes.any { it.message == "no such key" })
    secrets.fault = { OutOfMemoryError("pretended") }
    refused(Status.STORE_IO) { client.registration.state() }
    secrets.fault = null
    assertNotNull(client.accessToken())
    val short = object : SecretStore by secrets {
      override fun load(name: String) = ByteArray(31)
    }
    val other = enroll.open(Sandbox.shared.configuration(), store, ClientOptions(keys = Keys.Host(short)))
    refused(Status.STORE_IO) { other.registration.state() }
    assertTrue(log.causes.any { "32 bytes from load, got 31" in it.message.orEmpty() })
  }

  @ParameterizedTest(name = "commands about a store tell what its secret store threw: {0}")
  @EnumSource
  fun storeCommands(backend: Backend) = runs {
    val secrets = FakeSecrets()
    val keys = Keys.Host(secrets)
    val store = store()
    val enroll = backend.enroll()
    enroll.open(Sandbox.shared.configuration(), store, ClientOptions(keys = keys)).signedIn().close()
    val faults = mapOf<Throwable, Status>(
      SecretStore.locked() to Status.STORE_LOCKED,
      EnrollException(Status.NOT_FOUND, "gone") to Status.STORE_LOCKED,
      EnrollException(Status.NETWORK, "no answer") to Status.STORE_IO,
      IOException("worn out") to Status.STORE_IO,
      CancellationException("not now") to Status.STORE_IO,
      StackOverflowError("deep") to Status.STORE_IO,
    )
    for ((fault, status) in faults) {
      secrets.fault = { fault }
      assertEquals("keys", refused(status) { enroll.accounts.list(store, keys) }.field)
      assertTrue(fault in log.causes)
      refused(status) { enroll.store.rekey(store, keys, Keys.File()) }
      val isMade = runCatching { enroll.store.rekey(store(), Keys.File(), keys) }
      assertEquals(Status.NOT_FOUND, (isMade.exceptionOrNull() as EnrollException).status, "there is no store")
    }
    secrets.fault = null
    val kept = HashMap(secrets.kept)
    secrets.kept.clear()
    val lost = refused(Status.STORE_LOCKED) { enroll.accounts.list(store, keys) }
    assertTrue("has no item" in lost.message!!, lost.message)
    secrets.kept.putAll(kept.mapValues { ByteArray(32) })
    refused(Status.STORE_KEY) { enroll.accounts.list(store, keys) }
    secrets.kept.putAll(kept)
    assertEquals(listOf("default"), enroll.accounts.list(store, keys))
    // If the secret cannot be saved, no store is made and no data is lost.
    secrets.fault = { IOException("full") }
    val client = enroll.open(Sandbox.shared.configuration(), store(), ClientOptions(keys = keys))
    refused(Status.STORE_IO) { client.registration.begin() }
    secrets.fault = null
    assertNotNull(client.registration.begin().url)
  }

  @ParameterizedTest(name = "a command about a store that is cancelled meanwhile keeps its secrets to its end: {0}")
  @EnumSource
  fun cancelledCommand(backend: Backend) = runs {
    val secrets = FakeSecrets()
    val store = store()
    val enroll = backend.enroll()
    enroll.open(Sandbox.shared.configuration(), store, ClientOptions(keys = Keys.Host(secrets))).signedIn().close()
    val before = secrets.kept.keys.toSet()
    val began = CompletableDeferred<Unit>()
    val gate = CountDownLatch(1)
    val slow = object : SecretStore by secrets {
      override fun load(name: String): ByteArray? {
        began.complete(Unit)
        gate.await()
        return secrets.load(name)
      }
    }
    val command = async { enroll.store.rekey(store, Keys.Host(slow), newDataKey = true) }
    began.await()
    command.cancel()
    val other = async { enroll.accounts.list(store, Keys.Host(secrets)) }
    gate.countDown()
    assertEquals(listOf("default"), other.await())
    waitUntil("the key is wrapped anew, the old one gone") { secrets.kept.size == 1 && secrets.kept.keys != before }
  }

  @ParameterizedTest(name = "what the host serves is in no log and no text: {0}")
  @EnumSource
  fun silent(backend: Backend) = runs {
    val secrets = FakeSecrets()
    val said = ConcurrentLinkedQueue<String>()
    val hidden = ConcurrentHashMap.newKeySet<String>()
    val keys = Keys.Host(secrets)
    val inner = UrlConnectionTransport()
    val options = ClientOptions(keys = keys, transport = { request ->
      val response = inner.send(request)
      said.add("$request $response")
      val bodies = request.body.toText() + response.body.toText()
      Regex("[A-Za-z0-9_.-]{20,}").findAll(bodies).forEach { hidden.add(it.value) }
      response
    })
    val client = backend.enroll().open(Sandbox.shared.configuration(), store(), options).signedIn()
    client.token.refresh()
    client.close()
    said.add("$keys")
    for (secret in secrets.kept.values) hidden.add(Base64.getUrlEncoder().withoutPadding().encodeToString(secret))
    hidden.addAll(secrets.kept.keys)
    hidden.removeAll { it in Sandbox.shared.issuer || it.all { letter -> letter.isLowerCase() || letter == '_' } }
    assertTrue(hidden.size > 5)
    for (secret in hidden) assertFalse((said + log.lines).any { secret in it }, secret)
  }

  @ParameterizedTest(name = "a secret store may not use its client: {0}")
  @EnumSource
  fun reentrantSecrets(backend: Backend) = runs {
    val inner = FakeSecrets()
    val enroll = backend.enroll()
    val seen = CompletableDeferred<Status?>()
    var client: EnrollClient? = null
    val secrets = object : SecretStore by inner {
      override fun load(name: String): ByteArray? {
        val using = client
        if (using != null && !seen.isCompleted) {
          val fault = runCatching { kotlinx.coroutines.runBlocking { using.registration.state() } }.exceptionOrNull()
          seen.complete((fault as? EnrollException)?.status)
        }
        return inner.load(name)
      }
    }
    val store = store()
    val options = ClientOptions(keys = Keys.Host(secrets))
    enroll.open(Sandbox.shared.configuration(), store, options).signedIn().close()
    client = enroll.open(Sandbox.shared.configuration(), store, options)
    client.registration.state()
    assertEquals(Status.REENTRANT, seen.await())
  }

  @ParameterizedTest(name = "a passphrase guards a store, and no text shows it: {0}")
  @EnumSource
  fun passphrase(backend: Backend) = runs {
    val enroll = backend.enroll()
    val store = store()
    val keys = Keys.Passphrase("correct horse ☂")
    assertFalse("horse" in keys.toString())
    enroll.open(Sandbox.shared.configuration(), store, ClientOptions(keys = keys)).signedIn().close()
    val wrong = enroll.open(Sandbox.shared.configuration(), store, ClientOptions(keys = Keys.Passphrase("wrong")))
    refused(Status.STORE_KEY) { wrong.registration.state() }
    assertEquals(listOf("default"), enroll.accounts.list(store, keys))
  }

  @Test
  @DisplayName("what only one core can do is refused by the other")
  fun unsupported() = runs {
    val daemon = Backend.DAEMON.enroll()
    refused(Status.UNSUPPORTED) { Backend.LIBRARY.enroll().openNamed("work", Store.Memory) }
    refused(Status.NOT_FOUND) { daemon.openNamed("no-such-file", Store.Memory) }
  }
}
