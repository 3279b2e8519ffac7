// One answer. An application gives all of it at once; how it is sent is part of it, so that a server for tests can be slow or break
// off.

public import EnrollCore

/// An answer, complete. The server adds `Content-Length`, `Connection`, `Date` and the headers of its settings.
public struct WebResponse: Sendable, Equatable {
  /// How much of an answer the client gets.
  public enum Delivery: Sendable, Equatable {
    case whole
    /// The connection is closed without a byte.
    case nothing
    /// The head with the length of the whole body, so many bytes of the body, and then the end of the connection.
    case cut(bodyBytes: Int)
  }

  /// 200 to 599.
  public var status: Int
  public var headers: [HTTPHeader]
  /// Not sent with a status of 204 or 304, and not to `HEAD`.
  public var body: [UInt8]
  public var delivery = Delivery.whole
  /// How long the server waits before the first byte. No thread waits with it. At most a day; below 0 is 0.
  public var delayMilliseconds: Int64 = 0

  public init(_ status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The first header of that name.
  public func header(_ name: String) -> String? {
    headers.first { ASCII.equalsIgnoringCase($0.name, name) }?.value
  }
}
