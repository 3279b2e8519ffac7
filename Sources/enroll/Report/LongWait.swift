// A browser that does not come back: the provider shows it an error page, and tells this program nothing. After a while the
// user is asked to look, with what to compare.

import EnrollCore

struct LongWait {
  static let usualSeconds: Int64 = 30

  private let clientID: String
  private let redirectURI: String
  private let due: Instant
  private var isTold = false

  /// - Parameters:
  ///   - redirectURI: as it was sent, with this attempt's port.
  ///   - seconds: after which the user is asked.
  init(clientID: String, redirectURI: String, since begun: Instant, seconds: Int64 = usualSeconds) {
    self.clientID = clientID
    self.redirectURI = redirectURI
    due = begun.advanced(bySeconds: seconds)
  }

  /// The lines to say, once; empty before and afterwards.
  mutating func lines(at now: Instant) -> [String] {
    guard !isTold, now >= due else { return [] }
    isTold = true
    return [
      "Does the browser show an error page? Then compare with what the provider has registered:",
      "client id: \(Shown.text(clientID))", "redirect: \(Shown.text(redirectURI))",
    ]
  }
}
