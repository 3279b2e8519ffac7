// One request as an application reads it. The server has refused malformed HTTP (RFC 9110, RFC 9112); the application
// interprets the parameters and headers.

public import EnrollRules

/// A request whose head and body are complete.
public struct WebRequest: Sendable {
  /// The methods that a server can answer (RFC 9110 §9, RFC 5789). ``ServerSettings/methods`` selects the methods that
  /// a server does answer.
  public enum Method: String, Sendable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
  }

  public var method: Method
  /// True for `HEAD`: the client wants only the head of the answer. The method is then ``Method/get``, and the request must
  /// change nothing (RFC 9110 §9.2.1).
  public var isHead = false
  /// The path of the request target as it was sent: no escape is decoded. It begins with a slash.
  public var path: String
  /// The text after the question mark as it was sent; nil if there is no question mark.
  public var query: String?
  public var body: [UInt8]
  /// The client's numeric IP address, for limits and logs. Behind a trusted proxy it is the address of the proxy's client.
  /// Empty for a peer without an IP address.
  public var client: String
  /// A number for the application's own use, such as the index of the path in the application's table of routes. The
  /// server does not read this number.
  public var place: Int?
  private var fields: RequestFields

  public init(
    _ method: Method, _ path: String, query: String? = nil, headers: [HTTPHeader] = [], body: [UInt8] = [],
    client: String = ""
  ) {
    self.init(method, path, query: query, fields: .list(headers), body: body, client: client)
  }

  init(
    _ method: Method, _ path: String, query: String?, fields: RequestFields, body: [UInt8], client: String
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.fields = fields
    self.body = body
    self.client = client
  }

  /// All headers in the order in which they were received, except `Upgrade`, which the server ignores. Each call
  /// builds a new list: use ``values(of:)`` to read single headers.
  public var headers: [HTTPHeader] {
    get { fields.all }
    set { fields = .list(newValue) }
  }

  /// The values of a header in their order, without surrounding blanks. Names are compared case-insensitively (ASCII).
  public func values(of name: String) -> [String] { fields.values(of: name) }

  /// The value of a header that comes exactly once; nil if it is absent or repeated.
  public func value(of name: String) -> String? {
    let found = values(of: name)
    return found.count == 1 ? found[0] : nil
  }
}

/// Header lines. A connection keeps the received bytes unchanged: most headers are never read, and a string for each
/// name and value would cost more than the rest of a short request.
enum RequestFields: Sendable {
  case list([HTTPHeader])
  /// Lines that the server has checked, each with CRLF at its end.
  case lines([UInt8])

  var all: [HTTPHeader] {
    switch self {
    case .list(let headers): return headers
    case .lines(let bytes):
      var headers: [HTTPHeader] = []
      bytes.withUnsafeBytes { bytes in
        HeaderLine.each(bytes) { headers.append(HTTPHeader(bytes.text($0.name), bytes.text($0.value))) }
      }
      return headers
    }
  }

  func values(of name: String) -> [String] {
    switch self {
    case .list(let headers):
      return headers.filter { ASCII.equalsIgnoringCase($0.name, name) }.map { $0.value }
    case .lines(let bytes):
      var values: [String] = []
      bytes.withUnsafeBytes { bytes in
        HeaderLine.each(bytes) { line in
          if bytes.equalsIgnoringCase(line.name, text: name) { values.append(bytes.text(line.value)) }
        }
      }
      return values
    }
  }
}
