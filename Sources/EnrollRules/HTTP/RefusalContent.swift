// The meaning of each error code of a refusal: the codes of IANA's OAuth Extensions Error Registry, and some
// others.

/// The content of a refusal by a token endpoint, or by a server that answers in its place.
public enum RefusalContent: Sendable, CaseIterable {
  /// `invalid_grant` (RFC 6749 §5.2).
  case invalidGrant
  /// Another registered code that concerns the grant or its user.
  case aboutGrant
  /// `invalid_token`: from a token endpoint it concerns the refresh token, from a gateway a missing access token (RFC
  /// 6750 §3.1).
  case invalidToken
  /// A registered code that concerns the client or its request.
  case aboutClient
  /// A code of a server that has a problem, or that asks the client to repeat the request.
  case trouble
  /// A code that is not registered.
  case otherCode
  /// The response has no body, as its headers say.
  case empty
  /// JSON without an error code, a body that is not JSON, and a body that did not arrive.
  case withoutCode

  /// The codes of this content (IANA, OAuth Extensions Error Registry); empty for content without a known code.
  public var codes: [String] {
    switch self {
    // The second code is GitHub's.
    case .invalidGrant: ["invalid_grant", "bad_refresh_token"]
    case .aboutGrant:
      [
        "access_denied", "expired_token", "login_required", "interaction_required", "consent_required",
        "account_selection_required",
      ]
    case .invalidToken: ["invalid_token"]
    case .aboutClient:
      [
        "invalid_request", "invalid_client", "incorrect_client_credentials", "unauthorized_client",
        "unsupported_grant_type", "invalid_scope", "invalid_target", "invalid_dpop_proof",
      ]
    case .trouble:
      [
        "temporarily_unavailable", "server_error", "slow_down", "authorization_pending",
        TokenEndpointError.useDPoPNonce,
      ]
    case .otherCode, .empty, .withoutCode: []
    }
  }

  /// - Parameters:
  ///   - code: the member `error`, if the body is JSON and this member is valid.
  ///   - isEmpty: whether the headers say that there is no body.
  public init(code: String?, isEmpty: Bool) {
    guard let code else {
      self = isEmpty ? .empty : .withoutCode
      return
    }
    self =
      RefusalContent.allCases.first { content in content.codes.contains { ASCII.equals($0, code) } }
      ?? .otherCode
  }
}
