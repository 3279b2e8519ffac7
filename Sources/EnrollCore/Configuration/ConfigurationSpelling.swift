// Errors about a configuration name its keys as they are written in it: to whoever wrote `redirect_uri`, `redirectUri` is a
// key that is not there. A key that is missing is named as the keys beside it are spelt. Swift names its arguments.

import EnrollJSON

enum ConfigurationSpelling {
  /// The same error with the spellings of `json`, in its field and in its text.
  static func asSpelt(_ error: EnrollError, in json: JSON) -> EnrollError {
    // A key that nobody knows may be spelt like an argument: it is named as it is written.
    let written = json.object?.members ?? []
    let own = arguments.filter { name in !written.contains { ASCII.equals($0.key, name.argument) } }
    let documented = renamed(error, own.map { ($0.argument, $0.key) })
    return renamed(documented, spellings(of: json, Configuration.keys))
  }

  /// The same error with the arguments of `Configuration.init` in place of the keys.
  static func inSwift(_ error: EnrollError) -> EnrollError {
    renamed(error, arguments.map { ($0.key, $0.argument) })
  }

  /// The arguments that are spelt otherwise than their keys.
  private static let arguments: [(key: String, argument: String)] = [
    ("clientId", "clientID"), ("redirectUri", "redirectURI"), ("discoveryUri", "discoveryURI"),
    ("postLogoutRedirectUri", "postLogoutRedirectURI"), ("fallbackUri", "fallbackURI"),
    ("grace", "graceSeconds"), ("transactionLifetime", "transactionSeconds"),
    ("emailWait", "emailWaitSeconds"), ("withoutExpiry", "withoutExpirySeconds"),
    ("registrationCheckUri", "registrationCheckURI"), ("profileUpdateUri", "profileUpdateURI"),
    ("errorReportUri", "errorReportURI"), ("allowLoopbackHTTP", "allowsLoopbackHTTP"),
    ("native", "isNative"),
  ]

  private static func renamed(_ error: EnrollError, _ names: [(String, String)]) -> EnrollError {
    var (message, field) = (error.message, error.field)
    for (name, spelling) in names {
      message = replaced(name, by: spelling, in: message)
      field = field.map { replaced(name, by: spelling, in: $0) }
    }
    return EnrollError(error.code, message, field: field)
  }

  /// Keys that are spelt otherwise than they are documented, those inside objects too, and keys that are missing beside them.
  private static func spellings(of json: JSON, _ keys: [ConfigurationKey]) -> [(String, String)] {
    let members = json.object?.members ?? []
    var (found, inside): ([(String, String)], [(String, String)]) = ([], [])
    for member in members {
      guard let key = keys.first(where: { $0.isSpelt(member.key) }) else { continue }
      let isBesideItsName = members.contains { ASCII.equals($0.key, key.name) }
      if !isBesideItsName { found.append((key.name, member.key)) }
      inside += inner(member.value, key.shape)
    }
    if found.contains(where: { $0.1.utf8.contains(UInt8(ascii: "_")) }) {
      for key in keys where !members.contains(where: { key.isSpelt($0.key) }) {
        let spelling = key.otherSpellings.first { $0.utf8.contains(UInt8(ascii: "_")) }
        if let spelling { found.append((key.name, spelling)) }
      }
    }
    return found + inside
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
