// The items at the top of an HCL document, such as Terraform's configuration, with their positions in its text. The
// content of blocks and values is skipped.

struct HCLItems {
  struct Item {
    /// The words before the brace or the equals sign, without quotes.
    let words: [String]
    /// The range from the first word to the end of the block or the value.
    let range: Range<Int>
    /// Whether the item is an empty block.
    let isEmptyBlock: Bool
  }

  let bytes: [UInt8]
  private(set) var all: [Item] = []
  /// The number of the first line that cannot be read; nil if every line can be read.
  private(set) var badLine: Int?
  private var at = 0

  init(_ text: String) {
    bytes = Array(text.utf8)
    // Terraform refuses a byte order mark.
    guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else {
      badLine = 1
      return
    }
    while true {
      guard skipBlanks() else { break }
      if at == bytes.count { return }
      let begin = at
      guard let item = item() else {
        at = begin
        break
      }
      all.append(item)
    }
    badLine = bytes[..<at].count { $0 == Self.newline } + 1
  }

  private mutating func item() -> Item? {
    let begin = at
    var words: [String] = []
    while let byte = next(), byte != Self.openBrace, byte != Self.equals {
      let start = at
      if byte == Self.quote {
        guard skipString() else { return nil }
        words.append(String(decoding: bytes[(start + 1)..<(at - 1)], as: UTF8.self))
      } else {
        at = bytes[at...].firstIndex { !Self.isOfWord($0) } ?? bytes.count
        guard at > start else { return nil }
        words.append(String(decoding: bytes[start..<at], as: UTF8.self))
      }
      guard skipBlanks() else { return nil }
    }
    guard !words.isEmpty, let sign = next() else { return nil }
    var isEmpty = false
    if sign == Self.openBrace {
      let inside = at + 1
      at = inside
      isEmpty = skipBlanks() && next() == Self.closeBrace
      at = inside - 1
      guard skipNested() else { return nil }
    } else {
      at += 1
      guard skipBlanks(), skipValue() else { return nil }
    }
    return Item(words: words, range: begin..<at, isEmptyBlock: isEmpty)
  }

  /// Skips a value, up to the end of its line or, if it opens brackets, of the line in which the last of them closes.
  private mutating func skipValue() -> Bool {
    let begin = at
    while let byte = next(), byte != Self.newline, byte != Self.hash {
      if isAt("//") || isAt("/*") { break }
      guard skipPiece(byte) else { return false }
    }
    return at > begin
  }

  /// Skips an opening bracket, and everything up to and including its closing bracket.
  private mutating func skipNested() -> Bool {
    var open: [UInt8] = []
    while let byte = next() {
      switch byte {
      case Self.openBrace: open.append(Self.closeBrace)
      case Self.openBracket: open.append(Self.closeBracket)
      case Self.closeBrace, Self.closeBracket:
        guard open.popLast() == byte else { return false }
        at += 1
        if open.isEmpty { return true }
        continue
      default:
        if byte == Self.hash || isAt("//") || isAt("/*") {
          guard skipBlanks() else { return false }
        } else {
          guard skipPiece(byte) else { return false }
        }
        continue
      }
      at += 1
    }
    return false
  }

  /// Skips a string, a text of several lines, a bracket with its content, or one byte.
  private mutating func skipPiece(_ byte: UInt8) -> Bool {
    switch byte {
    case Self.quote: return skipString()
    case Self.openBrace, Self.openBracket: return skipNested()
    case Self.closeBrace, Self.closeBracket: return false
    default:
      if isAt("<<") { return skipHeredoc() }
      at += 1
      return true
    }
  }

  private mutating func skipString() -> Bool {
    at += 1
    while let byte = next(), byte != Self.newline {
      at += byte == UInt8(ascii: "\\") ? 2 : 1
      if byte == Self.quote { return true }
    }
    return false
  }

  /// Skips `<<WORD`, and the lines after it, up to a line that has only this word.
  private mutating func skipHeredoc() -> Bool {
    at += isAt("<<-") ? 3 : 2
    let lines = bytes[at...].split(separator: Self.newline, omittingEmptySubsequences: false)
    func trimmed(_ line: ArraySlice<UInt8>) -> [UInt8] {
      line.filter { ![Self.space, Self.tab, Self.carriageReturn].contains($0) }
    }
    guard let word = lines.first.map(trimmed), !word.isEmpty,
      let end = lines.dropFirst().first(where: { trimmed($0) == word })
    else { return false }
    at = end.endIndex
    return true
  }

  /// Skips white space and comments.
  /// - Returns: false if a comment does not end.
  private mutating func skipBlanks() -> Bool {
    while let byte = next() {
      if byte == Self.hash || isAt("//") {
        at = bytes[at...].firstIndex(of: Self.newline) ?? bytes.count
      } else if isAt("/*") {
        let begin = at
        at += 2
        while at < bytes.count, !isAt("*/") { at += 1 }
        guard at < bytes.count else {
          at = begin
          return false
        }
        at += 2
      } else if [Self.space, Self.tab, Self.newline, Self.carriageReturn].contains(byte) {
        at += 1
      } else {
        return true
      }
    }
    return true
  }

  private func next() -> UInt8? { at < bytes.count ? bytes[at] : nil }

  private func isAt(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { bytes[min(at, bytes.count)...].starts(with: $0) }
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
    default: byte >= 0x80
    }
  }

  private static let newline = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
  private static let space = UInt8(ascii: " ")
  private static let tab = UInt8(ascii: "\t")
  private static let hash = UInt8(ascii: "#")
  private static let quote = UInt8(ascii: "\"")
  private static let equals = UInt8(ascii: "=")
  private static let openBracket = UInt8(ascii: "[")
  private static let closeBracket = UInt8(ascii: "]")
  private static let openBrace = UInt8(ascii: "{")
  private static let closeBrace = UInt8(ascii: "}")
}
