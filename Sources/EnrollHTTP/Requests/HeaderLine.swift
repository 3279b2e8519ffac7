// One header line as bytes (RFC 9112 §5), and functions that compare bytes of a head and decode them.

/// The positions of a line's name and value in the bytes of the head.
struct HeaderLine: Equatable {
  var name: Range<Int>
  /// The value without surrounding blanks and tabs.
  var value: Range<Int>

  /// - Parameter line: the position of the line, without its line end.
  /// - Returns: nil unless the line consists of a token, a colon and a value, which may be empty.
  init?(_ bytes: UnsafeRawBufferPointer, _ line: Range<Int>) {
    var colon = line.lowerBound
    while colon < line.upperBound, HeaderGrammar.isToken(bytes[colon]) { colon += 1 }
    guard colon > line.lowerBound, colon < line.upperBound, bytes[colon] == 0x3A else { return nil }
    name = line.lowerBound..<colon
    value = bytes.trimmed(colon + 1..<line.upperBound)
  }

  /// Whether the value is not empty, with at most one space before it and no space after it. Parsers disagree on any
  /// other blanks, and the framing of a body must not depend on them.
  func isPlain(_ line: Range<Int>, _ bytes: UnsafeRawBufferPointer) -> Bool {
    let before = value.lowerBound - name.upperBound - 1
    return !value.isEmpty && value.upperBound == line.upperBound
      && (before == 0 || before == 1 && bytes[value.lowerBound - 1] == 0x20)
  }

  /// Whether the value, read as a list (RFC 9110 §5.6.1), contains this word.
  func lists(_ word: StaticString, in bytes: UnsafeRawBufferPointer) -> Bool {
    var start = value.lowerBound
    while start < value.upperBound {
      let end = bytes.first(0x2C, in: start..<value.upperBound) ?? value.upperBound
      if bytes.equalsIgnoringCase(bytes.trimmed(start..<end), word) { return true }
      start = end + 1
    }
    return false
  }

  /// Calls `body` for each header line in `bytes`. The lines have been checked, and each ends with CRLF.
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

  /// The range without blanks and tabs at both ends.
  func trimmed(_ range: Range<Int>) -> Range<Int> {
    var start = range.lowerBound
    var end = range.upperBound
    while start < end, HeaderGrammar.isBlank(self[start]) { start += 1 }
    while end > start, HeaderGrammar.isBlank(self[end - 1]) { end -= 1 }
    return start..<end
  }

  /// Decodes UTF-8; invalid bytes become U+FFFD.
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

  /// - Parameter word: a word in lower case.
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
