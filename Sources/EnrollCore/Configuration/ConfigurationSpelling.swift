// Errors about a configuration name its keys as they are written in it: to whoever wrote `redirect_uri`, `redirectUri` is a
// key that is not there.

import EnrollJSON

enum ConfigurationSpelling {
  /// The same error with the spellings of `json`, in its field and in its text.
  static func asSpelt(_ error: EnrollError, in json: JSON) -> EnrollError {
    var (message, field) = (error.message, error.field)
    for (name, spelling) in spellings(of: json, Configuration.keys) {
      message = replaced(name, by: spelling, in: message)
      field = field.map { replaced(name, by: spelling, in: $0) }
    }
    return EnrollError(error.code, message, field: field)
  }

  /// Keys that are spelt otherwise than they are documented, those inside objects too.
  private static func spellings(of json: JSON, _ keys: [ConfigurationKey]) -> [(String, String)] {
    var found: [(String, String)] = []
    for member in json.object?.members ?? [] {
      guard let key = keys.first(where: { $0.isSpelt(member.key) }) else { continue }
      if !ASCII.equals(key.name, member.key) { found.append((key.name, member.key)) }
      found += inner(member.value, key.shape)
    }
    return found
  }

  private static func inner(_ value: JSON, _ shape: ConfigurationKey.Shape) -> [(String, String)] {
    switch shape {
    case .object(let keys): spellings(of: value, keys)
    case .list(let element): (value.array ?? []).flatMap { inner($0, element) }
    case .either(let first, let second): inner(value, first) + inner(value, second)
    case .named(_, _, let shape): inner(value, shape)
    case .text, .url, .boolean, .integer, .oneOf, .texts: []
    }
  }

  /// Whole words alone: `issuer` is no part of `issuerName`.
  private static func replaced(_ name: String, by spelling: String, in text: String) -> String {
    let (name, text) = (Array(name.utf8), Array(text.utf8))
    func isWord(_ index: Int) -> Bool {
      guard text.indices.contains(index) else { return false }
      return ASCII.isLetter(text[index]) || ASCII.isDigit(text[index]) || text[index] == 0x5F
    }
    var result: [UInt8] = []
    var index = 0
    while index < text.count {
      let end = index + name.count
      if end <= text.count, text[index..<end].elementsEqual(name), !isWord(index - 1), !isWord(end) {
        result += spelling.utf8
        index = end
      } else {
        result.append(text[index])
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
