// The failures that users see. Each has a heading, a text about what happened, and a text about what helps.

/// A failure with a page. Its raw value is the key in a catalogue.
public enum Failure: String, Sendable, CaseIterable {
  /// The user cancelled at the provider (`access_denied`).
  case cancelled
  /// The provider answered with another error, or refused the gateway.
  case providerRefused
  /// The provider did not answer in time.
  case providerUnavailable
  /// The provider's answer did not pass a check: signature, nonce, issuer, audience.
  case providerInvalid
  /// The gateway has no provider with this name.
  case unknownProvider
  /// The browser has no cookie of this sign-in.
  case attemptMissing
  /// The sign-in was started too long ago.
  case attemptExpired
  /// The answer for this sign-in was already used.
  case attemptUsed
  /// A rate limit is exceeded.
  case tooManyRequests
  /// The app or its redirect URI is not registered. The browser is not redirected to the app.
  case unknownApp
  /// A parameter is missing, repeated or malformed.
  case invalidRequest
  /// The form's token is missing, or belongs to another session.
  case formExpired
  /// The user had to sign in to a certain account, but signed in to another account.
  case otherIdentity
  /// The link of an e-mail is unknown to this gateway, or was replaced by a newer link.
  case linkInvalid
  /// The link of an e-mail has expired.
  case linkExpired
  /// The link of an e-mail was already used.
  case linkUsed
  /// The directory does not let the user sign in now.
  case accountLocked
  /// The password is right, but the directory requires a step that the gateway's pages do not have.
  case stepMissing
  /// The provider authenticated a user who is not allowed to use the product: the user's domain is not allowed, or
  /// sign-up is closed.
  case notAllowed
  /// It is unknown whether the store saved the sign-in.
  case outcomeUnknown
  /// The store, or the whole gateway, is temporarily unavailable.
  case unavailable
  /// An internal error of the gateway.
  case internalError
  case notFound
  case methodNotAllowed
  /// Headers or body are over the gateway's limits.
  case requestTooLarge

  /// Whether the text about what happened begins with the provider's name. The name must begin the sentence,
  /// because an unknown name is replaced by "The sign-in service".
  var namesProvider: Bool {
    switch self {
    case .cancelled, .providerRefused, .providerUnavailable, .providerInvalid, .notAllowed: true
    default: false
    }
  }
}

/// The three texts of a failure.
enum FailurePart: String, Sendable, CaseIterable {
  case title
  case explanation = "what"
  case help
}
