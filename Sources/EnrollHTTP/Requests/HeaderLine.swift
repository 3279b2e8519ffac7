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
    var start = colon + 1
    var end = line.upperBound
    while start < end, HeaderGrammar.isBlank(bytes[start]) { start += 1 }
    while end > start, HeaderGrammar.isBlank(bytes[end - 1]) { end -= 1 }
    name = line.lowerBound..<colon
    value = start..<end
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

  /// Without regard to case (ASCII).
  func equalsIgnoringCase(_ range: Range<Int>, _ text: String) -> Bool {
    var text = text
    return text.withUTF8 { text in
      guard text.count == range.count else { return false }
      for index in 0..<range.count
      where HeaderGrammar.lowercased(self[range.lowerBound + index]) != HeaderGrammar.lowercased(text[index])
      {
        return false
      }
      return true
    }
  }
}
