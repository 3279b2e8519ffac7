// A signed JWT in compact form (RFC 7515 §3.1, RFC 7519), such as a client's or the gateway's assertion.

package import EnrollCrypto
package import EnrollJSON

package enum SignedJWT {
  /// - Parameter header: the header without `alg`. `alg` is added according to the algorithm.
  /// - Throws: `.internal` if the key does not fit the algorithm, or signing fails.
  package static func make(
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
