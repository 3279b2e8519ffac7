// Keys and signed tokens.

import EnrollCrypto
import EnrollJSON

@testable import EnrollRules

extension Target {
  static let identity = [
    Target("jwks") { input in
      guard let keys = try? JWKSet.parse(input) else { return }
      require(keys.keys.count + keys.unusable.count <= JWKSet.keyLimit, "keys are capped (R20)")
      for algorithm in SignatureAlgorithm.allCases {
        for key in keys.candidates(keyID: nil, algorithm: algorithm) {
          require(algorithm.fits(key.key.kind), "a key is of its algorithm (R22)")
        }
      }
    },
    // No input can contain a valid signature, so no token that is made here may be accepted.
    Target("id-token") { input in
      guard let token = try? IDToken.Unverified(parsing: Secret(input)) else { return }
      require(
        (try? token.verify(keys: Sample.keys, expecting: Sample.expectations)) == nil,
        "a forged token is refused")
    },
    Target("claims") { input in
      guard let claims = try? IDTokenClaims(input) else { return }
      do throws(EnrollError) {
        for rule in IDTokenRule.all { try rule.check(claims, .ES256, Sample.expectations) }
      } catch {
        return require(error.code == .idTokenInvalid, "a typed refusal")
      }
      require(claims.issuer == Sample.expectations.issuer, "from the issuer (R24)")
      require(
        claims.audience.contains { ASCII.equals($0, Sample.expectations.clientID.text) }, "for us (R24)")
      require(claims.nonce == Sample.expectations.nonce, "in answer to our request (R26)")
      require(claims.expiresAt.since(Sample.expectations.now) > -600, "not over (R25)")
    },
  ]
}
