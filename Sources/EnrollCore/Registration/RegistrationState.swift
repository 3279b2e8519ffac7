// The state of a registration, as the host observes it: A to H, and the states between them (flows.md §7).

public import EnrollJSON

/// The state of one account's registration.
public enum RegistrationState: Equatable, Sendable {
  /// Nothing was asked yet, or the host has not declared its platform ready.
  case starting
  /// D: no token at all; the host presents the ways to register.
  case unregistered
  /// Between D and G: a transaction is under way.
  case authenticating(transactionID: TransactionID, step: Step)
  /// G: tokens arrived and wait for the user's word. The transaction that brought them names the question: its answer is about
  /// this profile and no other.
  case awaitingConfirmation(transactionID: TransactionID, profile: JSONObject)
  /// A, B, C, H: there is an access token to use.
  case active(Activation)
  /// E: the token was due and could not be renewed.
  case renewalFailed(RenewalFailure)
  /// F: the browser, link, app or code step failed.
  case registrationFailed(EnrollError)

  /// The step that an authenticating transaction waits for.
  public enum Step: String, Sendable, CaseIterable {
    /// The redirect of the external browser.
    case browser
    /// The link in an e-mail.
    case emailPending
    /// The one-time code that the user types, here or on another device.
    case codePending
    /// The return of another app.
    case otherApp
    /// The provider's answer to the code: nobody has to do anything.
    case exchanging
    /// The PIN over the account.
    case pin
  }

  /// How the session became active.
  public enum Activation: String, Sendable, CaseIterable {
    /// A: the platform is not native, a stand-in token is used.
    case notNative
    /// B: the access token was present and not due.
    case valid
    /// C: it was due, and renewal succeeded.
    case renewed
    /// H: the user confirmed.
    case confirmed
  }

  /// E in detail: what helps, and whether the old access token still works.
  public struct RenewalFailure: Equatable, Sendable {
    /// Why it could not be renewed.
    public var error: EnrollError
    /// The remedy that helps.
    public var remedy: Remedy
    /// The access token has not expired yet.
    public var isTokenUsable: Bool

    /// Ways to make a failed renewal succeed.
    public enum Remedy: String, Sendable, CaseIterable {
      /// The same again, now or when the network is back.
      case retry
      /// Time: the provider is in trouble, or asked for a pause.
      case wait
      /// The user: the session is over.
      case registerAgain
    }

    public init(error: EnrollError, remedy: Remedy, isTokenUsable: Bool) {
      self.error = error
      self.remedy = remedy
      self.isTokenUsable = isTokenUsable
    }
  }

  /// The state without its payload: a row and a column of the transition table.
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

    /// A to H, as the documentation of the state machine draws them; nil for the states between. The API has names.
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

  /// Nothing more happens until the host or the user acts.
  public var isSettled: Bool {
    switch kind {
    case .starting, .authenticating: false
    case .notNative, .valid, .renewed, .unregistered, .renewalFailed, .registrationFailed,
      .awaitingConfirmation, .confirmed:
      true
    }
  }
}
