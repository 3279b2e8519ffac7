// The result of a sign-in at a provider, and the failure of a sign-in.

import EnrollRules
import EnrollCrypto
import EnrollGatewayPages

/// The verified result of a sign-in at a provider.
struct ProviderSignIn {
  var identity: Identity
  /// `auth_time`: when the provider last authenticated the user; nil if the provider does not say.
  var authTime: UnixTime?
  /// The refresh token, if it has to be revoked later (``ProviderDialect/keepsRefreshToken``); otherwise nil.
  var refreshToken: Secret?
}

/// A failed sign-in: the failure that the user sees, and the line for the log.
struct SignInRefusal: Error {
  let failure: EnrollGatewayPages.Failure
  let line: String
  /// Whether the provider refused the authorization code, because this code was used before or has expired
  /// (`invalid_grant`, RFC 6749 §5.2).
  let isOfCode: Bool
  /// The error behind the failure; nil if the gateway's own rules refuse the sign-in.
  let cause: EnrollError?

  init(_ failure: EnrollGatewayPages.Failure, _ line: String) {
    self.failure = failure
    self.line = line
    isOfCode = false
    cause = nil
  }

  init(_ error: EnrollError) {
    failure = Failure(error)
    line = "\(error.code.name): \(error.message)"
    isOfCode = error.oauthError.map { ASCII.equals($0, "invalid_grant") } ?? false
    cause = error
  }
}
