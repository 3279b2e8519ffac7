// Words about people, from outside. A name keeps its script; characters without a shape, and characters that change the direction
// of the text around them, are removed. The pages escape the result.

/// A name or a description from a provider or a browser.
enum PersonalText {
  /// Without control characters, marks of direction and characters without a width, and without blanks around it.
  /// - Parameter maximumBytes: of UTF-8; a longer text ends before the character that would go beyond.
  /// - Returns: nil for a text of which nothing is left.
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

  /// Whether the text is shown as it is.
  static func isPlain(_ text: String) -> Bool { !text.unicodeScalars.contains { isUnwanted($0) } }

  private static func isUnwanted(_ scalar: UnicodeScalar) -> Bool {
    switch scalar.properties.generalCategory {
    // A joiner belongs to the spelling of some languages, and to many signs.
    case .format: scalar.value != 0x200C && scalar.value != 0x200D
    case .control, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator, .privateUse: true
    default: false
    }
  }
}
