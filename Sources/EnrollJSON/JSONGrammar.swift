// Decides whether a text is JSON (RFC 8259), without jansson. This check is used only if jansson returns no value:
// jansson reports a lack of memory as a syntax error, and an intact file must not count as damaged because of that.

struct JSONGrammar {
  private let text: [UInt8]
  private var at = 0

  enum Verdict {
    /// One value, and nothing else.
    case accepted
    /// One complete value with further text after it.
    case more
    /// Correct, but incomplete.
    case short
    case wrong
  }

  /// The recursion needs no limit here, because ``JSONScan`` has already refused texts that are nested too deeply.
  static func verdict(on text: [UInt8]) -> Verdict {
    guard String(validating: text, as: UTF8.self) != nil else { return .wrong }
    var grammar = JSONGrammar(text: text)
    guard grammar.value() else { return grammar.at >= text.count ? .short : .wrong }
    grammar.skipSpace()
    return grammar.at == text.count ? .accepted : .more
  }

  private init(text: [UInt8]) { self.text = text }

  private var byte: UInt8? { at < text.count ? text[at] : nil }

  private mutating func skipSpace() {
    while let byte, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { at += 1 }
  }

  private mutating func take(_ wanted: UInt8) -> Bool {
    guard byte == wanted else { return false }
    at += 1
    return true
  }

  private mutating func value() -> Bool {
    skipSpace()
    switch byte {
    case UInt8(ascii: "{"): return members(until: UInt8(ascii: "}")) { $0.member() }
    case UInt8(ascii: "["): return members(until: UInt8(ascii: "]")) { $0.value() }
    case UInt8(ascii: "\""): return string()
    case UInt8(ascii: "t"): return word("true")
    case UInt8(ascii: "f"): return word("false")
    case UInt8(ascii: "n"): return word("null")
    default: return number()
    }
  }

  private mutating func members(until end: UInt8, _ each: (inout JSONGrammar) -> Bool) -> Bool {
    at += 1
    skipSpace()
    if take(end) { return true }
    while true {
      guard each(&self) else { return false }
      skipSpace()
      if take(end) { return true }
      guard take(UInt8(ascii: ",")) else { return false }
    }
  }

  private mutating func member() -> Bool {
    skipSpace()
    guard byte == UInt8(ascii: "\""), string() else { return false }
    skipSpace()
    return take(UInt8(ascii: ":")) && value()
  }

  private mutating func word(_ word: StaticString) -> Bool {
    word.withUTF8Buffer { letters in
      guard text[at...].starts(with: letters) else { return false }
      at += letters.count
      return true
    }
  }

  private mutating func number() -> Bool {
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { guard digits() else { return false } }
    if take(UInt8(ascii: ".")) { guard digits() else { return false } }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      return digits()
    }
    return true
  }

  private mutating func digits() -> Bool {
    let start = at
    while let byte, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { at += 1 }
    return at > start
  }

  private mutating func string() -> Bool {
    at += 1
    while let byte {
      at += 1
      switch byte {
      case UInt8(ascii: "\""): return true
      case UInt8(ascii: "\\"): guard escape() else { return false }
      case 0..<0x20: return false
      default: break
      }
    }
    return false
  }

  private mutating func escape() -> Bool {
    guard let byte else { return false }
    at += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return true
    case UInt8(ascii: "u"): return codePoint()
    default: return false
    }
  }

  /// Refuses NUL and half of a surrogate pair (R37).
  private mutating func codePoint() -> Bool {
    guard let unit = fourDigits(), unit != 0 else { return false }
    switch unit {
    case 0xDC00...0xDFFF: return false
    case 0xD800...0xDBFF:
      guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let low = fourDigits() else { return false }
      return (0xDC00...0xDFFF).contains(low)
    default: return true
    }
  }

  private mutating func fourDigits() -> UInt32? {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let byte else { return nil }
      at += 1
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): unit = unit << 4 | UInt32(byte - 0x30)
      case UInt8(ascii: "a")...UInt8(ascii: "f"): unit = unit << 4 | UInt32(byte - 0x61 + 10)
      case UInt8(ascii: "A")...UInt8(ascii: "F"): unit = unit << 4 | UInt32(byte - 0x41 + 10)
      default: return nil
      }
    }
    return unit
  }
}
