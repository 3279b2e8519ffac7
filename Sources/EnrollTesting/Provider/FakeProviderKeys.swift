// The keys of the fake provider: its key set, and the JWTs that it signs.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
public import EnrollJSON

extension FakeProvider {
  func keys() -> JSON {
    let (key, settings) = state.withLock { ($0.key, $0.settings) }
    var set = JSONObject([("keys", .array(published(jwk(key, id: settings.keyID)).map { .object($0) }))])
    settings.keySet(&set)
    return .object(set)
  }

  /// The keys in the provider's key set: `key` in the form that the dialect prescribes, and the dialect's further keys.
  private func published(_ key: JSONObject) -> [JSONObject] {
    let rules = dialect.keys
    guard !rules.isEmpty else { return [] }
    var key = key
    if rules.members?.contains("issuer") ?? false {
      key["issuer"] = .string(
        rules.issuerPerKey == .template ? urls.filled(dialect.discovery.issuer ?? issuer) : issuer)
    }
    if has(.foreignKeyIssuer) {
      key["issuer"] = .string("https://login.microsoftonline.com/\(Self.foreignTenant)/v2.0")
    }
    if let members = rules.members, !members.contains("alg") { key["alg"] = nil }
    var keys = [key]
    for algorithm in rules.algorithmsOfOneKid where .string(algorithm) != key["alg"] {
      var other = key
      other["alg"] = .string(algorithm)
      keys.append(other)
    }
    let hasTwins = has(.twoKeysOneKid)
    if rules.encryption != nil || hasTwins, let second = try? SharedKeys.otherRSA.get() {
      let hasOtherKid = rules.encryption == .otherKid && !hasTwins
      var other = jwk(second, id: hasOtherKid ? "enc-1" : key["kid"]?.string)
      if !hasTwins { (other["alg"], other["use"]) = (.string("RSA-OAEP"), .string("enc")) }
      keys.append(other)
    }
    return keys
  }

  /// The public key as a JWK (RFC 7517 §4).
  private func jwk(_ key: PrivateKey, id: String?) -> JSONObject {
    var members: [(String, JSON?)] = [
      ("kid", id.map { .string($0) }), ("alg", .string(Self.algorithm(of: key).rawValue)),
      ("use", .string("sig")),
    ]
    switch key.publicKey.components {
    case .ec(let curve, let x, let y):
      members += [
        ("kty", .string("EC")), ("crv", .string(curve.rawValue)), ("x", .string(Base64URL.encode(x))),
        ("y", .string(Base64URL.encode(y))),
      ]
    case .rsa(let modulus, let exponent):
      members += [
        ("kty", .string("RSA")), ("n", .string(Base64URL.encode(modulus))),
        ("e", .string(Base64URL.encode(exponent))),
      ]
    case .ed25519(let point):
      members += [
        ("kty", .string("OKP")), ("crv", .string("Ed25519")), ("x", .string(Base64URL.encode(point))),
      ]
    }
    return JSONObject(members)
  }

  private static func algorithm(of key: PrivateKey) -> SignatureAlgorithm {
    if case .rsa = key.kind { .RS256 } else { .ES256 }
  }

  /// A JWT with these claims, signed with the key for the provider's id_tokens, such as a logout token or a
  /// notification.
  /// - Throws: if OpenSSL is missing.
  public func signed(_ claims: JSONObject, header more: [(String, JSON?)] = []) throws -> String {
    try signed(claims, algorithm: nil, more)
  }

  /// - Parameter name: the `alg` of the header, if it differs from the algorithm of the signature.
  private func signed(
    _ claims: JSONObject, algorithm name: String?, _ more: [(String, JSON?)]
  ) throws -> String {
    let (key, settings) = state.withLock { ($0.key, $0.settings) }
    let algorithm = Self.algorithm(of: key)
    let header = JSON.object(
      [("alg", .string(name ?? algorithm.rawValue)), ("kid", settings.keyID.map { .string($0) })] + more)
    let input =
      Base64URL.encode(header.serialized()) + "." + Base64URL.encode(JSON.object(claims).serialized())
    return input + "." + Base64URL.encode(try key.sign(Array(input.utf8), algorithm: algorithm))
  }

  func idToken(for grant: Grant, isRefresh: Bool, _ settings: Settings) -> String {
    let now = clock.wallTime().seconds + settings.clockOffsetSeconds
    var claims = JSONObject([
      ("iss", .string(issuer)), ("sub", .string(grant.subject)), ("aud", .string(grant.clientID)),
      ("exp", .integer(now + 3600)), ("iat", .integer(now)), ("auth_time", .integer(1_600_000_000)),
      ("nonce", isRefresh && !dialect.refresh.hasNonce ? nil : grant.nonce.map { .string($0) }),
      ("name", .string("Alice Example")),
    ])
    translate(&claims)
    settings.claims(&claims)
    if isRefresh { translateRenewed(&claims) }
    let algorithm = dialect.idToken.algorithm == "HS256" ? "HS256" : nil
    return (try? signed(claims, algorithm: algorithm, [("typ", .string("JWT"))])) ?? ""
  }

  /// Changes the claims of an id_token as the dialect prescribes.
  private func translate(_ claims: inout JSONObject) {
    let rules = dialect.idToken
    if let issuer = rules.issuer {
      claims["iss"] = .string(
        Placeholders.filled(
          urls.filled(issuer), ["tid": has(.tenantThatIsNone) ? "organizations" : Self.tenant]))
    }
    if rules.hasTenant {
      claims["tid"] = .string(
        has(.foreignTenant) ? Self.foreignTenant : has(.tenantThatIsNone) ? "organizations" : Self.tenant)
    }
    if let audience = rules.audience { claims["aud"] = .array(audience.map { .string(urls.filled($0)) }) }
    if has(.audienceWithoutUs) { claims["aud"] = .string("another-client") }
    if rules.hasAzp { claims["azp"] = .string(registration.clientID) }
    if !rules.hasNonce { claims["nonce"] = nil }
    let asksAge = state.withLock { $0.asksAge }
    if rules.authTime == .absent || rules.authTime == .whenAsked && !asksAge { claims["auth_time"] = nil }
    switch rules.profileClaims {
    case .full:
      claims["email"] = .string("alice@example.com")
      claims["email_verified"] = rules.emailVerified.json
    case .name: break
    case .thin: claims["name"] = nil
    }
  }

  /// Changes the claims of a renewed id_token as the dialect prescribes.
  private func translateRenewed(_ claims: inout JSONObject) {
    switch dialect.refresh.authTime {
    case .same: break
    case .new: claims["auth_time"] = .integer(clock.wallTime().seconds)
    case .absent: claims["auth_time"] = nil
    }
    if has(.authTimeBackwards) { claims["auth_time"] = .integer(1_500_000_000) }
    if dialect.refresh.audience == .grows, case .array(let audience)? = claims["aud"] {
      claims["aud"] = .array(audience + [.string("new-client")])
    }
  }
}

extension Dialect.IDToken.Shape {
  /// The value of `email_verified`.
  var json: JSON? {
    switch self {
    case .boolean: .bool(true)
    case .text: .string("true")
    case .absent: nil
    }
  }
}
