// The provider's keys in one key set (RFC 7517): one key for each key type that the provider's algorithms need. New
// keys are generated on demand.

import EnrollCrypto
import EnrollJSON
import Foundation

/// A key pair with its id in the key set.
struct SigningKey: Sendable {
  let id: String
  let key: PrivateKey

  /// The public key as a JSON Web Key (RFC 7517 §4, RFC 7518 §6, RFC 8037 §2).
  var published: JSONObject {
    func number(_ bytes: [UInt8]) -> JSON { .string(Encoding.base64URL(bytes)) }
    let members: [(String, JSON?)] =
      switch key.publicKey.components {
      // One RSA key is used for RS256 to PS512, so the JWK names no algorithm.
      case .rsa(let modulus, let exponent):
        [("kty", .string("RSA")), ("n", number(modulus)), ("e", number(exponent))]
      case .ec(let curve, let x, let y):
        [("kty", .string("EC")), ("crv", .string(curve.rawValue)), ("x", number(x)), ("y", number(y))]
      case .ed25519(let bytes):
        [("kty", .string("OKP")), ("crv", .string("Ed25519")), ("x", number(bytes))]
      }
    return JSONObject([("kid", .string(id)), ("use", .string("sig"))] + members)
  }
}

struct SigningKeys: Sendable {
  /// The algorithms that have a key. The first algorithm signs by default.
  let algorithms: [SignatureAlgorithm]
  private var current: [SigningKey] = []
  /// Keys from before a rotation, which are still published.
  private var old: [SigningKey] = []
  private var generation = 0

  /// The maximum number of old keys that are kept.
  private static let oldLimit = 20

  /// - Throws: if OpenSSL cannot generate a key.
  init(_ algorithms: [SignatureAlgorithm]) throws(CryptoError) {
    self.algorithms = algorithms.isEmpty ? [.RS256] : algorithms
    try rotate(keepsOld: false)
  }

  mutating func rotate(keepsOld: Bool) throws(CryptoError) {
    generation += 1
    var made: [SigningKey] = []
    for algorithm in algorithms where !made.contains(where: { algorithm.fits($0.key.kind) }) {
      let kind = Self.kind(for: algorithm)
      made.append(SigningKey(id: "\(kind.name)-\(generation)", key: try .generate(kind.kind)))
    }
    old = keepsOld ? Array((current + old).prefix(Self.oldLimit)) : []
    current = made
  }

  private static func kind(for algorithm: SignatureAlgorithm) -> (kind: KeyKind, name: String) {
    switch algorithm {
    case .RS256, .RS384, .RS512, .PS256, .PS384, .PS512: (.rsa(bits: 2048), "rsa")
    case .ES256: (.ec(.p256), "p256")
    case .ES384: (.ec(.p384), "p384")
    case .ES512: (.ec(.p521), "p521")
    case .EdDSA, .Ed25519: (.ed25519, "ed25519")
    }
  }

  /// The key set, altered by the effects of faults.
  func published(defects: [Fault.Effect]) -> JSON {
    var set = (current + old).map(\.published)
    for case .keySet(let defect) in defects {
      switch defect {
      case .empty: set = []
      case .duplicateKeyID:
        for var copy in set.prefix(1) {
          copy["use"] = nil
          set.append(copy)
        }
      case .wrongUse: for index in set.indices { set[index]["use"] = .string("enc") }
      case .weakKey:
        let weak = [0xC1] + [UInt8](repeating: 0x5B, count: 127)
        for index in set.indices {
          set[index] = JSONObject([
            ("kid", set[index]["kid"]), ("use", .string("sig")), ("kty", .string("RSA")),
            ("n", .string(Encoding.base64URL(weak))), ("e", .string("AQAB")),
          ])
        }
      case .tooMany:
        guard let first = set.first else { continue }
        for number in set.count..<101 {
          var copy = first
          copy["kid"] = .string("filler-\(number)")
          set.insert(copy, at: 0)
        }
      }
    }
    return .object([("keys", .array(set.map { .object($0) }))])
  }

  /// Signs claims as a JWS (RFC 7515 §3.1); by default with the first algorithm.
  /// - Parameter accessToken: the token that `at_hash` is computed from, unless a fault sets or omits that
  ///   claim.
  func sign(
    _ facts: IDTokenFacts, algorithm: SignatureAlgorithm? = nil, effects: [Fault.Effect]
  ) throws(CryptoError) -> String {
    let algorithm = algorithm ?? algorithms.first ?? .RS256
    guard let signer = current.first(where: { algorithm.fits($0.key.kind) }) else {
      throw CryptoError(.key, "there is no key for \(algorithm.rawValue)")
    }
    let hash = try algorithm.digest.hash(Array(facts.accessToken.utf8))
    let half = Encoding.base64URL(Array(hash.prefix(hash.count / 2)))
    let claims = facts.claims(accessTokenHash: half, effects: effects)

    var header = JSONObject([
      ("alg", .string(algorithm.rawValue)), ("kid", .string(signer.id)), ("typ", .string("JWT")),
    ])
    var signing: Fault.Signing?
    for effect in effects {
      switch effect {
      case .setHeader(let name, let value): header[name] = value
      case .sign(let how): signing = how
      default: continue
      }
    }
    if signing == Fault.Signing.none { header["alg"] = .string("none") }
    if signing == .hmac { header["alg"] = .string("HS256") }
    let input =
      Encoding.base64URL(JSON.object(header).serialized()) + "."
      + Encoding.base64URL(JSON.object(claims).serialized())
    let signature = try sign(
      Array(input.utf8), by: signer, algorithm, signing: signing, clientID: facts.grant.clientID)
    return input + "." + Encoding.base64URL(signature)
  }

  private func sign(
    _ input: [UInt8], by signer: SigningKey, _ algorithm: SignatureAlgorithm, signing: Fault.Signing?,
    clientID: String
  ) throws(CryptoError) -> [UInt8] {
    switch signing {
    case nil: return try signer.key.sign(input, algorithm: algorithm)
    case .some(.none): return []
    case .hmac: return try HMAC.sha256(key: Secret(clientID), input)
    case .foreignKey: return try PrivateKey.generate(signer.key.kind).sign(input, algorithm: algorithm)
    case .broken:
      var signature = try signer.key.sign(input, algorithm: algorithm)
      if let last = signature.indices.last { signature[last] ^= 1 }
      return signature
    }
  }

  /// The client for which an id_token was issued; nil unless one of these keys signed it for this issuer. The id_token
  /// may have expired (RP-Initiated Logout §2).
  func audience(ofOwn token: String, issuer: String) -> String? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]),
      let signature = Encoding.bytes(base64URL: parts[2]),
      let algorithm = header["alg"]?.string.flatMap(SignatureAlgorithm.init(name:)),
      let signer = (current + old).first(where: { .string($0.id) == header["kid"] })
    else { return nil }
    let input = Array((parts[0] + "." + parts[1]).utf8)
    let isOurs = try? signer.key.publicKey.verify(signature: signature, message: input, algorithm: algorithm)
    guard isOurs == true, claims["iss"] == .string(issuer) else { return nil }
    return claims["azp"]?.string ?? claims["aud"]?.string
  }

  private static func json(_ part: Substring) -> JSON? {
    Encoding.bytes(base64URL: part).flatMap { try? JSON.parse($0) }
  }
}
