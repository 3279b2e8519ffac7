// Accounts and sessions as lines for an operator's terminal. Text from outside is bounded and has nothing that a terminal would obey.

import EnrollCore
import EnrollGateway
import EnrollGatewayPages
import EnrollJSON

enum AccountText {
  static func write(json: JSON) { StandardStream.write(json.serialized() + [0x0A], to: 1) }

  static func write(_ shown: AccountDesk.Shown) {
    StandardStream.say("account \(shown.account.id)")
    StandardStream.say("  created     \(moment(shown.account.created))")
    StandardStream.say("  last login  \(moment(shown.account.lastLogin))")
    for identity in shown.identities {
      StandardStream.say("  identity    \(word(identity.provider)): \(word(identity.subject))")
      if let email = identity.email {
        let state = identity.isEmailVerified ? "verified" : "not verified"
        StandardStream.say("    e-mail    \(word(email)) (\(state))")
      }
      if let name = identity.name { StandardStream.say("    name      \(TerminalText.shown(name))") }
    }
    if let sessions = shown.sessions { StandardStream.say("  sessions    \(sessions)") }
  }

  static func write(_ sessions: [LiveSession]) {
    if sessions.isEmpty { StandardStream.say("The account has no session.") }
    for session in sessions {
      let holder = session.app.map { "app \(word($0))" } ?? "browser"
      StandardStream.say("session \(session.id)")
      StandardStream.say("  of          \(holder), by \(word(session.identity.provider))")
      if let device = session.device { StandardStream.say("  device      \(TerminalText.shown(device))") }
      StandardStream.say("  begun       \(moment(session.created))")
      StandardStream.say("  last used   \(moment(session.lastSeen))")
      StandardStream.say("  ends        \(moment(session.expires))")
    }
  }

  private static func word(_ text: String) -> String { PrintableText.bounded(text, maximumBytes: 300) }

  /// `2026-11-24 09:05:07 UTC`
  private static func moment(_ time: UnixTime) -> String { MomentText.utc(time.seconds) }
}

/// A name in any script.
enum TerminalText {
  static func shown(_ text: String) -> String {
    var kept = ""
    for scalar in text.unicodeScalars.prefix(200) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse:
        kept.unicodeScalars.append("?")
      default: kept.unicodeScalars.append(scalar)
      }
    }
    return kept
  }
}
