// The Ed25519 public keys that are refused (R22, RFC 8032 §5.1.3): keys of another length; keys with a coordinate
// that is not reduced modulo p = 2^255 - 19; and points of small order, because signatures of any message can be
// forged for them.

enum Ed25519Strength {
  static func check(_ key: [UInt8]) throws(CryptoError) {
    guard key.count == 32 else { throw CryptoError(.key, "an Ed25519 key has 32 bytes, not \(key.count)") }
    // The coordinate y in big-endian order, without the bit for the sign of x.
    var y = [UInt8](key.reversed())
    y[0] &= 0x7F
    guard y.lexicographicallyPrecedes(modulus) else {
      throw CryptoError(.key, "the Ed25519 key is not written canonically")
    }
    guard !smallOrder.contains(y) else {
      throw CryptoError(.key, "the Ed25519 key is a point of small order")
    }
  }

  /// The prime p = 2^255 - 19.
  private static let modulus: [UInt8] = [0x7F] + [UInt8](repeating: 0xFF, count: 30) + [0xED]

  /// The y coordinates of the points whose order divides 8: 0, 1, -1, and the two y coordinates of the points of order
  /// 8. Of these two, one is the negative of the other.
  private static let smallOrder: [[UInt8]] = [
    [UInt8](repeating: 0, count: 32),
    [UInt8](repeating: 0, count: 31) + [1],
    [0x7F] + [UInt8](repeating: 0xFF, count: 30) + [0xEC],
    [
      0x05, 0xFC, 0x53, 0x6D, 0x88, 0x02, 0x38, 0xB1, 0x39, 0x33, 0xC6, 0xD3, 0x05, 0xAC, 0xDF, 0xD5,
      0xF0, 0x98, 0xEF, 0xF2, 0x89, 0xF4, 0xC3, 0x45, 0xB0, 0x27, 0xB2, 0xC2, 0x8F, 0x95, 0xE8, 0x26,
    ],
    [
      0x7A, 0x03, 0xAC, 0x92, 0x77, 0xFD, 0xC7, 0x4E, 0xC6, 0xCC, 0x39, 0x2C, 0xFA, 0x53, 0x20, 0x2A,
      0x0F, 0x67, 0x10, 0x0D, 0x76, 0x0B, 0x3C, 0xBA, 0x4F, 0xD8, 0x4D, 0x3D, 0x70, 0x6A, 0x17, 0xC7,
    ],
  ]
}
