// The signature algorithms of R21 (RFC 7518 §3.1, RFC 8037 §3.1, RFC 9864 §2.2), all asymmetric. `none` and the HS
// family have no case, so that nothing can choose them.

import COpenSSL

/// A signature algorithm, named as JOSE names it.
public enum SignatureAlgorithm: String, Sendable, CaseIterable {
  /// RSASSA-PKCS1-v1_5 with SHA-2 of 256, 384, 512 bits (RFC 7518 §3.3).
  case RS256, RS384, RS512
  /// RSASSA-PSS with SHA-2 of 256, 384, 512 bits (RFC 7518 §3.5).
  case PS256, PS384, PS512
  /// ECDSA on P-256, P-384, P-521, with SHA-2 of 256, 384, 512 bits (RFC 7518 §3.4).
  case ES256, ES384, ES512
  /// Two names for signatures with Ed25519; `Ed25519` is the newer name (RFC 9864 §2.2).
  case EdDSA, Ed25519

  /// The algorithm with this JOSE name, compared byte by byte; nil for any other name.
  public init?(name: String) {
    for algorithm in Self.allCases where algorithm.rawValue.utf8.elementsEqual(name.utf8) {
      self = algorithm
      return
    }
    return nil
  }

  /// Whether the algorithm is EdDSA, by either name.
  public var isEdDSA: Bool { self == .EdDSA || self == .Ed25519 }

  /// Whether both names mean the same algorithm.
  public func isSame(as other: SignatureAlgorithm) -> Bool { self == other || isEdDSA && other.isEdDSA }

  /// The hash function of the algorithm; for EdDSA, the hash function inside Ed25519, which OpenID Connect uses for
  /// `at_hash`.
  public var digest: Digest {
    switch self {
    case .RS256, .PS256, .ES256: .sha256
    case .RS384, .PS384, .ES384: .sha384
    case .RS512, .PS512, .ES512, .EdDSA, .Ed25519: .sha512
    }
  }

  /// Whether a key of that kind can be used with the algorithm: each ES algorithm has one curve (RFC 7518 §3.4).
  public func fits(_ kind: KeyKind) -> Bool {
    switch self {
    case .RS256, .RS384, .RS512, .PS256, .PS384, .PS512: if case .rsa = kind { true } else { false }
    case .ES256: kind == .ec(.p256)
    case .ES384: kind == .ec(.p384)
    case .ES512: kind == .ec(.p521)
    case .EdDSA, .Ed25519: kind == .ed25519
    }
  }

  var isPSS: Bool { self == .PS256 || self == .PS384 || self == .PS512 }

  /// The digest that OpenSSL must be given with the algorithm; nil for EdDSA, because Ed25519 contains its hash
  /// function.
  func externalDigest() throws(CryptoError) -> OpaquePointer? {
    isEdDSA ? nil : try require(digest.handle, "digest").pointer
  }

  /// Configures PSS with a salt as long as the hash (RFC 7518 §3.5). Does nothing for other algorithms.
  func configure(_ context: OpaquePointer?) throws(CryptoError) {
    guard isPSS else { return }
    let libcrypto = try OpenSSL.functions()
    try require(libcrypto.pointee.EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING), "PSS padding")
    try require(
      libcrypto.pointee.EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST), "PSS salt length")
  }

  func requireFit(_ kind: KeyKind) throws(CryptoError) {
    guard fits(kind) else { throw CryptoError(.key, "the key is not of the kind that \(rawValue) needs") }
  }
}
