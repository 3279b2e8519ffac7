// The interface between the server and the application that answers its requests. The server knows nothing else of an
// application; an application receives only well-formed requests (RFC 9110, RFC 9112).

import Synchronization

/// The place where a request is answered. It depends on what the answer waits for.
public enum Lane: Sendable {
  /// The request is answered on the event loop, at once and from memory. An answer that waits here blocks all other
  /// connections of the loop.
  case here
  /// The request is answered on the threads for requests that use only the database.
  case database
  /// The request is answered on the threads for requests that call a provider, a mail server or a directory.
  case provider
}

/// Answers requests. Its methods are called by several threads at once.
public protocol WebApplication: Sendable {
  /// Chooses the lane from the request alone. The server calls this method on the event loop, so the method must not
  /// wait. It may set ``WebRequest/place`` for ``answer(_:)``.
  func lane(for request: inout WebRequest) -> Lane

  /// Answers the request. The method may wait unless the lane is ``Lane/here``. A `HEAD` request is passed as `GET`, with
  /// ``WebRequest/isHead`` set.
  func answer(_ request: WebRequest) -> WebResponse
}

/// Receives the answer to one request, later and from any thread. Keep the responder until you have the answer: if it is
/// released without one, the client gets status 500.
public final class Responder: Sendable {
  private let connection: Connection
  private let isDone = Atomic<Bool>(false)

  init(_ connection: Connection) { self.connection = connection }

  /// Sends the answer. Only the first call counts.
  public func send(_ response: WebResponse) { finish(response) }

  /// True if the answer is no longer needed: the client has closed the connection, or the server has stopped.
  public var isAbandoned: Bool { connection.isGone.load(ordering: .acquiring) }

  deinit { finish(nil) }

  private func finish(_ response: WebResponse?) {
    guard !isDone.exchange(true, ordering: .relaxed) else { return }
    connection.loop.post { [connection] in connection.answered(response) }
    connection.loop.shared.census.endWork()
  }
}
