// A schema as JSON Schema, draft 2020-12: what the manifest holds for bindings, documentation and tests.

import EnrollCore
public import EnrollJSON

extension Schema {
  public static let dialect = "https://json-schema.org/draft/2020-12/schema"

  /// Which way a value travels: what comes in is closed, what goes out may grow in later versions.
  public enum Direction: Sendable { case input, output }

  /// The schema as JSON Schema. Byte limits are printed as `maxLength`, which counts characters: the check is the
  /// stricter one.
  public func document(_ direction: Direction) -> JSON {
    var members = keywords(direction)
    if !documentation.utf8.isEmpty { members["description"] = .string(documentation) }
    return .object(members)
  }

  private func keywords(_ direction: Direction) -> JSONObject {
    switch shape {
    case .text(let maximumBytes):
      JSONObject([("type", .string("string")), ("maxLength", .integer(Int64(maximumBytes)))])
    case .boolean: JSONObject([("type", .string("boolean"))])
    case .integer(let range):
      JSONObject([
        ("type", .string("integer")),
        ("minimum", range.lowerBound == .min ? nil : .integer(range.lowerBound)),
        ("maximum", range.upperBound == .max ? nil : .integer(range.upperBound)),
      ])
    case .oneOf(let names):
      names.count == 1
        ? JSONObject([("const", names.first.map { .string($0) })])
        : JSONObject([("enum", .array(names.map { .string($0) }))])
    case .list(let element, let maximumCount):
      JSONObject([
        ("type", .string("array")), ("items", element.document(direction)),
        ("maxItems", .integer(Int64(maximumCount))),
      ])
    case .texts(let maximumCount):
      JSONObject([
        ("type", .string("object")), ("additionalProperties", .object([("type", .string("string"))])),
        ("maxProperties", .integer(Int64(maximumCount))),
      ])
    case .object(let properties): object(properties, direction)
    case .anyOf(let schemas):
      JSONObject([("anyOf", .array(schemas.map { $0.document(direction) }))])
    case .claims: JSONObject([("type", .string("object"))])
    case .configuration: ConfigurationSchema.keywords
    }
  }

  private func object(_ properties: [Property], _ direction: Direction) -> JSONObject {
    var described = JSONObject()
    var required: [JSON] = []
    for property in properties {
      described[property.name] = property.document(direction)
      if property.isRequired { required.append(.string(property.name)) }
    }
    return JSONObject([
      ("type", .string("object")),
      ("properties", .object(described)),
      ("required", required.isEmpty ? nil : .array(required)),
      ("additionalProperties", direction == .input ? .bool(false) : nil),
    ])
  }
}

extension Schema.Property {
  fileprivate func document(_ direction: Schema.Direction) -> JSON {
    guard let defaultValue, case .object(var members) = schema.document(direction) else {
      return schema.document(direction)
    }
    members["default"] = defaultValue
    return .object(members)
  }
}
