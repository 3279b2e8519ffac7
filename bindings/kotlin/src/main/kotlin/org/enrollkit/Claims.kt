package org.enrollkit

import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

/** Claims about a user (OpenID Connect Core §5.1), as JSON. Personal: [toString] tells how many there are. */
public class Claims internal constructor(
  /** As they came. */
  public val json: JsonObject,
) : Map<String, JsonElement> by json {
  /** A claim that is text; null where it is missing or something else. */
  public fun text(name: String): String? = (json[name] as? JsonPrimitive)?.takeIf { it.isString }?.content

  /** Who it is: the claim `sub`. */
  public val subject: String? get() = text("sub")

  /** What the user is called. */
  public val name: String? get() = text("name")

  /** The user's e-mail address. */
  public val email: String? get() = text("email")

  override fun equals(other: Any?): Boolean = other is Claims && other.json == json

  override fun hashCode(): Int = json.hashCode()

  override fun toString(): String = "Claims($size)"
}
