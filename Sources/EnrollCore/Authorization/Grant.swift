// One answer of the token endpoint to proven tokens (R24 to R28): the same for an authorization code, a one-time code and
// a device code.

import EnrollCrypto
import EnrollJSON

/// The expectations that the tokens of one transaction are checked against.
struct Grant {
  let transaction: TransactionRecord
  /// The tokens are bound to it (RFC 9449); nil for Bearer tokens.
  let dpopKey: DPoPKey?
  /// The authorize request that was answered; nil for the grants that have none.
  let request: CodeRequest?
  /// `iss` of the redirect; nil where it had none (RFC 9207).
  var namedIssuer: Issuer?

  /// The grant of an authorization code.
  init(_ request: CodeRequest, of transaction: TransactionRecord, namedIssuer: Issuer? = nil) {
    self.namedIssuer = namedIssuer
    self.transaction = transaction
    dpopKey = request.secrets?.dpopKey
    self.request = request
  }

  /// A grant without an authorize request.
  init(of transaction: TransactionRecord, dpopKey: DPoPKey? = nil) {
    self.transaction = transaction
    self.dpopKey = dpopKey
    request = nil
  }

  /// Without an id_token the answer is refused. Only an authorize request can insist on one (OpenID Connect Core
  /// §3.1.3.3): RFC 8628 promises none for a device code, whatever scopes are granted, nor do one-time codes.
  var requiresIDToken: Bool { transaction.asksForIDToken && request != nil }

  /// Whether an id_token shows, proven or not, that its answer was made for another request or another client: another nonce, `iss`,
  /// `aud` or `azp`. The tokens beside it may be those of somebody who is signed in with them.
  func isContradicted(by idToken: Secret, clientID: ClientID) -> Bool {
    guard let claims = IDToken.unprovenClaims(of: idToken) else { return false }
    if SessionIdentity.contradiction(
      in: claims, issuer: transaction.issuer, subject: nil, clientID: clientID) != nil
    {
      return true
    }
    guard let sent = request?.secrets?.nonce else { return false }
    return claims["nonce"]?.string.map { Secret($0) } != sent
  }

  func expectations(
    _ tokens: TokenSet, _ configuration: Configuration, at moment: Moment
  ) -> IDTokenExpectations {
    IDTokenExpectations(
      issuer: transaction.issuer, tenants: configuration.tenants, clientID: configuration.clientID,
      nonce: request?.secrets?.nonce,
      maxAgeSeconds: request?.demands.maxAgeSeconds, requestAgeSeconds: transaction.age(at: moment),
      acrValues: request?.demands.acrValues ?? [], accessToken: tokens.accessToken, now: moment.wall,
      algorithms: configuration.idTokenAlgorithms)
  }
}

/// Tokens that a transaction brought, and whom they are about.
struct Arrival {
  var tokens: TokenSet
  var profile: JSONObject
  /// The server's clock minus ours.
  var clockOffsetSeconds: Int64?
}

extension Engine {
  /// The token endpoint's answer to proven tokens. Those of an answer that is refused are revoked, since nobody keeps
  /// them; not those of an answer to somebody else.
  func arrival(
    in http: HTTPResponse, sent: Moment, of grant: Grant, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Arrival {
    var user: String?
    do throws(EnrollError) {
      let response = try TokenResponse(processing: http, binding: binding(grant.dpopKey))
      let tokens = response.tokenSet(
        requestedScopes: grant.transaction.scopes, dpopKey: grant.dpopKey,
        withoutExpirySeconds: configuration.withoutExpirySeconds, at: sent)
      return try arrival(
        of: tokens, by: grant, request: http.sent, clockOffsetSeconds: clockOffset(of: http, at: sent),
        user: &user, cancellation: cancellation)
    } catch {
      revokeTokens(in: http, of: grant, user: user)
      throw advised(error.hiding(http.sent))
    }
  }

  /// Tokens to proven tokens.
  /// - Parameters:
  ///   - request: the secrets of the request that brought them.
  ///   - user: the subject, once it is proven: also of tokens that are refused afterwards.
  func arrival(
    of given: TokenSet, by grant: Grant, request: SentSecrets, clockOffsetSeconds offset: Int64?,
    user: inout String?, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> Arrival {
    var tokens = given
    // Nothing ties one that nobody asked for to this request.
    if !grant.transaction.mayBringIDToken { tokens.idToken = nil }
    let expectedSubject = grant.request?.expectedSubject
    guard let idToken = tokens.idToken else {
      guard !grant.requiresIDToken else {
        throw EnrollError(
          .idTokenInvalid, "the scope openid was requested, but the response has no id_token")
      }
      guard let expectedSubject else {
        return Arrival(
          tokens: tokens, profile: toldProfile(of: tokens, cancellation: cancellation),
          clockOffsetSeconds: offset)
      }
      let profile = try fetchUserinfo(with: tokens, subject: expectedSubject, cancellation: cancellation)
      return Arrival(tokens: tokens, profile: profile ?? JSONObject(), clockOffsetSeconds: offset)
    }
    let (proven, learned) = try prove(
      idToken, expecting: grant.expectations(tokens, configuration, at: clock.moment()),
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
    let profile = completed(claims, of: tokens, subject: proven.subject, cancellation: cancellation)
    return Arrival(tokens: tokens, profile: profile, clockOffsetSeconds: learned)
  }

  /// With the name of the provider's preset where the client or its id_token is refused, and the configuration goes without.
  private func advised(_ given: EnrollError) -> EnrollError {
    let error = withRegistration(given)
    guard error.code == .idTokenInvalid || error.isOurConfiguration || error.namesSecret else { return error }
    return error.saying(error.message + ProviderPreset.advice(for: configuration))
  }

  /// Server's clock minus ours, from the Date header.
  func clockOffset(of response: HTTPResponse, at sent: Moment) -> Int64? {
    response.header("Date").flatMap(HTTPDate.parse)?.since(sent.wall)
  }
}

extension TransactionRecord {
  /// An id_token was asked for, and has to be proven.
  var asksForIDToken: Bool { Scopes.contains("openid", in: scopes) }

  /// Whether an id_token that comes is looked at. Of another app's flow only its gateway knows what was asked for.
  fileprivate var mayBringIDToken: Bool { if case .app2app = flow { true } else { asksForIDToken } }
}
