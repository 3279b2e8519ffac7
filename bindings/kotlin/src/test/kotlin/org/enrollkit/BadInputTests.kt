package org.enrollkit

import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.launch
import kotlinx.coroutines.sync.Semaphore
import kotlinx.coroutines.sync.withPermit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

class BadInputTests : Case() {
  @ParameterizedTest(name = "a closed client refuses everything, and may be closed again: {0}")
  @EnumSource
  fun closed(backend: Backend) = runs {
    val enroll = backend.enroll()
    val client = enroll.open(Sandbox.shared.configuration(), store()).signedIn()
    client.accessToken()
    client.close()
    client.close()
    client.closeAndJoin()
    for (fault in listOf(
      refused(Status.HANDLE) { client.accessToken() },
      refused(Status.HANDLE) { client.registration.state() },
      refused(Status.HANDLE) { client.platform.ready() },
      refused(Status.HANDLE) { client.events.first() },
    )) {
      assertEquals(Blame.CALLER to "this client is closed", fault.blame to fault.error.message)
    }
    val other = enroll.open(Sandbox.shared.configuration(), Store.Memory)
    enroll.close()
    enroll.close()
    refused(Status.HANDLE) { other.registration.state() }
    refused(Status.HANDLE) { enroll.pkce.generate() }
    refused(Status.HANDLE) { enroll.open(Sandbox.shared.configuration(), Store.Memory) }
    other.close()
  }

  @ParameterizedTest(name = "configurations that are no good name their field: {0}")
  @EnumSource
  fun configurations(backend: Backend) = runs {
    val enroll = backend.enroll()
    suspend fun open(json: String) = enroll.open(json, Store.Memory)
    for (json in listOf("", "null", "[]", "{", "\"x\"", "{\"a\":1,}")) refused(Status.JSON) { open(json) }
    val insecure = Sandbox.shared.configuration().copy(issuer = "http://id.example")
    val fault = refused(Status.CONFIGURATION) { enroll.open(insecure, Store.Memory) }
    assertEquals("issuer", fault.field)
    assertEquals(Blame.HOST, fault.blame)
    assertEquals("redirectUri", refused(Status.CONFIGURATION) { open("""{"issuer":"https://id.example","clientId":"x"}""") }.field)
    refused(Status.CONFIGURATION) { open("""{"issuer":"https://id.example","clientId":"x","redirectUri":"a.b:/c","colour":1}""") }
    val spelt = """{"discovery_uri":"https://id.example","client_id":"x","redirect_uri":"com.example.app:/cb"}"""
    open(spelt).close()
  }

  @ParameterizedTest(name = "texts that are no Unicode, no JSON or too long are refused: {0}")
  @EnumSource
  fun texts(backend: Backend) = runs {
    val enroll = backend.enroll()
    val client = enroll.open(Sandbox.shared.configuration(), store())
    val other = enroll.open(Sandbox.shared.configuration(Sandbox.LOOPBACK), store())
    val transaction = other.registration.begin()
    val waiting = async(start = CoroutineStart.UNDISPATCHED) { other.registration.awaitOutcome(transaction.id, 1.minutes) }
    for (lone in listOf("\uD800", "x\uDC00", "\uD83E", "\uDD8A\uD83E")) {
      refused(Status.INVALID_ARGUMENT) { client.registration.resume(lone) }
      refused(Status.INVALID_ARGUMENT) { enroll.open(Sandbox.shared.configuration(), store(), ClientOptions(account = lone)) }
    }
    refused(Status.JSON) { client.registration.resume("com.example.app:/callback?code=\u0000") }
    refused(Status.JSON) { enroll.link.parse("\u0000") }
    refused(Status.REDIRECT_MALFORMED) { client.registration.resume("com.example.app:/callback?code=\uD83E\uDD8A") }
    refused(Status.INVALID_ARGUMENT) { client.registration.resume("a".repeat(2_000_000)) }
    val deep = "{\"authorizeParameters\":" + "[".repeat(100) + "]".repeat(100) + "}"
    refused(Status.JSON) { enroll.open(deep, Store.Memory) }
    // After all of these errors, the other calls still work, and so does the call that waited meanwhile.
    assertNotNull(client.registration.begin())
    Sandbox.follow(Sandbox.shared.play(transaction.url))
    assertTrue(waiting.await() is State.AwaitingConfirmation)
  }

  @ParameterizedTest(name = "stores and transactions that are not there are refused: {0}")
  @EnumSource
  fun unknown(backend: Backend) = runs {
    val enroll = backend.enroll()
    val client = enroll.open(Sandbox.shared.configuration(), store())
    refused(Status.NOT_FOUND) { client.registration.awaitOutcome("no-such-transaction", 1.seconds) }
    refused(Status.ILLEGAL_STATE) { client.registration.confirm() }
    refused(Status.NOT_FOUND) { client.identity.profile() }
    refused(Status.INVALID_ARGUMENT) { enroll.open(Sandbox.shared.configuration(), Store.Directory("relative")) }
    refused(Status.STORE_REFUSED) { enroll.open(Sandbox.shared.configuration(), Store.Directory("/no/such/parent")).registration.state() }
    assertTrue(enroll.accounts.list(store()).isEmpty())
  }

  @ParameterizedTest(name = "64 threads open, use and close clients side by side: {0}")
  @EnumSource
  fun threads(backend: Backend) = runs {
    val enroll = backend.enroll()
    val shared = enroll.open(Sandbox.shared.configuration(), store()).signedIn()
    // A daemon accepts 16 requests without a client at once, and answers any other with busy.
    val opening = Semaphore(12)
    List(64) { number ->
      async(Dispatchers.IO.limitedParallelism(64)) {
        repeat(10) {
          val own = opening.withPermit { enroll.open(Sandbox.shared.configuration(), Store.Memory) }
          assertTrue(own.registration.state() is State.Unregistered)
          val closing = launch(Dispatchers.IO) { own.close() }
          // A call after the client was closed must fail with a status, and nothing may crash.
          runCatching { own.registration.state(wait = true) }.onFailure { fault ->
            val status = (fault as EnrollException).status
            assertTrue(status == Status.HANDLE || status == Status.CANCELLED, "$status")
          }
          closing.join()
          shared.accessToken()
          if (number % 8 == 0) shared.registration.state()
        }
      }
    }.awaitAll()
  }

  @ParameterizedTest(name = "clients that nobody reaches any more are closed: {0}")
  @EnumSource
  fun reaped(backend: Backend) = runs {
    val enroll = backend.enroll()
    var closed = 0
    fun port() = object : Port {
      override val isClient = true
      override suspend fun call(command: String, kind: Kind, timeout: kotlin.time.Duration?, parameters: Parameters) =
        throw AssertionError()
      override suspend fun subscribe() = Unit
      override suspend fun unsubscribe() = Unit
      override fun close() {
        closed++
      }
    }
    List(10) { Caller(port()) }.forEach { it.close() }
    assertEquals(10, closed)
    repeat(10) { Caller(port()) }
    waitUntil("ten are reaped") {
      System.gc()
      closed == 20
    }
    // A client whose last use is a call that still waits must not be collected as garbage.
    val state = enroll.open(Sandbox.shared.configuration(), store()).registration
    repeat(5) {
      System.gc()
      assertTrue(state.state(wait = true) is State.Unregistered)
    }
  }
}
