// The user's identity: the proven claims that are kept, and the userinfo endpoint (OpenID Connect Core §5.3, R28, R31).

public import EnrollJSON

extension Engine {
  /// The profile of whoever is signed in, or waits for confirmation: the claims of the id_token, or of userinfo where
  /// no id_token came.
  /// - Throws: `.notFound` when there is none.
  public func profile() throws(EnrollError) -> JSONObject {
    guard let profile = try store.read(account)?.shownProfile else {
      throw EnrollError(.notFound, "no user is signed in, so there is no profile")
    }
    return profile
  }

  /// Asks the userinfo endpoint with a valid access token.
  /// - Parameter outcome: what ``decideAccess(minimumLifetimeSeconds:)`` and a renewal gave.
  /// - Throws: `.profileMismatch` when `sub` is another than the id_token's, or the profile's where no id_token came;
  ///   `.unsupported` without an endpoint.
  public func userinfo(cancellation: (any Cancellation)?) throws(EnrollError) -> JSONObject {
    guard let record = try store.read(account), let tokens = record.confirmed ?? record.provisional else {
      throw EnrollError(.reauthenticate, "no user is signed in")
    }
    let profile = record.confirmed != nil ? record.profile : record.provisionalProfile
    let claims = try fetchUserinfo(
      with: tokens, subject: tokens.identity?.subject ?? profile?["sub"]?.string, cancellation: cancellation)
    guard let claims else { throw EnrollError(.unsupported, "the provider announces no userinfo endpoint") }
    return claims
  }

  /// The profile of somebody whom no id_token names: what userinfo tells. The tokens are good whatever becomes of it, so
  /// the profile is empty where userinfo fails, and support is told.
  func toldProfile(of tokens: TokenSet, cancellation: (any Cancellation)?) -> JSONObject {
    do throws(EnrollError) {
      return try fetchUserinfo(with: tokens, subject: nil, cancellation: cancellation) ?? JSONObject()
    } catch {
      warn(error.saying("\(error.message). The sign-in goes on without a profile."))
      return JSONObject()
    }
  }

  /// nil when the provider has no such endpoint.
  func fetchUserinfo(
    with tokens: TokenSet, subject: String?, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> JSONObject? {
    let isBFFs = tokens.source == .bff
    if isBFFs, !isOfBackend(configuration.issuer.text) { return nil }
    guard let endpoint = try provider.metadata(cancellation: cancellation).userinfoEndpoint else {
      return nil
    }
    if isBFFs, !isOfBackend(endpoint) { return nil }
    let response = try send(
      UserInfo.request(endpoint: endpoint, accessToken: tokens.accessToken, tokenType: tokens.tokenType),
      provenBy: tokens.proofKey, accessToken: tokens.accessToken, cancellation: cancellation)
    // A provider may repeat a token that this request did not carry: the refresh token, say.
    return SentSecrets(of: tokens).hidden(inClaims: try UserInfo.accept(response, subject: subject))
  }
}
