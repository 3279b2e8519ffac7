// Parses every URL from outside with an allowlist of bytes (R9). A URL with a fault is refused, never repaired. Faults
// are: user information, a backslash, control characters, `%00`, escapes and non-ASCII characters in the host, a
// trailing dot, a port out of range, a number that only some parsers read as an address, and dot segments. The only
// schemes are https, http to loopback, private schemes with a dot, and the configured redirect URI's own scheme, even
// without a dot (R2). A fragment is dropped unread (R8). The grammar is a subset of RFC 3986.

/// A URL that every parser splits in the same way. The caller still has to check whether the URL is expected.
public struct StrictURL: Equatable, Sendable {
  public enum Kind: Equatable, Sendable {
    case https
    /// `http` to a loopback host; the configuration decides whether it may be used (R19).
    case loopbackHTTP
    /// A private-use scheme (RFC 8252 §7.1).
    case privateScheme
  }

  /// A longer text is refused.
  public static let maximumBytes = 8192

  public let kind: Kind
  /// The text without its fragment; the ranges below are offsets into these bytes.
  public let bytes: [UInt8]
  public let scheme: Range<Int>
  /// The host; nil for a URL with a private scheme that is followed by a single slash. An IPv6 address keeps its
  /// brackets.
  public let host: Range<Int>?
  public let port: Int?
  public let path: Range<Int>
  /// The query without the question mark; nil if there is no query.
  public let query: Range<Int>?
  public let hadFragment: Bool

  /// Parses a URL.
  /// - Parameter configured: a configured URL, whose private scheme is accepted even if it has no dot (R2).
  /// - Throws: the fault of the URL.
  @_optimize(speed)
  public init(_ text: String, configured: String? = nil) throws(Refusal) {
    guard text.utf8.count <= StrictURL.maximumBytes else { throw .tooLong }
    var bytes = text.bytes
    var parser = StrictURLParser(configured: configured)
    try parser.parse(bytes.span)
    hadFragment = parser.end < bytes.count
    if hadFragment { bytes.removeSubrange(parser.end...) }
    kind = parser.kind
    scheme = parser.scheme
    host = parser.host
    port = parser.port
    path = parser.path
    query = parser.query
    self.bytes = bytes
  }

  /// Why a URL is refused.
  public enum Refusal: Error, Equatable, Sendable {
    case empty, tooLong
    case scheme, schemeWithoutDot, httpBeyondLoopback
    case slashes, userinfo, host, port
    case dotSegment, escape
    /// A byte that is not allowed, and its offset.
    case character(UInt8, at: Int)
  }
}

extension StrictURL {
  public func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  public var text: String { String(decoding: bytes, as: UTF8.self) }

  public var hostText: String? { host.map { text($0) } }

  /// Scheme, host and port (if the URL has a port): the only parts that an error may show (R40).
  package var shownOrigin: String {
    text(scheme) + "://" + (hostText ?? "") + (port.map { ":\($0)" } ?? "")
  }

  /// Whether the host is `localhost`, in `127.0.0.0/8`, or `[::1]`.
  public var isLoopback: Bool {
    host.map { kind != .privateScheme && HostText.isLoopback(bytes.span, $0) } ?? false
  }

  /// Whether the host is a loopback address, not a name (R4).
  public var isLoopbackLiteral: Bool {
    guard isLoopback, let host, let first = bytes[host].first else { return false }
    return !ASCII.isLetter(first)
  }

  /// Whether scheme, host, port and path are the same, byte for byte. With `ignoringPort`, the ports are not compared
  /// (R5).
  public func hasSameBase(as other: StrictURL, ignoringPort: Bool = false) -> Bool {
    guard ignoringPort else {
      return bytes[..<path.upperBound].elementsEqual(other.bytes[..<other.path.upperBound])
    }
    return part(scheme).elementsEqual(other.part(other.scheme))
      && part(host).elementsEqual(other.part(other.host))
      && part(path).elementsEqual(other.part(other.path))
  }

  /// Whether `text` and this URL are the same before their queries, byte for byte.
  @_optimize(speed)
  func hasBase(_ text: String) -> Bool {
    let expected = text.utf8.span
    let bytes = bytes.span
    let count = path.upperBound
    guard expected.count == count || (expected.count > count && expected[count] == 0x3F) else { return false }
    return ASCII.equals(bytes.extracting(..<count), expected.extracting(..<count))
  }

  private func part(_ range: Range<Int>?) -> ArraySlice<UInt8> { range.map { bytes[$0] } ?? [] }
}

extension StrictURL.Refusal {
  /// The fault in words, as ``text``, but for the URL of a server, which has no private scheme.
  public var serverText: String {
    switch self {
    case .scheme, .schemeWithoutDot: "expected a URL that begins with https://"
    case .slashes: "https and http need two slashes"
    default: text
    }
  }

  /// The fault of the URL, for an error text; it contains no part of the URL.
  public var text: String {
    switch self {
    case .empty: "expected a URL, got nothing"
    case .tooLong: "the URL is longer than \(StrictURL.maximumBytes) bytes"
    case .scheme: "the URL must begin with a scheme in lower case: https, http to loopback, or a private one"
    case .schemeWithoutDot:
      "a private scheme must be a domain name reversed, with a dot, such as com.example.app"
    case .httpBeyondLoopback: "http is possible only to loopback; everything else needs https"
    case .slashes: "https and http need two slashes, a private scheme one, or two and a host"
    case .userinfo: "a user name or @ before the host is not allowed"
    case .host:
      "the host must be a name of letters, digits, hyphens and underscores, a full IPv4 address, or an IPv6 address as RFC 5952 writes it"
    case .port: "a port must be a number from 1 to 65535 without leading zeros"
    case .dotSegment: "a path with . or .. segments is not allowed"
    case .escape: "a % must be followed by two hexadecimal digits, and %00 is not allowed"
    case .character(let byte, let offset): "byte \(byte) at offset \(offset) is not allowed in a URL"
    }
  }
}
