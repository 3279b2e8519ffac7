// Values that say what may help after an error.

extension EnrollError {
  /// Ways to make a failed renewal succeed.
  public enum Remedy: String, Sendable, CaseIterable {
    /// Try again, now or when the network is back.
    case retry
    /// Wait: the provider has a problem, or asked for a pause.
    case wait
    /// The user has to sign in again, because the session has ended.
    case registerAgain
  }

  /// The ways in which the user or the host can solve an error.
  public enum Help: String, Sendable, CaseIterable {
    /// Do the same again.
    case retry
    /// Wait, then do the same again.
    case wait
    /// Start again: sign in or register.
    case registerAgain
    /// Verify the e-mail address, then confirm again.
    case verifyEmail
    /// Get an account from the host, then confirm again.
    case createAccount
    /// The user cannot solve the error: a developer has to.
    case support
  }
}
