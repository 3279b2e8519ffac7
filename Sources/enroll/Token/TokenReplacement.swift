// Gets another token for a program that asks again, because a server may have refused the first token.

import EnrollCrypto
import EnrollHost
import EnrollPosix
import EnrollRules
import EnrollSteps

extension Client {
  /// Renews this token. If another process has replaced it by now, the outcome is that process's token, and nothing is
  /// renewed.
  func replace(
    _ token: Secret, for audience: TokenAudience? = nil, until deadline: Instant,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> AccessOutcome {
    // Without a refresh token, `rejected` would mark the token as unusable. The token may still be valid, because
    // some programs ask again for other reasons.
    guard try readAccount().renews == true else {
      return try refresh(for: audience, until: deadline, cancellation: cancellation)
    }
    return try rejected(token, for: audience, until: deadline, cancellation: cancellation)
  }
}
