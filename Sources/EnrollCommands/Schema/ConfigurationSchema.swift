// The JSON Schema of a configuration, from the table of its keys: a key that is added there is documented here.

import EnrollCore
import EnrollJSON

enum ConfigurationSchema {
  static var keywords: JSONObject { object(Configuration.keys) }

  private static func object(_ keys: [ConfigurationKey]) -> JSONObject {
    var properties = JSONObject()
    var required: [JSON] = []
    var choices: [JSON] = []
    for key in keys {
      properties[key.name] = document(key)
      for spelling in key.otherSpellings { properties[spelling] = otherSpelling(of: key) }
      guard key.isRequired else { continue }
      if key.otherSpellings.isEmpty {
        required.append(.string(key.name))
      } else {
        choices.append(oneSpelling(of: key))
      }
    }
    return JSONObject([
      ("type", .string("object")),
      ("properties", .object(properties)),
      ("required", required.isEmpty ? nil : .array(required)),
      ("allOf", choices.isEmpty ? nil : .array(choices)),
      ("additionalProperties", .bool(false)),
    ])
  }

  private static func document(_ key: ConfigurationKey) -> JSON {
    var members = keywords(key.shape)
    members["description"] = .string(key.documentation)
    if key.isSecret { members["writeOnly"] = .bool(true) }
    return .object(members)
  }

  private static func otherSpelling(of key: ConfigurationKey) -> JSON {
    var members = keywords(key.shape)
    members["description"] = .string("Another spelling of \(key.name), never beside it.")
    if key.isSecret { members["writeOnly"] = .bool(true) }
    return .object(members)
  }

  /// Exactly one spelling of a required key.
  private static func oneSpelling(of key: ConfigurationKey) -> JSON {
    let spellings = [key.name] + key.otherSpellings
    return .object([("oneOf", .array(spellings.map { .object([("required", .array([.string($0)]))]) }))])
  }

  private static func keywords(_ shape: ConfigurationKey.Shape) -> JSONObject {
    switch shape {
    case .text: JSONObject([("type", .string("string"))])
    case .url: JSONObject([("type", .string("string")), ("format", .string("uri"))])
    case .boolean: JSONObject([("type", .string("boolean"))])
    case .integer(let range):
      JSONObject([
        ("type", .string("integer")), ("minimum", .integer(range.lowerBound)),
        ("maximum", .integer(range.upperBound)),
      ])
    case .oneOf(let names): JSONObject([("enum", .array(names.map { .string($0) }))])
    case .list(let element):
      JSONObject([("type", .string("array")), ("items", .object(keywords(element)))])
    case .texts:
      JSONObject([
        ("type", .string("object")), ("additionalProperties", .object([("type", .string("string"))])),
      ])
    case .object(let keys): object(keys)
    case .either(let first, let second):
      JSONObject([("anyOf", .array([.object(keywords(first)), .object(keywords(second))]))])
    }
  }
}
