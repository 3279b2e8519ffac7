// A client's private key as a JWK (RFC 7517, RFC 7518 §6). A key is refused if its kind is not supported, if its
// private and public halves do not match, if it is an RSA key without its primes, or if ``PublicKey`` refuses it.

import EnrollCrypto
import EnrollJSON

enum PrivateJWK {
  /// Reads a private key.
  /// - Throws: `.configuration`; the error repeats no part of the text.
  static func read(
    _ text: String, field: String
  ) throws(EnrollError) -> (key: PrivateKey, id: String?, algorithm: SignatureAlgorithm?) {
    func refusal(_ text: String) -> EnrollError {
      EnrollError(.configuration, "\(field): \(text)", field: field)
    }

    guard let json = try? JSON.parse(Array(text.utf8)), json.object != nil else {
      throw refusal("expected a JWK, one JSON object (RFC 7517 §4)")
    }
    guard json["keys"] == nil else { throw refusal("expected one JWK, got a set of keys") }
    var algorithm: SignatureAlgorithm?
    if let name = json["alg"] {
      algorithm = name.string.flatMap { SignatureAlgorithm(name: $0) }
      guard algorithm != nil else { throw refusal("alg is not a supported signature algorithm") }
    }
    do throws(CryptoError) {
      let publicHalf = try JWK.key(json)
      guard json["d"] != nil else { throw CryptoError(.key, "the JWK has no private key (d)") }
      let secret = try JWK.bytes("d", in: json)
      guard case .rsa = publicHalf.kind else {
        return (try PrivateKey(publicHalf, .scalar(secret)), json["kid"]?.string, algorithm)
      }
      let primes = try ["p", "q", "dp", "dq", "qi"].map { name throws(CryptoError) in
        try JWK.bytes(name, in: json)
      }
      return (
        try PrivateKey(publicHalf, .rsa(exponent: secret, primes: primes)), json["kid"]?.string, algorithm
      )
    } catch {
      throw refusal("the key cannot be read: \(error.message)")
    }
  }
}
