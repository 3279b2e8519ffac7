// R26: `at_hash`, when present, is of the access token that came along (OpenID Connect Core §3.1.3.6): the left half of
// the hash that goes with the token's algorithm.

import EnrollCrypto

extension IDTokenRule {
  static let accessTokenHash = IDTokenRule { (claims, algorithm, expected) throws(EnrollError) in
    guard let came = claims.accessTokenHash, let accessToken = expected.accessToken else { return }
    for digest in digests(of: algorithm) {
      let hash: [UInt8]
      do throws(CryptoError) { hash = try digest.hash(accessToken) } catch {
        throw EnrollError(error, "at_hash could not be computed")
      }
      let half = Base64URL.encodedBytes([UInt8](hash[..<(hash.count / 2)]))
      if ConstantTime.equal(half, [UInt8](came.utf8)) { return }
    }
    throw IDTokenClaims.refusal("R26", "at_hash is not of the access token that came along")
  }

  /// EdDSA names no hash: most take the SHA-512 inside Ed25519, Glewlwyd takes SHA-256.
  private static func digests(of algorithm: SignatureAlgorithm) -> [Digest] {
    algorithm == .EdDSA ? [.sha512, .sha256] : [algorithm.digest]
  }
}
