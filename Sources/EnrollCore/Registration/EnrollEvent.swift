// Events that the engine sends to its observer; faces turn them into events, streams and callbacks.

/// An event of an account, for its observers. ``RegistrationState`` is the state that it leads to.
public enum EnrollEvent: Equatable, Sendable {
  /// The registration stands somewhere else now.
  case registrationChanged(RegistrationState)
  /// Raised once, when the first state is settled: the host may hide its splash screen.
  case registrationSettled(RegistrationState)
  /// There is a new access token, and it is on disk.
  case tokenRenewed(expiresAt: UnixTime)
  /// A due token could not be renewed; the call that asked got the same error, or a token that still works.
  case tokenRenewalFailed(EnrollError)
  /// The provider's own session ended, and the browser came back to say so.
  case logoutFinished
  /// A failure that the user may have to hear of, with a key for the host's words and what helps:
  /// ``EnrollError/messageKey``, ``EnrollError/helps``.
  case errorReported(EnrollError)

  /// The event's name in every face.
  public var name: String {
    switch self {
    case .registrationChanged: "registration.changed"
    case .registrationSettled: "registration.settled"
    case .tokenRenewed: "token.renewed"
    case .tokenRenewalFailed: "token.renewalFailed"
    case .logoutFinished: "logout.finished"
    case .errorReported: "error.reported"
    }
  }
}

/// Receives notifications, on the thread that caused them, with no lock held.
public protocol EngineObserver: AnyObject, Sendable {
  func observe(_ notification: EnrollEvent)
  /// Something went wrong, and the flow goes on without it: for logs, not for the user.
  func warn(_ error: EnrollError)
}

extension EngineObserver {
  public func warn(_ error: EnrollError) {}
}
