// The result of sending a message of the outbox.

extension OutboxEntry {
  /// The result of sending one entry.
  package enum Delivery: Equatable, Sendable {
    /// The server accepted it, or nobody needs it any more.
    case done
    /// Another attempt would not help: the reason.
    case refused(String)
    /// The server could not be reached: it is sent again later.
    case unreached
    /// The server has a problem, or another machine answered in its place: it is sent again after a pause.
    case later(retryAfterSeconds: Int64?)
  }
}
