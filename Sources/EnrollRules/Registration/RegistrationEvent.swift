// The inputs of the registration state machine.

public import EnrollJSON

/// An input of the registration state machine.
public enum RegistrationEvent: Equatable, Sendable {
  /// The platform is not native: the stand-in token is used.
  case standInUsed
  /// The store holds a confirmed access token that is not due.
  case tokenValid
  /// The access token was due, and the renewal succeeded.
  case tokenRenewed
  /// The store holds no token.
  case tokenMissing
  /// The access token was due, and the renewal failed.
  case renewalFailed(RegistrationState.RenewalFailure)
  /// A transaction began.
  case begun(transactionID: TransactionID, step: RegistrationState.Step)
  /// A transaction reached another step.
  case advanced(transactionID: TransactionID, step: RegistrationState.Step)
  /// The host said that the user gave up. This is a hint: a late valid redirect still counts.
  case dismissed
  /// The transaction failed in its step: browser, link, other app or code.
  case failed(EnrollError)
  /// A transaction failed or was cancelled while a session existed. The state returns to B `valid` (flows.md §6).
  case returnedValid
  /// Like ``returnedValid``, but the state returns to C `renewed`.
  case returnedRenewed
  /// Like ``returnedValid``, but the state returns to H `confirmed`.
  case returnedConfirmed
  /// Like ``returnedValid``, but the state returns to E `renewalFailed`.
  case returnedFailed(RegistrationState.RenewalFailure)
  /// The back end that checks the registration did not accept the access token, or knows no account. The tokens are
  /// kept.
  case checkRefused(RegistrationState.RenewalFailure)
  /// The back end that checks the registration answered about another user.
  case checkMismatched(EnrollError)
  /// A transaction ended with tokens, which are stored as provisional.
  case tokensArrived(transactionID: TransactionID, profile: JSONObject)
  /// The user confirmed.
  case confirmed
  /// The user wants to try the registration again.
  case retried
  /// A logout, a deregistration or a call of `clear` deleted the tokens.
  case cleared

  /// The event without its payload.
  public enum Kind: String, Sendable, CaseIterable {
    /// ``RegistrationEvent/standInUsed``.
    case standInUsed
    /// ``RegistrationEvent/tokenValid``.
    case tokenValid
    /// ``RegistrationEvent/tokenRenewed``.
    case tokenRenewed
    /// ``RegistrationEvent/tokenMissing``.
    case tokenMissing
    /// ``RegistrationEvent/renewalFailed(_:)``.
    case renewalFailed
    /// ``RegistrationEvent/begun(transactionID:step:)``.
    case begun
    /// ``RegistrationEvent/advanced(transactionID:step:)``.
    case advanced
    /// ``RegistrationEvent/dismissed``.
    case dismissed
    /// ``RegistrationEvent/failed(_:)``.
    case failed
    /// ``RegistrationEvent/returnedValid``.
    case returnedValid
    /// ``RegistrationEvent/returnedRenewed``.
    case returnedRenewed
    /// ``RegistrationEvent/returnedConfirmed``.
    case returnedConfirmed
    /// ``RegistrationEvent/returnedFailed(_:)``.
    case returnedFailed
    /// ``RegistrationEvent/checkRefused(_:)``.
    case checkRefused
    /// ``RegistrationEvent/checkMismatched(_:)``.
    case checkMismatched
    /// ``RegistrationEvent/tokensArrived(transactionID:profile:)``.
    case tokensArrived
    /// ``RegistrationEvent/confirmed``.
    case confirmed
    /// ``RegistrationEvent/retried``.
    case retried
    /// ``RegistrationEvent/cleared``.
    case cleared
  }

  /// The event without its payload.
  public var kind: Kind {
    switch self {
    case .standInUsed: .standInUsed
    case .tokenValid: .tokenValid
    case .tokenRenewed: .tokenRenewed
    case .tokenMissing: .tokenMissing
    case .renewalFailed: .renewalFailed
    case .begun: .begun
    case .advanced: .advanced
    case .dismissed: .dismissed
    case .failed: .failed
    case .returnedValid: .returnedValid
    case .returnedRenewed: .returnedRenewed
    case .returnedConfirmed: .returnedConfirmed
    case .returnedFailed: .returnedFailed
    case .checkRefused: .checkRefused
    case .checkMismatched: .checkMismatched
    case .tokensArrived: .tokensArrived
    case .confirmed: .confirmed
    case .retried: .retried
    case .cleared: .cleared
    }
  }
}
