// What the daemon asks this program: HTTP and secrets of its own (docs/json-rpc.md, What the daemon asks its host).
//
// The thread that reads from the daemon hands a question on and reads on. The host's code runs elsewhere, on a few
// threads; each question is answered once, or the daemon has given it up or is gone.

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

/** What the program does itself for one client, or for one command. */
internal class Served(val transport: HostTransport?, val secrets: HostSecrets?) {
  /** Questions so far. */
  val asked = AtomicInteger()
}

/** @param post sends a message; throws an [EnrollException] where it is too long. Never waits. */
internal class DaemonHost(private val log: EnrollLog?, private val post: (JsonObject) -> Unit) {
  private val work = CoroutineScope(SupervisorJob() + Dispatchers.Default)

  // Beside the threads of Dispatchers.IO, which are the program's own; and apart from each other, so that requests that
  // block keep no secret waiting.
  private val senders = Dispatchers.IO.limitedParallelism(SENDERS) + InsideTransport
  private val keepers = Dispatchers.IO.limitedParallelism(KEEPERS)

  private class Question(val client: String?, val job: Job)

  private val questions = ConcurrentHashMap<JsonElement, Question>()
  private val clients = HashMap<String, Served>()

  /** Clients that ask before the answer of `client.open` has told who they are. */
  private val early = HashMap<String, CompletableDeferred<Served?>>()
  private var openings = 0

  private val commands = Mutex()
  @Volatile private var command: Served? = null

  /** Whether the daemon may have to ask before it can end in order. */
  val isNeeded: Boolean get() = command != null || synchronized(clients) { clients.isNotEmpty() || openings > 0 }

  /** Opens a client by [open], which gives its handle, and serves it from its first question on. */
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

  /** Lets a client go that was closed, once it has been silent for a while: a renewal that was sent may still ask. */
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

  /**
   * Runs a command about a store, to its end: its questions do not say whose they are, so there is one at a time.
   *
   * @throws EnrollException [Status.REENTRANT]: it was called by a secret store, perhaps of such a command
   */
  suspend fun <T> serving(secrets: HostSecrets, run: suspend () -> T): T {
    if (HostSecrets.isHere) {
      throw EnrollException(Status.REENTRANT, "a command with a host's secrets was called by a host's secret store")
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

  /** A request of the daemon's. On the thread that reads. */
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

  /** Nobody waits for that answer any more. */
  fun giveUp(id: JsonElement) {
    questions[id]?.job?.cancel()
  }

  /** The daemon is gone. */
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
        log.tell("what the host answered to $method is not acceptable: $fault", fault)
        refuse(id, Status.RESPONSE_INVALID)
      }
      is HostAnswer.Refused -> refuse(id, answer.status)
    }
  }

  /** Whom the daemon asks; null: it was closed. */
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

  private fun refuse(id: JsonElement, status: Status) = refuse(id, FIRST_OWN + status.code, status.summary, status)

  private fun refuse(id: JsonElement, code: Int, text: String, status: Status?) = post(
    message(id) {
      putJsonObject("error") {
        put("code", code)
        put("message", text)
        if (status != null) putJsonObject("data") { put("status", status.wire) }
      }
    },
  )

  private companion object {
    /** As many calls as may run in the daemon at once. */
    const val SENDERS = 64
    const val KEEPERS = 16

    /** Between two requests of one renewal there are a few milliseconds. */
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
  transport ?: throw EnrollException(Status.INTERNAL, "a client whose HTTP is the host's was expected, another asked")

private fun Served.needSecrets() =
  secrets ?: throw EnrollException(Status.INTERNAL, "a client whose keys are the host's was expected, another asked")

private fun JsonObject.secretName() = need("name").text()

private fun message(id: JsonElement, more: kotlinx.serialization.json.JsonObjectBuilder.() -> Unit) = buildJsonObject {
  put("jsonrpc", "2.0")
  put("id", id)
  more()
}

/** What a daemon says that was told of a defect of its host's: it has no word for one, and repeats the number. */
private const val DEFECT = "host.http.send with the error -32099"

/** A message of the daemon's in which such a defect is none of the network's faults any more, wherever it is told. */
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

/** Of these the core reads all that come, of any other name the first. */
private val LISTS = setOf("cache-control", "www-authenticate")

/** As the daemon reads it: each header once. */
private fun HttpResponse.encode(): JsonObject = buildJsonObject {
  val once = java.util.TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER)
  for ((name, value) in headers) {
    once.merge(name, value) { before, more -> if (name.lowercase() in LISTS) "$before, $more" else before }
  }
  put("status", status)
  put("headers", JsonObject(once.mapValues { JsonPrimitive(it.value) }))
  // Never as text, which might hold what JSON may not here.
  if (body.isNotEmpty()) put("bodyBase64", Base64.getEncoder().encodeToString(body))
}
