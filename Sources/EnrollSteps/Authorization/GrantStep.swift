// Makes verified tokens from a response of the token endpoint (R24 to R28), in the same way for an authorization code,
// a one-time code and a device code.

import EnrollCrypto
import EnrollJSON
import EnrollRules

/// Verifies the tokens of a response.
final class GrantStep: EngineStep {
  let context: EngineContext
  private let requests: ClientRequests
  private let userinfo: UserinfoStep
  private let revocations: RevocationStep

  init(
    _ context: EngineContext, requests: ClientRequests, userinfo: UserinfoStep, revocations: RevocationStep
  ) {
    self.context = context
    self.requests = requests
    self.userinfo = userinfo
    self.revocations = revocations
  }

  /// Verifies the tokens of a token endpoint's response. If the response is refused, its tokens are revoked, because
  /// they are not stored. The tokens are not revoked if the response was made for another request or another client.
  func received(
    in http: HTTPResponse, sent: Moment, of grant: Grant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> ReceivedTokens {
    var user: String?
    do throws(EnrollError) {
      let response = try TokenResponse(processing: http, binding: requests.binding(grant.dpopKey))
      let tokens = response.tokenSet(
        requestedScopes: grant.transaction.scopes, dpopKey: grant.dpopKey,
        withoutExpirySeconds: configuration.withoutExpirySeconds, at: sent)
      return try received(
        of: tokens, by: grant, request: http.sent,
        clockOffsetSeconds: context.clockOffset(of: http, at: sent),
        user: &user, cancellation: cancellation)
    } catch {
      revocations.revokeTokens(in: http, of: grant, user: user)
      throw advised(error.hiding(http.sent))
    }
  }

  /// Verifies tokens.
  /// - Parameters:
  ///   - request: the secrets of the request that returned the tokens.
  ///   - user: set to the subject once it is verified, even if the tokens are refused after that.
  func received(
    of given: TokenSet, by grant: Grant, request: SentSecrets, clockOffsetSeconds offset: Int64?,
    user: inout String?, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> ReceivedTokens {
    var tokens = given
    // An id_token that was not requested is dropped, because it is not bound to this request.
    if !grant.transaction.mayBringIDToken { tokens.idToken = nil }
    let expectedSubject = grant.request?.expectedSubject
    guard let idToken = tokens.idToken else {
      guard !grant.requiresIDToken else {
        throw EnrollError(
          .idTokenInvalid, "the scope openid was requested, but the response has no id_token")
      }
      guard let expectedSubject else {
        return ReceivedTokens(
          tokens: tokens, profile: userinfo.toldProfile(of: tokens, cancellation: cancellation),
          clockOffsetSeconds: offset)
      }
      let profile = try userinfo.fetchUserinfo(
        with: tokens, subject: expectedSubject, cancellation: cancellation)
      return ReceivedTokens(tokens: tokens, profile: profile ?? JSONObject(), clockOffsetSeconds: offset)
    }
    let (proven, learned) = try prove(
      idToken,
      expecting: grant.expectations(
        tokens, configuration, algorithms: context.idTokenAlgorithms, at: clock.moment()),
      answeredOffset: offset, cancellation: cancellation)
    user = proven.subject
    if let expectedSubject, !ASCII.equals(proven.subject, expectedSubject) {
      throw EnrollError(
        .profileMismatch, "the id_token is about another user than the id_token_hint", field: "sub")
    }
    if let named = grant.namedIssuer, !named.covers(proven.facts.issuer) {
      throw EnrollError(
        .issuerMismatch, "iss of the redirect is another tenant's than that of the id_token",
        field: "iss")
    }
    tokens.identity = proven.facts
    let secrets = SentSecrets(of: tokens, clientSecret: configuration.clientSecret)
    let claims = try secrets.hiddenChecked(inClaims: try request.hiddenChecked(inClaims: proven.claims))
    let profile = userinfo.completed(claims, of: tokens, subject: proven.subject, cancellation: cancellation)
    return ReceivedTokens(tokens: tokens, profile: profile, clockOffsetSeconds: learned)
  }

  /// Adds the name of a matching provider preset, if the client or the id_token is refused and the configuration has no
  /// preset.
  private func advised(_ given: EnrollError) -> EnrollError {
    let error = context.withRegistration(given)
    guard !error.isAboutTarget else { return error.namingResourceKeys }
    guard error.code == .idTokenInvalid || error.isOurConfiguration || error.namesSecret else { return error }
    return error.saying(error.message + ProviderPreset.advice(for: configuration))
  }
}
