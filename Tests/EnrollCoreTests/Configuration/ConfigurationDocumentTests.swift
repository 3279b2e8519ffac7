// docs/configuration.md is drawn from the table of keys. ENROLL_WRITE_DOCS=1 draws it anew.

import EnrollCore
import Testing

@Suite("The documentation of the configuration")
struct ConfigurationDocumentTests {
  @Test("docs/configuration.md is drawn from the table of keys")
  func drawn() throws {
    try DrawnPage.check("configuration.md", drawing())
  }

  private func drawing() -> String {
    let tables = ([("The object itself", Configuration.keys)] + inner(Configuration.keys, below: ""))
      .map { "## \($0.0)\n\n" + table($0.1) }
    return """
      # Configuration

      Drawn from `Sources/EnrollCore/Configuration/ConfigurationKey.swift`; do not edit. A configuration is a JSON object with
      these keys and no others: an unknown key is refused, and so is one in two spellings.

      \(tables.joined(separator: "\n\n"))

      """
  }

  private func table(_ keys: [ConfigurationKey]) -> String {
    let rows = keys.map { key -> String in
      let names = ([key.name] + key.otherSpellings).map { "`\($0)`" }.joined(separator: ", ")
      let text = key.documentation.split(separator: "\n").joined(separator: " ")
      return "| \(names) | \(words(key.shape)) | \(key.isRequired ? "yes" : "") | \(text) |"
    }
    return
      (["| key, other spellings | value | required | what it says |", "| --- | --- | --- | --- |"] + rows)
      .joined(separator: "\n")
  }

  private func inner(_ keys: [ConfigurationKey], below path: String) -> [(String, [ConfigurationKey])] {
    keys.flatMap { key in
      members(key.shape).flatMap { members in
        [("In `\(path)\(key.name)`", members)] + inner(members, below: "\(path)\(key.name).")
      }
    }
  }

  /// The objects with keys of their own that a value may hold.
  private func members(_ shape: ConfigurationKey.Shape) -> [[ConfigurationKey]] {
    switch shape {
    case .object(let keys): [keys]
    case .list(let element): members(element)
    case .either(let first, let second): members(first) + members(second)
    case .text, .url, .boolean, .integer, .oneOf, .texts: []
    }
  }

  private func words(_ shape: ConfigurationKey.Shape) -> String {
    switch shape {
    case .text: "text"
    case .url: "URL"
    case .boolean: "true or false"
    case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
    case .oneOf(let names): names.map { "`\($0)`" }.joined(separator: ", ")
    case .list(let element): "list of: " + words(element)
    case .texts: "object of texts"
    case .object: "object, see below"
    case .either(let first, let second): words(first) + "; or " + words(second)
    }
  }
}
