// The command line of `enroll token` as scripts write it, read without the parser, which costs more than the token. What this
// does not take, help and mistakes too, is the parser's (../Arguments/Token.swift): whatever is taken here, the parser takes
// alike.

extension TokenCommand {
  /// - Parameter words: the arguments, without the program's name.
  /// - Returns: nil for every command line that the parser has to read.
  init?(words: [String]) {
    guard words.first == "token" else { return nil }
    self.init()
    var given: [String] = []
    var rest = words.dropFirst()
    while let word = rest.popFirst() {
      let end = word.utf8.firstIndex(of: UInt8(ascii: "=")) ?? word.utf8.endIndex
      let name = String(word[..<end])
      // The parser knows what a second one means.
      guard !given.contains(name) else { return nil }
      given.append(name)
      if set(flag: word) { continue }
      let value: String
      if end < word.utf8.endIndex {
        value = String(word[word.utf8.index(after: end)...])
      } else {
        guard let next = rest.popFirst(), next.utf8.first != UInt8(ascii: "-") else { return nil }
        value = next
      }
      guard !value.isEmpty, set(name, to: value) else { return nil }
    }
    guard complaint == nil, place.complaint == nil else { return nil }
  }

  private mutating func set(flag word: String) -> Bool {
    switch word {
    case "--renew": renew = true
    case "--json": place.json = true
    default: return false
    }
    return true
  }

  private mutating func set(_ option: String, to value: String) -> Bool {
    switch option {
    case "--min-lifetime": return Self.read(value, into: &minimumLifetime)
    case "--timeout": return Self.read(value, into: &timeout)
    case "--passphrase-fd": return Self.readDescriptor(value, into: &place.passphraseFD)
    case "--pin-fd": return Self.readDescriptor(value, into: &place.pinFD)
    case "--keys":
      place.keys = PlaceOptions.KeyChoice(rawValue: value)
      return place.keys != nil
    case "--resource": resource = value
    case "--scope": scope = value
    case "--config": place.config = value
    case "--profile": place.profile = value
    case "--store": place.store = value
    case "--account": place.account = value
    default: return false
    }
    return true
  }

  private static func read(_ text: String, into number: inout Int64) -> Bool {
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let read = Int64(text)
    else { return false }
    number = read
    return true
  }

  private static func readDescriptor(_ text: String, into descriptor: inout Int32?) -> Bool {
    var number: Int64 = 0
    guard read(text, into: &number), let narrow = Int32(exactly: number) else { return false }
    descriptor = narrow
    return true
  }
}
