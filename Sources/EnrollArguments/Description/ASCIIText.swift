// Operations on ASCII names of arguments: upper case, and lists such as `a, b or c`.

enum ASCIIText {
  static func capitals(_ name: String) -> String {
    String(
      decoding: name.utf8.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 - 32 : $0 },
      as: UTF8.self)
  }

  /// `a, b or c`.
  static func alternatives(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " or " + last
  }
}
