// The user's identity: the stored verified claims, and the userinfo endpoint (OpenID Connect Core §5.3, R28, R31).

public import EnrollJSON
public import EnrollRules

/// Returns the user's claims, from the store or from the userinfo endpoint.
public final class UserinfoStep: EngineStep {
  let context: EngineContext
  private let requests: ClientRequests
  private let access: AccessStep

  init(_ context: EngineContext, requests: ClientRequests, access: AccessStep) {
    self.context = context
    self.requests = requests
    self.access = access
  }

  /// The profile of the user who is signed in. If there is no session, this is the profile of the user who is asked to
  /// confirm. The profile has the claims of the id_token, or of userinfo if there was no id_token.
  /// - Throws: `.notFound` if there is no profile.
  public func profile() throws(EnrollError) -> JSONObject {
    let record = try store.read(account)
    guard let profile = record?.confirmed != nil ? record?.profile : record?.provisionalProfile else {
      throw EnrollError(.notFound, "no user is signed in, so there is no profile")
    }
    return profile
  }

  /// Asks the userinfo endpoint with an access token that has not expired.
  /// - Throws: as ``AccessStep/livingTokens()``; `.profileMismatch` if `sub` differs from the id_token's `sub` (or from
  ///   the profile's if there is no id_token); `.unsupported` without an endpoint.
  public func userinfo(cancellation: (any Cancellation)?) throws(EnrollError) -> JSONObject {
    let (record, tokens) = try access.livingTokens()
    let profile = record.confirmed != nil ? record.profile : record.provisionalProfile
    let subject = tokens.identity?.subject ?? profile?["sub"]?.string
    let claims = try fetchUserinfo(with: tokens, subject: subject, cancellation: cancellation)
    guard let claims else { throw EnrollError(.unsupported, "the provider announces no userinfo endpoint") }
    if subject == nil { try keepTold(claims, of: tokens) }
    return claims
  }

  /// Stores claims from userinfo as the profile, if the sign-in could not get a profile. After that the user is known,
  /// and claims about another user are refused (R28).
  /// - Throws: `.profileMismatch` if another call has stored another user in the meantime.
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

  /// The profile from userinfo, for a sign-in without an id_token. If userinfo fails, the sign-in is still valid: the
  /// profile is empty, and the error is logged.
  func toldProfile(of tokens: TokenSet, cancellation: (any Cancellation)?) -> JSONObject {
    do throws(EnrollError) {
      return try fetchUserinfo(with: tokens, subject: nil, cancellation: cancellation) ?? JSONObject()
    } catch {
      warn(error.saying("\(error.message). The sign-in goes on without a profile."))
      return JSONObject()
    }
  }

  /// The claims of a verified id_token, completed by a request to userinfo if the id_token lacks claims whose scope was
  /// granted: some providers send these claims only from userinfo. If the request fails, the sign-in is still valid,
  /// and the error is logged.
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

  /// The response of the userinfo endpoint; nil if the provider has no such endpoint.
  func fetchUserinfo(
    with tokens: TokenSet, subject: String?, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> JSONObject? {
    let isBFFs = tokens.source == .bff
    if isBFFs, !configuration.isOfBackend(configuration.issuer.text) { return nil }
    let mapping = configuration.profile
    var endpoint = mapping?.endpoint
    if endpoint == nil { endpoint = try provider.metadata(cancellation: cancellation).userinfoEndpoint }
    guard let endpoint else { return nil }
    if isBFFs, !configuration.isOfBackend(endpoint) { return nil }
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
    // All tokens are hidden in the claims, because a provider may also repeat a token that was not in this request,
    // such as the refresh token.
    return try SentSecrets(of: tokens, clientSecret: configuration.clientSecret).hiddenChecked(
      inClaims: claims)
  }

  /// Refuses a response from a cache, because such a response may be about another user. Only a response that
  /// determines who the user is has to pass this check.
  /// - Throws: `.responseInvalid`.
  private func requireToName(_ response: HTTPResponse) throws(EnrollError) {
    let isEarlier = context.secondsBefore(response, tolerating: ReplayCheck.foreignToleranceSeconds) != nil
    guard response.isFromCache || isEarlier else { return }
    throw EnrollError(
      .responseInvalid,
      "userinfo comes out of a cache (its \(response.isFromCache ? "Age" : "Date") says so), and may be about another user",
      httpStatus: response.status)
  }

  private func ask(
    _ endpoint: String, with tokens: TokenSet, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    try requests.send(
      UserInfo.request(endpoint: endpoint, accessToken: tokens.accessToken, tokenType: tokens.tokenType),
      provenBy: tokens.proofKey, accessToken: tokens.accessToken, cancellation: cancellation)
  }
}
