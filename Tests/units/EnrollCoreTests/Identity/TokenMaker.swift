// Makes id_tokens that are valid unless a test changes them.

import EnrollRules
import EnrollCrypto
import EnrollJSON

/// A provider with one key of each kind. Making RSA keys takes long, so all tests share them.
enum Provider {
  static let keys: [KeyID: PrivateKey] = {
    var keys: [KeyID: PrivateKey] = [:]
    for id in KeyID.allCases { keys[id] = try? PrivateKey.generate(id.kind) }
    return keys
  }()

  enum KeyID: String, CaseIterable {
    case rsa, otherRSA, p256, p384, p521, ed25519

    var kind: KeyKind {
      switch self {
      case .rsa, .otherRSA: .rsa(bits: 2048)
      case .p256: .ec(.p256)
      case .p384: .ec(.p384)
      case .p521: .ec(.p521)
      case .ed25519: .ed25519
      }
    }
  }

  static func key(_ id: KeyID) throws -> PrivateKey {
    guard let key = keys[id] else { throw CryptoError(.library, "no key \(id)") }
    return key
  }

  /// The key as a JWK, with the name of the key as `kid`.
  static func jwk(_ id: KeyID, _ more: [(String, JSON?)] = []) throws -> JSON {
    let number = { (bytes: [UInt8]) in JSON.string(Base64URL.encode(bytes)) }
    var members: JSONObject =
      switch try key(id).publicKey.components {
      case .rsa(let n, let e): JSONObject([("kty", .string("RSA")), ("n", number(n)), ("e", number(e))])
      case .ec(let curve, let x, let y):
        JSONObject([
          ("kty", .string("EC")), ("crv", .string(curve.rawValue)), ("x", number(x)), ("y", number(y)),
        ])
      case .ed25519(let x):
        JSONObject([("kty", .string("OKP")), ("crv", .string("Ed25519")), ("x", number(x))])
      }
    members["kid"] = .string(id.rawValue)
    for (name, value) in more { members[name] = value }
    return .object(members)
  }

  static func keySet(_ ids: [KeyID] = [.rsa, .p256, .p384, .p521, .ed25519]) throws -> JWKSet {
    try keySet(ids.map { try jwk($0) })
  }

  static func keySet(_ keys: [JSON]) throws -> JWKSet {
    try JWKSet.parse(JSON.object([("keys", .array(keys))]).serialized())
  }
}

/// An id_token before it is signed.
struct TokenMaker {
  static let now: Int64 = 1_700_000_000

  var key = Provider.KeyID.rsa
  var header = JSONObject([("alg", .string("RS256")), ("kid", .string("rsa")), ("typ", .string("JWT"))])
  var claims = JSONObject([
    ("iss", .string("https://idp.example")), ("sub", .string("alice")), ("aud", .string("native")),
    ("exp", .integer(now + 300)), ("iat", .integer(now)), ("nonce", .string("n-0S6_WzA2Mj")),
  ])

  init() {}

  init(_ algorithm: SignatureAlgorithm) {
    key =
      switch algorithm {
      case .ES256: .p256
      case .ES384: .p384
      case .ES512: .p521
      case .EdDSA, .Ed25519: .ed25519
      default: .rsa
      }
    header = JSONObject([("alg", .string(algorithm.rawValue)), ("kid", .string(key.rawValue))])
  }

  /// The token with one claim set, or removed.
  static func with(_ name: String, _ value: JSON?) -> TokenMaker {
    var maker = TokenMaker()
    maker.claims[name] = value
    return maker
  }

  var signedPart: String {
    Base64URL.encode(JSON.object(header).serialized()) + "."
      + Base64URL.encode(JSON.object(claims).serialized())
  }

  /// The token, signed with the algorithm in its header, or with RS256 if the header names an unknown
  /// algorithm.
  func text() throws -> String {
    let algorithm = header["alg"]?.string.flatMap { SignatureAlgorithm(name: $0) } ?? .RS256
    let signature = try Provider.key(key).sign(Array(signedPart.utf8), algorithm: algorithm)
    return signedPart + "." + Base64URL.encode(signature)
  }
}

func expectations(_ change: (inout IDTokenExpectations) -> Void = { _ in }) -> IDTokenExpectations {
  var expected = IDTokenExpectations(
    issuer: "https://idp.example", clientID: "native", nonce: Secret("n-0S6_WzA2Mj"),
    now: UnixTime(seconds: TokenMaker.now))
  change(&expected)
  return expected
}

/// The error for a token; nil if the token is accepted.
func refusal(
  _ token: String, keys: JWKSet? = nil, _ change: (inout IDTokenExpectations) -> Void = { _ in }
) throws -> EnrollError? {
  let keys = try keys ?? Provider.keySet()
  do throws(EnrollError) {
    _ = try IDToken.Unverified(parsing: Secret(token)).verify(keys: keys, expecting: expectations(change))
    return nil
  } catch {
    return error
  }
}

func refusal(
  _ maker: TokenMaker, keys: JWKSet? = nil, _ change: (inout IDTokenExpectations) -> Void = { _ in }
) throws -> EnrollError? {
  try refusal(maker.text(), keys: keys, change)
}

/// Whether the error refuses an id_token with a message that contains this text.
func isRefused(_ error: EnrollError?, _ about: String) -> Bool {
  guard let error, error.code == .idTokenInvalid else { return false }
  return error.message.hasPrefix("id_token refused: ") && error.message.contains(about)
}
