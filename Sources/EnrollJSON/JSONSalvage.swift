// Reads the usable members of an object that is not acceptable JSON (R37). The causes may be a duplicate member, NUL
// in a string, nesting that is too deep, a trailing comma, a byte order mark or a warning before the object, other
// bytes or another object after it, or a missing end. This is for responses with values that cannot be fetched again
// (R30): such a response must not be lost as a whole. Only the members of the outermost objects are read, and a value
// is returned only if the text is unambiguous about it.

extension JSON {
  /// The members named `names` whose values are unambiguous. A value is unambiguous if it is acceptable by itself
  /// (R37), and if all outermost objects with this member have the same value. If one object has the member `needed`,
  /// other objects only add members that this object does not have.
  /// - Parameter needed: a member that may be missing, but must not be ambiguous.
  /// - Returns: nil if the text has no complete object, or if `needed` is ambiguous. `needed` is also ambiguous if the
  ///   text outside of the complete objects names it.
  public static func salvaged(
    _ names: [String], undoubted needed: String, from text: [UInt8]
  ) -> JSONObject? {
    var found: [JSONSalvage.Found] = []
    var others: [JSONSalvage.Found] = []
    var isThere = false
    var search = JSONSalvage.Search(text)
    while var object = search.next() {
      let members = object.members(names)
      guard object.isWhole else {
        if search.isExpected(object) { break }
        continue
      }
      guard !search.words(before: object, mayName: needed) else { return nil }
      search.end(object)
      isThere = true
      let isNeeded = members.contains { $0.name.utf8.elementsEqual(needed.utf8) }
      for member in members {
        if isNeeded { JSONSalvage.add(member, to: &found) } else { JSONSalvage.add(member, to: &others) }
      }
    }
    for other in others where !found.contains(where: { $0.name.utf8.elementsEqual(other.name.utf8) }) {
      found.append(other)
    }
    guard isThere, !search.rest(mayName: needed),
      !found.contains(where: { $0.value == nil && $0.name.utf8.elementsEqual(needed.utf8) })
    else { return nil }
    return JSONObject(found.map { ($0.name, $0.value) })
  }

  /// The member `name` of an object whose end is missing. The member must be complete, and must be named once, or
  /// have the same value each time.
  /// - Returns: nil also if the object is complete, if it is broken before the end of the text, or if the text before
  ///   the object names the member.
  public static func salvaged(_ name: String, beforeCutIn text: [UInt8]) -> JSON? {
    var search = JSONSalvage.Search(text)
    while var object = search.next() {
      let found = object.members([name])
      guard !search.words(before: object, mayName: name) else { return nil }
      if object.isCut { return object.isCutBehind(name) ? nil : found.first?.value }
      guard object.isWhole else {
        if search.isExpected(object) { return nil }
        continue
      }
      guard found.isEmpty else { return nil }
      search.end(object)
    }
    return nil
  }
}

/// Steps through the members of an object without checking their content.
private struct JSONSalvage {
  /// A member, or nil if its value is not acceptable or differs between its occurrences.
  typealias Found = (name: String, value: JSON?)

  private let text: [UInt8]
  private var at: Int
  private var isOpen = true
  /// Whether the object is complete.
  private(set) var isWhole = false
  private let start: Int
  /// The position after the last complete member.
  private var end: Int
  /// The key of the next member, whose value is incomplete.
  private var cutKey: Range<Int>?

  /// - Parameter brace: the position of the object's opening brace.
  private init(_ text: [UInt8], at brace: Int) {
    self.text = text
    start = brace
    at = brace + 1
    end = brace
  }

  /// Finds the objects in a text: at the start of the text, after another object, or after a comment or warning. The
  /// comment may have brackets, for example a log's date or a trace's `{main}`. An object where a value is expected
  /// is a part of another value, and is not found.
  struct Search {
    private let text: [UInt8]
    private var at = 0
    /// The position after the last complete object.
    private var last = 0
    /// How many more opening braces are tried: each may cost a pass over the text.
    private var tries = 16

    init(_ text: [UInt8]) {
      self.text = text
      last = text.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    mutating func next() -> JSONSalvage? {
      while tries > 0, let brace = text[at...].firstIndex(of: UInt8(ascii: "{")) {
        tries -= 1
        at = brace + 1
        if !isValueExpected(behind: text[..<brace]) { return JSONSalvage(text, at: brace) }
      }
      return nil
    }

    /// Continues after a complete object.
    mutating func end(_ object: JSONSalvage) { (at, last) = (object.at, object.at) }

    /// Whether only white space is between the object and the text's start or the last complete object. Then the
    /// object's brace does not belong to a comment.
    func isExpected(_ object: JSONSalvage) -> Bool { text[last..<object.start].allSatisfy { isSpace($0) } }

    func words(before object: JSONSalvage, mayName name: String) -> Bool {
      JSONSalvage.mayName(name, text[last..<object.start])
    }

    func rest(mayName name: String) -> Bool { JSONSalvage.mayName(name, text[last...]) }
  }

  /// Whether the text ends inside the object, and the object is correct up to that point. Valid only after the last
  /// step.
  var isCut: Bool { !isWhole && at >= text.count }

  /// Whether the text may have been cut inside the member `name`. True if the last complete member is followed by this
  /// key, or by a part of it.
  func isCutBehind(_ name: String) -> Bool {
    guard let cutKey, let key = try? JSON.parse(Array(text[cutKey])).string else {
      return Self.mayName(name, text[end...])
    }
    return key.utf8.elementsEqual(name.utf8)
  }

  /// The members with those names.
  mutating func members(_ names: [String]) -> [Found] {
    var found: [Found] = []
    while let member = next() {
      guard let key = try? JSON.parse(Array(text[member.key])).string,
        names.contains(where: { key.utf8.elementsEqual($0.utf8) })
      else { continue }
      Self.add((key, try? JSON.parse(Array(text[member.value]))), to: &found)
    }
    return found
  }

  /// Adds a member, or another occurrence of a member that was added before.
  static func add(_ member: Found, to found: inout [Found]) {
    if let index = found.firstIndex(where: { $0.name.utf8.elementsEqual(member.name.utf8) }) {
      if found[index].value != member.value { found[index].value = nil }
    } else {
      found.append(member)
    }
  }

  /// Whether a member's value or an array element would come next. True after `"name":`, `[` and `,`. A comma after a
  /// single quote does not count: JSON has no single quotes, but some servers send `)]}',` before an object so that a
  /// browser does not run it as a script.
  static func isValueExpected(behind bytes: ArraySlice<UInt8>) -> Bool {
    let signs = bytes.reversed().lazy.filter { !isSpace($0) }.prefix(2)
    guard let last = signs.first else { return false }
    if last == UInt8(ascii: ",") { return !signs.elementsEqual(",'".utf8) }
    return last == UInt8(ascii: "[") || signs.elementsEqual(":\"".utf8)
  }

  /// Whether `bytes` contain `name`, or an escape sequence that may be a part of it.
  static func mayName(_ name: String, _ bytes: ArraySlice<UInt8>) -> Bool {
    let (name, escape) = (Array(name.utf8), Array("\\u".utf8))
    return bytes.indices.contains { index in
      // Most bytes begin neither the name nor an escape sequence.
      guard bytes[index] == name.first || bytes[index] == escape[0] else { return false }
      return bytes[index...].starts(with: name) || bytes[index...].starts(with: escape)
    }
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

  /// Finds the end of an object or array by counting brackets, so that the nesting may be of any depth.
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
