// What a store tells the metrics: how its calls went, and which sessions began and ended.

/// Why sessions ended. The metrics have its text as a label.
public enum SessionEnd: String, CaseIterable, Sendable {
  case signedOut = "signed_out"
  /// One of a list, by its owner.
  case ended
  case everywhere
  /// The provider told of a sign-out, or of an account that is no more.
  case provider
  case disconnected, merged, deleted, password
  case codeReused = "code_reused"
  case surplus
  /// It was too old; counted when it is removed, days later.
  case expired
}

/// Called by any thread, after the change it tells of; it must not wait.
public protocol StoreObserver: AnyObject, Sendable {
  /// A call of the database ended.
  func called(nanoseconds: Int64, failure: StoreFailure?)
  func sessionBegan()
  func sessionsEnded(_ count: Int, _ reason: SessionEnd)
}
