// How an interface spells the keys of a configuration in errors. A host that wrote `redirect_uri` does not know
// `redirectUri`. A missing key is spelt in the style of the keys that are present. In Swift, keys are the properties
// of `Configuration`.

import EnrollJSON

enum ConfigurationSpelling {
  /// The names of the table.
  case documented
  /// The names of the properties.
  case swift
  /// The names as this configuration spells them.
  case written(JSON)

  /// The path of a key in the spelling of the interface.
  /// - Parameter path: a path in the names of the table, such as `choices[0].label`.
  func spelt(_ path: String) -> String {
    switch self {
    case .documented: path
    case .swift: Self.spelt(path, nil, Configuration.keys) { key, _ in key.property }
    case .written(let json): Self.spelt(path, json, Configuration.keys, as: Self.written)
    }
  }

  /// The spelling of a key in the object with these members.
  private static func written(_ key: ConfigurationKey, _ members: [JSONObject.Member]) -> String {
    if members.contains(where: { ASCII.equals($0.key, key.name) }) { return key.name }
    if let member = members.first(where: { key.isSpelt($0.key) }) { return member.key }
    let underscore = UInt8(ascii: "_")
    guard members.contains(where: { $0.key.utf8.contains(underscore) }) else { return key.name }
    return key.otherSpellings.first { $0.utf8.contains(underscore) } ?? key.name
  }

  private static func spelt(
    _ path: String, _ json: JSON?, _ keys: [ConfigurationKey],
    as spelling: (ConfigurationKey, [JSONObject.Member]) -> String
  ) -> String {
    let name = path.utf8.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "[") }
    let rest = String(decoding: path.utf8[name.endIndex...], as: UTF8.self)
    // An unknown key keeps its spelling.
    guard let key = keys.first(where: { $0.isSpelt(String(decoding: name, as: UTF8.self)) }) else {
      return path
    }
    let value = json?.object?.members.first { key.isSpelt($0.key) }?.value
    return spelling(key, json?.object?.members ?? []) + inner(rest, value, key.shape, as: spelling)
  }

  /// The rest of a path, after a key with this value: nothing, `[0]…` or `.name…`.
  private static func inner(
    _ path: String, _ value: JSON?, _ shape: ConfigurationKey.Shape,
    as spelling: (ConfigurationKey, [JSONObject.Member]) -> String
  ) -> String {
    switch shape {
    case .list(let element):
      let index = path.utf8.prefix { $0 != UInt8(ascii: "]") }.dropFirst()
      let items = value?.array ?? []
      guard let place = items.indices.first(where: { "\($0)".utf8.elementsEqual(index) }) else { return path }
      let rest = String(decoding: path.utf8[index.endIndex...].dropFirst(), as: UTF8.self)
      return "[\(place)]" + inner(rest, items[place], element, as: spelling)
    case .object(let keys):
      guard path.utf8.first == UInt8(ascii: ".") else { return path }
      return "." + spelt(String(decoding: path.utf8.dropFirst(), as: UTF8.self), value, keys, as: spelling)
    case .either(let first, let second):
      let found = inner(path, value, first, as: spelling)
      return ASCII.equals(found, path) ? inner(path, value, second, as: spelling) : found
    case .named(_, _, let shape): return inner(path, value, shape, as: spelling)
    case .text, .url, .boolean, .integer, .oneOf, .texts: return path
    }
  }
}
