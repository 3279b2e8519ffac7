package org.enrollkit

import java.util.logging.Handler
import java.util.logging.Level
import java.util.logging.LogRecord
import java.util.logging.Logger
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DisplayName
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

class SignInTests : Case() {
  @ParameterizedTest(name = "a sign-in survives its process, is confirmed, renewed and ended: {0}")
  @EnumSource
  fun wholeLife(backend: Backend) = runs {
    val sandbox = Sandbox.shared
    val store = store()
    val said = StringBuilder()
    fun <T> T.said(): T = also { said.appendLine(it) }

    val first = backend.enroll()
    val client = first.open(sandbox.configuration(), store)
    assertTrue(client.registration.state().said() is State.Unregistered)
    val transaction = client.registration.begin().said()
    assertTrue(transaction.survivesProcess)
    assertEquals(Sandbox.CUSTOM, transaction.redirectUri)
    first.close()

    val redirect = sandbox.play(transaction.url)
    val later = backend.enroll().open(sandbox.configuration(), store)
    assertEquals(
      State.Authenticating(transaction.id, Step.BROWSER),
      later.registration.state(),
    )
    val state = later.url.handle(redirect).said()
    val awaiting = (state as HandledURL.Redirected).state as State.AwaitingConfirmation
    assertEquals("Alice", awaiting.profile.name?.substringBefore(' '))
    assertEquals(State.Active(ActiveReason.CONFIRMED), later.registration.confirm().said())

    val token = later.accessToken().said()
    assertEquals("Bearer ${token.value}", token.authorization)
    val outcome = later.token.access().said() as AccessOutcome.Valid
    assertEquals(token.value, outcome.accessToken)
    assertTrue("email" in outcome.scope!!)
    // A token that comes from memory must have the scopes, too.
    assertEquals(List(3) { outcome.scope }, List(3) { later.accessToken().scope })
    val renewed = later.token.refresh().said() as AccessOutcome.Valid
    assertNotEquals(token.value, renewed.accessToken)
    assertEquals(renewed.accessToken, later.accessToken().value)

    val claims = later.identity.userinfo().said()
    assertEquals(awaiting.profile.subject, claims.subject)
    val account = later.account.read().said()
    assertEquals(2, account.idToken?.count { it == '.' })
    assertTrue(later.token.introspect().said().active)
    assertEquals(setOf("default"), backend.enroll().accounts.list(store).toSet())

    val url = later.logout.begin().url
    assertTrue(url!!.startsWith(sandbox.issuer))
    assertTrue(later.token.access().said() is AccessOutcome.Reauthenticate)
    val over = refused(Status.REAUTHENTICATE) { later.accessToken() }
    assertEquals(Blame.USER, over.blame)
    assertEquals("sign in again: no user is signed in", over.error.message)
    assertFalse(over.isRetryable)

    // No text form of a result may show a secret.
    val secrets = listOf(token.value, renewed.accessToken, account.idToken!!) +
      listOf("state", "code", "nonce").map { parameter(redirect + "&" + transaction.url.substringAfter('?'), it) }
    for (secret in secrets) {
      assertTrue(secret.length > 8)
      assertFalse(secret in said, "a secret in: $said")
      assertFalse(log.lines.any { secret in it }, "a secret in the log")
    }
    assertFalse("alice" in said.toString().lowercase(), "what is personal in: $said")
  }

  @ParameterizedTest(name = "a token is given out again for a moment, and never past what the client does: {0}")
  @EnumSource(Backend::class, names = ["LIBRARY"])
  fun recentToken(backend: Backend) = runs {
    val client = backend.enroll().open(Sandbox.shared.configuration(), store())
    client.registration.resume(Sandbox.shared.play(client.registration.begin().url))
    client.registration.confirm()
    client.accessToken()
    // A token is given out again for a tenth of a second. On a busy machine, two calls may be further apart.
    assertTrue((1..200).any { client.accessToken() === client.accessToken() })
    val before = client.accessToken().value
    val renewed = client.refresh().value
    assertNotEquals(before, renewed)
    assertEquals(renewed, client.accessToken().value)
    client.accessToken()
    client.logout.begin()
    refused(Status.REAUTHENTICATE) { client.accessToken() }
    refused(Status.REAUTHENTICATE) { client.refresh() }
    client.close()
    refused(Status.HANDLE) { client.accessToken() }
  }

  private fun parameter(url: String, name: String) = Regex("[?&]$name=([^&]+)").find(url)!!.groupValues[1]

  @ParameterizedTest(name = "a redirect counts once, and one for nobody changes nothing: {0}")
  @EnumSource
  fun once(backend: Backend) = runs {
    val client = backend.enroll().open(Sandbox.shared.configuration(), store())
    val redirect = Sandbox.shared.play(client.registration.begin().url)
    refused(Status.UNSOLICITED) { client.registration.resume(redirect.replace("state=", "state=x")) }
    client.registration.resume(redirect)
    val again = refused(Status.ALREADY_SETTLED) { client.registration.resume(redirect) }
    assertEquals(Blame.NETWORK, again.blame)
    assertEquals(HandledURL.Unsolicited(emptyList()), client.url.handle("com.example.app:/callback?code=x&state=y"))
  }

  @ParameterizedTest(name = "a user agent opens the browser, the loopback listener takes the redirect: {0}")
  @EnumSource
  fun loopback(backend: Backend) = runs {
    val client = backend.enroll().open(Sandbox.shared.configuration(Sandbox.LOOPBACK), store())
    val state = client.signIn({ url, redirectUri ->
      assertTrue(redirectUri.startsWith("http://127.0.0.1:"), redirectUri)
      Sandbox.follow(Sandbox.shared.play(url))
      null
    })
    assertTrue(state is State.AwaitingConfirmation)
  }

  @ParameterizedTest(name = "a sign-in that ended at the question goes on with the question: {0}")
  @EnumSource
  fun openQuestion(backend: Backend) = runs {
    val configuration = Sandbox.shared.configuration(Sandbox.LOOPBACK)
    val store = store()
    val first = backend.enroll()
    first.open(configuration, store).signIn({ url, _ -> Sandbox.follow(Sandbox.shared.play(url)); null })
    first.close()
    val client = backend.enroll().open(configuration, store)
    val state = client.signIn { _, _ -> error("a page was shown") } as State.AwaitingConfirmation
    assertEquals(state.transaction, client.account.read().waiting?.transaction)
    refused(Status.ILLEGAL_STATE) { client.registration.confirm("another") }
    assertEquals(State.Active(ActiveReason.CONFIRMED), client.registration.confirm(state.transaction))
  }

  @ParameterizedTest(name = "a browser that does not come back is a hint in the log: {0}")
  @EnumSource
  fun redirectHint(backend: Backend) = runs {
    val client = backend.enroll().open(Sandbox.shared.configuration(Sandbox.LOOPBACK), store())
    client.redirectHint.limit = 10.milliseconds
    fun hints() = log.lines.filter { "still waits for the browser" in it }
    var expected = ""
    val state = client.signIn { url, redirectUri ->
      expected = "client id: sample-app, redirect URI: $redirectUri"
      waitUntil("the hint is logged") { hints().isNotEmpty() }
      Sandbox.follow(Sandbox.shared.play(url))
      null
    }
    assertTrue(state is State.AwaitingConfirmation)
    assertTrue(hints().single().endsWith(expected), hints().single())
  }

  @Test
  @DisplayName("without a log of the host's, the hint goes to java.util.logging")
  fun redirectHintWithoutLog() = runs {
    val client = closed(Enroll.library()).open(Sandbox.shared.configuration(Sandbox.LOOPBACK), store())
    client.redirectHint.limit = 10.milliseconds
    val hint = CompletableDeferred<LogRecord>()
    val handler = object : Handler() {
      override fun publish(record: LogRecord) {
        hint.complete(record)
      }

      override fun flush() = Unit

      override fun close() = Unit
    }
    val logger = Logger.getLogger("org.enrollkit").apply { useParentHandlers = false }
    logger.addHandler(handler)
    try {
      client.signIn { url, _ ->
        hint.await()
        Sandbox.follow(Sandbox.shared.play(url))
        null
      }
    } finally {
      logger.removeHandler(handler)
      logger.useParentHandlers = true
    }
    assertEquals(Level.WARNING, hint.await().level)
    assertTrue("client id: sample-app" in hint.await().message)
  }

  @ParameterizedTest(name = "a sign-in that is cancelled, or whose browser fails, leaves no transaction; one that took too long does: {0}")
  @EnumSource
  fun left(backend: Backend) = runs {
    val client = backend.enroll().open(Sandbox.shared.configuration(Sandbox.LOOPBACK), store())
    val shown = CompletableDeferred<Unit>()
    val signingIn = launch {
      client.signIn { _, _ ->
        shown.complete(Unit)
        null
      }
    }
    shown.await()
    signingIn.cancelAndJoin()
    assertTrue(client.registration.state() is State.Unregistered)
    val fault = refused(Status.UNSUPPORTED) {
      client.signIn { _, _ -> throw EnrollException(Status.UNSUPPORTED, "no browser") }
    }
    assertEquals("no browser", fault.error.message)
    assertTrue(client.registration.state() is State.Unregistered)
    refused(Status.UNSUPPORTED) { client.signIn(TransactionKind.DEVICE) { _, _ -> null } }
    assertTrue(client.registration.state() is State.Unregistered)
    // On a busy machine the timeout may pass before the transaction has begun.
    var timeout = 50.milliseconds
    waitUntil("a sign-in took too long after its transaction began") {
      refused(Status.DEADLINE_EXCEEDED) { client.signIn(timeout = timeout) { _, _ -> null } }
      timeout *= 2
      client.registration.state() is State.Authenticating
    }
  }

  @ParameterizedTest(name = "a user agent gives the redirect back; a user who leaves has cancelled: {0}")
  @EnumSource
  fun userAgent(backend: Backend) = runs {
    val client = backend.enroll().open(Sandbox.shared.configuration(), store())
    assertTrue(client.signIn({ _, _ -> null }) is State.Unregistered)
    val state = client.signIn({ url, _ -> Sandbox.shared.play(url) })
    assertTrue(state is State.AwaitingConfirmation)
  }

  @ParameterizedTest(name = "what the user denies is a failure with a code of the provider: {0}")
  @EnumSource
  fun denied(backend: Backend) = runs {
    val client = backend.enroll().open(Sandbox.shared.configuration(), store())
    val url = client.registration.begin().url
    val redirect = Sandbox.shared.control("settle", "url" to url, "error" to "access_denied").need("redirect").text()
    val fault = refused(Status.ACCESS_DENIED) { client.registration.resume(redirect) }
    assertEquals("access_denied", fault.oauthError)
    val state = client.registration.state() as State.RegistrationFailed
    assertEquals(Status.ACCESS_DENIED, state.error.status)
    assertEquals(fault.error.message, state.error.message)
  }

  @ParameterizedTest(name = "a live token is served while the provider is down, and says so: {0}")
  @EnumSource
  fun stale(backend: Backend) = runs {
    val sandbox = closed(Sandbox())
    val client = backend.enroll().open(sandbox.configuration(), store()).signedIn(sandbox)
    sandbox.control("fault", "fault" to "serverError", "endpoint" to "token")
    val outcome = client.token.refresh(timeout = 60.seconds) as AccessOutcome.Stale
    assertEquals(Status.SERVER, outcome.error.status)
    assertEquals(503, outcome.error.httpStatus)
    assertTrue(outcome.error.retryable)
    assertTrue(outcome.usable().isStale)
    assertFalse(client.accessToken().isStale)
  }

  @ParameterizedTest(name = "64 coroutines ask one client on many threads: one renewal, one token: {0}")
  @EnumSource
  fun crowd(backend: Backend) = runs {
    val sandbox = closed(Sandbox())
    val client = backend.enroll().open(sandbox.configuration(), store()).signedIn(sandbox)
    val before = client.accessToken().value
    sandbox.control("fault", "fault" to "delay", "value" to 300, "endpoint" to "token", "times" to 1)
    val tokens = List(64) { async(Dispatchers.IO) { client.token.refresh() as AccessOutcome.Valid } }.awaitAll()
    val told = tokens.map { it.accessToken }.toSet()
    assertNotEquals(setOf(before), told)
    assertEquals(sandbox.refreshes(), told.size)
    assertTrue(told.size < 32, "64 who ask at once share a renewal: ${told.size} were sent")
    val reads = List(64) { async(Dispatchers.IO) { List(50) { client.accessToken().value } } }.awaitAll().flatten()
    assertEquals(setOf(client.accessToken().value), reads.toSet())
  }

  @ParameterizedTest(name = "accounts are kept apart, and removed by name: {0}")
  @EnumSource
  fun accounts(backend: Backend) = runs {
    val enroll = backend.enroll()
    val store = store()
    val alice = enroll.open(Sandbox.shared.configuration(), store, ClientOptions(account = "älice")).signedIn()
    val bob = enroll.open(Sandbox.shared.configuration(), store, ClientOptions(account = "bob 🦊")).signedIn()
    assertEquals(listOf("bob 🦊", "älice"), enroll.accounts.list(store).sorted())
    enroll.accounts.remove(store, "bob 🦊")
    assertEquals(listOf("älice"), enroll.accounts.list(store))
    assertTrue(bob.token.refresh() is AccessOutcome.Reauthenticate)
    assertTrue(alice.token.refresh() is AccessOutcome.Valid)
  }

  @ParameterizedTest(name = "values need no client: {0}")
  @EnumSource
  fun values(backend: Backend) = runs {
    val enroll = backend.enroll()
    val pair = enroll.pkce.generate()
    assertEquals(43, pair.codeVerifier.length)
    assertFalse(pair.codeVerifier in pair.toString())
    val parsed = enroll.redirect.parse("com.example.app:/callback?code=secret&state=s%20t")
    assertEquals("s t", parsed.state)
    assertFalse("secret" in parsed.toString())
    val description = enroll.system.describe()
    assertEquals("EnrollKit", description.name)
    assertEquals(LinkKind.HTTPS, enroll.link.parse("https://app.example/x").kind)
    val age = enroll.expiry.check(expiresAt = kotlin.time.Instant.fromEpochSeconds(1000), now = kotlin.time.Instant.fromEpochSeconds(2000))
    assertEquals(Band.EXPIRED, age.band)
    assertEquals((-1000).seconds, age.timeLeft)
    val owner = enroll.redirect.route(listOf(Sandbox.shared.configuration()), "com.example.app:/callback?code=1&state=2")
    assertEquals(0 to Ownership.REDIRECT, owner.index to owner.kind)
  }
}
