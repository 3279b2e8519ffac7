// enrolld in a process of its own.

package org.enrollkit

import java.util.concurrent.atomic.AtomicBoolean
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

internal class DaemonCore(private val connection: DaemonConnection) : Core {
  override val port: Port = DaemonPort(connection, null)

  override suspend fun open(parameters: Parameters, transport: HttpTransport?, hub: EventHub): Port {
    if (transport != null) {
      throw EnrollException(
        Status.UNSUPPORTED, "a daemon does not send by its host's own HTTP: that takes the library", "transport",
      )
    }
    val client = connection.request("client.open", parameters.json()).need("client").text()
    connection.listen(client, hub)
    return DaemonPort(connection, client)
  }
}

/** One client of the daemon, or the daemon itself. */
private class DaemonPort(private val connection: DaemonConnection, private val client: String?) : Port {
  private val isClosed = AtomicBoolean()

  override val isClient: Boolean get() = client != null

  override suspend fun call(command: String, kind: Kind, deadline: Duration?, parameters: Parameters): JsonObject {
    client?.let { parameters.put("client", JsonPrimitive(it)) }
    deadline?.let { parameters.put("deadline", JsonPrimitive(minOf(it.toWholeSeconds(), LONGEST_SECONDS))) }
    return connection.request(command, parameters.json())
  }

  override suspend fun subscribe() {
    connection.request("events.subscribe", named())
  }

  override suspend fun unsubscribe() {
    connection.request("events.unsubscribe", named())
  }

  override fun close() {
    if (!isClosed.compareAndSet(false, true)) return
    if (client == null) return connection.close()
    try {
      runBlocking { withTimeoutOrNull(PATIENCE) { connection.request("client.close", named()) } }
    } catch (_: EnrollException) {
      // The daemon has ended, and the client with it.
    }
    connection.forget(client)
  }

  private fun named() = JsonObject(mapOf("client" to JsonPrimitive(client)))

  private companion object {
    /** A day, the longest that the manifest allows. */
    const val LONGEST_SECONDS = 86_400L
    val PATIENCE = 35.seconds
  }
}
