// The decisions about an access token that a caller wants.

public import EnrollRules

/// A decision about a caller's access token, made without a request to the provider.
public enum AccessDecision: Equatable, Sendable {
  /// A token that is not due. The expiry is the earlier expiry of the access token and the refresh token. Until then
  /// the caller may reuse the token without another decision.
  case fresh(AccessToken, Expiry)
  /// Any other outcome that needs no request.
  case answer(AccessOutcome)
  /// The token is due, expired or missing: call ``RenewalStep/renew(epochs:forced:for:)``, then
  /// ``AccessStep/outcome(after:minimumLifetimeSeconds:for:)``.
  case renew(epoch: UInt64)
}

/// A decision about a renewal that a caller requests now, whatever the token's age.
public enum RefreshDecision: Equatable, Sendable {
  case answer(AccessOutcome)
  case renew(epoch: UInt64)
}
