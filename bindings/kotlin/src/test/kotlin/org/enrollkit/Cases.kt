package org.enrollkit

import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CopyOnWriteArrayList
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.fail
import kotlin.io.path.deleteRecursively

/** Which core is under test. */
enum class Backend {
  LIBRARY,
  DAEMON,
  ;

  fun start(log: EnrollLog? = null): Enroll = when (this) {
    LIBRARY -> Enroll.library(log = log)
    DAEMON -> Enroll.daemon(setting("enroll.daemon"), "debug", log)
  }
}

/** The lines and exceptions that were logged. */
class Log : EnrollLog {
  val lines = ConcurrentLinkedQueue<String>()
  val causes = ConcurrentLinkedQueue<Throwable>()

  override fun write(message: String, cause: Throwable?) {
    lines.add(message)
    cause?.let(causes::add)
  }
}

/** The base of the tests: each test has stores of its own, and its cores end with it. */
@OptIn(kotlin.io.path.ExperimentalPathApi::class)
abstract class Case {
  private val closing = CopyOnWriteArrayList<AutoCloseable>()
  private val folder: Path = Files.createTempDirectory("enrollkit-test")
  private var stores = 0
  val log = Log()

  @AfterEach
  fun tidy() {
    closing.reversed().forEach { it.close() }
    folder.deleteRecursively()
  }

  fun <T : AutoCloseable> closed(thing: T): T = thing.also { closing.add(it) }

  fun Backend.enroll(): Enroll = closed(start(log))

  fun store(): Store.Directory = Store.Directory(folder.resolve("store${stores++}").toString())

  /** Runs a body that must end within the limit. */
  fun runs(limit: Duration = 120.seconds, body: suspend CoroutineScope.() -> Unit) = runBlocking { withTimeout(limit) { body() } }

  /** Polls until the condition holds; tests never sleep for a guessed time. */
  suspend fun waitUntil(what: String, limit: Duration = 60.seconds, condition: suspend () -> Boolean) {
    val began = TimeSource.Monotonic.markNow()
    while (!condition()) {
      if (began.elapsedNow() > limit) fail<Unit>("after $limit: $what")
      delay(10)
    }
  }

  /** Asserts that the command fails with this status. */
  inline fun refused(status: Status, body: () -> Unit): EnrollException {
    try {
      body()
    } catch (fault: EnrollException) {
      assertEquals(status, fault.status, fault.toString())
      return fault
    }
    throw AssertionError("it did not fail with $status")
  }

  /** Signs the user in with a redirect to a custom scheme, and confirms the profile. */
  suspend fun EnrollClient.signedIn(sandbox: Sandbox = Sandbox.shared): EnrollClient {
    registration.resume(sandbox.play(registration.begin().url))
    registration.confirm()
    return this
  }
}
