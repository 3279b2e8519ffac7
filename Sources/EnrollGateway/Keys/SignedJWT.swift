// A signed JWT in compact form (RFC 7515 §3.1, RFC 7519): what the gateway says about itself to others.

import EnrollCore
import EnrollCrypto
import EnrollJSON

enum SignedJWT {
  /// - Parameter header: without `alg`, which is the algorithm's name.
  /// - Throws: `.internal` when the key is not for the algorithm, or nothing could be signed.
  static func make(
    header: [(String, JSON?)], claims: [(String, JSON?)], by key: PrivateKey, _ algorithm: SignatureAlgorithm
  ) throws(EnrollError) -> Secret {
    let head = JSON.object([("alg", .string(algorithm.rawValue))] + header)
    let input =
      Base64URL.encode(head.serialized()) + "." + Base64URL.encode(JSON.object(claims).serialized())
    do throws(CryptoError) {
      let signature = try key.sign(Array(input.utf8), algorithm: algorithm)
      return Secret(input + "." + Base64URL.encode(signature))
    } catch {
      throw EnrollError(.internal, "a JWT could not be signed: \(error.message)")
    }
  }
}
