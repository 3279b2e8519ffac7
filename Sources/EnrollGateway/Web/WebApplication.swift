// The interface between the HTTP host and what answers requests. The host knows nothing of the gateway but this; the gateway
// sees only requests that the host found proper (RFC 9110, RFC 9112).

/// Where a request is answered, by what answering it waits for.
public enum Lane: Sendable {
  /// On the event loop: the answer is made at once, from memory. Anything that waits here holds every other connection.
  case here
  /// On the threads for requests that ask the database alone.
  case database
  /// On the threads for requests that ask a provider, a mail server or a directory.
  case provider
}

/// What answers requests. Its methods are called by several threads at once.
public protocol WebApplication: Sendable {
  /// Decides by the request alone, without waiting: it is called on the event loop.
  func lane(for request: WebRequest) -> Lane

  /// Answers the request. It may wait unless its lane is ``Lane/here``. A `HEAD` request comes as `GET`, with
  /// ``WebRequest/isHead``.
  func answer(_ request: WebRequest) -> WebResponse
}
