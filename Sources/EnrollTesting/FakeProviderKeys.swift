// The key of the fake provider: its key set, and the id_tokens that it signs.

import EnrollCore
import EnrollCrypto
import EnrollHost
public import EnrollJSON

extension FakeProvider {
  func keys() -> JSON {
    let (key, settings) = state.withLock { ($0.key, $0.settings) }
    var set = JSONObject([("keys", .array([.object(jwk(key, id: settings.keyID))]))])
    settings.keySet(&set)
    return .object(set)
  }

  /// RFC 7517 §4.
  func jwk(_ key: PrivateKey, id: String?) -> JSONObject {
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

  /// A JWT with these claims by the provider's key: a logout token, say.
  /// - Throws: when there is no OpenSSL.
  public func signed(_ claims: JSONObject, header more: [(String, JSON?)] = []) throws -> String {
    let (key, settings) = state.withLock { ($0.key, $0.settings) }
    let algorithm = Self.algorithm(of: key)
    let header = JSON.object(
      [("alg", .string(algorithm.rawValue)), ("kid", settings.keyID.map { .string($0) })] + more)
    let input =
      Base64URL.encode(header.serialized()) + "." + Base64URL.encode(JSON.object(claims).serialized())
    return input + "." + Base64URL.encode(try key.sign(Array(input.utf8), algorithm: algorithm))
  }

  func idToken(for grant: Grant, isRefresh: Bool, _ settings: Settings) -> String {
    let now = clock.wallTime().seconds + settings.clockOffsetSeconds
    var claims = JSONObject([
      ("iss", .string(issuer)), ("sub", .string(grant.subject)), ("aud", .string(grant.clientID)),
      ("exp", .integer(now + 3600)), ("iat", .integer(now)), ("auth_time", .integer(1_600_000_000)),
      ("nonce", isRefresh ? nil : grant.nonce.map { .string($0) }), ("name", .string("Alice Example")),
    ])
    settings.claims(&claims)
    if isRefresh { settings.renewedClaims(&claims) }
    let key = state.withLock { $0.key }
    let algorithm = Self.algorithm(of: key)
    let header = JSON.object([
      ("alg", .string(settings.claimedAlgorithm ?? algorithm.rawValue)),
      ("kid", settings.keyID.map { .string($0) }),
      ("typ", .string("JWT")),
    ])
    let signed =
      Base64URL.encode(header.serialized()) + "." + Base64URL.encode(JSON.object(claims).serialized())
    let signature = (try? key.sign(Array(signed.utf8), algorithm: algorithm)) ?? []
    return signed + "." + Base64URL.encode(signature)
  }
}
