// The last errors of an account, for the diagnostics.

/// The last failures that ``EnrollEvent`` reported, and the last warnings. Texts contain no secret (R40).
package struct ErrorLog: Sendable {
  static let limit = 16

  package private(set) var entries: [(at: UnixTime, error: EnrollError)] = []

  package init() {}

  package mutating func add(_ error: EnrollError, at time: UnixTime) {
    if entries.count >= Self.limit { entries.removeFirst() }
    entries.append((time, error))
  }

  package mutating func add(_ notification: EnrollEvent, at time: UnixTime) {
    switch notification {
    case .errorReported(let error), .tokenRenewalFailed(let error): add(error, at: time)
    case .registrationChanged, .registrationSettled, .tokenRenewed, .logoutFinished: break
    }
  }
}
