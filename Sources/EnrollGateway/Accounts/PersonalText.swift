// Texts about users that come from outside. A name keeps its script; invisible characters, and characters that change the
// direction of the text around them, are removed. The pages escape the result.

/// A name or a description from a provider or a browser.
enum PersonalText {
  /// The text without control characters, direction marks and zero-width characters, and without surrounding blanks.
  /// - Parameter maximumBytes: in UTF-8; a longer text is cut before the character that would exceed it.
  /// - Returns: nil if nothing is left.
  static func shown(_ text: String?, maximumBytes: Int = 200) -> String? {
    guard let text else { return nil }
    var kept = ""
    var count = 0
    for character in text {
      let scalars = character.unicodeScalars.filter { !isUnwanted($0) }
      let bytes = scalars.reduce(0) { $0 + UTF8.width($1) }
      guard count + bytes <= maximumBytes else { break }
      kept.unicodeScalars.append(contentsOf: scalars)
      count += bytes
    }
    while kept.unicodeScalars.first?.properties.isWhitespace ?? false { kept.unicodeScalars.removeFirst() }
    while kept.unicodeScalars.last?.properties.isWhitespace ?? false { kept.unicodeScalars.removeLast() }
    return kept.isEmpty ? nil : kept
  }

  /// Whether ``shown(_:maximumBytes:)`` would remove no character of the text.
  static func isPlain(_ text: String) -> Bool { !text.unicodeScalars.contains { isUnwanted($0) } }

  private static func isUnwanted(_ scalar: UnicodeScalar) -> Bool {
    switch scalar.properties.generalCategory {
    // Joiners are part of the spelling in some languages, and of many emoji.
    case .format: scalar.value != 0x200C && scalar.value != 0x200D
    case .control, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator, .privateUse: true
    default: false
    }
  }
}
