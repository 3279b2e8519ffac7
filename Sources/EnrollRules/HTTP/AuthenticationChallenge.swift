// `WWW-Authenticate` (RFC 9110 §11.6.1): a response has one or several such headers, and each has one or more
// challenges. A challenge has parameters (tokens or quoted strings) or a token68. A header that breaks the grammar or
// repeats a parameter is refused, never repaired.

/// One challenge with which a server requests credentials.
package struct AuthenticationChallenge: Equatable, Sendable {
  /// The scheme. Compare it without regard to case.
  var scheme: String
  var parameters: [(name: String, value: String)] = []

  package static func == (left: AuthenticationChallenge, right: AuthenticationChallenge) -> Bool {
    ASCII.equals(left.scheme, right.scheme) && left.parameters.count == right.parameters.count
      && zip(left.parameters, right.parameters).allSatisfy {
        ASCII.equals($0.name, $1.name) && ASCII.equals($0.value, $1.value)
      }
  }

  /// The parameter with this name, compared without regard to case.
  package func parameter(_ name: String) -> String? {
    parameters.first { ASCII.equalsIgnoringCase($0.name, name) }?.value
  }

  /// The maximum number of bytes of one header, because each parameter is compared with all earlier ones.
  private static let limit = 4096

  /// The challenges of all `WWW-Authenticate` headers of a response, in their order.
  /// - Throws: `.responseInvalid` for a header that breaks the grammar.
  package static func all(in response: HTTPResponse) throws(EnrollError) -> [AuthenticationChallenge] {
    var challenges: [AuthenticationChallenge] = []
    for header in response.headers where ASCII.equalsIgnoringCase(header.name, "WWW-Authenticate") {
      guard header.value.utf8.count <= limit else {
        throw EnrollError(
          .responseInvalid,
          "WWW-Authenticate: expected at most \(limit) bytes, got \(header.value.utf8.count)",
          httpStatus: response.status)
      }
      var reader = ChallengeReader(header.value.bytes)
      guard let found = reader.challenges() else {
        throw EnrollError(
          .responseInvalid,
          "WWW-Authenticate: expected challenges as RFC 9110 §11.6.1 writes them, got something else at byte \(reader.at)",
          httpStatus: response.status)
      }
      challenges += found
    }
    return challenges
  }
}

/// Reads one header's value from left to right.
private struct ChallengeReader {
  private let bytes: [UInt8]
  private(set) var at = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// - Returns: nil if the value breaks the grammar; ``at`` is then the position of the fault.
  mutating func challenges() -> [AuthenticationChallenge]? {
    var found: [AuthenticationChallenge] = []
    while true {
      skipListSeparators()
      guard at < bytes.count else { return found }
      guard let scheme = token() else { return nil }
      var challenge = AuthenticationChallenge(scheme: scheme)
      if skipSpaces() > 0, !takeToken68() {
        guard parameters(into: &challenge) else { return nil }
      }
      guard isAtElementEnd else { return nil }
      found.append(challenge)
    }
  }

  /// Reads the parameters up to the next challenge or the end of the value.
  private mutating func parameters(into challenge: inout AuthenticationChallenge) -> Bool {
    while true {
      let start = at
      guard let name = token() else { return isAtElementEnd }
      skipSpaces()
      guard take(0x3D) else {
        // `name` is not a parameter, but the scheme of the next challenge.
        at = start
        return !challenge.parameters.isEmpty || isAtElementEnd
      }
      skipSpaces()
      guard let value = bytes[safe: at] == 0x22 ? quotedText() : token(),
        challenge.parameter(name) == nil
      else { return false }
      challenge.parameters.append((name, value))
      skipSpaces()
      guard at < bytes.count else { return true }
      guard bytes[at] == 0x2C else { return false }
      let comma = at
      skipListSeparators()
      if !isParameterNext {
        at = comma
        return true
      }
    }
  }

  /// Whether the next element is a parameter, not a scheme: only a parameter has an equals sign.
  private var isParameterNext: Bool {
    var ahead = self
    guard ahead.token() != nil else { return false }
    ahead.skipSpaces()
    return ahead.take(0x3D)
  }

  private var isAtElementEnd: Bool { at >= bytes.count || bytes[at] == 0x2C }

  /// Reads a `token68`, which is then the only content of the challenge.
  private mutating func takeToken68() -> Bool {
    var end = at
    while end < bytes.count, Self.isToken68(bytes[end]) { end += 1 }
    guard end > at else { return false }
    while end < bytes.count, bytes[end] == 0x3D { end += 1 }
    while end < bytes.count, bytes[end] == 0x20 || bytes[end] == 0x09 { end += 1 }
    guard end >= bytes.count || bytes[end] == 0x2C else { return false }
    at = end
    return true
  }

  private mutating func token() -> String? {
    let start = at
    while at < bytes.count, Self.isToken(bytes[at]) { at += 1 }
    return at > start ? String(decoding: bytes[start..<at], as: UTF8.self) : nil
  }

  private mutating func quotedText() -> String? {
    guard take(0x22) else { return nil }
    var text: [UInt8] = []
    while at < bytes.count {
      var byte = bytes[at]
      at += 1
      if byte == 0x22 { return String(validating: text, as: UTF8.self) }
      if byte == 0x5C {
        guard at < bytes.count else { return nil }
        byte = bytes[at]
        at += 1
      }
      guard byte >= 0x20 && byte != 0x7F || byte == 0x09 else { return nil }
      text.append(byte)
    }
    return nil
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard bytes[safe: at] == byte else { return false }
    at += 1
    return true
  }

  @discardableResult
  private mutating func skipSpaces() -> Int {
    let start = at
    while at < bytes.count, bytes[at] == 0x20 || bytes[at] == 0x09 { at += 1 }
    return at - start
  }

  private mutating func skipListSeparators() {
    while at < bytes.count, [0x20, 0x09, 0x2C].contains(bytes[at]) { at += 1 }
  }

  /// Whether the byte is a `tchar` (RFC 9110 §5.6.2).
  private static func isToken(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || ASCII.isDigit(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }

  private static func isToken68(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || ASCII.isDigit(byte) || "-._~+/".utf8.contains(byte)
  }
}

extension [UInt8] {
  /// The byte at an index; nil if the index is out of range.
  fileprivate subscript(safe index: Int) -> UInt8? { indices.contains(index) ? self[index] : nil }
}
