// The remedies that may help after an error.

extension EnrollError {
  /// Ways to make a failed renewal succeed.
  public enum Remedy: String, Sendable, CaseIterable {
    /// Try again, now or when the network is back.
    case retry
    /// Wait: the provider has a problem, or asked for a pause.
    case wait
    /// The user has to sign in: the session is over.
    case registerAgain
  }
}
