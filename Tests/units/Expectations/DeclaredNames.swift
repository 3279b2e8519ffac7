// Reads the names that a Swift file declares and uses, without a compiler: fast enough for every run of the tests.

/// The names of one Swift file.
public struct DeclaredNames {
  /// Types, members and functions, which other files can use.
  public private(set) var declared: Set<String> = []
  /// Names of parameters, labels and local values. Such a name without a dot does not refer to a member.
  public private(set) var local: Set<String> = []
  /// The names that the code uses with a dot before them.
  public private(set) var dotted: Set<String> = []
  /// The names that the code uses without a dot before them.
  public private(set) var bare: Set<String> = []

  private var bytes: [UInt8] = []
  private var at = 0
  /// For each open brace, whether it opens the body of a type.
  private var scopes: [Bool] = []
  private var parens = 0
  /// Whether the next brace opens the body of a type.
  private var opensType = false
  /// The declaration that waits for its name.
  private var awaitsName = false
  /// The depth in parentheses at which the cases of an enum are listed; nil outside such a list.
  private var caseList: Int?
  private var beforeName: UInt8 = 0

  public init(_ text: String) {
    bytes = Array(text.utf8) + [0]
    read(untilParenthesis: false)
    bytes = []
  }

  /// The names that may refer to members that other files declare.
  public var used: Set<String> { dotted.union(bare.subtracting(local)) }

  private static let types: Set<String> = ["struct", "enum", "class", "protocol", "extension", "actor"]
  private static let declaring: Set<String> = [
    "struct", "enum", "class", "protocol", "actor", "typealias", "func", "var", "let", "case",
  ]

  private mutating func read(untilParenthesis: Bool) {
    let outside = parens
    while at < bytes.count - 1 {
      let byte = bytes[at]
      switch byte {
      case UInt8(ascii: "/") where bytes[at + 1] == byte:
        while at < bytes.count - 1, bytes[at] != 0x0A { at += 1 }
      case UInt8(ascii: "#") where bytes[at + 1] == UInt8(ascii: "\""): skipRawText()
      case UInt8(ascii: "\""): readText()
      case UInt8(ascii: "{"):
        scopes.append(opensType)
        opensType = false
        awaitsName = false
        after(byte)
      case UInt8(ascii: "}"):
        _ = scopes.popLast()
        caseList = nil
        after(byte)
      case UInt8(ascii: "("):
        parens += 1
        awaitsName = false
        after(byte)
      case UInt8(ascii: ")"):
        if untilParenthesis, parens == outside { return }
        parens -= 1
        after(byte)
      case UInt8(ascii: ","):
        if caseList == parens { awaitsName = true }
        after(byte)
      case 0x20, 0x0A: at += 1
      default:
        if isLetter(byte) { readName() } else { after(byte) }
      }
    }
  }

  private mutating func after(_ byte: UInt8) {
    beforeName = byte
    at += 1
  }

  private func isLetter(_ byte: UInt8) -> Bool {
    (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A || byte == 0x5F || byte >= 0x30 && byte <= 0x39
  }

  private mutating func readName() {
    let start = at
    while isLetter(bytes[at]) { at += 1 }
    let name = String(decoding: bytes[start..<at], as: UTF8.self)
    defer { beforeName = bytes[at - 1] }
    if beforeName == UInt8(ascii: ".") {
      dotted.insert(name)
    } else if awaitsName {
      awaitsName = false
      if scopes.last ?? true { declared.insert(name) } else { local.insert(name) }
    } else if Self.declaring.contains(name) || Self.types.contains(name) {
      if Self.types.contains(name) { opensType = true }
      awaitsName = Self.declaring.contains(name)
      caseList = name == "case" && scopes.last ?? false ? parens : nil
    } else if isLabel() {
      local.insert(name)
    } else {
      bare.insert(name)
    }
  }

  /// Whether the name that ends here is a label, a parameter, or the value of a loop or a closure.
  private func isLabel() -> Bool {
    if bytes[at] == UInt8(ascii: ":") { return true }
    guard bytes[at] == 0x20 else { return false }
    let isFirst = beforeName == UInt8(ascii: "(") || beforeName == UInt8(ascii: ",")
    if isFirst, parens > 0, isLetter(bytes[at + 1]) { return true }
    return bytes[at...].starts(with: " in ".utf8) || bytes[at...].starts(with: " in\n".utf8)
  }

  /// Skips a text in quotation marks, but reads the names in its interpolations.
  private mutating func readText() {
    let isLong = bytes[at + 1] == UInt8(ascii: "\"") && bytes[at + 2] == UInt8(ascii: "\"")
    at += isLong ? 3 : 1
    while at < bytes.count - 1 {
      if bytes[at] == UInt8(ascii: "\\") {
        at += 2
        guard bytes[at - 1] == UInt8(ascii: "(") else { continue }
        beforeName = UInt8(ascii: "(")
        read(untilParenthesis: true)
        at += 1
      } else if bytes[at] == UInt8(ascii: "\""), !isLong || bytes[at...].starts(with: "\"\"\"".utf8) {
        at += isLong ? 3 : 1
        break
      } else {
        at += 1
      }
    }
    beforeName = UInt8(ascii: "\"")
  }

  private mutating func skipRawText() {
    at += 2
    while at < bytes.count - 1, !(bytes[at] == UInt8(ascii: "\"") && bytes[at + 1] == UInt8(ascii: "#")) {
      at += 1
    }
    after(bytes[at])
    after(bytes[at])
  }
}
