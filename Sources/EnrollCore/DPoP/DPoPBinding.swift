// Which types of token an answer may have (RFC 9449 §5, RFC 6749 §7.1: a type that is not understood must not be used).

/// The key that was proven when tokens were requested, if any.
public enum DPoPBinding: Equatable, Sendable {
  /// Nothing: tokens are Bearer tokens.
  case none
  /// A key: the provider binds the tokens to it, or only the refresh token, and says which by `token_type`.
  case offered
  /// A key, and tokens that are not bound to it are of no use.
  case required

  /// The fault of a response's `token_type`; nil if it has none.
  func problem(with type: String) -> String? {
    let isBearer = ASCII.equalsIgnoringCase(type, "Bearer")
    let isDPoP = ASCII.equalsIgnoringCase(type, "DPoP")
    switch self {
    case .none: return isBearer ? nil : "token_type must be Bearer"
    case .offered: return isBearer || isDPoP ? nil : "token_type must be DPoP or Bearer"
    case .required: return isDPoP ? nil : "token_type must be DPoP, since the configuration says dpop: always"
    }
  }
}

extension TokenSet {
  /// The key with which the access token has to be shown; nil for a Bearer token.
  var proofKey: DPoPKey? { ASCII.equalsIgnoringCase(tokenType, "DPoP") ? dpopKey : nil }
}
