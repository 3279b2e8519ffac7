// Prints accounts and sessions for an operator's terminal. Text from outside is bounded and contains no control
// characters.

import EnrollRules
import EnrollGateway
import EnrollGatewayPages
import EnrollJSON

enum AccountText {
  static func write(json: JSON) { StandardStream.write(json.serialized() + [0x0A], to: 1) }

  static func write(_ shown: AccountAdministration.Shown) {
    StandardStream.printLine("account \(shown.account.id)")
    StandardStream.printLine("  created     \(moment(shown.account.created))")
    StandardStream.printLine("  last login  \(moment(shown.account.lastLogin))")
    for identity in shown.identities {
      StandardStream.printLine("  identity    \(word(identity.provider)): \(word(identity.subject))")
      if let email = identity.email {
        let state = identity.isEmailVerified ? "verified" : "not verified"
        StandardStream.printLine("    e-mail    \(word(email)) (\(state))")
      }
      if let name = identity.name { StandardStream.printLine("    name      \(TerminalText.shown(name))") }
    }
    if let sessions = shown.sessions { StandardStream.printLine("  sessions    \(sessions)") }
  }

  static func write(_ sessions: [LiveSession]) {
    if sessions.isEmpty { StandardStream.printLine("The account has no session.") }
    for session in sessions {
      let holder = session.app.map { "app \(word($0))" } ?? "browser"
      StandardStream.printLine("session \(session.id)")
      StandardStream.printLine("  of          \(holder), by \(word(session.identity.provider))")
      if let device = session.device {
        StandardStream.printLine("  device      \(TerminalText.shown(device))")
      }
      StandardStream.printLine("  begun       \(moment(session.created))")
      StandardStream.printLine("  last used   \(moment(session.lastSeen))")
      StandardStream.printLine("  ends        \(moment(session.expires))")
    }
  }

  private static func word(_ text: String) -> String { PrintableText.bounded(text, maximumBytes: 300) }

  /// `2026-11-24 09:05:07 UTC`
  private static func moment(_ time: UnixTime) -> String { MomentText.utc(time.seconds) }
}

/// Shows a name in any script without control and format characters.
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
