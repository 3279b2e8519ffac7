// The interface between the server and what answers its requests. The server knows nothing of an application but this; an application
// sees only requests that the server found proper (RFC 9110, RFC 9112).

import Synchronization

/// Where a request is answered, by what answering it waits for.
public enum Lane: Sendable {
  /// On the event loop: the answer is made at once, from memory. Anything that waits here holds every other connection.
  case here
  /// On the threads for requests that ask the database alone.
  case database
  /// On the threads for requests that ask a provider, a mail server or a directory.
  case provider
}

/// Answers requests. Its methods are called by several threads at once.
public protocol WebApplication: Sendable {
  /// Decides by the request alone, without waiting: it is called on the event loop.
  func lane(for request: WebRequest) -> Lane

  /// Answers the request. It may wait unless its lane is ``Lane/here``. A `HEAD` request comes as `GET`, with
  /// ``WebRequest/isHead``.
  func answer(_ request: WebRequest) -> WebResponse
}

/// Takes the answer to one request, later and from any thread. Keep it until the answer is there: a responder that goes without one
/// has the client answered by 500.
public final class Responder: Sendable {
  private let connection: Connection
  private let isDone = Atomic<Bool>(false)

  init(_ connection: Connection) { self.connection = connection }

  /// Answers. Only the first call counts.
  public func send(_ response: WebResponse) { finish(response) }

  /// Whether nobody waits for the answer any more: the client has left, or the server has stopped.
  public var isAbandoned: Bool { connection.isGone.load(ordering: .acquiring) }

  deinit { finish(nil) }

  private func finish(_ response: WebResponse?) {
    guard !isDone.exchange(true, ordering: .relaxed) else { return }
    connection.loop.post { [connection] in connection.answered(response) }
    connection.loop.shared.census.endWork()
  }
}
