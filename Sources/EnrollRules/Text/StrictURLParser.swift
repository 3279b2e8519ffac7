// The parser of StrictURL: it decides which URLs are refused (R9), in one pass over the bytes, without allocation. It
// is separate from StrictURL, so that a URL is never half parsed. The parser's loops are always optimized for speed,
// whatever optimization the build uses.

struct StrictURLParser {
  private(set) var kind = StrictURL.Kind.https
  private(set) var scheme = 0..<0
  private(set) var host: Range<Int>?
  private(set) var port: Int?
  private(set) var path = 0..<0
  private(set) var query: Range<Int>?
  /// The end of the URL: the fragment's `#`, or the end of the text.
  private(set) var end = 0
  /// A URL whose private scheme is accepted although it has no dot (R2).
  private let configured: String?

  init(configured: String? = nil) { self.configured = configured }

  mutating func parse(_ bytes: Span<UInt8>) throws(StrictURL.Refusal) {
    guard !bytes.isEmpty else { throw .empty }
    try parseScheme(bytes)
    try parseAuthority(bytes)
    try parsePath(bytes)
    try parseQuery(bytes)
  }

  @_optimize(speed)
  private mutating func parseScheme(_ bytes: Span<UInt8>) throws(StrictURL.Refusal) {
    var hasDot = false
    var index = 0
    while index < bytes.count, bytes[index] != 0x3A {
      let byte = bytes[index]
      let isLetter = byte >= 0x61 && byte <= 0x7A
      guard isLetter || (index > 0 && (ASCII.isDigit(byte) || byte == 0x2B || byte == 0x2D || byte == 0x2E))
      else { throw .scheme }
      if byte == 0x2E {
        guard bytes[index - 1] != 0x2E else { throw .scheme }
        hasDot = true
      }
      index += 1
    }
    guard index > 0, index < bytes.count, bytes[index - 1] != 0x2E else { throw .scheme }
    scheme = 0..<index
    end = index + 1
    if ASCII.equals(bytes, scheme, "https") {
      kind = .https
    } else if ASCII.equals(bytes, scheme, "http") {
      kind = .loopbackHTTP
    } else {
      guard hasDot || isConfigured(bytes) else { throw .schemeWithoutDot }
      kind = .privateScheme
    }
  }

  private func isConfigured(_ bytes: Span<UInt8>) -> Bool {
    guard let configured = configured?.utf8, configured.count > scheme.count else { return false }
    var index = 0
    for byte in configured {
      guard index < scheme.count else { return byte == 0x3A && !ReservedScheme.contains(bytes, scheme) }
      guard byte == bytes[index] else { return false }
      index += 1
    }
    return false
  }

  @_optimize(speed)
  private mutating func parseAuthority(_ bytes: Span<UInt8>) throws(StrictURL.Refusal) {
    guard end < bytes.count, bytes[end] == 0x2F else { throw .slashes }
    guard end + 1 < bytes.count, bytes[end + 1] == 0x2F else {
      guard kind == .privateScheme else { throw .slashes }
      return
    }
    let start = end + 2
    var index = start
    var colon: Int?
    while index < bytes.count, bytes[index] != 0x2F, bytes[index] != 0x3F, bytes[index] != 0x23 {
      if bytes[index] == 0x40 { throw .userinfo }
      if bytes[index] == 0x3A { colon = index }
      index += 1
    }
    end = index
    var name = start..<index
    // A colon begins a port only outside the brackets of an IPv6 address.
    if let colon, bytes[start] != 0x5B || bytes[colon - 1] == 0x5D {
      guard kind != .privateScheme else { throw .port }
      port = try HostText.port(bytes, (colon + 1)..<index)
      name = start..<colon
    }
    guard HostText.isHost(bytes, name, mayBeAddress: kind != .privateScheme) else { throw .host }
    host = name
    if kind == .loopbackHTTP && !HostText.isLoopback(bytes, name) { throw .httpBeyondLoopback }
  }

  @_optimize(speed)
  private mutating func parsePath(_ bytes: Span<UInt8>) throws(StrictURL.Refusal) {
    let start = end
    var segment = end
    var index = end
    while index < bytes.count {
      let byte = bytes[index]
      if byte == 0x3F || byte == 0x23 { break }
      guard URLBytes.isPath(byte) else { throw .character(byte, at: index) }
      if byte == 0x25 { try checkEscape(bytes, at: index) }
      if byte == 0x2F {
        if isDotSegment(bytes, segment..<index) { throw .dotSegment }
        segment = index + 1
      }
      index += 1
    }
    if isDotSegment(bytes, segment..<index) { throw .dotSegment }
    end = index
    path = start..<index
  }

  @_optimize(speed)
  private mutating func parseQuery(_ bytes: Span<UInt8>) throws(StrictURL.Refusal) {
    guard end < bytes.count, bytes[end] == 0x3F else { return }
    let start = end + 1
    var index = start
    while index < bytes.count {
      if let eight = EightBytes(of: bytes, at: index) {
        let places = URLBytes.notable(eight)
        guard places != 0 else {
          index += 8
          continue
        }
        index += EightBytes.first(places)
      }
      let byte = bytes[index]
      if !URLBytes.isQuery(byte) {
        if byte == 0x23 { break }
        throw .character(byte, at: index)
      }
      if byte == 0x25 { try checkEscape(bytes, at: index) }
      index += 1
    }
    end = index
    query = start..<index
  }

  /// Checks that an escape has two hexadecimal digits that are not both zero. A fragment cannot begin inside the
  /// escape, because `#` is not a hexadecimal digit.
  private func checkEscape(_ bytes: Span<UInt8>, at index: Int) throws(StrictURL.Refusal) {
    guard index + 2 < bytes.count, let high = PercentEncoding.hexValue(bytes[index + 1]),
      let low = PercentEncoding.hexValue(bytes[index + 2]), high | low != 0
    else { throw .escape }
  }

  /// Whether the segment is `.`, `..`, or one of their spellings with `%2e`.
  private func isDotSegment(_ bytes: Span<UInt8>, _ segment: Range<Int>) -> Bool {
    var index = segment.lowerBound
    var dots = 0
    while index < segment.upperBound, dots <= 2 {
      if bytes[index] == 0x2E {
        index += 1
      } else if bytes[index] == 0x25, bytes[index + 1] == 0x32, ASCII.lowercased(bytes[index + 2]) == 0x65 {
        index += 3
      } else {
        return false
      }
      dots += 1
    }
    return dots == 1 || dots == 2
  }
}

/// Schemes without a dot that browsers and systems use. An app cannot configure such a scheme as its own.
private enum ReservedScheme {
  static func contains(_ bytes: Span<UInt8>, _ scheme: Range<Int>) -> Bool {
    [
      "about", "blob", "content", "data", "file", "filesystem", "ftp", "intent", "javascript", "mailto",
      "tel",
      "vbscript", "ws", "wss",
    ].contains { ASCII.equals(bytes, scheme, $0) }
  }
}

/// The bytes that are allowed in a path and in a query. A query may have a few bytes that RFC 3986 §3.4 does not allow,
/// because browsers do not escape them (URL Standard, query percent-encode set).
private enum URLBytes {
  static func isPath(_ byte: UInt8) -> Bool { contains(pathLow, pathHigh, byte) }
  static func isQuery(_ byte: UInt8) -> Bool { contains(queryLow, queryHigh, byte) }

  /// The places of bytes that are not allowed in a query, or that begin an escape. These bytes are " # % < > and the
  /// backslash, and all bytes that are not visible ASCII.
  @inline(__always)
  static func notable(_ bytes: EightBytes) -> UInt64 {
    bytes.places(outside: 0x21) | bytes.places(of: 0x22) | bytes.places(of: 0x23) | bytes.places(of: 0x25)
      | bytes.places(of: 0x3C) | bytes.places(of: 0x3E) | bytes.places(of: 0x5C)
  }

  // Two sets of bytes with one bit for each byte: one for the bytes 0 to 63, one for 64 to 127. Allowed in a path:
  // letters, digits, -._~ !$&'()*+,;= :@ / %
  private static var pathLow: UInt64 { 0x2FFF_FFF2_0000_0000 }
  private static var pathHigh: UInt64 { 0x47FF_FFFE_87FF_FFFF }
  // Allowed in a query: the bytes of a path, and ? [ ] ^ ` { | }
  private static var queryLow: UInt64 { 0xAFFF_FFF2_0000_0000 }
  private static var queryHigh: UInt64 { 0x7FFF_FFFF_EFFF_FFFF }

  private static func contains(_ low: UInt64, _ high: UInt64, _ byte: UInt8) -> Bool {
    byte < 128 && ((byte < 64 ? low : high) >> UInt64(byte & 63)) & 1 == 1
  }
}
