// Generated from the manifest by bindings/kotlin/generate: do not edit.
@file:Suppress("RedundantVisibilityModifier", "MaxLineLength")

package org.enrollkit

import kotlin.time.Instant
import kotlinx.serialization.json.JsonObject

/** What happened, told without being asked. Events of a client come in their order. */
public sealed interface Event {
  /** The registration is in another state. */
  public data class RegistrationChanged(
    /** Where the registration stands (letters A to H as documented). */
    public val state: RegistrationState,
  ) : Event {
    internal companion object {
      fun decode(json: JsonObject): RegistrationChanged = RegistrationChanged(
        state = decodeRegistrationState(json.need("state").members()),
      )
    }
  }

  /** Raised once, when the first state is settled: the host may hide its splash screen. */
  public data class RegistrationSettled(
    /** Where the registration stands (letters A to H as documented). */
    public val state: RegistrationState,
  ) : Event {
    internal companion object {
      fun decode(json: JsonObject): RegistrationSettled = RegistrationSettled(
        state = decodeRegistrationState(json.need("state").members()),
      )
    }
  }

  /** There are new tokens, and they are stored. */
  public data class TokenRenewed(
    /** When the access token ends. */
    public val expiresAt: Instant,
  ) : Event {
    internal companion object {
      fun decode(json: JsonObject): TokenRenewed = TokenRenewed(
        expiresAt = json.need("expiresAt").date(),
      )
    }
  }

  /** A renewal failed; nothing is lost by it. */
  public data class TokenRenewalFailed(
    /** Why something failed. */
    public val error: EnrollError,
  ) : Event {
    internal companion object {
      fun decode(json: JsonObject): TokenRenewalFailed = TokenRenewalFailed(
        error = EnrollError.decode(json.need("error").members()),
      )
    }
  }

  /** The logout callback came back. */
  public data object LogoutFinished : Event

  /** A failure that the user may have to hear of. */
  public data class ErrorReported(
    /** Why something failed. */
    public val error: EnrollError,
    /** For the host's own words: error. and the reason's name. */
    public val messageKey: String,
    /** What can be done about it. */
    public val helps: Help,
  ) : Event {
    internal companion object {
      fun decode(json: JsonObject): ErrorReported = ErrorReported(
        error = EnrollError.decode(json.need("error").members()),
        messageKey = json.need("messageKey").text(),
        helps = Help.decode(json.need("helps")),
      )
    }
  }

}

/** null for an event that this version does not know. */
internal fun decodeEvent(name: String, json: JsonObject): Event? = when (name) {
  "registration.changed" -> Event.RegistrationChanged.decode(json)
  "registration.settled" -> Event.RegistrationSettled.decode(json)
  "token.renewed" -> Event.TokenRenewed.decode(json)
  "token.renewalFailed" -> Event.TokenRenewalFailed.decode(json)
  "logout.finished" -> Event.LogoutFinished
  "error.reported" -> Event.ErrorReported.decode(json)
  else -> null
}
