// `--set KEY=VALUE`: sets one key of the configuration on the command line. The key can also be a part of a
// provider's preset.

import EnrollArguments
import EnrollRules
import EnrollJSON

/// A key with its value, as in the configuration. `endpoints.tokenEndpoint` is a key inside another key.
struct ConfigurationSetting {
  let value: JSON
  /// The argument as it was typed, but with an absolute path if the key names a file.
  let word: String
  private let path: [ConfigurationKey]
  /// The name in an object whose members the configuration does not define, such as `audience` in
  /// `authorizeParameters.audience`.
  private let member: String?

  /// The keys that have their own option: they identify the client, its provider and the profile.
  private static let options = [
    "issuer": "--issuer", "provider": "--provider", "resource": "--resource", "clientId": "--client-id",
    "clientSecret": "--client-secret-file",
  ]

  /// Parses `KEY=VALUE`.
  /// - Throws: for an unknown key, for a value of another type, and for a secret, which other users of the machine
  ///   could read in the list of processes. A value may be a misplaced secret, so no error message repeats it.
  init(_ word: String) throws(UsageError) {
    guard let equals = word.firstIndex(of: "="), equals != word.startIndex else {
      throw UsageError("--set: expected key=value, such as domain=dev-1.okta.com or dpop=auto.")
    }
    let name = String(word[..<equals])
    var path: [ConfigurationKey] = []
    var keys = Configuration.keys
    let parts = name.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
    var member: String?
    for (index, part) in parts.enumerated() {
      if let last = path.last, Self.hasFreeMembers(last.shape) {
        member = parts[index...].joined(separator: ".")
        break
      }
      guard let key = keys.first(where: { $0.name == part || $0.otherSpellings.contains(part) }) else {
        let meant = EditDistance.nearest(to: part, among: keys.map { $0.name })
        let place = path.map { $0.name + "." }.joined()
        throw UsageError(
          "--set \(Shown.text(name)): a configuration has no such key"
            + (meant.map { "; perhaps \(place)\($0) was meant." } ?? ". docs/configuration.md lists the keys.")
        )
      }
      path.append(key)
      keys = Self.inner(key.shape)
    }
    let key = path[path.count - 1]
    if path.count == 1, let option = Self.options[key.name] {
      throw UsageError("--set \(name): use \(option).")
    }
    guard !key.isSecret else {
      throw UsageError("--set \(name): a secret is not given on the command line; put it into the profile.")
    }
    guard member != "" else { throw UsageError("--set \(name): expected a name after the dot.") }
    let shape = member == nil ? key.shape : .text
    guard let value = Self.value(String(word[equals...].dropFirst()), shape) else {
      throw UsageError("--set \(name): expected \(Self.expected(shape)).")
    }
    self.path = path
    self.member = member
    if key.isFile, let typed = value.string {
      let file = try LastingFile.path(typed, of: "--set \(name)")
      (self.value, self.word) = (.string(file), "\(name)=\(file)")
    } else {
      (self.value, self.word) = (value, word)
    }
  }

  /// The documented name of the key.
  var key: String { (path.map { $0.name } + (member.map { [$0] } ?? [])).joined(separator: ".") }

  /// Whether this setting sets an object, and the other setting sets a member of that object.
  func replaces(_ other: ConfigurationSetting) -> Bool { other.key.hasPrefix(key + ".") }

  /// The configuration, in which this setting's value replaces the previous value of the same key.
  func applied(to configuration: JSON) -> JSON {
    guard configuration.object != nil else { return configuration }
    return set(path[...], in: configuration)
  }

  private func set(_ path: ArraySlice<ConfigurationKey>, in json: JSON) -> JSON {
    guard let key = path.first else {
      guard let member else { return value }
      var members = json.object ?? JSONObject()
      members[member] = value
      return .object(members)
    }
    var members = json.object ?? JSONObject()
    let before = ([key.name] + key.otherSpellings).compactMap { members[$0] }.first
    for spelling in key.otherSpellings { members[spelling] = nil }
    members[key.name] = set(path.dropFirst(), in: before ?? .object(JSONObject()))
    return .object(members)
  }

  /// The keys inside an object.
  private static func inner(_ shape: ConfigurationKey.Shape) -> [ConfigurationKey] {
    switch shape {
    case .object(let keys): keys
    case .either(let first, let second): inner(first) + inner(second)
    case .named(_, _, let shape): inner(shape)
    case .text, .url, .boolean, .integer, .oneOf, .list, .texts: []
    }
  }

  private static func hasFreeMembers(_ shape: ConfigurationKey.Shape) -> Bool {
    switch shape {
    case .texts: true
    case .named(_, _, let shape): hasFreeMembers(shape)
    case .text, .url, .boolean, .integer, .oneOf, .list, .object, .either: false
    }
  }

  /// Whether the command line may set this key.
  static func accepts(_ name: String) -> Bool {
    let first = String(name.prefix { $0 != "." })
    return options[first] == nil && Configuration.keys.contains { $0.name == first && !$0.isSecret }
  }

  private static func value(_ text: String, _ shape: ConfigurationKey.Shape) -> JSON? {
    switch shape {
    case .text, .url: return .string(text)
    case .boolean: return ["true": .bool(true), "false": .bool(false)][text]
    case .integer:
      let isNumber = !text.isEmpty && text.utf8.allSatisfy { ASCII.isDigit($0) }
      return isNumber ? Int64(text).map { .integer($0) } : nil
    case .oneOf(let words): return words.contains(text) ? .string(text) : nil
    case .list(let element):
      if isArray(text) {
        guard let array = parsed(text)?.array, array.allSatisfy({ fits($0, element) }) else { return nil }
        return .array(array)
      }
      let values = text.split(separator: " ").map { value(String($0), element) }
      return values.contains { $0 == nil } ? nil : .array(values.compactMap { $0 })
    case .texts, .object: return parsed(text)?.object.map { .object($0) }
    case .either(let first, let second):
      // If the text is a JSON array, only the second type is tried. Without this check, the array would be accepted as
      // text.
      if case .text = first, isArray(text) { return value(text, second) }
      return value(text, first) ?? value(text, second)
    case .named(_, _, let shape): return value(text, shape)
    }
  }

  private static func isArray(_ text: String) -> Bool { text.utf8.first == UInt8(ascii: "[") }

  /// Whether an element of a JSON array has the type that the list requires. The configuration checks the rest.
  private static func fits(_ json: JSON, _ shape: ConfigurationKey.Shape) -> Bool {
    switch shape {
    case .text, .url: json.string != nil
    case .boolean: json.bool != nil
    case .integer: json.integer != nil
    case .oneOf(let words): json.string.map { words.contains($0) } ?? false
    case .list: json.array != nil
    case .texts, .object: json.object != nil
    case .either(let first, let second): fits(json, first) || fits(json, second)
    case .named(_, _, let shape): fits(json, shape)
    }
  }

  private static func parsed(_ text: String) -> JSON? { try? JSON.parse(Array(text.utf8)) }

  private static func expected(_ shape: ConfigurationKey.Shape) -> String {
    switch shape {
    case .text: "a text"
    case .url: "a URL"
    case .boolean: "true or false"
    case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .oneOf(let words): "one of " + words.joined(separator: ", ")
    case .list(let element): "values separated by spaces, each \(expected(element)), or a JSON array"
    case .texts, .object: "a JSON object"
    case .either(let first, let second): "\(expected(first)), or \(expected(second))"
    case .named(_, _, let shape): expected(shape)
    }
  }

  /// The candidates for a shell: each key that may be set, with its values if there are few.
  static var candidates: [String] {
    Configuration.keys.filter { !$0.isSecret && options[$0.name] == nil }.flatMap { key in
      words(key.shape).map { "\(key.name)=\($0)" }
    }
  }

  private static func words(_ shape: ConfigurationKey.Shape) -> [String] {
    switch shape {
    case .boolean: ["true", "false"]
    case .oneOf(let words): words
    case .named(_, _, let shape): words(shape)
    case .text, .url, .integer, .list, .texts, .object, .either: [""]
    }
  }
}
