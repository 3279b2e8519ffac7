// A browser that does not come back: the provider shows it an error page, and tells this program nothing. After a while the
// user is asked to look, with what to compare.

import EnrollCore

struct LongWait {
  static let usualSeconds: Int64 = 30

  /// For a client that this program registered.
  static let advice: Advice = "Stop, and run \(.registerAgain)."

  private let clientID: String
  /// The command that registers the client again; nil for a client that the user registered.
  private let registration: String?
  private let redirectURI: String
  private let due: Instant
  private var isTold = false

  /// - Parameters:
  ///   - redirectURI: as it was sent, with this attempt's port.
  ///   - registration: the command that registers the client again, if this program registered it.
  ///   - seconds: after which the user is asked.
  init(
    clientID: String, redirectURI: String, registration: String? = nil, since begun: Instant,
    seconds: Int64 = usualSeconds
  ) {
    self.registration = registration
    self.clientID = clientID
    self.redirectURI = redirectURI
    due = begun.advanced(bySeconds: seconds)
  }

  /// The lines to say, once; empty before and afterwards.
  mutating func lines(at now: Instant) -> [String] {
    guard !isTold, now >= due else { return [] }
    isTold = true
    if let registration {
      return [
        "Does the browser show an error page? Then the provider may have forgotten the client that was registered for you.",
        registration,
      ]
    }
    return [
      "Does the browser show an error page? Then compare with what the provider has registered:",
      "client id: \(Shown.text(clientID))", "redirect: \(Shown.text(redirectURI))",
    ]
  }
}
