// The user's identity: the proven claims that are kept, and the userinfo endpoint (OpenID Connect Core §5.3, R28, R31).

public import EnrollJSON

extension Engine {
  /// The profile of the user who is signed in; without a session, of the one who is asked to confirm. The claims of the
  /// id_token, or of userinfo where no id_token came.
  /// - Throws: `.notFound` when there is none.
  public func profile() throws(EnrollError) -> JSONObject {
    let record = try store.read(account)
    guard let profile = record?.confirmed != nil ? record?.profile : record?.provisionalProfile else {
      throw EnrollError(.notFound, "no user is signed in, so there is no profile")
    }
    return profile
  }

  /// Asks the userinfo endpoint with an access token that lives.
  /// - Throws: as ``livingTokens()``; `.profileMismatch` when `sub` is another than the id_token's, or the profile's where no
  ///   id_token came; `.unsupported` without an endpoint.
  public func userinfo(cancellation: (any Cancellation)?) throws(EnrollError) -> JSONObject {
    let (record, tokens) = try livingTokens()
    let profile = record.confirmed != nil ? record.profile : record.provisionalProfile
    let subject = tokens.identity?.subject ?? profile?["sub"]?.string
    let claims = try fetchUserinfo(with: tokens, subject: subject, cancellation: cancellation)
    guard let claims else { throw EnrollError(.unsupported, "the provider announces no userinfo endpoint") }
    if subject == nil { try keepTold(claims, of: tokens) }
    return claims
  }

  /// The profile that the sign-in could not get: from now on the user is known, and claims about another are refused (R28).
  /// - Throws: `.profileMismatch` where another call has learnt another user meanwhile.
  private func keepTold(_ claims: JSONObject, of tokens: TokenSet) throws(EnrollError) {
    var known: JSONObject?
    do throws(EnrollError) {
      try store.update(account) { record throws(EnrollError) in
        if let confirmed = record.confirmed {
          guard confirmed.accessToken == tokens.accessToken else { return }
          if record.profile?["sub"] == nil { record.profile = claims }
          known = record.profile
        } else if record.provisional?.accessToken == tokens.accessToken {
          if record.provisionalProfile?["sub"] == nil { record.provisionalProfile = claims }
          known = record.provisionalProfile
        }
      }
    } catch {
      return warn(error.saying("\(error.message). The profile is not kept."))
    }
    if let subject = known?["sub"]?.string { try UserInfo.check(claims, isAbout: subject) }
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

  /// The claims of a proven id_token, and those that it leaves out although their scope was granted: some providers tell them
  /// from userinfo alone. The sign-in is good whatever becomes of that request, and support is told.
  func completed(
    _ claims: JSONObject, of tokens: TokenSet, subject: String, cancellation: (any Cancellation)?
  ) -> JSONObject {
    guard claims.lacksNames(of: tokens.scopes) else { return claims }
    do throws(EnrollError) {
      let told = try fetchUserinfo(with: tokens, subject: subject, cancellation: cancellation)
      return claims.completed(by: told ?? JSONObject())
    } catch {
      warn(error.saying("\(error.message). The sign-in goes on with the claims of the id_token."))
      return claims
    }
  }

  /// nil when the provider has no such endpoint.
  func fetchUserinfo(
    with tokens: TokenSet, subject: String?, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> JSONObject? {
    let isBFFs = tokens.source == .bff
    if isBFFs, !isOfBackend(configuration.issuer.text) { return nil }
    let mapping = configuration.profile
    var endpoint = mapping?.endpoint
    if endpoint == nil { endpoint = try provider.metadata(cancellation: cancellation).userinfoEndpoint }
    guard let endpoint else { return nil }
    if isBFFs, !isOfBackend(endpoint) { return nil }
    let response = try ask(endpoint, with: tokens, cancellation: cancellation)
    if subject == nil { try requireToName(response) }
    var claims = try UserInfo.accept(response, subject: subject, mapping: mapping)
    if claims["email"] == nil, let emails = mapping?.emailsEndpoint, !isBFFs {
      do throws(EnrollError) {
        let answer = try ask(emails, with: tokens, cancellation: cancellation)
        for claim in try ProfileMapping.emailClaims(in: answer).members { claims[claim.key] = claim.value }
      } catch {
        warn(error.saying("\(error.message). The profile has no e-mail address."))
      }
    }
    // A provider may repeat a token that this request did not carry: the refresh token, say.
    return try SentSecrets(of: tokens, clientSecret: configuration.clientSecret).hiddenChecked(
      inClaims: claims)
  }

  /// - Throws: `.responseInvalid` for an answer out of a cache where it would name the user: it may be about another one.
  private func requireToName(_ response: HTTPResponse) throws(EnrollError) {
    let isEarlier = secondsBefore(response, tolerating: ReplayCheck.foreignToleranceSeconds) != nil
    guard response.isFromCache || isEarlier else { return }
    throw EnrollError(
      .responseInvalid,
      "userinfo comes out of a cache (its \(response.isFromCache ? "Age" : "Date") says so), and may be about another user",
      httpStatus: response.status)
  }

  private func ask(
    _ endpoint: String, with tokens: TokenSet, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    try send(
      UserInfo.request(endpoint: endpoint, accessToken: tokens.accessToken, tokenType: tokens.tokenType),
      provenBy: tokens.proofKey, accessToken: tokens.accessToken, cancellation: cancellation)
  }
}

extension JSONObject {
  /// The claims of a renewed id_token, with those of the profile before that it leaves out although their scope was granted:
  /// a provider that told them from userinfo alone tells them once.
  func keeping(_ before: JSONObject?, scopes: [String]) -> JSONObject {
    guard let before, lacksNames(of: scopes) else { return self }
    return completed(by: before)
  }

  /// With the claims of `other` about the user that this lacks.
  fileprivate func completed(by other: JSONObject) -> JSONObject {
    completed(by: other) { !Scopes.contains($0, in: IDToken.protocolClaims) }
  }

  /// Whether a claim of these scopes that every user has is missing (OpenID Connect Core §5.4).
  fileprivate func lacksNames(of scopes: [String]) -> Bool {
    let names = ["name", "given_name", "family_name", "preferred_username", "nickname"]
    return Scopes.contains("email", in: scopes) && self["email"] == nil
      || Scopes.contains("profile", in: scopes) && names.allSatisfy { self[$0] == nil }
  }
}

extension IDToken {
  /// Claims about a token rather than its user (RFC 7519 §4.1, OpenID Connect Core §2): an id_token's are proven, and
  /// userinfo's say nothing.
  fileprivate static let protocolClaims = [
    "iss", "sub", "aud", "exp", "iat", "nbf", "jti", "nonce", "azp", "acr", "amr", "auth_time", "at_hash",
    "c_hash",
    "sid",
  ]
}
