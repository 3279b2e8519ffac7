// The stored data about an account as JSON, in the result of account.read and in the output of `enroll`.

import EnrollRules
import EnrollCrypto
package import EnrollJSON

extension AccountSnapshot {
  /// All stored data, including the tokens that a command may return.
  var json: JSON {
    .object(
      [
        ("profile", profile.map { .object($0) }), ("idToken", idToken.map { .string($0.reveal()) }),
        ("accessToken", accessToken.map { .string($0.reveal()) }),
      ] + expiry + [
        ("registrationType", registrationType.map { .string($0) }), ("waiting", waiting?.json),
      ])
  }

  /// The user's profile and the expiry of the session, without tokens.
  package var session: [(String, JSON?)] { [("profile", profile.map { .object($0) })] + expiry }

  private var expiry: [(String, JSON?)] {
    [
      ("expiresAt", expiresAt.map { .integer($0.seconds) }), ("renews", renews.map { .bool($0) }),
      ("renewableUntil", renewableUntil.map { .integer($0.seconds) }),
      ("missingScopes", missingScopes.isEmpty ? nil : .string(Scopes.joined(missingScopes))),
    ]
  }
}

extension WaitingSignIn {
  package var json: JSON {
    .object([
      ("transaction", .string(transactionID.text)), ("profile", .object(profile)),
      ("registrationType", registrationType.map { .string($0) }),
    ])
  }
}
