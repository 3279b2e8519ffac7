// Parses the first line of a request (RFC 9112 §3): one space between its parts, and a target without a fragment and
// without bytes that are invalid in a URL. The parser is strict, because a proxy in front of this server may have
// understood a malformed line differently.

/// A well-formed request line with a method that a server can answer.
struct RequestLine: Equatable {
  var method: WebRequest.Method
  /// True for HEAD, which the application gets as GET.
  var isHead: Bool
  /// The position of the target.
  var target: Range<Int>
  var isHTTP11: Bool

  enum Reading: Equatable {
    case proper(RequestLine)
    case refused(Refusal)
  }

  /// - Parameter line: the position of the line in `bytes`, without its line end.
  static func read(_ bytes: UnsafeRawBufferPointer, _ line: Range<Int>, targetLimit: Int) -> Reading {
    guard let methodEnd = bytes.first(0x20, in: line), methodEnd > line.lowerBound else {
      return .refused(.malformed)
    }
    for index in line.lowerBound..<methodEnd where !HeaderGrammar.isToken(bytes[index]) {
      return .refused(.malformed)
    }
    let start = methodEnd + 1
    guard let end = bytes.first(0x20, in: start..<line.upperBound), end > start else {
      return .refused(.malformed)
    }
    for index in start..<end {
      let byte = bytes[index]
      guard byte > 0x20, byte < 0x7F, byte != 0x23, !isNeverRaw(byte) else { return .refused(.malformed) }
    }
    guard let version = version(bytes, end + 1..<line.upperBound) else { return .refused(.malformed) }
    guard version == 0 || version == 1 else { return .refused(.version) }
    guard end - start <= targetLimit else { return .refused(.targetTooLong) }
    let name = line.lowerBound..<methodEnd
    let isHead = bytes.equals(name, "HEAD")
    guard let method = isHead ? .get : method(bytes, name) else { return .refused(.unknownMethod) }
    return .proper(
      RequestLine(method: method, isHead: isHead, target: start..<end, isHTTP11: version == 1))
  }

  /// Whether the byte is `"`, `<` or `>`, which are invalid in a URI (RFC 3986 §2). Other characters that are invalid
  /// in a URI are accepted, because browsers send them unescaped, at least in a query (URL Standard, query
  /// percent-encode set).
  private static func isNeverRaw(_ byte: UInt8) -> Bool { byte == 0x22 || byte == 0x3C || byte == 0x3E }

  /// The minor version of HTTP/1; 10 for another major version; nil if this is not an HTTP version.
  private static func version(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> UInt8? {
    guard range.count == 8, bytes.equals(range.prefix(5), "HTTP/"), bytes[range.lowerBound + 6] == 0x2E,
      let major = digit(bytes[range.lowerBound + 5]), let minor = digit(bytes[range.lowerBound + 7])
    else { return nil }
    return major == 1 ? minor : 10
  }

  private static func method(_ bytes: UnsafeRawBufferPointer, _ name: Range<Int>) -> WebRequest.Method? {
    switch name.count {
    case 3: bytes.equals(name, "GET") ? .get : bytes.equals(name, "PUT") ? .put : nil
    case 4: bytes.equals(name, "POST") ? .post : nil
    case 5: bytes.equals(name, "PATCH") ? .patch : nil
    case 6: bytes.equals(name, "DELETE") ? .delete : nil
    case 7: bytes.equals(name, "OPTIONS") ? .options : nil
    default: nil
    }
  }

  private static func digit(_ byte: UInt8) -> UInt8? { byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : nil }
}

/// Grammar of header names and values (RFC 9110 §5.1, §5.5).
enum HeaderGrammar {
  /// Whether the byte is a `tchar` (RFC 9110 §5.6.2).
  static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
    default: false
    }
  }

  /// Whether the value has the form `uri-host [ ":" port ]` (RFC 9110 §7.2): the characters of a name, or of an address
  /// in brackets, then an optional port. The name may be empty.
  static func isHost(_ bytes: UnsafeRawBufferPointer, _ host: Range<Int>) -> Bool {
    var rest = host
    if let first = host.first, bytes[first] == 0x5B {
      guard let end = bytes.first(0x5D, in: host) else { return false }
      for index in first + 1..<end where bytes[index] != 0x3A && !isOfName(bytes[index]) { return false }
      guard end > first + 1 else { return false }
      rest = end + 1..<host.upperBound
    } else {
      let end = bytes.first(0x3A, in: host) ?? host.upperBound
      for index in host.lowerBound..<end where !isOfName(bytes[index]) { return false }
      rest = end..<host.upperBound
    }
    guard let colon = rest.first else { return true }
    guard bytes[colon] == 0x3A, rest.count <= 6 else { return false }
    return rest.dropFirst().allSatisfy { bytes[$0] >= 0x30 && bytes[$0] <= 0x39 }
  }

  /// Whether the byte may be in a registered name (RFC 3986 §3.2.2). The comma may not, because it separates the values
  /// of two joined `Host` lines.
  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case 0x21, 0x24...0x2B, 0x2D, 0x2E, 0x3B, 0x3D, 0x5F, 0x7E: true
    default: false
    }
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  static func lowercased(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte + 0x20 : byte }

  static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { isToken($0) }
  }

  /// Whether the value has no control character except tabs.
  static func isValue(_ value: String) -> Bool {
    value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }
}
