// The last failures of this process, for whoever has to find out what happened.

/// What ``EnrollEvent`` told of failures. Texts hold no secret (R40).
struct ErrorLog: Sendable {
  static let limit = 16

  private(set) var entries: [(at: UnixTime, error: EnrollError)] = []

  mutating func add(_ notification: EnrollEvent, at time: UnixTime) {
    switch notification {
    case .errorReported(let error), .tokenRenewalFailed(let error):
      if entries.count >= Self.limit { entries.removeFirst() }
      entries.append((time, error))
    case .registrationChanged, .registrationSettled, .tokenRenewed, .logoutFinished: break
    }
  }
}
