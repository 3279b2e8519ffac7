// Reads the usable members of an object that is not acceptable JSON (R37), because of: a duplicate member, NUL in a
// string, nesting that is too deep, a trailing comma, a byte order mark or a warning before it, other bytes after it,
// or a missing end. It is for responses that must not be lost as a whole, because a value in them cannot be fetched
// again (R30). It reads only the members of the outermost object, and returns a value only if the text is unambiguous
// about it.

extension JSON {
  /// The members named `names` whose values are unambiguous: acceptable by themselves (R37), and the same wherever the
  /// outermost object names them.
  /// - Parameter needed: a member that may be missing, but must not be ambiguous.
  /// - Returns: nil if the text has no complete object, or if `needed` is ambiguous. `needed` is also ambiguous if the
  ///   text before or after the object names it, unless the text after it only repeats the object.
  public static func salvaged(
    _ names: [String], undoubted needed: String, from text: [UInt8]
  ) -> JSONObject? {
    var empty: JSONObject?
    for var salvage in JSONSalvage.candidates(in: text, without: needed) {
      let found = salvage.members(names)
      guard salvage.isWhole, !salvage.isFollowed(by: needed) else { continue }
      guard !found.isEmpty else {
        empty = JSONObject([])
        continue
      }
      guard !found.contains(where: { $0.value == nil && $0.name.utf8.elementsEqual(needed.utf8) }) else {
        return nil
      }
      return JSONObject(found.map { ($0.name, $0.value) })
    }
    return empty
  }

  /// The member `name` of an object whose end is missing: complete by itself, and named once, or with the same value
  /// each time.
  /// - Returns: nil also if the object is complete, or broken before the end of the text, or if the text before it names
  ///   the member.
  public static func salvaged(_ name: String, beforeCutIn text: [UInt8]) -> JSON? {
    for var salvage in JSONSalvage.candidates(in: text, without: name) {
      let found = salvage.members([name])
      guard salvage.isCut else { continue }
      return salvage.isCutBehind(name) ? nil : found.first?.value
    }
    return nil
  }
}

/// Steps through the members of the outermost object without checking their content.
private struct JSONSalvage {
  private let text: [UInt8]
  private var at = 0
  private var isOpen = false
  /// Whether the object is complete.
  private(set) var isWhole = false
  /// Whether the text begins with an object.
  let isObject: Bool
  private var start = 0
  /// The position after the last complete member.
  private var end = 0
  /// The key of the next member, whose value is incomplete.
  private var cutKey: Range<Int>?

  init(_ text: [UInt8]) {
    self.text = text
    let isMarked = text.starts(with: [0xEF, 0xBB, 0xBF])
    let first = text.dropFirst(isMarked ? 3 : 0).firstIndex { !Self.isSpace($0) }
    at = first ?? text.count
    isObject = first.map { text[$0] == UInt8(ascii: "{") } ?? false
    isOpen = isObject
    start = at
    if isObject { at += 1 }
  }

  /// The most opening braces that are tried, one after the other.
  private static let longestWords = 16

  /// Where the object may begin: at the start of the text, or after a comment or warning that does not name `needed`.
  /// The comment may have brackets, for example a log's date or a trace's `{main}`. An object where a value is expected
  /// is a part of another value, and is no candidate.
  static func candidates(in text: [UInt8], without needed: String) -> [JSONSalvage] {
    let first = JSONSalvage(text)
    if first.isObject { return [first] }
    var found: [JSONSalvage] = []
    var start = text.startIndex
    for _ in 1...longestWords {
      guard let brace = text[start...].firstIndex(of: UInt8(ascii: "{")) else { break }
      start = brace + 1
      let words = text[..<brace]
      guard !mayName(needed, words) else { break }
      if !isValueExpected(behind: words) { found.append(JSONSalvage(Array(text[brace...]))) }
    }
    return found
  }

  /// Whether the text ends inside the object, and is correct until there. Ask only after the last step.
  var isCut: Bool { isObject && !isWhole && at >= text.count }

  /// Whether the text may have been cut inside the member `name`: after the last complete member comes this
  /// key, or a part of it.
  func isCutBehind(_ name: String) -> Bool {
    guard let cutKey, let key = try? JSON.parse(Array(text[cutKey])).string else {
      return Self.mayName(name, text[end...])
    }
    return key.utf8.elementsEqual(name.utf8)
  }

  /// The members with those names. A member has no value if its value is not acceptable, or differs between its
  /// occurrences.
  mutating func members(_ names: [String]) -> [(name: String, value: JSON?)] {
    var found: [(name: String, value: JSON?)] = []
    while let member = next() {
      guard let key = try? JSON.parse(Array(text[member.key])).string,
        names.contains(where: { key.utf8.elementsEqual($0.utf8) })
      else { continue }
      let value = try? JSON.parse(Array(text[member.value]))
      if let index = found.firstIndex(where: { $0.name.utf8.elementsEqual(key.utf8) }) {
        if found[index].value != value { found[index].value = nil }
      } else {
        found.append((key, value))
      }
    }
    return found
  }

  /// Whether the text after the object may name a member `name`, perhaps written with escapes. Repetitions of the same
  /// object do not count.
  func isFollowed(by name: String) -> Bool {
    let object = text[start..<at]
    var rest = text[at...]
    while true {
      while let byte = rest.first, Self.isSpace(byte) { rest = rest.dropFirst() }
      guard rest.starts(with: object) else { break }
      rest = rest.dropFirst(object.count)
    }
    return Self.mayName(name, rest)
  }

  /// Whether a member's value or an array element would come next: after `"name":`, `[` or `,`. JSON has no single
  /// quotes: some servers send `)]}',` before an object so that a browser does not run it as a script.
  static func isValueExpected(behind bytes: ArraySlice<UInt8>) -> Bool {
    let signs = bytes.reversed().lazy.filter { !isSpace($0) }.prefix(2)
    guard let last = signs.first else { return false }
    if last == UInt8(ascii: ",") { return !signs.elementsEqual(",'".utf8) }
    return last == UInt8(ascii: "[") || signs.elementsEqual(":\"".utf8)
  }

  /// Whether `bytes` contain `name`, or an escape sequence that may be a part of it.
  static func mayName(_ name: String, _ bytes: ArraySlice<UInt8>) -> Bool {
    let names = [Array(name.utf8), Array("\\u".utf8)]
    return bytes.indices.contains { index in names.contains { bytes[index...].starts(with: $0) } }
  }

  /// The next complete member; nil at the end of the object, or where the text is broken.
  mutating func next() -> (key: Range<Int>, value: Range<Int>)? {
    guard isOpen else { return nil }
    isOpen = false
    guard let key = string(), takes(UInt8(ascii: ":")) else { return nil }
    guard let value = value() else {
      cutKey = key
      return nil
    }
    end = value.upperBound
    isOpen = takes(UInt8(ascii: ","))
    if takes(UInt8(ascii: "}")) {
      isOpen = false
      isWhole = true
    }
    return (key, value)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

  private mutating func skipSpace() {
    while at < text.count, Self.isSpace(text[at]) { at += 1 }
  }

  private mutating func takes(_ byte: UInt8) -> Bool {
    skipSpace()
    guard at < text.count, text[at] == byte else { return false }
    at += 1
    return true
  }

  private mutating func string() -> Range<Int>? {
    skipSpace()
    guard at < text.count, text[at] == UInt8(ascii: "\"") else { return nil }
    let start = at
    at += 1
    while at < text.count {
      switch text[at] {
      case UInt8(ascii: "\""):
        at += 1
        return start..<at
      case UInt8(ascii: "\\"): at += 2
      default: at += 1
      }
    }
    return nil
  }

  private mutating func value() -> Range<Int>? {
    skipSpace()
    guard at < text.count else { return nil }
    switch text[at] {
    case UInt8(ascii: "\""): return string()
    case UInt8(ascii: "{"), UInt8(ascii: "["): return container()
    default: return word()
    }
  }

  /// Finds the end by counting brackets, so that the nesting may be of any depth.
  private mutating func container() -> Range<Int>? {
    let start = at
    var depth = 0
    while at < text.count {
      switch text[at] {
      case UInt8(ascii: "\""):
        guard string() != nil else { return nil }
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      at += 1
      if depth == 0 { return start..<at }
    }
    return nil
  }

  /// A number, `true`, `false` or `null`. It is complete only if something follows it.
  private mutating func word() -> Range<Int>? {
    let start = at
    while at < text.count {
      switch text[at] {
      case UInt8(ascii: ","), UInt8(ascii: "}"), 0x20, 0x09, 0x0A, 0x0D: return at > start ? start..<at : nil
      default: at += 1
      }
    }
    return nil
  }
}
