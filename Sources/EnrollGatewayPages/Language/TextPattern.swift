// A text with placeholders for values: "Sign in with {provider}". Braces have no other use, and a text is one paragraph.

/// A parsed text.
struct TextPattern: Sendable, Equatable {
  enum Piece: Sendable, Equatable {
    case literal(String)
    case value(Placeholder)
  }

  let pieces: [Piece]

  /// The limit of a text in bytes.
  static let longest = 1000

  var placeholders: Set<Placeholder> {
    var found: Set<Placeholder> = []
    for case .value(let placeholder) in pieces { found.insert(placeholder) }
    return found
  }

  /// A text without placeholders.
  init(literal: String) { pieces = [.literal(literal)] }

  /// - Throws: ``CatalogueError`` if the text is empty, too long or has control characters, if a placeholder is
  ///   missing or unknown, or if a brace is unmatched.
  init(_ text: String, for key: TextKey) throws(CatalogueError) {
    let path = key.path
    guard text.utf8.count <= Self.longest else { throw .tooLong(path) }
    guard text.utf8.contains(where: { $0 > 0x20 }) else { throw .empty(path) }
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { throw .controlCharacter(path) }
    var pieces: [Piece] = []
    var rest = text[...]
    while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
      guard rest[brace] == "{", let end = rest[brace...].firstIndex(of: "}") else { throw .strayBrace(path) }
      if rest.startIndex < brace { pieces.append(.literal(String(rest[..<brace]))) }
      let name = String(rest[rest.index(after: brace)..<end])
      guard let placeholder = Placeholder(rawValue: name),
        placeholder == .product || key.placeholders.contains(placeholder)
      else { throw .unknownPlaceholder(path, name: name) }
      pieces.append(.value(placeholder))
      rest = rest[rest.index(after: end)...]
    }
    if !rest.isEmpty { pieces.append(.literal(String(rest))) }
    self.pieces = pieces
    let missing = key.placeholders.subtracting(placeholders).map(\.rawValue).sorted()
    if let first = missing.first { throw .missingPlaceholder(path, name: first) }
  }
}

/// A text pattern with the values for its placeholders.
struct Phrase: Sendable {
  let pattern: TextPattern
  let values: [(Placeholder, String)]
  /// Whether the page is written from right to left. If so, every value is isolated from the text around it.
  let isRightToLeft: Bool

  /// The text for titles and attributes.
  var plain: String {
    var text = ""
    for piece in pattern.pieces {
      switch piece {
      case .literal(let literal): text += literal
      case .value(let placeholder): text += value(of: placeholder)
      }
    }
    return text
  }

  /// The value of a placeholder. If the value is missing, the result is the placeholder itself. That would be a defect
  /// of a page; tests find the defect, because they look for braces.
  func value(of placeholder: Placeholder) -> String {
    values.first { $0.0 == placeholder }?.1 ?? "{" + placeholder.rawValue + "}"
  }
}

extension HTML {
  /// Writes a phrase. A value that may be written from right to left is isolated, so that it cannot reorder the text around it
  /// (Unicode UAX #9 §2.7).
  mutating func phrase(_ phrase: Phrase) {
    for piece in phrase.pattern.pieces {
      switch piece {
      case .literal(let literal): text(literal)
      case .value(let placeholder): isolated(phrase.value(of: placeholder), always: phrase.isRightToLeft)
      }
    }
  }

  /// Writes a text from outside, such as a name, an address or a device. The text is isolated if necessary.
  mutating func isolated(_ value: String, always: Bool) {
    if always || value.utf8.contains(where: { $0 >= 0x80 }) {
      element(.bdi, text: value)
    } else {
      text(value)
    }
  }

  mutating func element(_ tag: Tag, _ attributes: Attribute..., phrase: Phrase) {
    element(tag, with: attributes) { $0.phrase(phrase) }
  }
}
