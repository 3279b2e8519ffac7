// The RSA keys that are accepted (R22). Numbers are big-endian bytes without leading zeros.

enum RSAStrength {
  /// The permitted numbers of bits of a modulus. The upper limit keeps the verification of a signature fast.
  static let modulusBits = 2048...8192

  static func check(modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) {
    let bits = bitCount(modulus[...])
    guard modulusBits.contains(bits) else {
      throw CryptoError(
        .key, "an RSA key has \(modulusBits.lowerBound) to \(modulusBits.upperBound) bits, not \(bits)")
    }
    guard let last = modulus.last, last & 1 == 1 else { throw CryptoError(.key, "the RSA modulus is even") }
    guard let low = exponent.last, low & 1 == 1, exponent != [1], exponent.count <= 8 else {
      throw CryptoError(.key, "the RSA exponent is not an odd number from 3 to 2^64")
    }
    guard !hasInfineonFlaw(modulus) else {
      throw CryptoError(.key, "the RSA key is of the kind that CVE-2017-15361 makes factorable")
    }
  }

  static func bitCount(_ number: ArraySlice<UInt8>) -> Int {
    guard let first = number.first else { return 0 }
    return number.count * 8 - first.leadingZeroBitCount
  }

  /// Small primes. The number 65537 generates a proper subgroup modulo each prime; `order` is the order of that
  /// subgroup.
  private static let subgroups: [(prime: Int, order: Int)] = [
    (11, 2), (13, 6), (17, 8), (19, 9), (37, 3), (53, 26), (61, 20), (71, 35), (73, 24), (79, 13), (97, 6),
    (103, 51), (107, 53), (109, 54), (127, 42), (151, 50), (157, 78),
  ]

  /// The moduli of the flawed generator are in the subgroup that 65537 generates, modulo every small prime (Nemec et
  /// al., "The Return of Coppersmith's Attack", 2017, §2.2). Another key has this property by chance with probability
  /// 2^-27.
  private static func hasInfineonFlaw(_ modulus: [UInt8]) -> Bool {
    subgroups.allSatisfy { prime, order in
      let remainder = modulus.reduce(0) { ($0 * 256 + Int($1)) % prime }
      // A cyclic group has one subgroup of each order: the elements whose power of that order is 1.
      return (0..<order).reduce(1) { power, _ in power * remainder % prime } == 1
    }
  }
}
