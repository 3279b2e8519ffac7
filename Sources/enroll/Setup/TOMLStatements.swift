// The statements of a TOML 1.0 document, with their positions in its text. The parser reads what is needed to change
// single lines: it does not check numbers and dates, or whether a key is set twice.

import EnrollJSON

struct TOMLStatements {
  struct Statement {
    /// The complete lines of the statement, with the newline at their end.
    let lines: Range<Int>
    /// The parts of the table's key, then the parts of the statement's own key.
    let path: [String]
    /// The text before the last part of the key in its line: white space, and the earlier parts of the key.
    let prefix: Range<Int>
    /// The value; nil for the header of a table.
    let value: Range<Int>?
    /// Whether the statement is a header in double brackets, which may occur more than once.
    let isArray: Bool
  }

  let bytes: [UInt8]
  private(set) var all: [Statement] = []
  /// The number of the first line that cannot be read; nil if all lines can be read.
  private(set) var badLine: Int?
  private var at = 0

  init(_ text: String) {
    bytes = Array(text.utf8)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
    var table: [String] = []
    while at < bytes.count {
      let begin = at
      skipBlanks()
      if isAtEndOfLine {
        skipLine()
      } else if let statement = statement(begin, table) {
        if statement.value == nil { table = statement.path }
        all.append(statement)
      } else {
        badLine = bytes[..<begin].count { $0 == Self.newline } + 1
        return
      }
    }
  }

  /// The text of a string; nil if the value is not a string, or if the string has several lines.
  func string(_ value: Range<Int>) -> String? {
    guard let (text, end) = string(at: value.lowerBound), end == value.upperBound else { return nil }
    return text
  }

  /// The strings in an array; nil if the value is not an array of strings.
  func strings(_ value: Range<Int>) -> [String]? {
    guard bytes[value.lowerBound] == Self.openBracket else { return nil }
    var found: [String] = []
    var position = value.lowerBound + 1
    while position < value.upperBound - 1 {
      switch bytes[position] {
      case Self.hash: position = endOfLine(position)
      case Self.space, Self.tab, Self.newline, Self.carriageReturn, Self.comma: position += 1
      default:
        guard let (text, end) = string(at: position) else { return nil }
        found.append(text)
        position = end
      }
    }
    return found
  }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  // MARK: Statements

  private mutating func statement(_ begin: Int, _ table: [String]) -> Statement? {
    let brackets =
      at < bytes.count && bytes[at] == Self.openBracket ? (next(1) == Self.openBracket ? 2 : 1) : 0
    at += brackets
    guard let (path, last) = key() else { return nil }
    var value: Range<Int>?
    if brackets > 0 {
      guard at + brackets <= bytes.count, bytes[at..<(at + brackets)].allSatisfy({ $0 == Self.closeBracket })
      else { return nil }
      at += brackets
    } else {
      guard next(0) == UInt8(ascii: "=") else { return nil }
      at += 1
      skipBlanks()
      guard let end = endOfValue(at), end > at else { return nil }
      value = at..<end
      at = end
    }
    skipBlanks()
    guard isAtEndOfLine else { return nil }
    skipLine()
    return Statement(
      lines: begin..<at, path: (value == nil ? [] : table) + path, prefix: begin..<last, value: value,
      isArray: brackets == 2)
  }

  /// Reads a key with dots.
  /// - Returns: the parts of the key, and the position where the last part begins.
  private mutating func key() -> (path: [String], last: Int)? {
    var path: [String] = []
    while true {
      skipBlanks()
      let begin = at
      if let (text, end) = string(at: at) {
        path.append(text)
        at = end
      } else {
        at = bytes[at...].firstIndex { !Self.isOfBareKey($0) } ?? bytes.count
        guard at > begin else { return nil }
        path.append(text(begin..<at))
      }
      skipBlanks()
      guard next(0) == UInt8(ascii: ".") else { return (path, begin) }
      at += 1
    }
  }

  private func endOfValue(_ begin: Int) -> Int? {
    guard begin < bytes.count else { return nil }
    switch bytes[begin] {
    case Self.quote, Self.apostrophe: return endOfString(begin)
    case Self.openBracket, Self.openBrace: return endOfNested(begin)
    default:
      // A number, a date or a boolean. A date can have a space in it.
      var end = bytes[begin...].firstIndex { $0 == Self.hash || $0 == Self.newline } ?? bytes.count
      while end > begin, [Self.space, Self.tab, Self.carriageReturn].contains(bytes[end - 1]) { end -= 1 }
      return end
    }
  }

  private func endOfNested(_ begin: Int) -> Int? {
    var open: [UInt8] = []
    var position = begin
    while position < bytes.count {
      switch bytes[position] {
      case Self.quote, Self.apostrophe:
        guard let end = endOfString(position) else { return nil }
        position = end
        continue
      case Self.hash:
        position = endOfLine(position)
        continue
      case Self.openBracket: open.append(Self.closeBracket)
      case Self.openBrace: open.append(Self.closeBrace)
      case Self.closeBracket, Self.closeBrace:
        guard open.popLast() == bytes[position] else { return nil }
        if open.isEmpty { return position + 1 }
      default: break
      }
      position += 1
    }
    return nil
  }

  // MARK: Strings

  /// Reads a string in one line. Returns its text, and the position of its end.
  private func string(at begin: Int) -> (text: String, end: Int)? {
    guard begin < bytes.count, [Self.quote, Self.apostrophe].contains(bytes[begin]),
      let end = endOfString(begin)
    else { return nil }
    let whole = bytes[begin..<end]
    if whole.count >= 6, whole.prefix(3).allSatisfy({ $0 == bytes[begin] }) { return nil }
    if bytes[begin] == Self.apostrophe { return (text((begin + 1)..<(end - 1)), end) }
    // The escapes of TOML are those of JSON, except for two rare ones.
    return (try? JSON.parse(Array(whole)))?.string.map { ($0, end) }
  }

  private func endOfString(_ begin: Int) -> Int? {
    let mark = bytes[begin]
    let marks = [mark, mark, mark]
    let isLong = bytes[begin...].starts(with: marks)
    var position = begin + (isLong ? 3 : 1)
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "\\"), mark == Self.quote {
        position += 2
      } else if !isLong, bytes[position] == Self.newline {
        return nil
      } else if isLong ? bytes[position...].starts(with: marks) : bytes[position] == mark {
        position += isLong ? 3 : 1
        // Up to two marks directly before the closing marks belong to the string.
        while isLong, position < bytes.count, bytes[position] == mark { position += 1 }
        return position
      } else {
        position += 1
      }
    }
    return nil
  }

  // MARK: Bytes

  private func next(_ offset: Int) -> UInt8? { at + offset < bytes.count ? bytes[at + offset] : nil }

  private mutating func skipBlanks() {
    while let byte = next(0), byte == Self.space || byte == Self.tab { at += 1 }
  }

  /// Whether the rest of the line is empty or a comment.
  private var isAtEndOfLine: Bool {
    guard let byte = next(0) else { return true }
    return byte == Self.newline || byte == Self.hash
      || byte == Self.carriageReturn && next(1) == Self.newline
  }

  private mutating func skipLine() { at = min(endOfLine(at) + 1, bytes.count) }

  private func endOfLine(_ begin: Int) -> Int {
    bytes[begin...].firstIndex(of: Self.newline) ?? bytes.count
  }

  private static func isOfBareKey(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }

  private static let newline = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
  private static let space = UInt8(ascii: " ")
  private static let tab = UInt8(ascii: "\t")
  private static let comma = UInt8(ascii: ",")
  private static let hash = UInt8(ascii: "#")
  private static let quote = UInt8(ascii: "\"")
  private static let apostrophe = UInt8(ascii: "'")
  private static let openBracket = UInt8(ascii: "[")
  private static let closeBracket = UInt8(ascii: "]")
  private static let openBrace = UInt8(ascii: "{")
  private static let closeBrace = UInt8(ascii: "}")
}
