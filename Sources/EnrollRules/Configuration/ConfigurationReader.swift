// Reads one object of a configuration with the table of the keys that the object may have. Unknown keys, two spellings
// of one key, missing keys and wrong types are refused here, so that the code that uses the values need not check them
// again.

package import EnrollJSON

/// An object of a configuration after its keys and types were checked. Its keys have their canonical names.
package struct ConfigurationReader {
  private let members: JSONObject

  /// - Parameter path: the path of the key with the object, for errors; empty at the top.
  /// - Throws: `.configuration`, whose `field` is the path of the key at fault, as the object spells it.
  package init(_ json: JSON, keys: [ConfigurationKey], path: String = "") throws(EnrollError) {
    do throws(ConfigurationFault) {
      try self.init(checking: json, keys: keys, path: path)
    } catch {
      throw error.error(.documented)
    }
  }

  init(checking json: JSON, keys: [ConfigurationKey], path: String = "") throws(ConfigurationFault) {
    let place = path.utf8.isEmpty ? "configuration" : path
    guard case .object(let object) = json else {
      throw ConfigurationReader.refusal(place, "expected an object, got \(json.kind)")
    }
    var members = JSONObject()
    for member in object.members {
      guard let key = keys.first(where: { $0.isSpelt(member.key) }) else {
        throw ConfigurationReader.refusal(
          ConfigurationReader.join(path, ConfigurationReader.shown(member.key)),
          "unknown key\(ConfigurationReader.guess(member.key, keys))")
      }
      let field = ConfigurationReader.join(path, key.name)
      guard members[key.name] == nil else {
        throw ConfigurationReader.refusal(field, "the key is given in two spellings")
      }
      members[key.name] = try ConfigurationReader.read(
        member.value, key.shape, ConfigurationReader.join(path, member.key))
    }
    for key in keys where key.isRequired && members[key.name] == nil {
      throw ConfigurationReader.refusal(ConfigurationReader.join(path, key.name), "the key is missing")
    }
    self.members = members
  }

  @inline(never)
  package func value(_ name: String) -> JSON? { members[name] }
  @inline(never)
  package func text(_ name: String) -> String? { members[name]?.string }
  @inline(never)
  package func boolean(_ name: String) -> Bool? { members[name]?.bool }
  @inline(never)
  package func integer(_ name: String) -> Int64? { members[name]?.integer }

  @inline(never)
  package func texts(_ name: String) -> [String]? {
    guard let array = members[name]?.array else { return nil }
    return array.compactMap { $0.string }
  }
}

extension ConfigurationReader {
  /// Checks the type of a value and returns it; keys of objects in it get their canonical names.
  private static func read(
    _ value: JSON, _ shape: ConfigurationKey.Shape, _ field: String
  ) throws(ConfigurationFault) -> JSON {
    switch shape {
    case .text, .url:
      guard value.string != nil else { throw refusal(field, "expected a string, got \(value.kind)") }
    case .boolean:
      guard value.bool != nil else { throw refusal(field, "expected true or false, got \(value.kind)") }
    case .integer:
      guard value.integer != nil else { throw refusal(field, "expected an integer, got \(value.kind)") }
    case .oneOf(let names):
      guard let text = value.string, CustomParameters.contains(text, in: names) else {
        let hint = value.string.map { EditDistance.hint($0, among: names) } ?? ""
        throw refusal(field, "expected one of \(Scopes.joined(names)), got \(shownValue(value))\(hint)")
      }
    case .list(let element):
      guard let array = value.array else { throw refusal(field, "expected an array, got \(value.kind)") }
      var items: [JSON] = []
      for (index, item) in array.enumerated() { items.append(try read(item, element, "\(field)[\(index)]")) }
      return .array(items)
    case .texts:
      guard let object = value.object else {
        throw refusal(field, "expected an object, got \(value.kind)")
      }
      for member in object.members where member.value.string == nil {
        throw refusal("\(field).\(shown(member.key))", "expected a string, got \(member.value.kind)")
      }
    case .object(let keys):
      return .object(try ConfigurationReader(checking: value, keys: keys, path: field).members)
    case .either(let first, let second):
      return try read(value, matches(value, first) ? first : second, field)
    case .named(_, _, let shape): return try read(value, shape, field)
    }
    return value
  }

  /// Whether `value` has the JSON type of `shape`. For a value of two possible shapes, this decides which
  /// shape the error text describes.
  private static func matches(_ value: JSON, _ shape: ConfigurationKey.Shape) -> Bool {
    switch shape {
    case .text, .url, .oneOf: value.string != nil
    case .boolean: value.bool != nil
    case .integer: value.integer != nil
    case .list: value.array != nil
    case .texts, .object: value.object != nil
    case .either(let first, let second): matches(value, first) || matches(value, second)
    case .named(_, _, let shape): matches(value, shape)
    }
  }

  private static func refusal(_ path: String, _ fault: ConfigurationFault) -> ConfigurationFault {
    fault.inside(path)
  }

  private static func join(_ path: String, _ name: String) -> String {
    path.utf8.isEmpty ? name : "\(path).\(name)"
  }

  private static func shownValue(_ value: JSON) -> String {
    value.string.map(shown) ?? value.kind
  }

  /// A hint at the key that the host probably meant, if a similar key exists.
  private static func guess(_ text: String, _ keys: [ConfigurationKey]) -> String {
    EditDistance.hint(text, among: keys.flatMap { [$0.name] + $0.otherSpellings })
  }

  /// A text of the host in the form for an error: printable ASCII, shortened if it is long.
  private static func shown(_ text: String) -> String {
    PrintableText.bounded(text, maximumBytes: 64)
  }
}

extension ConfigurationKey {
  func isSpelt(_ text: String) -> Bool {
    ASCII.equals(name, text) || otherSpellings.contains { ASCII.equals($0, text) }
  }
}
