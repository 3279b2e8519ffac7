package org.enrollkit

import java.io.IOException
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger
import javax.net.ssl.SSLHandshakeException
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.withContext
import kotlinx.coroutines.Dispatchers
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DisplayName
import org.junit.jupiter.api.Test

/** Secrets in memory, as a Keystore would keep them. */
private class FakeSecrets : SecretStore {
  val kept = ConcurrentHashMap<String, ByteArray>()
  var fault: (() -> Throwable)? = null

  override fun load(name: String): ByteArray? {
    fault?.let { throw it() }
    return kept[name]?.copyOf()
  }

  override fun save(name: String, secret: ByteArray) {
    fault?.let { throw it() }
    kept[name] = secret.copyOf()
  }

  override fun remove(name: String) {
    kept.remove(name)
  }
}

class HostTests : Case() {
  private suspend fun open(transport: HttpTransport, sandbox: Sandbox = Sandbox.shared) =
    Backend.LIBRARY.enroll().open(sandbox.configuration(), store(), ClientOptions(transport = transport))

  @Test
  @DisplayName("a host's transport carries the whole sign-in, and is given back with its client")
  fun transport() = runs {
    val requests = AtomicInteger()
    val inner = UrlConnectionTransport()
    val client = open({ request ->
      requests.incrementAndGet()
      assertTrue(Dispatchers.IO.let { Thread.currentThread().name.startsWith("DefaultDispatcher") })
      assertFalse("code" in request.toString())
      inner.send(request)
    }).signedIn()
    assertTrue(client.token.refresh() is TokenOutcome.Valid)
    assertNotNull(client.identity.userinfo().subject)
    assertTrue(requests.get() >= 5, "$requests")
    client.logout.begin()
    assertEquals(1, Native.hosts.size)
    client.close()
    waitUntil("the transport is given back") { Native.hosts.size == 0 }
  }

  @Test
  @DisplayName("what a transport throws becomes a status, and is told to the log")
  fun transportThrows() = runs {
    val faults = mapOf(
      IOException("down") to Status.NETWORK,
      java.net.SocketTimeoutException("slow") to Status.TIMEOUT,
      SSLHandshakeException("forged") to Status.TLS,
      EnrollException(Status.RESPONSE_INVALID, "no HTTP") to Status.RESPONSE_INVALID,
      IllegalStateException("a bug") to Status.INTERNAL,
      StackOverflowError("a bad bug") to Status.INTERNAL,
    )
    for ((fault, status) in faults) {
      val client = open({ throw fault })
      refused(status) { client.registration.begin(deadline = 5.seconds) }
      assertTrue(log.causes.any { it === fault || it.cause === fault || it.message == fault.message }, "$fault")
      client.close()
    }
    val nonsense = open({ HttpResponse(9999, emptyList(), ByteArray(0)) })
    refused(Status.RESPONSE_INVALID) { nonsense.registration.begin() }
  }

  @Test
  @DisplayName("a transport that is not waited for any more is cancelled")
  fun transportCancelled() = runs {
    val began = CompletableDeferred<Unit>()
    val ended = CompletableDeferred<CancellationException>()
    val client = open({
      began.complete(Unit)
      try {
        awaitCancellation()
      } catch (fault: CancellationException) {
        ended.complete(fault)
        throw fault
      }
    })
    val call = async(start = CoroutineStart.UNDISPATCHED) { client.registration.begin(deadline = 1.minutes) }
    began.await()
    call.cancel()
    assertFalse(ended.await() is TimeoutCancellationException, "it is not the request's own time-out that ends it")
  }

  @Test
  @DisplayName("a transport that uses its client is told so, whatever its thread")
  fun reentrant() = runs {
    var inner: EnrollClient? = null
    val seen = CompletableDeferred<Status>()
    val client = open({
      try {
        withContext(Dispatchers.Default) { inner!!.accessToken() }
      } catch (fault: EnrollException) {
        seen.complete(fault.status)
      }
      throw IOException("enough")
    })
    inner = client
    refused(Status.NETWORK) { client.registration.begin(deadline = 5.seconds) }
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
    // A server that takes the request and goes away is asked once.
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

  @Test
  @DisplayName("the host's secret store guards the key: sign-in, restart, list, diagnosis, rekey")
  fun secrets() = runs {
    val secrets = FakeSecrets()
    val keys = Keys.Host(secrets)
    val store = store()
    val enroll = Backend.LIBRARY.enroll()
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
    assertEquals("host", enroll.store.rekey(store, Keys.File(), keys, newDataKey = true))
    enroll.installation.reset(store, keys)
    enroll.accounts.remove(store, "default", keys)
    assertTrue(enroll.accounts.list(store, keys).isEmpty())
    enroll.close()
    waitUntil("the secret stores are given back") { Native.hosts.size == 0 }
  }

  @Test
  @DisplayName("a locked secret store signs nobody out; one that throws is a store's failure, told to the log")
  fun lockedSecrets() = runs {
    val secrets = FakeSecrets()
    val store = store()
    val enroll = Backend.LIBRARY.enroll()
    val options = ClientOptions(keys = Keys.Host(secrets))
    enroll.open(Sandbox.shared.configuration(), store, options).signedIn().close()
    secrets.fault = { SecretStore.locked() }
    val client = enroll.open(Sandbox.shared.configuration(), store, options)
    assertEquals(TokenOutcome.StoreLocked, client.token.access())
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
  }

  @Test
  @DisplayName("a secret store may not use its client")
  fun reentrantSecrets() = runs {
    val inner = FakeSecrets()
    val enroll = Backend.LIBRARY.enroll()
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

  @Test
  @DisplayName("a passphrase guards a store, and no text shows it")
  fun passphrase() = runs {
    val enroll = Backend.LIBRARY.enroll()
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
    val transport = ClientOptions(transport = UrlConnectionTransport())
    refused(Status.UNSUPPORTED) { daemon.open(Sandbox.shared.configuration(), Store.Memory, transport) }
    val secrets = ClientOptions(keys = Keys.Host(FakeSecrets()))
    refused(Status.UNSUPPORTED) { daemon.open(Sandbox.shared.configuration(), store(), secrets) }
    refused(Status.UNSUPPORTED) { Backend.LIBRARY.enroll().openNamed("work", Store.Memory) }
    refused(Status.NOT_FOUND) { daemon.openNamed("no-such-file", Store.Memory) }
  }
}
