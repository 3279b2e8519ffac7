// Private keys from the numbers of a private JWK (RFC 7518 §6.2.2, §6.3.2, RFC 8037 §2).

import COpenSSL

extension PrivateKey {
  /// The numbers of the private half, big-endian.
  public enum Numbers: Sendable {
    /// The numbers of an RSA key: `d`, and all of `p`, `q`, `dp`, `dq`, `qi`.
    case rsa(exponent: [UInt8], primes: [[UInt8]])
    /// The number `d` of a key of an elliptic curve, or the 32 bytes of an Ed25519 key.
    case scalar([UInt8])
  }

  /// Creates a key from its public and its private half.
  /// - Throws: `.key` if the halves do not belong together, and for keys that ``PublicKey`` refuses.
  public convenience init(_ publicHalf: PublicKey, _ numbers: Numbers) throws(CryptoError) {
    let parameters = OpenSSLParameters()
    let type: StaticString
    switch (publicHalf.components, numbers) {
    case (.rsa(let modulus, let exponent), .rsa(let secret, let primes)) where primes.count == 5:
      type = "RSA"
      let names: [StaticString] = [
        "rsa-factor1", "rsa-factor2", "rsa-exponent1", "rsa-exponent2", "rsa-coefficient1",
      ]
      for (name, number) in zip(["n", "e", "d"] + names, [modulus, exponent, secret] + primes) {
        parameters.add(name, number: number)
      }
    case (.ec(let curve, let x, let y), .scalar(let secret)) where secret.count == curve.coordinateCount:
      type = "EC"
      parameters.add("group", text: curve.name)
      parameters.add("pub", octets: [4] + x + y)
      parameters.add("priv", number: secret)
    case (.ed25519(let bytes), .scalar(let secret)) where secret.count == 32:
      type = "ED25519"
      parameters.add("pub", octets: bytes)
      parameters.add("priv", octets: secret)
    default: throw CryptoError(.key, "the private half is not of the public one's kind")
    }
    try self.init(
      confirmed { () throws(CryptoError) in try parameters.key(type, enroll_evp_key_pair()) })
    try requireHalvesOfOneKey()
  }

  /// Makes and checks one signature, because OpenSSL does not check that the halves belong together.
  private func requireHalvesOfOneKey() throws(CryptoError) {
    guard let algorithm = SignatureAlgorithm.allCases.first(where: { $0.fits(kind) }) else { return }
    let message: [UInt8] = [0]
    let signature = try sign(message, algorithm: algorithm)
    guard try publicKey.verify(signature: signature, message: message, algorithm: algorithm) else {
      throw CryptoError(.key, "the private half does not belong to the public one")
    }
  }
}
