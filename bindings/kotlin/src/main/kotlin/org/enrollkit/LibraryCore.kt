// libenroll in this process.

package org.enrollkit

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.resumeWithException
import kotlin.time.Duration
import kotlin.time.Instant
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

internal class LibraryCore(override val log: EnrollLog?) : Core {
  private val clients: MutableSet<Port> = ConcurrentHashMap.newKeySet()
  private val isClosed = AtomicBoolean()
  override val port: Port = LibraryPort(log, isClosed, clients)

  override suspend fun open(parameters: Parameters, transport: HttpTransport?, hub: EventHub): Port {
    requireOpen(isClosed, "Enroll")
    if (parameters["configurationName"] != null) {
      throw EnrollException(
        Status.UNSUPPORTED, "the library cannot read a configuration by name; use a daemon, or pass the configuration", "configurationName",
      )
    }
    val keys = parameters.keysNamed("keys")
    val store = parameters["store"]?.text().orEmpty()
    val platform = parameters["platform"]?.members() ?: JsonObject(emptyMap())
    val configuration = parameters["configuration"]?.also { refuseUnreadable(it, 1) }
    fun platformText(name: String) = platform.textOrNull(name)?.toUtf8(name)
    fun platformNumber(name: String) = platform.find(name)?.long() ?: 0
    fun isSet(name: String) = if (parameters[name]?.flag() == true) 1L else 0L

    val host = transport?.let { Native.hosts.add(HostTransport(it, log)) } ?: 0
    val secrets = HostKeys(keys, log)
    val texts = arrayOf(
      configuration.toString().toUtf8("configuration"),
      if (store == Store.Memory.name) null else store.toUtf8("store"),
      parameters["account"]?.text()?.toUtf8("account"),
      platformText("type"),
      platformText("appVersion"),
      platformText("deviceId"),
      *secrets.texts,
    )
    val numbers = longArrayOf(
      if (store == Store.Memory.name) 1 else 0,
      if (platform.find("native")?.flag() == false) 1 else 0,
      isSet("waitForPlatform"),
      isSet("renewInBackground"),
      platformNumber("width"),
      platformNumber("height"),
      host,
      *secrets.numbers,
    )
    val client = try {
      Native.clientNew(texts, numbers)
    } catch (fault: Throwable) {
      // The C library may have released these objects already; then these calls do nothing.
      Native.hosts.remove(host)
      secrets.forget()
      throw fault
    } finally {
      texts.forEach { it?.fill(0) }
    }
    return LibraryClientPort(client, hub, clients).also { opened ->
      clients.add(opened)
      if (isClosed.get()) opened.close()
    }
  }
}

/** A key provider in the form that the C code reads: two texts and three numbers. */
private class HostKeys(keys: Keys?, log: EnrollLog?) {
  private val host = if (keys is Keys.Host) Native.hosts.add(HostSecrets(keys.secrets, log)) else 0
  val texts = arrayOf((keys as? Keys.File)?.path?.toUtf8("file"), (keys as? Keys.Passphrase)?.text?.toUtf8("passphrase"))
  val numbers = longArrayOf(
    when (keys) {
      null -> -1
      is Keys.File -> 0
      is Keys.Auto -> 1
      is Keys.SecretService -> 2
      is Keys.Passphrase -> 3
      is Keys.Host -> 4
    },
    keys?.sessionCache?.toWholeSeconds() ?: 0,
    host,
  )

  fun forget() {
    Native.hosts.remove(host)
  }
}

/** The port for commands without a client. */
private class LibraryPort(
  private val log: EnrollLog?,
  private val isClosed: AtomicBoolean,
  private val clients: MutableSet<Port>,
) : Port {
  override val isClient: Boolean get() = false

  override suspend fun call(command: String, kind: Kind, timeout: Duration?, parameters: Parameters): JsonObject {
    requireOpen(isClosed, "Enroll")
    val work = { if (parameters.hasHostKeys) storeCall(command, parameters) else call(command, parameters) }
    return if (kind == Kind.MEMORY) work() else withContext(Dispatchers.IO) { work() }
  }

  private fun call(command: String, parameters: Parameters): JsonObject {
    val bytes = parameters.json().toString().toUtf8("parameters")
    try {
      return parsing(Native.call(command.toUtf8("command"), bytes), command)
    } finally {
      bytes.fill(0)
    }
  }

  /** Runs a command about a store with a C function, because JSON cannot name the host's secret store. */
  private fun storeCall(command: String, parameters: Parameters): JsonObject {
    val operation = STORE_COMMANDS.indexOf(command)
    val keys = HostKeys(parameters.keysNamed("keys"), log)
    val newKeys = HostKeys(parameters.keysNamed("newKeys"), log)
    val texts = arrayOf(
      parameters["store"]?.text()?.toUtf8("store"),
      parameters["account"]?.text()?.toUtf8("account"),
      *keys.texts,
      *newKeys.texts,
    )
    val newDataKey = if (parameters["newDataKey"]?.flag() == true) 1L else 0L
    try {
      val result = Native.storeCall(operation, texts, longArrayOf(*keys.numbers, *newKeys.numbers, newDataKey))
      return when (command) {
        // The name of the new key provider is added here, because the daemon returns it, but the C function does not.
        "store.rekey" -> JsonObject(mapOf("provider" to JsonPrimitive(nameOf(parameters.keysNamed("newKeys")))))
        else -> if (result.isEmpty()) JsonObject(emptyMap()) else parsing(result, command)
      }
    } finally {
      keys.forget()
      newKeys.forget()
      texts.forEach { it?.fill(0) }
    }
  }

  override suspend fun subscribe() = Unit

  override suspend fun unsubscribe() = Unit

  override fun close() {
    isClosed.set(true)
    clients.forEach { it.close() }
  }

  private companion object {
    /** The commands about stores. The position of a command is its number in enroll_jni.c. */
    val STORE_COMMANDS = listOf("accounts.list", "accounts.remove", "installation.reset", "store.diagnose", "store.rekey")
  }
}

private fun nameOf(keys: Keys?): String = when (keys) {
  null, is Keys.Host -> "host"
  else -> keys.encode().need("provider").text()
}

private fun parsing(bytes: ByteArray, command: String): JsonObject = try {
  parseObject(bytes.toText(), command)
} finally {
  bytes.fill(0)
}

/**
 * A token that is returned again for a tenth of a second without asking the library. The library itself trusts its
 * memory for one second. The time is measured by the wall clock, because the monotonic clock stands still while the
 * device sleeps. If the wall clock jumps in either direction, the token is not returned again.
 */
private class RecentToken(private val changes: Int) {
  lateinit var token: AccessToken
  private val began = System.currentTimeMillis()

  fun isCurrent(changes: Int): Boolean = changes == this.changes && System.currentTimeMillis() - began in 0..100
}

/** The token in an answer of `token.access`, if the token is valid and has an expiry; otherwise null. A
 * stand-in token never expires. */
private fun lasting(json: JsonObject): AccessOutcome.Valid? =
  if (json.textOrNull("outcome") == "valid" && json.find("expiresAt") != null) AccessOutcome.Valid.decode(json) else null

/** One client. C looks up its handle at each call: a closed handle is refused, never dereferenced. */
private class LibraryClientPort(
  private val client: Long,
  private val hub: EventHub,
  private val clients: MutableSet<Port>,
) : Port {
  private val isClosed = AtomicBoolean()
  @Volatile private var listener = 0L
  @Volatile private var subscription = 0L

  /**
   * The session's own token, with its scopes, as the command `token.access` returned it last. If the C
   * function returns another token, [quickToken] returns null, and the command runs on another thread,
   * because reading files may block that thread.
   */
  @Volatile private var known: AccessOutcome.Valid? = null

  /** The number of commands that this client has run. It shows whether the token may have changed, because
   * any command may change it. */
  private val changes = AtomicInteger()
  @Volatile private var recent: RecentToken? = null

  override val isClient: Boolean get() = true

  override suspend fun call(command: String, kind: Kind, timeout: Duration?, parameters: Parameters): JsonObject {
    requireOpen(isClosed, "client")
    changes.incrementAndGet()
    try {
      return run(command, timeout, parameters)
    } catch (fault: EnrollException) {
      // Another thread closed the client before the call began.
      if (fault.status == Status.HANDLE) requireOpen(isClosed, "client")
      throw fault
    } finally {
      changes.incrementAndGet()
    }
  }

  private suspend fun run(command: String, timeout: Duration?, parameters: Parameters): JsonObject {
    val bytes = parameters.json().toString().toUtf8("parameters")
    val result = try {
      suspendCancellableCoroutine { continuation ->
        val pending = PendingCall(continuation)
        try {
          pending.start(client, command.toUtf8("command"), bytes, timeout.toTimeoutMillis())
          continuation.invokeOnCancellation { pending.cancel() }
        } catch (fault: EnrollException) {
          continuation.resumeWithException(fault)
        }
      }
    } finally {
      bytes.fill(0)
    }
    val json = parsing(result, command)
    if (command == "token.access" && parameters["resource"] == null && parameters["scope"] == null) known = lasting(json)
    return json
  }

  override fun quickToken(minimumLifetime: Duration): AccessToken? {
    val recent = recent
    if (recent != null && minimumLifetime == Duration.ZERO && recent.isCurrent(changes.get())) return recent.token
    val known = known
    if (known == null || minimumLifetime.isNegative() || isClosed.get()) return null
    val next = RecentToken(changes.get())
    val facts = LongArray(3)
    val bytes = Native.tokenAccess(client, minimumLifetime.toWholeSeconds(), facts)
    if (bytes == null || facts[0] != VALID) {
      this.known = null
      return null
    }
    val (_, expiresAt, typeSize) = facts
    val type = String(bytes, 0, typeSize.toInt(), Charsets.UTF_8)
    val token = String(bytes, typeSize.toInt(), bytes.size - typeSize.toInt(), Charsets.UTF_8)
    bytes.fill(0)
    if (token != known.accessToken) return null
    next.token = AccessToken(token, type, Instant.fromEpochSeconds(expiresAt), isStale = false, scope = known.scope)
    this.recent = next
    return next.token
  }

  override suspend fun subscribe() {
    requireOpen(isClosed, "client")
    val number = Native.listeners.add(hub)
    try {
      subscription = Native.eventsSubscribe(client, number)
      listener = number
    } catch (fault: EnrollException) {
      Native.listeners.remove(number)
      throw fault
    }
  }

  override suspend fun unsubscribe() {
    Native.listeners.remove(listener)
    Native.eventsUnsubscribe(client, subscription)
  }

  override fun close() {
    if (!isClosed.compareAndSet(false, true)) return
    changes.incrementAndGet()
    clients.remove(this)
    Native.clientFree(client)
    Native.listeners.remove(listener)
    hub.end(null)
  }

  private companion object {
    /** ENROLL_ACCESS_VALID. */
    const val VALID = 1L
  }
}
