// `invalid_scope` (RFC 6749 §4.1.2.1, §5.2), told with what a developer compares: the scopes that were asked for, and those
// that the provider lists (RFC 8414 §2).

extension Engine {
  /// The same error, with what was asked and what is listed where it is about the scopes.
  func explained(_ error: EnrollError, scopes: [String]) -> EnrollError {
    guard error.isAboutScopes else { return error }
    var text = "\(error.message); asked: \(Scopes.joined(scopes))"
    if let listed = provider.cachedMetadata?.scopes {
      text += "; the provider lists: \(PrintableText.bounded(Scopes.joined(listed), maximumBytes: 500))"
    } else {
      text += "; the provider lists no scopes"
    }
    return EnrollError(
      error.code, text, field: error.field ?? "scopes", httpStatus: error.httpStatus,
      oauthError: error.oauthError, retryAfterSeconds: error.retryAfterSeconds)
  }
}

extension EnrollError {
  var isAboutScopes: Bool { oauthError.map { ASCII.equals($0, "invalid_scope") } ?? false }
}
