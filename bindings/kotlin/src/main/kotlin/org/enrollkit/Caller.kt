// The base of the generated commands. It calls a command by its name, in either core: the C library or the daemon.

package org.enrollkit

import java.util.concurrent.atomic.AtomicBoolean
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put

/** How the core runs a command. A command that only reads memory needs no other thread. */
internal enum class Kind { MEMORY, PARKED, BLOCKING, WAITING }

/** A client of a core, or the core itself for commands that need no client. A port has no reference to an
 * [EnrollClient] or an [Enroll]. */
internal interface Port {
  val isClient: Boolean

  suspend fun call(command: String, kind: Kind, timeout: Duration?, parameters: Parameters): JsonObject

  /** A fresh token from memory, without another thread; null if there is no fresh token in memory. */
  fun quickToken(minimumLifetime: Duration): AccessToken? = null

  suspend fun subscribe()

  suspend fun unsubscribe()

  /** Closes the client or the core. Blocks until the result of a renewal that was sent is stored. A second
   *  call does nothing. */
  fun close()
}

/** @param what the name of the object that the host closed */
internal fun requireOpen(isClosed: AtomicBoolean, what: String) {
  if (isClosed.get()) throw EnrollException(Status.HANDLE, "this $what is closed", "client")
}

/** Owns a port, and closes the port once this object is unreachable. While this object is reachable, [keeps]
 * is reachable, too. */
internal class Caller(private val port: Port, private val keeps: Any? = null) {
  private val watch = Reaper.watch(this, port::close)

  /** A field that is written after each call: so this object stays reachable while a call waits. */
  @Volatile private var lastCommand = ""

  suspend fun call(
    command: String,
    kind: Kind,
    timeout: Duration? = null,
    fill: Parameters.() -> Unit = {},
  ): JsonObject {
    refuseReentry(command)
    if (timeout != null && timeout.isNegative()) {
      throw EnrollException(Status.INVALID_ARGUMENT, "timeout: expected 0 or more, got $timeout", "timeout")
    }
    try {
      return port.call(command, kind, timeout, Parameters().apply(fill))
    } finally {
      lastCommand = command
    }
  }

  suspend fun quickToken(minimumLifetime: Duration): AccessToken? {
    refuseReentry("token.access")
    return port.quickToken(minimumLifetime).also { lastCommand = "token.access" }
  }

  fun close() {
    watch.end()
    port.close()
  }

  private suspend fun refuseReentry(command: String) {
    val who = when {
      !port.isClient -> return
      currentCoroutineContext()[InsideTransport] != null -> "transport"
      HostSecrets.isHere -> "secret store"
      else -> return
    }
    throw EnrollException(Status.REENTRANT, "the host's $who called $command inside a call; it must not use EnrollKit")
  }
}

/** Marks the coroutines that run a host's transport. The mark does not depend on their thread. */
internal object InsideTransport : CoroutineContext.Element, CoroutineContext.Key<InsideTransport> {
  override val key: CoroutineContext.Key<*> get() = this
}

/** The parameters of one call. */
internal class Parameters {
  private val members = LinkedHashMap<String, JsonElement>()
  private val givenKeys = LinkedHashMap<String, Keys>()

  fun put(name: String, value: JsonElement) {
    members[name] = value
  }

  fun store(store: Store) {
    members["store"] = JsonPrimitive(store.name)
  }

  fun keys(keys: Keys?) {
    keys?.let { givenKeys["keys"] = it }
  }

  fun newKeys(keys: Keys?) {
    keys?.let { givenKeys["newKeys"] = it }
  }

  operator fun get(name: String): JsonElement? = members[name]

  fun keysNamed(name: String): Keys? = givenKeys[name]

  val hasHostKeys: Boolean get() = givenKeys.values.any { it is Keys.Host }

  /** All parameters as JSON. If the host has its own secret store, one word replaces it. */
  fun json(): JsonObject {
    val all = members + givenKeys.mapValues { (_, keys) -> keys.encode() }
    return JsonObject(all).also { refuseUnreadable(it, 1) }
  }
}

internal fun Keys.encode(): JsonObject = buildJsonObject {
  when (val keys = this@encode) {
    is Keys.Auto -> put("provider", "auto")
    is Keys.File -> {
      put("provider", "file")
      keys.path?.let { put("file", it) }
    }
    is Keys.SecretService -> put("provider", "secret-service")
    is Keys.Passphrase -> {
      put("provider", "passphrase")
      put("passphrase", keys.text)
    }
    is Keys.Host -> put("provider", "host")
  }
  if (sessionCache != Duration.ZERO) put("sessionCacheSeconds", sessionCache.toWholeSeconds())
}

private const val DEEPEST = 64

/** Refuses JSON that the core would refuse, before it is sent: a daemon cannot say which message it could not read. */
internal fun refuseUnreadable(element: JsonElement, depth: Int) {
  fun refuse(what: String): Nothing = throw EnrollException(Status.JSON, what, "parameters")
  if (depth > DEEPEST) refuse("expected JSON of at most $DEEPEST levels, got more")
  when (element) {
    is JsonObject -> element.forEach { (name, value) ->
      if ('\u0000' in name) refuse("expected JSON strings without NUL, got one with NUL")
      refuseUnreadable(value, depth + 1)
    }
    is JsonArray -> element.forEach { refuseUnreadable(it, depth + 1) }
    is JsonPrimitive -> if ('\u0000' in element.content) refuse("expected JSON strings without NUL, got one with NUL")
  }
}
