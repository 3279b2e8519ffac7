// Gets another token for a program that asks again: a server may have refused the first token.

import EnrollCrypto
import EnrollHost
import EnrollPosix
import EnrollRules
import EnrollSteps

extension Client {
  /// Renews this token. If another process has already replaced this token, the outcome is the new token of that
  /// process, and nothing is renewed.
  func replace(
    _ token: Secret, for audience: TokenAudience? = nil, until deadline: Instant,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> AccessOutcome {
    // For a session without a refresh token, `rejected` would mark the token as unusable. But it may still be valid,
    // because some programs ask again although no server refused the token.
    guard try readAccount().renews == true else {
      return try refresh(for: audience, until: deadline, cancellation: cancellation)
    }
    return try rejected(token, for: audience, until: deadline, cancellation: cancellation)
  }
}
