// HTTP as values, and the interface that carries them. Rules build requests and read responses; only Transport does IO.

import EnrollCrypto

/// One header of a request or a response (RFC 9110 §5).
public struct HTTPHeader: Equatable, Sendable {
  /// Compared without regard to case.
  public var name: String
  /// Without the spaces around it.
  public var value: String

  /// A header of this name and value.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// One request, complete. Redirects are never followed (R20).
public struct HTTPRequest: Sendable {
  /// How a request is made (RFC 9110 §9).
  public enum Method: String, Sendable {
    /// Asks for something.
    case get = "GET"
    /// Sends something.
    case post = "POST"
    /// Removes something.
    case delete = "DELETE"
    /// Changes a part of something (RFC 5789).
    case patch = "PATCH"
  }

  /// How the request is made.
  public var method: Method
  /// Absolute, `https` (or `http` to loopback where the configuration allows it: R19).
  public var url: String
  /// Beside those that the transport itself adds.
  public var headers: [HTTPHeader]
  /// Empty for none.
  public var body: [UInt8]
  /// Bytes after which a response is refused while it arrives (R20).
  public var responseLimit: Int
  /// On a connection that was never used before: for requests that must not be repeated silently (R15).
  public var freshConnection: Bool
  /// Spends what works once, a code or a refresh token: once it is sent its answer is waited for, whoever
  /// cancels meanwhile (reliability.md, Closing).
  public var isFollowedUp = false
  /// Its answer may bring what comes once: where the end is missing, what came is of use (R30).
  public var takesCutAnswer = false
  /// The secrets in its body, which no text of the answer may repeat.
  var secrets: [Secret] = []

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

  /// The same, as a request that is followed up.
  var followedUp: HTTPRequest {
    var request = self
    request.isFollowedUp = true
    request.takesCutAnswer = true
    return request
  }

  /// 1 MiB (R20).
  public static let defaultResponseLimit = 1 << 20
  /// R20.
  public static let connectTimeoutSeconds: Int64 = 10
  /// R20.
  public static let totalTimeoutSeconds: Int64 = 30
}

/// A whole response, or one that is ``cut``.
public struct HTTPResponse: Sendable {
  /// 100 to 599.
  public var status: Int
  /// In the order in which they came.
  public var headers: [HTTPHeader]
  /// Whole, unless the response is ``cut``; at most as long as the request's limit.
  public var body: [UInt8]
  /// Why the body may not be whole: the connection ended before the head's length or the last chunk, say. nil for a whole
  /// one, and for every answer to a request that takes no cut ones (``HTTPRequest/takesCutAnswer``).
  public var cut: EnrollError?
  /// When it came, by this machine's clock.
  var received: UnixTime?
  /// The secrets that its request carried.
  var sent = SentSecrets()

  public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Whether the head says that there is no body. Else an empty one may be a connection that ended after the head.
  var isStatedEmpty: Bool {
    guard body.isEmpty else { return false }
    if let length = header("Content-Length") { return DecimalText.parse(length) == 0 }
    return isEndStated
  }

  /// Whether the head says where the body ends: by its length, or by chunks. Else the end of the connection is its end (RFC 9112
  /// §6.3), also where it came too early.
  var isEndStated: Bool {
    header("Content-Length") != nil
      || header("Transfer-Encoding").map { ASCII.equalsIgnoringCase($0, "chunked") } ?? false
  }

  /// How many seconds it has been in a cache, by its header (RFC 9111 §5.1: the first value of a list); nil without a number.
  var ageSeconds: Int64? {
    guard
      let first = header("Age")?.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        .first
    else { return nil }
    return DecimalText.parse(String(decoding: first.filter { $0 != 0x20 && $0 != 0x09 }, as: UTF8.self))
  }

  /// Whether it has been in a cache, which says so (RFC 9111 §5.1). No cache may answer a POST (§4).
  var isFromCache: Bool { header("Age") != nil && ageSeconds != 0 }

  /// Whether it was surely made before its request was sent. A proxy that forwards an answer may write a small `Age`, or one that
  /// is no number: tokens must not be lost because of that.
  var isOfEarlierRequest: Bool {
    ageSeconds.map { $0 > Self.forwardingSeconds } ?? false
  }

  /// How many seconds it has surely been in a cache; 0 where nothing shows that it was in one.
  /// - Parameter serverTime: now by the server's clock, as far as it is known.
  func secondsInCache(serverTime: UnixTime?) -> Int64 {
    if isOfEarlierRequest { return ageSeconds ?? 0 }
    guard let serverTime, let date = header("Date").flatMap({ HTTPDate.parse($0) }) else { return 0 }
    let seconds = serverTime.since(date)
    return seconds > ServerClock.toleranceSeconds ? seconds : 0
  }

  /// The longest time that a proxy may take to forward an answer.
  private static var forwardingSeconds: Int64 { 5 }

  /// A page for people, such as a portal puts in the provider's place: its first visible character is `<`, behind a byte
  /// order mark, too.
  var isPage: Bool {
    let isMarked = body.starts(with: [0xEF, 0xBB, 0xBF])
    return body.dropFirst(isMarked ? 3 : 0).first { $0 > 0x20 } == 0x3C
  }

  /// The first header of that name, case-insensitively (ASCII).
  public func header(_ name: String) -> String? { headers.value(of: name) }
}

extension [HTTPHeader] {
  /// The first one of that name, case-insensitively (ASCII).
  func value(of name: String) -> String? {
    for header in self where ASCII.equalsIgnoringCase(header.name, name) { return header.value }
    return nil
  }
}

/// Sends one request and waits for the whole answer.
public protocol Transport: AnyObject, Sendable {
  /// Names by what servers are trusted: what came from a provider in one trust is not used in another.
  var trust: String { get }

  /// Returns when the next request can be sent at once, or when `cancellation` comes: called before a request whose answer
  /// must be waited for (``HTTPRequest/isFollowedUp``).
  func becomeReady(cancellation: any Cancellation)

  /// - Throws: `.network` (not reached, connection lost), `.tls` (final: R19), `.timeout`, `.responseInvalid` (over the
  ///   limit, not HTTP), `.cancelled`. A response of any status is a response, not an error. A request with
  ///   ``HTTPRequest/takesCutAnswer`` should get an answer whose head came as ``HTTPResponse/cut`` instead.
  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse
}

extension Transport {
  /// A host's own transport trusts whom it trusts.
  public var trust: String { "host" }

  /// Is ready as it is.
  public func becomeReady(cancellation: any Cancellation) {}
}
