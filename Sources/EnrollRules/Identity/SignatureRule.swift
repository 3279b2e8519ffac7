// Checks R21 and R22: the token must be signed with a key of the issuer and an accepted algorithm.

import EnrollCrypto

enum SignatureRule {
  /// The result of checking a token's signature with a set of keys.
  enum Verdict {
    /// This key made the signature.
    case proven(JWK)
    /// No key of the set made the signature; newer keys of the issuer may verify it (R23).
    case unproven(EnrollError)
  }

  /// Checks the signature of a token with these keys.
  /// - Throws: `.idTokenInvalid` for an algorithm that is not accepted, whatever the keys; the errors of OpenSSL.
  /// - Returns: the key that made the signature, or `.unproven`. `.unproven` has the error `.keysUnavailable` if no key
  ///   has the token's `kid`, or if the token has no `kid` and no key fits; the error of OpenSSL if this machine cannot
  ///   use the key; otherwise `.idTokenInvalid`.
  static func verdict(
    on token: JWS, keys: JWKSet, algorithms: [SignatureAlgorithm]
  ) throws(EnrollError) -> Verdict {
    let algorithm = token.algorithm
    guard algorithms.contains(where: { $0.isSame(as: algorithm) }) else {
      throw IDTokenClaims.refusal(
        "alg \(algorithm.rawValue) is neither configured nor announced; name it in idTokenAlgorithms if the provider signs with it"
      )
    }
    let candidates = keys.candidates(keyID: token.keyID, algorithm: algorithm)
    guard !candidates.isEmpty else { return .unproven(absence(of: token, in: keys)) }
    if let keyID = token.keyID, candidates.count > 1 {
      return .unproven(
        IDTokenClaims.refusal(
          "\(candidates.count) different keys have the kid \(shown(keyID)) and fit \(algorithm.rawValue)"))
    }
    for candidate in candidates {
      do throws(CryptoError) {
        if try token.isSigned(by: candidate.key) { return .proven(candidate) }
      } catch {
        throw EnrollError(error, "the id_token's signature could not be checked")
      }
    }
    return .unproven(IDTokenClaims.refusal("the signature is not the issuer's"))
  }

  private static func absence(of token: JWS, in keys: JWKSet) -> EnrollError {
    guard let keyID = token.keyID else {
      if let key = keys.unusable.first(where: { isOurFault($0) }) {
        return EnrollError(key.cause, "a key of the issuer cannot be used here")
      }
      return EnrollError(.keysUnavailable, "the issuer has no key for \(token.algorithm.rawValue)")
    }
    let shown = shown(keyID)
    if !keys.named(keyID).isEmpty {
      return IDTokenClaims.refusal("the key \(shown) is not for \(token.algorithm.rawValue)")
    }
    for key in keys.unusable where key.keyID.map({ ASCII.equals($0, keyID) }) ?? false {
      return isOurFault(key)
        ? EnrollError(key.cause, "the key \(shown) cannot be used here")
        : IDTokenClaims.refusal("the key \(shown) is refused: \(key.reason)")
    }
    return EnrollError(.keysUnavailable, "the issuer has no key with the kid \(shown)")
  }

  private static func shown(_ keyID: String) -> String { PrintableText.bounded(keyID, maximumBytes: 64) }

  /// Whether this machine's OpenSSL does not support the key, or no longer supports it: if OpenSSL once had no memory
  /// for an algorithm, it does not try that algorithm again.
  private static func isOurFault(_ key: JWK.Unusable) -> Bool {
    key.cause.reason == .library || key.cause.reason == .missing
  }
}
