// Consent for the scope `offline_access` (OpenID Connect Core §11). Some providers issue a refresh token only after a
// request with `prompt=consent`: node-oidc-provider leaves the scope out of its response, idpyoidc and pyop refuse the
// request. If EnrollKit knows that the provider needs `prompt=consent`, the request has it. Otherwise the same
// transaction continues, at most once, with a second request that has `prompt=consent`, and the account's record stores
// whether that brought a refresh token.

/// The effect of `prompt=consent` on the refresh token.
public enum OfflineConsent: String, Sendable {
  /// Consent is needed: without consent the provider returned no refresh token.
  case needed
  /// Consent is useless: even with consent the provider returned no refresh token.
  case useless
}

extension ProviderMetadata {
  /// Whether the provider is node-oidc-provider, which drops `offline_access` without `prompt=consent`. Judged by the
  /// paths of the endpoints.
  var wantsConsentForOfflineAccess: Bool {
    let base = authorizationEndpoint.utf8.dropLast("/auth".utf8.count)
    func isAt(_ url: String?, _ path: String) -> Bool {
      url.map { $0.utf8.elementsEqual(Array(base) + Array(path.utf8)) } ?? false
    }
    return isAt(authorizationEndpoint, "/auth") && isAt(tokenEndpoint, "/token") && isAt(jwksURI, "/jwks")
      && isAt(userinfoEndpoint, "/me")
  }
}

extension TransactionRecord {
  /// Whether the tokens lack the requested refresh token, and the provider does not say that it granted
  /// `offline_access`.
  package func lacksOfflineAccess(_ tokens: TokenSet) -> Bool {
    tokens.refreshToken == nil && Scopes.contains("offline_access", in: tokens.missingScopes)
  }

  /// Whether another request could ask for consent, because this request did not.
  package var canAskForConsent: Bool {
    guard let request = codeRequest, Scopes.contains("offline_access", in: scopes) else { return false }
    let sent = Scopes.split(request.prompt ?? "")
    return !Scopes.contains("consent", in: sent) && !Scopes.contains("none", in: sent)
  }
}

extension EnrollError {
  /// Whether the error means that the provider wants consent: pyop and idpyoidc send `invalid_request`.
  package var asksForConsent: Bool {
    guard let oauthError else { return false }
    return ASCII.equals(oauthError, "consent_required")
      || ASCII.equals(oauthError, "invalid_request") && ASCII.contains(message, "consent in prompt")
  }
}
