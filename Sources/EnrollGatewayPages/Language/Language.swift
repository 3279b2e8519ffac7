// A language of the pages, and its tag (RFC 5646 §2.1: language, script, region and variants; private-use and grandfathered
// tags are refused).

/// A language tag in its usual spelling: `de`, `pt-BR`, `zh-Hant`.
public struct LanguageTag: Sendable, Hashable {
  public let text: String

  /// Parses a tag.
  /// - Returns: nil for a text that is not a tag. A tag begins with letters; further parts of letters and digits follow after
  ///   hyphens. A part has at most 8 bytes, the tag at most 35 (RFC 5646 §4.4.1).
  public init?(_ text: String) {
    let bytes = Array(text.utf8.prefix(Self.longest + 1))
    self.init(bytes[...])
  }

  private static let longest = 35

  init?(_ bytes: ArraySlice<UInt8>) {
    guard (2...Self.longest).contains(bytes.count) else { return nil }
    let hyphen = UInt8(ascii: "-")
    var spelled: [UInt8] = []
    spelled.reserveCapacity(bytes.count)
    for part in bytes.split(separator: hyphen, omittingEmptySubsequences: false) {
      let isFirst = spelled.isEmpty
      let isWord = part.allSatisfy(Self.isLetter)
      guard (isFirst ? 2...8 : 1...8).contains(part.count),
        isWord || !isFirst && part.allSatisfy(Self.isLetterOrDigit)
      else { return nil }
      if !isFirst { spelled.append(hyphen) }
      for (place, byte) in part.enumerated() {
        // RFC 5646 §2.1.1: scripts are capitalized, regions are in upper case, everything else is in lower case.
        let isCapital = isWord && !isFirst && (part.count == 2 || part.count == 4 && place == 0)
        let isDigit = !Self.isLetter(byte)
        spelled.append(isDigit ? byte : isCapital ? byte & 0xDF : byte | 0x20)
      }
    }
    text = String(decoding: spelled, as: UTF8.self)
  }

  /// The tag without its last part; if the part before that is a single letter, also without the letter (RFC 4647
  /// §3.4). nil if nothing is left.
  var shorter: LanguageTag? {
    let bytes = Array(text.utf8)
    guard var end = bytes.lastIndex(of: UInt8(ascii: "-")) else { return nil }
    if end > 2, bytes[end - 2] == UInt8(ascii: "-") { end -= 2 }
    return LanguageTag(bytes[..<end])
  }

  /// Whether `other` is this tag, or this tag with further parts (RFC 4647 §3.3.1).
  func isPrefix(of other: LanguageTag) -> Bool {
    let rest = other.text.utf8.dropFirst(text.utf8.count)
    return other.text.utf8.starts(with: text.utf8) && (rest.isEmpty || rest.first == UInt8(ascii: "-"))
  }

  static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

/// A language with a catalogue of texts.
public struct Language: Sendable, Hashable {
  /// The writing direction.
  public enum Direction: String, Sendable { case leftToRight = "ltr", rightToLeft = "rtl" }

  public let tag: LanguageTag
  /// The language's own name: `Deutsch`.
  public let name: String
  public let direction: Direction
}
