package org.enrollkit

import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

/** Claims about a user (OpenID Connect Core §5.1), as JSON. They are personal: [toString] shows only how many there
 *  are. */
public class Claims internal constructor(
  /** The claims as received. */
  public val json: JsonObject,
) : Map<String, JsonElement> by json {
  /** A claim as text; null if it is missing or not a string. */
  public fun text(name: String): String? = (json[name] as? JsonPrimitive)?.takeIf { it.isString }?.content

  /** The user's id: the claim `sub`. */
  public val subject: String? get() = text("sub")

  /** The user's name. */
  public val name: String? get() = text("name")

  /** The user's e-mail address. */
  public val email: String? get() = text("email")

  override fun equals(other: Any?): Boolean = other is Claims && other.json == json

  override fun hashCode(): Int = json.hashCode()

  override fun toString(): String = "Claims($size)"
}
