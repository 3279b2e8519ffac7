// The events of an account. The interfaces turn them into events, streams and callbacks.

/// An event of an account, for its observers.
public enum EnrollEvent: Equatable, Sendable {
  /// The state of the registration has changed.
  case registrationChanged(RegistrationState)
  /// The client knows its first state. This event is sent only once; the host may then hide its splash screen.
  case registrationSettled(RegistrationState)
  /// There is a new access token, and it is stored.
  case tokenRenewed(expiresAt: UnixTime)
  /// A token that was due could not be renewed. The call that needed the token got this error, or a token that still
  /// works.
  case tokenRenewalFailed(EnrollError)
  /// The provider's own session ended, and the browser returned from the provider.
  case logoutFinished
  /// A failure that may concern the user. ``EnrollError/messageKey`` and ``EnrollError/helps`` give the key of the
  /// host's text and the remedy.
  case errorReported(EnrollError)

  /// The event's name in every interface.
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
