// A text file of the operator: JSON, checked member by member. Every error names the key, so that the operator can fix
// the file.

import EnrollJSON

/// The contents of a text file.
struct CatalogueFile: Sendable {
  let tag: LanguageTag
  let name: String?
  let direction: Language.Direction?
  let months: [String]?
  let patterns: [TextKey: TextPattern]

  /// The maximum size of the file in bytes.
  static let longest = 1 << 20

  /// Reads a text file.
  /// - Parameter json: `{"language": "de", "name": "Deutsch", "direction": "ltr", "months": […], "texts": {…}, "failures": {…},
  ///   "mails": {…}}`.
  /// - Throws: ``CatalogueError``.
  init(json: [UInt8]) throws(CatalogueError) {
    guard json.count <= Self.longest else { throw .notJSON("it has more than \(Self.longest) bytes") }
    let parsed: JSON
    do { parsed = try JSON.parse(json) } catch {
      throw .notJSON("\(error.message) at byte \(error.offset)")
    }
    guard case .object(let file) = parsed else { throw .notJSON("expected an object, got \(parsed.kind)") }
    let known = ["language", "name", "direction", "months", "texts", "failures", "mails"]
    for member in file.members where !known.contains(member.key) { throw .unknownKey(member.key) }

    guard let text = try Self.string(file, "language"), let tag = LanguageTag(text) else {
      throw .malformed("language", expected: "a language tag such as \"fr\" or \"pt-BR\"")
    }
    self.tag = tag
    name = try Self.string(file, "name")
    if let text = try Self.string(file, "direction") {
      guard let direction = Language.Direction(rawValue: text) else {
        throw .malformed("direction", expected: "\"ltr\" or \"rtl\"")
      }
      self.direction = direction
    } else {
      direction = nil
    }
    months = try Self.months(file)
    patterns = try Self.patterns(file)
  }

  private static func string(_ file: JSONObject, _ key: String) throws(CatalogueError) -> String? {
    guard let value = file[key] else { return nil }
    guard let text = value.string, !text.isEmpty, text.utf8.count <= 100, text.utf8.allSatisfy({ $0 >= 0x20 })
    else {
      throw .malformed(key, expected: "a text of at most 100 bytes")
    }
    return text
  }

  private static func months(_ file: JSONObject) throws(CatalogueError) -> [String]? {
    guard let value = file["months"] else { return nil }
    let months = value.array?.compactMap(\.string).filter { !$0.isEmpty && $0.utf8.count <= 100 } ?? []
    guard months.count == 12, value.array?.count == 12 else {
      throw .malformed("months", expected: "the names of the twelve months")
    }
    return months
  }

  private static func patterns(_ file: JSONObject) throws(CatalogueError) -> [TextKey: TextPattern] {
    var patterns: [TextKey: TextPattern] = [:]
    for member in try object(file["texts"], "texts").members {
      guard let text = PageText(rawValue: member.key) else { throw .unknownKey("texts." + member.key) }
      patterns[.text(text)] = try pattern(member.value, .text(text))
    }
    for member in try object(file["failures"], "failures").members {
      guard let failure = Failure(rawValue: member.key) else { throw .unknownKey("failures." + member.key) }
      for part in try object(member.value, "failures." + member.key).members {
        guard let key = FailurePart(rawValue: part.key).map({ TextKey.failure(failure, $0) }) else {
          throw .unknownKey("failures." + member.key + "." + part.key)
        }
        patterns[key] = try pattern(part.value, key)
      }
    }
    for member in try object(file["mails"], "mails").members {
      guard let mail = Mail(rawValue: member.key) else { throw .unknownKey("mails." + member.key) }
      for part in try object(member.value, "mails." + member.key).members {
        guard let known = MailPart(rawValue: part.key), mail.parts.contains(known) else {
          throw .unknownKey("mails." + member.key + "." + part.key)
        }
        patterns[.mail(mail, known)] = try pattern(part.value, .mail(mail, known))
      }
    }
    return patterns
  }

  private static func object(_ value: JSON?, _ key: String) throws(CatalogueError) -> JSONObject {
    guard let value else { return JSONObject() }
    guard case .object(let object) = value else { throw .malformed(key, expected: "an object") }
    return object
  }

  private static func pattern(_ value: JSON, _ key: TextKey) throws(CatalogueError) -> TextPattern {
    guard let text = value.string else { throw .malformed(key.path, expected: "a text") }
    return try TextPattern(text, for: key)
  }
}

/// Why a text file is refused.
public enum CatalogueError: Error, Sendable, Equatable {
  case notJSON(String)
  /// No page uses this key.
  case unknownKey(String)
  case malformed(String, expected: String)
  case empty(String)
  case tooLong(String)
  case controlCharacter(String)
  case strayBrace(String)
  /// The text has a placeholder that is not available for this key.
  case unknownPlaceholder(String, name: String)
  /// The text lacks a placeholder that is required for this key.
  case missingPlaceholder(String, name: String)
  /// A new language needs all texts.
  case incomplete(String, missing: [String])
  case unknownLanguage(String, known: [String])

  public var message: String {
    switch self {
    case .notJSON(let reason): "The file of texts is no JSON object that can be read: \(reason)."
    case .unknownKey(let key): "No page uses the key \(key). Check its spelling, or remove it."
    case .malformed(let key, let expected): "The value of \(key) is malformed. Expected \(expected)."
    case .empty(let key): "The text of \(key) is empty. Write one, or remove the key to keep the usual text."
    case .tooLong(let key): "The text of \(key) is too long. It may have \(TextPattern.longest) bytes."
    case .controlCharacter(let key): "The text of \(key) has a control character. A text is one paragraph."
    case .strayBrace(let key):
      "The text of \(key) has a brace that belongs to no placeholder. Placeholders look like {product}."
    case .unknownPlaceholder(let key, let name): "The text of \(key) has {\(name)}, which has no value there."
    case .missingPlaceholder(let key, let name): "The text of \(key) lacks {\(name)}, which it needs."
    case .incomplete(let language, let missing):
      "The language \(language) lacks \(missing.count) texts: \(missing.prefix(5).joined(separator: ", "))"
        + (missing.count > 5 ? " …" : ".") + " A new language needs every text."
    case .unknownLanguage(let tag, let known):
      "There is no language \(tag). There are: \(known.joined(separator: ", "))."
    }
  }
}
