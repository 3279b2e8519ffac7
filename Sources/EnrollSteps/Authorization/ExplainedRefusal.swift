// The explanation of a refused scope (RFC 6749 §4.1.2.1, §5.2).

import EnrollRules

extension AuthorizationStep {
  /// Adds the requested scopes and the scopes that the provider lists (RFC 8414 §2), if the error concerns scopes, so
  /// that a developer can compare both lists.
  func explained(_ error: EnrollError, scopes: [String]) -> EnrollError {
    guard !error.isAboutTarget else { return error.namingResourceKeys }
    guard error.isAboutScopes else { return context.withRegistration(error) }
    let isOwn = noticesRefusal(error, of: scopes)
    var text = error.message
    text += scopes.isEmpty ? "; no scope was asked for" : "; asked: \(Scopes.joined(scopes))"
    if let listed = provider.cachedMetadata?.scopes, !listed.isEmpty {
      text += "; the provider lists: \(PrintableText.bounded(Scopes.joined(listed), maximumBytes: 500))"
    } else {
      text += "; the provider lists no scopes"
    }
    text += ProviderPreset.advice(for: configuration)
    if isOwn { text += "; the next sign-in leaves offline_access out" }
    return error.leading(to: error.code, text, field: error.field ?? "scopes")
  }
}
