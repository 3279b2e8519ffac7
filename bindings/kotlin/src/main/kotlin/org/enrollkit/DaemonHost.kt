// Serves the daemon's requests for HTTP and secrets (docs/json-rpc.md, What the daemon asks its host).
//
// The thread that reads from the daemon passes each request on and continues. The host's code runs on a few other
// threads. Each request gets one answer, unless the daemon has cancelled the request or has ended.

package org.enrollkit

import java.util.Base64
import java.util.concurrent.CancellationException
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.withContext
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonObject

/** The program's own transport and secret store, for one client or for one command. */
internal class Served(val transport: HostTransport?, val secrets: HostSecrets?) {
  /** The number of requests that the daemon has sent so far. */
  val asked = AtomicInteger()
}

/** @param post sends a message; throws an [EnrollException] if it is too long. It never waits. */
internal class DaemonHost(private val log: EnrollLog?, private val post: (JsonObject) -> Unit) {
  private val work = CoroutineScope(SupervisorJob() + Dispatchers.Default)

  // Separate limits, so that the host's code does not occupy the program's threads of Dispatchers.IO. There are two
  // limits, so that HTTP requests that block do not delay requests for secrets.
  private val senders = Dispatchers.IO.limitedParallelism(SENDERS) + InsideTransport
  private val keepers = Dispatchers.IO.limitedParallelism(KEEPERS)

  private class Question(val client: String?, val job: Job)

  private val questions = ConcurrentHashMap<JsonElement, Question>()
  private val clients = HashMap<String, Served>()

  /** Clients whose requests arrive before the answer to `client.open` has named them. */
  private val early = HashMap<String, CompletableDeferred<Served?>>()
  private var openings = 0

  private val commands = Mutex()
  @Volatile private var command: Served? = null

  /** Whether the daemon may still have to send requests to this program before it can end in order. */
  val isNeeded: Boolean get() = command != null || synchronized(clients) { clients.isNotEmpty() || openings > 0 }

  /** Opens a client by [open], which returns its handle, and answers this client's requests from the first one on. */
  suspend fun opening(served: Served, open: suspend () -> String): String {
    synchronized(clients) { openings++ }
    var client: String? = null
    try {
      return open().also { client = it }
    } finally {
      synchronized(clients) {
        client?.let {
          clients[it] = served
          early.remove(it)?.complete(served)
        }
        if (--openings == 0) {
          early.values.forEach { it.complete(null) }
          early.clear()
        }
      }
    }
  }

  /** Releases a closed client once the daemon has sent no request for it for a while: a renewal that was sent
   * may still need requests. */
  fun closed(client: String) {
    val served = synchronized(clients) { clients[client] } ?: return
    work.launch {
      do {
        val before = served.asked.get()
        delay(SILENCE)
      } while (questions.values.any { it.client == client } || served.asked.get() != before)
      synchronized(clients) { clients.remove(client) }
    }
  }

  /** Runs a command about a store to its end. The daemon's requests for such a command name no client, so
   * only one such command runs at a time.
   *
   * @throws EnrollException [Status.REENTRANT]: the program's secret store made this call, perhaps inside
   * such a command
   */
  suspend fun <T> serving(secrets: HostSecrets, run: suspend () -> T): T {
    if (HostSecrets.isHere) {
      throw EnrollException(Status.REENTRANT, "a host's secret store called a command with a host's secrets; it must not use EnrollKit")
    }
    return commands.withLock {
      command = Served(null, secrets)
      try {
        withContext(NonCancellable) { run() }
      } finally {
        command = null
      }
    }
  }

  /** Accepts a request of the daemon. Called on the reading thread. */
  fun ask(id: JsonElement, method: String, parameters: JsonObject) {
    val (threads: CoroutineContext, body) = when (method) {
      "host.http.send" -> senders to ::send
      "host.store.get" -> keepers to ::load
      "host.store.set" -> keepers to ::save
      "host.store.remove" -> keepers to ::remove
      else -> return refuse(id, METHOD_NOT_FOUND, "this host serves no such request", null)
    }
    val client = parameters.textOrNull("client")
    val served = served(client)
    val job = work.launch(threads, CoroutineStart.LAZY) {
      answer(id, method) { served.await()?.let { body(it, parameters) } ?: HostAnswer.Refused(Status.CANCELLED) }
    }
    questions[id] = Question(client, job)
    job.invokeOnCompletion { questions.remove(id) }
    job.start()
  }

  /** Stops working on a request, because the daemon no longer waits for its answer. */
  fun giveUp(id: JsonElement) {
    questions[id]?.job?.cancel()
  }

  /** The daemon has ended. */
  fun end() {
    work.cancel()
    synchronized(clients) {
      clients.clear()
      early.clear()
    }
  }

  private suspend fun answer(id: JsonElement, method: String, body: suspend () -> HostAnswer<JsonObject>) {
    val answer = try {
      body()
    } catch (fault: CancellationException) {
      HostAnswer.Refused(Status.CANCELLED)
    } catch (fault: Throwable) {
      log.tell("$method could not be served: $fault", fault)
      HostAnswer.Refused(Status.INTERNAL)
    }
    when (answer) {
      is HostAnswer.Given -> try {
        post(message(id) { put("result", answer.value) })
      } catch (fault: EnrollException) {
        log.tell("the host's answer to $method is invalid: $fault", fault)
        refuse(id, Status.RESPONSE_INVALID)
      }
      is HostAnswer.Refused -> refuse(id, answer.status, answer.isUnsent)
    }
  }

  /** The transport and the secret store that serve a client's requests; null if the client was closed. */
  private fun served(client: String?): Deferred<Served?> {
    if (client == null) return CompletableDeferred(command)
    return synchronized(clients) {
      val known = clients[client]
      if (known == null && openings > 0) return early.getOrPut(client) { CompletableDeferred() }
      known?.asked?.incrementAndGet()
      CompletableDeferred(known)
    }
  }

  private suspend fun send(served: Served, parameters: JsonObject): HostAnswer<JsonObject> {
    val request = HttpRequest(
      method = parameters.need("method").text(),
      url = parameters.need("url").text(),
      headers = parameters.need("headers").members().map { (name, value) -> name to value.text() },
      body = parameters.find("bodyBase64")?.let { Base64.getDecoder().decode(it.text()) }
        ?: parameters.textOrNull("body").orEmpty().toByteArray(),
      responseLimit = parameters.need("responseLimit").int(),
      needsFreshConnection = parameters.need("needsFreshConnection").flag(),
      timeoutMillis = parameters.need("timeout").duration().inWholeMilliseconds.toInt(),
    )
    return served.needTransport().send(request).map { it.encode() }
  }

  private suspend fun load(served: Served, parameters: JsonObject): HostAnswer<JsonObject> =
    served.needSecrets().load(parameters.secretName()).map { secret ->
      buildJsonObject { if (secret != null) put("secret", ENCODER.encodeToString(secret)) }.also { secret?.fill(0) }
    }

  private suspend fun save(served: Served, parameters: JsonObject): HostAnswer<JsonObject> {
    val secret = DECODER.decode(parameters.need("secret").text())
    return served.needSecrets().save(parameters.secretName(), secret).map { NOTHING }
  }

  private suspend fun remove(served: Served, parameters: JsonObject): HostAnswer<JsonObject> =
    served.needSecrets().remove(parameters.secretName()).map { NOTHING }

  private fun refuse(id: JsonElement, status: Status, isUnsent: Boolean = false) =
    refuse(id, FIRST_OWN + status.code, status.summary, status, isUnsent)

  private fun refuse(id: JsonElement, code: Int, text: String, status: Status?, isUnsent: Boolean = false) = post(
    message(id) {
      putJsonObject("error") {
        put("code", code)
        put("message", text)
        if (status != null) {
          putJsonObject("data") {
            put("status", status.wire)
            if (isUnsent) put("notSent", true)
          }
        }
      }
    },
  )

  private companion object {
    /** The number of calls that may run in the daemon at once. */
    const val SENDERS = 64
    const val KEEPERS = 16

    /** How long after the last request of a closed client its requests are still answered; the requests of
     * one renewal are only milliseconds apart. */
    val SILENCE = 5.seconds
    const val METHOD_NOT_FOUND = -32601
    const val FIRST_OWN = -32000
    val NOTHING = JsonObject(emptyMap())
    val ENCODER: Base64.Encoder = Base64.getUrlEncoder().withoutPadding()
    val DECODER: Base64.Decoder = Base64.getUrlDecoder()
  }
}

private inline fun <T, R> HostAnswer<T>.map(transform: (T) -> R): HostAnswer<R> = when (this) {
  is HostAnswer.Given -> HostAnswer.Given(transform(value))
  is HostAnswer.Refused -> this
}

private fun Served.needTransport() =
  transport ?: throw EnrollException(Status.INTERNAL, "expected a request of a client with the host's HTTP, got one of another client")

private fun Served.needSecrets() =
  secrets ?: throw EnrollException(Status.INTERNAL, "expected a request of a client with the host's keys, got one of another client")

private fun JsonObject.secretName() = need("name").text()

private fun message(id: JsonElement, more: kotlinx.serialization.json.JsonObjectBuilder.() -> Unit) = buildJsonObject {
  put("jsonrpc", "2.0")
  put("id", id)
  more()
}

/** The end of the daemon's message for a failure inside the host's code: the daemon has no status for this failure, and
 * repeats the number of the error. */
private const val DEFECT = "host.http.send with the error -32099"

/** Replaces the failure [DEFECT] anywhere in a message of the daemon: the status becomes `internal`
 *  instead of `network`. */
internal fun withDefects(line: String, message: JsonObject): JsonObject =
  if (DEFECT in line) message.withDefects() as JsonObject else message

private fun JsonElement.withDefects(): JsonElement = when (this) {
  is JsonObject -> {
    val isDefect = textOrNull("status") == Status.NETWORK.wire && textOrNull("message").orEmpty().endsWith(DEFECT)
    JsonObject(if (isDefect) this + INTERNAL else mapValues { (_, value) -> value.withDefects() })
  }
  is JsonArray -> JsonArray(map { it.withDefects() })
  is JsonPrimitive -> this
}

private val INTERNAL = with(Status.INTERNAL) {
  mapOf(
    "status" to JsonPrimitive(wire),
    "code" to JsonPrimitive(code),
    "blame" to JsonPrimitive(blame.wire),
    "retryable" to JsonPrimitive(isRetryable),
  )
}

/** The names of headers that may occur several times: the core reads all headers with such a name, but only
 * the first header with any other name. */
private val LISTS = setOf("cache-control", "www-authenticate")

/** The response as the daemon reads it: each header name occurs once. */
private fun HttpResponse.encode(): JsonObject = buildJsonObject {
  val once = java.util.TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER)
  for ((name, value) in headers) {
    once.merge(name, value) { before, more -> if (name.lowercase() in LISTS) "$before, $more" else before }
  }
  put("status", status)
  put("headers", JsonObject(once.mapValues { JsonPrimitive(it.value) }))
  // The body is never sent as text, which might contain characters that are not allowed in this JSON.
  if (body.isNotEmpty()) put("bodyBase64", Base64.getEncoder().encodeToString(body))
}
