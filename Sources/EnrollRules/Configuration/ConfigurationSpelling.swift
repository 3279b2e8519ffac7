// Errors about a configuration name its keys as the host wrote them: a host that wrote `redirect_uri` does not know
// `redirectUri`. A missing key is named in the style of the other keys. In Swift, errors name the arguments.

import EnrollJSON

enum ConfigurationSpelling {
  /// The error with the keys as `json` spells them, in its field and its message.
  static func asSpelt(_ error: EnrollError, in json: JSON) -> EnrollError {
    // An unknown key keeps its spelling, even if it looks like an argument.
    let written = json.object?.members ?? []
    let own = arguments.filter { name in !written.contains { ASCII.equals($0.key, name.argument) } }
    let documented = renamed(error, own.map { ($0.argument, $0.key) })
    return renamed(documented, spellings(of: json, Configuration.keys))
  }

  /// The error with the argument names of `Configuration.init` instead of the keys.
  static func inSwift(_ error: EnrollError) -> EnrollError {
    renamed(error, arguments.map { ($0.key, $0.argument) })
  }

  /// The arguments whose names differ from their keys.
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

  /// The keys in `json`, at any depth, whose spelling differs from the documented one (such as `client_id`), each with
  /// the documented key. If there is one, the missing keys are added, spelt in the same style.
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

  /// Replaces whole words only: `issuer` is not replaced in `issuerName`.
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
