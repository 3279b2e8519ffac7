// The NIST curves of RFC 7518 §6.2.1.1.

/// An elliptic curve, named as JSON Web Keys name it.
public enum Curve: String, Sendable, CaseIterable {
  /// 256 bits, for ES256.
  case p256 = "P-256"
  /// 384 bits, for ES384.
  case p384 = "P-384"
  /// 521 bits, for ES512.
  case p521 = "P-521"

  /// The number of bytes of a coordinate, and of each half of a signature.
  public var coordinateCount: Int {
    switch self {
    case .p256: 32
    case .p384: 48
    case .p521: 66
    }
  }

  /// The number of bits of the curve's field.
  var bitCount: Int32 {
    switch self {
    case .p256: 256
    case .p384: 384
    case .p521: 521
    }
  }

  /// OpenSSL's name of the curve, which is also NIST's name.
  var name: StaticString {
    switch self {
    case .p256: "P-256"
    case .p384: "P-384"
    case .p521: "P-521"
    }
  }
}

/// The kind of a key.
public enum KeyKind: Equatable, Sendable {
  /// RSA, with the number of bits of the modulus.
  case rsa(bits: Int)
  /// A point of an elliptic curve.
  case ec(Curve)
  /// Ed25519 (RFC 8032).
  case ed25519
}
