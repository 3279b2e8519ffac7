// The result of a renewal.

/// The result of one renewal.
public enum RenewalResult: Equatable, Sendable {
  /// The store has newer tokens than the caller. This process or another process renewed them.
  case renewed
  /// The server could not be reached, or had a problem: nothing is lost, try again later (R33).
  case unavailable(EnrollError)
  /// The provider refused the renewal, but did not end the session.
  case rejected(EnrollError)
  /// The session is over.
  case reauthenticate(String, String? = nil)
}

extension AccountRecord {
  /// The result if the session has ended; nil if the session continues.
  package var sessionEnd: RenewalResult? { sessionEnded.map { .reauthenticate($0, sessionEndedDescription) } }
}

extension RenewalResult {
  package var error: EnrollError? {
    switch self {
    case .unavailable(let error), .rejected(let error): error
    case .renewed, .reauthenticate: nil
    }
  }
}
