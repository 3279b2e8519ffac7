// One request as the gateway reads it, and its answer. The HTTP host has refused what is no proper HTTP; here parameters that
// come twice, fields that are malformed and cookies that nobody can tell apart are refused (RFC 6749 §3.1, RFC 6265 §5.4).

public import EnrollCore

/// A request whose head and body have come whole.
public struct WebRequest: Sendable {
  public enum Method: String, Sendable { case get = "GET", post = "POST" }

  public var method: Method
  /// The client wants the head of the answer alone. The method is ``Method/get`` then, and nothing may change (RFC 9110 §9.2.1).
  public var isHead = false
  /// Of the request target, as it was written: no escape is decoded. It begins with a slash.
  public var path: String
  /// Behind the question mark, as it was written; nil without one.
  public var query: String?
  /// In the order in which they came.
  public var headers: [HTTPHeader]
  public var body: [UInt8]
  /// The address that the request came from, for limits and logs.
  public var client: String

  public init(
    _ method: Method, _ path: String, query: String? = nil, headers: [HTTPHeader] = [], body: [UInt8] = [],
    client: String = ""
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.client = client
  }

  /// The values of a header, in their order. Names are compared without regard to case (ASCII).
  public func values(of name: String) -> [String] {
    headers.filter { ASCII.equalsIgnoringCase($0.name, name) }.map { $0.value }
  }

  /// The value of a header that comes once; nil where it is absent or repeated.
  public func value(of name: String) -> String? {
    let found = values(of: name)
    return found.count == 1 ? found[0] : nil
  }
}

/// An answer, complete. The host adds `Date`, `Content-Length` and the headers that every answer has.
public struct WebResponse: Sendable, Equatable {
  public var status: Int
  public var headers: [HTTPHeader]
  public var body: [UInt8]

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
