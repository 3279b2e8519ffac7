// The texts of one language. A catalogue is complete: a page never mixes two languages (WCAG 2.2, 3.1.2).

/// All texts of one language.
struct Catalogue: Sendable {
  let language: Language
  /// January to December, in the form that dates use.
  let months: [String]
  private let patterns: [TextKey: TextPattern]

  /// Parses a complete catalogue.
  /// - Throws: ``CatalogueError``.
  init(json: [UInt8]) throws(CatalogueError) {
    try self.init(CatalogueFile(json: json))
  }

  /// Makes a catalogue from a text file.
  /// - Parameter base: the built-in catalogue that the file changes; nil for a new language.
  /// - Throws: ``CatalogueError/incomplete(_:missing:)`` if a text is in neither the file nor the base.
  init(_ file: CatalogueFile, over base: Catalogue? = nil) throws(CatalogueError) {
    var patterns = base?.patterns ?? [:]
    for (key, pattern) in file.patterns { patterns[key] = pattern }
    var missing = TextKey.allCases.filter { patterns[$0] == nil }.map(\.path)
    if file.months == nil, base == nil { missing.insert("months", at: 0) }
    if file.name == nil, base == nil { missing.insert("name", at: 0) }
    guard missing.isEmpty, let name = file.name ?? base?.language.name,
      let months = file.months ?? base?.months
    else {
      throw .incomplete(file.tag.text, missing: missing)
    }
    let direction = file.direction ?? base?.language.direction ?? .leftToRight
    language = Language(tag: file.tag, name: name, direction: direction)
    self.months = months
    self.patterns = patterns
  }

  subscript(key: TextKey) -> TextPattern {
    patterns[key] ?? TextPattern(literal: key.path)
  }
}

/// A catalogue together with the product's name, from which pages take their texts.
package struct Texts: Sendable {
  let catalogue: Catalogue
  let product: String

  var language: Language { catalogue.language }

  func callAsFunction(_ text: PageText, _ values: KeyValuePairs<Placeholder, String> = [:]) -> Phrase {
    phrase(.text(text), values)
  }

  func callAsFunction(
    _ failure: Failure, _ part: FailurePart, _ values: KeyValuePairs<Placeholder, String> = [:]
  ) -> Phrase {
    phrase(.failure(failure, part), values)
  }

  func callAsFunction(
    _ mail: Mail, _ part: MailPart, _ values: KeyValuePairs<Placeholder, String> = [:]
  ) -> Phrase {
    phrase(.mail(mail, part), values)
  }

  private func phrase(_ key: TextKey, _ values: KeyValuePairs<Placeholder, String>) -> Phrase {
    var all: [(Placeholder, String)] = [(.product, product)]
    for value in values { all.append((value.key, value.value)) }
    return Phrase(
      pattern: catalogue[key], values: all, isRightToLeft: language.direction == .rightToLeft)
  }
}
