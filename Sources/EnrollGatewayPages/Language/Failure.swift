// Why something did not work, as the user is told. Each failure has a heading, what happened, and what helps.

/// A failure that has a page. Its name is the key in a catalogue.
public enum Failure: String, Sendable, CaseIterable {
  /// The user cancelled at the provider (`access_denied`).
  case cancelled
  /// The provider answered with another error, or refused the gateway.
  case providerRefused
  /// The provider did not answer, or not in time.
  case providerUnavailable
  /// What the provider answered did not pass a check: signature, nonce, issuer, audience.
  case providerInvalid
  /// The gateway has no provider of that name.
  case unknownProvider
  /// The browser has no cookie of this sign-in.
  case attemptMissing
  /// The sign-in was started too long ago.
  case attemptExpired
  /// The redirect of this sign-in was answered before.
  case attemptUsed
  /// A rate limit.
  case tooManyRequests
  /// The app, or its redirect, is not registered. Nobody is sent back to it.
  case unknownApp
  /// A parameter is missing, repeated or malformed.
  case invalidRequest
  /// The form's token is absent, or of another session.
  case formExpired
  /// The user was to prove one account, and proved another.
  case otherIdentity
  /// The link of a mail is none of this gateway's, or a newer one has taken its place.
  case linkInvalid
  /// The link of a mail is too old.
  case linkExpired
  /// The link of a mail was used.
  case linkUsed
  /// A directory says that the person may not sign in now.
  case accountLocked
  /// The password is right, and the directory wants a step that the gateway's pages do not have.
  case stepMissing
  /// The provider vouched for the user, who may not use the product: another domain, or sign-up is closed.
  case notAllowed
  /// The store did not say whether it saved the sign-in.
  case outcomeUnknown
  /// The store, or all of the gateway, is out of service for now.
  case unavailable
  /// A fault of the gateway.
  case internalError
  case notFound
  case methodNotAllowed
  /// Headers or body are larger than the gateway reads.
  case requestTooLarge

  /// What happened begins with the provider's name. It begins the sentence, because a provider without a known name is called
  /// "The sign-in service" there.
  var namesProvider: Bool {
    switch self {
    case .cancelled, .providerRefused, .providerUnavailable, .providerInvalid, .notAllowed: true
    default: false
    }
  }
}

/// The three texts of a failure.
enum FailurePart: String, Sendable, CaseIterable {
  case title, what, help
}
