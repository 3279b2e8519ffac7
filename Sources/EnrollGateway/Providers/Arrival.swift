// What a sign-in at a provider brings, and why one brings nothing.

import EnrollCore
import EnrollCrypto
import EnrollGatewayPages

/// Somebody came back from a provider, proven.
struct Arrival {
  var identity: Identity
  /// `auth_time`: when the person was asked last; nil where the provider does not tell.
  var authTime: UnixTime?
  /// Where the provider wants it revoked one day (``ProviderDialect/keepsRefreshToken``); nil everywhere else.
  var refreshToken: Secret?
}

/// Nobody came: what the person is told, and what the log is told.
struct SignInRefusal: Error {
  let failure: EnrollGatewayPages.Failure
  let line: String
  /// The provider did not take the code: it was used before, or is too old (RFC 6749 §5.2).
  let isOfCode: Bool

  init(_ failure: EnrollGatewayPages.Failure, _ line: String, isOfCode: Bool = false) {
    self.failure = failure
    self.line = line
    self.isOfCode = isOfCode
  }

  init(_ error: EnrollError) {
    self.init(
      Failure(error), "\(error.code.name): \(error.message)",
      isOfCode: error.oauthError.map { ASCII.equals($0, "invalid_grant") } ?? false)
  }
}
