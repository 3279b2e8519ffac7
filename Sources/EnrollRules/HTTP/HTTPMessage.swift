// HTTP requests and responses as values. Rules build requests and read responses; only Transport does IO.

package import EnrollCrypto

/// One header of a request or a response (RFC 9110 §5).
public struct HTTPHeader: Equatable, Sendable {
  /// The name, compared without regard to case.
  public var name: String
  /// The value without the spaces around it.
  public var value: String

  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// One request, complete. Redirects are never followed (R20).
public struct HTTPRequest: Sendable {
  /// A method (RFC 9110 §9).
  public enum Method: String, Sendable {
    /// Gets data.
    case get = "GET"
    /// Sends data.
    case post = "POST"
    /// Deletes data.
    case delete = "DELETE"
    /// Changes a part of the data (RFC 5789).
    case patch = "PATCH"
  }

  /// The method.
  public var method: Method
  /// An absolute URL: `https`, or `http` to loopback if the configuration allows it (R19).
  public var url: String
  /// The headers in addition to those of the transport itself.
  public var headers: [HTTPHeader]
  /// The body; empty if the request has no body.
  public var body: [UInt8]
  /// The maximum size of the response in bytes. A larger response is refused while it is still being received (R20).
  public var responseLimit: Int
  /// The time limit for the whole request, in seconds, if it is shorter than the transport's own limit; nil for the
  /// transport's own limit, by default ``totalTimeoutSeconds``.
  public var timeoutSeconds: Int64?
  /// Whether a new connection is required: for requests that must not be repeated silently (R15).
  public var freshConnection: Bool
  /// Whether the response must not be lost, because the request sends a value that works once (a code or a refresh
  /// token), or registers a client. After the request was sent, the client waits for its response even if the call is
  /// cancelled (reliability.md, Closing).
  public var mustAwaitResponse = false
  /// Whether the response may have values that are issued only once: then even a response that was cut off is useful
  /// (R30).
  public var takesCutAnswer = false
  /// The secrets in the body. No text of the response may repeat them.
  package var secrets: [Secret] = []

  public init(
    _ method: Method, _ url: String, headers: [HTTPHeader] = [], body: [UInt8] = [],
    responseLimit: Int = HTTPRequest.defaultResponseLimit, freshConnection: Bool = false
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.responseLimit = responseLimit
    self.freshConnection = freshConnection
  }

  /// A POST of a form.
  init(
    form: FormEncoding, to url: String, headers: [HTTPHeader] = [], freshConnection: Bool = false
  ) {
    self.init(
      .post, url,
      headers: [
        HTTPHeader("Content-Type", FormEncoding.contentType), HTTPHeader("Accept", "application/json"),
      ] + headers, body: form.bytes, freshConnection: freshConnection)
    secrets = form.secrets
  }

  /// This request with ``mustAwaitResponse`` set.
  var followedUp: HTTPRequest {
    var request = self
    request.mustAwaitResponse = true
    request.takesCutAnswer = true
    return request
  }

  /// The size limit of a response body: 1 MiB (R20).
  public static let defaultResponseLimit = 1 << 20
  /// The time limit for connecting, in seconds (R20).
  public static let connectTimeoutSeconds: Int64 = 10
  /// The time limit for the whole request, in seconds (R20).
  public static let totalTimeoutSeconds: Int64 = 30
}

/// A whole response, or one that is ``cut``.
public struct HTTPResponse: Sendable {
  /// The status code, 100 to 599.
  public var status: Int
  /// The headers, in the order in which they were received.
  public var headers: [HTTPHeader]
  /// The body. It is whole unless the response is ``cut``, and not longer than the request's limit.
  public var body: [UInt8]
  /// Why the body may be incomplete: for example, the connection ended before the stated length or the last
  /// chunk. nil for a whole body, and for every response to a request that accepts no cut response
  /// (``HTTPRequest/takesCutAnswer``).
  public var cut: EnrollError?
  /// When the response was received, by this machine's clock.
  package var received: UnixTime?
  /// The secrets of its request.
  package var sent = SentSecrets()
  /// The URL of the request that this response answers; empty if the URL is unknown.
  package var url = ""

  /// The server's origin as a part of an error message, such as ` from https://id.example`; empty if the URL is
  /// unknown.
  package var place: String { (try? StrictURL(url)).map { " from \($0.shownOrigin)" } ?? "" }

  public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Whether the headers say that there is no body. Without such headers an empty body may mean that the
  /// connection ended after the headers.
  var isStatedEmpty: Bool {
    guard body.isEmpty else { return false }
    if let length = header("Content-Length") { return DecimalText.parse(length) == 0 }
    return isEndStated
  }

  /// Whether the headers define the end of the body: by its length, or by chunks. Otherwise the end of the connection
  /// is the end of the body (RFC 9112 §6.3), even if the connection ended too early.
  package var isEndStated: Bool {
    header("Content-Length") != nil
      || header("Transfer-Encoding").map { ASCII.equalsIgnoringCase($0, "chunked") } ?? false
  }

  /// The seconds that the response spent in caches, from the header `Age` (RFC 9111 §5.1: the first value of a list);
  /// nil if it is not a number.
  var ageSeconds: Int64? {
    guard
      let first = header("Age")?.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        .first
    else { return nil }
    return DecimalText.parse(String(decoding: first.filter { $0 != 0x20 && $0 != 0x09 }, as: UTF8.self))
  }

  /// Whether the response was in a cache, according to its headers (RFC 9111 §5.1). No cache may answer a POST (§4).
  package var isFromCache: Bool { header("Age") != nil && ageSeconds != 0 }

  /// Whether the response was certainly made before its request was sent. A proxy may add a small `Age`, or
  /// an `Age` that is not a number; tokens must not be lost because of that.
  package var isOfEarlierRequest: Bool {
    ageSeconds.map { $0 > Self.forwardingSeconds } ?? false
  }

  /// The seconds that the response certainly was in a cache; 0 if there is no sign of a cache.
  /// - Parameter serverTime: the server's current time, if it is known.
  package func secondsInCache(serverTime: UnixTime?) -> Int64 {
    if isOfEarlierRequest { return ageSeconds ?? 0 }
    guard let serverTime, let date = header("Date").flatMap({ HTTPDate.parse($0) }) else { return 0 }
    let seconds = serverTime.since(date)
    return seconds > ServerClock.toleranceSeconds ? seconds : 0
  }

  /// The longest time in seconds that a proxy may need to forward a response.
  private static var forwardingSeconds: Int64 { 5 }

  /// Whether this is an HTML page, such as a captive portal's: its first visible character is `<`, also after a byte
  /// order mark.
  package var isPage: Bool {
    let isMarked = body.starts(with: [0xEF, 0xBB, 0xBF])
    return body.dropFirst(isMarked ? 3 : 0).first { $0 > 0x20 } == 0x3C
  }

  /// The first header with this name, without regard to case (ASCII).
  public func header(_ name: String) -> String? { headers.value(of: name) }
}

extension [HTTPHeader] {
  /// The value of the first header with this name, without regard to case (ASCII).
  package func value(of name: String) -> String? {
    for header in self where ASCII.equalsIgnoringCase(header.name, name) { return header.value }
    return nil
  }
}
