// JSON-RPC 2.0 with enrolld: one message per line, on the pipes of a child process. Both sides send requests and answers.

package org.enrollkit

import java.io.BufferedReader
import java.io.IOException
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicLong
import kotlin.concurrent.thread
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.longOrNull
import kotlinx.serialization.json.put

internal class DaemonConnection private constructor(private val process: Process, private val log: EnrollLog?) {
  private val waiting = ConcurrentHashMap<Long, CancellableContinuation<JsonObject>>()
  private val last = AtomicLong()
  private val outgoing = LinkedBlockingQueue<ByteArray>()
  private val isClosing = AtomicBoolean()
  private val hubs = ConcurrentHashMap<String, EventHub>()

  /** Serves the daemon's requests to this program. */
  val host = DaemonHost(log) { message -> if (end == null) outgoing.put(line(message)) }
  @Volatile private var lastLine: String? = null
  @Volatile private var end: DaemonEndedException? = null

  /** @throws EnrollException the daemon's error, or the error that the daemon has ended. */
  suspend fun request(method: String, parameters: JsonObject): JsonObject {
    val id = last.incrementAndGet()
    val message = message(method, parameters) { put("id", id) }
    return suspendCancellableCoroutine { continuation ->
      waiting[id] = continuation
      val ended = end
      if (ended != null) {
        if (waiting.remove(id) != null) continuation.resumeWithException(ended)
        return@suspendCancellableCoroutine
      }
      outgoing.put(message)
      continuation.invokeOnCancellation {
        if (waiting.remove(id) != null) notify("$/cancelRequest", buildJsonObject { put("id", id) })
      }
    }
  }

  fun notify(method: String, parameters: JsonObject) {
    if (end == null) outgoing.put(message(method, parameters) {})
  }

  fun listen(client: String, hub: EventHub) {
    hubs[client] = hub
    end?.let(hub::end)
  }

  fun forget(client: String) {
    hubs.remove(client)?.end(null)
  }

  /**
   * Ends the daemon properly: before it ends, the daemon stores the results of renewals that were sent. If
   * the daemon may still have to send requests to this program, it gets a signal, and its input stays open
   * for this program's answers until the daemon's output ends. Otherwise its input is closed, which ends the
   * daemon.
   */
  fun close() {
    if (!isClosing.compareAndSet(false, true)) return
    // ProcessHandle.destroy is called, because Process.destroy would also close the pipes.
    if (host.isNeeded) process.toHandle().destroy() else outgoing.put(LAST)
    if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) process.destroyForcibly().waitFor()
  }

  private fun message(
    method: String,
    parameters: JsonObject,
    more: kotlinx.serialization.json.JsonObjectBuilder.() -> Unit,
  ): ByteArray = line(
    buildJsonObject {
      put("jsonrpc", "2.0")
      more()
      put("method", method)
      put("params", parameters)
    },
  )

  private fun line(json: JsonObject): ByteArray {
    val bytes = (json.toString() + "\n").toUtf8("parameters")
    if (bytes.size > LIMIT) {
      throw EnrollException(Status.INVALID_ARGUMENT, "expected a message of at most $LIMIT bytes, got ${bytes.size}", "parameters")
    }
    return bytes
  }

  private fun write() {
    try {
      process.outputStream.use { stream ->
        while (true) {
          val message = outgoing.take()
          if (message === LAST) return
          stream.write(message)
          message.fill(0)
          if (outgoing.isEmpty()) stream.flush()
        }
      }
    } catch (_: IOException) {
      // The reading thread notices the end, too, and ends every waiting call.
    }
  }

  private fun read() {
    var problem: String? = null
    try {
      process.inputStream.bufferedReader().use { reader -> readLines(reader) }
    } catch (fault: EnrollException) {
      problem = "it does not speak JSON-RPC: ${fault.error.message}"
      process.destroyForcibly()
    } catch (fault: IOException) {
      problem = fault.message
    }
    ended(problem)
  }

  private fun readLines(reader: BufferedReader) {
    while (true) {
      val line = reader.readLine() ?: return
      if (line.isNotBlank()) take(withDefects(line, parseObject(line, "a message of the daemon")))
    }
  }

  private fun take(message: JsonObject) {
    val method = message.textOrNull("method")
    if (method != null) return asked(message.find("id"), method, message.find("params") as? JsonObject ?: NOTHING)
    val id = (message.find("id") as? JsonPrimitive)?.longOrNull
    val failure = message.find("error")?.members()?.let(::failure)
    if (id == null) {
      // The daemon cannot say which request it could not read, so every call must end.
      if (failure != null) waiting.keys.forEach { waiting.remove(it)?.resumeWithException(failure) }
      return
    }
    val continuation = waiting.remove(id) ?: return
    if (failure != null) continuation.resumeWithException(failure) else continuation.resume(message.need("result").members())
  }

  private fun asked(id: JsonElement?, method: String, parameters: JsonObject) {
    when {
      id != null -> host.ask(id, method, parameters)
      method == "$/cancelRequest" -> parameters.find("id")?.let(host::giveUp)
      else -> event(method, parameters)
    }
  }

  private fun event(name: String, parameters: JsonObject) {
    val hub = hubs[parameters.textOrNull("client")] ?: return
    try {
      decodeEvent(name, parameters)?.let(hub::tell)
    } catch (fault: EnrollException) {
      hub.end(fault)
    }
  }

  private fun failure(error: JsonObject): EnrollException {
    val data = error.find("data") as? JsonObject
    if (data?.find("status") != null) return EnrollException(EnrollError.decode(data))
    val message = error.textOrNull("message").orEmpty()
    return when (error.find("code")?.int()) {
      METHOD_NOT_FOUND -> EnrollException(Status.NOT_FOUND, message)
      INVALID_PARAMETERS -> EnrollException(Status.INVALID_ARGUMENT, message)
      PARSE_ERROR, INVALID_REQUEST -> EnrollException(Status.JSON, message)
      else -> EnrollException(Status.INTERNAL, message)
    }
  }

  private fun ended(problem: String?) {
    host.end()
    val exitCode = if (process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) process.exitValue() else null
    val why = listOfNotNull(problem, lastLine).joinToString("; ")
    val told = DaemonEndedException(
      if (isClosing.get()) "this Enroll is closed" else "the daemon ended with exit code $exitCode" + if (why.isEmpty()) "" else ": $why",
      exitCode,
    )
    end = told
    outgoing.put(LAST)
    waiting.keys.forEach { waiting.remove(it)?.resumeWithException(told) }
    hubs.values.forEach { it.end(if (isClosing.get()) null else told) }
  }

  private fun readLog() {
    try {
      process.errorStream.bufferedReader().forEachLine { line ->
        lastLine = line
        log.tell(line)
      }
    } catch (_: IOException) {
    }
  }

  companion object {
    const val LIMIT = 1 shl 20
    private const val TIMEOUT_SECONDS = 40L
    private const val PARSE_ERROR = -32700
    private const val INVALID_REQUEST = -32600
    private const val METHOD_NOT_FOUND = -32601
    private const val INVALID_PARAMETERS = -32602
    private val LAST = ByteArray(0)
    private val NOTHING = JsonObject(emptyMap())

    fun start(command: List<String>, log: EnrollLog?): DaemonConnection {
      val process = try {
        ProcessBuilder(command).start()
      } catch (fault: IOException) {
        throw EnrollException(Status.UNSUPPORTED, "${command.first()} could not be started: ${fault.message}", cause = fault)
      }
      return DaemonConnection(process, log).apply {
        thread(isDaemon = true, name = "enrolld-writer") { write() }
        thread(isDaemon = true, name = "enrolld-log") { readLog() }
        thread(isDaemon = true, name = "enrolld-reader") { read() }
      }
    }
  }
}
