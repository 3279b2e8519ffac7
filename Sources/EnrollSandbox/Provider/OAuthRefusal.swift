// An OAuth error (RFC 6749 §4.1.2.1 and §5.2).

/// An error code and a description for the developer, which contains no secret.
struct OAuthRefusal: Error, Equatable, Sendable {
  var code: String
  var description: String
  var status: Int

  init(_ code: String, _ description: String, status: Int = 400) {
    self.code = code
    self.description = description
    self.status = status
  }

  static func invalidRequest(_ description: String) -> OAuthRefusal {
    OAuthRefusal("invalid_request", description)
  }

  static func invalidGrant(_ description: String) -> OAuthRefusal {
    OAuthRefusal("invalid_grant", description)
  }
}
