// The events that a store reports to the metrics: the results of its calls, and sessions that began and ended.

/// Why sessions ended. The raw value is a label of the metrics.
public enum SessionEnd: String, CaseIterable, Sendable {
  case signedOut = "signed_out"
  /// The user ended one session in the list.
  case ended
  case everywhere
  /// The provider reported a sign-out or a deleted account.
  case provider
  case disconnected, merged, deleted, password
  case codeReused = "code_reused"
  case surplus
  /// The session expired; it is counted when it is deleted, days later.
  case expired
}

/// A store calls these methods on any thread, after the change. The methods must not wait.
public protocol StoreObserver: AnyObject, Sendable {
  /// A call to the database has ended.
  func called(nanoseconds: Int64, failure: StoreFailure?)
  func sessionBegan()
  func sessionsEnded(_ count: Int, _ reason: SessionEnd)
}
