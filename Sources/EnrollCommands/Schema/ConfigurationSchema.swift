// The JSON Schema of a configuration, made from the table of its keys, so that every new key is documented.

import EnrollRules
import EnrollJSON

enum ConfigurationSchema {
  /// - Parameter types: the document's `$defs`, to which the named types of the keys are added.
  static func keywords(_ types: inout JSONObject) -> JSONObject { object(Configuration.keys, &types) }

  private static func object(_ keys: [ConfigurationKey], _ types: inout JSONObject) -> JSONObject {
    var properties = JSONObject()
    var required: [JSON] = []
    var choices: [JSON] = []
    for key in keys {
      properties[key.name] = document(key, ("description", key.documentation), &types)
      for spelling in key.otherSpellings {
        properties[spelling] = document(key, ("aliasOf", key.name), &types)
      }
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

  /// - Parameter remark: the description of the key. For a second spelling of a key, it names the key.
  private static func document(
    _ key: ConfigurationKey, _ remark: (name: String, text: String), _ types: inout JSONObject
  ) -> JSON {
    var members = keywords(key.shape, &types)
    members[remark.name] = .string(remark.text)
    if key.isSecret { members["writeOnly"] = .bool(true) }
    return .object(members)
  }

  /// The schema that requires exactly one of the spellings of a required key.
  private static func oneSpelling(of key: ConfigurationKey) -> JSON {
    let spellings = [key.name] + key.otherSpellings
    return .object([("oneOf", .array(spellings.map { .object([("required", .array([.string($0)]))]) }))])
  }

  private static func keywords(_ shape: ConfigurationKey.Shape, _ types: inout JSONObject) -> JSONObject {
    switch shape {
    case .text: return JSONObject([("type", .string("string"))])
    case .url: return JSONObject([("type", .string("string")), ("format", .string("uri"))])
    case .boolean: return JSONObject([("type", .string("boolean"))])
    case .integer(let range):
      return JSONObject([
        ("type", .string("integer")), ("minimum", .integer(range.lowerBound)),
        ("maximum", .integer(range.upperBound)),
      ])
    case .oneOf(let names): return JSONObject([("enum", .array(names.map { .string($0) }))])
    case .list(let element):
      return JSONObject([("type", .string("array")), ("items", .object(keywords(element, &types)))])
    case .texts:
      return JSONObject([
        ("type", .string("object")), ("additionalProperties", .object([("type", .string("string"))])),
      ])
    case .object(let keys): return object(keys, &types)
    case .either(let first, let second):
      let options = [JSON.object(keywords(first, &types)), .object(keywords(second, &types))]
      return JSONObject([("anyOf", .array(options))])
    case .named(let name, let documentation, let shape):
      if types[name] == nil {
        types[name] = .object(JSONObject())
        var members = keywords(shape, &types)
        members["description"] = .string(documentation)
        types[name] = .object(members)
      }
      return Schema.reference(name, "").object ?? JSONObject()
    }
  }
}
