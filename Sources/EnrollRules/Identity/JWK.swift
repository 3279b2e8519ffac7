// A public key as a provider publishes it (RFC 7517, RFC 7518 §6, RFC 8037 §2). A key that cannot verify signatures
// is not an error of the whole set: the set records the reason instead (R22).

public import EnrollCrypto
import EnrollJSON

/// A key that can verify signatures.
public struct JWK: Sendable {
  /// `kid`.
  public let keyID: String?
  /// `alg`: the only algorithm of the key; nil if the key may be used with every algorithm that fits its kind.
  public let algorithm: SignatureAlgorithm?
  public let key: PublicKey
  /// `issuer`: the only issuer whose tokens the key signs, if several issuers share a set (Entra); nil for all.
  let issuer: Issuer?

  /// Whether the key may verify signatures of this algorithm.
  public func fits(_ algorithm: SignatureAlgorithm) -> Bool {
    (self.algorithm ?? algorithm).isSame(as: algorithm) && algorithm.fits(key.kind)
  }

  /// Why a key is left out.
  public struct Unusable: Error, Equatable, Sendable {
    public var keyID: String?
    /// `.library` and `.missing`: this OpenSSL does not support such keys; `.memory`: there was no memory.
    /// None of these three means that the key is bad.
    var cause: CryptoError

    public var reason: String { cause.message }
  }

  /// - Throws: if the key is for encryption, of an unknown kind, malformed, weak, or contradictory.
  init(_ published: JSON) throws(Unusable) {
    let json = published.withoutNulls
    let keyID = json["kid"]?.string
    func refusal(_ reason: String) -> Unusable { Unusable(keyID: keyID, cause: CryptoError(.key, reason)) }

    guard json.object != nil else { throw refusal("not an object") }
    if let kid = json["kid"], (kid.string?.utf8.count ?? .max) > JWS.keyIDLimit {
      throw refusal("kid is not a text of at most \(JWS.keyIDLimit) bytes")
    }
    if let use = json["use"], !Self.isText(use, "sig") { throw refusal("use is not sig") }
    if let operations = json["key_ops"] {
      guard let operations = operations.array, operations.contains(where: { Self.isText($0, "verify") })
      else {
        throw refusal("key_ops does not contain verify")
      }
    }
    guard json["d"] == nil, json["k"] == nil else { throw refusal("the private key is published") }
    let key: PublicKey
    do throws(CryptoError) { key = try Self.key(json) } catch {
      throw Unusable(keyID: keyID, cause: error)
    }
    var algorithm: SignatureAlgorithm?
    if let name = json["alg"] {
      algorithm = name.string.flatMap { SignatureAlgorithm(name: $0) }
      guard let algorithm else { throw refusal("alg is not a supported signature algorithm") }
      guard algorithm.fits(key.kind) else {
        throw refusal("alg \(algorithm.rawValue) is for another kind of key")
      }
    }
    self.keyID = keyID
    self.algorithm = algorithm
    self.key = key
    issuer = json["issuer"]?.string.map { Issuer($0) }
  }

  /// The public key. Malformed members have the same errors as malformed numbers in ``PublicKey``.
  static func key(_ json: JSON) throws(CryptoError) -> PublicKey {
    func bytes(_ name: String) throws(CryptoError) -> [UInt8] { try Self.bytes(name, in: json) }
    guard let kind = json["kty"]?.string else { throw CryptoError(.key, "kty is missing") }
    if ASCII.equals(kind, "RSA") { return try .rsa(modulus: bytes("n"), exponent: bytes("e")) }
    let name = json["crv"]?.string ?? ""
    if ASCII.equals(kind, "OKP"), ASCII.equals(name, "Ed25519") { return try .ed25519(bytes("x")) }
    if ASCII.equals(kind, "EC") {
      for curve in Curve.allCases where ASCII.equals(name, curve.rawValue) {
        return try .ec(curve: curve, x: bytes("x"), y: bytes("y"))
      }
    }
    throw CryptoError(.key, "kty or crv is not supported")
  }

  static func bytes(_ name: String, in json: JSON) throws(CryptoError) -> [UInt8] {
    guard let bytes = json[name]?.string.flatMap({ Base64URL.decode($0) }) else {
      throw CryptoError(.key, "\(name) is not base64url")
    }
    return bytes
  }

  private static func isText(_ json: JSON, _ text: String) -> Bool {
    json.string.map { ASCII.equals($0, text) } ?? false
  }
}
