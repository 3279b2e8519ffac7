// The two sides of src/main/c/enroll_jni.c: the functions of C, and the callbacks. Both are registered by name and
// signature when the library is loaded; if only one side changes, loading fails.

package org.enrollkit

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds

/** Objects by number: C gets only the number, so a late callback finds no object. */
internal class Registry<T : Any> {
  private val things = ConcurrentHashMap<Long, T>()
  private val last = AtomicLong()

  fun add(thing: T): Long = last.incrementAndGet().also { things[it] = thing }

  operator fun get(number: Long): T? = things[number]

  fun remove(number: Long): T? = things.remove(number)

  val size: Int get() = things.size
}

internal object Native {
  val completions = Registry<PendingCall>()
  val listeners = Registry<EventHub>()

  /** Transports and secret stores. */
  val hosts = Registry<Any>()

  // Functions of C. Each throws EnrollException if it fails.

  @JvmStatic external fun version(): ByteArray

  @JvmStatic external fun abiVersion(): Int

  @JvmStatic external fun headerAbiVersion(): Int

  @JvmStatic external fun clientNew(texts: Array<ByteArray?>, numbers: LongArray): Long

  @JvmStatic external fun clientFree(client: Long): Int

  @JvmStatic external fun call(command: ByteArray, parameters: ByteArray): ByteArray

  @JvmStatic external fun callStart(
    client: Long,
    command: ByteArray,
    parameters: ByteArray,
    timeoutMillis: Long,
    completion: Long,
  ): Long

  @JvmStatic external fun pendingCancel(pending: Long)

  @JvmStatic external fun pendingFree(pending: Long)

  @JvmStatic external fun tokenAccess(client: Long, minimumLifetime: Long, facts: LongArray): ByteArray?

  @JvmStatic external fun eventsSubscribe(client: Long, listener: Long): Long

  @JvmStatic external fun eventsUnsubscribe(client: Long, subscription: Long): Int

  @JvmStatic external fun storeCall(operation: Int, texts: Array<ByteArray?>, numbers: LongArray): ByteArray

  @JvmStatic external fun responseSetStatus(response: Long, status: Int): Int

  @JvmStatic external fun responseAddHeader(response: Long, name: ByteArray, value: ByteArray): Int

  @JvmStatic external fun responseAddBody(response: Long, data: ByteArray): Int

  @JvmStatic external fun responseSetUnsent(response: Long): Int

  @JvmStatic external fun responseIsCancelled(response: Long): Boolean

  // Functions that C calls, on its own threads. These functions must not throw.

  @JvmStatic
  fun failure(
    status: Int,
    blame: ByteArray,
    isRetryable: Boolean,
    httpStatus: Int,
    retryAfter: Long,
    oauthError: ByteArray,
    oauthErrorDescription: ByteArray,
    field: ByteArray,
    message: ByteArray,
  ): Throwable {
    fun optional(bytes: ByteArray) = String(bytes, Charsets.UTF_8).ifEmpty { null }
    val known = Status.of(status)
    val named = optional(blame)
    return EnrollException(
      EnrollError(
        status = known,
        code = status,
        blame = Blame.entries.firstOrNull { it.wire == named } ?: known.blame,
        retryable = isRetryable,
        message = String(message, Charsets.UTF_8),
        field = optional(field),
        httpStatus = httpStatus.takeIf { it != 0 },
        oauthError = optional(oauthError),
        oauthErrorDescription = optional(oauthErrorDescription),
        retryAfter = retryAfter.takeIf { it != 0L }?.seconds,
      ),
    )
  }

  @JvmStatic
  fun completed(completion: Long, result: ByteArray?, failure: Throwable?) {
    completions.remove(completion)?.finished(result, failure)
  }

  @JvmStatic
  fun event(listener: Long, name: ByteArray, parameters: ByteArray) {
    val hub = listeners[listener] ?: return
    try {
      decodeEvent(name.toText(), parseObject(parameters.toText(), "an event"))?.let(hub::tell)
    } catch (fault: Exception) {
      hub.end(fault)
    }
  }

  @JvmStatic
  fun send(
    transport: Long,
    response: Long,
    method: ByteArray,
    url: ByteArray,
    headers: Array<ByteArray>,
    body: ByteArray,
    responseLimit: Long,
    needsFreshConnection: Boolean,
    timeoutMillis: Int,
  ): Int {
    val host = hosts[transport] as? HostTransport ?: return Status.INTERNAL.code
    val texts = headers.map { String(it, Charsets.UTF_8) }
    val request = HttpRequest(
      String(method, Charsets.UTF_8),
      String(url, Charsets.UTF_8),
      texts.chunked(2) { (name, value) -> name to value },
      body,
      responseLimit.toInt(),
      needsFreshConnection,
      timeoutMillis,
    )
    return host.send(request, response)
  }

  @JvmStatic
  fun load(secrets: Long, name: ByteArray, secret: ByteArray): Int = keeping(secrets) { host ->
    val answer = host.load(String(name, Charsets.US_ASCII))
    if (answer is HostAnswer.Given) {
      val found = answer.value ?: return@keeping HostAnswer.Refused(Status.NOT_FOUND)
      found.copyInto(secret)
      found.fill(0)
    }
    answer
  }

  @JvmStatic
  fun save(secrets: Long, name: ByteArray, secret: ByteArray): Int =
    keeping(secrets) { it.save(String(name, Charsets.US_ASCII), secret) }

  @JvmStatic
  fun remove(secrets: Long, name: ByteArray): Int = keeping(secrets) { it.remove(String(name, Charsets.US_ASCII)) }

  @JvmStatic
  fun release(host: Long) {
    hosts.remove(host)
  }

  /** Runs a function of a host's secret store. Returns the status. */
  private inline fun keeping(number: Long, body: (HostSecrets) -> HostAnswer<*>): Int {
    val host = hosts[number] as? HostSecrets ?: return Status.INTERNAL.code
    return when (val answer = body(host)) {
      is HostAnswer.Given -> 0
      is HostAnswer.Refused -> answer.status.code
    }
  }
}

/** The timeout in the form that C expects: -1 means no limit. */
internal fun Duration?.toTimeoutMillis(): Long = when {
  this == null || isInfinite() -> -1
  else -> inWholeMilliseconds + if (this > inWholeMilliseconds.let { Duration.parse("${it}ms") }) 1 else 0
}
