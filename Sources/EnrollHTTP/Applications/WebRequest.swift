// One request as an application reads it. The server has refused what is no proper HTTP (RFC 9110, RFC 9112); what the parameters
// and headers mean is the application's to judge.

public import EnrollCore

/// A request whose head and body have come whole.
public struct WebRequest: Sendable {
  /// The methods that a server can answer (RFC 9110 §9, RFC 5789). ``ServerSettings/methods`` says which of them it does.
  public enum Method: String, Sendable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
  }

  public var method: Method
  /// The client wants the head of the answer alone (`HEAD`). The method is ``Method/get`` then, and nothing may change
  /// (RFC 9110 §9.2.1).
  public var isHead = false
  /// Of the request target, as it was written: no escape is decoded. It begins with a slash.
  public var path: String
  /// Behind the question mark, as it was written; nil without one.
  public var query: String?
  public var body: [UInt8]
  /// The address that the request came from, in numbers, for limits and logs. Behind a trusted proxy it is the proxy's client.
  public var client: String
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

  /// Every header, in the order in which they came. Made anew by each call: ask ``values(of:)`` for those that are needed.
  /// `Upgrade` is not among them: the server ignores it.
  public var headers: [HTTPHeader] {
    get { fields.all }
    set { fields = .list(newValue) }
  }

  /// The values of a header, in their order, without the blanks around them. Names are compared without regard to case (ASCII).
  public func values(of name: String) -> [String] { fields.values(of: name) }

  /// The value of a header that comes once; nil where it is absent or repeated.
  public func value(of name: String) -> String? {
    let found = values(of: name)
    return found.count == 1 ? found[0] : nil
  }
}

/// Header lines. Those of a connection stay the bytes that they came as: most are never asked for, and a text for each name and
/// value would cost more than all else of a short request.
enum RequestFields: Sendable {
  case list([HTTPHeader])
  /// Lines that the server has found proper, each with CRLF behind it.
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
