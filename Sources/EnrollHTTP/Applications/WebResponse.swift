// One answer. An application passes the complete answer to the server at once. The answer also says how the server
// delivers it, so that a server for tests can be slow or close the connection early.

public import EnrollRules

/// A complete answer. The server adds `Content-Length`, `Connection`, `Date` and the headers of its settings.
public struct WebResponse: Sendable, Equatable {
  /// How much of an answer the client gets.
  public enum Delivery: Sendable, Equatable {
    case whole
    /// The server closes the connection without sending a byte.
    case nothing
    /// The server sends the head with the length of the whole body, then this many bytes of the body, and closes the
    /// connection.
    case cut(bodyBytes: Int)
  }

  /// 200 to 599.
  public var status: Int
  public var headers: [HTTPHeader]
  /// The body. The server does not send it with status 204 or 304, nor to a `HEAD` request.
  public var body: [UInt8]
  public var delivery = Delivery.whole
  /// How long the server waits before the first byte. The wait blocks no thread. The longest wait is a day; a negative
  /// value counts as 0.
  public var delayMilliseconds: Int64 = 0

  public init(_ status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The value of the first header of that name, compared case-insensitively.
  public func header(_ name: String) -> String? {
    headers.first { ASCII.equalsIgnoringCase($0.name, name) }?.value
  }
}
