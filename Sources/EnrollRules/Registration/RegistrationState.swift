// The state of a registration, as the host observes it: A to H, and the states between them (flows.md §7).

public import EnrollJSON

/// The state of one account's registration.
public enum RegistrationState: Equatable, Sendable {
  /// The state has not been requested yet, or the host has not declared its platform ready.
  case starting
  /// D: the store holds no token; the host offers the ways to register.
  case unregistered
  /// Between D `unregistered` and G `awaitingConfirmation`: a transaction is in progress.
  case authenticating(transactionID: TransactionID, step: Step)
  /// G: tokens were received and wait for the user's confirmation. The transaction that brought the tokens identifies
  /// the question to the user, so an answer to this question concerns only this profile.
  case awaitingConfirmation(transactionID: TransactionID, profile: JSONObject)
  /// A, B, C, H: there is an access token to use.
  case active(Activation)
  /// E: the access token could not be renewed, the session is over, or the registration check refused the access
  /// token.
  case renewalFailed(RenewalFailure)
  /// F: the browser, link, app or code step failed, or the registration check answered about another user.
  case registrationFailed(EnrollError)

  /// The step that an authenticating transaction waits for.
  public enum Step: String, Sendable, CaseIterable {
    /// The redirect of the external browser.
    case browser
    /// The link in an e-mail.
    case emailPending
    /// The one-time code that the user types, here or on another device.
    case codePending
    /// The return from another app, in which the user registers.
    case otherApp
    /// The provider's response to the code that EnrollKit sent: neither the host nor the user has to act.
    case exchanging
    /// The PIN of the account.
    case pin
  }

  /// How the session became active.
  public enum Activation: String, Sendable, CaseIterable {
    /// A: the platform is not native, and a stand-in token is used.
    case notNative
    /// B: the access token was present and not due.
    case valid
    /// C: the access token was due, and the renewal succeeded.
    case renewed
    /// H: the user confirmed.
    case confirmed
  }

  /// The details of E `renewalFailed`: the remedy, and whether the old access token still works.
  public struct RenewalFailure: Equatable, Sendable {
    /// Why the token could not be renewed.
    public var error: EnrollError
    /// The action that may help.
    public var remedy: Remedy
    /// Whether the access token has not expired yet.
    public var isTokenUsable: Bool

    /// The actions that may help after a failed renewal.
    public typealias Remedy = EnrollError.Remedy

    public init(error: EnrollError, remedy: Remedy, isTokenUsable: Bool) {
      self.error = error
      self.remedy = remedy
      self.isTokenUsable = isTokenUsable
    }
  }

  /// The state without its payload, as the transition table names it.
  public enum Kind: String, Sendable, CaseIterable {
    /// ``RegistrationState/starting``.
    case starting
    /// A: ``RegistrationState/Activation/notNative``.
    case notNative
    /// B: ``RegistrationState/Activation/valid``.
    case valid
    /// C: ``RegistrationState/Activation/renewed``.
    case renewed
    /// D: ``RegistrationState/unregistered``.
    case unregistered
    /// E: ``RegistrationState/renewalFailed(_:)``.
    case renewalFailed
    /// F: ``RegistrationState/registrationFailed(_:)``.
    case registrationFailed
    /// G: ``RegistrationState/awaitingConfirmation(transactionID:profile:)``.
    case awaitingConfirmation
    /// H: ``RegistrationState/Activation/confirmed``.
    case confirmed
    /// ``RegistrationState/authenticating(transactionID:step:)``.
    case authenticating

    /// A to H, as in the documentation of the state machine; nil for the two states without a letter. The letters are
    /// not part of the API, which uses the names.
    package var letter: String? {
      switch self {
      case .starting, .authenticating: nil
      case .notNative: "A"
      case .valid: "B"
      case .renewed: "C"
      case .unregistered: "D"
      case .renewalFailed: "E"
      case .registrationFailed: "F"
      case .awaitingConfirmation: "G"
      case .confirmed: "H"
      }
    }
  }

  /// The state without its payload.
  public var kind: Kind {
    switch self {
    case .starting: .starting
    case .unregistered: .unregistered
    case .authenticating: .authenticating
    case .awaitingConfirmation: .awaitingConfirmation
    case .active(.notNative): .notNative
    case .active(.valid): .valid
    case .active(.renewed): .renewed
    case .active(.confirmed): .confirmed
    case .renewalFailed: .renewalFailed
    case .registrationFailed: .registrationFailed
    }
  }

  /// Whether nothing more happens until the host or the user acts.
  public var isSettled: Bool {
    switch kind {
    case .starting, .authenticating: false
    case .notNative, .valid, .renewed, .unregistered, .renewalFailed, .registrationFailed,
      .awaitingConfirmation, .confirmed:
      true
    }
  }
}

extension RegistrationState.RenewalFailure {
  package static func registerAgain(_ error: EnrollError, _ isTokenUsable: Bool) -> Self {
    Self(error: error, remedy: .registerAgain, isTokenUsable: isTokenUsable)
  }
}

extension RegistrationState.RenewalFailure {
  package static var expiredForGood: Self {
    Self(
      error: EnrollError(.reauthenticate, "the token expired, and the provider gave no refresh token"),
      remedy: .registerAgain, isTokenUsable: false)
  }
}
