// A URL that a page may link to: a path of the gateway, a web page, or an app (RFC 8252 §7). Refused: `javascript:`, `data:`
// and similar schemes, user names in URLs, and every character that RFC 3986 does not allow.

/// A checked URL.
public struct PageLink: Sendable, Hashable {
  /// The URL as it was written.
  public let text: String
  /// What a Content-Security-Policy names to allow this URL (CSP 3 §2.3.1): `https://app.example`, `com.example.app:`, or for
  /// an IPv6 address only the scheme. nil for a path of the gateway.
  public let origin: String?

  /// The limit of a URL in bytes.
  public static let longest = 8192

  /// Why a text is refused. The message says what was expected.
  public struct Refusal: Error, Sendable, Equatable {
    public let message: String
  }

  /// A path of the gateway itself, with its query: `/login?app=notes`.
  /// - Throws: if the path does not begin with exactly one slash, or has characters that RFC 3986 does not allow.
  public init(path text: String) throws(Refusal) {
    try Self.check(text)
    let bytes = Array(text.utf8.prefix(2))
    guard bytes.first == UInt8(ascii: "/"), bytes.count < 2 || bytes[1] != UInt8(ascii: "/") else {
      throw Refusal(message: "A path begins with one slash, and this text does not.")
    }
    self.init(text, origin: nil)
  }

  /// A web page: https, or http to this computer (127.0.0.1, [::1] or localhost).
  /// - Throws: for any other scheme, for user names, and for an authority that is not a host with an optional port.
  public init(web text: String) throws(Refusal) {
    try Self.check(text)
    guard let (scheme, rest) = Self.split(text), scheme == "https" || scheme == "http" else {
      throw Refusal(message: "The address needs to begin with https://.")
    }
    try self.init(text, scheme: scheme, rest: rest)
  }

  /// The URL of an app: a claimed https link, http to this computer, or a private-use scheme that contains a dot (RFC 8252
  /// §7.1). The browser's own schemes (`javascript`, `data`, `blob`, …) contain no dot.
  /// - Throws: for any other scheme, and the errors of ``init(web:)``.
  public init(app text: String) throws(Refusal) {
    try Self.check(text)
    guard let (scheme, rest) = Self.split(text) else {
      throw Refusal(message: "The app's address has no scheme.")
    }
    if scheme == "https" || scheme == "http" {
      try self.init(text, scheme: scheme, rest: rest)
      return
    }
    guard scheme.utf8.contains(UInt8(ascii: ".")), !rest.isEmpty else {
      throw Refusal(
        message:
          "The app's scheme has no dot. Private-use schemes are reversed domain names: com.example.app.")
    }
    self.init(text, origin: scheme + ":")
  }

  /// Checks the authority that follows the scheme `https` or `http`.
  private init(_ text: String, scheme: String, rest: Substring) throws(Refusal) {
    guard rest.hasPrefix("//") else { throw Refusal(message: "The address has no host.") }
    let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard let host = Self.host(of: authority) else {
      throw Refusal(message: "The address needs a host, with a port or without, and no user name.")
    }
    guard scheme == "https" || host == "127.0.0.1" || host == "[::1]" || host == "localhost" else {
      throw Refusal(
        message: "The address is http. Only this computer's own addresses may be; others need https.")
    }
    // A host-source has no brackets (CSP 3 §2.3.1): browsers ignore `http://[::1]:1234` in a policy, and then block the
    // redirect. Only a scheme-source allows an IPv6 address.
    self.init(text, origin: host.hasPrefix("[") ? scheme + ":" : scheme + "://" + authority)
  }

  /// A path that this module's sources define.
  init(asset text: String) { self.init(text, origin: nil) }

  private init(_ text: String, origin: String?) {
    self.text = text
    self.origin = origin
  }

  private static func check(_ text: String) throws(Refusal) {
    guard text.utf8.count <= longest else {
      throw Refusal(message: "The address has more than \(longest) bytes.")
    }
    for byte in text.utf8 where !isAllowed(byte) {
      throw Refusal(message: "The address has a character that must be percent-encoded (RFC 3986).")
    }
  }

  /// Whether a URL may contain the byte: unreserved and reserved characters and the percent sign (RFC 3986 §2).
  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: allowedSigns.contains(byte)
    }
  }

  private static let allowedSigns = Array("-._~:/?#[]@!$&'()*+,;=%".utf8)

  /// The scheme in lower case (RFC 3986 §3.1), and the text after its colon.
  private static func split(_ text: String) -> (scheme: String, rest: Substring)? {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let scheme = text[..<colon].lowercased()
    guard let first = scheme.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else {
      return nil
    }
    for byte in scheme.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"),
        UInt8(ascii: "-"), UInt8(ascii: "."):
        continue
      default: return nil
      }
    }
    return (scheme, text[text.index(after: colon)...])
  }

  /// The host of `host[:port]`; nil for anything else. An IPv6 address keeps its brackets.
  private static func host(of authority: Substring) -> String? {
    var host = authority
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = authority[...end]
      guard host.utf8.dropFirst().dropLast().allSatisfy(isAddress) else { return nil }
    } else {
      host = authority.prefix { $0 != ":" }
      guard !host.isEmpty, host.utf8.allSatisfy(isHost) else { return nil }
    }
    let port = authority[host.endIndex...]
    guard port.isEmpty || isPort(port) else { return nil }
    return host.lowercased()
  }

  private static func isPort(_ text: Substring) -> Bool {
    let digits = text.dropFirst()
    return text.first == ":"
      && digits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      && UInt16(digits) != nil
  }

  private static func isAddress(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
    case UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: ":"), UInt8(ascii: "."): true
    default: false
    }
  }

  private static func isHost(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: false
    }
  }
}
