// One header line as bytes (RFC 9112 §5), and how bytes of a head are compared and turned into text.

/// Where the name and the value of a line are, in the bytes that it was found in.
struct HeaderLine: Equatable {
  var name: Range<Int>
  /// Without the blanks and tabs around it.
  var value: Range<Int>

  /// - Parameter line: without its end.
  /// - Returns: nil unless it is a token, a colon and anything.
  init?(_ bytes: UnsafeRawBufferPointer, _ line: Range<Int>) {
    var colon = line.lowerBound
    while colon < line.upperBound, HeaderGrammar.isToken(bytes[colon]) { colon += 1 }
    guard colon > line.lowerBound, colon < line.upperBound, bytes[colon] == 0x3A else { return nil }
    name = line.lowerBound..<colon
    value = bytes.trimmed(colon + 1..<line.upperBound)
  }

  /// One blank or none before the value, none behind it, and a value. Readers differ in how they take others off, and what frames a
  /// body may not depend on it.
  func isPlain(_ line: Range<Int>, _ bytes: UnsafeRawBufferPointer) -> Bool {
    let before = value.lowerBound - name.upperBound - 1
    return !value.isEmpty && value.upperBound == line.upperBound
      && (before == 0 || before == 1 && bytes[value.lowerBound - 1] == 0x20)
  }

  /// Whether the value is a list (RFC 9110 §5.6.1) with this word in it.
  func lists(_ word: StaticString, in bytes: UnsafeRawBufferPointer) -> Bool {
    var start = value.lowerBound
    while start < value.upperBound {
      let end = bytes.first(0x2C, in: start..<value.upperBound) ?? value.upperBound
      if bytes.equalsIgnoringCase(bytes.trimmed(start..<end), word) { return true }
      start = end + 1
    }
    return false
  }

  /// Goes through lines that are proper, each with CRLF behind it.
  static func each(_ bytes: UnsafeRawBufferPointer, _ body: (HeaderLine) -> Void) {
    var start = 0
    while start < bytes.count, let end = bytes.first(0x0D, in: start..<bytes.count) {
      if let line = HeaderLine(bytes, start..<end) { body(line) }
      start = end + 2
    }
  }
}

extension UnsafeRawBufferPointer {
  func first(_ byte: UInt8, in range: Range<Int>) -> Int? {
    for index in range where self[index] == byte { return index }
    return nil
  }

  /// Without the blanks and tabs at both ends.
  func trimmed(_ range: Range<Int>) -> Range<Int> {
    var start = range.lowerBound
    var end = range.upperBound
    while start < end, HeaderGrammar.isBlank(self[start]) { start += 1 }
    while end > start, HeaderGrammar.isBlank(self[end - 1]) { end -= 1 }
    return start..<end
  }

  /// Bytes that are no UTF-8 become U+FFFD.
  func text(_ range: Range<Int>) -> String {
    String(decoding: UnsafeRawBufferPointer(rebasing: self[range]), as: UTF8.self)
  }

  func equals(_ range: Range<Int>, _ word: StaticString) -> Bool {
    guard range.count == word.utf8CodeUnitCount else { return false }
    for index in 0..<range.count where self[range.lowerBound + index] != word.utf8Start[index] {
      return false
    }
    return true
  }

  /// - Parameter word: in lower case.
  func equalsIgnoringCase(_ range: Range<Int>, _ word: StaticString) -> Bool {
    guard range.count == word.utf8CodeUnitCount else { return false }
    for index in 0..<range.count
    where HeaderGrammar.lowercased(self[range.lowerBound + index]) != word.utf8Start[index] { return false }
    return true
  }

  func equalsIgnoringCase(_ range: Range<Int>, text: String) -> Bool {
    guard range.count == text.utf8.count else { return false }
    var index = range.lowerBound
    for byte in text.utf8 {
      guard HeaderGrammar.lowercased(self[index]) == HeaderGrammar.lowercased(byte) else { return false }
      index += 1
    }
    return true
  }
}
