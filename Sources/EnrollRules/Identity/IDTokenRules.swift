// The rules about the claims of an id_token whose signature is verified (R24 to R27), each as one row of a table: the
// claim and its requirement. No rule depends on another. R21 and R22 are in SignatureRule.swift.

import EnrollCrypto

/// One rule about the claims.
struct IDTokenRule: Sendable {
  /// Applies a rule to an id_token: returns the token's fault; nil if the token obeys the rule.
  typealias Finding =
    @Sendable (IDTokenClaims, SignatureAlgorithm, IDTokenExpectations) throws(EnrollError) -> String?

  private let finding: Finding

  private init(_ finding: @escaping Finding) { self.finding = finding }

  /// - Throws: `.idTokenInvalid` with the expected and the actual value.
  func check(
    _ claims: IDTokenClaims, _ algorithm: SignatureAlgorithm, _ expected: IDTokenExpectations
  ) throws(EnrollError) {
    guard let finding = try finding(claims, algorithm, expected) else { return }
    throw IDTokenClaims.refusal(finding)
  }

  /// All rules, in the order of OpenID Connect Core §3.1.3.7.
  static let all: [IDTokenRule] = [
    // R24
    IDTokenRule(issuer), IDTokenRule(audience), IDTokenRule(authorizedParty),
    // R25
    IDTokenRule(expiry), IDTokenRule(notBefore), IDTokenRule(issueTime),
    // R26
    IDTokenRule(nonce), IDTokenRule(authenticationClass), IDTokenRule(authenticationTime),
    IDTokenRule(accessTokenHash),
    // R27
    IDTokenRule(continuity),
  ]
}

extension IDTokenRule {
  /// Requires that `iss` is the configured issuer, byte for byte (OpenID Connect Core §3.1.3.7, 2). For a template, it
  /// requires that `iss` is the issuer of the token's own tenant, and that this tenant is allowed.
  private static let issuer: Finding = { (claims, _, expected) throws(EnrollError) in
    expected.issuer.finding(claims.issuer, tenant: claims.tenant, allowing: expected.tenants)
  }

  /// Requires that the token is meant for this client (OpenID Connect Core §3.1.3.7, 3).
  private static let audience: Finding = { (claims, _, expected) throws(EnrollError) in
    if claims.audience.contains(where: { ASCII.equals($0, expected.clientID.text) }) { return nil }
    let came = claims.audience.count == 1 ? claims.audience[0] : "\(claims.audience.count) others"
    return "aud is \(PrintableText.bounded(came, maximumBytes: 128)), not \(expected.clientID)"
  }

  /// Requires that `azp`, if present, is this client, and that each audience is this client or a trusted audience
  /// (OpenID Connect Core §3.1.3.7, 3 to 5).
  private static let authorizedParty: Finding = { (claims, _, expected) throws(EnrollError) in
    if let party = claims.authorizedParty, !ASCII.equals(party, expected.clientID.text) {
      return "azp is \(PrintableText.bounded(party, maximumBytes: 128)), not \(expected.clientID)"
    }
    // A renewed token follows an earlier token that was checked; its audience may have grown since then, so additional
    // audiences are accepted here (R27).
    if expected.previous != nil { return nil }
    let known = [expected.clientID.text] + expected.trustedAudiences
    guard let other = claims.audience.first(where: { !Scopes.contains($0, in: known) }) else { return nil }
    let shown = PrintableText.bounded(other, maximumBytes: 128)
    guard Scopes.contains("*", in: expected.trustedAudiences) else {
      return "aud names \(shown), too, which is not in trustedAudiences"
    }
    return claims.authorizedParty == nil ? "aud names \(shown), too, and azp is missing" : nil
  }

  /// Requires that the token has not expired (OpenID Connect Core §3.1.3.7, 9).
  private static let expiry: Finding = { (claims, _, expected) throws(EnrollError) in
    if expected.now < claims.expiresAt + expected.toleranceSeconds { return nil }
    return "exp \(claims.expiresAt.seconds) has passed \(expected.time)"
  }

  /// Requires that the token is valid already (RFC 7519 §4.1.5).
  private static let notBefore: Finding = { (claims, _, expected) throws(EnrollError) in
    guard let notBefore = claims.notBefore, notBefore > expected.now + expected.toleranceSeconds else {
      return nil
    }
    return "nbf \(notBefore.seconds) has not come \(expected.time)"
  }

  /// Requires that the token was not issued in the future (OpenID Connect Core §3.1.3.7, 10).
  private static let issueTime: Finding = { (claims, _, expected) throws(EnrollError) in
    if claims.issuedAt <= expected.now + expected.toleranceSeconds { return nil }
    return "iat \(claims.issuedAt.seconds) is in the future \(expected.time)"
  }

  /// Requires that `nonce` proves that the token answers this request (OpenID Connect Core §3.1.3.7, 11).
  private static let nonce: Finding = { (claims, _, expected) throws(EnrollError) in
    guard let sent = expected.nonce else { return nil }
    guard let came = claims.nonce else { return "nonce is \(claims.absence(of: "nonce"))" }
    return came == sent ? nil : "nonce is not the one that was sent"
  }

  /// Requires that `acr` is one of the requested `acr_values`, if any were requested (OpenID Connect Core §3.1.3.7,
  /// 12).
  private static let authenticationClass: Finding = { (claims, _, expected) throws(EnrollError) in
    if expected.acrValues.isEmpty { return nil }
    guard let came = claims.authenticationClass else {
      return "acr was requested but is \(claims.absence(of: "acr"))"
    }
    if expected.acrValues.contains(where: { ASCII.equals($0, came) }) { return nil }
    return "acr is \(PrintableText.bounded(came, maximumBytes: 64)), which was not requested"
  }

  /// Requires, if `max_age` was requested, that the user signed in at most that long before the request (OpenID Connect
  /// Core §3.1.2.1, §3.1.3.7, 13). `auth_time` and `iat` are both times of the provider's clock, so their comparison
  /// does not depend on the device's clock. The time since the request is measured by the device, in a way that does
  /// not depend on the device's date.
  private static let authenticationTime: Finding = { (claims, _, expected) throws(EnrollError) in
    guard let maxAge = expected.maxAgeSeconds else { return nil }
    guard let authTime = claims.authTime else {
      return "max_age was requested but auth_time is \(claims.absence(of: "auth_time"))"
    }
    guard authTime <= expected.now + expected.toleranceSeconds else {
      return "auth_time \(authTime.seconds) is in the future at \(expected.now.seconds) by \(expected.clock)"
    }
    let latest = authTime + maxAge + expected.requestAgeSeconds
    if claims.issuedAt <= latest + IDTokenExpectations.serverToleranceSeconds,
      // Without this second comparison, a provider could pass by sending the same `iat` for ever.
      expected.now <= latest + expected.toleranceSeconds
    {
      return nil
    }
    return
      "auth_time \(authTime.seconds) is more than max_age \(maxAge) s before the request, which was made "
      + "\(expected.requestAgeSeconds) s before \(claims.issuedAt.seconds)"
  }

  /// Requires that `at_hash`, if present, matches the access token of the same response (OpenID Connect Core §3.1.3.6):
  /// `at_hash` must be the left half of the access token's hash, by the hash function of the token's algorithm.
  private static let accessTokenHash: Finding = { (claims, algorithm, expected) throws(EnrollError) in
    guard let came = claims.accessTokenHash, let accessToken = expected.accessToken else { return nil }
    // For EdDSA no specification defines the hash function of `at_hash`. Most providers use SHA-512, which is part of
    // Ed25519; Glewlwyd uses SHA-256.
    for digest in algorithm.isEdDSA ? [.sha512, .sha256] : [algorithm.digest] {
      let hash: [UInt8]
      do throws(CryptoError) { hash = try digest.hash(accessToken) } catch {
        throw EnrollError(error, "at_hash could not be computed")
      }
      let half = Base64URL.encodedBytes([UInt8](hash[..<(hash.count / 2)]))
      if ConstantTime.equal(half, [UInt8](came.utf8)) { return nil }
    }
    return "at_hash does not match the access token of the response"
  }

  /// Requires, at a renewal, that the token continues the session (OpenID Connect Core §12.2): the issuer and the user
  /// must stay the same. Other members of `aud` may change; the rule about the audience requires this client.
  /// `auth_time` may move forward, because the user may sign in again at the provider (Keycloak, Cognito, a step-up),
  /// but never back and never past `iat`. The message contains no values, because they are personal.
  private static let continuity: Finding = { (claims, _, expected) throws(EnrollError) in
    guard let before = expected.previous else { return nil }
    guard claims.issuer == before.issuer else { return "iss is not the session's" }
    guard ASCII.equals(claims.subject, before.subject) else { return "sub is not the session's" }
    guard let authTime = claims.authTime else { return nil }
    guard authTime <= claims.issuedAt else { return "auth_time is later than iat" }
    guard let last = before.authTime, authTime < last else { return nil }
    return "auth_time is earlier than that of the id_token before"
  }
}

extension IDTokenExpectations {
  /// The time with which the claims are compared, and its clock, as words for error texts.
  fileprivate var time: String { "at \(now.seconds) by \(clock), tolerating \(toleranceSeconds) s" }
}
