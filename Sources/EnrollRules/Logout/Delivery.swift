// The result of sending a message of the outbox.

extension OutboxEntry {
  /// The result of sending one entry.
  package enum Delivery: Equatable, Sendable {
    /// The server accepted the message, or nobody needs the message any more.
    case done
    /// Another attempt would not help, for this reason.
    case refused(String)
    /// The server could not be reached: the message is sent again later.
    case unreached
    /// The server has a problem, or another machine answered in its place: the message is sent again after a pause.
    case later(retryAfterSeconds: Int64?)
  }
}
