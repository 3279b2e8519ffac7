// The last failures of this process, for whoever has to find out what happened.

/// What ``EnrollEvent`` told of failures, and warnings. Texts hold no secret (R40).
struct ErrorLog: Sendable {
  static let limit = 16

  private(set) var entries: [(at: UnixTime, error: EnrollError)] = []

  mutating func add(_ error: EnrollError, at time: UnixTime) {
    if entries.count >= Self.limit { entries.removeFirst() }
    entries.append((time, error))
  }

  mutating func add(_ notification: EnrollEvent, at time: UnixTime) {
    switch notification {
    case .errorReported(let error), .tokenRenewalFailed(let error): add(error, at: time)
    case .registrationChanged, .registrationSettled, .tokenRenewed, .logoutFinished: break
    }
  }
}
