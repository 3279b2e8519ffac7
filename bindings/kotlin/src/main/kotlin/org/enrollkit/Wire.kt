// JSON and texts on their way to and from the core. Reading is strict: a defect must not turn into an empty token.

package org.enrollkit

import java.nio.ByteBuffer
import java.nio.CharBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.CodingErrorAction
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlin.time.Instant
import kotlinx.serialization.SerializationException
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.booleanOrNull
import kotlinx.serialization.json.longOrNull

/** The text as UTF-8; a lone surrogate is refused. */
internal fun String.toUtf8(field: String): ByteArray {
  val encoder = Charsets.UTF_8.newEncoder()
    .onMalformedInput(CodingErrorAction.REPORT)
    .onUnmappableCharacter(CodingErrorAction.REPORT)
  try {
    val buffer = encoder.encode(CharBuffer.wrap(this))
    return ByteArray(buffer.remaining()).also { buffer.get(it) }
  } catch (fault: CharacterCodingException) {
    throw EnrollException(
      Status.INVALID_ARGUMENT,
      "$field: expected Unicode text, got a lone surrogate",
      field = field,
      cause = fault,
    )
  }
}

/** The core's texts are UTF-8. */
internal fun ByteArray.toText(): String =
  Charsets.UTF_8.newDecoder()
    .onMalformedInput(CodingErrorAction.REPORT)
    .decode(ByteBuffer.wrap(this))
    .toString()

/** A result or an event of the core. */
internal fun parseObject(text: String, what: String): JsonObject {
  val element = try {
    Json.parseToJsonElement(text)
  } catch (fault: SerializationException) {
    // The parser's own message is not used: it quotes its input, which may hold a token.
    throw EnrollException(Status.INTERNAL, "$what: expected a JSON object, got other text")
  }
  return element as? JsonObject
    ?: throw EnrollException(Status.INTERNAL, "$what: expected a JSON object, got another JSON value")
}

private fun unexpected(what: String, element: JsonElement): EnrollException {
  val came = when (element) {
    is JsonObject -> "an object"
    is JsonArray -> "an array"
    is JsonNull -> "null"
    is JsonPrimitive -> if (element.isString) "a string" else "a number or boolean"
  }
  return EnrollException(Status.INTERNAL, "the core's answer: expected $what, got $came; check that core and binding have the same version")
}

internal fun JsonObject.find(name: String): JsonElement? = this[name]?.takeIf { it !is JsonNull }

internal fun JsonObject.need(name: String): JsonElement = find(name)
  ?: throw EnrollException(Status.INTERNAL, "the core's answer has no member $name; check that core and binding have the same version")

internal fun JsonObject.textOrNull(name: String): String? =
  (this[name] as? JsonPrimitive)?.takeIf { it.isString }?.content

internal fun JsonElement.text(): String =
  (this as? JsonPrimitive)?.takeIf { it.isString }?.content ?: throw unexpected("a string", this)

internal fun JsonElement.flag(): Boolean =
  (this as? JsonPrimitive)?.takeIf { !it.isString }?.booleanOrNull ?: throw unexpected("a boolean", this)

internal fun JsonElement.long(): Long =
  (this as? JsonPrimitive)?.takeIf { !it.isString }?.longOrNull ?: throw unexpected("an integer", this)

internal fun JsonElement.int(): Int {
  val number = long()
  return if (number in Int.MIN_VALUE..Int.MAX_VALUE) number.toInt() else throw unexpected("a small integer", this)
}

internal fun JsonElement.duration(): Duration = long().seconds

internal fun JsonElement.date(): Instant = Instant.fromEpochSeconds(long())

internal fun JsonElement.members(): JsonObject = this as? JsonObject ?: throw unexpected("an object", this)

internal fun <T> JsonElement.list(item: (JsonElement) -> T): List<T> =
  (this as? JsonArray)?.map(item) ?: throw unexpected("an array", this)

internal fun <T> JsonElement.word(type: String, entries: Iterable<T>, wire: (T) -> String): T {
  val text = text()
  return entries.firstOrNull { wire(it) == text }
    ?: throw EnrollException(Status.UNSUPPORTED, "$type: expected one of ${entries.map(wire)}, got \"$text\"; the core is newer than the binding")
}

internal fun unknownVariant(type: String, json: JsonObject): EnrollException =
  EnrollException(Status.UNSUPPORTED, "this version does not know a $type with the members ${json.keys}; the core is newer than the binding")

/** The whole seconds, rounded up, so that half a second does not become zero. */
internal fun Duration.toWholeSeconds(): Long =
  if (isInfinite()) Long.MAX_VALUE else inWholeSeconds + if (this > inWholeSeconds.seconds) 1 else 0

/** The text that toString shows for a secret. */
internal fun hidden(text: String?): String = if (text == null) "null" else "***"

/** The part of a URL that toString shows: scheme, host and the names of its parameters. */
internal fun hiddenUrl(url: String?): String {
  if (url == null) return "null"
  val base = url.substringBefore('#').substringBefore('?')
  val authority = Regex("^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?").find(base)?.value?.replace(Regex("//.*@"), "//")
  val names = url.substringBefore('#').substringAfter('?', "").split('&').map { it.substringBefore('=') }
  return (authority ?: "***") + "…" + names.filter { it.isNotEmpty() }.joinToString("&", prefix = "?").takeIf { it != "?" }.orEmpty()
}
