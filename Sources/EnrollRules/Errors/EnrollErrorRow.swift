// What the table of errors (EnrollErrorTable) says about each error.

extension EnrollError.Code {
  struct Row {
    var name: String
    var blame: EnrollError.Blame
    var category: EnrollError.Category
    var retryable: Bool
    var helps: EnrollError.Help
    var summary: String

    /// - Parameters:
    ///   - helps: what helps after the error, unless the state or the end of a sign-in says otherwise.
    ///   - summary: one sentence for the documentation.
    ///   - advice: what the user or the developer does about the error, in Markdown. `make generate` reads it here for
    ///     docs/troubleshooting.md; the library does not contain it.
    init(
      _ name: String, _ blame: EnrollError.Blame, _ category: EnrollError.Category, retry: Bool = false,
      _ helps: EnrollError.Help, _ summary: String, advice: StaticString
    ) {
      self.name = name
      self.blame = blame
      self.category = category
      self.retryable = retry
      self.helps = helps
      self.summary = summary
    }
  }
}

extension EnrollError {
  /// The category of an error, for a caller that distinguishes only a few kinds of failures. The exit statuses of
  /// `enroll` are categories.
  package enum Category: Sendable {
    /// The call, the command line or the configuration is invalid.
    case usage
    /// No user is signed in.
    case signInNeeded
    /// The provider cannot be reached, or is failing.
    case unreachable
    /// The provider refused, or its response is invalid.
    case refused
    /// The store's key is unavailable.
    case storeLocked
    /// The store cannot be used.
    case storeUnusable
    /// Something else is in progress, or a limit is reached.
    case busy
    /// The user declined, or did not finish.
    case notFinished
    /// The call was cancelled.
    case interrupted
    /// Anything else.
    case failed
  }
}

extension EnrollError.Code {
  package var category: EnrollError.Category { row.category }
}
