// Runs enrolld in a separate process.

package org.enrollkit

import java.util.concurrent.atomic.AtomicBoolean
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

internal class DaemonCore(private val connection: DaemonConnection, override val log: EnrollLog?) : Core {
  override val port: Port = DaemonPort(connection, null, log)

  override suspend fun open(parameters: Parameters, transport: HttpTransport?, hub: EventHub): Port {
    if (transport != null) parameters.put("transport", JsonPrimitive("host"))
    val json = parameters.json()
    suspend fun open() = connection.request("client.open", json).need("client").text()
    val secrets = (parameters.keysNamed("keys") as? Keys.Host)?.secrets
    // This is not cancellable, because a client that the daemon has opened must be closed. Opening sends no request.
    val client = withContext(NonCancellable) {
      if (transport == null && secrets == null) return@withContext open()
      val served = Served(transport?.let { HostTransport(it, log) }, secrets?.let { HostSecrets(it, log) })
      connection.host.opening(served) { open() }
    }
    connection.listen(client, hub)
    return DaemonPort(connection, client, log)
  }
}

/** One client of the daemon, or the daemon itself. */
private class DaemonPort(
  private val connection: DaemonConnection,
  private val client: String?,
  private val log: EnrollLog?,
) : Port {
  private val isClosed = AtomicBoolean()

  override val isClient: Boolean get() = client != null

  override suspend fun call(command: String, kind: Kind, timeout: Duration?, parameters: Parameters): JsonObject {
    if (client != null) {
      requireOpen(isClosed, "client")
      parameters.put("client", JsonPrimitive(client))
    }
    timeout?.let { parameters.put("timeout", JsonPrimitive(minOf(it.toWholeSeconds(), LONGEST_SECONDS))) }
    val json = parameters.json()
    val secrets = (if (client == null) parameters.secrets() else null) ?: return connection.request(command, json)
    return connection.host.serving(HostSecrets(secrets, log)) { connection.request(command, json) }
  }

  /** The host's own secret store, if these parameters of a command about a store contain one. */
  private fun Parameters.secrets(): SecretStore? {
    val old = (keysNamed("keys") as? Keys.Host)?.secrets
    val new = (keysNamed("newKeys") as? Keys.Host)?.secrets
    return if (old != null && new != null) MovingSecrets(old, new) else old ?: new
  }

  override suspend fun subscribe() {
    requireOpen(isClosed, "client")
    connection.request("events.subscribe", named())
  }

  override suspend fun unsubscribe() {
    connection.request("events.unsubscribe", named())
  }

  override fun close() {
    if (!isClosed.compareAndSet(false, true)) return
    if (client == null) return connection.close()
    try {
      runBlocking { withTimeoutOrNull(TIMEOUT) { connection.request("client.close", named()) } }
    } catch (_: EnrollException) {
      // The daemon has ended, and the client with it.
    }
    connection.host.closed(client)
    connection.forget(client)
  }

  private fun named() = JsonObject(mapOf("client" to JsonPrimitive(client)))

  private companion object {
    /** A day, the longest that the manifest allows. */
    const val LONGEST_SECONDS = 86_400L
    val TIMEOUT = 35.seconds
  }
}
