// What a sign-in at a provider brings, and why one brings nothing.

import EnrollCore
import EnrollCrypto
import EnrollGatewayPages

/// Somebody came back from a provider, proven.
struct Arrival {
  var identity: Identity
  /// Where the provider wants it revoked one day (``ProviderDialect/keepsRefreshToken``); nil everywhere else.
  var refreshToken: Secret?
}

/// Nobody came: what the person is told, and what the log is told.
struct SignInRefusal: Error {
  let failure: EnrollGatewayPages.Failure
  let line: String

  init(_ failure: EnrollGatewayPages.Failure, _ line: String) {
    self.failure = failure
    self.line = line
  }

  init(_ error: EnrollError) { self.init(Failure(error), "\(error.code.name): \(error.message)") }
}
